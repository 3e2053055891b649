"""Stopping, refusals, bad input and odd data under a loss."""

import re
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from folding import every_case
from plain import plain_classifier, plain_regressor

from kernelpursuit import pursuit_path
from kernelpursuit.losses import BY_NAME, Huber, Logistic, Loss, Poisson
from kernelpursuit.stopping import BY_NAME as RULES
from kernelpursuit.stopping import CV, Loo, LooError, OneSE, Validation
from kernelpursuit.updates import Orthogonal, Stagewise

SQUARED_RULES = ("mdl", "aic", "fpe", "hdaic", "tcr", "ptr", "tr1", "tr2", "tr3", "tr4", "tol")
ANY_RULES = ("loo", "one-se", "validation", "cv", "max")


def classes(n=90, seed=0, noise=0.6):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.where(np.sin(2 * X[:, 0]) + 0.7 * X[:, 1] + noise * rng.normal(size=n) > 0, 1.0, -1.0)


def counts(n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, rng.poisson(np.exp(np.sin(2 * X[:, 0]) + 0.5)).astype(float)


X, Y = classes()
GIVEN = {"gamma": 0.6, "max_atoms": 20, "random_state": 0}


def assert_one_sentence(error):
    words = str(error.value)
    assert re.fullmatch(r"[^\n]*[.?]", words), words
    assert ". " not in words, words


def classifier(**settings):
    return plain_classifier(**{**GIVEN, **settings})


def regressor(**settings):
    return plain_regressor(**{**GIVEN, "loss": "poisson", **settings})


# -- rules -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["log", "tanh", "squared_hinge", "exponential", "hinge"])
def test_loo_and_one_se_choose_on_the_recorded_error(loss):
    loo, one_se = (classifier(loss=loss, stop=stop).fit(X, Y) for stop in ("loo", "one-se"))
    path = loo.path_
    assert loo.model_.n_steps == np.argmin(path.loo)
    bound = path.loo.min() + path.loo_se[np.argmin(path.loo)]
    assert one_se.model_.n_steps == np.flatnonzero(path.loo <= bound)[0] < loo.model_.n_steps
    assert loo.score(X, Y) > 0.75
    assert loo.stop_reason_.startswith(f"{loo.n_atoms_} atoms: the leave-one-out error is least there")


def test_loo_error_counts_rows_in_a_wrong_class():
    model = classifier(stop="loo-error").fit(X, Y)
    path = model.path_
    assert model.model_.n_steps == np.argmin(path.loo_error)
    np.testing.assert_allclose(path.loo_error * len(X), np.round(path.loo_error * len(X)), atol=1e-9)
    assert path.loo_error[0] == pytest.approx(min((Y > 0).mean(), (Y < 0).mean()), abs=0.02)
    assert path.loo_error.min() < path.loo_error[0]
    patient = classifier(stop=LooError(patience=3)).fit(X, Y)
    assert len(patient.path_) == np.argmin(patient.path_.loo_error) + 3 < 20


@pytest.mark.parametrize(
    "rule", ["loo-error", LooError(), Validation(of="error"), CV(of="error"), "loo | loo-error"], ids=repr
)
def test_counting_wrong_classes_needs_a_classifier(rule):
    for fit in (
        lambda: regressor(stop=rule).fit(*counts()),
        lambda: plain_regressor(stop=rule).fit(X, Y),
        lambda: pursuit_path(X, Y, loss="logistic", stop=rule),
    ):
        with pytest.raises(ValueError, match="classifier") as error:
            fit()
        assert_one_sentence(error)


@pytest.mark.parametrize("of", ["loss", "error"])
@pytest.mark.parametrize("update", ["orthogonal", Stagewise(refit_every=4)], ids=repr)
def test_validation_follows_the_loss_or_the_errors(of, update):
    held, labels = classes(60, seed=1)
    rule = Validation(held, labels, of=of, patience=None)
    model = classifier(stop=rule, update=update).fit(X, Y)
    staged = np.array(list(model.staged_decision_function(held)))
    path = model.path_
    # The kept model may have been refitted after the path was written.
    others = np.setdiff1d(np.arange(len(staged)), [model.model_.n_steps])
    wanted = np.array([Logistic().value(labels[None], f[None]).mean() for f in staged])
    np.testing.assert_allclose(path.validation[others], wanted[others], rtol=1e-8)
    wrong = np.array([(np.sign(f) != labels).mean() for f in staged])
    np.testing.assert_allclose(path.validation_error[others], wrong[others], atol=1e-12)
    assert model.model_.n_steps == np.argmin(path.validation if of == "loss" else path.validation_error)


def test_validation_on_held_out_fraction_ends_the_loop():
    model = classifier(stop=Validation(fraction=0.3, patience=3), max_atoms=40).fit(X, Y)
    assert len(model.path_) == np.argmin(model.path_.validation) + 3 < 40
    assert "validation" in model.stop_reason_


def test_validation_targets_are_checked_against_the_loss():
    with pytest.raises(ValueError, match="counts") as error:
        regressor(stop=Validation(X[:5], -np.ones(5))).fit(*counts())
    assert_one_sentence(error)
    with pytest.raises(ValueError, match=r"-1 and \+1") as error:
        pursuit_path(X, Y, loss="logistic", stop=Validation(X[:5], np.arange(5.0)))
    assert_one_sentence(error)


@pytest.mark.parametrize("of", ["loss", "error"])
def test_cv_is_the_mean_over_folds(of):
    model = classifier(stop=CV(folds=3, of=of), max_atoms=8).fit(X, Y)
    path = model.path_
    curve = path.cv if of == "loss" else path.cv_error
    assert model.model_.n_steps == np.argmin(curve)
    assert path.cv[0] == pytest.approx(Logistic().value(Y[None], np.full((1, 90), 0.0)).mean(), rel=0.1)
    assert path.cv_error[0] == pytest.approx(min((Y > 0).mean(), (Y < 0).mean()), abs=0.1)
    assert curve.min() < 0.9 * curve[0]
    counted = regressor(stop=CV(folds=3), max_atoms=5).fit(*counts())
    assert counted.path_.cv_error is None
    assert counted.model_.n_steps == np.argmin(counted.path_.cv)


def test_joined_rules():
    rule = Loo(patience=2) | OneSE()
    model = classifier(stop=rule, max_atoms=40).fit(X, Y)
    path = model.path_
    assert model.model_.n_steps == min(Loo().choose(path), OneSE().choose(path))
    both = classifier(stop="loo-error | validation").fit(X, Y)
    assert both.model_.n_steps == min(np.argmin(both.path_.loo_error), np.argmin(both.path_.validation))


def test_rules_are_sorted_into_those_for_any_loss_and_those_for_squares():
    assert {*SQUARED_RULES, *ANY_RULES, "loo-error"} == set(RULES)


@every_case("rule", [*SQUARED_RULES, "loo | mdl"])
@every_case("update", ["orthogonal", "stagewise"])
def test_rules_about_squared_residuals_are_refused(rule, update):
    for fit in (
        lambda: classifier(stop=rule, update=update).fit(X, Y),
        lambda: regressor(stop=rule, update=update).fit(*counts()),
        lambda: pursuit_path(X, Y, loss="tanh", stop=rule, update=update),
    ):
        with pytest.raises(
            ValueError, match=f"stop='{re.escape(rule)}' is about squared residuals, but loss="
        ) as error:
            fit()
        assert_one_sentence(error)


@pytest.mark.parametrize("rule", SQUARED_RULES)
def test_rules_about_squared_residuals_are_refused_afterwards(rule):
    """`select` asks the rule of a finished path; one that cannot be fitted with cannot be asked either."""
    model = classifier(stop="max", max_atoms=5).fit(X, Y)
    with pytest.raises(ValueError, match="squared") as error:
        model.select(rule)
    assert_one_sentence(error)


def test_squared_loss_with_refits_takes_rules_about_squares():
    """Stagewise with refits goes by the search, but the loss is squared all the same."""
    model = plain_regressor(update=Stagewise(refit_every=3), stop="mdl", max_atoms=8, gamma=0.6).fit(X, Y)
    assert model.path_.loss == "squared"
    rss = np.array([np.square(Y - f).sum() for f in model.staged_predict(X)])
    others = np.setdiff1d(np.arange(9), [model.model_.n_steps])
    np.testing.assert_allclose(model.path_.target_residual[others, 0], rss[others], rtol=1e-6)


def test_squared_loss_with_refits_measures_as_without():
    """Errors on held-out rows are means over targets, whatever the update."""
    two = np.column_stack([Y, np.roll(Y, 1)])
    held = Validation(X[:30], two[:30])
    start = [
        pursuit_path(X, two, update=update, stop=held, max_atoms=2).validation[0]
        for update in (Stagewise(), Stagewise(refit_every=2))
    ]
    assert start[0] == pytest.approx(start[1])


@pytest.mark.parametrize("rule", ["loo", "one-se"])
def test_the_cure_for_a_missing_leave_one_out_error_is_none_that_is_refused(rule):
    with pytest.raises(ValueError, match="needs the leave-one-out error") as error:
        classifier(stop=rule, update="stagewise").fit(X, Y)
    assert_one_sentence(error)
    cures = re.findall(r"'([\w-]+)'", str(error.value).partition("; use ")[2])
    assert cures
    assert not set(cures) & set(SQUARED_RULES)


@every_case("rule", ANY_RULES)
@pytest.mark.parametrize("loss", sorted(BY_NAME))
def test_every_loss_under_every_rule(rule, loss):
    if loss == "poisson":
        model = regressor(stop=rule, max_atoms=5).fit(*counts(40))
    elif loss in ("huber", "quantile"):
        model = regressor(loss=loss, stop=rule, max_atoms=5).fit(*counts(40))
    else:
        model = classifier(loss=loss, stop=rule, max_atoms=5).fit(*classes(40))
    path, asked = model.path_, RULES[rule]()
    assert model.n_atoms_ == path.size[asked.choose(path)]
    assert model.stop_reason_ == asked.explain(path)
    assert path.cost[-1] < 0.95 * path.cost[0]
    assert np.isfinite(model.predict(X)).all()


# -- refused combinations ----------------------------------------------------------------------------------------------

REFUSED = [
    ({"update": "minres", "selection": "residual", "penalty": None}, "loss=", "update='orthogonal' or 'stagewise'"),
    ({"update": "rescale"}, "loss=", "update='orthogonal' or 'stagewise'"),
    ({"selection": "residual"}, "loss=", "selection='gain', 'correlation' or 'random'"),
    ({"penalty": "nugget"}, "loss=", "penalty='ridge', 'rkhs' or None"),
    ({"penalty": "ols"}, "loss=", "penalty='ridge', 'rkhs' or None"),
    ({"exchange": True}, "loss=", "exchange=False"),
    ({"exchange": True, "selection": "residual"}, "loss=", "selection="),
    ({"loss": "hubr"}, "loss='hubr'", "huber"),
    ({"loss": None}, "loss=None", "huber"),
    ({"loss": Huber}, "loss=Huber", "Huber"),
]


@pytest.mark.parametrize(("settings", "names", "cure"), REFUSED)
def test_refused(settings, names, cure):
    settings = {"loss": "huber", **settings}
    model = plain_regressor(stop="max", max_atoms=3).fit(X, Y)
    before = dict(vars(model))
    model.set_params(**settings)
    for fit in (lambda: model.fit(X, Y), lambda: pursuit_path(X, Y, **settings)):
        with pytest.raises(ValueError, match=re.escape(names)) as error:
            fit()
        assert cure in str(error.value)
        assert_one_sentence(error)
    assert vars(model)["model_"] is before["model_"]
    assert set(vars(model)) == set(before)


@pytest.mark.parametrize("truncate", ["auto", 1.0])
def test_truncation_is_refused(truncate):
    with pytest.raises(ValueError, match="truncate=None") as error:
        regressor(truncate=truncate).fit(*counts())
    assert_one_sentence(error)


@pytest.mark.parametrize("loss", ["softmax"])
def test_classes_are_refused_by_the_regressor(loss):
    with pytest.raises(ValueError, match="KernelPursuitClassifier") as error:
        plain_regressor(loss=loss).fit(X, Y)
    assert_one_sentence(error)


@every_case(
    ("make", "pattern"),
    [
        (lambda: Orthogonal(refit_every=0), "^refit_every=0"),
        (lambda: Orthogonal(refit_every="often"), "^refit_every='often'"),
        (lambda: Orthogonal(refit_every=2.5), "^refit_every=2.5"),
        (lambda: Orthogonal(refit_every=None), "^refit_every=None"),
        (lambda: Stagewise(refit_every=0), "^refit_every=0"),
        (lambda: Stagewise(refit_every=True), "^refit_every=True"),
        (lambda: Stagewise(solver="sgd"), "^solver='sgd'"),
        (lambda: Orthogonal(solver=None), "^solver=None"),
    ],
)
def test_bad_settings_of_updates(make, pattern):
    with pytest.raises(ValueError, match=pattern) as error:
        make()
    assert_one_sentence(error)


# -- bad input ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Broken(Loss):
    """The squared loss, but for one method that is wrong in one way, at once or only away from the start."""

    method: str = "value"
    how: str = "nan"
    late: bool = False

    def _spoil(self, method, values, f):
        if method != self.method or (self.late and np.ptp(f) == 0):
            return values
        if self.how == "nan":
            return np.full_like(values, np.nan)
        if self.how == "shape":
            return values[..., None]
        if self.how == "scalar":
            return float(values.sum())
        return -values

    def value(self, y, f):
        return self._spoil("value", np.square(y - f).sum(axis=0), f)

    def gradient(self, y, f):
        return self._spoil("gradient", 2 * (f - y), f)

    def curvature(self, y, f):
        return self._spoil("curvature", np.full(f.shape[1], 2.0), f)

    def start(self, y, weights):
        return y @ weights / weights.sum()


BROKEN = [
    (m, how, late) for m in ("value", "gradient", "curvature") for how in ("nan", "shape", "scalar") for late in (0, 1)
]


@pytest.mark.parametrize(("method", "how", "late"), BROKEN)
@pytest.mark.parametrize("update", ["orthogonal", Stagewise(refit_every=2)], ids=repr)
def test_broken_losses_are_named(method, how, late, update):
    model = plain_regressor(stop="max", max_atoms=3).fit(X, Y)
    before = model.predict(X), set(vars(model))
    model.set_params(loss=Broken(method, how, late), update=update, max_atoms=6)
    with pytest.raises(ValueError, match=f"The {method} of loss=Broken") as error:
        model.fit(X, Y)
    assert_one_sentence(error)
    np.testing.assert_array_equal(model.predict(X), before[0])
    assert set(vars(model)) == before[1]


class NoMethods(Loss):
    pass


def test_a_loss_without_methods_is_named():
    with pytest.raises(NotImplementedError, match="NoMethods has no method"):
        plain_regressor(loss=NoMethods()).fit(X, Y)


@every_case("loss", ["tanh", "logistic", "exponential", "doom2", "squared_hinge", "hinge"])
@every_case("y", [np.arange(90.0), (Y + 1) / 2, 2 * Y])
def test_margins_need_plus_and_minus_one(loss, y):
    with pytest.raises(ValueError, match=rf"loss='{loss}' needs classes.*-1 and \+1") as error:
        pursuit_path(X, y, loss=loss)
    assert_one_sentence(error)


@pytest.mark.parametrize(
    ("y", "pattern"), [(Y, "counts, but y holds negative"), (np.where(Y > 0, 1e30, 1.0), "up to 5e21")]
)
def test_counts_out_of_range(y, pattern):
    model = regressor(max_atoms=3).fit(*counts())
    path = model.path_
    with pytest.raises(ValueError, match=pattern) as error:
        model.fit(X, y)
    assert_one_sentence(error)
    assert model.path_ is path


class Shifted(Loss):
    """Half the deviance of counts with another constant, as textbooks have it: it may be negative."""

    name = "shifted"
    constant = 0.0

    def value(self, y, f):
        return (np.exp(f) - y * f + self.constant).sum(axis=0)

    def gradient(self, y, f):
        return np.exp(f) - y

    def curvature(self, y, f):
        return Poisson().curvature(y, f)


@pytest.mark.parametrize("constant", [0.0, -5.0, 100.0])
@pytest.mark.parametrize("update", [Orthogonal(refit_every=3), Stagewise(refit_every=3)], ids=repr)
def test_a_constant_in_a_loss_changes_nothing(constant, update):
    """Also where it makes the loss negative: the weights are those that minimise it."""
    loss = Shifted()
    object.__setattr__(loss, "constant", constant)
    rows, y = counts()
    given = {"gamma": 0.6, "max_atoms": 7, "alpha": 1e-2, "fit_intercept": True, "update": update}
    own, built_in = (pursuit_path(rows, y, loss=loss, **given) for loss in (loss, Poisson()))
    np.testing.assert_array_equal(own.atom, built_in.atom)
    for k in (0, 6, 7):
        np.testing.assert_allclose(own.weights(k), built_in.weights(k), rtol=1e-2, atol=1e-3)


# -- odd data ----------------------------------------------------------------------------------------------------------

UPDATES = [Orthogonal(), Orthogonal(refit_every=5), Stagewise(), Stagewise(refit_every=5)]
MARGINS = ["tanh", "logistic", "exponential", "doom2", "squared_hinge", "hinge"]


def path_of(rows, y, loss, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = pursuit_path(rows, y, **{"loss": loss, "gamma": 0.6, "max_atoms": 15, "fit_intercept": True, **settings})
    assert np.isfinite(path.cost).all()
    assert np.isfinite(path.weights(len(path))).all()
    assert (np.diff(path.cost) <= 1e-9 * path.cost[0]).all()
    return path


@pytest.mark.parametrize("penalty", [None, "ridge"])
@pytest.mark.parametrize("update", UPDATES, ids=repr)
@pytest.mark.parametrize("loss", [*MARGINS, "softmax"])
def test_separable_classes_end(loss, update, penalty):
    """Without a penalty, no weights are best; the fit ends with finite ones that tell all rows apart."""
    rows, y = classes(40, noise=0.0)
    targets = np.column_stack([y < 0, y > 0]).astype(float) if loss == "softmax" else y
    path = path_of(rows, targets, loss, update=update, penalty=penalty)
    if loss != "doom2":
        assert path.cost[-1] < 0.5 * path.cost[0]


@pytest.mark.parametrize("update", UPDATES, ids=repr)
@pytest.mark.parametrize("loss", sorted(BY_NAME))
@pytest.mark.parametrize("penalty", [None, "rkhs"])
def test_constant_targets(loss, update, penalty):
    rows = X[:30]
    y = np.ones(30) if loss != "softmax" else np.eye(2)[np.zeros(30, dtype=int)]
    path = path_of(rows, y, loss, update=update, penalty=penalty)
    f = np.exp(-0.6 * np.square(rows[:, None] - rows).sum(-1))[:, path.atoms(len(path))] @ path.coef(len(path))
    f = f + path.intercept(len(path))
    if loss in MARGINS:
        assert (f[:, 0] > 0).all()
    elif loss == "softmax":
        assert (f[:, 0] > f[:, 1]).all()
    else:
        assert np.ptp(f, axis=0).max() <= 1e-2 * np.abs(f).max() + 1e-6


@pytest.mark.parametrize("update", UPDATES, ids=repr)
def test_no_counts_at_all(update):
    path_of(X[:30], np.zeros(30), "poisson", update=update)


@pytest.mark.parametrize("update", UPDATES, ids=repr)
@pytest.mark.parametrize("loss", sorted(BY_NAME))
@pytest.mark.parametrize("intercept", [True, False])
def test_one_row_and_equal_rows(loss, update, intercept):
    for rows, y in ((X[:1], Y[:1] ** 2), (np.ones((12, 2)), np.where(np.arange(12) < 4, 1.0, -1.0))):
        if loss == "poisson":
            y = np.abs(y) + (y > 0)
        if loss == "softmax":
            y = np.column_stack([y < 0, y > 0]).astype(float)
        path = path_of(rows, y, loss, update=update, fit_intercept=intercept, penalty="ridge")
        assert path.size[-1] <= 1
        if path.loo is not None and len(rows) == 1 and path.n_fixed:
            assert np.isinf(path.loo).all()


@pytest.mark.parametrize("update", UPDATES, ids=repr)
@pytest.mark.parametrize("loss", ["huber", "quantile"])
@pytest.mark.parametrize("size", [1e-100, 1e-8, 3.0, 1e100])
def test_targets_of_any_size(loss, update, size):
    """The path is the same in other units, under the same penalty."""
    rng = np.random.default_rng(3)
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_t(1.5, size=90)
    settings = {"update": update, "max_atoms": 6, "penalty": "ridge"}
    one, other = (path_of(X, unit * y, loss, **settings) for unit in (1.0, size))
    np.testing.assert_array_equal(one.atom, other.atom)
    np.testing.assert_allclose(other.cost, one.cost * size**2, rtol=1e-5)
    np.testing.assert_allclose(other.weights(6), size * one.weights(6), rtol=0.01, atol=size * 1e-3)


@pytest.mark.parametrize("update", UPDATES, ids=repr)
def test_outliers_under_huber(update):
    rng = np.random.default_rng(3)
    truth = np.sin(2 * X[:, 0])
    y = truth + 0.05 * rng.normal(size=90)
    y[::15] = 1e8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = plain_regressor(loss="huber", update=update, stop="max", max_atoms=15, gamma=0.6).fit(X, y)
    assert np.median(np.abs(model.predict(X) - truth)) < 0.3


def test_nothing_half_fitted_when_the_callback_fails():
    model = classifier(max_atoms=4, stop="max").fit(X, Y)
    before = dict(vars(model))

    def fail(path):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        model.fit(X, -Y, callback=fail)
    assert vars(model) == before


@pytest.mark.parametrize("update", UPDATES, ids=repr)
def test_copies_of_rows_and_dependent_atoms(update):
    """Rows given three times without a penalty: copies are left out or picked again, and the fit is finite."""
    rows, y = classes(15, noise=1.0)
    path = path_of(np.vstack([rows] * 3), np.concatenate([y, y, -y]), "logistic", update=update, penalty=None)
    assert path.size[-1] <= 15


def test_always_functions_under_a_loss():
    """Functions that are always in are refitted with the rest, and not penalised."""
    from kernelpursuit.dictionary import Always, Functions, KernelAtoms
    from kernelpursuit.kernels import RBF

    rows, y = counts()
    kernel = KernelAtoms(RBF(gamma=0.6)) + Always(Functions(lambda rows: rows[:, 0], lambda rows: rows[:, 1]))
    path = pursuit_path(rows, y, kernel=kernel, loss="poisson", max_atoms=4, fit_intercept=True)
    K = np.exp(-0.6 * np.square(rows[:, None] - rows).sum(-1))
    f = K[:, path.atoms(4)] @ path.coef(4)[:, 0] + path.intercept(4)[0] + rows @ path.fixed_coef(4)[:, 0]
    slopes = np.column_stack([np.ones(90), rows]).T @ (np.exp(f) - y)
    np.testing.assert_allclose(slopes, 0, atol=1e-3)
