"""Products by several threads are those of one, and nothing that goes wrong in a thread is lost."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelpursuit._native import threads
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
        left, alone = A.copy(), A.copy()
        subtract_products(left, [(B, A)], n_threads)
        subtract_products(alone, [(B, A)], 4)
        assert_array_equal(left, alone)
        assert_array_equal(inner_products(A, A, n_threads), inner_products(A, A, 4))
        assert_array_equal(product(B, A, n_threads), product(B, A, 4))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_all_of_them_use_as_many_threads_as_they_are_given(A, monkeypatch, n_threads):
    seen = []

    def recorded(n_columns, n_parts, n_threads, work):
        workers = set()

        def at_work(part):
            workers.add(threading.current_thread())
            return work(part)

        found = in_parts(n_columns, n_parts, n_threads, at_work)
        seen.append(len(workers))
        return found

    in_parts = products.in_parts
    monkeypatch.setattr(products, "in_parts", recorded)
    inner_products(A, A, n_threads)
    product(np.eye(6), A, n_threads)
    subtract_products(A.copy(), [(np.eye(6), A)], n_threads)
    assert seen == [n_threads] * 3


def test_results_of_parts_take_no_more_room_than_the_factors(rng, monkeypatch):
    n_parts = []
    in_parts = products.in_parts
    monkeypatch.setattr(products, "in_parts", lambda *args: n_parts.append(args[1]) or in_parts(*args))
    inner_products(rng.normal(size=(50, 99)), rng.normal(size=(20, 99)), 2)
    inner_products(rng.normal(size=(20, 99)), rng.normal(size=(20, 99)), 2)
    assert n_parts == [1, 4]


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


@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_the_caller_wants_of_warnings_holds_in_all_threads(n_threads):
    huge = np.full((1, 20), 1e300)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        products.in_parts(20, 2, n_threads, lambda part: huge[:, part] * 1e300)
    with np.errstate(over="ignore"):
        products.in_parts(20, 2, n_threads, lambda part: huge[:, part] * 1e300)


def test_threads_have_one_blas_thread_each_where_each_has_a_number_of_its_own(monkeypatch):
    """Built with OpenMP a BLAS would use all cores in every new thread."""
    limited = []

    class Own:
        def limit(self, limits):
            limited.append((threading.get_ident(), limits))

    monkeypatch.setattr(threads, "_libraries", lambda: (None, Own()))
    at_work = products.in_parts(9, 3, 3, lambda part: threading.get_ident())
    assert at_work[0] == threading.get_ident()
    assert sorted(limited) == sorted((ident, 1) for ident in at_work[1:])


FIT_AFTER_THE_MAIN_THREAD = """
import threading, time
import numpy as np
from kernelpursuit.pursuit import inner_products, products

products.WORTH_A_PART = 1

def late():
    threading.main_thread().join()
    print(inner_products(np.ones((2, 10)), np.ones((2, 10)), 2))

threading.Thread(target=late).start()
"""


def test_a_thread_may_outlive_the_main_one():
    done = subprocess.run([sys.executable, "-c", FIT_AFTER_THE_MAIN_THREAD], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert "[10. 10.]" in done.stdout
