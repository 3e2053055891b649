"""The fitted model and its smaller and larger sisters on the path, and the spread of their predictions."""

import re

import numpy as np
import pytest
from plain import plain_regressor
from sklearn.exceptions import NotFittedError

from kernelpursuit import PursuitPath
from kernelpursuit.kernels import RBF
from kernelpursuit.stopping import Loo, Max, OneSE, Tol, Validation

TARGETS = {"(n,)": lambda Y: Y[:, 0], "(n, 1)": lambda Y: Y[:, :1], "(n, q)": lambda Y: Y}


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shape", TARGETS)
def test_shapes(toy_outputs, shape, fit_intercept):
    X, Y = toy_outputs
    y = TARGETS[shape](Y)
    model = plain_regressor(max_atoms=9, stop="max", fit_intercept=fit_intercept).fit(X, y)
    targets = y.shape[1:]
    assert model.n_atoms_ == 9
    assert model.n_features_in_ == 3
    assert model.coef_.shape == (*targets, 9)
    assert np.shape(model.intercept_) == targets
    assert isinstance(model.intercept_, np.ndarray if targets else float)
    assert fit_intercept or not np.any(model.intercept_)
    assert model.centers_.shape == (9, 3)
    np.testing.assert_array_equal(model.centers_, X[model.center_indices_])
    assert len(np.unique(model.center_indices_)) == 9
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == y.shape
    assert isinstance(model.path_, PursuitPath)
    assert len(model.path_.loo) == len(model.path_) + 1 == 10
    kernel = RBF(gamma=1 / (3 * X.var()))(X, model.centers_)
    np.testing.assert_allclose(mean, kernel @ np.asarray(model.coef_).T + model.intercept_, rtol=1e-9)


def test_several_targets_share_atoms_but_not_weights(toy_outputs):
    """With the atoms fixed, each target gets the weights it would get alone."""
    X, Y = toy_outputs
    together = plain_regressor(max_atoms=8, stop="max").fit(X, Y)
    K = RBF(gamma=1 / (3 * X.var()))(X, together.centers_)
    for q in range(3):
        alone = plain_regressor(kernel="precomputed", max_atoms=8, stop="max").fit(K, Y[:, q])
        np.testing.assert_allclose(together.predict(X)[:, q], alone.predict(K), rtol=1e-8)


@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"penalty": "rkhs"}, {"kernel": ["rbf", "linear"]}])
@pytest.mark.parametrize("shape", TARGETS)
def test_at_and_staged_predict_agree_with_the_path(toy_outputs, shape, settings):
    X, Y = toy_outputs
    y = TARGETS[shape](Y)
    model = plain_regressor(max_atoms=12, **settings).fit(X, y)
    before = model.predict(X)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.path_) + 1 == len(model.path_.residual_norm)
    for k, stage in enumerate(stages):
        small = model.at(k)
        assert small.n_atoms_ == k == len(small.center_indices_)
        assert f"at({k})" in small.stop_reason_
        np.testing.assert_allclose(small.predict(X), stage, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(y - stage), model.path_.residual_norm[k], rtol=1e-7)
    cold = plain_regressor(**{"max_atoms": 5, "stop": "max", **settings}).fit(X, y)
    np.testing.assert_array_equal(cold.coef_, model.at(5).coef_)
    np.testing.assert_array_equal(cold.predict(X), model.at(5).predict(X))
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("k", [-1, 13, 1.5, True, None, "3"])
def test_at_refuses_what_is_not_on_the_path(toy, k):
    model = plain_regressor(max_atoms=12).fit(*toy)
    with pytest.raises(ValueError, match=r"k=.*(0 to 12 atoms|whole number)"):
        model.at(k)


@pytest.mark.parametrize(
    "call",
    [
        lambda model, X: model.predict(X),
        lambda model, X: model.at(1),
        lambda model, X: model.select("max"),
        lambda model, X: next(model.staged_predict(X)),
    ],
    ids=["predict", "at", "select", "staged_predict"],
)
def test_nothing_works_before_fit(toy, call):
    with pytest.raises(NotFittedError, match="not fitted"):
        call(plain_regressor(), toy[0])


RULES = [
    "loo",
    "one-se",
    "tol",
    "max",
    "loo | tol",
    Loo(),
    Loo(patience=3),
    OneSE(),
    Tol(0.2),
    Max(),
    Tol(0.3) | "loo",
]


@pytest.mark.parametrize("rule", RULES)
def test_select_keeps_what_a_fit_under_the_rule_keeps(toy, rule):
    X, y = toy
    model = plain_regressor(max_atoms=30, stop="max").fit(X, y)
    reason, size = model.stop_reason_, model.n_atoms_
    chosen = model.select(rule)
    fitted = plain_regressor(max_atoms=30, stop=rule).fit(X, y)
    np.testing.assert_array_equal(fitted.coef_, model.at(fitted.n_atoms_).coef_)
    if getattr(rule, "patience", None) is None:
        assert chosen.n_atoms_ == fitted.n_atoms_
        np.testing.assert_array_equal(chosen.predict(X), fitted.predict(X))
    assert chosen.stop_reason_.startswith(f"{chosen.n_atoms_} atom")
    assert (model.stop_reason_, model.n_atoms_) == (reason, size)


def test_what_the_rules_choose(toy):
    path = (model := plain_regressor(max_atoms=40, stop="max").fit(*toy)).path_
    assert model.select("loo").n_atoms_ == np.argmin(path.loo)
    least = np.argmin(path.loo)
    assert model.select("one-se").n_atoms_ == np.argmax(path.loo <= path.loo[least] + path.loo_se[least])
    assert model.select(Tol(0.25)).n_atoms_ == np.argmax(path.residual_norm <= 0.25 * path.residual_norm[0])
    assert model.select(Tol(1.0)).n_atoms_ == 0
    joined = model.select(Tol(0.25) | "loo").n_atoms_
    assert joined == min(model.select(Tol(0.25)).n_atoms_, model.select("loo").n_atoms_)


REASONS = [
    ({"stop": "max"}, r"^10 atoms: max_atoms=10 reached$"),
    ({"stop": "loo"}, r"^10 atoms: max_atoms=10 reached while the leave-one-out error was still falling$"),
    (
        {"stop": "loo", "max_atoms": 79, "alpha": 1e-9},
        r"^\d+ atoms: the leave-one-out error is least there, of \d+ tried$",
    ),
    (
        {"stop": "one-se", "max_atoms": 60},
        r"^\d+ atoms: within one standard error of the least leave-one-out error, at \d+",
    ),
    ({"stop": Tol(0.5)}, r"^\d+ atoms: the relative residual 0\.\d+ is within tol=0\.5$"),
    (
        {"stop": Tol(1e-9)},
        r"^10 atoms: max_atoms=10 reached before the relative residual 0\.\d+ reached tol=1e-09$",
    ),
    ({"stop": Validation(fraction=0.3), "random_state": 0}, r"^\d+ atoms: .*the validation error"),
]


@pytest.mark.parametrize(("settings", "reason"), REASONS, ids=[str(settings) for settings, _ in REASONS])
def test_stop_reason(toy, settings, reason):
    model = plain_regressor(**{"max_atoms": 10, **settings}).fit(*toy)
    assert model.stop_reason_.startswith(f"{model.n_atoms_} atom")
    assert re.search(reason, model.stop_reason_), model.stop_reason_


@pytest.mark.parametrize("shape", TARGETS)
@pytest.mark.parametrize("weights", [None, np.linspace(0, 3, 30)], ids=["plain", "weighted"])
def test_validation_with_rows_of_its_own(toy_outputs, shape, weights):
    X, Y = toy_outputs
    y = TARGETS[shape](Y)
    rule = Validation(X[50:], y[50:], patience=None, sample_weight=weights)
    settings = {"max_atoms": 25, "gamma": 0.3}
    model = plain_regressor(stop=rule, **settings).fit(X[:50], y[:50])
    errors = [np.square(y[50:] - stage).reshape(30, -1).mean(axis=1) for stage in model.staged_predict(X[50:])]
    want = np.average(errors, axis=1, weights=weights)
    np.testing.assert_allclose(model.path_.validation, want, rtol=1e-7)
    assert model.n_atoms_ == np.argmin(want)
    afterwards = plain_regressor(stop="max", **settings).fit(X[:50], y[:50]).select(rule)
    np.testing.assert_allclose(afterwards.path_.validation, want, rtol=1e-7)
    assert afterwards.n_atoms_ == model.n_atoms_


@pytest.mark.parametrize("fit_shape", ["(n,)", "(n, 1)"])
def test_select_takes_one_target_in_either_shape(toy_outputs, fit_shape):
    """`fit` takes held-out targets of shape (n,) and (n, 1) alike, so `select` must as well."""
    X, Y = toy_outputs
    model = plain_regressor(max_atoms=20, stop="max").fit(X[:50], TARGETS[fit_shape](Y)[:50])
    flat, column = (model.select(Validation(X[50:], y)) for y in (Y[50:, 0], Y[50:, :1]))
    np.testing.assert_allclose(flat.path_.validation, column.path_.validation, rtol=1e-12)
    assert flat.n_atoms_ == column.n_atoms_


@pytest.mark.parametrize(
    "held_out",
    [
        lambda X, y: (X[:, :2], y),
        lambda X, y: (X, y[:-1]),
        lambda X, y: (X, np.column_stack([y, y])),
        lambda X, y: (X[:0], y[:0]),
        lambda X, y: (np.full_like(X, np.nan), y),
        lambda X, y: (X, np.full_like(y, np.nan)),
        lambda X, y: (X, y, 0.1, 20, -np.ones_like(y)),
        lambda X, y: (X, y, 0.1, 20, np.zeros_like(y)),
        lambda X, y: (X, y, 0.1, 20, np.ones(3)),
    ],
    ids=["features", "length", "targets", "empty", "NaN in X", "NaN in y", "negative", "zero", "weights"],
)
@pytest.mark.parametrize("after", [False, True], ids=["fit", "select"])
def test_bad_held_out_rows_are_refused(toy, held_out, after):
    X, y = toy
    rule = Validation(*held_out(X, y))
    with pytest.raises(ValueError, match=r"Validation|features|sample_weight|\bX\b") as refusal:
        _ = plain_regressor(stop="max").fit(X, y).select(rule) if after else plain_regressor(stop=rule).fit(X, y)
    assert "\n" not in str(refusal.value)


def test_validation_fraction_holds_rows_out(toy):
    X, y = toy
    model = plain_regressor(stop=Validation(fraction=0.25, patience=None), max_atoms=100, random_state=3).fit(X, y)
    assert model.path_.total_weight == 60
    assert len(model.path_) <= 60
    with pytest.raises(ValueError, match="held-out rows"):
        plain_regressor(max_atoms=5).fit(X, y).select("validation")
    assert model.select("validation").n_atoms_ == model.n_atoms_


PENALTY_MATRICES = {
    None: lambda K, n, alpha: 0 * K,
    "ridge": lambda K, n, alpha: alpha * np.eye(len(K)),
    "rkhs": lambda K, n, alpha: n * alpha * K,
    "nugget": lambda K, n, alpha: 0 * K,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("penalty", PENALTY_MATRICES)
def test_spread_is_the_documented_formula(toy_outputs, penalty, fit_intercept, weighted):
    X, Y = toy_outputs
    weights = np.arange(80) % 3 + 1.0 if weighted else np.ones(80)
    alpha, n = 0.01, weights.sum()
    model = plain_regressor(
        gamma=0.4, penalty=penalty, alpha=alpha, max_atoms=12, stop="max", fit_intercept=fit_intercept
    ).fit(X, Y, sample_weight=weights if weighted else None)
    for fitted in (model, model.at(4), model.at(0)):
        k, centers, one = fitted.n_atoms_, np.reshape(fitted.centers_, (-1, 3)), int(fit_intercept)
        kernel = RBF(gamma=0.4)

        def atoms_at(rows, centers=centers, kernel=kernel, one=one):
            return np.hstack([np.ones((len(rows), one)), kernel(rows, centers)])

        D, L = atoms_at(X), np.zeros((one + k, one + k))
        L[one:, one:] = PENALTY_MATRICES[penalty](kernel(centers) if k else np.zeros((0, 0)), n, alpha)
        if penalty == "nugget":
            D[fitted.center_indices_, one + np.arange(k)] += alpha
        inverse = np.linalg.inv(D.T @ (weights[:, None] * D) + L)
        W = inverse @ D.T @ (weights[:, None] * Y)
        dof = np.trace(inverse @ D.T @ (weights[:, None] * D))
        variance = weights @ np.square(Y - atoms_at(X) @ W) / (n - dof)
        rows = X[:7] + 0.3
        phi = atoms_at(rows)
        spread = 1 + np.einsum("ij,jk,ik->i", phi, inverse, phi)
        mean, std = fitted.predict(rows, return_std=True)
        np.testing.assert_allclose(mean, phi @ W, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(std, np.sqrt(np.outer(spread, variance)), rtol=1e-6)
        np.testing.assert_allclose(fitted.path_.dof[k], dof, rtol=1e-7)


def test_spread_covers_new_observations():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(2000, 1))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=2000)
    model = plain_regressor(max_atoms=15).fit(X[:1000], y[:1000])
    mean, std = model.predict(X[1000:], return_std=True)
    np.testing.assert_allclose(np.mean((y[1000:] - mean) ** 2 / std**2), 1, atol=0.15)


def test_the_path_as_a_frame(toy):
    model = plain_regressor(max_atoms=6, stop=Validation(fraction=0.2), random_state=0).fit(*toy)
    frame, path = model.path_.to_frame(), model.path_
    assert frame.index.tolist() == list(range(len(path) + 1))
    assert frame["atom"].tolist() == [-1, *path.atom]
    for name in ("cost", "residual_norm", "dof", "loo", "loo_se", "validation"):
        np.testing.assert_array_equal(frame[name], getattr(path, name))
    assert "validation" not in plain_regressor(max_atoms=2).fit(*toy).path_.to_frame()
    assert repr(path).startswith(f"PursuitPath({len(path)} atoms")
