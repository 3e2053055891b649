"""What the classifier refuses, in one sentence and without a trace, and what is odd but works."""

import re

import numpy as np
import pandas as pd
import pytest
from folding import every_case
from plain import plain_classifier
from sklearn.exceptions import NotFittedError

from kernelpursuit.losses import Loss
from kernelpursuit.stopping import CV, Validation

LOSSES = ["log", "softmax", "squared", "squared_hinge", "hinge", "exponential", "tanh", "doom2"]


@pytest.fixture(scope="module")
def rows(toy):
    X, y = toy
    return X[:40], np.digitize(y[:40], np.quantile(y, [0.3, 0.6]))


def refused(model, X, y, match, kind=ValueError, **arguments):
    """Assert that `fit` fails in one sentence, and leaves a new and a fitted estimator as they were."""
    good = np.arange(6.0)[:, None], np.arange(6) % 2
    fitted = plain_classifier(max_atoms=2).fit(*good).set_params(**model.get_params(deep=False))
    for one in (fitted, model):
        before = dict(vars(one))
        with pytest.raises(kind, match=match) as caught:
            one.fit(X, y, **arguments)
        assert vars(one).keys() == before.keys()
        assert all(vars(one)[name] is before[name] for name in before)
        words = str(caught.value)
        assert "\n" not in words
        assert words.endswith((".", "?"))
        assert not re.search(r"\. [A-Z]", words), f"more than one sentence: {words}"
        assert len(words) < 300
        assert "np." not in words, words
    assert fitted.predict(good[0]).shape == (6,)
    with pytest.raises(NotFittedError):
        model.predict(X)


def changed(y, value, dtype=float):
    y = np.array(y, dtype=dtype)
    y[3] = value
    return y


LABELS = {
    "NaN": (lambda y: changed(y, np.nan), r"^y .*NaN.*drop"),
    "inf": (lambda y: changed(y, np.inf), r"^y .*infinity.*drop"),
    "NaN among strings": (lambda y: changed(y.astype(str), np.nan, object), r"^y .*NaN.*drop"),
    "missing": (lambda y: pd.Series(y, dtype="Int64").where(y > 0), r"^y .*NaN.*drop"),
    "continuous": (
        lambda y: y + 0.25 * (np.arange(40) % 7),
        r"^y is not usable: Unknown label type: continuous.*[Rr]egress",
    ),
    "several columns": (lambda y: np.eye(3)[y], r"^y .*1d array.*\(40, 3\)"),
    "wrong length": (lambda y: y[:30], r"^y has 30 labels, but X has 40 rows; give one label for each row\.$"),
    "empty": (lambda y: [], r"^y has 0 labels, but X has 40 rows; give one label for each row\.$"),
    "None": (lambda y: None, r"requires y to be passed, but the target y is None\.$"),
    "a scalar": (lambda y: 1, r"^y .*1d array"),
    "complex": (lambda y: y + 1j, r"^y .*[Cc]omplex"),
    "one class": (lambda y: np.full(40, 7), r"^y holds one class only, 7 .*give rows of at least two classes\.$"),
    "one name": (lambda y: np.full(40, "ant"), r"^y holds one class only, 'ant' .*at least two classes\.$"),
}
TYPE_ERRORS = {
    "None among strings": lambda y: changed(y.astype(str), None, object),
    "numbers among strings": lambda y: changed(y.astype(str), 3, object),
}


class TestLabels:
    @pytest.mark.parametrize("case", LABELS)
    def test_labels_that_are_none(self, rows, case):
        X, y = rows
        make, match = LABELS[case]
        refused(plain_classifier(max_atoms=3), X, make(y), match)

    @pytest.mark.parametrize("case", TYPE_ERRORS)
    def test_labels_of_mixed_types(self, rows, case):
        """The sentence says what is wrong with y, and not which operator failed."""
        X, y = rows
        match = r"^y (?!.*'<' not supported)"
        refused(plain_classifier(max_atoms=3), X, TYPE_ERRORS[case](y), match, kind=(ValueError, TypeError))

    def test_one_class_has_weight(self, rows):
        X, y = rows
        match = r"^y holds one class only, 1 \(rows of weight 0 do not count\); give rows of at least two classes\.$"
        refused(plain_classifier(), X, y, match, sample_weight=(y == 1).astype(float))
        refused(plain_classifier(class_weight={0: 0, 2: 0}), X, y, match)

    @pytest.mark.parametrize(
        ("labels", "match"),
        [
            ([0, 1, 7], r"^Validation's y holds the label 7, which no training row has; leave such rows out\.$"),
            (["0", "1", "2"], r"^Validation's y .*'0'"),
            ([0, 1, np.nan], r"^Validation's y .*(nan|NaN)"),
            (np.eye(3), r"^Validation's y .*1d array"),
            ([0, 1], r"^Validation has .*3.*2.*give matching rows\.$|^Validation's y has 2 labels.*3 rows"),
        ],
        ids=["unseen", "strings for numbers", "NaN", "columns", "length"],
    )
    def test_labels_of_held_out_rows(self, rows, labels, match):
        X, y = rows
        refused(plain_classifier(max_atoms=3, stop=Validation(X[:3], labels)), X, y, match)
        model = plain_classifier(max_atoms=3).fit(X, y)
        with pytest.raises(ValueError, match=match):
            model.select(Validation(X[:3], labels))


class NotANumber(Loss):
    name = "nan"
    kind = "margin"

    def value(self, y, f):
        return np.full(y.shape[1], np.nan)

    def gradient(self, y, f):
        return f - y

    def curvature(self, y, f):
        return np.ones(y.shape[1])


class Misshapen(NotANumber):
    def value(self, y, f):
        return np.square(y - f)


class Negative(NotANumber):
    def value(self, y, f):
        return np.square(y - f).sum(axis=0)

    def curvature(self, y, f):
        return -np.ones(y.shape[1])


class Unfinished(Loss):
    name = "unfinished"
    kind = "margin"


PARAMETERS = [
    ({"loss": "nope"}, r"^loss='nope' is not known; .*'log'.*'squared'.*'hinge'.*'softmax'"),
    ({"loss": "nope", "multi_class": "ovr"}, r"^loss='nope' is not known; .*'log'.*'squared'.*'hinge'"),
    ({"loss": None}, r"^loss=None is not known; .*'log'"),
    ({"loss": "lg"}, r"^loss='lg' is not known; .*'log'"),
    ({"loss": "poisson"}, r"^loss='poisson' "),
    ({"loss": NotANumber()}, r"^The value of loss=NotANumber\(\) is NaN"),
    ({"loss": Misshapen()}, r"^The value of loss=Misshapen\(\) has shape \(3, 40\) where \(40,\) is wanted"),
    ({"loss": Negative()}, r"^The curvature of loss=Negative\(\) is negative"),
    ({"multi_class": "ovo"}, r"^multi_class='ovo' is not known; .*'ovr'"),
    ({"multi_class": None}, r"^multi_class=None is not known; use one of 'shared', 'ovr'\.$"),
    ({"multi_class": True}, r"^multi_class=True is not known; use one of 'shared', 'ovr'\.$"),
    ({"class_weight": "Balanced"}, r"^class_weight='Balanced' is not usable; give a dict .*'balanced' or None\.$"),
    ({"class_weight": 3}, r"^class_weight=3 is not usable; "),
    ({"class_weight": [1, 2, 3]}, r"^class_weight=\[1, 2, 3\] is not usable; "),
    ({"class_weight": {0: "a"}}, r"^class_weight=\{0: 'a'\} is not usable; "),
    ({"class_weight": {7: 2.0}}, r"^class_weight=\{7: 2.0\} names 7, which is no label of y\.$"),
    ({"class_weight": {0: -1.0}}, r"^class_weight holds negative or non-finite values; give weights of at least 0\.$"),
    ({"class_weight": {0: np.nan}}, r"^class_weight holds negative or non-finite values; "),
    ({"class_weight": {0: 0, 1: 0, 2: 0}}, r"^class_weight is zero for every row; "),
    ({"stop": "mdl"}, r"^stop='mdl' is about squared residuals, but loss='auto'; use stop='loo', "),
    ({"stop": "tol | loo"}, r"^stop='tol \| loo' is about squared residuals"),
    ({"stop": "loo-error", "update": "stagewise", "loss": "squared"}, r"^stop='loo-error' needs .*update='orthogonal'"),
    ({"stop": "loo", "update": "stagewise"}, r"^stop='loo' needs .*update='orthogonal'; use stop=(?!.*mdl)"),
    ({"stop": "loo-error", "update": "stagewise"}, r"^stop='loo-error' needs .*'orthogonal'; use stop=(?!.*mdl)"),
    ({"stop": "nope"}, r"^stop='nope' is not known"),
    ({"stop": CV(folds=50)}, r"^stop='cv' deals rows to 50 folds, .*n_samples=40"),
    ({"selection": "residual"}, r"^loss='auto' needs selection='gain'"),
    ({"penalty": "nugget"}, r"^loss='auto' needs penalty='ridge'"),
    ({"penalty": "ols"}, r"^loss='auto' needs penalty='ridge'"),
    ({"update": "minres", "stop": "max"}, r"^(loss|update)=.*"),
    (
        {"update": "rescale", "stop": "max"},
        r"^loss='auto' needs update=.* since update='rescale' is for loss='squared'\.$",
    ),
    ({"max_atoms": 0}, r"^max_atoms=0 "),
    ({"alpha": -1.0}, r"^alpha=-1.0 "),
    ({"random_state": "x"}, r"^random_state='x' "),
    ({"warm_start": "yes"}, r"^warm_start='yes' "),
]


class TestParameters:
    @every_case(("parameters", "match"), PARAMETERS, ids=[str(p) for p, _ in PARAMETERS])
    def test_refused_in_one_sentence(self, rows, parameters, match):
        X, y = rows
        refused(plain_classifier(**{"max_atoms": 3, **parameters}), X, y, match)

    def test_a_loss_without_its_methods(self, rows):
        X, y = rows
        refused(plain_classifier(loss=Unfinished()), X, y, "Unfinished has no method", kind=NotImplementedError)

    @pytest.mark.parametrize("rule", ["mdl", "aic", "tol", "tr2", "tr3", "ptr", "tcr"])
    def test_select_refuses_what_fit_refuses(self, rows, rule):
        """Residuals of the working response are not those of the labels."""
        model = plain_classifier(max_atoms=4, stop="max").fit(*rows)
        with pytest.raises(ValueError, match=rf"^stop='{rule}' is about squared residuals"):
            model.select(rule)
        assert plain_classifier(max_atoms=4, loss="squared").fit(*rows).select(rule).n_atoms_ in range(5)

    @pytest.mark.parametrize("rule", ["loo", "one-se", "loo-error"])
    def test_select_needs_what_the_path_has(self, rows, rule):
        model = plain_classifier(max_atoms=4, update="stagewise", stop="max").fit(*rows)
        with pytest.raises(ValueError, match=rf"^stop='{rule}' needs .*update='orthogonal'(?!.*mdl)"):
            model.select(rule)

    @pytest.mark.parametrize(
        ("rule", "match"),
        [
            ("validation", r"^stop='validation' needs held-out rows"),
            (Validation(of="error"), r"^stop='validation' needs held-out rows"),
            ("cv", r"^stop='cv' needs errors over folds"),
        ],
    )
    def test_select_has_no_rows_to_hold_out(self, rows, rule, match):
        with pytest.raises(ValueError, match=match):
            plain_classifier(max_atoms=3).fit(*rows).select(rule)


class TestRows:
    @pytest.mark.parametrize(
        ("change", "match"),
        [
            (lambda X: changed(X, np.nan), r"^X .*NaN.*drop"),
            (lambda X: changed(X, -np.inf), r"^X .*infinity"),
            (lambda X: X[:, 0], r"^X .*1D array"),
            (lambda X: X[:0], r"^X .*0 sample"),
            (lambda X: X[:, :0], r"^X .*0 feature"),
            (lambda X: X.astype(complex), r"^X .*[Cc]omplex"),
        ],
        ids=["NaN", "inf", "one dimension", "no rows", "no columns", "complex"],
    )
    def test_rows_that_are_none(self, rows, change, match):
        X, y = rows
        refused(plain_classifier(max_atoms=3), change(X), y, match)

    @pytest.mark.parametrize(
        ("weights", "match"),
        [
            (-np.ones(40), r"^sample_weight holds negative"),
            (np.full(40, np.nan), r"^sample_weight holds negative or non-finite"),
            (np.zeros(40), r"^sample_weight is zero for every row"),
            (np.ones(3), r"^sample_weight has shape \(3,\)"),
        ],
        ids=["negative", "NaN", "zero", "length"],
    )
    @pytest.mark.parametrize("class_weight", [None, "balanced"])
    def test_weights_that_are_none(self, rows, weights, match, class_weight):
        X, y = rows
        refused(plain_classifier(class_weight=class_weight), X, y, match, sample_weight=weights)

    @pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_rows_to_predict(self, rows, method, multi_class):
        X, y = rows
        model = plain_classifier(max_atoms=3, multi_class=multi_class)
        with pytest.raises(NotFittedError, match="not fitted"):
            getattr(model, method)(X)
        call = getattr(model.fit(X, y), method)
        with pytest.raises(ValueError, match=r"^X .*2 features.*3 features"):
            call(X[:, :2])
        with pytest.raises(ValueError, match=r"^X .*NaN"):
            call(changed(X, np.nan))

    @pytest.mark.parametrize("call", ["at", "select", "staged_predict", "staged_decision_function"])
    def test_nothing_works_before_fit(self, rows, call):
        argument = {"at": 1, "select": "max"}.get(call, rows[0])
        with pytest.raises(NotFittedError, match="not fitted"):
            list(getattr(plain_classifier(), call)(argument))


class TestInterrupts:
    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    @pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
    def test_an_interrupted_fit_leaves_no_trace(self, rows, multi_class, error):
        X, y = rows
        model = plain_classifier(max_atoms=5, multi_class=multi_class, stop="max")
        calls = []

        def interrupt(path):
            calls.append(len(path))
            if len(calls) == 7 or (multi_class == "shared" and len(calls) == 3):
                raise error

        with pytest.raises(error):
            model.fit(X, y, callback=interrupt)
        assert vars(model) == vars(plain_classifier(max_atoms=5, multi_class=multi_class, stop="max"))
        model.fit(X, y)
        before, p = dict(vars(model)), model.predict_proba(X)
        calls.clear()
        with pytest.raises(error):
            model.fit(X[:, :2], 1 - y, callback=interrupt)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is before[name] for name in before)
        np.testing.assert_array_equal(model.predict_proba(X), p)

    @pytest.mark.parametrize("callback", [1, "stop"])
    def test_a_callback_that_is_none(self, rows, callback):
        refused(plain_classifier(), *rows, r"^callback=.* is not usable; ", callback=callback)


def sound(model, X):
    """Assert finite scores, probabilities that add up, and labels that were seen."""
    far = np.vstack([X, 1e3 * X, X.mean(axis=0) + 10 * np.ptp(X, axis=0)])
    assert np.isfinite(model.decision_function(far)).all()
    p = model.predict_proba(far)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-9)
    assert np.isin(model.predict(far), model.classes_).all()
    for path in model.path_ if isinstance(model.path_, list) else [model.path_]:
        assert not np.isnan(path.cost).any()


HOW = [("shared", loss) for loss in LOSSES] + [("ovr", "log"), ("ovr", "squared")]


@pytest.mark.parametrize(("multi_class", "loss"), HOW)
class TestOddButRight:
    def make(self, multi_class, loss, **settings):
        return plain_classifier(**{"multi_class": multi_class, "loss": loss, "max_atoms": 5, **settings})

    def test_two_rows(self, multi_class, loss):
        X = np.array([[0.0], [1.0]])
        for settings in ({}, {"stop": "max"}, {"stop": "loo-error"}):
            sound(self.make(multi_class, loss, **settings).fit(X, ["ant", "bee"]), X)
        assert self.make(multi_class, loss, stop="max").fit(X, ["ant", "bee"]).predict(X).tolist() == ["ant", "bee"]

    def test_a_class_with_one_member(self, rows, multi_class, loss):
        X, y = rows
        for labels in (np.where(np.arange(40) == 5, 9, y > 0), np.arange(40) == 5):
            for settings in ({}, {"stop": CV(folds=2), "max_atoms": 2}, {"stop": "validation", "random_state": 0}):
                model = self.make(multi_class, loss, **settings).fit(X, labels)
                assert len(model.classes_) == len(np.unique(labels))
                sound(model, X)

    def test_constant_rows(self, multi_class, loss):
        X = np.full((30, 2), 4.2)
        y = np.array([0, 1, 2, 1, 1])[np.arange(30) % 5]
        model = self.make(multi_class, loss).fit(X, y)
        sound(model, X)
        p = model.predict_proba(X)
        assert (p == p[0]).all()
        if loss not in ("doom2", "hinge"):
            assert (model.predict(X) == 1).all()

    def test_the_same_rows_in_every_class(self, multi_class, loss):
        X = np.repeat(np.arange(10.0)[:, None], 3, axis=0)
        y = np.arange(30) % 3
        model = self.make(multi_class, loss, stop="max", penalty=None).fit(X, y)
        sound(model, X)
        if loss != "doom2":
            np.testing.assert_allclose(model.predict_proba(X), 1 / 3, atol=1e-3)

    def test_classes_that_are_far_apart_without_a_penalty(self, multi_class, loss):
        rng = np.random.default_rng(0)
        X = np.vstack([0.1 * rng.normal(size=(15, 2)) + centre for centre in ([0, 0], [3, 0], [0, 3])])
        y = np.repeat([0, 1, 2], 15)
        for stop in ("loo", "max"):
            model = self.make(multi_class, loss, penalty=None, stop=stop).fit(X, y)
            sound(model, X)
            if loss != "doom2":
                assert model.score(X, y) == 1

    @pytest.mark.parametrize("scale", [1e8, 1e-8])
    def test_features_of_any_scale(self, rows, multi_class, loss, scale):
        X, y = rows
        model, plain = (self.make(multi_class, loss, stop="max").fit(A, y) for A in (X * scale, X))
        np.testing.assert_allclose(model.predict_proba(X * scale), plain.predict_proba(X), atol=1e-3)

    def test_more_classes_than_half_the_rows(self, multi_class, loss):
        X = np.random.default_rng(1).normal(size=(12, 2))
        for y in (np.arange(12) % 8, np.arange(12)):
            model = self.make(multi_class, loss, max_atoms=4).fit(X, y)
            assert model.decision_function(X).shape == (12, len(np.unique(y)))
            sound(model, X)


@pytest.mark.parametrize("dtype", ["string", "category", object])
def test_missing_labels(dtype):
    labels = pd.Series(["a", "b", None] * 5, dtype=dtype)
    for y in (labels, labels.to_numpy(dtype=object, na_value=None)):
        with pytest.raises(ValueError, match=r"y is not usable: it holds missing labels \(NaN, NA or None\); drop"):
            plain_classifier().fit(np.zeros((15, 1)), y)
