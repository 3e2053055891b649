"""Choices that have no meaning together are refused in one sentence that names them and the cure."""

import re

import numpy as np
import pytest
from folding import every_case
from plain import plain_regressor

from kernelpursuit import pursuit_path
from kernelpursuit.dictionary import Constant, Functions, KernelAtoms
from kernelpursuit.kernels import RBF, CallableKernel
from kernelpursuit.stopping import BY_NAME
from kernelpursuit.updates import MinRes, Orthogonal, Rescale, Stagewise, Update, as_update

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(20, 2)), RNG.normal(size=20)

SELECTIONS = ("gain", "correlation", "residual", "random")
NO_GRAM = {
    "centers": KernelAtoms(RBF(gamma=1.0), centers=np.zeros((3, 2))),
    "functions": Functions(np.sin),
    "mixed": KernelAtoms(RBF(gamma=1.0)) + Constant(),
    "callable": CallableKernel(lambda A, C: np.cos(A @ C.T) + A[:, :1]),
}

# What is given, what the sentence names, and what it says would be right.
REFUSED = [
    *(({"update": u, "selection": "gain", "penalty": None}, r"^update='minres'", "selection='residual', 'correlation'")
      for u in ("minres", MinRes(refit=False))),
    *(({"update": "minres", "selection": "residual", "penalty": p}, r"^update='minres'", "penalty=None or 'nugget'")
      for p in ("ridge", "rkhs", "ols")),
    *(({"exchange": True, "update": u, "selection": "residual"}, r"^exchange=True", "update='orthogonal' or 'minres'")
      for u in ("stagewise", Stagewise(shrinkage=0.5), "rescale")),
    *(({"penalty": "ols", "update": u}, r"^penalty='ols'", "update='orthogonal'") for u in ("stagewise", "rescale")),
    ({"penalty": "ols", "exchange": True, "selection": "residual"}, r"^penalty='ols'", "update='orthogonal' alone"),
    ({"penalty": "ols", "selection": "correlation"}, r"^penalty='ols'", "selection='gain'"),
    *(({"update": u, "stop": s}, rf"^stop='{re.escape(s)}'", "update='orthogonal'")
      for u in ("stagewise", "rescale") for s in ("loo", "one-se", "tcr", "mdl | loo")),
    ({"update": "minres", "selection": "residual", "penalty": None, "stop": "loo"}, r"^stop='loo'", "stop='mdl'"),
    *(({"selection": "residual", "kernel": NO_GRAM[name]}, r"^selection='residual'", "kernel")
      for name in NO_GRAM),
    *(({"exchange": True, "kernel": NO_GRAM[name]}, r"^exchange=True", "kernel") for name in NO_GRAM),
    *(({"update": "minres", "selection": "correlation", "penalty": None, "kernel": NO_GRAM[name]}, r"^update='minres'",
       "kernel") for name in NO_GRAM),
    *(({"exchange": value, "selection": "residual"}, r"^exchange=", "True or False") for value in ("yes", None, 2)),
    *(({"update": value}, r"^update=", "orthogonal") for value in (3, None)),
    ({"update": "minre"}, r"^update='minre'", "did you mean 'minres'"),
    ({"update": Stagewise}, r"^update=Stagewise is a class", "update=Stagewise()"),
]  # fmt: skip


def names(cases):
    return [re.sub(r"0x\w+", "", ", ".join(f"{k}={v!r}" for k, v in settings.items()))[:90] for settings, _, _ in cases]


@every_case(("settings", "names", "cure"), REFUSED, ids=names(REFUSED))
def test_refused(settings, names, cure):
    settings = {"stop": "max", **settings}
    model = plain_regressor(**settings)
    for call in (lambda: model.fit(X, Y), lambda: pursuit_path(X, Y, **settings)):
        with pytest.raises(ValueError, match=names) as refusal:
            call()
        words = str(refusal.value)
        assert cure in words
        assert re.fullmatch(r"[^\n]*[.?]", words)
        assert ". " not in words
    assert vars(model) == model.get_params(deep=False)


@pytest.mark.parametrize(("settings", "names", "cure"), REFUSED[::3], ids=names(REFUSED[::3]))
def test_a_refusal_leaves_an_earlier_fit_alone(settings, names, cure):
    model = plain_regressor(max_atoms=3, stop="max").fit(X, Y)
    before = model.predict(X)
    model.set_params(**settings)
    with pytest.raises(ValueError, match=names):
        model.fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.n_atoms_ == 3


ACCEPTED = [
    *({"update": u, "penalty": p, "selection": s} for u in ("stagewise", "rescale", "orthogonal")
      for p in (None, "ridge", "rkhs", "nugget") for s in SELECTIONS),
    *({"update": "minres", "selection": s, "penalty": p, "exchange": e} for p in (None, "nugget")
      for e in (False, True) for s in ("correlation", "residual", "random")),
    *({"update": u, "exchange": True, "selection": s, "penalty": None, "candidates": 5}
      for u in ("orthogonal", "minres") for s in ("correlation", "residual")),
    *({"exchange": True, "selection": s, "penalty": p} for p in (None, "ridge", "rkhs", "nugget") for s in SELECTIONS),
    *({"penalty": "ols", "selection": s} for s in ("gain", "residual", "random")),
]  # fmt: skip


@pytest.mark.parametrize("settings", ACCEPTED)
def test_what_is_not_refused_works(settings):
    """Every other pairing is fitted: the cost falls, and the model is no worse than none."""
    model = plain_regressor(max_atoms=6, stop="max", random_state=0, **settings).fit(X, Y)
    path = model.path_
    assert path.n_steps == 6
    assert (np.diff(path.cost) <= 1e-12 * path.cost[0]).all()
    assert path.cost[-1] < path.cost[0]
    if settings["penalty"] != "nugget":
        promised = path.refits.get(6, {}).get("residual_norm", path.residual_norm[6])
        assert np.linalg.norm(Y - model.predict(X)) == pytest.approx(promised, rel=1e-9)


@pytest.mark.parametrize("rule", [name for name in BY_NAME if not BY_NAME[name]().needs_loo])
@pytest.mark.parametrize("update", ["stagewise", "rescale"])
def test_rules_that_need_no_leave_one_out_error_work_with_every_update(rule, update):
    model = plain_regressor(update=update, stop=rule, max_atoms=8, random_state=0).fit(X, Y)
    k = BY_NAME[rule]().choose(model.path_)
    assert model.n_atoms_ == model.path_.size[k]
    assert model.stop_reason_ == BY_NAME[rule]().explain(model.path_)
    assert (np.diff(model.path_.cost) <= 1e-12 * model.path_.cost[0]).all()
    np.testing.assert_allclose(model.predict(X), list(model.staged_predict(X))[k], rtol=1e-12)


class TestUpdates:
    @every_case(
        ("make", "pattern"),
        [
            (lambda: Stagewise(shrinkage=0), r"^shrinkage=0 .*above 0"),
            (lambda: Stagewise(shrinkage=1.1), r"^shrinkage=1.1 .*up to 1"),
            (lambda: Stagewise(shrinkage=np.nan), r"^shrinkage=nan"),
            (lambda: Stagewise(shrinkage="half"), r"^shrinkage='half'"),
            (lambda: Orthogonal(rcond=0.0), r"^rcond=0.0"),
            (lambda: Orthogonal(rcond=1.0), r"^rcond=1.0 .*between 0 and 1"),
            (lambda: Orthogonal(rcond=-1e-3), r"^rcond=-0.001"),
            (lambda: MinRes(refit="yes"), r"^refit='yes'"),
        ],
    )
    def test_bad_settings(self, make, pattern):
        with pytest.raises(ValueError, match=pattern) as refusal:
            make()
        assert re.fullmatch(r"[^\n]*\.", str(refusal.value))

    @pytest.mark.parametrize("name", ["orthogonal", "stagewise", "minres", "rescale"])
    def test_names_stand_for_the_defaults(self, name):
        update = as_update(name)
        assert isinstance(update, Update)
        assert as_update(update) is update
        assert update == type(update)()
        assert eval(repr(update)) == update
        assert hash(update) == hash(type(update)())

    def test_only_what_was_set_is_shown(self):
        shown = map(repr, (Stagewise(0.5), Orthogonal(rcond=1e-8), MinRes(refit=False), Rescale()))
        assert list(shown) == [
            "Stagewise(shrinkage=0.5)",
            "Orthogonal(rcond=1e-08)",
            "MinRes(refit=False)",
            "Rescale()",
        ]
