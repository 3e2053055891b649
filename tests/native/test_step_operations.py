"""The passes of a step over basis, residuals and leverages: against plain sums in extended precision."""

import subprocess
import sys

import numpy as np
import pytest
from folding import every_case
from hypothesis import given
from hypothesis import strategies as st
from native_reference import DTYPES, every_kernel, points, some_factors

from kernelpursuit import _native
from kernelpursuit._native import backend as backends
from kernelpursuit._native import numpy_twin

EPS = np.finfo(float).eps
# Rows: one, fewer than a vector register holds, one chunk of 2048 to the row, one more, and several.
ROWS = [1, 7, 33, 2048, 2049, 5001]
ANY_THREADS = (1, 2, 3, 7)


@pytest.fixture(params=["native", "numpy"])
def backend(request, monkeypatch):
    """Run an operation on the native core and on its twin."""
    if request.param == "native":
        request.getfixturevalue("core")
    else:
        monkeypatch.setattr(backends, "implementation", numpy_twin)
    return request.param


def both(call, *arrays):
    """Outcomes of a call on the core in use and on the twin, each with arrays of its own, which it may change."""
    outcomes = []
    for implementation in (backends.implementation, numpy_twin):
        copies = [array.copy() for array in arrays]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backends, "implementation", implementation)
            outcomes.append((call(*copies), copies))
    return outcomes


class TestRotate:
    def angles(self, rng, m):
        turns = rng.uniform(-np.pi, np.pi, size=max(m - 1, 0))
        return np.cos(turns), np.sin(turns)

    @every_case("n", [0, *ROWS])
    @every_case("m", [0, 1, 2, 3, 5, 70])
    def test_rows_are_turned_one_after_the_other(self, backend, m, n, rng):
        V, (c, s) = rng.normal(size=(m, n)), self.angles(rng, m)
        given = c.copy(), s.copy()
        want = V.astype(np.longdouble)
        for t in range(m - 1):
            upper, lower = want[t].copy(), want[t + 1].copy()
            want[t], want[t + 1] = c[t] * upper + s[t] * lower, c[t] * lower - s[t] * upper
        assert _native.rotate(V, c, s) is None
        assert np.abs(V - want).max(initial=0.0) <= 4 * EPS * max(m, 1) * max(np.abs(want).max(initial=0.0), 1.0)
        np.testing.assert_array_equal((c, s), given)

    def test_lengths_stay_and_the_inverse_undoes_it(self, backend, rng):
        V, (c, s) = rng.normal(size=(40, 2500)), self.angles(rng, 40)
        turned = V.copy()
        _native.rotate(turned, c, s)
        np.testing.assert_allclose(np.square(turned).sum(axis=0), np.square(V).sum(axis=0), rtol=1e-13)
        # Back to front, the other way round: the inverse, as a rotation of the rows in reverse order.
        back = np.ascontiguousarray(turned[::-1])
        _native.rotate(back, c[::-1], s[::-1])
        np.testing.assert_allclose(back[::-1], V, atol=1e-13)

    def test_any_number_of_threads_has_the_same_bits(self, backend, rng):
        V, (c, s) = rng.normal(size=(90, 20_001)), self.angles(rng, 90)
        outcomes = []
        for n_threads in ANY_THREADS:
            outcomes.append(V.copy())
            _native.rotate(outcomes[-1], c, s, n_threads)
        for other in outcomes[1:]:
            np.testing.assert_array_equal(outcomes[0], other)

    def test_every_instruction_set_and_the_twin_agree(self, isa, rng):
        V, (c, s) = rng.normal(size=(30, 3001)), self.angles(rng, 30)
        (_, (native,)), (_, (twin,)) = both(lambda V: _native.rotate(V, c, s), V)
        np.testing.assert_allclose(native, twin, atol=100 * EPS)

    def test_a_part_of_a_larger_matrix(self, backend, rng):
        """Rows in the middle of the room for a basis: those around them stay as they are."""
        room, (c, s) = rng.normal(size=(9, 50)), self.angles(rng, 4)
        before = room.copy()
        _native.rotate(room[3:7], c, s)
        np.testing.assert_array_equal(room[[0, 1, 2, 7, 8]], before[[0, 1, 2, 7, 8]])
        alone = before[3:7].copy()
        _native.rotate(alone, c, s)
        np.testing.assert_array_equal(room[3:7], alone)


class TestAbsorb:
    @every_case("n", [0, *ROWS])
    @every_case("targets", [0, 1, 2, 5])
    @every_case("sign", [1, -1])
    def test_residuals_leverages_and_lengths(self, backend, sign, targets, n, rng):
        left, v, b = rng.normal(size=(targets, n)), rng.normal(size=n), rng.normal(size=targets)
        leverage = rng.uniform(size=n)
        given = v.copy(), b.copy()
        want = left.astype(np.longdouble) - sign * np.outer(b.astype(np.longdouble), v)
        want_leverage = leverage.astype(np.longdouble) + sign * v.astype(np.longdouble) ** 2
        squares = _native.absorb(left, v, b, leverage, sign)
        assert squares.shape == (targets,)
        np.testing.assert_allclose(left, want.astype(float), rtol=0, atol=4 * EPS * 20)
        np.testing.assert_allclose(leverage, want_leverage.astype(float), rtol=0, atol=4 * EPS * 20)
        # Of the residuals as they are now, whatever they should be.
        exact = np.square(left.astype(np.longdouble)).sum(axis=1).astype(float)
        np.testing.assert_allclose(squares, exact, rtol=1e-14)
        np.testing.assert_array_equal(v, given[0])
        np.testing.assert_array_equal(b, given[1])

    def test_out_undoes_in(self, backend, rng):
        left, v, b, leverage = rng.normal(size=(3, 2500)), rng.normal(size=2500), rng.normal(size=3), np.ones(2500)
        now, now_leverage = left.copy(), leverage.copy()
        first = _native.absorb(now, v, b, now_leverage)
        assert (np.abs(first - np.square(left).sum(axis=1)) > 1).all()
        again = _native.absorb(now, v, b, now_leverage, -1)
        np.testing.assert_allclose(now, left, atol=1e-14)
        np.testing.assert_allclose(now_leverage, leverage, atol=1e-14)
        np.testing.assert_allclose(again, np.square(left).sum(axis=1), rtol=1e-13)

    def test_any_number_of_threads_has_the_same_bits(self, backend, rng):
        left, v, b = rng.normal(size=(4, 30_001)), rng.normal(size=30_001), rng.normal(size=4)
        outcomes = []
        for n_threads in ANY_THREADS:
            now, leverage = left.copy(), np.zeros(30_001)
            outcomes.append((now, leverage, _native.absorb(now, v, b, leverage, 1, n_threads)))
        for other in outcomes[1:]:
            for one, two in zip(outcomes[0], other):
                np.testing.assert_array_equal(one, two)

    def test_a_target_does_not_depend_on_the_others(self, core, rng):
        left, v, b = rng.normal(size=(5, 2100)), rng.normal(size=2100), rng.normal(size=5)
        alone = left[2:3].copy()
        square = _native.absorb(alone, v, b[2:3], np.zeros(2100))
        squares = _native.absorb(left, v, b, np.zeros(2100))
        np.testing.assert_array_equal(left[2], alone[0])
        assert squares[2] == square[0]

    def test_core_and_twin_agree(self, core, rng):
        arrays = rng.normal(size=(2, 5001)), rng.normal(size=5001), rng.normal(size=2), rng.uniform(size=5001)
        (squares, changed), (twin_squares, twin_changed) = both(_native.absorb, *arrays)
        for one, two in zip(changed, twin_changed):
            np.testing.assert_allclose(one, two, atol=1e-14)
        np.testing.assert_allclose(squares, twin_squares, rtol=1e-13)


def literal_criteria(residual, leverage, weights=None, moved=None, shift=None):
    """As the words of `criteria` say, in extended precision."""
    r, h = residual.astype(np.longdouble), leverage.astype(np.longdouble)
    w = np.ones(len(h)) if weights is None else weights
    left = 1 - h / np.maximum(w, 1)
    predicted = r if moved is None else r + moved
    # Residuals carry the root of the weights; errors do not.
    e = (r / left if shift is None else r / left + shift) / np.sqrt(w.astype(np.longdouble))
    errors = np.square(e).mean(axis=0)
    mean = (w * errors).sum() / w.sum()
    spread = (w * np.square(errors - mean)).sum() / w.sum()
    return np.square(predicted).sum(axis=1), h.sum(), left.min(), mean, spread


class TestCriteria:
    def make(self, rng, targets, n, weighted, with_nugget):
        weights = rng.uniform(0.1, 4.0, size=n) if weighted else None
        moved, shift = (rng.normal(size=(targets, n)) if with_nugget else None for _ in range(2))
        return rng.normal(size=(targets, n)), rng.uniform(0, 0.95, size=n), weights, moved, shift

    @every_case("n", ROWS)
    @every_case("targets", [1, 2, 5])
    @every_case("weighted", [False, True])
    @every_case("with_nugget", [False, True])
    def test_the_words(self, backend, with_nugget, weighted, targets, n, rng):
        arguments = self.make(rng, targets, n, weighted, with_nugget)
        before = [None if a is None else a.copy() for a in arguments]
        for array in arguments:
            if array is not None:
                array.flags.writeable = False
        got, want = _native.criteria(*arguments), literal_criteria(*arguments)
        assert got[0].shape == (targets,)
        np.testing.assert_allclose(got[0], want[0].astype(float), rtol=1e-13)
        np.testing.assert_allclose(got[1:4], np.array(want[1:4], dtype=float), rtol=1e-13)
        # One row is as far from its mean as rounding says.
        np.testing.assert_allclose(got[4], float(want[4]), rtol=1e-12, atol=1e-28 * float(want[3]) ** 2)
        for array, copied in zip(arguments, before):
            np.testing.assert_array_equal(array, copied)

    @every_case("weighted", [False, True])
    @every_case("with_nugget", [False, True])
    def test_any_number_of_threads_has_the_same_bits(self, backend, with_nugget, weighted, rng):
        arguments = self.make(rng, 3, 30_001, weighted, with_nugget)
        outcomes = [_native.criteria(*arguments, n_threads) for n_threads in ANY_THREADS]
        for other in outcomes[1:]:
            np.testing.assert_array_equal(np.hstack(outcomes[0]), np.hstack(other))

    def test_every_instruction_set_and_the_twin_agree(self, isa, rng):
        arguments = self.make(rng, 2, 5001, True, True)
        (native, _), (twin, _) = both(_native.criteria, *arguments)
        np.testing.assert_allclose(np.hstack(native), np.hstack(twin), rtol=1e-13)

    def test_a_unit_of_weight_is_left_out_of_a_heavy_row_and_all_of_a_light_one(self, backend):
        residual, leverage = np.array([[2.0, 2.0, 2.0]]), np.array([0.5, 0.5, 0.5])
        weights = np.array([0.25, 1.0, 4.0])
        _, dof, least, loo, _ = _native.criteria(residual, leverage, weights)
        assert (dof, least) == (1.5, 0.5)
        # Squares of 2 / (1 - 1/2), twice, and of 2 / (1 - 1/8), over the weights' sum.
        assert loo == pytest.approx((16 + 16 + (16 / 7) ** 2) / 5.25, rel=1e-14)

    @pytest.mark.parametrize("n", [5, 4000])
    def test_an_interpolated_row_says_so_without_a_warning(self, backend, n, rng):
        leverage = rng.uniform(0, 0.5, size=n)
        leverage[n - 2] = 1.0
        squares, dof, least, loo, _ = _native.criteria(rng.normal(size=(2, n)), leverage)
        assert least == 0.0
        assert np.isinf(loo)
        assert np.isfinite(squares).all()
        assert np.isfinite(dof)


class TestExamine:
    @every_case("dtype", DTYPES)
    @every_kernel
    def test_bits_of_products_and_norms(self, backend, kernel, with_factors, dtype, rng):
        for n, m, q in ((1, 1, 1), (2051, 5, 3), (67, 9, 0), (0, 4, 2), (33, 0, 2)):
            X, C = points(rng, n, m, 3, dtype)
            V, weights = rng.normal(size=(q, n)), rng.uniform(size=n)
            factors = some_factors(rng, m, dtype, with_factors)
            for w in (None, weights):
                products, squares = _native.examine(kernel, C, X, V, w, factors=factors)
                assert products.shape == (q, m)
                np.testing.assert_array_equal(products, _native.rmatvec(kernel, C, X, V, factors=factors))
                np.testing.assert_array_equal(squares, _native.sqnorms(kernel, C, X, w, factors=factors))

    def test_values_of_a_block(self, backend, rng):
        X, C = points(rng, 3000, 6, 4, np.float64)
        V, weights, kernel = rng.normal(size=(2, 3000)), rng.uniform(size=3000), ("matern52", 0.0, 0.0)
        values = _native.block(kernel, C, X).astype(np.longdouble)
        products, squares = _native.examine(kernel, C, X, V, weights)
        np.testing.assert_allclose(products, (V @ values.T).astype(float), atol=1e-12)
        np.testing.assert_allclose(squares, (values**2 @ weights).astype(float), rtol=1e-13)

    def test_any_number_of_threads_has_the_same_bits(self, backend, rng):
        X, C = points(rng, 9001, 150, 3, np.float64)
        V = rng.normal(size=(3, 9001))
        outcomes = [_native.examine(("rbf", 0, 0), C, X, V, V[0] ** 2, n) for n in ANY_THREADS]
        for products, squares in outcomes[1:]:
            np.testing.assert_array_equal(products, outcomes[0][0])
            np.testing.assert_array_equal(squares, outcomes[0][1])


@pytest.mark.parametrize("dtype", DTYPES)
@given(m=st.integers(1, 30), n=st.integers(1, 5000), q=st.integers(1, 70), seed=st.integers(0, 2**32 - 1))
def test_many_vectors_have_the_bits_of_one_at_a_time(dtype, m, n, q, seed):
    """What an atom scores must not depend on what it is scored with; on the twin too."""
    rng = np.random.default_rng(seed)
    block, V = rng.normal(size=(m, n)).astype(dtype), rng.normal(size=(q, n))
    for implementation in (backends.implementation, numpy_twin):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backends, "implementation", implementation)
            together = _native.stored_rmatvec(block, V)
            for t in {0, q // 2, q - 1}:
                np.testing.assert_array_equal(together[t : t + 1], _native.stored_rmatvec(block, V[t : t + 1]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_number_of_vectors_up_to_seventy(backend, dtype, rng):
    block, V = rng.normal(size=(9, 2100)).astype(dtype), rng.normal(size=(70, 2100))
    alone = np.vstack([_native.stored_rmatvec(block, vector[None]) for vector in V])
    np.testing.assert_allclose(alone, V @ block.T.astype(float), atol=1e-11)
    for q in range(71):
        np.testing.assert_array_equal(_native.stored_rmatvec(block, V[:q]), alone[:q])


ONES = np.ones
READ_ONLY = np.ones((3, 4))
READ_ONLY.flags.writeable = False
REFUSED = {
    "rotate one dimension": (lambda: _native.rotate(ONES(4), ONES(3), ONES(3)), "V must be"),
    "rotate float32": (lambda: _native.rotate(ONES((3, 4), np.float32), ONES(2), ONES(2)), "V must be"),
    "rotate transposed": (lambda: _native.rotate(ONES((4, 3)).T, ONES(2), ONES(2)), "V must be"),
    "rotate read-only": (lambda: _native.rotate(READ_ONLY, ONES(2), ONES(2)), "V must be a writable"),
    "rotate cosines": (lambda: _native.rotate(ONES((3, 4)), ONES(3), ONES(2)), "cosines has 3 entries; it must have 2"),
    "rotate sines": (lambda: _native.rotate(ONES((3, 4)), ONES(2), ONES(1)), "sines has 1 entries; it must have 2"),
    "rotate matrix of cosines": (lambda: _native.rotate(ONES((3, 4)), ONES((2, 1)), ONES(2)), "cosines"),
    "rotate threads": (lambda: _native.rotate(ONES((3, 4)), ONES(2), ONES(2), 0), "n_threads=0"),
    "absorb one dimension": (lambda: _native.absorb(ONES(4), ONES(4), ONES(4), ONES(4)), "left"),
    "absorb float32": (
        lambda: _native.absorb(ONES((1, 4), np.float32), ONES(4), ONES(1), ONES(4)),
        "left must be a writable",
    ),
    "absorb read-only": (lambda: _native.absorb(READ_ONLY, ONES(4), ONES(3), ONES(4)), "left must be a writable"),
    "absorb strided": (
        lambda: _native.absorb(ONES((1, 4)), ONES(4), ONES(1), ONES(8)[::2]),
        "leverage must be a writable",
    ),
    "absorb direction": (lambda: _native.absorb(ONES((1, 4)), ONES(3), ONES(1), ONES(4)), "v has 3 entries"),
    "absorb coefficients": (lambda: _native.absorb(ONES((2, 4)), ONES(4), ONES(1), ONES(4)), "b has 1 entries"),
    "absorb leverage": (lambda: _native.absorb(ONES((1, 4)), ONES(4), ONES(1), ONES(5)), "leverage has 5 entries"),
    "absorb matrix of leverages": (lambda: _native.absorb(ONES((1, 4)), ONES(4), ONES(1), ONES((4, 2))), "leverage"),
    "absorb matrix of directions": (lambda: _native.absorb(ONES((1, 4)), ONES((4, 1)), ONES(1), ONES(4)), r"v "),
    "criteria one dimension": (lambda: _native.criteria(ONES(4), ONES(4)), "residual has 1 dimensions"),
    "criteria leverage": (lambda: _native.criteria(ONES((1, 4)), ONES(3)), "leverage has 3 entries; it must have 4"),
    "criteria matrix of leverages": (lambda: _native.criteria(ONES((1, 4)), ONES((4, 1))), "leverage"),
    "criteria weights": (lambda: _native.criteria(ONES((1, 4)), ONES(4), ONES(3)), "weights has 3 entries"),
    "criteria moved": (lambda: _native.criteria(ONES((1, 4)), ONES(4), None, ONES((1, 3))), "moved"),
    "criteria moved targets": (lambda: _native.criteria(ONES((2, 4)), ONES(4), None, ONES((1, 4))), "moved"),
    "criteria shift": (lambda: _native.criteria(ONES((1, 4)), ONES(4), None, None, ONES((1, 3))), "shift"),
    "criteria shift one dimension": (lambda: _native.criteria(ONES((1, 4)), ONES(4), None, None, ONES(4)), "shift"),
    "examine vectors": (
        lambda: _native.examine(("rbf", 0, 0), ONES((3, 2)), ONES((4, 2)), ONES((1, 3))),
        "V has 3 columns; it must have 4",
    ),
    "examine weights": (
        lambda: _native.examine(("rbf", 0, 0), ONES((3, 2)), ONES((4, 2)), ONES((1, 4)), ONES(3)),
        "weights has 3 entries; it must have 4",
    ),
}


@every_case("case", REFUSED)
def test_bad_arguments_get_one_sentence(case):
    call, words = REFUSED[case]
    with pytest.raises(ValueError, match=r"^[^\n]*[.]$") as caught:
        call()
    assert words in str(caught.value)


def test_criteria_of_no_rows_are_refused():
    """In a process of its own, since a core that looked for the least of no leverages would take this one with it."""
    code = "import numpy as np; from kernelpursuit import _native; _native.criteria(np.ones((1, 0)), np.ones(0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ValueError: residual")
