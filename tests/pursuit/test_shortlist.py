"""Shortlists against a literal transcription, and what holds for them whatever the data."""

import numpy as np
import pytest
from oracles import Model

from kernelpursuit import KernelPursuitRegressor, pursuit_path
from kernelpursuit.kernels import RBF
from kernelpursuit.pursuit import shortlist as shortlists
from kernelpursuit.pursuit.shortlist import largest
from kernelpursuit.updates import Orthogonal

N, N_ATOMS, ALPHA, GAMMA = 40, 14, 0.05, 1.5


def data(seed, n_targets=1, n=N):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    Y = np.stack([np.sin((t + 2) * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n) for t in range(n_targets)], axis=1)
    return X, Y, rng.uniform(0.3, 3.0, size=n)


def gram(X):
    return np.exp(-GAMMA * ((X[:, None, :] - X) ** 2).sum(axis=-1))


def by_shortlists(model, n_steps, n_listed, score):
    """Atoms picked with a shortlist of `n_listed` atoms for `n_steps` steps, and steps at which all were scored."""
    picked, passes = [], []
    while len(picked) < N_ATOMS:
        passes.append(len(picked))
        values = {j: score(model, picked, j) for j in range(model.D.shape[1]) if j not in picked}
        ranked = sorted(values, key=lambda j: (-values[j], j))
        picked.append(ranked[0])
        listed, outside = ranked[1 : 1 + n_listed], ranked[1 + n_listed :]
        while len(picked) < min(passes[-1] + n_steps, N_ATOMS):
            now = {j: score(model, picked, j) for j in listed if j not in picked}
            best = max(now, key=lambda j: (now[j], -j)) if now else None
            if best is None or (outside and now[best] < values[outside[0]]):
                break
            picked.append(best)
    return picked, passes


def assert_same(first, second):
    """Same paths to the last bit."""
    for name in ("atom", "cost", "residual_norm", "loo", "correlation"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.skipped == second.skipped
    assert first.end_reason == second.end_reason
    np.testing.assert_array_equal(first.weights(len(first)), second.weights(len(second)))


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("penalty", [None, "ridge", "rkhs", "nugget"])
@pytest.mark.parametrize("selection", ["gain", "correlation"])
def test_path_is_that_of_the_transcription(selection, penalty, weighted, n_targets, monkeypatch):
    monkeypatch.setattr(shortlists, "ATOMS_PER_STEP", 2)
    X, Y, weights = data(2, n_targets)
    weights = weights if weighted else None
    K, total = gram(X), N if weights is None else weights.sum()
    L = {"ridge": ALPHA * np.eye(N), "rkhs": total * ALPHA * K}.get(penalty)
    model = Model(K + ALPHA * np.eye(N) if penalty == "nugget" else K, Y, L, weights, intercept=True)
    for n_steps in (3, 5):
        path = pursuit_path(
            X,
            Y,
            kernel=RBF(gamma=GAMMA),
            selection=selection,
            penalty=penalty,
            alpha=ALPHA,
            max_atoms=N_ATOMS,
            sample_weight=weights,
            fit_intercept=True,
            shortlist=n_steps,
        )
        atoms, passes = by_shortlists(model, n_steps, 2 * n_steps, getattr(Model, selection))
        assert path.atom.tolist() == atoms
        # Correlations of all atoms are known where all were scored, and nowhere else.
        assert np.flatnonzero(~np.isnan(path.correlation)).tolist() == passes
        assert len(passes) < N_ATOMS
        assert path.cost[-1] == pytest.approx(model.cost(atoms), rel=1e-10)


@pytest.mark.parametrize("penalty", ["ridge", "rkhs", "ols"])
def test_one_step_is_the_exact_loop_to_the_last_bit(penalty):
    X, Y, weights = data(3, 2)
    settings = {"gamma": GAMMA, "penalty": penalty, "alpha": ALPHA, "max_atoms": 20, "sample_weight": weights}
    assert_same(pursuit_path(X, Y, shortlist=1, **settings), pursuit_path(X, Y, **settings))


@pytest.mark.parametrize("penalty", ["ridge", "rkhs", "ols"])
def test_a_list_of_all_atoms_picks_what_the_exact_loop_picks(penalty):
    X, Y, _ = data(4)
    settings = {"gamma": GAMMA, "penalty": penalty, "alpha": ALPHA, "max_atoms": 20}
    exact, path = (pursuit_path(X, Y, shortlist=n_steps, **settings) for n_steps in (None, N))
    assert path.atom.tolist() == exact.atom.tolist()
    np.testing.assert_allclose(path.cost, exact.cost, rtol=1e-12)
    assert np.flatnonzero(~np.isnan(path.correlation)).tolist() == [0]


def test_memory_and_threads_change_no_bit():
    X, Y, _ = data(5, n=3000)  # enough values for scores to be float32
    settings = {"gamma": GAMMA, "max_atoms": 20, "shortlist": 4}
    whole = pursuit_path(X, Y, **settings)
    for few in ({"memory_budget": 0}, {"memory_budget": 12_000_000}, {"n_jobs": 1}):
        assert_same(pursuit_path(X, Y, **settings, **few), whole)


def test_a_longer_path_begins_with_a_shorter_one():
    X, Y, _ = data(6)
    short, long = (pursuit_path(X, Y, gamma=GAMMA, max_atoms=k, shortlist=4) for k in (10, 20))
    assert long.atom[:10].tolist() == short.atom.tolist()


@pytest.mark.parametrize("n_before", [1, 5, 6, 7, 8, 9])
def test_a_warm_start_goes_on_with_the_list_that_there_was(n_before, monkeypatch):
    monkeypatch.setattr(shortlists, "ATOMS_PER_STEP", 2)
    X, Y, _ = data(7)
    settings = {"gamma": GAMMA, "alpha": ALPHA, "stop": "max", "shortlist": 4, "random_state": 0}
    at_once = KernelPursuitRegressor(max_atoms=20, **settings).fit(X, Y[:, 0])
    model = KernelPursuitRegressor(max_atoms=n_before, warm_start=True, **settings).fit(X, Y[:, 0])
    model.set_params(max_atoms=20).fit(X, Y[:, 0])
    assert model.path_.atom.tolist() == at_once.path_.atom.tolist()
    np.testing.assert_array_equal(np.isnan(model.path_.correlation), np.isnan(at_once.path_.correlation))


class TestTies:
    def test_largest_takes_the_first_of_equal_values(self):
        values = np.array([1.0, 3.0, 2.0, 3.0, 2.0, 2.0, -np.inf])
        assert largest(values, 1).tolist() == [1]
        assert largest(values, 4).tolist() == [1, 2, 3, 4]
        assert largest(values, 0).tolist() == []

    def test_of_two_copies_the_first_is_picked(self, monkeypatch):
        monkeypatch.setattr(shortlists, "ATOMS_PER_STEP", 2)
        X, Y, _ = data(8)
        K = gram(X)
        path = pursuit_path(np.hstack([K, K]), Y, kernel="precomputed", penalty=None, max_atoms=15, shortlist=3)
        assert len(path.atom) == 15
        assert (path.atom < N).all()


class TestEnd:
    def test_a_list_of_dependent_atoms_makes_way_for_the_others(self, rng, monkeypatch):
        monkeypatch.setattr(shortlists, "ATOMS_PER_STEP", 1)
        first, second = rng.normal(size=(2, 30))
        columns = np.stack([first, 2 * first, -first, 3 * first, second], axis=1)
        y = first + 1e-3 * rng.normal(size=30)
        path = pursuit_path(columns, y, kernel="precomputed", penalty=None, shortlist=3)
        assert path.atom.tolist() == [0, 4]
        assert sorted(atom for _, atom in path.skipped) == [1, 2, 3]

    @pytest.mark.parametrize("n_columns", [3, 8])
    def test_it_ends_as_the_exact_loop_does(self, n_columns, rng):
        columns = rng.normal(size=(30, n_columns))
        for y in (rng.normal(size=30), columns[:, :2].sum(axis=1), np.zeros(30)):
            settings = {"kernel": "precomputed", "penalty": None, "max_atoms": 20}
            exact, path = (pursuit_path(columns, y, shortlist=n, **settings) for n in (None, 4))
            assert path.end_reason == exact.end_reason
            assert path.atom.tolist() == exact.atom.tolist()


class TestLosses:
    def labels(self):
        X, Y, _ = data(9, n=200)
        return X, np.where(Y[:, 0] > 0, 1.0, -1.0)

    def test_with_a_refit_a_step_all_atoms_are_scored_in_each(self):
        X, y = self.labels()
        settings = {"gamma": GAMMA, "loss": "logistic", "update": Orthogonal(refit_every=1), "max_atoms": 12}
        assert_same(pursuit_path(X, y, shortlist=4, **settings), pursuit_path(X, y, **settings))

    def test_between_refits_there_are_shortlists(self):
        X, y = self.labels()
        settings = {"gamma": GAMMA, "loss": "logistic", "update": Orthogonal(refit_every=6), "max_atoms": 24}
        exact, path = (pursuit_path(X, y, shortlist=n, **settings) for n in (None, 4))
        assert np.isnan(path.correlation[:-1]).any()
        assert path.cost[-1] <= 1.05 * exact.cost[-1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shortlist": 0}, "shortlist=0"),
        ({"shortlist": 2.5}, "shortlist=2.5"),
        ({"shortlist": 8, "update": "stagewise"}, "needs update='orthogonal'"),
        ({"shortlist": 8, "exchange": True}, "needs exchange=False"),
        ({"shortlist": 8, "candidates": 5}, "needs candidates='all' or a list"),
        ({"shortlist": 8, "selection": "residual"}, "needs selection='gain' or 'correlation'"),
        ({"shortlist": 8, "stop": "tr4"}, "needs another rule"),
    ],
)
def test_what_does_not_go_with_it_is_refused(settings, message):
    X, Y, _ = data(10)
    with pytest.raises(ValueError, match=message):
        pursuit_path(X, Y, **settings)


def test_where_atoms_are_learned_it_has_nothing_to_do():
    X, Y, _ = data(11, n=5200)
    exact, listed = (
        KernelPursuitRegressor(kernel="rbf", max_atoms=20, refine=False, random_state=0, shortlist=n).fit(X, Y[:, 0])
        for n in (None, 8)
    )
    np.testing.assert_array_equal(exact.coef_, listed.coef_)
