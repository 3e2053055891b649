"""What every stopping rule keeps to, on synthetic paths and through a fit."""

import copy
import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from folding import every_case
from made_paths import make_path
from plain import plain_regressor

import kernelpursuit.stopping
from kernelpursuit import pursuit_path
from kernelpursuit.stopping import (
    AIC,
    BY_NAME,
    CV,
    FPE,
    HDAIC,
    MDL,
    PTR,
    TCR,
    TR1,
    TR2,
    TR3,
    TR4,
    Either,
    Loo,
    LooError,
    Max,
    OneSE,
    StoppingRule,
    Tol,
    Validation,
    as_rule,
)

INF = np.inf


def errors_path(values, se=0.0, residuals=None):
    """A path whose leave-one-out, validation and cross-validation errors are `values`; residual norms `residuals`."""
    residuals = np.linspace(1.0, 0.1, len(values)) if residuals is None else np.asarray(residuals, dtype=float)
    everything = {"loo": values, "loo_error": values, "validation": values, "cv": values, "correlation": residuals}
    weights = [np.full(k, 1e-3) for k in range(len(values))]
    return make_path(residuals**2, se=se, coef=weights, coherence=0.5, **everything)


PATHS = {
    "falling": errors_path([5, 4, 3, 2, 1]),
    "rising": errors_path([1, 2, 3, 4, 5]),
    "flat": errors_path([1, 1, 1, 1], residuals=[1, 1, 1, 1]),
    "valley": errors_path([5, 3, 1, 2, 4]),
    "infinite": errors_path([5, 1, INF, INF, INF]),
    "all-infinite": errors_path([INF, INF, INF]),
    "nothing": errors_path([1]),
    "zero-target": errors_path([0.0], residuals=[0.0]),
}
RULES = {
    "mdl": MDL(),
    "mdl-columns": MDL(residual="columns"),
    "mdl-patience": MDL(patience=2),
    "aic": AIC(),
    "aic-nair": AIC(variant="nair", patience=1),
    "aic-columns": AIC(residual="columns"),
    "fpe": FPE(),
    "fpe-atoms": FPE(counts="atoms"),
    "hdaic": HDAIC(),
    "tr1": TR1(),
    "tr1-kappa": TR1(kappa=1e-3, patience=2),
    "max": Max(),
    "tol": Tol(0.5),
    "loo": Loo(),
    "loo-patience": Loo(patience=2),
    "loo-error": LooError(),
    "loo-error-patience": LooError(patience=2),
    "one-se": OneSE(),
    "one-se-patience": OneSE(patience=2),
    "tcr": TCR(),
    "tcr-given": TCR(epsilon=0.5, sigma=0.05, patience=2),
    "ptr": PTR(),
    "ptr-given": PTR(T=0.5),
    "tr2": TR2(),
    "tr3": TR3(),
    "tr3-given": TR3(sigma=0.05),
    "tr4": TR4(),
    "tr4-given": TR4(sigma=0.1, eta=0.5),
    "tr4-mu": TR4(sigma=0.1, mu=0.7),
    "tr4-auto": TR4(sigma=0.1, mu="auto"),
    "validation": Validation(patience=2),
    "cv": CV(),
    "cv-folds": CV(folds=3),
    "loo|tol": Loo() | Tol(0.5),
    "mdl|tr3": MDL(patience=3) | TR3(sigma=0.05),
    "tol|validation|max": Tol(0.5) | (Validation(patience=2) | "max"),
    "tr4|cv|tcr": TR4() | CV(3) | TCR(),
    "loo|tr4-auto": Loo() | TR4(mu="auto"),
}


@pytest.fixture(params=RULES)
def rule(request):
    return RULES[request.param]


def test_every_rule_is_here():
    assert {type(rule) for rule in RULES.values()} == {*BY_NAME.values(), Either}
    names = "mdl aic fpe loo one-se loo-error tcr ptr hdaic tr1 tr2 tr3 tr4 tol validation cv max"
    assert set(BY_NAME) == set(names.split())


class TestEveryRule:
    def test_choice_is_on_the_path(self, rule):
        for name, path in PATHS.items():
            k = rule.choose(path)
            assert type(k) is int, name
            assert 0 <= k <= path.n_steps, name

    def test_fired_is_a_plain_answer(self, rule):
        for name, path in PATHS.items():
            assert type(rule.fired(path)) is bool, name

    def test_explanation_starts_with_the_choice(self, rule):
        for name, path in PATHS.items():
            assert rule.explain(path).startswith(f"{rule.choose(path)} atom"), name
            assert len(rule.explain(path).splitlines()) == 1, name

    def test_explanation_tells_steps_from_atoms(self, rule):
        """Where atoms were picked again, the number of atoms is named and the steps beside it."""
        path = errors_path([5, 4, 3, 2, 1, 6])
        path.size = np.array([0, 1, 1, 2, 2, 3])
        k = rule.choose(path)
        size = path.size[k]
        words = f"{size} atom" + ("s" if size != 1 else "") + (f" in {k} steps" if size != k else "")
        assert rule.explain(path).startswith(words + ":")

    def test_asking_changes_nothing(self, rule):
        for name, path in PATHS.items():
            before, state = pickle.dumps(path), pickle.dumps(rule)
            answers = rule.fired(path), rule.choose(path), rule.explain(path)
            assert pickle.dumps(path) == before, name
            assert pickle.dumps(rule) == state, name
            assert answers == (rule.fired(path), rule.choose(path), rule.explain(path)), name

    def test_pickles_and_copies(self, rule):
        for twin in (pickle.loads(pickle.dumps(rule)), copy.deepcopy(rule)):
            assert twin == rule
            assert repr(twin) == repr(rule)
            assert twin.name == rule.name
            for name, path in PATHS.items():
                assert twin.choose(path) == rule.choose(path), name

    def test_repr_makes_the_rule_again(self, rule):
        assert eval(repr(rule), vars(kernelpursuit.stopping)) == rule
        assert str(rule) == repr(rule)
        assert "\n" not in repr(rule)

    def test_as_rule_returns_it(self, rule):
        assert as_rule(rule) is rule

    def test_joins_from_either_side(self, rule):
        assert ("tol" | rule).name == f"tol | {rule.name}"
        for name, path in PATHS.items():
            assert (rule | "tol").choose(path) == min(rule.choose(path), Tol().choose(path)), name
            assert (rule | Tol(0.9)).fired(path) == (rule.fired(path) or Tol(0.9).fired(path)), name

    def test_what_it_needs_is_what_its_parts_need(self, rule):
        joined = rule | "max"
        for name in ("needs_loo", "needs_correlation", "needs_coherence"):
            assert type(getattr(rule, name)) is bool
            assert getattr(joined, name) == getattr(rule, name)
        assert joined.n_folds() == rule.n_folds()
        assert joined.validation_fraction() == rule.validation_fraction()

    def test_rules_that_need_the_leave_one_out_error_say_so(self, rule):
        """`needs_loo` is what `choose` finds missing."""
        for name, path in PATHS.items():
            without = copy.copy(path)
            without.loo = without.loo_se = without.loo_error = None
            if rule.needs_loo:
                with pytest.raises(ValueError, match="update='orthogonal'"):
                    rule.choose(without)
            else:
                assert 0 <= rule.choose(without) <= path.n_steps, name


# Rules that leave the end of the loop to others; of those that are joined, all parts do.
NEVER_FIRE = {
    *("mdl", "mdl-columns", "aic", "aic-columns", "fpe", "fpe-atoms", "hdaic", "tr1", "max", "loo", "loo-error"),
    *("one-se", "tcr", "tr3", "tr4", "cv", "cv-folds", "tr4|cv|tcr", "loo|tr4-auto"),
}


@every_case("name", RULES)
def test_once_fired_a_rule_goes_on_firing_and_its_choice_stays(name):
    """On a path that grows, it fires from some step on, and then keeps no more atoms than there were at that step."""
    rule, values = RULES[name], [5, 3, 1, 2, 4, 5, 6]
    residuals = [1, 0.5, 0.2, 0.199, 0.198, 0.197, 0.196]
    paths = [errors_path(values[:n], residuals=residuals[:n]) for n in range(1, len(values) + 1)]
    fired = [rule.fired(path) for path in paths]
    assert any(fired) == (name not in NEVER_FIRE)
    if name not in NEVER_FIRE:
        first = fired.index(True)
        assert all(fired[first:])
        assert {rule.choose(path) for path in paths[first:]} == {rule.choose(paths[first])}


@every_case("name", BY_NAME)
def test_names(name):
    assert type(as_rule(name)) is BY_NAME[name]
    assert as_rule(name).name == name
    assert as_rule(name) == BY_NAME[name]()
    assert repr(as_rule(name)) == f"{BY_NAME[name].__name__}()"


def test_names_join_in_a_string():
    assert as_rule("mdl | tol|cv") == MDL() | Tol() | CV()
    assert repr(as_rule("mdl | tol")) == "MDL() | Tol()"


def test_what_rules_need():
    assert {name for name in BY_NAME if as_rule(name).needs_loo} == {"loo", "one-se", "loo-error", "tcr"}
    assert {name for name in BY_NAME if as_rule(name).needs_classes} == {"loo-error"}
    assert {name for name in BY_NAME if as_rule(name).for_any_loss} == {
        *("max", "loo", "one-se", "loo-error", "validation", "cv"),
    }
    assert CV(of="error").needs_classes
    assert Validation(of="error").needs_classes
    assert (Loo() | Validation(of="error")).needs_classes
    assert not (Loo() | "mdl").for_any_loss
    assert {name for name in BY_NAME if as_rule(name).needs_correlation} == {"tr4"}
    assert not any(as_rule(name).needs_coherence for name in BY_NAME)
    assert (Loo() | TR4(mu="auto")).needs_coherence
    assert not TR4(mu=0.5).needs_coherence
    assert {name for name in BY_NAME if as_rule(name).n_folds()} == {"cv"}
    assert {name for name in BY_NAME if as_rule(name).validation_fraction()} == {"validation"}
    assert ("tol" | CV(folds=7)).n_folds() == 7


def test_joining_is_associative():
    assert Loo() | (MDL() | Tol()) == (Loo() | MDL()) | Tol()
    assert Loo() | MDL() != MDL() | Loo()


def test_only_what_was_set_is_shown():
    assert repr(TR1()) == "TR1()"
    assert repr(AIC(variant="nair")) == "AIC(variant='nair')"
    assert repr(Validation(patience=None)) == "Validation(patience=None)"
    assert repr(Validation(np.ones((3, 1)), np.ones(3), patience=5)) == "Validation(3 held-out rows, patience=5)"


@every_case(
    ("rule", "chosen"),
    [
        (Max(), {"falling": 4, "rising": 4, "flat": 3, "valley": 4, "infinite": 4, "all-infinite": 2, "nothing": 0}),
        (Loo(), {"falling": 4, "rising": 0, "flat": 0, "valley": 2, "infinite": 1, "all-infinite": 0, "nothing": 0}),
        (OneSE(), {"falling": 4, "rising": 0, "flat": 0, "valley": 2, "infinite": 1, "all-infinite": 0, "nothing": 0}),
        (Validation(), {"falling": 4, "rising": 0, "flat": 0, "valley": 2, "infinite": 1, "nothing": 0}),
        (CV(), {"falling": 4, "rising": 0, "flat": 0, "valley": 2, "infinite": 1, "nothing": 0}),
        (MDL(), {"falling": 4, "flat": 0, "nothing": 0, "zero-target": 0}),
        (AIC(), {"falling": 4, "flat": 0, "nothing": 0, "zero-target": 0}),
        (FPE(), {"falling": 4, "flat": 0, "nothing": 0, "zero-target": 0}),
        (FPE(counts="atoms"), {"falling": 4, "flat": 0, "nothing": 0, "zero-target": 0}),
        (HDAIC(), {"falling": 4, "flat": 0, "nothing": 0, "zero-target": 0}),
        (TR1(), {"falling": 0, "flat": 0}),
        (TR1(kappa=0), {"falling": 4, "flat": 0}),
        (TCR(), {"falling": 0, "rising": 0, "flat": 0}),
        (TCR(sigma=0.0), {"falling": 4, "rising": 0, "valley": 2}),
        (TR2(), {"falling": 1, "flat": 3, "nothing": 0}),
        (TR3(sigma=0.05), {"falling": 2, "flat": 3, "zero-target": 0}),
        (TR3(sigma=0.0), {"falling": 4, "zero-target": 0}),
        (TR4(sigma=0.1), {"falling": 3, "flat": 3}),
        (TR4(sigma=0.1, mu="auto"), {"falling": 1, "flat": 3}),
        (TR4(sigma=0.1, mu=0.7), {"falling": 0, "flat": 0}),
        (Tol(0.56), {"falling": 2, "rising": 2, "flat": 3, "valley": 2, "nothing": 0, "zero-target": 0}),
        (Tol(0.0), {"falling": 4, "zero-target": 0}),
        (Tol(0.01), {"falling": 4, "flat": 3}),
        (Tol(1.0), {"falling": 0, "flat": 0}),
    ],
    ids=lambda value: repr(value) if isinstance(value, StoppingRule) else "",
)
def test_choices(rule, chosen):
    assert {name: rule.choose(PATHS[name]) for name in chosen} == chosen


@every_case(
    ("rule", "fires_on"),
    [
        (Max(), set()),
        (Loo(), set()),
        (OneSE(), set()),
        (CV(), set()),
        (TR3(), set()),
        (TR4(), set()),
        (TCR(), set()),
        (Validation(patience=None), set()),
        (Loo(patience=2), {"rising", "flat", "valley", "infinite", "all-infinite"}),
        (TCR(patience=2), {"rising", "flat", "valley", "infinite", "all-infinite"}),
        (OneSE(patience=3), {"rising", "flat", "infinite"}),
        (Validation(patience=4), {"rising"}),
        (MDL(patience=3), {"flat"}),
        (AIC(patience=3), {"flat"}),
        (FPE(patience=3), {"flat"}),
        (HDAIC(patience=3), {"flat"}),
        (TR1(patience=4), {"falling", "rising", "valley", "infinite"}),
        (TR3(sigma=0.05), set(PATHS) - {"flat", "nothing"}),
        (TR4(sigma=0.1), set(PATHS) - {"flat", "nothing"}),
        (PTR(T=0.5), set(PATHS) - {"nothing", "zero-target"}),
        (Tol(0.1), {"falling", "rising", "valley", "infinite", "all-infinite", "zero-target"}),
        (Tol(0.0), {"zero-target"}),
    ],
    ids=lambda value: repr(value) if isinstance(value, StoppingRule) else "",
)
def test_when_rules_fire(rule, fires_on):
    assert {name for name, path in PATHS.items() if rule.fired(path)} == fires_on


@every_case(
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
    rule, path = OneSE(), errors_path(values, se)
    assert rule.choose(path) == chosen
    assert "at 3" in rule.explain(path)


@every_case("rule", [Loo(), OneSE(), TCR(), Validation(), CV(), MDL(), AIC(), FPE(), HDAIC()], ids=repr)
def test_a_criterion_that_still_falls_is_announced(rule):
    assert "max_atoms=9 reached while" in rule.explain(PATHS["falling"])
    assert "still falling" in rule.explain(PATHS["falling"])
    assert "still falling" not in rule.explain(PATHS["flat"])
    assert "still falling" not in rule.explain(PATHS["nothing"])


@pytest.mark.parametrize("rule", [Tol(0.01), TR3(sigma=0.005), TR4(sigma=0.01), TR3(sigma=0.0)], ids=repr)
def test_a_threshold_that_was_not_reached_is_announced(rule):
    assert "max_atoms=9 reached before" in rule.explain(PATHS["falling"])


@pytest.mark.parametrize("rule", [Tol(0.5), TR2(), TR3(sigma=0.05), TR4(sigma=0.1)], ids=repr)
def test_a_threshold_that_was_reached_is_announced(rule):
    assert "within" in rule.explain(PATHS["falling"])


def test_a_shorter_path_of_a_fold_is_no_minimum():
    path = make_path([5, 4, 3, 2, 1], cv=[5, 4, 3, np.nan, np.nan])
    assert CV().choose(path) == 2
    assert CV().explain(path) == (
        "2 atoms: the path of a fold ended there while the cross-validation error was still falling"
    )
    assert CV().choose(make_path([5, 4, 3], cv=[5, 1, np.nan])) == 1
    assert "least there" in CV().explain(make_path([5, 4, 3, 2], cv=[5, 1, 2, np.nan]))


@every_case(
    ("make", "words"),
    [
        (lambda: Tol(-0.1), "tol=-0.1 is too small; give a number of at least 0."),
        (lambda: Tol(np.nan), "tol=nan is not usable; give a number of at least 0."),
        (lambda: Tol("small"), "tol='small' is not usable; give a number"),
        (lambda: Loo(patience=0), "patience=0 is too small; give a whole number of at least 1."),
        (lambda: Loo(patience=1.5), "patience=1.5 is not usable; give a whole number"),
        (lambda: OneSE(patience=-1), "patience=-1 is too small"),
        (lambda: MDL(patience=0), "patience=0 is too small"),
        (lambda: AIC("bic"), "variant='bic' is not known; use one of 'corrected', 'nair'."),
        (lambda: AIC(residual="nugget"), "residual='nugget' is not known; use one of 'function', 'columns'."),
        (lambda: MDL(residual=None), "residual=None is not known; use one of 'function', 'columns'."),
        (lambda: FPE(counts="trace"), "counts='trace' is not known; use one of 'dof', 'atoms'."),
        (lambda: FPE(counts=3), "counts=3 is not known; use one of 'dof', 'atoms'."),
        (lambda: AIC(patience="long"), "patience='long' is not usable; give a whole number"),
        (lambda: TR1(kappa=-1.0), "kappa=-1.0 is too small; give a number of at least 0."),
        (lambda: TR1(bound=0.0), "bound=0.0 is too small; give a number above 0."),
        (lambda: TR1(kappa=1.0, bound=1.0), "bound=1.0 would be ignored beside kappa=1.0; give one of the two."),
        (lambda: TCR(epsilon=-0.1), "epsilon=-0.1 is too small"),
        (lambda: TCR(sigma=-0.1), "sigma=-0.1 is too small"),
        (lambda: TCR(sigma=np.inf), "sigma=inf is not usable"),
        (lambda: TR3(sigma=-1.0), "sigma=-1.0 is too small"),
        (lambda: TR4(sigma="0.1"), "sigma='0.1' is not usable"),
        (lambda: TR4(eta=0.0), "eta=0.0 is too small; give a number above 0."),
        (lambda: TR4(eta=1.0), "eta=1.0 is too large; give a number between 0 and 1."),
        (lambda: TR4(mu=1.0), "mu=1.0 is too large; give a number from 0 to below 1, or 'auto'."),
        (lambda: TR4(mu=-0.1), "mu=-0.1 is too small"),
        (lambda: TR4(mu=np.nan), "mu=nan is not usable"),
        (lambda: TR4(mu=None), "mu=None is not usable"),
        (lambda: TR4(mu="coherence"), "mu='coherence' is not known; use one of 'auto', a number from 0 to below 1."),
        (lambda: PTR(T=0), "T=0 is too small; give a number above 0."),
        (lambda: PTR(T=-2.0), "T=-2.0 is too small"),
        (lambda: CV(folds=1), "folds=1 is too small; give a whole number of at least 2."),
        (lambda: CV(folds=2.5), "folds=2.5 is not usable; give a whole number of at least 2."),
        (lambda: CV(3) | CV(4), "Two cv rules with different numbers of folds cannot be joined"),
        (lambda: Validation(patience=0), "patience=0 is too small"),
        (lambda: Validation(fraction=0.0), "fraction=0.0 is too small; give a number above 0."),
        (lambda: Validation(fraction=1.0), "fraction=1.0 is too large; give a number between 0 and 1."),
        (lambda: Validation(X=np.ones((2, 1))), "Validation needs both X and y, or neither"),
        (lambda: Validation(y=np.ones(2)), "Validation needs both X and y, or neither"),
        (lambda: Validation() | Validation(), "Two validation rules cannot be joined"),
        (lambda: as_rule("lo"), "stop='lo' is not known; did you mean 'loo'?"),
        (lambda: as_rule("loo | never"), "stop='never' is not known; did you mean"),
        (lambda: as_rule(None), "stop=None is not known; use one of 'mdl', 'aic'"),
        (lambda: as_rule(Loo), "stop=Loo is a class; call it, as in stop=Loo()."),
        (lambda: Loo() | 3, "stop=3 is not known; use one of 'mdl', 'aic'"),
    ],
)
def test_wrong_parameters(make, words):
    with pytest.raises(ValueError, match="^" + re.escape(words)) as error:
        make()
    assert len(str(error.value).splitlines()) == 1


@every_case(
    ("rule", "words"),
    [
        (Validation(), "held-out rows: fit with it"),
        (CV(), "fit with it"),
        (Loo(), "stop='loo' needs the leave-one-out error"),
        (OneSE(patience=2), "update='orthogonal'"),
        (TCR(), "stop='validation' or 'cv'"),
        (TR4(sigma=1.0), "selection='correlation' or 'gain'"),
        (PTR(), r"give PTR\(T=...\)"),
    ],
    ids=repr,
)
def test_what_is_missing_is_named(rule, words):
    path = make_path([3, 2, 1], n_features=None)
    for ask in (rule.choose, rule.explain):
        with pytest.raises(ValueError, match=words) as error:
            ask(path)
        assert len(str(error.value).splitlines()) == 1


def test_a_coherence_that_was_not_computed_is_named():
    path = make_path([3, 2, 1], correlation=[3.0, 2.0, 1.0])
    assert TR4(sigma=1.0, mu=0.5).choose(path) == 0
    for ask in (TR4(sigma=1.0, mu="auto").choose, TR4(sigma=1.0, mu="auto").explain):
        with pytest.raises(ValueError, match=r"only a fit with this rule computes; fit with it, or give mu"):
            ask(path)


def test_the_base_never_fires_and_keeps_everything():
    rule = StoppingRule()
    assert not rule.fired(PATHS["falling"])
    assert rule.choose(PATHS["falling"]) == 4


SETTINGS = {"max_atoms": 25, "gamma": 0.5, "alpha": 1e-4}
FIT_RULES = [
    *(name for name in BY_NAME if name not in ("validation", "cv", "loo-error")),
    *(FPE(counts="atoms"), MDL(residual="columns"), TR4(sigma=0.1, mu=0.5)),
    *(MDL(patience=3), AIC("nair"), Loo(patience=3), TCR(epsilon=0.5), TCR(sigma=0.1, patience=4)),
    *(TR1(kappa=1e-3), PTR(T=0.9), Tol(0.6), TR3(sigma=0.35), TR4(sigma=0.3), TR4(sigma=0.3, eta=0.5)),
    *(OneSE() | Tol(0.7), "loo | tol", MDL() | TR3(sigma=0.35) | PTR(2.0)),
]


# Those of them that end the loop before it has `max_atoms`.
FIRE_IN_A_FIT = {
    *("PTR()", "PTR(T=0.9)", "Tol(tol=0.6)", "TR3(sigma=0.35)", "TR4(sigma=0.3)", "TR4(sigma=0.3, eta=0.5)"),
    *("TR4(sigma=0.1, mu=0.5)", "MDL(patience=3)", "Loo(patience=3)", "TCR(sigma=0.1, patience=4)"),
    *("OneSE() | Tol(tol=0.7)", "MDL() | TR3(sigma=0.35) | PTR(T=2.0)"),
}


class TestInAFit:
    """The same rule before the fit and, through `select`, after it."""

    @pytest.fixture
    def data(self):
        rng = np.random.default_rng(2)
        X = rng.uniform(-3, 3, size=(80, 2))
        y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.3 * rng.normal(size=80)
        return X[:60], y[:60], X[60:], y[60:]

    @pytest.mark.parametrize("rule", FIT_RULES, ids=str)
    def test_before_and_after(self, data, rule):
        """What a rule keeps of a path that it ended itself, it keeps of the longer path of another fit.

        With patience, it may have ended the loop before a later, deeper minimum; then its choice on the part is the
        one that it made.
        """
        X, y, X_new, _ = data
        before = plain_regressor(stop=rule, **SETTINGS).fit(X, y)
        whole = plain_regressor(stop="max", **SETTINGS).fit(X, y)
        rule = as_rule(rule)
        n = before.path_.n_steps
        np.testing.assert_array_equal(before.path_.atom, whole.path_.atom[:n])
        assert before.n_atoms_ == rule.choose(before.path_)
        assert before.stop_reason_ == rule.explain(before.path_)
        ended_early = repr(rule) in FIRE_IN_A_FIT
        assert rule.fired(before.path_) == ended_early
        assert (n < whole.path_.n_steps) == ended_early
        assert (before.path_.end_reason == f"stop={rule.name!r} fired") == ended_early
        if "patience" not in repr(rule):
            after = whole.select(rule)
            assert after.n_atoms_ == before.n_atoms_
            np.testing.assert_array_equal(after.predict(X_new), before.predict(X_new))

    @pytest.mark.parametrize("rule", [TR3(sigma=0.35), TR4(sigma=0.3), PTR(T=0.9), Tol(0.6), MDL(patience=3)], ids=str)
    def test_rules_that_fire_end_the_loop_early(self, data, rule):
        X, y, _, _ = data
        path = plain_regressor(stop=rule, **SETTINGS).fit(X, y).path_
        assert 0 < path.n_steps < 25
        assert path.end_reason == f"stop={rule.name!r} fired"

    @pytest.mark.parametrize("weights", [None, "some"])
    @pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array, np.float32], ids=["dense", "sparse", "float32"])
    def test_validation_error_is_that_of_the_predictions(self, data, as_rows, weights):
        X, y, X_val, y_val = data
        weights = None if weights is None else np.linspace(0.0, 2.0, len(y_val))
        X, X_val = X.astype(np.float32).astype(float), X_val.astype(np.float32).astype(float)
        rule = Validation(X=as_rows(X_val), y=y_val, patience=None, sample_weight=weights)
        settings = {"max_atoms": 12, "gamma": 0.5, "alpha": 1e-4}
        model = plain_regressor(stop=rule, **settings).fit(X, y)
        wanted = [np.average((y_val - p) ** 2, weights=weights) for p in model.staged_predict(X_val)]
        np.testing.assert_allclose(model.path_.validation, wanted, rtol=1e-9)
        after = plain_regressor(stop="max", **settings).fit(X, y).select(rule)
        np.testing.assert_allclose(after.path_.validation, wanted, rtol=1e-5)
        assert after.n_atoms_ == model.n_atoms_ == int(np.argmin(wanted))

    def test_a_held_out_fraction_is_neither_fitted_nor_picked(self, data):
        X, y, _, _ = data
        model = plain_regressor(stop=Validation(fraction=0.25, patience=None), max_atoms=60, random_state=3)
        path = model.fit(X, y).path_
        assert path.total_weight == 45
        assert path.n_steps <= 45
        assert len(path.validation) == path.n_steps + 1

    def test_the_end_is_named(self, data):
        X, y, _, _ = data
        path = pursuit_path(X, y, gamma=0.5, stop=Tol(0.7))
        assert path.residual_norm[-1] <= 0.7 * path.residual_norm[0] < path.residual_norm[-2]
        assert path.end_reason == "stop='tol' fired"
        assert pursuit_path(X, y, gamma=0.5, max_atoms=3).end_reason == "max_atoms=3 reached"
