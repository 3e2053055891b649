"""Sums, products and multiples of formulas: the bits of their terms' blocks, combined."""

import numpy as np
import pytest
from native_reference import DTYPES, points

from kernelpursuit import _native
from kernelpursuit._native import backend, numpy_twin

SUM, PRODUCT = ("sum", 0.0, 0.0, 0), ("product", 0.0, 0.0, 0)
RBF, MATERN = ("rbf", 0.0, 0.0, 1), ("matern32", 0.0, 0.0, 1)
LINEAR, CUBIC = ("linear", 0.0, 0.0, 1), ("polynomial", 0.5, 3.0, 1)
WIDE = ("laplacian", 0.0, 0.0, 2)


def multiple(factor):
    return ("multiple", factor, 0.0, 0)


# Steps, and what they compute from the blocks of the formulas.
PROGRAMS = {
    "sum": ((RBF, LINEAR, SUM), lambda a, b: a + b),
    "product": ((RBF, CUBIC, PRODUCT), lambda a, b: a * b),
    "multiple": ((RBF, multiple(3.7)), lambda a: a * a.dtype.type(3.7)),
    "chain": ((RBF, LINEAR, SUM, MATERN, SUM), lambda a, b, c: (a + b) + c),
    "two columns": ((WIDE, RBF, PRODUCT), lambda a, b: a * b),
    # A stack of three values above the lowest.
    "deep": (
        (RBF, LINEAR, multiple(0.3), MATERN, CUBIC, SUM, PRODUCT, SUM, WIDE, PRODUCT),
        lambda a, b, c, d, e: (a + b * a.dtype.type(0.3) * (c + d)) * e,
    ),
    "right": ((RBF, LINEAR, MATERN, CUBIC, SUM, PRODUCT, SUM), lambda a, b, c, d: a + b * (c + d)),
}
every_program = pytest.mark.parametrize("name", PROGRAMS)


def same(a, b):
    np.testing.assert_array_equal(a, b, strict=True)


def inputs(rng, name, n, m, d, dtype):
    """Rows and centres with the columns of every formula, and the block that the formulas' blocks combine to."""
    steps, combine = PROGRAMS[name]
    X, C = points(rng, n, m, d * sum(step[3] for step in steps), dtype)
    blocks, first = [], 0
    for kind, p0, p1, columns in steps:
        if columns:
            own = slice(first, first + columns * d)
            blocks.append(_native.block((kind, p0, p1), C[:, own], X[:, own]))
            first = own.stop
    return steps, X, C, combine(*blocks)


@pytest.mark.parametrize("dtype", DTYPES)
@every_program
class TestBits:
    @pytest.mark.parametrize(
        "shape", [(0, 3, 2), (3, 0, 2), (1, 1, 1), (67, 13, 4), (2100, 17, 2), (300, 70, 30)], ids=str
    )
    def test_values_are_those_of_the_blocks(self, isa, name, shape, dtype, rng):
        steps, X, C, wanted = inputs(rng, name, *shape, dtype)
        same(_native.block(steps, C, X), wanted)

    def test_products_are_those_of_the_stored_block(self, isa, name, dtype, rng):
        steps, X, C, stored = inputs(rng, name, 2 * 2048 + 777, 21, 3, dtype)
        V, weights = rng.normal(size=(3, len(X))), rng.uniform(size=len(X))
        for n_threads in (1, 2, 3):
            same(_native.rmatvec(steps, C, X, V, n_threads), _native.stored_rmatvec(stored, V))
            products, squares = _native.examine(steps, C, X, V, n_threads=n_threads)
            wanted = _native.stored_examine(stored, V)
            same(products, wanted[0])
            same(squares, wanted[1])
            same(_native.sqnorms(steps, C, X, weights, n_threads), _native.sqnorms(steps, C, X, weights, 1))
        same(_native.matvec(steps, X[:50], C, np.eye(21)), stored[:, :50].T.astype(np.float64, order="C"))

    def test_values_do_not_depend_on_their_neighbours(self, isa, name, dtype, rng):
        steps, X, C, whole = inputs(rng, name, 211, 23, 3, dtype)
        for rows, atoms in ((slice(0, 1), slice(0, 1)), (slice(3, 50), slice(2, 9)), (slice(100, 211), slice(19, 23))):
            same(_native.block(steps, C[atoms], X[rows]), whole[atoms, rows].copy())

    def test_the_twin_agrees(self, name, dtype, rng, monkeypatch):
        steps, X, C, wanted = inputs(rng, name, 67, 13, 3, dtype)
        V, coef, size = rng.normal(size=(2, 67)), rng.normal(size=(13, 2)), np.abs(wanted).max()
        ours = _native.block(steps, C, X), _native.rmatvec(steps, C, X, V), _native.matvec(steps, X, C, coef)
        monkeypatch.setattr(backend, "implementation", numpy_twin)
        theirs = _native.block(steps, C, X), _native.rmatvec(steps, C, X, V), _native.matvec(steps, X, C, coef)
        for a, b in zip(ours, theirs):
            np.testing.assert_allclose(a, b, rtol=0, atol=200 * np.finfo(dtype).eps * size * 67)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((), "give"),
        ((RBF, RBF), "leave 2 values"),
        ((RBF, SUM), "comes before"),
        ((SUM, RBF, RBF), "comes before"),
        ((multiple(2.0), RBF), "comes before"),
        ((RBF, multiple(np.inf)), "finite"),
        ((("rbf", 0.0, 0.0, 0),), "columns=0"),
        ((RBF, RBF, ("sum", 0.0, 0.0, 1)), "columns=1"),
        ((("gauss", 0.0, 0.0, 1),), "'gauss' is not known"),
        ((("rational_quadratic", -1.0, 0.0, 1), multiple(2.0)), "p0=-1.0"),
        ((("rbf", 0.0, 0.0),), "steps"),
    ],
    ids=str,
)
def test_steps_that_make_no_kernel_are_refused(steps, said):
    with pytest.raises(ValueError, match=said):
        _native.block(steps, np.zeros((2, 4)), np.zeros((3, 4)))


def test_columns_must_fit():
    with pytest.raises(ValueError, match="multiple of 2"):
        _native.block((RBF, LINEAR, SUM), np.zeros((2, 3)), np.zeros((3, 3)))


@pytest.mark.parametrize("operation", [_native.distances, lambda k, C, X: _native.pullback(k, C, X, np.zeros((2, 3)))])
def test_what_needs_one_distance_says_so(operation):
    with pytest.raises(ValueError, match="stationary"):
        operation((RBF, MATERN, SUM), np.zeros((2, 4)), np.zeros((3, 4)))
    with pytest.raises(ValueError, match="factors needs a stationary"):
        _native.block((RBF, MATERN, SUM), np.zeros((2, 4)), np.zeros((3, 4)), factors=np.ones(2))
