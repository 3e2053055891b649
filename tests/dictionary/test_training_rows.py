"""Atoms that are told other training rows stay what they are, and so does the dictionary that was asked."""

import numpy as np
import pytest

from kernelpursuit.dictionary import Constant, KernelAtoms, LinearTrend, Precomputed, share_distances
from kernelpursuit.kernels import RBF

X = np.random.default_rng(0).normal(size=(40, 3))
KINDS = {
    "kernel": lambda: KernelAtoms(RBF(gamma=0.5)),
    "factors": lambda: KernelAtoms(RBF(gamma=0.5), X[:5], factors=np.arange(1.0, 6.0)),
    "shared": lambda: share_distances(KernelAtoms("rbf"), X, gamma=0.5),
    "precomputed": lambda: Precomputed(is_mercer=False),
    "function": Constant,
    "line": LinearTrend,
    "union": lambda: KernelAtoms("rbf") + Constant() + KernelAtoms("linear", X[:4]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_with_training_rows_changes_nothing_else(kind):
    resolved = KINDS[kind]().resolve(X, 0.5)
    taken = resolved.take(np.arange(resolved.n_atoms)[::-1])
    before, rows = taken.training_rows.copy(), np.arange(taken.n_atoms) + 7
    moved = taken.with_training_rows(rows)
    assert type(moved) is type(taken)
    np.testing.assert_array_equal(moved.training_rows, rows)
    np.testing.assert_array_equal(taken.training_rows, before)
    numbers = np.arange(taken.n_atoms)
    np.testing.assert_array_equal(moved.block(moved.rows(X), numbers), taken.block(taken.rows(X), numbers))


def test_precomputed_keeps_its_matrix():
    K = RBF(gamma=0.5)(X)
    moved = Precomputed().resolve(K).with_training_rows(np.arange(40)[::-1])
    assert moved.is_mercer
    np.testing.assert_array_equal(moved.gram(np.arange(3), np.arange(4)), K[:3, :4])
