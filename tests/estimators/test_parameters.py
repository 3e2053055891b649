"""Parameters are checked before anything is computed, and sentences name what an estimator takes."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from folding import every_case
from sklearn.base import clone

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, presets
from kernelpursuit.callbacks import TimeLimit
from kernelpursuit.kernels import RBF
from kernelpursuit.losses import Huber, Softmax
from kernelpursuit.search import LengthScaleSearch
from kernelpursuit.stopping import Loo, Validation
from kernelpursuit.updates import Stagewise

RNG = np.random.default_rng(4)
X = RNG.normal(size=(40, 2))
Y = np.sin(X[:, 0])
LABELS = (Y > 0).astype(int)


@pytest.fixture
def _nothing_is_learned(monkeypatch):
    def learn(*_):
        raise AssertionError("learning has begun")

    monkeypatch.setattr("kernelpursuit.estimators.resolve.learn", learn)


BAD = [
    ({"gamma": "auto"}, "use one of 'learn', 'scale', a number, or one number for each feature"),
    ({"gamma": "scal"}, "did you mean 'scale'"),
    ({"kernel": "zzz"}, "use one of 'auto', 'rbf', .*'precomputed'"),
    ({"kernel": 3}, "use one of 'auto', 'rbf'"),
    ({"kernel": RBF}, r"call it, as in kernel=RBF\(\)"),
    ({"stop": "zzz"}, "use one of 'auto', "),
    ({"stop": Loo}, r"call it, as in stop=Loo\(\)"),
    ({"stop": "loo-error"}, "needs a classifier"),
    ({"stop": Validation(X=X[:, :1], y=Y)}, "is expecting 2 features"),
    ({"stop": Validation(X=X, y=Y[:3])}, "do not match"),
    ({"max_atoms": "many"}, "a whole number of at least 1, or 'auto'"),
    ({"max_atoms": 0}, "or 'auto'"),
    ({"alpha": "some"}, "a number of at least 0, or 'auto'"),
    ({"alpha": -1.0}, "or 'auto'"),
    ({"loss": "zzzzzz"}, "use one of 'squared', 'huber', 'quantile', 'poisson'.$"),
    ({"loss": "softmax"}, "is for classes; use KernelPursuitClassifier"),
    ({"loss": "huber", "truncate": 1.0}, "needs truncate=None"),
    ({"loss": "huber", "stop": "mdl"}, "squared residuals"),
    ({"truncate": -1}, "give a number above 0, 'auto' for the largest |y|, or None"),
    ({"exchange": "yes"}, "give True or False"),
    ({"refine": "always"}, "give True, False, or 'auto'"),
    ({"penalty": "l2"}, "use one of 'auto', 'ridge', 'rkhs', 'nugget', 'ols', None"),
    ({"candidates": "some"}, "'auto', 'all', a number, or a list of atom numbers"),
    ({"candidates": 0}, "at least 1"),
    ({"memory_budget": -1}, "at least 0"),
    ({"n_jobs": 0}, "-1 for all"),
    ({"random_state": "x"}, "whole number"),
    ({"warm_start": 2}, "give True or False"),
    ({"update": "minres", "stop": "max"}, "needs selection='residual'"),
]


@pytest.mark.usefixtures("_nothing_is_learned")
@every_case(("settings", "words"), BAD, ids=[str(settings) for settings, _ in BAD])
def test_a_regressor_refuses_before_it_learns(settings, words):
    with pytest.raises(ValueError, match=words):
        KernelPursuitRegressor(**settings).fit(X, Y)


@pytest.mark.usefixtures("_nothing_is_learned")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "zzzzzz"}, "use one of 'auto', 'log', 'squared', .*'softmax'.$"),
        ({"loss": "poisson"}, "is for numbers; use KernelPursuitRegressor"),
        ({"multi_class": "each"}, "'shared', 'ovr'"),
        ({"multi_class": "ovr", "stop": Validation(X=X, y=LABELS)}, "holds rows out by itself"),
        ({"stop": "mdl"}, "squared residuals"),
        ({"gamma": "auto"}, "'learn', 'scale'"),
    ],
)
def test_a_classifier_refuses_before_it_learns(settings, words):
    y = RNG.integers(0, 3, size=40) if "multi_class" in settings else LABELS
    with pytest.raises(ValueError, match=words):
        KernelPursuitClassifier(**settings).fit(X, y)


def test_a_random_state_is_not_drawn_from_by_the_check():
    one, other = (KernelPursuitRegressor(gamma=1.0, selection="random", max_atoms=4, stop="max") for _ in range(2))
    one.set_params(random_state=np.random.RandomState(3)).fit(X, Y)
    seed = int(np.random.RandomState(3).randint(2**31))
    other.set_params(random_state=3).fit(X, Y)
    assert one._state.seed == other._state.seed == seed


class TestMisspelt:
    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda: KernelPursuitRegressor(gama=1), "KernelPursuitRegressor has no parameter 'gama'; .*'gamma'"),
            (lambda: KernelPursuitClassifier(gama=1), "KernelPursuitClassifier has no parameter 'gama'; .*'gamma'"),
            (lambda: KernelPursuitRegressor("rbf"), "takes its parameters by name, .*; write kernel='rbf'"),
            (lambda: LengthScaleSearch(KernelPursuitRegressor(), gamas=[1.0]), "did you mean 'gammas'"),
            (lambda: presets.rfs(gama=1), "KernelPursuitRegressor has no parameter 'gama'; .*'gamma'"),
            (lambda: Loo(patients=3), "Loo has no parameter 'patients'; did you mean 'patience'"),
            (lambda: RBF(gama=1), "RBF has no parameter 'gama'; did you mean 'gamma'"),
            (lambda: RBF(1.0, 2.0), "RBF takes 1 of its parameters by position"),
            (lambda: Huber(dleta=1.0), "Huber has no parameter 'dleta'; did you mean 'delta'"),
            (lambda: Softmax(width=1.0), "Softmax has no parameter 'width'; it has none"),
            (lambda: Stagewise(shrink=0.5), "did you mean 'shrinkage'"),
            (lambda: TimeLimit(second=3), "did you mean 'seconds'"),
        ],
    )
    def test_when_made(self, make, words):
        with pytest.raises(TypeError, match=words):
            make()

    def test_when_set(self):
        with pytest.raises(ValueError, match="KernelPursuitRegressor has no parameter 'gama'; did you mean 'gamma'"):
            KernelPursuitRegressor().set_params(gama=1)
        assert KernelPursuitRegressor().set_params(gamma=1).gamma == 1

    @pytest.mark.parametrize("made", [KernelPursuitRegressor(gamma=2.0), KernelPursuitClassifier(alpha=1.0)])
    def test_estimators_are_as_scikit_learn_wants_them(self, made):
        for other in (clone(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert repr(other) == repr(made)
        assert list(inspect.signature(type(made)).parameters) == list(inspect.signature(made.__init__).parameters)

    def test_small_objects_are_copied_and_pickled(self):
        for made in (Loo(patience=3), RBF(gamma=2.0), Huber(delta=1.0), Stagewise(shrinkage=0.5)):
            assert copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made

    def test_a_class_of_your_own_has_its_own_parameters(self):
        class Mine(KernelPursuitRegressor):
            def __init__(self, *, depth=1):
                super().__init__(gamma=1.0)
                self.depth = depth

        assert clone(Mine(depth=2)).depth == 2
        with pytest.raises(TypeError, match="Mine has no parameter 'gamma'"):
            Mine(gamma=2.0)


def frame(**columns):
    return pd.DataFrame({"a": X[:, 0], **columns})


DATES = pd.date_range("2020-03-01", periods=40)


class TestColumns:
    @pytest.mark.parametrize("kind", ["pandas", "polars", "categorical"])
    def test_text_is_named(self, kind):
        rows = frame(city=["Rome", "Oslo"] * 20)
        if kind == "categorical":
            rows["city"] = rows["city"].astype("category")
        rows = pl.from_pandas(rows) if kind == "polars" else rows
        words = "^X is not usable: column 'city' holds text, such as 'Rome'; encode it .*OneHotEncoder"
        with pytest.raises(ValueError, match=words):
            KernelPursuitRegressor().fit(rows, Y)
        with pytest.raises(ValueError, match=words):
            KernelPursuitClassifier().fit(rows, LABELS)

    def test_text_of_an_array_has_the_number_of_its_column(self):
        rows = np.column_stack([X.astype(object), ["a"] * 40])
        with pytest.raises(ValueError, match=r"^X .*column 2 \(counted from 0\) holds text, such as 'a'"):
            KernelPursuitRegressor().fit(rows, Y)

    @pytest.mark.parametrize(
        "rows", [frame(when=DATES), pl.from_pandas(frame(when=DATES)), DATES.to_frame(name="when")]
    )
    def test_dates_are_named(self, rows):
        words = "^X is not usable: column 'when' holds dates or times, such as 2020-03-01; convert it to numbers"
        with pytest.raises(ValueError, match=words):
            KernelPursuitRegressor().fit(rows, Y)

    def test_time_spans_are_named(self):
        with pytest.raises(ValueError, match="column 'late' holds dates or times, such as "):
            KernelPursuitRegressor().fit(frame(late=DATES - DATES[0]), Y)

    @pytest.mark.parametrize("y", [["a"] * 40, pd.Series(["a"] * 40), np.full(40, "a")])
    def test_targets_of_text(self, y):
        with pytest.raises(ValueError, match=r"^y .*text, such as 'a'; give numbers, or use KernelPursuitClassifier"):
            KernelPursuitRegressor().fit(X, y)

    def test_targets_of_dates(self):
        with pytest.raises(ValueError, match=r"^y is not usable: it holds dates"):
            KernelPursuitRegressor().fit(X, DATES)

    def test_rows_to_predict(self):
        model = KernelPursuitRegressor(gamma=1.0).fit(frame(b=X[:, 1]), Y)
        with pytest.raises(ValueError, match=r"^X is not usable: column 'b' holds text, such as 'x'"):
            model.predict(pd.DataFrame({"a": [1.0], "b": ["x"]}))

    def test_numbers_that_are_written_out_are_numbers(self):
        model = KernelPursuitRegressor(gamma=1.0, max_atoms=3)
        written = frame(b=X[:, 1]).astype(str).astype(object)
        np.testing.assert_allclose(model.fit(written, Y).predict(written), model.fit(X, Y).predict(X))


def test_learned_atoms_are_not_all_candidates():
    model = KernelPursuitRegressor(random_state=0, max_atoms=100, stop="max", penalty="ridge").fit(X, Y)
    assert "every candidate" not in model.stop_reason_
    assert model.path_.end_reason == "all learned atoms are in"
    classical = KernelPursuitRegressor(gamma=1.0, max_atoms=100, stop="max", penalty=None).fit(X[:5], Y[:5])
    assert "candidate" in classical.stop_reason_ or "residual" in classical.stop_reason_
