"""A kernel of one's own in a few lines: the example of docs/dictionaries.md."""

import numpy as np
import pytest

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.kernels import RBF, FormulaKernel


class Cosine(FormulaKernel):
    """The cosine of the angle between x and c, of features times the root of gamma."""

    kind = "linear"  # the formula of the native core, of embedded rows
    is_stationary = False

    def embed(self, X, origin):
        """Rows of length one."""
        z = super().embed(X, origin)
        return z / np.linalg.norm(z, axis=1, keepdims=True)


class Pair(FormulaKernel):
    """The Gaussian of the first two features, which are fewer columns than features."""

    kind = "rbf"

    def embed(self, X, origin):
        """Two columns."""
        return super().embed(X, origin)[:, :2].copy()


@pytest.fixture
def X(rng):
    return rng.normal(size=(80, 3))


def test_values(X):
    lengths = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(Cosine(gamma=1.0)(X), X @ X.T / np.outer(lengths, lengths), rtol=1e-12, atol=1e-14)


def test_it_is_a_kernel_like_any_other(X):
    y = X[:, 0] / np.linalg.norm(X, axis=1)
    for kernel in (Cosine(gamma=1.0), Cosine(gamma=1.0) * RBF(gamma=0.1), 2 * Cosine() + RBF()):
        model = KernelPursuitRegressor(kernel=kernel, penalty="rkhs", alpha=1e-6, selection="residual", max_atoms=20)
        assert model.fit(X, y).score(X, y) > 0.9
        matrix = KernelPursuitRegressor(**{**model.get_params(), "kernel": "precomputed"}).fit(kernel(X), y)
        np.testing.assert_allclose(model.predict(X), matrix.predict(kernel(X)), rtol=1e-6, atol=1e-9)
    assert KernelPursuitClassifier(kernel=Cosine(), gamma=1.0, max_atoms=5).fit(X, y > 0).score(X, y > 0) > 0.9
    assert repr(Cosine(gamma=2.0)) == "Cosine(gamma=2.0)"


def test_columns_that_do_not_fit_are_refused_in_a_sum(X):
    """By itself a kernel may have any number of columns; beside others they must be found again."""
    np.testing.assert_allclose(Pair(gamma=1.0)(X), RBF(gamma=1.0)(X[:, :2]), rtol=1e-12)
    with pytest.raises(ValueError, match=r"Pair\(gamma=1.0\) embeds 3 features in 2 columns"):
        (Pair(gamma=1.0) + RBF(gamma=1.0))(X)
