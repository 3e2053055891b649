"""Odd but meaningful inputs get a right answer, under every selection and penalty, without a warning."""

import numpy as np
import pytest
from folding import every_case
from plain import plain_regressor
from zoo import ANSWERED, plain

from kernelpursuit.kernels import BY_NAME, RBF

RULES = [(s, p) for s in ("gain", "correlation", "residual", "random") for p in (None, "ridge", "rkhs", "nugget")]


def freeze(*arrays):
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False


def fit_and_check(X, y, **settings):
    """Fit, and check what holds of every fit: finite numbers, falling cost, no worse than the mean."""
    freeze(X, y)
    model = plain_regressor(random_state=0, **settings).fit(X, y)
    path, target = model.path_, np.asarray(y, dtype=float)
    prediction, std = model.predict(X, return_std=True)
    assert prediction.shape == target.shape
    assert np.isfinite(prediction).all()
    assert not np.isinf(std).any()
    assert np.isfinite(list(model.staged_predict(X))).all()
    for name in ("cost", "residual_norm", "dof"):
        assert np.isfinite(getattr(path, name)).all(), name
    assert not np.isnan(path.loo).any()
    assert len(path) <= min(len(target), settings.get("max_atoms", 200))
    assert len(np.unique(path.atom)) == len(path)
    scale = np.abs(target).max()
    scale = scale if scale > 0 else 1.0
    assert (np.diff(path.cost / scale**2) <= 1e-9).all()
    assert path.residual_norm[-1] <= path.residual_norm[0] * (1 + 1e-9)
    if settings.get("penalty") != "nugget":  # which is on the diagonal of K, not in the model
        error = np.linalg.norm(target / scale - prediction / scale)
        np.testing.assert_allclose(error, path.residual_norm[model.n_atoms_] / scale, rtol=1e-5, atol=1e-6)
    return model


@every_case("case", ANSWERED)
@pytest.mark.parametrize(("selection", "penalty"), RULES)
def test_zoo(case, selection, penalty):
    X, y = ANSWERED[case]()
    fit_and_check(X, y, selection=selection, penalty=penalty, max_atoms=6, stop="max")


@every_case("case", ANSWERED)
@pytest.mark.parametrize("stop", ["loo", "one-se | tol"])
def test_zoo_by_rule(case, stop):
    X, y = ANSWERED[case]()
    model = fit_and_check(X, y, stop=stop, max_atoms=25)
    assert model.stop_reason_.startswith(f"{model.n_atoms_} atom")


HARD = ["one row", "one feature", "zero X", "all rows equal", "duplicated rows", "booleans", "X times 1e+150"]


@every_case("case", HARD)
@pytest.mark.parametrize("kernel", sorted(BY_NAME.keys() - {"rbf"}))
def test_zoo_by_kernel(case, kernel):
    X, y = ANSWERED[case]()
    fit_and_check(X, y, kernel=kernel, max_atoms=6)


@pytest.mark.parametrize(("selection", "penalty"), RULES)
def test_answers_known_in_advance(selection, penalty):
    settings = {"selection": selection, "penalty": penalty, "random_state": 0}
    X, y = plain()
    rows = X + 0.5

    def predict(X, y, rows=rows, **more):
        return plain_regressor(**settings, **more).fit(X, y).predict(rows)

    np.testing.assert_allclose(predict(X, np.full(30, 7.0)), 7.0, rtol=1e-14)
    np.testing.assert_array_equal(predict(X, np.zeros(30)), 0.0)
    np.testing.assert_array_equal(predict(X, np.zeros(30), fit_intercept=False), 0.0)
    np.testing.assert_allclose(predict(X[:1], y[:1]), y[0], rtol=1e-12)
    equal = np.tile(X[:1], (30, 1))
    np.testing.assert_allclose(predict(equal, y, equal), y.mean(), rtol=1e-9)


@pytest.mark.parametrize("factor", [1e-150, 1e-20, 1e20, 1e150])
@pytest.mark.parametrize("penalty", [None, "ridge", "rkhs", "nugget"])
def test_units_do_not_matter(factor, penalty):
    """With gamma="scale" units of X change nothing; units of y change the predictions by that unit."""
    X, y = plain()
    settings = {"penalty": penalty, "max_atoms": 10, "stop": "max"}
    model = plain_regressor(**settings).fit(X, y)
    scaled_X = plain_regressor(**settings).fit(factor * X, y)
    np.testing.assert_array_equal(scaled_X.center_indices_, model.center_indices_)
    np.testing.assert_allclose(scaled_X.predict(factor * X), model.predict(X), rtol=1e-6, atol=1e-6)
    scaled_y = plain_regressor(**settings).fit(X, factor * y)
    np.testing.assert_array_equal(scaled_y.center_indices_, model.center_indices_)
    mean, std = scaled_y.predict(X, return_std=True)
    np.testing.assert_allclose(mean / factor, model.predict(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(std / factor, model.predict(X, return_std=True)[1], rtol=1e-6)
    assert scaled_y.select("loo").n_atoms_ == model.select("loo").n_atoms_
    assert scaled_y.select("one-se").n_atoms_ == model.select("one-se").n_atoms_


@pytest.mark.parametrize(("selection", "penalty"), RULES)
@every_case("weight", [1e-150, 1e-30, 1e30, 1e150])
def test_tiny_and_huge_weights(selection, penalty, weight):
    X, y = plain()
    weights = np.full(30, weight)
    settings = {"selection": selection, "penalty": penalty, "max_atoms": 8, "stop": "max", "random_state": 0}
    model = plain_regressor(**settings).fit(X, y, sample_weight=weights)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.path_.cost).all()
    assert not np.isinf(model.predict(X, return_std=True)[1]).any()
    if penalty != "ridge":  # the only penalty that does not grow with the weights
        equal = plain_regressor(**settings).fit(X, y)
        np.testing.assert_allclose(model.predict(X), equal.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("spread", [1e8, 1e100])
def test_weights_of_very_different_size(spread):
    """A row that outweighs all others is met; the others, next to nothing, are not."""
    X, y = plain()
    weights = np.ones(30)
    weights[7] = spread
    model = plain_regressor(max_atoms=8).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(X)[7], y[7], rtol=1e-5)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(("selection", "penalty"), RULES)
def test_fewer_rows_than_max_atoms(selection, penalty):
    X, y = plain(n=6)
    model = fit_and_check(X, y, selection=selection, penalty=penalty, max_atoms=10**6, stop="max")
    assert len(model.path_) <= 6
    assert "max_atoms=1000000 reached" not in model.stop_reason_


@pytest.mark.parametrize("alpha", [0.0, 5e-324, 1e-300, 1e150, 1e300])
@pytest.mark.parametrize("penalty", ["ridge", "rkhs"])
def test_extreme_alpha(alpha, penalty):
    X, y = plain()
    model = fit_and_check(X, y, penalty=penalty, alpha=alpha, max_atoms=10, stop="max")
    if alpha > 1:
        np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-6)
    if alpha < 1:
        none = plain_regressor(penalty=None, max_atoms=10, stop="max").fit(X, y)
        np.testing.assert_allclose(model.predict(X), none.predict(X), rtol=1e-8)


@every_case("gamma", [1e-300, 1e-12, 1e12, 1e300, np.array([0.0, 1.0, 1e-300])], ids=str)
@pytest.mark.parametrize(("selection", "penalty"), RULES)
def test_extreme_gamma(selection, penalty, gamma):
    """Too wide a kernel is a constant, too narrow a one a table of the training rows: poor, but finite."""
    fit_and_check(*plain(), selection=selection, penalty=penalty, gamma=gamma, max_atoms=10, stop="max")


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("selection", ["gain", "correlation", "residual", "random"])
def test_driven_to_machine_precision(selection, fit_intercept):
    """A target that four atoms make exactly, and a loop told never to stop."""
    X = np.linspace(0, 10, 120)[:, None]
    kernel = RBF(gamma=1.0)
    y = kernel(X, X[[10, 40, 70, 110]]) @ [1.0, -2.0, 3.0, 0.5]
    settings = {"gamma": 1.0, "selection": selection, "fit_intercept": fit_intercept}
    model = fit_and_check(X, y, **settings, penalty=None, max_atoms=120, stop="max")
    assert model.path_.residual_norm[-1] <= 1e-6 * np.linalg.norm(y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)
    between = np.linspace(0.05, 9.95, 100)[:, None]
    np.testing.assert_allclose(
        model.predict(between), kernel(between, X[[10, 40, 70, 110]]) @ [1.0, -2.0, 3.0, 0.5], atol=1e-4
    )


def test_a_target_that_is_one_atom_takes_one_atom():
    X, _ = plain()
    y = RBF(gamma=0.5)(X, X[[17]]).ravel()
    model = plain_regressor(gamma=0.5, penalty=None, fit_intercept=False, stop="max").fit(X, y)
    assert model.center_indices_.tolist() == [17]
    assert model.stop_reason_ == "1 atom: the residual is zero to rounding"


def test_masked_arrays_without_masked_entries():
    X, y = plain()
    model = plain_regressor(max_atoms=5).fit(np.ma.masked_array(X), y)
    np.testing.assert_array_equal(model.predict(X), plain_regressor(max_atoms=5).fit(X, y).predict(X))


@pytest.mark.parametrize("name", ["X", "y"])
def test_targets_and_rows_are_not_written_to(name):
    X, y = plain()
    before = X.copy(), y.copy()
    model = plain_regressor(max_atoms=20).fit(X, y, sample_weight=np.arange(30.0))
    model.predict(X, return_std=True)
    list(model.staged_predict(X))
    np.testing.assert_array_equal({"X": X, "y": y}[name], dict(zip("Xy", before))[name])
