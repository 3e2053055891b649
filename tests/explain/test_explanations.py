"""Contributions add up to scores, and Shapley values are those of the definition."""

from __future__ import annotations

import builtins
from functools import cache
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from plain import plain_classifier, plain_regressor
from sklearn.datasets import load_iris

import kernelpursuit
from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.data import make_friedman
from kernelpursuit.dictionary import Always, Functions, KernelAtoms, LinearTrend, widths
from kernelpursuit.explain import games
from kernelpursuit.explain.shapley import of_all_coalitions, of_orders, of_products
from kernelpursuit.kernels import (
    RBF,
    Laplacian,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)

X, Y = make_friedman(150)
X = X[:, :5]
ROWS, BACKGROUND = np.vstack([X[:2], 1.6 * X[2:4]]), X[50:57]
IRIS, SPECIES = load_iris(return_X_y=True)

MODELS = {
    "gaussian": {"kernel": RBF()},
    "laplacian": {"kernel": Laplacian()},
    "periodic": {"kernel": Periodic(period=[1.0, 2.0, 0.7, 3.0, 1.0])},
    "linear": {"kernel": Linear()},
    "sums of products": {"kernel": 2.0 * RBF() * Periodic(period=1.5) + Linear() + 0.5 * Laplacian()},
    "matern 12": {"kernel": Matern12()},
    "matern 32": {"kernel": Matern32()},
    "matern 52": {"kernel": Matern52()},
    "rational quadratic": {"kernel": RationalQuadratic(shape=1.5)},
    "polynomial": {"kernel": Polynomial(degree=3)},
    "sigmoid": {"kernel": Sigmoid(coef0=-0.5)},
    "products with a line": {"kernel": Linear() * RBF()},
    "squares of a line": {"kernel": Linear() * Linear() + 0.5 * RBF()},
    "several widths": {"kernel": widths("rbf", [0.3, 3.0]), "gamma": "scale"},
    "scales that are zero": {"gamma": [0.5, 0.0, 2.0, 0.0, 1.0]},
    "trend": {"kernel": Matern32(), "trend": "linear"},
    "line as atoms": {"kernel": KernelAtoms("rbf") + LinearTrend().resolve(X)},
    "always": {"kernel": Always(LinearTrend()) + "rbf"},
    "own kernel": {"kernel": lambda A, B: np.exp(-np.abs(A[:, None] - B).sum(axis=2)), "gamma": "scale"},
    "own function": {"kernel": KernelAtoms("rbf") + Functions(lambda X: X[:, 0] * X[:, 1])},
    "poisson": {"loss": "poisson"},
    "returns outside": {"outside": "return"},
    "truncated": {"truncate": 14.0},
    "no atoms": {},
}


def by_definition(worth, n):
    """Shapley values by the sum over coalitions."""
    phi = np.zeros(n)
    for d in range(n):
        others = [i for i in range(n) if i != d]
        for size in range(n):
            for coalition in combinations(others, size):
                share = factorial(size) * factorial(n - size - 1) / factorial(n)
                phi[d] += share * (worth((*coalition, d)) - worth(coalition))
    return phi


def of_function(function, row, background):
    @cache
    def worth(coalition):
        rows = background.copy()
        rows[:, list(coalition)] = row[list(coalition)]
        return function(rows).mean()

    return by_definition(lambda one: worth(tuple(sorted(one))), len(row))


def fitted(name):
    settings = {"gamma": 0.5, "max_atoms": 12, "stop": "max", "penalty": "ridge", "alpha": 1e-3, **MODELS[name]}
    if name in ("linear", "own kernel"):
        settings["max_atoms"] = 5
    y = {"poisson": np.abs(np.round(Y)), "line as atoms": 99 * X[:, 3] + Y}.get(name, Y)
    model = KernelPursuitRegressor(**settings).fit(X, y)
    return model.at(0) if name == "no atoms" else model


def raw_scores(model):
    """The sum before fading and clipping."""
    return lambda rows: model.model_.sums(rows)[:, 0]


@pytest.mark.parametrize("name", MODELS)
def test_contributions_add_up_and_are_shapley_values(name):
    model = fitted(name)
    found = model.explain(ROWS, background=BACKGROUND)
    scores = model.model_.scores(ROWS)[:, 0]
    size = np.abs(scores).max() + np.abs(found.atoms).sum(axis=1).max(initial=0.0)
    close = {"rtol": 0, "atol": 1e-13 * size}
    np.testing.assert_allclose(found.scores, scores, **close)
    np.testing.assert_allclose(found.base + found.atoms.sum(axis=1) + found.outside, scores, **close)
    np.testing.assert_allclose(found.expected + found.features.sum(axis=1) + found.outside, scores, **close)
    np.testing.assert_allclose(found.expected, raw_scores(model)(BACKGROUND).mean(), **close)
    wanted = [of_function(raw_scores(model), row, BACKGROUND) for row in ROWS[1:3]]
    np.testing.assert_allclose(found.features[1:3], wanted, **close)
    assert found.standard_error is None
    # Beside the data, and outside where the model asks for it.
    is_held = name in ("returns outside", "truncated")
    assert found.outside[:1] == 0.0 or name == "truncated"
    assert found.outside.any() == is_held
    for by in ("features", "atoms", *(() if found.mix is None else ("centers",))):
        np.testing.assert_allclose(found.entries(by)[1].sum(axis=1), scores, **close)


def test_atoms_are_weights_times_values():
    model = fitted("several widths")
    found = model.explain(ROWS, features=False)
    np.testing.assert_array_equal(found.atoms, model.model_.values(ROWS, model.model_.kept).T * model.coef_)
    np.testing.assert_array_equal(found.atom_numbers, model.center_indices_)
    assert found.features is None


@pytest.mark.parametrize("name", ["gaussian", "matern 32", "trend", "poisson", "returns outside", "own kernel"])
def test_a_score_is_a_mix_of_those_of_the_centres(name):
    model = fitted(name)
    mix = model.explain(X[:40], features=False).mix
    np.testing.assert_array_equal(mix.rows, X[mix.numbers])
    np.testing.assert_allclose(mix.scores, raw_scores(model)(mix.rows))
    # What every function of these atoms is made of: the shares know nothing of the weights.
    values = model.model_.values(mix.rows, model.model_.kept)
    wanted = model.model_.values(X[:40], model.model_.kept)
    np.testing.assert_allclose(values @ mix.shares.T, wanted, atol=1e-10 * np.abs(values).max())
    base = model.model_.sums(mix.rows)[:, 0] - model.model_.values(mix.rows, model.model_.kept).T @ model.model_.coef[0]
    rest = model.explain(X[:40], features=False).base - mix.shares @ base
    entries = model.explain(X[:40], features=False).entries("centers")[1]
    np.testing.assert_allclose(entries[:, 0], rest, atol=1e-9 * np.abs(mix.scores).max())
    # A centre is itself alone.
    at_centers = model.explain(mix.rows, features=False).mix
    np.testing.assert_allclose(at_centers.shares, np.eye(len(mix.numbers)), atol=1e-7)


def test_centres_that_say_the_same_share_by_the_first():
    twice = plain_regressor(kernel=widths("rbf", [0.3, 3.0]), max_atoms=149, stop="max").fit(X, Y)
    mix = twice.explain(ROWS, features=False).mix
    assert len(np.unique(mix.rows, axis=0)) == len(mix.rows) < twice.n_atoms_
    # Atoms of five features in a line: six numbers say all, constant included, whatever the number of centres.
    lines = plain_regressor(kernel="polynomial", max_atoms=30, stop="max", penalty="ridge", alpha=1e-3).fit(X[:, :1], Y)
    found = lines.explain(X[:3, :1], features=False)
    assert (np.abs(found.mix.shares).sum(axis=0) > 0).sum() <= 4
    np.testing.assert_allclose(found.entries("centers")[1].sum(axis=1), found.scores, rtol=1e-12)
    mixed = fitted("line as atoms").explain(ROWS, features=False)
    assert len(mixed.mix.numbers) < mixed.atoms.shape[1]


def test_several_targets():
    model = plain_regressor(max_atoms=8).fit(X, np.column_stack([Y, -2 * Y + X[:, 0]]))
    found = model.explain(ROWS, target=1, background=BACKGROUND)
    np.testing.assert_allclose(found.expected + found.features.sum(axis=1), model.predict(ROWS)[:, 1], rtol=1e-12)
    assert found.output == "prediction of target 1"


@pytest.mark.parametrize("settings", [{}, {"loss": "softmax"}, {"loss": "squared"}, {"multi_class": "ovr"}], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_classes(settings, n_classes):
    y = SPECIES if n_classes == 3 else np.where(SPECIES > 0, "b", "a")
    model = plain_classifier(max_atoms=6, **settings).fit(IRIS, y)
    rows = IRIS[::40]
    margins = model.decision_function(rows)
    margins = margins if n_classes == 3 else np.column_stack([-margins, margins])
    for k, label in enumerate(model.classes_):
        found = model.explain(rows, target=label, background=IRIS[::25])
        np.testing.assert_allclose(found.scores, margins[:, k], rtol=1e-12)
        np.testing.assert_allclose(found.base + found.atoms.sum(axis=1), margins[:, k], rtol=1e-11)
        np.testing.assert_allclose(found.expected + found.features.sum(axis=1), margins[:, k], rtol=1e-11)
    assert found.output == f"score of class {model.classes_[-1]}"
    np.testing.assert_array_equal(model.explain(rows, background=IRIS[::25]).scores, found.scores)


def test_many_features_are_sampled_with_standard_errors(monkeypatch):
    wide = np.random.default_rng(0).normal(size=(80, 14))
    model = plain_regressor(kernel="matern32", max_atoms=6).fit(wide, np.sin(wide[:, 0]) + wide[:, 1] * wide[:, 2])
    few = model.explain(wide[:3], background=wide[10:14], n_orders=16)
    many = model.explain(wide[:3], background=wide[10:14], n_orders=400)
    np.testing.assert_allclose(few.expected + few.features.sum(axis=1), model.predict(wide[:3]), rtol=1e-12)
    with monkeypatch.context() as patch:
        patch.setattr("kernelpursuit.explain.attribution.MOST_COUNTED", 14)
        exact = model.explain(wide[:3], background=wide[10:14])
    assert exact.standard_error is None
    # 42 differences in units of their standard errors.
    assert (np.abs(many.features - exact.features) / many.standard_error).max() < 5
    assert few.standard_error.mean() > 2 * many.standard_error.mean() > 0
    again = model.explain(wide[:3], background=wide[10:14], n_orders=16)
    np.testing.assert_array_equal(few.features, again.features)
    # A line beside the atoms has values of its own, and learned scales leave few features to the atoms.
    trend = plain_regressor(kernel="matern32", gamma=[1.0] * 3 + [0.0] * 11, max_atoms=6, trend="linear")
    trend.fit(wide, wide[:, 0] + wide[:, 5])
    found = trend.explain(wide[:3], background=wide[10:14])
    assert found.standard_error is None
    np.testing.assert_allclose(found.expected + found.features.sum(axis=1), trend.predict(wide[:3]), rtol=1e-11)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7])
def test_products_by_gauss_and_by_coalitions(n):
    rng = np.random.default_rng(n)
    p, q, weights = rng.uniform(size=(n, 4)), rng.uniform(size=(n, 3, 4)) ** 8, rng.normal(size=4)
    # A factor that underflows, in the row and in a background row.
    p[0, 0], q[-1, 1, 2] = 0.0, 0.0
    members = lambda one: [(p[d] if d in one else q[d]) for d in range(n)]  # noqa: E731
    worth = lambda one: float((np.prod(np.broadcast_arrays(*members(one)), axis=0) @ weights).mean())  # noqa: E731
    wanted = by_definition(worth, n)
    np.testing.assert_allclose(of_products(p, q, weights), wanted, atol=1e-14)
    table = lambda many: np.array([worth(np.flatnonzero(one)) for one in many])  # noqa: E731
    np.testing.assert_allclose(of_all_coalitions(table, n), wanted, atol=1e-14)
    estimate, error = of_orders(table, n, 400, rng)
    assert estimate.sum() == pytest.approx(wanted.sum(), abs=1e-13)
    assert (np.abs(estimate - wanted) <= 5 * error + 1e-12).all()


def test_some_atoms_at_a_time(monkeypatch):
    """Shapley values of products are sums over atoms, however these are divided."""
    X, y = make_friedman(60)
    model = plain_regressor(max_atoms=12).fit(X, y)
    whole = model.explain(X[:2]).features
    monkeypatch.setattr(games, "WORTH_BYTES", 8 * X.shape[1] * model.n_atoms_ * 5)
    np.testing.assert_allclose(model.explain(X[:2]).features, whole, rtol=1e-12, atol=1e-14)


def test_a_line_alone_is_compared_with_the_mean():
    line = plain_regressor(kernel="matern32", gamma=0.5, trend="linear", max_atoms=3).fit(X, Y).at(0)
    found = line.explain(ROWS)
    np.testing.assert_allclose(found.expected, line.predict(X.mean(axis=0)[None])[0])
    np.testing.assert_allclose(found.expected + found.features.sum(axis=1) + found.outside, line.predict(ROWS))


def test_a_feature_that_does_nothing_has_nothing():
    found = fitted("scales that are zero").explain(ROWS, background=BACKGROUND)
    np.testing.assert_array_equal(found.features[:, [1, 3]], 0.0)


def test_loaded_models_frames_and_sparse_rows(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=12).fit(frame, Y)
    model.save(tmp_path / "m.kp")
    loaded = kernelpursuit.load(tmp_path / "m.kp")
    found = loaded.explain(frame[:4])
    np.testing.assert_allclose(found.expected, raw_scores(model)(model.centers_).mean())
    table = found.frame()
    assert list(table) == ["average", *"abcde", "outside the data", "score"]
    np.testing.assert_allclose(table.drop(columns="score").sum(axis=1), model.predict(frame[:4]))
    assert list(found.frame("centers"))[:2] == ["rest", f"centre {model.center_indices_[0]}"]
    rows = sp.csr_array(np.where(X < 0.3, 0.0, X))
    sparse = plain_regressor(max_atoms=5).fit(rows, Y)
    found = sparse.explain(rows[:3], background=rows[5:9])
    np.testing.assert_allclose(found.expected + found.features.sum(axis=1), sparse.predict(rows[:3]), rtol=1e-12)
    assert found.mix.shares.shape == (3, 5)


def test_precomputed_columns_contribute():
    K = X @ X.T
    model = plain_regressor(kernel="precomputed", max_atoms=4).fit(K, Y)
    for rows in (K[:3], K[:3][:, model.center_indices_]):
        found = model.explain(rows, features=False)
        np.testing.assert_allclose(found.base + found.atoms.sum(axis=1), model.predict(K[:3]), rtol=1e-12)
    np.testing.assert_array_equal(found.atom_numbers, model.center_indices_)
    assert list(found.frame("atoms"))[1] == f"atom {model.center_indices_[0]}"
    with pytest.raises(ValueError, match="by='centers' needs atoms with centres"):
        found.frame("centers")
    with pytest.raises(ValueError, match=r"kernel='precomputed' has no features; ask for .* by features=False"):
        model.explain(K[:3])


def test_pictures(monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    model = fitted("gaussian")
    found = model.explain(ROWS)
    ax = found.plot(1)
    widths = sorted(abs(bar.get_width()) for bar in ax.patches)
    np.testing.assert_allclose(widths, np.sort(np.abs(found.features[1])))
    assert ax.get_yticklabels()[0].get_text().startswith("x")
    _, other = plt.subplots()
    assert found.plot(0, by="atoms", most=3, ax=other) is other
    assert other.get_yticklabels()[-1].get_text() == "9 others"
    bars = sum(bar.get_width() for bar in other.patches)
    assert found.base[0] + bars == pytest.approx(found.scores[0])
    other.figure.canvas.draw()
    share = found.mix.shares[1].max()
    shown = [text.get_text() for text in found.plot(1, by="centers", most=12).get_yticklabels()]
    assert any(f": {share:.2f} × " in text for text in shown)
    plt.close("all")
    real_import = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="needs pandas"):
        found.frame()


def test_what_is_refused():
    model = fitted("gaussian")
    classifier = plain_classifier(max_atoms=3).fit(IRIS, SPECIES)
    functions = plain_regressor(kernel=Functions(lambda X: X[:, 0])).fit(X, Y)
    without = model.explain(ROWS, features=False)
    for call, match in [
        (lambda: model.explain(ROWS, target=1), "target=1 is not there"),
        (lambda: classifier.explain(IRIS, target="rose"), "target='rose' is none of the classes"),
        (lambda: model.explain(ROWS, n_orders=2), "n_orders=2 is too small"),
        (lambda: model.explain(ROWS, features=False, background=X), "background is what features are compared with"),
        (lambda: functions.explain(ROWS), "give background rows"),
        (lambda: without.frame(), r"needs explain\(X, features=True\)"),
        (lambda: without.frame("centres"), "did you mean 'centers'"),
        (lambda: without.plot(9, by="atoms"), "row=9 is not there"),
    ]:
        with pytest.raises(ValueError, match=match):
            call()
