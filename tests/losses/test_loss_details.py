"""What is easily overlooked: threads of the BLAS, rows that do not count, who a loss is for, how rows are held out."""

import threading

import numpy as np
import pytest
from plain import plain_classifier, plain_regressor
from threadpoolctl import threadpool_info, threadpool_limits

from kernelpursuit._native.threads import one_blas_thread
from kernelpursuit.dictionary import Always, Constant, Functions, KernelAtoms
from kernelpursuit.kernels import RBF
from kernelpursuit.losses import Huber, Loss, Squared
from kernelpursuit.stopping import CV, Validation


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] > 0.5, "in", "out")


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads():
    """Tests run with one, which hides what is not given back."""
    if not blas_threads():
        pytest.skip("threadpoolctl knows nothing of this BLAS")
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.mark.usefixtures("two_blas_threads")
def test_the_last_fit_that_ends_gives_the_threads_back():
    """Two fits that overlap: the second begins before, and ends after the first one's end."""
    before = blas_threads()
    assert set(before) == {2}
    second_is_in, first_is_out = threading.Event(), threading.Event()
    during = []

    def second():
        with one_blas_thread():
            second_is_in.set()
            assert first_is_out.wait(10)
            during.extend(blas_threads())

    thread = threading.Thread(target=second)
    with one_blas_thread():
        thread.start()
        assert second_is_in.wait(10)
    first_is_out.set()
    thread.join()
    assert set(during) == {1}
    assert blas_threads() == before


@pytest.mark.usefixtures("two_blas_threads")
def test_a_fit_in_one_thread_does_not_keep_another_from_setting_its_own():
    with one_blas_thread():
        pass
    during = []

    def other():
        with one_blas_thread():
            during.extend(blas_threads())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert set(during) == {1}
    assert set(blas_threads()) == {2}


def test_rows_without_weight_do_not_decide_the_width_of_what_is_always_in(rows):
    X, _ = rows
    y = np.sin(X).sum(axis=1)
    weights = np.r_[np.ones(60), np.zeros(30)]
    far = np.r_[X[:60], 50 * X[60:]]
    kernel = Always(KernelAtoms("rbf", centers=np.zeros((1, 2)))) + KernelAtoms("rbf")
    settings = {"kernel": kernel, "max_atoms": 8, "stop": "max"}
    with_them = plain_regressor(**settings).fit(far, y, sample_weight=weights)
    without = plain_regressor(**settings).fit(X[:60], y[:60])
    np.testing.assert_allclose(with_them.predict(X), without.predict(X), rtol=1e-9)


def test_a_subclass_of_the_squared_loss_is_a_loss_of_its_own(rows):
    class Doubled(Squared):
        name = "doubled"

        def value(self, y, f):
            return 2 * super().value(y, f)

        def gradient(self, y, f):
            return 2 * super().gradient(y, f)

        def curvature(self, y, f):
            return 2 * super().curvature(y, f)

    X, _ = rows
    y = np.sin(X).sum(axis=1)
    settings = {"gamma": 1.0, "max_atoms": 10, "stop": "max"}
    doubled = plain_regressor(loss=Doubled(), alpha=0.2, **settings).fit(X, y)
    plain = plain_regressor(alpha=0.1, **settings).fit(X, y)
    assert doubled.path_.loss == "doubled"
    np.testing.assert_allclose(doubled.predict(X), plain.predict(X), rtol=1e-6)
    assert doubled.path_.cost[5] == pytest.approx(2 * plain.path_.cost[5], rel=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "tanh", "softmax"])
def test_losses_for_classes_are_not_for_numbers(rows, loss):
    X, y = rows
    with pytest.raises(ValueError, match=f"^loss='{loss}' is for classes; use KernelPursuitClassifier\\.$"):
        plain_regressor(loss=loss).fit(X, np.where(y == "in", 1.0, -1.0))


@pytest.mark.parametrize("loss", ["poisson", "quantile"])
def test_losses_for_numbers_are_not_for_classes(rows, loss):
    with pytest.raises(ValueError, match=f"^loss='{loss}' is for numbers; use KernelPursuitRegressor, or loss='log'"):
        plain_classifier(loss=loss).fit(*rows)


def test_class_weight_counts_for_given_held_out_rows(rows):
    X, y = rows
    settings = {"gamma": 1.0, "max_atoms": 5, "class_weight": {"in": 30.0}}
    given = Validation(X=X[60:], y=y[60:], patience=None)
    model = plain_classifier(stop=given, **settings).fit(X[:60], y[:60])
    by_hand = Validation(X=X[60:], y=y[60:], sample_weight=np.where(y[60:] == "in", 30.0, 1.0), patience=None)
    twice = plain_classifier(stop=by_hand, gamma=1.0, max_atoms=5).fit(
        X[:60], y[:60], sample_weight=np.where(y[:60] == "in", 30.0, 1.0)
    )
    np.testing.assert_allclose(model.path_.validation, twice.path_.validation, rtol=1e-9)
    selected = plain_classifier(stop="max", **settings).fit(X[:60], y[:60]).select(given)
    np.testing.assert_allclose(selected.path_.validation[:-1], model.path_.validation[:-1], rtol=1e-5)


@pytest.mark.parametrize("labels", [[None] * 30, [1, "in"] * 15, ["in"] * 29], ids=["none", "mixed", "too few"])
def test_labels_of_held_out_rows_are_checked(rows, labels):
    X, y = rows
    model = plain_classifier(stop=Validation(X=X[60:], y=np.array(labels, dtype=object)))
    with pytest.raises((ValueError, TypeError), match=r"^Validation's y ") as caught:
        model.fit(X[:60], y[:60])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", range(6))
def test_no_class_is_held_out_entirely(seed):
    """A class of two rows keeps one of them, and one of a single row keeps it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    y = np.r_[np.zeros(37), 1, 1, 2].astype(int)
    settings = {"loss": "softmax", "max_atoms": 2, "random_state": seed, "gamma": 1.0}
    model = plain_classifier(stop=Validation(fraction=0.5), **settings).fit(X, y)
    # A class that no training row has would be given next to no probability at all.
    assert model.at(0).predict_proba(X[:1]).min() > 1e-3


def test_every_fold_has_its_share_of_every_class():
    """Six rows of the rare class in three folds: each is fitted with four of them, and none sees a new class."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(60, 2)), rng.normal(loc=4, size=(6, 2))]
    y = np.r_[np.zeros(60), np.ones(6)].astype(int)
    for seed in range(4):
        model = plain_classifier(stop=CV(folds=3), max_atoms=4, gamma=0.5, random_state=seed).fit(X, y)
        # At no atoms, every fold predicts the same shares, so that the loss is the entropy of the classes.
        p = 6 / 66
        entropy = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
        assert model.path_.cv[0] == pytest.approx(entropy, rel=1e-6)


def test_what_the_targets_decide_of_a_loss_is_decided_once(rows, monkeypatch):
    """All folds are measured by the loss of the whole fit."""
    X, _ = rows
    y = np.sin(X).sum(axis=1) + np.random.default_rng(1).standard_t(1, size=len(X))
    seen = set()
    value = Huber.value

    def watched(self, y, f):
        seen.add(self.delta)
        return value(self, y, f)

    monkeypatch.setattr(Huber, "value", watched)
    plain_regressor(loss="huber", stop=CV(folds=4), max_atoms=3, random_state=0).fit(X, y)
    assert len(seen) == 1


@pytest.mark.parametrize("part", [KernelAtoms("rbf"), RBF(gamma=1.0)], ids=["at every row", "a kernel"])
def test_kernels_at_every_row_are_not_always_in(part):
    with pytest.raises(ValueError, match=r"^Always .*(give it centers\.|not RBF)"):
        Always(part)


def test_a_second_constant_is_named(rows):
    X, _ = rows
    kernel = Always(Constant() + Functions(lambda X: X[:, 0])) + "rbf"
    with pytest.raises(ValueError, match=r"the intercept among them.*fit_intercept=False"):
        plain_regressor(kernel=kernel).fit(X, X[:, 1])
    assert plain_regressor(kernel=kernel, fit_intercept=False).fit(X, X[:, 1]).fixed_coef_.shape == (2,)


def test_there_is_no_noise_level_under_another_loss(rows):
    model = plain_classifier(max_atoms=3).fit(*rows)
    assert np.isnan(model.path_.noise_level)


def test_class_weight_is_no_count(rows):
    """A row that matters thirty times as much is left out as a whole, and one of weight thirty in thirtieths."""
    X, y = rows
    settings = {"gamma": 1.0, "max_atoms": 6, "stop": "max", "loss": "squared"}
    matters = plain_classifier(class_weight={"in": 30.0, "out": 1.0}, **settings).fit(X, y)
    weights = np.where(y == "in", 30.0, 1.0)
    counts = plain_classifier(**settings).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(matters.path_.atom, counts.path_.atom)
    D = np.column_stack([np.ones(len(X)), RBF(gamma=1.0)(X, X[matters.path_.atoms(6)])])
    L = np.diag(np.r_[0.0, np.full(6, 0.1)])
    codes = np.where(y == "out", 1.0, -1.0)
    errors = []
    for i in range(len(X)):
        without = np.where(np.arange(len(X)) == i, 0.0, weights)
        w = np.linalg.solve(D.T @ (without[:, None] * D) + L, D.T @ (without * codes))
        errors.append((codes[i] - D[i] @ w) ** 2)
    assert matters.path_.loo[6] == pytest.approx(np.average(errors, weights=weights), rel=1e-6)
    assert matters.path_.loo[6] > counts.path_.loo[6]


def test_class_weight_is_no_count_in_one_against_the_rest(rows):
    X, _ = rows
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    settings = {"gamma": 1.0, "max_atoms": 4, "stop": "max", "multi_class": "ovr"}
    matters = plain_classifier(class_weight={0: 20.0, 1: 1.0, 2: 1.0}, **settings).fit(X, y)
    counts = plain_classifier(**settings).fit(X, y, sample_weight=np.where(y == 0, 20.0, 1.0))
    for one, other in zip(matters.estimators_, counts.estimators_):
        np.testing.assert_array_equal(one.coef_, other.coef_)
        assert one.path_.loo[4] > other.path_.loo[4]


def test_warm_start_knows_a_loss_of_the_user_from_another(rows):
    class Expectile(Loss):
        def __init__(self, share):
            object.__setattr__(self, "share", share)

        def slope(self, y, f):
            return np.where(y > f, self.share, 1 - self.share)

        def value(self, y, f):
            return (self.slope(y, f) * np.square(y - f)).sum(axis=0)

        def gradient(self, y, f):
            return 2 * self.slope(y, f) * (f - y)

        def curvature(self, y, f):
            return 2 * self.slope(y, f).max(axis=0)

    X, _ = rows
    y = np.sin(X).sum(axis=1) + np.random.default_rng(1).normal(size=len(X))
    warm = plain_regressor(loss=Expectile(0.1), max_atoms=5, stop="max", warm_start=True).fit(X, y)
    warm.set_params(loss=Expectile(0.9)).fit(X, y)
    cold = plain_regressor(loss=Expectile(0.9), max_atoms=5, stop="max").fit(X, y)
    np.testing.assert_array_equal(warm.predict(X), cold.predict(X))


def test_a_curvature_of_the_wrong_shape_is_told(rows):
    class Flat(Squared):
        def curvature(self, y, f):
            return np.full_like(f, 2.0)

    X, _ = rows
    with pytest.raises(ValueError, match=r"^The curvature of loss=Flat\(\) has shape \(1, 90\) where \(90,\) is"):
        plain_regressor(loss=Flat()).fit(X, X[:, 0])


def test_a_slip_in_class_weight_is_told(rows):
    with pytest.raises(ValueError, match=r"names 'inn', which is no label of y\.$"):
        plain_classifier(class_weight={"inn": 2.0, "out": 1.0}).fit(*rows)
    plain_classifier(class_weight={"in": 2.0, "out": 1.0, "other": 3.0}, max_atoms=2).fit(*rows)
