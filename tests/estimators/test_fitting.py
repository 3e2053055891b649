"""What `fit` does beside fitting: warm starts, seeds, threads, budgets, progress, callbacks, failures."""

import io
import pickle

import numpy as np
import pandas as pd
import pytest
from plain import plain_regressor
from sklearn.base import clone

from kernelpursuit import _native
from kernelpursuit._native import backend
from kernelpursuit.dictionary import Functions, KernelAtoms
from kernelpursuit.engine import engine
from kernelpursuit.estimators.checks import comparable
from kernelpursuit.pursuit import basis, progress
from kernelpursuit.stopping import Tol, Validation
from kernelpursuit.updates import MinRes, Stagewise


def assert_same(got, want, name):
    """Bit by bit the same on the native core; NumPy's matrix products round by the shape of their tiles."""
    if _native.BACKEND == "native" or want is None:
        np.testing.assert_array_equal(got, want, err_msg=name)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-9, err_msg=name)


def assert_same_model(got, want):
    """The same path and the same model on it."""
    for name in ("atom", "cost", "residual_norm", "dof", "loo", "loo_se", "rcond"):
        assert_same(getattr(got.path_, name), getattr(want.path_, name), name)
    for k in range(len(want.path_) + 1):
        assert_same(got.path_.weights(k), want.path_.weights(k), f"weights({k})")
    assert got.path_.skipped == want.path_.skipped
    assert got.path_.swaps == want.path_.swaps
    assert got.path_.end_reason == want.path_.end_reason
    assert (got.n_atoms_, got.stop_reason_) == (want.n_atoms_, want.stop_reason_)
    for name in ("coef_", "intercept_", "center_indices_", "centers_"):
        assert_same(getattr(got, name), getattr(want, name), name)


# A narrow kernel, under which atoms are exchanged.
SWAPPING = {"selection": "residual", "gamma": 5.0, "stop": "max", "fit_intercept": False}
WARM = [
    *({"selection": rule} for rule in ("gain", "correlation", "residual", "random")),
    *({"penalty": penalty} for penalty in (None, "rkhs", "nugget")),
    {"candidates": 7},
    {"candidates": 7, "selection": "residual"},
    {"candidates": list(range(3, 70, 2))},
    {"kernel": ["rbf", "linear"], "penalty": None},
    {"fit_intercept": False, "stop": "one-se"},
    {"stop": Validation(fraction=0.2, patience=None)},
    {"penalty": "ols"},
    {"update": "stagewise", "stop": "max"},
    {"update": Stagewise(shrinkage=0.4), "selection": "correlation", "penalty": "rkhs", "stop": "mdl"},
    {"update": "rescale", "penalty": "rkhs", "stop": "max"},
    {"update": "rescale", "penalty": "nugget", "candidates": 7, "stop": "max"},
    {"update": "minres", "selection": "residual", "penalty": None, "stop": "max"},
    *({"exchange": True, "penalty": penalty, **SWAPPING} for penalty in (None, "ridge", "rkhs", "nugget")),
    {"exchange": True, "update": "minres", "penalty": None, **SWAPPING},
    {"exchange": True, "update": MinRes(refit=False), "penalty": "nugget", **SWAPPING},
    {"exchange": True, "penalty": None, "candidates": list(range(0, 80, 2)), **SWAPPING},
    *(
        {"exchange": True, "update": update, "penalty": None, **SWAPPING, "selection": selection, "candidates": 7}
        for update in ("minres", "orthogonal")
        for selection in ("residual", "correlation")
    ),
    {"update": "minres", "selection": "correlation", "penalty": None, "stop": "max"},
]


@pytest.mark.parametrize("float32", [False, True], ids=["float64", "float32"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("settings", WARM)
def test_warm_start_gives_the_cold_fit(toy, settings, weighted, float32, monkeypatch):
    if float32:
        monkeypatch.setattr(engine, "FLOAT64_UP_TO", 0)
    X, y = toy
    weights = np.arange(80) % 4 / 2 if weighted else None
    warm = plain_regressor(random_state=5, warm_start=True, **settings)
    for size in (3, 4, 15, 40):
        warm.set_params(max_atoms=size).fit(X, y, sample_weight=weights)
        cold = clone(warm).set_params(warm_start=False).fit(X, y, sample_weight=weights)
        assert_same_model(warm, cold)
    assert warm.path_.swaps or not warm.exchange


def test_warm_start_of_a_rank_deficient_dictionary(toy):
    """Atoms skipped for dependence on the way are skipped again, in the same places."""
    X, y = toy
    warm = plain_regressor(kernel="linear", penalty=None, selection="random", random_state=0, warm_start=True)
    for size in (1, 2, 3, 20):
        warm.set_params(max_atoms=size).fit(X, y)
        assert_same_model(warm, clone(warm).fit(X, y))
    assert len(warm.path_) == 3


def test_warm_start_keeps_digests_of_arrays_alone(toy):
    """Candidates may be as many as rows. They are compared by value, also where they were changed in place."""
    X, y = toy
    candidates = np.arange(0, len(X), 2)
    warm = plain_regressor(max_atoms=5, warm_start=True, candidates=candidates, gamma=np.ones(X.shape[1])).fit(X, y)
    assert not any(isinstance(value, (np.ndarray, list)) for value in warm._state.given.values())
    kept = warm._state.given["candidates"]
    assert kept == comparable(candidates.tolist()) == comparable(candidates.astype(float))
    assert kept != comparable(candidates[:-1])
    assert kept != comparable(candidates[:, None])
    candidates += 1
    again = warm.set_params(max_atoms=6).fit(X, y)
    cold = clone(again).set_params(warm_start=False).fit(X, y)
    np.testing.assert_array_equal(again.path_.atom, cold.path_.atom)


def test_warm_start_to_fewer_atoms(toy):
    warm = plain_regressor(max_atoms=20, warm_start=True).fit(*toy)
    warm.set_params(max_atoms=6).fit(*toy)
    assert_same_model(warm, plain_regressor(max_atoms=6).fit(*toy))


def test_warm_start_survives_pickling_and_at(toy):
    warm = plain_regressor(max_atoms=5, warm_start=True, selection="random", random_state=1).fit(*toy)
    cold = plain_regressor(max_atoms=25, selection="random", random_state=1).fit(*toy)
    for start in (pickle.loads(pickle.dumps(warm)), warm.at(2), warm.select("one-se")):
        assert_same_model(start.set_params(max_atoms=25).fit(*toy), cold)


def test_warm_start_after_an_early_end(toy):
    """A fit that its rule or callback ended goes on from there."""
    X, y = toy
    warm = plain_regressor(max_atoms=30, warm_start=True, stop=Tol(0.4)).fit(X, y)
    assert len(warm.path_) < 30
    assert_same_model(warm.set_params(stop="max").fit(X, y), plain_regressor(max_atoms=30, stop="max").fit(X, y))
    stopped = plain_regressor(max_atoms=30, warm_start=True).fit(X, y, callback=lambda path: len(path) == 4)
    assert_same_model(stopped.fit(X, y), plain_regressor(max_atoms=30).fit(X, y))


def gram(X):
    return np.exp(-np.square(X[:, None] - X).sum(axis=2))


CHANGES = {
    "X moved": ({}, lambda X, y, picked: (X + 1, y, None)),
    "X moved where not picked": ({"gamma": 0.3}, lambda X, y, picked: (X + ~picked[:, None], y, None)),
    "X longer": ({"gamma": 0.3}, lambda X, y, picked: (np.vstack([X, X + 1]), np.hstack([y, -y]), None)),
    "X shorter": ({"gamma": 0.3}, lambda X, y, picked: (X[:20], y[:20], None)),
    "y": ({}, lambda X, y, picked: (X, y[::-1], None)),
    "y of two targets": ({}, lambda X, y, picked: (X, np.column_stack([y, 9 * X[:, 2] ** 2]), None)),
    "sample_weight": ({"gamma": 0.3}, lambda X, y, picked: (X, y, np.arange(1.0, 81) ** 2)),
    "precomputed X": ({"kernel": "precomputed"}, lambda X, y, picked: (gram(X[::-1]), y, None)),
    "gamma": ({}, {"gamma": 2.0}),
    "kernel": ({"gamma": 0.3}, {"kernel": "matern32"}),
    "candidates": ({}, {"candidates": [1, 2, 3]}),
    "selection": ({}, {"selection": "residual"}),
    "penalty": ({}, {"penalty": "nugget", "alpha": 1.0}),
    "alpha": ({}, {"alpha": 1.0}),
    "fit_intercept": ({}, {"fit_intercept": False}),
    "stop": ({"gamma": 0.3}, {"stop": Validation(fraction=0.5, patience=None)}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_warm_start_on_something_else_is_a_fit_from_scratch(toy, change):
    """The documented result of a warm start is that of a cold fit; where it cannot be, a sentence says so."""
    X, y = toy
    settings, changed = CHANGES[change]
    first = gram(X) if settings.get("kernel") == "precomputed" else X
    model = plain_regressor(max_atoms=12, warm_start=True, stop="max", random_state=0, **settings).fit(first, y)
    model.set_params(max_atoms=15, **(changed if isinstance(changed, dict) else {}))
    picked = np.isin(np.arange(80), model.center_indices_)
    data = (first, y, None) if isinstance(changed, dict) else changed(X, y, picked)
    cold = clone(model).fit(*data)
    assert_same_model(model.fit(*data), cold)


RANDOM = [
    {"selection": "random"},
    {"candidates": 4},
    {"stop": "validation"},
    {"selection": "residual", "candidates": 3},
]


@pytest.mark.parametrize("settings", RANDOM)
def test_random_state(toy, settings):
    def fit(seed):
        return plain_regressor(max_atoms=10, random_state=seed, **settings).fit(*toy)

    assert_same_model(fit(0), fit(0))
    assert_same_model(fit(np.random.RandomState(0)), fit(np.random.RandomState(0)))
    assert len({tuple(fit(seed).path_.atom) for seed in range(4)}) > 1
    generator = np.random.RandomState(0)
    assert tuple(fit(generator).path_.atom) != tuple(fit(generator).path_.atom)


@pytest.mark.parametrize("selection", ["gain", "residual"])
@pytest.mark.parametrize("budget", [0, 1, 10_000, 1e5, 10**12])
def test_memory_budget_changes_nothing(toy, selection, budget):
    settings = {"max_atoms": 20, "selection": selection}
    got = plain_regressor(memory_budget=budget, **settings).fit(*toy)
    assert_same_model(got, plain_regressor(**settings).fit(*toy))


@pytest.mark.parametrize("n_jobs", [1, 2, -1, -2, np.int64(2)])
def test_n_jobs_changes_nothing(toy, n_jobs):
    X, y = toy
    model, one = (plain_regressor(n_jobs=jobs, max_atoms=15).fit(X, y) for jobs in (n_jobs, None))
    assert_same_model(model, one)
    np.testing.assert_array_equal(model.predict(X), one.predict(X))


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True, np.nan])
def test_n_jobs_refused(toy, n_jobs):
    with pytest.raises(ValueError, match=r"n_jobs=.*-1 for all"):
        plain_regressor(n_jobs=n_jobs).fit(*toy)


def test_progress_goes_to_stderr(toy, capfd, monkeypatch):
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    plain_regressor(max_atoms=5, verbose=True).fit(*toy)
    out, err = capfd.readouterr()
    assert not out
    assert err.startswith("kernelpursuit: 1 of at most 5 atoms, relative residual ")
    assert err.endswith("left\n")
    assert "\r" not in err


@pytest.mark.parametrize(("verbose", "quiet_seconds"), [(False, 0.0), (True, 1e9)])
def test_no_progress_unless_asked_for_and_worth_it(toy, capfd, monkeypatch, verbose, quiet_seconds):
    monkeypatch.setattr(progress, "QUIET_SECONDS", quiet_seconds)
    plain_regressor(max_atoms=5, verbose=verbose).fit(*toy)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("interrupted", [False, True])
def test_progress_on_a_terminal_renews_one_line_and_ends_it(toy, monkeypatch, interrupted):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0.0)
    model = plain_regressor(max_atoms=5, verbose=True)
    if interrupted:
        with pytest.raises(KeyboardInterrupt):
            model.fit(*toy, callback=interrupt_at(3))
    else:
        model.fit(*toy)
    lines = terminal.getvalue().split("\r")
    assert [line[:16] for line in lines[1:]] == [f"kernelpursuit: {k}" for k in range(1, 4 if interrupted else 6)]
    assert terminal.getvalue().count("\n") == 1
    assert terminal.getvalue().endswith("\n")


def interrupt_at(size):
    def callback(path):
        if len(path) == size:
            raise KeyboardInterrupt

    return callback


def test_callback_sees_every_step(toy):
    seen = []

    def callback(path):
        seen.append((len(path), path.atom.copy(), path.residual_norm.copy(), path.coef(len(path)).copy()))

    model = plain_regressor(max_atoms=9).fit(*toy, callback=callback)
    assert [size for size, *_ in seen] == list(range(1, 10))
    for size, atom, residual_norm, coef in seen:
        np.testing.assert_array_equal(atom, model.path_.atom[:size])
        np.testing.assert_array_equal(residual_norm, model.path_.residual_norm[: size + 1])
        np.testing.assert_array_equal(coef, model.path_.coef(size))


def test_callback_may_stop(toy):
    model = plain_regressor(max_atoms=9, stop="max").fit(*toy, callback=lambda path: len(path) >= 4)
    assert model.n_atoms_ == len(model.path_) == 4
    assert model.stop_reason_ == "4 atoms: the callback asked to stop"


def raising_kernel(X, C):
    raise RuntimeError("out of luck")


FAILURES = {
    "parameter": ({"alpha": -1.0}, None, ValueError),
    "interrupt": ({}, interrupt_at(2), KeyboardInterrupt),
    "kernel": ({"kernel": raising_kernel}, None, RuntimeError),
    "rule": ({"stop": "nope"}, None, ValueError),
    "other features": ({"gamma": [1.0, 2.0]}, None, ValueError),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_fit_changes_nothing(toy, failure):
    X, y = toy
    settings, callback, error = FAILURES[failure]
    fresh = plain_regressor(**settings)
    with pytest.raises(error):
        fresh.fit(X, y, callback=callback)
    assert vars(fresh) == fresh.get_params(deep=False)
    fitted = plain_regressor(max_atoms=4).fit(X, y)
    fitted.set_params(**settings)
    before = dict(vars(fitted))
    prediction = fitted.predict(X)
    with pytest.raises(error):
        # Other data, with another number of features, so that anything left behind would show.
        fitted.fit(X[:40, :1] if failure == "other features" else X[:40], -y[:40], callback=callback)
    assert vars(fitted).keys() == before.keys()
    assert all(vars(fitted)[name] is before[name] for name in before)
    np.testing.assert_array_equal(fitted.predict(X), prediction)


@pytest.mark.parametrize("warm_start", [False, True])
def test_an_interrupted_fit_leaves_the_path_alone(toy, warm_start):
    X, y = toy
    model = plain_regressor(max_atoms=6, warm_start=warm_start).fit(X, y)
    before = pickle.dumps(model.path_)
    model.set_params(max_atoms=12)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, callback=interrupt_at(9))
    assert pickle.dumps(model.path_) == before
    assert len(model.path_) == model.n_atoms_ == 6


def test_fit_does_not_touch_parameters(toy):
    rule = Tol(0.5)
    gamma = np.array([0.1, 0.2, 0.3])
    model = plain_regressor(gamma=gamma, stop=rule, kernel=["rbf", "linear"], candidates=[1, 2, 3])
    before = dict(vars(model))
    model.fit(*toy)
    assert all(vars(model)[name] is before[name] for name in before)
    assert gamma.tolist() == [0.1, 0.2, 0.3]


def test_the_model_does_not_follow_its_inputs(toy):
    """Writing to X after the fit changes nothing in the model."""
    X, y = (a.copy() for a in toy)
    model = plain_regressor(max_atoms=8).fit(X, y)
    prediction = model.predict(toy[0])
    X[:], y[:] = 0, 0
    np.testing.assert_array_equal(model.predict(toy[0]), prediction)


@pytest.mark.parametrize(
    "settings",
    [
        *({}, {"penalty": "rkhs"}, {"penalty": "nugget"}, {"stop": "validation"}, {"kernel": ["rbf", "linear"]}),
        *({"penalty": "ols"}, {"stop": "cv"}, {"exchange": True, "selection": "residual", "gamma": 5.0}),
        *({"update": update, "stop": "max", "penalty": "rkhs"} for update in ("stagewise", "rescale")),
        {"update": "minres", "selection": "residual", "penalty": None, "exchange": True, "stop": "max"},
    ],
)
def test_every_operation_of_the_core_is_told_the_number_of_threads(toy, settings, monkeypatch):
    told = []
    resolve = backend.resolve_threads
    monkeypatch.setattr(backend, "resolve_threads", lambda n: told.append(n) or resolve(n))
    model = plain_regressor(max_atoms=6, n_jobs=1, **settings).fit(*toy)
    model.predict(toy[0], return_std=settings.get("update") not in ("stagewise", "rescale"))
    list(model.staged_predict(toy[0]))
    assert set(told) == {1}


def test_warm_start_tells_functions_apart(toy):
    """By which object they are: what a name or a repr shows is not enough."""
    X, y = toy

    def dictionary(power):
        return Functions(lambda X: X[:, 0] ** power, lambda X: X[:, 1] ** power) + KernelAtoms("rbf")

    model = plain_regressor(kernel=dictionary(1), max_atoms=2, stop="max", warm_start=True).fit(X, y)
    other = dictionary(2)
    model.set_params(kernel=other, max_atoms=6).fit(X, y)
    assert_same_model(model, plain_regressor(kernel=other, max_atoms=6, stop="max").fit(X, y))


def test_warm_start_sees_another_seed_and_a_changed_array(toy):
    settings = {"selection": "random", "stop": "max", "max_atoms": 4, "warm_start": True}
    model = plain_regressor(**settings, random_state=0).fit(*toy)
    model.set_params(random_state=1, max_atoms=8).fit(*toy)
    assert_same_model(model, clone(model).fit(*toy))
    gamma = np.ones(3)
    model = plain_regressor(gamma=gamma, stop="max", max_atoms=4, warm_start=True).fit(*toy)
    gamma *= 2
    assert_same_model(model.fit(*toy), clone(model).fit(*toy))


def test_a_path_longer_than_the_room_for_it(toy, monkeypatch):
    """The basis starts with little room, and grows."""
    for penalty in (None, "ridge", "rkhs"):
        settings = {"gamma": 5.0, "penalty": penalty, "max_atoms": 40, "stop": "max"}
        want = plain_regressor(**settings).fit(*toy)
        with monkeypatch.context() as patch:
            patch.setattr(basis, "FIRST_ROOM", 3)
            assert_same_model(plain_regressor(**settings).fit(*toy), want)


def test_held_out_frames_are_checked_like_rows_to_predict(toy):
    X, y = toy
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    rule = Validation(frame, y)
    model = plain_regressor(max_atoms=5, stop=rule).fit(frame, y)
    assert model.select(rule).n_atoms_ == model.n_atoms_
    swapped = Validation(frame[["c", "b", "a"]], y)
    with pytest.raises(ValueError, match=r"Validation's X .*feature names"):
        model.select(swapped)
    with pytest.raises(ValueError, match=r"Validation's X .*feature names"):
        plain_regressor(max_atoms=5, stop=swapped).fit(frame, y)


def test_a_callback_that_cannot_be_called_is_refused(toy):
    with pytest.raises(ValueError, match=r"callback=3 .*function of the path"):
        plain_regressor().fit(*toy, callback=3)
