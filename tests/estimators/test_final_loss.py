"""Classes are learned under the squared loss, and then have coefficients under the loss that was asked for."""

import numpy as np
import pytest
import scipy.sparse as sp
from known_classes import draw_classes
from plain import plain_classifier
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.callbacks import Callback, TimeLimit
from kernelpursuit.exceptions import ConstantModelWarning
from kernelpursuit.stopping import Validation


def classifier(**params):
    return KernelPursuitClassifier(**{"random_state": 0, "n_jobs": 1, **params})


@pytest.fixture(scope="module")
def two():
    return draw_classes(150, 0, 2)[:2]


@pytest.fixture(scope="module")
def four():
    return draw_classes(150, 0, 4)[:2]


@pytest.fixture(scope="module")
def apart():
    """Three groups of rows, each of its class but for every fifteenth row."""
    rng = np.random.default_rng(3)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 2)) + 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    y[::15] = 0
    return X, y


def assert_same(one, other, X):
    """The same model, in every bit."""
    assert one.loss_ == other.loss_
    for name in ("center_indices_", "coef_", "intercept_", "alpha_", "feature_scales_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.predict_set(X), other.predict_set(X))


class TestChoice:
    def test_auto_is_the_squared_loss_where_that_is_better(self, two):
        X, y = two
        model = classifier().fit(X, y)
        assert model.loss_ == "squared"
        assert_same(model, classifier(loss="squared").fit(X, y), X)

    def test_auto_is_the_log_loss_where_that_is_better(self, four):
        X, y = four
        model = classifier().fit(X, y)
        assert model.loss_ == "softmax"
        assert_same(model, classifier(loss="log").fit(X, y), X)

    @pytest.mark.parametrize("settings", [{"alpha": 0.05}, {"gamma": 0.5, "max_atoms": 10}])
    def test_auto_is_the_log_loss_where_alpha_or_gamma_is_given(self, two, settings):
        X, y = two
        model = classifier(**settings).fit(X, y)
        assert model.loss_ == "logistic"
        assert_same(model, classifier(loss="log", **settings).fit(X, y), X)

    @pytest.mark.parametrize(
        ("loss", "n_classes", "name"),
        [("log", 2, "logistic"), ("log", 4, "softmax"), ("softmax", 2, "softmax"), ("hinge", 4, "hinge")],
    )
    def test_the_loss_is_the_one_that_was_asked_for(self, two, four, loss, n_classes, name):
        X, y = two if n_classes == 2 else four
        assert classifier(loss=loss, max_atoms=6).fit(X, y).loss_ == name

    @pytest.mark.parametrize("loss", ["auto", "log"])
    @pytest.mark.parametrize("shape", ["constant", "by chance"])
    def test_a_constant_has_the_shares_of_the_classes(self, rng, loss, shape):
        y = np.repeat([0, 1, 2], [60, 30, 10])
        X = np.ones((100, 2)) if shape == "constant" else rng.normal(size=(100, 2))
        if shape == "constant":
            model = classifier(loss=loss).fit(X, y)
        else:
            with pytest.warns(ConstantModelWarning):
                model = classifier(loss=loss).fit(X, y)
        assert (model.n_atoms_, model.loss_) == (0, "softmax")
        np.testing.assert_allclose(model.predict_proba(X), np.tile([0.6, 0.3, 0.1], (100, 1)), rtol=1e-5)
        # Two of the three hold nine tenths of the rows. Copies of one row say nothing of another.
        assert model.predict_set(X, 0.95).all()
        n_held = 3 if shape == "constant" else 1
        np.testing.assert_array_equal(model.predict_set(X, 0.55).sum(axis=1), n_held)


class TestWhatIsLearned:
    def test_scales_are_those_of_the_squared_loss_but_for_a_common_factor(self, four):
        X, y = four
        square = classifier(loss="squared").fit(X, y)
        factors = []
        for loss in ("log", "hinge", "squared_hinge"):
            model = classifier(loss=loss).fit(X, y)
            assert type(model.kernel_) is type(square.kernel_)
            assert set(model.center_indices_) == set(square.center_indices_)
            ratios = square.feature_scales_ / model.feature_scales_
            np.testing.assert_allclose(ratios, ratios[0], rtol=1e-12)
            factors.append(ratios[0])
        assert set(np.round(factors, 9)) <= {1.0, 2.0, 4.0, 8.0}
        assert max(factors) > 1

    @pytest.mark.parametrize("loss", ["auto", "log", "squared", "hinge"])
    def test_scores_are_sums_of_the_kernel(self, two, loss):
        """Also where the final loss has wider atoms than the squared one."""
        X, y = two
        model = classifier(loss=loss, outside="free").fit(X, y)
        scores = model.kernel_(X, model.centers_) @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(scores[:, 0], model.decision_function(X), atol=1e-10)

    def test_what_is_learned_is_no_matter_of_the_order_of_rows(self, four):
        X, y = four
        order = np.random.default_rng(1).permutation(len(y))
        model, other = classifier().fit(X, y), classifier().fit(X[order], y[order])
        np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize("loss", ["log", "hinge", "auto"])
    def test_a_row_of_weight_two_is_a_row_twice(self, four, loss):
        X, y = four
        weights = np.arange(len(y)) % 3
        model = classifier(loss=loss).fit(X, y, sample_weight=weights)
        twice = classifier(loss=loss).fit(X.repeat(weights, axis=0), y.repeat(weights))
        np.testing.assert_allclose(model.predict_proba(X), twice.predict_proba(X), rtol=1e-5, atol=1e-7)


def two_class_loss(s, y):
    """The logistic loss in bits, and its derivative by the scores."""
    margin = (2 * y - 1) * s[:, 0]
    slope = -(2 * y - 1) * 2 * expit(-2 * margin) / np.log(2)
    return np.logaddexp(0, -2 * margin).sum() / np.log(2), slope[:, None]


def many_class_loss(s, y):
    """The log loss of softmax, and its derivative by the scores."""
    rows = np.arange(len(y))
    slope = softmax(s, axis=1)
    slope[rows, y] -= 1
    return (logsumexp(s, axis=1) - s[rows, y]).sum(), slope


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.05}, {"sample_weight": True}])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_coefficients_minimise_the_penalised_loss(two, four, n_classes, settings):
    """By BFGS from nothing, over columns that are orthogonal."""
    X, y = two if n_classes == 2 else four
    n, settings = len(y), dict(settings)
    times = 1 + np.arange(n) % 2 if settings.pop("sample_weight", False) else np.ones(n, dtype=int)
    model = classifier(loss="log", outside="free", **settings).fit(X, y, sample_weight=times)
    loss, n_scores = (two_class_loss, 1) if n_classes == 2 else (many_class_loss, n_classes)
    D = np.column_stack([np.ones(n), model.kernel_(X, model.centers_)])
    D_each, y_each = D.repeat(times, axis=0), y.repeat(times)
    k = model.n_atoms_
    gram = np.eye(k) if "alpha" in settings else times.sum() * model.kernel_(model.centers_, model.centers_)
    L = np.zeros((k + 1, k + 1))
    L[1:, 1:] = model.alpha_ * gram
    back = np.linalg.inv(np.linalg.cholesky(D_each.T @ D_each + L + 1e-9 * np.eye(k + 1)).T)

    def cost(b):
        w = back @ b.reshape(k + 1, n_scores)
        value, slope = loss(D_each @ w, y_each)
        return value + (w * (L @ w)).sum(), (back.T @ (D_each.T @ slope + 2 * L @ w)).ravel()

    found = minimize(cost, np.zeros((k + 1) * n_scores), jac=True, method="BFGS", options={"gtol": 1e-8})
    want = D @ back @ found.x.reshape(k + 1, n_scores)
    want = want - want.mean(axis=1, keepdims=True) if n_scores > 1 else want
    scores = model.decision_function(X).reshape(n, n_scores)
    scores = scores - scores.mean(axis=1, keepdims=True) if n_scores > 1 else scores
    assert k > 3
    np.testing.assert_allclose(scores, want, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("loss", ["log", "auto"])
class TestOtherSettings:
    def check(self, model, X, y, most_wrong=0.2):
        assert np.isfinite(model.predict_proba(X)).all()
        assert np.isfinite(model.decision_function(X)).all()
        assert model.score(X, y) > 1 - most_wrong
        assert model.loss_ in ({"softmax", "logistic"} if model.loss == "log" else {"softmax", "logistic", "squared"})

    @pytest.mark.parametrize("stop", ["max", "cv", "validation", "one-se", "loo-error", "loo"])
    def test_rules(self, apart, loss, stop):
        X, y = apart
        model = classifier(loss=loss, stop=stop, max_atoms=20).fit(X, y)
        self.check(model, X, y)
        assert stop != "max" or model.n_atoms_ == 20
        assert {"cv": model.path_.cv, "validation": model.path_.validation}.get(stop, True) is not None

    @pytest.mark.parametrize("of", ["loss", "error"])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_validation_rows_of_ones_own(self, apart, loss, of, n_classes):
        """Their codes are those of the loss, so that the path says what the model comes to on them."""
        X, y = apart
        y = np.minimum(y, n_classes - 1)
        model = classifier(loss=loss, stop=Validation(X[80:], y[80:], of=of), max_atoms=12).fit(X[:80], y[:80])
        self.check(model, X[80:], y[80:])
        wrong = model.path_.validation_error[model.model_.n_steps]
        assert wrong == pytest.approx(1 - model.score(X[80:], y[80:]))

    @pytest.mark.parametrize(
        "settings",
        [
            {"fit_intercept": False},
            {"trend": "linear"},
            {"refine": True, "max_atoms": 10},
            {"class_weight": "balanced"},
            {"multi_class": "ovr", "max_atoms": 10},
        ],
    )
    def test_parameters(self, apart, loss, settings):
        X, y = apart
        self.check(classifier(loss=loss, **settings).fit(X, y), X, y)

    def test_sample_weights(self, apart, loss, rng):
        X, y = apart
        self.check(classifier(loss=loss).fit(X, y, sample_weight=rng.uniform(0.1, 3, size=len(y))), X, y)

    def test_sparse_rows(self, loss):
        X = sp.random(200, 50, 0.2, random_state=0, format="csr")
        y = (X[:, :5].toarray().sum(axis=1) > 0.4).astype(int)
        model, dense = classifier(loss=loss).fit(X, y), classifier(loss=loss).fit(X.toarray(), y)
        self.check(model, X, y)
        np.testing.assert_allclose(model.predict_proba(X), dense.predict_proba(X.toarray()), rtol=1e-6, atol=1e-9)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_wide_rows(self, loss, n_classes):
        rng = np.random.default_rng(0)
        y = np.arange(150) % n_classes
        X = rng.normal(size=(150, 3000))
        X[:, : 50 * n_classes] += 2 * np.eye(n_classes)[y].repeat(50, axis=1)
        model = classifier(loss=loss, max_atoms=60).fit(X[:90], y[:90])
        self.check(model, X[:90], y[:90])
        assert model.score(X[90:], y[90:]) > 0.8

    def test_warm_start(self, apart, loss):
        """A fit goes on where the last one ended, or from nothing where its rows are others."""
        X, y = apart
        model = classifier(loss=loss, warm_start=True, max_atoms=5).fit(X, y)
        for settings in ({"max_atoms": 9}, {"max_atoms": 9, "stop": "max"}, {"max_atoms": 5, "stop": "auto"}):
            model.set_params(**settings).fit(X, y)
            assert_same(model, classifier(loss=loss, **settings).fit(X, y), X)
        self.check(model.fit(X[:100], y[:100]), X, y)

    def test_a_time_limit(self, apart, loss):
        X, y = apart
        model = classifier(loss=loss).fit(X, y, callback=TimeLimit(1e-6))
        assert np.isfinite(model.predict_proba(X)).all()
        assert_same(classifier(loss=loss).fit(X, y, callback=TimeLimit(600)), classifier(loss=loss).fit(X, y), X)

    def test_a_callback_may_end_the_fit_anywhere(self, apart, loss):
        """Whatever stage it is in, the model predicts."""
        X, y = apart
        counter = Ender(None)
        classifier(loss=loss, max_atoms=8).fit(X, y, callback=counter)
        for after in np.unique(np.geomspace(1, counter.n_asked, 8).astype(int)):
            model = classifier(loss=loss, max_atoms=8).fit(X, y, callback=Ender(after))
            p = model.predict_proba(X)
            assert np.isfinite(p).all()
            np.testing.assert_allclose(p.sum(axis=1), 1)
            assert model.predict_set(X)[np.arange(len(y)), p.argmax(axis=1)].all()

    def test_models_on_the_path(self, apart, loss):
        X, y = apart
        model = classifier(loss=loss).fit(X, y)
        for k in range(len(model.path_) + 1):
            p = model.at(k).predict_proba(X)
            assert np.isfinite(p).all()
            assert model.at(k).loss_ == model.loss_


class Ender(Callback):
    """Ends a fit when it was asked so many times; None never does."""

    def __init__(self, after):
        self.after, self.n_asked = after, 0

    def __call__(self, *args):
        self.n_asked += 1
        return self.after is not None and self.n_asked >= self.after


@pytest.mark.parametrize("loss", ["log", "auto", "squared"])
class TestOddClasses:
    def test_classes_of_one_and_of_two_rows(self, apart, loss):
        X, y = apart
        y = y.copy()
        y[7], y[[20, 41]] = 8, 9
        model = classifier(loss=loss).fit(X, y)
        p = model.predict_proba(X)
        np.testing.assert_array_equal(model.classes_, [0, 1, 2, 8, 9])
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert model.score(X, y) > 0.7
        assert p[:, 3:].mean(axis=0).max() < 0.1

    def test_thirty_classes_of_few_rows(self, loss):
        rng = np.random.default_rng(1)
        y = np.arange(150) % 30
        X = rng.normal(size=(150, 2)) + 20 * rng.normal(size=(30, 2))[y]
        model = classifier(loss=loss, max_atoms=40).fit(X, y)
        p = model.predict_proba(X)
        assert np.isfinite(p).all()
        assert model.score(X, y) > 0.5
        assert model.predict_set(X, 0.95)[np.arange(150), y].mean() > 0.9

    def test_labels_are_strings(self, apart, loss):
        X, y = apart
        names = np.array(["high", "low", "mid"])
        model, by_number = (classifier(loss=loss).fit(X, labels) for labels in (names[y], y))
        np.testing.assert_array_equal(model.predict(X), names[by_number.predict(X)])
        np.testing.assert_array_equal(model.predict_proba(X), by_number.predict_proba(X))

    def test_a_label_of_rows_of_weight_zero_is_none(self, apart, loss):
        X, y = apart
        weights = np.where(np.arange(len(y)) < 3, 0.0, 1.0)
        model = classifier(loss=loss).fit(X, np.where(weights > 0, y, 7), sample_weight=weights)
        without = classifier(loss=loss).fit(X[3:], y[3:])
        np.testing.assert_array_equal(model.classes_, [0, 1, 2])
        np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), rtol=1e-6, atol=1e-8)


def test_nothing_is_learned_with_a_gamma_of_ones_own(two):
    """Then atoms are picked under the loss itself."""
    X, y = two
    model = plain_classifier(gamma=0.5, max_atoms=8, stop="max").fit(X, y)
    assert (model.loss_, model.alpha_, model.feature_scales_) == ("logistic", 0.1, None)
