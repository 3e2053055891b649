"""Moments and the factor of a model over blocks of rows, against all rows at once."""

import functools
import operator

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelpursuit.dictionary import Functions, KernelAtoms
from kernelpursuit.kernels import RBF
from kernelpursuit.pursuit import triangular_factor
from kernelpursuit.pursuit.moments import ModelColumns, Moments, MomentsOf
from kernelpursuit.pursuit.stream import Stream
from kernelpursuit.pursuit.triangular_factor import triangularise
from kernelpursuit.rows import ArraySource

FIELDS = ("gram", "products", "target_squares", "total_weight", "n_rows")


def columns_of(X, n_atoms=8, *, intercept=True, always=None, gamma=0.5):
    atoms = KernelAtoms(RBF(gamma=gamma), centers=X[:n_atoms].copy()).resolve(X)
    return ModelColumns(atoms, np.arange(n_atoms), always, intercept)


def is_close(first, second, rtol=1e-12):
    for name in FIELDS:
        a, b = np.asarray(getattr(first, name)), np.asarray(getattr(second, name))
        np.testing.assert_allclose(a, b, rtol=0, atol=rtol * np.abs(b).max(), err_msg=name)


class TestMoments:
    @settings(deadline=None)
    @given(st.integers(0, 10_000), st.integers(1, 40), st.booleans(), st.integers(1, 3))
    def test_are_no_matter_of_blocks(self, seed, size, weighted, n_targets):
        rng = np.random.default_rng(seed)
        D, y = rng.normal(size=(4, 40)), rng.normal(size=(n_targets, 40))
        weights = rng.uniform(0.1, 3, size=40) if weighted else None
        parts = [slice(i, min(i + size, 40)) for i in range(0, 40, size)]
        of_blocks = [
            Moments.of_block(D[:, part], y[:, part], None if weights is None else weights[part]) for part in parts
        ]
        is_close(functools.reduce(operator.add, of_blocks), Moments.of_block(D, y, weights))
        is_close(functools.reduce(operator.add, of_blocks[::-1]), Moments.of_block(D, y, weights))

    def test_are_what_they_say(self, rng):
        D, y, w = rng.normal(size=(3, 20)), rng.normal(size=(2, 20)), rng.uniform(1, 2, size=20)
        found = Moments.of_block(D, y, w)
        np.testing.assert_allclose(found.gram, D * w @ D.T)
        np.testing.assert_allclose(found.products, D * w @ y.T)
        np.testing.assert_allclose(found.target_squares, (w * y**2).sum(axis=1))
        assert (found.total_weight, found.n_rows) == (pytest.approx(w.sum()), 20)

    def test_a_row_of_weight_two_is_two_rows(self, rng):
        D, y = rng.normal(size=(3, 6)), rng.normal(size=(1, 6))
        twice = Moments.of_block(np.hstack([D, D[:, :1]]), np.hstack([y, y[:, :1]]))
        once = Moments.of_block(D, y, np.array([2.0, 1, 1, 1, 1, 1]))
        for name in FIELDS[:4]:
            np.testing.assert_allclose(getattr(twice, name), getattr(once, name), rtol=1e-13)

    @pytest.mark.parametrize("kind", ["float32", "csr"])
    def test_of_other_rows(self, rng, kind):
        X = np.where(rng.uniform(size=(60, 4)) < 0.5, 0.0, rng.normal(size=(60, 4)))
        y, columns = rng.normal(size=60), columns_of(X)
        held = sp.csr_array(X) if kind == "csr" else X.astype(np.float32)
        found = ArraySource(held, y).reduce(MomentsOf(columns), 13, n_threads=1)
        is_close(
            found, ArraySource(X, y).reduce(MomentsOf(columns), 60, n_threads=1), 1e-6 if kind == "float32" else 1e-12
        )

    def test_threads_do_not_change_a_bit(self, rng):
        X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
        one, two = (ArraySource(X, y).reduce(MomentsOf(columns_of(X)), 7, n_threads=n) for n in (1, 2))
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_what_is_done_to_blocks_comes_in_their_order(rng):
    source = ArraySource(np.arange(50.0)[:, None], np.zeros(50))
    for n_threads in (1, 2, 5):
        assert source.reduce(lambda block: [block.start], 3, n_threads=n_threads) == list(range(0, 50, 3))


class TestFactor:
    @pytest.mark.parametrize("sampled", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("gamma", [1.0, 1e-3])  # the second makes columns nearly dependent
    def test_is_that_of_all_rows_at_once(self, rng, monkeypatch, sampled, weighted, gamma):
        monkeypatch.setattr(triangular_factor, "ROWS_A_COLUMN", 4 if sampled else 10**6)
        X, y = rng.normal(size=(400, 2)), rng.normal(size=(400, 2))
        weights, penalties = rng.uniform(0.3, 3, size=400) if weighted else None, 1e-7 * np.eye(12)
        columns = columns_of(X, 12, always=Functions(lambda X: X[:, 0]).resolve(X), gamma=gamma)
        found = triangularise(Stream.of_arrays(ArraySource(X, y, weights), columns), penalties)
        root = np.ones(400) if weights is None else np.sqrt(weights)
        lifted = np.zeros((len(columns), 12))
        lifted[columns.n_fixed :] = np.sqrt(penalties)
        D = np.hstack([columns.values(X) * root, lifted])
        Q, R = np.linalg.qr(D.T)
        signs = np.sign(np.diagonal(R))
        np.testing.assert_allclose(found.R, signs[:, None] * R, rtol=0, atol=1e-9 * np.abs(R).max())
        b = (Q * signs).T @ np.vstack([root[:, None] * y, np.zeros((12, 2))])
        np.testing.assert_allclose(found.b, b, atol=1e-8 * np.abs(b).max())
        # The directions are orthonormal, with their coordinates in the penalty.
        V = np.linalg.solve(found.R.T, D)
        np.testing.assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-8)

    def test_of_columns_that_the_sample_does_not_see(self, rng, monkeypatch):
        """Atoms so narrow that each has one row, and weights that one row has nearly all of."""
        monkeypatch.setattr(triangular_factor, "ROWS_A_COLUMN", 2)
        X, y, weights = np.arange(200.0)[:, None], rng.normal(size=200), np.ones(200)
        weights[101] = 1e8
        atoms = KernelAtoms(RBF(gamma=3.0), centers=X[[51, 52, 101, 120]]).resolve(X)
        columns = ModelColumns(atoms, np.arange(4), None, True)
        found = triangularise(Stream.of_arrays(ArraySource(X, y, weights), columns), np.zeros((4, 4)))
        D = columns.values(X) * np.sqrt(weights)
        V = np.linalg.solve(found.R.T, D)
        np.testing.assert_allclose(V @ V.T, np.eye(5), atol=1e-9)
        np.testing.assert_allclose(found.b[:, 0], V @ (np.sqrt(weights) * y), rtol=1e-8, atol=1e-8)

    def test_in_another_order(self, rng):
        X, y = rng.normal(size=(90, 2)), rng.normal(size=90)
        columns, penalties = columns_of(X), 0.1 * np.eye(8)
        order = np.array([5, 2, 7, 0, 1, 3, 6, 4])
        found = triangularise(Stream.of_arrays(ArraySource(X, y), columns), penalties).reordered(
            np.append(0, 1 + order)
        )
        other = ModelColumns(columns.dictionary, order, None, True)
        again = triangularise(Stream.of_arrays(ArraySource(X, y), other), penalties)
        np.testing.assert_allclose(found.R, again.R, atol=1e-10)
        np.testing.assert_allclose(found.b, again.b, atol=1e-10)

    def test_of_a_column_that_is_there_twice(self, rng):
        X = rng.normal(size=(90, 2))
        atoms = KernelAtoms(RBF(gamma=0.5), centers=X[[3, 4, 3]]).resolve(X)
        columns = ModelColumns(atoms, np.arange(3), None, False)
        found = triangularise(Stream.of_arrays(ArraySource(X, rng.normal(size=90)), columns), np.zeros((3, 3)))
        assert found is None or found.new_parts.min() < 1e-13
