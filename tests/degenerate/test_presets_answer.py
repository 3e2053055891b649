"""Every system of the papers on odd inputs: a finite answer or one sentence, and no warning on the way."""

import re

import numpy as np
import pytest
from folding import every_case
from test_answered import freeze
from zoo import ANSWERED, FOR_PRESETS, plain

from kernelpursuit import presets
from kernelpursuit.kernels import RBF

# Those that fit numbers; the classifier has bad input of its own.
NAMES = [preset.name for preset in presets.ALL if preset is not presets.kmp_tanh]
REPEATING = ("kmp_basic", "sparse_gp_greedy", "sparse_gp_kappa")
BY_NAME = {name: getattr(presets, name) for name in NAMES}


CASES = {**ANSWERED, **FOR_PRESETS}


def check(name, X, y, sample_weight=None, **settings):
    """Fit a preset and check what holds of every fit."""
    freeze(X, y)
    model = BY_NAME[name](random_state=0, **settings).fit(X, y, sample_weight=sample_weight)
    path, target = model.path_, np.asarray(y, dtype=float)
    prediction = model.predict(X)
    assert prediction.shape == target.shape
    assert np.isfinite(prediction).all()
    staged = list(model.staged_predict(X))
    assert len(staged) == path.n_steps + 1
    assert np.isfinite(staged).all()
    for column in ("cost", "residual_norm", "dof", "target_residual"):
        assert np.isfinite(getattr(path, column)).all(), column
    scale = np.abs(target).max() or 1.0
    cost = path.cost / scale**2
    assert (np.diff(cost) <= 1e-9 * cost[0]).all()
    if model.truncate is None and sample_weight is None:
        errors = [np.linalg.norm((target - stage) / scale) for stage in staged]
        promised = path.residual_norm.copy()
        for k, refit in path.refits.items():
            promised[k] = refit["residual_norm"]
        np.testing.assert_allclose(errors, promised / scale, rtol=1e-5, atol=1e-5)
    assert path.end_reason
    assert model.stop_reason_.startswith(f"{model.n_atoms_} atom")
    assert len(set(model.center_indices_.tolist())) == model.n_atoms_ <= len(target)
    if model.truncate == "auto":
        rounding = 1e-7 if prediction.dtype == np.float32 else 0.0
        assert (np.abs(prediction) <= np.abs(target).max(axis=0) * (1 + rounding)).all()
    return model


@every_case("case", CASES)
@pytest.mark.parametrize("name", NAMES)
def test_zoo(name, case):
    check(name, *CASES[case](), max_atoms=8)


@every_case("case", ["one row", "two rows", "three rows", "all rows equal", "nearly copies"])
@pytest.mark.parametrize("name", NAMES)
def test_more_atoms_than_rows(name, case):
    """Where an atom may be picked again, steps may go on to the end; elsewhere, to the last atom there is."""
    X, y = CASES[case]()
    path = check(name, X, y, max_atoms=60).path_
    assert path.size.max() <= len(y)
    assert path.n_steps <= (60 if name in REPEATING else len(y))


@every_case("fit_intercept", [False, True])
@every_case("name", NAMES)
def test_answers_known_in_advance(name, fit_intercept):
    X, _ = plain()
    zero = check(name, X, np.zeros(30), fit_intercept=fit_intercept, max_atoms=10)
    np.testing.assert_array_equal(zero.predict(X + 0.5), 0.0)
    assert zero.n_atoms_ == 0
    if fit_intercept:
        constant = check(name, X, np.full(30, 7.0), fit_intercept=True, max_atoms=10)
        np.testing.assert_allclose(constant.predict(X + 0.5), 7.0, rtol=1e-13)


@every_case("factor", [1e-150, 1e-20, 1e20, 1e150])
@pytest.mark.parametrize("name", NAMES)
def test_units_of_y_do_not_matter(name, factor):
    X, y = plain()
    model, scaled = (check(name, X, s * y, max_atoms=8) for s in (1.0, factor))
    np.testing.assert_array_equal(scaled.path_.atom, model.path_.atom)
    assert scaled.n_atoms_ == model.n_atoms_
    np.testing.assert_allclose(scaled.predict(X) / factor, model.predict(X), rtol=1e-7, atol=1e-7)


@every_case("name", NAMES)
def test_a_target_that_one_atom_makes(name):
    X, _ = plain()
    y = RBF(gamma=2.0)(X, X[[17]]).ravel()
    model = check(name, X, y, gamma=2.0, max_atoms=30, alpha=1e-12)
    assert model.path_.residual_norm[-1] <= 0.6 * np.linalg.norm(y)
    if name in ("kmp_backfit", "kmp_prefit", "greedy_qr", "greedy_qr_exchange", "ormp", "oga"):
        assert model.center_indices_.tolist() == [17]


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_of_rank_two(name):
    """A linear kernel in two features: all but two atoms are dependent, and nothing goes round in circles."""
    X, y = plain(d=2)
    model = check(name, X, y, kernel="linear", gamma=1.0, max_atoms=200)
    best = X @ np.linalg.lstsq(X, y, rcond=None)[0]
    assert model.path_.n_steps <= (200 if name in REPEATING else 30)
    if name in ("kmp_backfit", "kmp_prefit", "greedy_qr", "greedy_qr_exchange", "ormp"):
        np.testing.assert_allclose(model.predict(X), best, atol=1e-9)
        assert model.n_atoms_ == 2


@pytest.mark.parametrize("name", NAMES)
@every_case("gamma", [1e-300, 1e-12, 1e12])
def test_extreme_gamma(name, gamma):
    check(name, *plain(), gamma=gamma, max_atoms=8)


@every_case("name", NAMES)
@every_case("weight", [1e-150, 1e150])
def test_extreme_weights(name, weight):
    X, y = plain()
    weights = np.full(30, weight)
    weights[3] = 0.0
    model = check(name, X, y, weights, max_atoms=6)
    assert 3 not in model.center_indices_


BEYOND = {"X 1e200": (1e200, 1.0), "X 1e-200": (1e-200, 1.0), "y 1e200": (1.0, 1e200), "y 1e-200": (1.0, 1e-200)}


@every_case("case", BEYOND)
@pytest.mark.parametrize("name", NAMES)
def test_scales_whose_squares_leave_the_range(name, case):
    """The prediction of the same data in other units, or one sentence that names what is too large or small."""
    (of_X, of_y), (X, y) = BEYOND[case], plain()
    model, refusal = BY_NAME[name](max_atoms=6, random_state=0), None
    try:
        model.fit(of_X * X, of_y * y)
    except ValueError as error:
        refusal = str(error)
    if refusal is None:
        want = BY_NAME[name](max_atoms=6, random_state=0).fit(X, y).predict(X)
        np.testing.assert_allclose(model.predict(of_X * X) / of_y, want, rtol=1e-6, atol=1e-6)
    else:
        assert re.fullmatch(rf"[^\n]*(\b{case[0]}\b|gamma)[^\n]*\.", refusal)
        assert vars(model) == model.get_params(deep=False)
