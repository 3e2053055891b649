"""The fits that are recorded: every preset, loss, rule and option at least once, on few rows.

A case is a name and a function without arguments that returns arrays. Everything random has a seed, and everything
runs on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from observe import Arrays, of_model, of_path, of_predictions
from sklearn import datasets

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, LengthScaleSearch, presets, pursuit_path
from kernelpursuit.bounds import certificate, gap_report
from kernelpursuit.data import make_chirp, make_friedman, make_peaks, make_waves
from kernelpursuit.dictionary import Always, Constant, Functions, KernelAtoms, LinearTrend, widths
from kernelpursuit.kernels import RBF, Matern32, Polynomial
from kernelpursuit.stopping import CV, PTR, TCR, TR3, TR4, Loo, OneSE, Tol, Validation
from kernelpursuit.updates import MinRes, Orthogonal, Rescale, Stagewise

SEEDED: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
QUERIES = 60


class Case(NamedTuple):
    name: str
    run: Callable[[], Arrays]


@cache
def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and targets by name."""
    return {
        "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
        "friedman": lambda: make_friedman(300),
        "waves": lambda: make_waves(400),
        "iris": lambda: datasets.load_iris(return_X_y=True),
        "wine": lambda: datasets.load_wine(return_X_y=True),
        "cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
        "digits": lambda: tuple(part[:300] for part in datasets.load_digits(return_X_y=True)),
        "large": lambda: make_friedman(6000),
        "chirp": lambda: make_chirp(150),
        "peaks": lambda: make_peaks(200),
        "moons": lambda: datasets.make_moons(150, noise=0.3, random_state=0),
        "blobs": lambda: datasets.make_blobs(150, centers=4, cluster_std=2.5, random_state=0),
        "outliers": _outliers,
        "counts": _counts,
        "pairs": _pairs,
        "heteroscedastic": _heteroscedastic,
    }[name]()


def _outliers() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_peaks(200)
    return X, np.where(np.arange(200) % 17 == 0, 8.0, y)


def _counts() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.uniform(0, 6, (200, 1))
    return X, generator.poisson(np.exp(1.0 + np.sin(X[:, 0]))).astype(float)


def _pairs() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_waves(300)
    return X, np.column_stack([y, 100.0 * np.cos(3 * X[:, 0]) + y])


def _heteroscedastic() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.uniform(0, 1, (6000, 3))
    noise = (0.05 + 0.4 * X[:, 0]) * generator.standard_normal(6000)
    return X, np.sin(7 * X[:, 0]) + X[:, 1] ** 2 + noise


def sample_weights(n_rows: int) -> np.ndarray:
    """Weights of rows: some zero, some counts, some between."""
    return np.random.default_rng(1).choice([0.0, 0.3, 1.0, 2.0, 3.0], n_rows)


def queries(X: Any) -> Any:
    """Rows to predict: every so many training rows, and as many around and outside the data."""
    some = X[:: max(1, X.shape[0] // QUERIES)]
    if sp.issparse(X):
        return some
    middle = X.mean(axis=0)
    near, far = some[::3] + 0.01 * X.std(axis=0), middle + 2.5 * (some[::3] - middle)
    return np.vstack([some, near, far]).astype(X.dtype)


def fit(
    name: str,
    model: Any,
    X: Any,
    y: Any,
    *,
    weights: np.ndarray | None = None,
    rows: Any = None,
    more: Callable[[Any, Any], Arrays] | None = None,
) -> Case:
    """The case of one fit; `more` records what else there is to ask the model."""
    model.set_params(**SEEDED)

    def run() -> Arrays:
        asked = queries(X) if rows is None else rows
        fitted = model.fit(X, y, sample_weight=weights)
        return of_model(fitted, asked) | ({} if more is None else more(fitted, asked))

    return Case(name, run)


def defaults() -> Iterator[Case]:
    """Little or nothing set, so that kernel, scales, penalty and atoms are learned."""
    for name in ("diabetes", "friedman", "waves", "chirp", "large"):
        yield fit(f"default {name}", KernelPursuitRegressor(), *data(name))
    for name in ("iris", "wine", "cancer", "digits"):
        yield fit(f"default {name}", KernelPursuitClassifier(), *data(name))
    X, y = data("heteroscedastic")
    yield fit("default weighted, many rows", KernelPursuitRegressor(), X, y, weights=sample_weights(len(y)))
    X, y = data("waves")
    yield fit("default weighted", KernelPursuitRegressor(), X, y, weights=sample_weights(len(y)))
    yield fit("default two targets", KernelPursuitRegressor(), *data("pairs"))
    yield fit("default one_se", KernelPursuitRegressor(), X, y, more=reselected)
    yield fit("default refined", KernelPursuitRegressor(refine=True, max_atoms=40), X, y)
    yield fit("default gross errors", KernelPursuitRegressor(), X, np.where(np.arange(len(y)) % 40 == 0, 1e3, y))
    yield fit("default copied rows", KernelPursuitRegressor(), np.repeat(X, 2, axis=0), np.repeat(y, 2) + y.mean())
    yield fit("default 1500 rows", KernelPursuitRegressor(), *make_waves(1500))
    yield fit("default few rows", KernelPursuitRegressor(), X[:25], y[:25])
    X, y = data("large")
    yield fit("default large, not refined", KernelPursuitRegressor(refine=False, max_atoms=100), X, y)
    yield fit("default large, huber", KernelPursuitRegressor(loss="huber", max_atoms=60), X, y)
    yield fit("default large, two targets", KernelPursuitRegressor(max_atoms=60), X, np.column_stack([y, y**2]))
    yield fit("default large, classes", KernelPursuitClassifier(max_atoms=60), X, y > np.median(y))
    yield fit("default large, three classes", KernelPursuitClassifier(max_atoms=40), X, np.digitize(y, [11, 17]))
    yield fit(
        "default large, ovr", KernelPursuitClassifier(max_atoms=20, multi_class="ovr"), X, np.digitize(y, [11, 17])
    )
    yield fit("default large, validation", KernelPursuitRegressor(stop="validation", max_atoms=60), X, y)
    yield fit("default large, cv", KernelPursuitRegressor(stop="cv", max_atoms=60), X, y)
    X, y = make_friedman(12_000, seed=1)
    yield fit("many rows, candidates drawn", KernelPursuitRegressor(gamma=0.5, max_atoms=30), X, y)
    generator = np.random.default_rng(2)
    X = generator.standard_normal((120, 1200))
    yield fit("default many features", KernelPursuitRegressor(max_atoms=30), X, X[:, 0] + np.sin(X[:, 1]))


def systems() -> Iterator[Case]:
    """Every preset, for numbers and for classes, with a width given and with learned scales."""
    X, y = data("peaks")
    y = y - y.mean()
    moons, four = data("moons"), data("blobs")
    for preset in presets.ALL:
        if preset.estimator is KernelPursuitRegressor:
            yield fit(f"preset {preset.name}", preset(gamma=1.0, max_atoms=40), X, y)
            weighted = preset(gamma=1.0, max_atoms=20)
            yield fit(f"preset {preset.name} weighted", weighted, X, y, weights=sample_weights(len(y)))
            learned = preset(gamma="learn", max_atoms=15, fit_intercept=True)
            yield fit(f"preset {preset.name} learned", learned, X, y)
        if not preset.not_for_classes:
            yield fit(f"preset {preset.name} two classes", preset.classifier(gamma=1.0, max_atoms=15), *moons)
            yield fit(f"preset {preset.name} four classes", preset.classifier(gamma=0.1, max_atoms=8), *four)


def losses() -> Iterator[Case]:
    """Every loss, with weights refitted and set one at a time, and under learned scales."""
    for loss, name in (("squared", "peaks"), ("huber", "outliers"), ("quantile", "outliers"), ("poisson", "counts")):
        X, y = data(name)
        model = KernelPursuitRegressor(loss=loss, gamma=1.0, max_atoms=20)
        yield fit(f"loss {loss}", model, X, y)
        yield fit(f"loss {loss} weighted", KernelPursuitRegressor(loss=loss, gamma=1.0, max_atoms=20), X, y,
                  weights=sample_weights(len(y)))  # fmt: skip
        staged = KernelPursuitRegressor(loss=loss, gamma=1.0, max_atoms=20, update="stagewise", stop="max")
        yield fit(f"loss {loss} stagewise", staged, X, y)
        yield fit(f"loss {loss} learned", KernelPursuitRegressor(loss=loss, max_atoms=20), X, y)
    for loss in ("log", "squared", "hinge", "squared_hinge", "exponential", "tanh", "doom2"):
        for name, gamma in (("moons", 1.0), ("blobs", 0.1)):
            X, y = data(name)
            yield fit(f"loss {loss} {name}", KernelPursuitClassifier(loss=loss, gamma=gamma, max_atoms=15), X, y)
        X, y = data("moons")
        yield fit(f"loss {loss} moons learned", KernelPursuitClassifier(loss=loss, max_atoms=15), X, y)


def rules() -> Iterator[Case]:
    """Every stopping rule, by name and with parameters, and joined."""
    X, y = data("chirp")
    names = ("loo", "one-se", "mdl", "aic", "fpe", "hdaic", "tr1", "validation", "cv", "tol", "tr2", "tr3", "tr4",
             "tcr", "ptr", "max")  # fmt: skip
    for name in names:
        yield fit(f"stop {name}", KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=name), X, y)
    parameters = (
        *(Tol(0.1) | Loo(patience=10), Validation(X[::5], y[::5]), CV(3), Loo(within=0.05), OneSE(patience=5)),
        *(TR3(sigma=0.15), TR4(mu="auto"), TCR(), PTR()),
    )
    for place, rule in enumerate(parameters):
        yield fit(f"stop object {place} {rule.name}", KernelPursuitRegressor(gamma=3.0, max_atoms=50, stop=rule), X, y)
    for name in ("loo", "loo-error", "one-se", "validation", "cv", "max"):
        yield fit(f"stop {name} classes", KernelPursuitClassifier(gamma=1.0, max_atoms=20, stop=name), *data("moons"))
    chosen = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop="max")
    yield fit("stop chosen again", chosen, X, y, more=reselected)
    given = Validation(*(part[:60] for part in data("moons")), of="error")
    yield fit("stop given rows, classes", KernelPursuitClassifier(gamma=1.0, max_atoms=20, stop=given), *data("moons"))


def reselected(model: Any, rows: Any) -> Arrays:
    """What other rules keep of the path."""
    arrays: Arrays = {}
    for rule in ("loo", "one-se", "mdl", "tcr", "fpe", "max", Tol(0.3)):
        other = model.select(rule)
        prefix = f"select({rule})"
        arrays[f"{prefix}.n_atoms"] = np.array(other.n_atoms_)
        arrays |= {f"{prefix}.{name}": value for name, value in of_predictions(other, rows).items()}
    return arrays


def dictionaries() -> Iterator[Case]:
    """Kernels, lists, unions, functions that are always in, sparse rows and precomputed values."""
    X, y = data("peaks")
    names = ("rbf", "laplacian", "matern12", "matern32", "matern52", "rational_quadratic", "polynomial", "linear",
             "sigmoid")  # fmt: skip
    for name in names:
        yield fit(f"kernel {name}", KernelPursuitRegressor(kernel=name, gamma=0.7, max_atoms=20), X, y)
    for name in ("laplacian", "matern32", "rational_quadratic"):
        yield fit(f"kernel {name} learned", KernelPursuitRegressor(kernel=name, max_atoms=20), X, y)
    trend = Functions(lambda X: X[:, 0], lambda X: np.sin(X[:, 0]))
    for name, kernel in {
        "list": ["matern32", RBF(gamma=10.0)],
        "union": KernelAtoms("rbf") + KernelAtoms(Polynomial(degree=2)) + trend + Constant(),
        "always": KernelAtoms("rbf") + Always(trend),
        "always a line": KernelAtoms("matern52") + Always(LinearTrend()),
        "centers": KernelAtoms("rbf", centers=X[::7] + 0.1),
    }.items():
        yield fit(f"kernel {name}", KernelPursuitRegressor(kernel=kernel, gamma=0.8, max_atoms=20), X, y)
    for name, kernel in {
        "list with widths": [Matern32(gamma=1.0), RBF(gamma=10.0)],
        "widths": widths("rbf", [0.3, 1.0, 3.0, 10.0]),
        "function": lambda X, C: np.maximum(0.0, 1.0 - np.abs(X[:, :1] - C[:, :1].T)),
        "feature scales": RBF(gamma=np.array([0.5, 2.0])),
    }.items():
        yield fit(f"kernel {name}", KernelPursuitRegressor(kernel=kernel, max_atoms=20), X, y)
    yield fit("trend linear", KernelPursuitRegressor(trend="linear", gamma=1.0, max_atoms=20), X, y)
    yield fit("trend linear learned", KernelPursuitRegressor(trend="linear", max_atoms=20), *data("friedman"))
    D = RBF(gamma=1.0)(X, X)
    yield fit("precomputed square", KernelPursuitRegressor(kernel="precomputed", max_atoms=20), D, y, rows=D[::5])
    yield fit("precomputed wide", KernelPursuitRegressor(kernel="precomputed", max_atoms=20), D[:, ::3], y,
              rows=D[::5, ::3])  # fmt: skip
    moons, classes = data("moons")
    D = RBF(gamma=1.0)(moons, moons)
    yield fit(
        "precomputed classes", KernelPursuitClassifier(kernel="precomputed", max_atoms=15), D, classes, rows=D[::5]
    )
    X, y = data("digits")
    rows, parity = sp.csr_matrix(X), (y % 2).astype(float)
    yield fit("sparse", KernelPursuitRegressor(gamma=1e-3, max_atoms=20), rows, parity)
    yield fit("sparse learned", KernelPursuitRegressor(max_atoms=20), rows, parity)
    yield fit("sparse classes", KernelPursuitClassifier(gamma=1e-3, max_atoms=15), rows, y)


def options() -> Iterator[Case]:
    """Selections, updates, penalties and what else an estimator can be told."""
    X, y = data("peaks")
    for name, params in {
        **{f"selection {name}": {"selection": name} for name in ("gain", "correlation", "residual", "random")},
        "exchange": {"selection": "residual", "exchange": True, "penalty": None},
        "minres": {"selection": "residual", "update": MinRes(), "penalty": None, "stop": "max"},
        "minres nugget": {"selection": "residual", "update": "minres", "penalty": "nugget", "stop": "max"},
        "minres exchange": {
            "selection": "residual",
            "update": "minres",
            "penalty": None,
            "exchange": True,
            "stop": "mdl",
        },
        "rescale": {"update": Rescale(), "stop": "max"},
        "stagewise": {"update": Stagewise(shrinkage=0.5), "stop": "max", "max_atoms": 60},
        "rcond": {"update": Orthogonal(rcond=1e-3), "gamma": 0.05},
        **{f"penalty {name}": {"penalty": name} for name in ("ridge", "rkhs", "nugget", "ols", None)},
        "alpha": {"alpha": 0.7},
        "candidates number": {"candidates": 30},
        "candidates list": {"candidates": np.arange(0, 200, 3)},
        "no intercept": {"fit_intercept": False},
        "truncate": {"truncate": 0.4},
        "outside free": {"outside": "free"},
        "outside return": {"outside": "return"},
        "tiles": {"memory_budget": 40_000},
        "gamma each": {"gamma": np.array([0.4, 1.5])},
        "gamma scale": {"gamma": "scale"},
    }.items():
        yield fit(f"option {name}", KernelPursuitRegressor(**{"gamma": 1.0, "max_atoms": 25, **params}), X, y)
        if name in ("exchange", "rescale", "penalty rkhs", "penalty nugget", "tiles"):
            model = KernelPursuitRegressor(**{"gamma": 1.0, "max_atoms": 25, **params})
            yield fit(f"option {name} weighted", model, X, y, weights=sample_weights(len(y)))
    waves = data("waves")
    for outside in ("free", "return"):
        yield fit(f"learned outside {outside}", KernelPursuitRegressor(outside=outside, max_atoms=30), *waves)
    yield fit("learned ridge", KernelPursuitRegressor(penalty="ridge", max_atoms=30), *waves)
    yield fit("learned rkhs, alpha given", KernelPursuitRegressor(penalty="rkhs", alpha=1e-3, max_atoms=30), *waves)
    yield fit("learned tiles", KernelPursuitRegressor(memory_budget=40_000, max_atoms=30), *waves)
    yield fit("two targets", KernelPursuitRegressor(gamma=1.0, max_atoms=25), *data("pairs"))
    yield fit("two targets weighted", KernelPursuitRegressor(gamma=1.0, max_atoms=25), *data("pairs"),
              weights=sample_weights(300))  # fmt: skip
    narrow = X.astype(np.float32)
    yield fit("float32", KernelPursuitRegressor(gamma=1.0, max_atoms=25), narrow, y)
    yield fit("float32 learned", KernelPursuitRegressor(max_atoms=25), waves[0].astype(np.float32), waves[1])
    yield Case("warm start", lambda: _warm_start(X, y))


def _warm_start(X: np.ndarray, y: np.ndarray) -> Arrays:
    """A path of ten atoms that grows to thirty."""
    model = KernelPursuitRegressor(gamma=1.0, max_atoms=10, warm_start=True, **SEEDED).fit(X, y)
    short = of_model(model, queries(X))
    grown = of_model(model.set_params(max_atoms=30).fit(X, y), queries(X))
    return {f"short.{name}": value for name, value in short.items()} | grown


def classes() -> Iterator[Case]:
    """What only classifiers have."""
    moons, four = data("moons"), data("blobs")
    for name, params in {
        "ovr": {"multi_class": "ovr"},
        "ovr learned": {"multi_class": "ovr", "gamma": "learn"},
        "ovr squared": {"multi_class": "ovr", "loss": "squared"},
        "balanced": {"class_weight": "balanced"},
        "class weights": {"class_weight": {0: 3.0, 2: 0.5}},
        "stagewise": {"update": Stagewise(refit_every=4), "stop": "max"},
        "refit every": {"update": Orthogonal(refit_every=5)},
        "rkhs": {"penalty": "rkhs"},
        "float32": {},
    }.items():
        model = KernelPursuitClassifier(**{"gamma": 0.1, "max_atoms": 12, **params})
        X = four[0].astype(np.float32) if name == "float32" else four[0]
        yield fit(f"classes {name}", model, X, four[1])
    weights = sample_weights(len(moons[1]))
    yield fit("classes weighted", KernelPursuitClassifier(gamma=1.0, max_atoms=12), *moons, weights=weights)
    yield fit("classes weighted learned", KernelPursuitClassifier(max_atoms=12), *moons, weights=weights)
    words = np.array(["no", "yes"])[moons[1]]
    yield fit(
        "classes text", KernelPursuitClassifier(gamma=1.0, max_atoms=12, class_weight="balanced"), moons[0], words
    )


def functions() -> Iterator[Case]:
    """The plain function, the search and the bounds."""
    X, y = data("chirp")
    for name, params in {
        "plain": {},
        "correlation": {"selection": "correlation", "penalty": None},
        "rkhs": {"penalty": "rkhs", "fit_intercept": True},
        "stagewise": {"update": "stagewise"},
        "huber": {"loss": "huber"},
        "weighted": {"sample_weight": sample_weights(len(y))},
    }.items():
        yield Case(
            f"pursuit_path {name}",
            lambda params=params: of_path(pursuit_path(X, y, gamma=3.0, max_atoms=30, **SEEDED, **params)),
        )
    yield Case("search", lambda: _search(KernelPursuitRegressor(max_atoms=30, stop="loo"), X, y, alphas=[1e-4, 1e-2]))
    yield Case("search auto", lambda: _search(KernelPursuitRegressor(max_atoms=20, stop="mdl"), X, y))
    digits = data("digits")
    yield Case("search classes", lambda: _search(KernelPursuitClassifier(max_atoms=10), *digits, gammas=[1e-4, 1e-3]))
    yield Case("bounds", lambda: _bounds(X, y - y.mean()))


def _search(model: Any, X: Any, y: Any, **params: Any) -> Arrays:
    search = LengthScaleSearch(model.set_params(**SEEDED), **params).fit(X, y)
    table = {name: np.asarray(values) for name, values in search.results_.items() if name != "seconds"}
    return table | of_model(search.best_estimator_, queries(X))


def _bounds(X: np.ndarray, y: np.ndarray) -> Arrays:
    model = presets.sparse_gp_subspace(gamma=3.0, max_atoms=20, alpha=1e-3, **SEEDED).fit(X, y)
    report = {name: np.asarray(values) for name, values in gap_report(model, X, y).columns().items()}
    return report | {"certificate": np.array(certificate(model, X, y).gap)}


def all_cases() -> list[Case]:
    """Every case, in order; names are unique."""
    made = [
        case
        for group in (systems, losses, rules, dictionaries, options, classes, functions, defaults)
        for case in group()
    ]
    names = [case.name for case in made]
    if len(set(names)) < len(names):
        raise ValueError(f"Two cases have one name: {sorted(name for name in names if names.count(name) > 1)[0]!r}.")
    return made
