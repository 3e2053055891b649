"""The orthonormal basis: how far rounding lets it be orthonormal, and its factor R be that of the atoms.

Ratios are those of LAPACK's test programs: an error over eps, the norm of what was factored and its size. Those for
a backward stable factorisation are of order one, whatever the condition number.
"""

import numpy as np
import pytest
from folding import every_case
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import solve_triangular

from kernelpursuit.dictionary import Precomputed, as_dictionary
from kernelpursuit.engine import Engine
from kernelpursuit.kernels import RBF, Matern52
from kernelpursuit.penalties import Atoms
from kernelpursuit.pursuit import basis
from kernelpursuit.pursuit.basis import DEPENDENT
from kernelpursuit.pursuit.fits import Design, OrthogonalFit, Outcome
from kernelpursuit.pursuit.penalty import resolve_penalty

EPS = np.finfo(float).eps
RATIO = 30.0  # LAPACK's own threshold


def run(dictionary, X, y, *, order=None, penalty=None, alpha=0.0, weights=None, intercept=False, in_blocks=False):
    """Add the atoms in the given order, dependent ones left out; return the state and the picked columns."""
    resolved = as_dictionary(dictionary).resolve(X)
    n = X.shape[0]
    total = n if weights is None else weights.sum()
    penalty, nugget = resolve_penalty(penalty, alpha, Atoms.of(resolved, total))
    engine = Engine(resolved, X, weights=weights, nugget=nugget, memory_budget=2**30, n_threads=1)
    root = np.ones(n) if weights is None else np.sqrt(weights)
    fixed = np.ones((int(intercept), n))
    order = np.arange(resolved.n_atoms) if order is None else np.asarray(order)
    state = OrthogonalFit(Design(engine, fixed, penalty, resolved.n_atoms), (y * root)[None, :])
    for place, j in enumerate(order):
        if in_blocks:
            state.look_ahead(order[place:])
        state.add(state.examine(np.array([j])), 0)
    columns = np.vstack([root * fixed, engine.columns(np.array(state.atoms, dtype=int))]).T
    return state, columns


def penalty_between(state):
    """L over the fixed columns, which have none, and the picked atoms; None without a penalty."""
    if state.penalty is None:
        return None
    atoms = np.array(state.atoms, dtype=int)
    L = np.zeros((state.basis.size, state.basis.size))
    between = state.penalty.between(atoms, atoms)
    L[state.n_fixed :, state.n_fixed :] = np.diag(state.own_penalties[atoms]) if between is None else between
    return L


def weights_of(state):
    return solve_triangular(state.basis.R, state.b[: state.basis.size])


def solve_upper(R, B):
    """R^{-1} B in extended precision, so that the checks do not add errors of their own."""
    X = B.astype(np.longdouble)
    R = R.astype(np.longdouble)
    for i in range(len(R) - 1, -1, -1):
        X[i] = (X[i] - R[i, i + 1 :] @ X[i + 1 :]) / R[i, i]
    return X


def orthogonality(state):
    """||V V' + T' L T - I|| with T = R^{-1}: the directions' inner products."""
    basis, L = state.basis, penalty_between(state)
    V = basis.V.astype(np.longdouble)
    products = V @ V.T
    if L is not None:
        T = solve_upper(basis.R, np.eye(basis.size))
        products = products + T.T @ L.astype(np.longdouble) @ T
    return float(np.abs(products - np.eye(basis.size)).max())


def residual_ratio(state, columns):
    """||D - V'R|| / (n eps ||D||), the ratio of LAPACK's QR tests."""
    error = columns - state.basis.V.T @ state.basis.R
    return np.linalg.norm(error, 1) / (EPS * np.linalg.norm(columns, 1) * len(columns))


def factor_ratio(state, columns):
    """||D'D + L - R'R|| / (k eps ||D'D + L||), the ratio of LAPACK's Cholesky tests."""
    L = penalty_between(state)
    inner = columns.T @ columns + (0.0 if L is None else L)
    error = inner - state.basis.R.T @ state.basis.R
    return np.linalg.norm(error, 1) / (EPS * np.linalg.norm(inner, 1) * len(inner))


def amplification(state):
    """The largest entry of |T|' |L| |T|: by how much a rounding of L itself shows in the directions' products."""
    T = np.abs(solve_upper(state.basis.R, np.eye(state.basis.size)))
    return float((T.T @ np.abs(penalty_between(state)) @ T).max())


def solution_error(state, columns, y):
    """Gradient of the penalised cost at the weights, relative to the sizes that go into it."""
    L = penalty_between(state)
    w, D = weights_of(state).astype(np.longdouble), columns.astype(np.longdouble)
    gradient = D.T @ (y[:, None] - D @ w)
    size = np.linalg.norm(columns, 2)
    scale = size * (size * np.linalg.norm(weights_of(state)) + np.linalg.norm(y))
    if L is not None:
        gradient -= L @ w
        scale += np.linalg.norm(L, 2) * np.linalg.norm(weights_of(state))
    return float(np.abs(gradient).max() / scale)


@given(
    st.integers(0, 10**6),
    st.sampled_from([None, "ridge", "rkhs", "nugget"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1e-3, 1.0]),
    st.booleans(),
)
def test_orthonormal_to_a_few_eps(seed, penalty, weighted, intercept, alpha, in_blocks):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    weights = rng.uniform(0.1, 4.0, size=40) if weighted else None
    state, columns = run(
        RBF(gamma=3.0),
        X,
        y,
        order=range(15),
        penalty=penalty,
        alpha=alpha,
        weights=weights,
        intercept=intercept,
        in_blocks=in_blocks,
    )
    assert state.basis.size == 15 + intercept
    assert orthogonality(state) < 50 * EPS
    assert residual_ratio(state, columns) < RATIO
    assert not np.tril(state.basis.R, -1).any()
    assert (np.diag(state.basis.R) > 0).all()


@given(st.integers(0, 10**6), st.floats(0.0, 12.0), st.booleans())
def test_matrices_of_a_given_condition_number(seed, decades, in_blocks):
    """LAPACK's own test matrices: random orthogonal factors around singular values from 1 down to 10^-decades."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=shape))[0] for shape in ((50, 20), (20, 20)))
    D = left * np.logspace(0, -decades, 20) @ right.T
    state, columns = run(Precomputed(), D, rng.normal(size=50), in_blocks=in_blocks)
    assert orthogonality(state) < 50 * EPS
    assert residual_ratio(state, columns) < RATIO
    kept = np.linalg.cond(columns)
    assert state.basis.size == 20 or kept > 1e-2 * DEPENDENT**-0.5


SMOOTH = {
    "rbf-wide": RBF(gamma=1e-3),
    "rbf": RBF(gamma=0.1),
    "matern": Matern52(gamma=1e-4),
}


@every_case("in_blocks", [False, True])
@every_case("intercept", [False, True])
@every_case("kernel", SMOOTH)
@every_case(
    ("penalty", "alpha"),
    [(None, 0.0), ("ridge", 1e-12), ("ridge", 1e-4), ("nugget", 1e-12), ("rkhs", 1e-14), ("rkhs", 1e-8), ("rkhs", 1.0)],
)
def test_smooth_gram_matrices(kernel, penalty, alpha, intercept, in_blocks, rng):
    """Gram matrices with condition numbers of 1e12 and beyond, their atoms in no helpful order."""
    X = rng.uniform(-1, 1, size=(120, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    K = SMOOTH[kernel](X)
    assert np.linalg.cond(K) > 1e12 or kernel == "matern"
    state, columns = run(SMOOTH[kernel], X, y, penalty=penalty, alpha=alpha, intercept=intercept, in_blocks=in_blocks)
    assert state.basis.size >= 4
    assert residual_ratio(state, columns) < RATIO
    assert factor_ratio(state, columns) < RATIO
    # In the coordinates of the penalty, whatever it is:
    products = state.basis.V @ state.basis.V.T + state.basis.T @ state.basis.T.T
    assert np.abs(products - np.eye(state.basis.size)).max() < 100 * EPS
    # Without entries between atoms, L is exact in T'LT; with them, so much of the rounding of its factor shows.
    shows = max(100.0, RATIO * amplification(state)) if penalty == "rkhs" else 1000.0
    assert orthogonality(state) < EPS * shows


@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("penalty", [None, "ridge", "rkhs"])
def test_the_weights_solve_the_normal_equations(penalty, in_blocks, rng):
    X = rng.uniform(-1, 1, size=(80, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=80)
    state, columns = run(RBF(gamma=0.3), X, y, order=range(40), penalty=penalty, alpha=1e-9, in_blocks=in_blocks)
    assert solution_error(state, columns, y) < 100 * EPS
    fitted = state.basis.V.T @ state.b[: state.basis.size]
    np.testing.assert_allclose(y - fitted[:, 0], state.residual[0], atol=1e-12)
    np.testing.assert_allclose(np.square(state.basis.V).sum(axis=0), state.leverage, rtol=1e-12)


@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("new", [1e-2, 1e-4, 1e-6, 1e-8, 1e-12, 0.0])
def test_what_is_new_decides_whether_an_atom_is_dependent(new, in_blocks, rng):
    """An atom counts while the squared length of what is new in it is above DEPENDENT of the whole."""
    Q = np.linalg.qr(rng.normal(size=(60, 4)))[0]
    column = Q[:, :3] @ np.array([1.0, -2.0, 0.5]) + new * np.linalg.norm([1.0, -2.0, 0.5]) * Q[:, 3]
    D = np.column_stack([Q[:, :3], column])
    state, _ = run(Precomputed(), D, rng.normal(size=60), in_blocks=in_blocks)
    assert state.basis.size == (4 if new**2 > DEPENDENT else 3)
    assert orthogonality(state) < 20 * EPS


@pytest.mark.parametrize("least", [0.1, 1e-3, 1e-5])
@pytest.mark.parametrize("seed", range(5))
def test_panels_of_atoms_that_are_nearly_sums_of_those_before(seed, least):
    """Every atom is new by a part from `least` to one half: the condition of a panel is far beyond one over eps."""
    rng = np.random.default_rng(seed)
    Q, D = np.linalg.qr(rng.normal(size=(200, 130)))[0], np.zeros((200, 130))
    for j, new in enumerate(np.exp(rng.uniform(np.log(least), np.log(0.5), size=130))):
        old = D[:, :j] @ rng.normal(size=j) if j else np.zeros(200)
        D[:, j] = old / (np.linalg.norm(old) or 1.0) + new * Q[:, j]
    state, columns = run(Precomputed(), D, rng.normal(size=200), in_blocks=True)
    assert state.basis.size == 130
    assert orthogonality(state) < 50 * EPS
    assert residual_ratio(state, columns) < RATIO


def test_a_dependent_atom_does_not_spoil_those_before_it(rng):
    columns = rng.normal(size=(80, 40))
    columns[:, 25] = columns[:, :5].sum(axis=1)
    state, _ = run(Precomputed(), columns, rng.normal(size=80), order=[])
    assert state.look_ahead(np.arange(40)) == 25
    for j in range(40):
        state.look_ahead(np.arange(j, 40))
        state.add(state.examine(np.array([j])), 0)
    assert state.atoms == [j for j in range(40) if j != 25]
    assert orthogonality(state) < 50 * EPS


def test_many_atoms_are_prepared_at_once_and_others_may_come(rng, monkeypatch):
    monkeypatch.setattr(basis, "PANEL", 4)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    state, _ = run(RBF(gamma=1.0), X, y, order=[], penalty="ridge", alpha=0.1)
    order = np.array([5, 3, 40, 7, 21, 50, 1, 12, 30, 33])
    assert state.look_ahead(order) == len(order)
    for j in order[:6]:
        assert state.add(state.examine(np.array([j])), 0) is Outcome.ADDED
    assert state.look_ahead(order[6:]) == 4, "what is prepared stays"
    for j in (9, 1):
        assert state.add(state.examine(np.array([j])), 0) is Outcome.ADDED
    alone, columns = run(RBF(gamma=1.0), X, y, order=[*order[:6], 9, 1], penalty="ridge", alpha=0.1)
    np.testing.assert_allclose(state.basis.R, alone.basis.R, atol=1e-12)
    np.testing.assert_allclose(weights_of(state), weights_of(alone), atol=1e-12)
    assert orthogonality(state) < 50 * EPS
    assert residual_ratio(state, columns) < RATIO


def test_exact_scores_are_what_the_cost_drops_by(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    state, _ = run(RBF(gamma=1.0), X, y, order=range(5), penalty="rkhs", alpha=0.1)
    examined = state.examine(np.arange(5, 12))
    before = state.cost()
    promised = examined.u[0, 3] ** 2 / examined.a[3]
    assert state.add(examined, 3) is Outcome.ADDED
    assert before - state.cost() == pytest.approx(promised, rel=1e-10)
    assert state.atoms[-1] == 8
