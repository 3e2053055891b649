"""What every stopping rule keeps to, on synthetic paths and through a fit."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from kernelpursuit import KernelPursuitRegressor, PursuitPath, pursuit_path
from kernelpursuit.stopping import BY_NAME, Either, Loo, Max, OneSE, StoppingRule, Tol, Validation, as_rule

INF = np.inf


def make_path(values, se=0.0, residuals=None):
    """A path whose leave-one-out and validation errors are `values`, and whose residual norms are `residuals`."""
    values = np.asarray(values, dtype=float)
    k = len(values) - 1
    residuals = np.linspace(1.0, 0.1, k + 1) if residuals is None else np.asarray(residuals, dtype=float)
    return PursuitPath(
        atom=np.arange(k),
        cost=residuals**2,
        residual_norm=residuals,
        dof=np.arange(k + 1.0),
        loo=values,
        loo_se=np.broadcast_to(np.asarray(se, dtype=float), values.shape),
        R=np.eye(k),
        b=np.zeros((k, 1)),
        n_fixed=0,
        total_weight=100.0,
        n_units=100.0,
        target_residual=residuals[:, None] ** 2,
        validation=values,
        end_reason="max_atoms=9 reached",
    )


PATHS = {
    "falling": make_path([5, 4, 3, 2, 1]),
    "rising": make_path([1, 2, 3, 4, 5]),
    "flat": make_path([2, 2, 2, 2], residuals=[3, 3, 3, 3]),
    "valley": make_path([5, 3, 1, 2, 4]),
    "infinite": make_path([5, 3, 4, INF, INF]),
    "all-infinite": make_path([INF, INF, INF], se=INF),
    "nothing": make_path([3]),
    "zero-target": make_path([0.0], residuals=[0.0]),
}
RULES = {
    "max": Max(),
    "tol": Tol(0.5),
    "loo": Loo(),
    "loo-patience": Loo(patience=2),
    "one-se": OneSE(),
    "one-se-patience": OneSE(patience=2),
    "validation": Validation(patience=2),
    "loo|tol": Loo() | Tol(0.5),
    "tol|validation|max": Tol(0.5) | (Validation(patience=2) | "max"),
}


@pytest.fixture(params=RULES)
def rule(request):
    return RULES[request.param]


@pytest.fixture(params=PATHS)
def path(request):
    return PATHS[request.param]


def test_every_rule_is_here():
    assert {type(rule) for rule in RULES.values()} == {*BY_NAME.values(), Either}
    assert set(BY_NAME) == {"loo", "one-se", "tol", "validation", "max"}


class TestEveryRule:
    def test_choice_is_on_the_path(self, rule, path):
        k = rule.choose(path)
        assert type(k) is int
        assert 0 <= k <= path.n_atoms

    def test_fired_is_a_plain_answer(self, rule, path):
        assert rule.fired(path) in (True, False)

    def test_explanation_starts_with_the_choice(self, rule, path):
        assert rule.explain(path).startswith(f"{rule.choose(path)} atom")
        assert len(rule.explain(path).splitlines()) == 1

    def test_asking_changes_nothing(self, rule, path):
        before, state = pickle.dumps(path), pickle.dumps(rule)
        answers = rule.fired(path), rule.choose(path), rule.explain(path)
        assert pickle.dumps(path) == before
        assert pickle.dumps(rule) == state
        assert answers == (rule.fired(path), rule.choose(path), rule.explain(path))

    def test_once_small_enough_a_choice_stays_as_the_path_grows(self, rule):
        """A rule that fires must not pick more atoms than there were when it did."""
        values = [5, 3, 1, 2, 4, 5, 6]
        lengths = range(1, len(values) + 1)
        paths = [make_path(values[:n], residuals=np.linspace(1, 0.1, 7)[:n]) for n in lengths]
        fired = [p for p in paths if rule.fired(p)]
        assert not fired or rule.choose(paths[-1]) <= fired[0].n_atoms or "max" in rule.name

    def test_pickles_and_copies(self, rule, path):
        for twin in (pickle.loads(pickle.dumps(rule)), copy.deepcopy(rule)):
            assert repr(twin) == repr(rule)
            assert twin.name == rule.name
            assert twin.choose(path) == rule.choose(path)

    def test_repr_names_the_rule(self, rule):
        words = [repr(part) for part in rule.rules] if isinstance(rule, Either) else [type(rule).__name__]
        assert all(word in repr(rule) for word in words)

    def test_as_rule_returns_it(self, rule):
        assert as_rule(rule) is rule

    def test_joins_from_either_side(self, rule, path):
        assert (rule | "tol").choose(path) == min(rule.choose(path), Tol().choose(path))
        assert ("tol" | rule).name == f"tol | {rule.name}"
        assert (rule | Tol(0.9)).fired(path) == (rule.fired(path) or Tol(0.9).fired(path))


@pytest.mark.parametrize("name", BY_NAME)
def test_names(name):
    assert type(as_rule(name)) is BY_NAME[name]
    assert as_rule(name).name == name


@pytest.mark.parametrize(
    ("rule", "chosen"),
    [
        (Max(), {"falling": 4, "rising": 4, "flat": 3, "valley": 4, "infinite": 4, "all-infinite": 2, "nothing": 0}),
        (Loo(), {"falling": 4, "rising": 0, "flat": 0, "valley": 2, "infinite": 1, "all-infinite": 0, "nothing": 0}),
        (OneSE(), {"falling": 4, "rising": 0, "flat": 0, "valley": 2, "infinite": 1, "all-infinite": 0, "nothing": 0}),
        (Validation(), {"falling": 4, "rising": 0, "flat": 0, "valley": 2, "infinite": 1, "nothing": 0}),
        (Tol(0.56), {"falling": 2, "rising": 2, "flat": 3, "valley": 2, "nothing": 0, "zero-target": 0}),
        (Tol(0.0), {"falling": 4, "zero-target": 0}),
        (Tol(0.01), {"falling": 4, "flat": 3}),
        (Tol(1.0), {"falling": 0, "flat": 0}),
    ],
    ids=lambda value: repr(value) if isinstance(value, StoppingRule) else "",
)
def test_choices(rule, chosen):
    assert {name: rule.choose(PATHS[name]) for name in chosen} == chosen


@pytest.mark.parametrize(
    ("rule", "fires_on"),
    [
        (Max(), set()),
        (Loo(), set()),
        (OneSE(), set()),
        (Validation(patience=None), set()),
        (Loo(patience=2), {"rising", "flat", "valley", "infinite", "all-infinite"}),
        (OneSE(patience=3), {"rising", "flat", "infinite"}),
        (Validation(patience=4), {"rising"}),
        (Tol(0.1), {"falling", "rising", "valley", "infinite", "all-infinite", "zero-target"}),
        (Tol(0.0), {"zero-target"}),
    ],
    ids=lambda value: repr(value) if isinstance(value, StoppingRule) else "",
)
def test_when_rules_fire(rule, fires_on):
    assert {name for name, path in PATHS.items() if rule.fired(path)} == fires_on


@pytest.mark.parametrize(
    ("values", "se", "chosen"),
    [
        ([5, 3, 1, 0.9, 4], [9, 9, 9, 0.2, 9], 2),
        ([5, 3, 1, 0.9, 4], [0, 0, 0, 0.05, 0], 3),
        ([5, 3, 1, 0.9, 4], [0, 0, 0, 2.5, 0], 1),
        ([5, 3, 1, 0.9, 4], [0, 0, 0, 50.0, 0], 0),
        ([INF, 3, 1, 0.9, INF], [INF, 1, 1, 0.1, INF], 2),
        ([4, 3, 1, 0.9, INF], [1, 1, 1, INF, INF], 3),
    ],
)
def test_one_standard_error(values, se, chosen):
    """The band is that of the least error, whatever the errors of the others."""
    rule, path = OneSE(), make_path(values, se)
    assert rule.choose(path) == chosen
    assert "at 3" in rule.explain(path)


def test_one_still_falling_criterion_is_announced():
    assert "still falling" in Loo().explain(PATHS["falling"])
    assert "still falling" in OneSE().explain(PATHS["falling"])
    assert "still falling" not in Loo().explain(PATHS["valley"])
    assert "before" in Tol(0.01).explain(PATHS["falling"])
    assert "within" in Tol(0.5).explain(PATHS["falling"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tol(-0.1),
        lambda: Tol(np.nan),
        lambda: Tol("small"),
        lambda: Loo(patience=0),
        lambda: Loo(patience=1.5),
        lambda: OneSE(patience=-1),
        lambda: Validation(patience=0),
        lambda: Validation(fraction=0.0),
        lambda: Validation(fraction=1.0),
        lambda: Validation(X=np.ones((2, 1))),
        lambda: Validation(y=np.ones(2)),
        lambda: Validation() | Validation(),
        lambda: as_rule("lo"),
        lambda: as_rule("loo | never"),
        lambda: as_rule(None),
        lambda: as_rule(Loo),
        lambda: Loo() | 3,
    ],
)
def test_wrong_parameters(make):
    with pytest.raises(ValueError, match=r"\w+"):
        make()


def test_validation_needs_held_out_rows():
    path = make_path([3, 2, 1])
    path.validation = None
    with pytest.raises(ValueError, match="held-out rows"):
        Validation().choose(path)


def test_the_base_never_fires_and_keeps_everything():
    rule = StoppingRule()
    assert not rule.fired(PATHS["falling"])
    assert rule.choose(PATHS["falling"]) == 4


class TestInAFit:
    """The same rule before the fit and, through `select`, after it."""

    @pytest.fixture
    def data(self):
        rng = np.random.default_rng(2)
        X = rng.uniform(-3, 3, size=(80, 2))
        y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.3 * rng.normal(size=80)
        return X[:60], y[:60], X[60:], y[60:]

    @pytest.mark.parametrize(
        "rule", ["max", "loo", "one-se", Tol(0.6), Loo(patience=3), OneSE() | Tol(0.7), "loo | tol"], ids=str
    )
    def test_before_and_after(self, data, rule):
        X, y, X_new, _ = data
        settings = {"max_atoms": 25, "gamma": 0.5, "alpha": 1e-4}
        before = KernelPursuitRegressor(stop=rule, **settings).fit(X, y)
        after = KernelPursuitRegressor(stop="max", **settings).fit(X, y).select(rule)
        # A rule with patience ends the loop early: its own choice is then made on the shorter path.
        expected = as_rule(rule).choose(before.path_)
        assert before.n_atoms_ == expected
        if before.path_.n_atoms == after.path_.n_atoms or "patience" not in repr(rule):
            assert after.n_atoms_ == before.n_atoms_
            np.testing.assert_array_equal(after.predict(X_new), before.predict(X_new))
        assert before.stop_reason_.startswith(f"{before.n_atoms_} atom")

    @pytest.mark.parametrize("weights", [None, "some"])
    @pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array, np.float32], ids=["dense", "sparse", "float32"])
    def test_validation_error_is_that_of_the_predictions(self, data, as_rows, weights):
        X, y, X_val, y_val = data
        weights = None if weights is None else np.linspace(0.0, 2.0, len(y_val))
        X, X_val = X.astype(np.float32).astype(float), X_val.astype(np.float32).astype(float)
        rule = Validation(X=as_rows(X_val), y=y_val, patience=None, sample_weight=weights)
        settings = {"max_atoms": 12, "gamma": 0.5, "alpha": 1e-4}
        model = KernelPursuitRegressor(stop=rule, **settings).fit(X, y)
        wanted = [np.average((y_val - p) ** 2, weights=weights) for p in model.staged_predict(X_val)]
        np.testing.assert_allclose(model.path_.validation, wanted, rtol=1e-9)
        after = KernelPursuitRegressor(stop="max", **settings).fit(X, y).select(rule)
        np.testing.assert_allclose(after.path_.validation, wanted, rtol=1e-5)
        assert after.n_atoms_ == model.n_atoms_ == int(np.argmin(wanted))

    def test_a_held_out_fraction_is_neither_fitted_nor_picked(self, data):
        X, y, _, _ = data
        model = KernelPursuitRegressor(stop=Validation(fraction=0.25, patience=None), max_atoms=60, random_state=3)
        path = model.fit(X, y).path_
        assert path.total_weight == 45
        assert path.n_atoms <= 45
        assert len(path.validation) == path.n_atoms + 1

    def test_the_end_is_named(self, data):
        X, y, _, _ = data
        path = pursuit_path(X, y, gamma=0.5, stop=Tol(0.7))
        assert path.residual_norm[-1] <= 0.7 * path.residual_norm[0] < path.residual_norm[-2]
        assert path.end_reason == "stop='tol' fired"
        assert pursuit_path(X, y, gamma=0.5, max_atoms=3).end_reason == "max_atoms=3 reached"
