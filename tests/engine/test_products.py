"""Products by several threads are those of one, and nothing that goes wrong in a thread is lost."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelpursuit.pursuit import inner_products, product, products, subtract_products

THREADS = [None, 1, 2, 3, 7]


@pytest.fixture(autouse=True)
def threads_are_always_worth_it(monkeypatch):
    monkeypatch.setattr(products, "WORTH_A_PART", 1)
    monkeypatch.setattr(products, "NEAR", 10)


@pytest.fixture
def A(rng):
    return rng.normal(size=(6, 101))


@pytest.mark.parametrize("n_threads", THREADS)
class TestProducts:
    def test_inner(self, A, rng, n_threads):
        B = rng.normal(size=(4, A.shape[1]))
        assert_allclose(inner_products(A, B, n_threads), A @ B.T, atol=1e-13)
        found = inner_products(A, A, n_threads)
        assert_allclose(found, A @ A.T, atol=1e-13)
        assert_array_equal(found, found.T)

    def test_with_a_square_matrix(self, A, rng, n_threads):
        B = rng.normal(size=(6, 6))
        assert_allclose(product(B, A, n_threads), B @ A, atol=1e-13)

    def test_subtracted(self, A, rng, n_threads):
        B, C, D = rng.normal(size=(4, 6)), rng.normal(size=(4, 2)), rng.normal(size=(2, A.shape[1]))
        G = rng.normal(size=(4, A.shape[1]))
        expected = G - B @ A - C @ D
        subtract_products(G, [(B, A), (C, D)], n_threads)
        assert_allclose(G, expected, atol=1e-13)

    def test_no_columns_and_fewer_columns_than_threads(self, n_threads):
        assert_array_equal(inner_products(np.ones((2, 0)), np.ones((3, 0)), n_threads), np.zeros((2, 3)))
        assert_array_equal(inner_products(np.ones((2, 3)), np.ones((3, 3)), n_threads), np.full((2, 3), 3.0))

    def test_threads_do_not_change_a_bit(self, A, rng, n_threads):
        B = rng.normal(size=(6, 6))
        assert_array_equal(inner_products(A, A, n_threads), inner_products(A, A, 1))
        assert_array_equal(product(B, A, n_threads), product(B, A, 1))
        left, alone = A.copy(), A.copy()
        subtract_products(left, [(B, A)], n_threads)
        subtract_products(alone, [(B, A)], 1)
        assert_array_equal(left, alone)


def test_parts_are_in_order_and_in_threads_of_their_own():
    meeting = threading.Barrier(3, timeout=10)

    def work(part):
        meeting.wait()  # broken unless all three are at work at once
        return part.start, part.stop

    assert products.in_parts(10, 3, 3, work) == [(0, 3), (3, 6), (6, 10)]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("failing", [0, 5])
def test_what_goes_wrong_in_a_part_is_raised(failing, n_threads):
    def work(part):
        if part.start == failing:
            raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        products.in_parts(10, 2, n_threads, work)
