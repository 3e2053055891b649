"""Dictionaries beyond one kernel at every row (KMP section 4.1), for the regressor and the classifier.

Functions that are always in, a kernel for each class, kernels on row numbers, precomputed columns, indefinite kernels.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from plain import plain_classifier, plain_regressor
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.model_selection import StratifiedKFold, cross_val_score

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, pursuit_path
from kernelpursuit.dictionary import Always, Constant, Functions, KernelAtoms, Precomputed
from kernelpursuit.kernels import RBF, Laplacian, Sigmoid
from kernelpursuit.losses import Huber
from kernelpursuit.stopping import Validation

GAMMA, ALPHA, N_ATOMS = 0.5, 0.1, 6


def first(X):
    return X[:, 0]


def second_squared(X):
    return X[:, 1] ** 2


TREND = Always(Functions(first, second_squared))
SEMI = TREND + KernelAtoms(RBF(gamma=GAMMA))


def fixed_columns(X, intercept=True):
    return np.column_stack([np.ones(len(X))] * intercept + [first(X), second_squared(X)])


def all_columns(model, X):
    """Columns of the fixed part, then of the picked atoms."""
    return np.column_stack([fixed_columns(X), RBF(gamma=GAMMA)(X, model.centers_)])


def penalised(D, y, weights=None, n_fixed=3, alpha=ALPHA):
    """Weights that minimise the squared error, with a ridge on all but the fixed columns; and the inverse matrix."""
    s = np.ones(len(D)) if weights is None else weights
    inverse = np.linalg.inv((D.T * s) @ D + alpha * np.diag(np.arange(D.shape[1]) >= n_fixed))
    return inverse @ (D.T * s) @ y, inverse


def all_weights(model):
    return np.concatenate([np.atleast_2d(x) for x in (np.atleast_2d(model.intercept_).T, *parts(model))], axis=1)


def parts(model):
    return np.atleast_2d(model.fixed_coef_), np.atleast_2d(model.coef_)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (70, 2))
    return X, 1.5 * X[:, 0] + np.sin(3 * X[:, 1]) + 0.2 * rng.standard_normal(70)


@pytest.fixture(scope="module")
def model(data):
    return plain_regressor(kernel=SEMI, alpha=ALPHA, max_atoms=N_ATOMS, stop="max").fit(*data)


@pytest.fixture(scope="module")
def moons():
    return make_moons(90, noise=0.25, random_state=0)


class TestAlwaysInRegression:
    def test_no_atom_is_plain_least_squares(self, data, model):
        X, y = data
        exact = np.linalg.lstsq(fixed_columns(X), y, rcond=None)[0]
        start = model.at(0)
        assert start.n_atoms_ == 0
        np.testing.assert_allclose(start.fixed_coef_, exact[1:])
        assert start.intercept_ == pytest.approx(exact[0])

    @pytest.mark.parametrize("k", [1, 3, N_ATOMS])
    def test_weights_are_penalised_only_for_atoms(self, data, model, k):
        X, y = data
        part = model.at(k)
        exact, _ = penalised(all_columns(part, X), y)
        np.testing.assert_allclose(all_weights(part)[0], exact, rtol=1e-7)
        assert part.n_atoms_ == k

    def test_sample_weights(self, data):
        X, y = data
        weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
        model = plain_regressor(kernel=SEMI, alpha=ALPHA, max_atoms=4, stop="max").fit(X, y, weights)
        exact, _ = penalised(all_columns(model, X), y, weights)
        np.testing.assert_allclose(all_weights(model)[0], exact, rtol=1e-7)

    def test_without_an_intercept(self, data):
        X, y = data
        model = plain_regressor(kernel=SEMI, max_atoms=3, fit_intercept=False).fit(X, y)
        exact = np.linalg.lstsq(fixed_columns(X, intercept=False), y, rcond=None)[0]
        np.testing.assert_allclose(model.at(0).fixed_coef_, exact)

    def test_picks_what_lowers_the_cost_most(self, data, model):
        X, y = data
        columns = RBF(gamma=GAMMA)(X, X)

        def cost(atom):
            D = np.column_stack([fixed_columns(X), columns[:, atom]])
            w, _ = penalised(D, y)
            return np.sum(np.square(y - D @ w)) + ALPHA * w[-1] ** 2

        assert model.path_.atom[0] == np.argmin([cost(j) for j in range(len(X))])

    def test_leave_one_out_error(self, data):
        X, y = data
        model = plain_regressor(kernel=SEMI, alpha=ALPHA, max_atoms=4, stop="max").fit(X, y)
        D = all_columns(model, X)
        errors = [
            y[i] - D[i] @ penalised(np.delete(D, i, axis=0), np.delete(y, i))[0] for i in range(len(X))
        ]  # every row left out in turn
        assert model.path_.loo[4] == pytest.approx(np.mean(np.square(errors)))

    def test_standard_deviations(self, data, model):
        X, y = data
        D = all_columns(model, X)
        w, inverse = penalised(D, y)
        mean, std = model.predict(X, return_std=True)
        dof = np.trace(D @ inverse @ D.T)
        noise = np.sum(np.square(y - D @ w)) / (len(y) - dof)
        np.testing.assert_allclose(mean, D @ w)
        np.testing.assert_allclose(std, np.sqrt(noise * (1 + np.einsum("ij,jk,ik->i", D, inverse, D))))
        assert model.path_.dof[N_ATOMS] == pytest.approx(dof)

    def test_stages_are_the_models_of_each_size(self, data, model):
        X, _ = data
        new = X[:9] + 0.1
        stages = list(model.staged_predict(new))
        assert len(stages) == N_ATOMS + 1
        for k, stage in enumerate(stages):
            np.testing.assert_allclose(stage, model.at(k).predict(new))

    def test_held_out_errors(self, data):
        X, y = data
        X_new, y_new = X[50:], y[50:]
        model = plain_regressor(kernel=SEMI, max_atoms=8, stop=Validation(X=X_new, y=y_new))
        model.fit(X[:50], y[:50])
        errors = [np.mean(np.square(stage - y_new)) for stage in model.staged_predict(X_new)]
        np.testing.assert_allclose(model.path_.validation, errors)
        assert model.n_atoms_ == np.argmin(errors)

    @pytest.mark.parametrize("stop", ["validation", "cv"])
    def test_rules_that_hold_rows_out(self, data, stop):
        model = plain_regressor(kernel=SEMI, max_atoms=8, stop=stop, random_state=0).fit(*data)
        assert model.fixed_coef_.shape == (2,)
        assert model.n_atoms_ == np.argmin(getattr(model.path_, stop))
        assert model.score(*data) > model.at(0).score(*data)

    def test_several_targets(self, data):
        X, y = data
        Y = np.column_stack([y, 2 * first(X) - y, second_squared(X)])
        model = plain_regressor(kernel=SEMI, alpha=ALPHA, max_atoms=5, stop="max").fit(X, Y)
        exact, _ = penalised(all_columns(model, X), Y)
        np.testing.assert_allclose(all_weights(model), exact.T, rtol=1e-6, atol=1e-8)
        # A target that the fixed functions make by themselves needs no atom.
        np.testing.assert_allclose(model.fixed_coef_[2], [0, 1], atol=1e-8)
        np.testing.assert_allclose(model.coef_[2], 0, atol=1e-8)

    @pytest.mark.parametrize(
        "settings",
        [
            {"update": "stagewise", "stop": "max"},
            {"update": "rescale", "stop": "max"},
            {"selection": "residual", "update": "minres", "penalty": None, "stop": "max"},
            {"selection": "residual", "exchange": True},
            {"penalty": "rkhs"},
            {"penalty": "ols"},
            {"penalty": None},
            {"candidates": 7, "random_state": 0},
        ],
    )
    def test_residuals_have_nothing_of_it_at_any_step(self, data, settings):
        X, y = data
        model = plain_regressor(kernel=SEMI, max_atoms=6, **settings).fit(X, y)
        for stage in model.staged_predict(X):
            np.testing.assert_allclose(fixed_columns(X).T @ (y - stage), 0, atol=1e-7)

    def test_extrapolates(self, data):
        X, y = data
        far = np.array([[50.0, 0.0]])
        model = plain_regressor(kernel=Always(first) + "rbf", gamma=GAMMA, alpha=1.0, max_atoms=20).fit(X, y)
        assert model.predict(far)[0] == pytest.approx(model.intercept_ + 50 * model.fixed_coef_[0])

    def test_poisson_counts_without_atoms_are_a_generalised_linear_model(self, data):
        X, y = data
        counts = np.random.default_rng(2).poisson(np.exp(y / 2))
        model = plain_regressor(kernel=SEMI, loss="poisson", max_atoms=4, stop="max").fit(X, counts)
        plain = PoissonRegressor(alpha=0, tol=1e-10, max_iter=1000).fit(fixed_columns(X)[:, 1:], counts)
        np.testing.assert_allclose(model.at(0).fixed_coef_, plain.coef_, atol=1e-5)
        # In the kept model too, the gradient of the loss has nothing of the fixed columns.
        np.testing.assert_allclose(fixed_columns(X).T @ (model.predict(X) - counts), 0, atol=1e-3)

    def test_huber(self, data):
        X, y = data
        model = plain_regressor(kernel=SEMI, loss=Huber(delta=0.3), max_atoms=4, stop="max").fit(X, y)
        clipped = np.clip(model.predict(X) - y, -0.3, 0.3)
        np.testing.assert_allclose(fixed_columns(X).T @ clipped, 0, atol=1e-3)

    def test_in_the_plain_function(self, data, model):
        X, y = data
        path = pursuit_path(X, y, kernel=SEMI, alpha=ALPHA, max_atoms=N_ATOMS, fit_intercept=True)
        np.testing.assert_allclose(path.fixed_coef(N_ATOMS)[:, 0], model.fixed_coef_)

    def test_a_longer_path_goes_on_from_a_shorter(self, data):
        X, y = data
        warm = plain_regressor(kernel=SEMI, max_atoms=3, stop="max", warm_start=True).fit(X, y)
        warm.set_params(max_atoms=9).fit(X, y)
        cold = plain_regressor(kernel=SEMI, max_atoms=9, stop="max").fit(X, y)
        np.testing.assert_array_equal(warm.path_.atom, cold.path_.atom)
        np.testing.assert_array_equal(warm.fixed_coef_, cold.fixed_coef_)
        np.testing.assert_array_equal(warm.predict(X), cold.predict(X))

    def test_pickles_and_clones(self, data, model):
        X, y = data
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
        np.testing.assert_array_equal(clone(model).fit(X, y).fixed_coef_, model.fixed_coef_)

    def test_any_place_and_number_in_a_union(self, data, model):
        X, y = data
        spread = Always(first) + KernelAtoms(RBF(gamma=GAMMA)) + Always(second_squared)
        other = plain_regressor(kernel=spread, alpha=ALPHA, max_atoms=N_ATOMS, stop="max").fit(X, y)
        np.testing.assert_array_equal(other.center_indices_, model.center_indices_)
        np.testing.assert_allclose(other.fixed_coef_, model.fixed_coef_)

    def test_kernels_at_given_centres(self, data):
        X, y = data
        model = plain_regressor(kernel=Always(KernelAtoms("rbf", centers=X[:3])) + "linear", gamma=GAMMA)
        model.fit(X, y)
        columns = np.column_stack([np.ones(len(X)), RBF(gamma=GAMMA)(X, X[:3])])
        np.testing.assert_allclose(model.at(0).fixed_coef_, np.linalg.lstsq(columns, y, rcond=None)[0][1:])

    def test_a_model_without_any_has_no_weights(self, data):
        assert plain_regressor(max_atoms=3).fit(*data).fixed_coef_.shape == (0,)


class TestAlwaysInClassification:
    def test_no_atom_is_logistic_regression(self, moons):
        X, y = moons
        model = plain_classifier(kernel=SEMI, max_atoms=4, stop="max").fit(X, y)
        plain = LogisticRegression(C=1e12, tol=1e-10, max_iter=1000).fit(fixed_columns(X)[:, 1:], y)
        # A score is half of the log-odds.
        np.testing.assert_allclose(2 * model.at(0).fixed_coef_, plain.coef_, rtol=1e-4)
        np.testing.assert_allclose(2 * model.at(0).intercept_, plain.intercept_, rtol=1e-3)

    def test_gradient_of_the_kept_model_has_nothing_of_it(self, moons):
        X, y = moons
        model = plain_classifier(kernel=SEMI, max_atoms=4, stop="max").fit(X, y)
        gradient = expit(2 * model.decision_function(X)) - y
        np.testing.assert_allclose(fixed_columns(X).T @ gradient, 0, atol=1e-3)
        assert model.fixed_coef_.shape == (1, 2)

    def test_three_classes(self, data):
        X, y = data
        classes = np.digitize(y, [-1, 1])
        model = plain_classifier(kernel=SEMI, max_atoms=4, stop="max").fit(X, classes)
        gradient = softmax(model.decision_function(X), axis=1) - np.eye(3)[classes]
        np.testing.assert_allclose(fixed_columns(X).T @ gradient, 0, atol=2e-3)
        assert model.fixed_coef_.shape == (3, 2)

    def test_squared_loss_is_regression_on_codes(self, moons):
        X, y = moons
        settings = {"kernel": SEMI, "loss": "squared", "max_atoms": 5, "stop": "max", "alpha": 0.01}
        model = plain_classifier(**settings).fit(X, y)
        codes = plain_regressor(**settings).fit(X, 2.0 * y - 1)
        np.testing.assert_allclose(model.fixed_coef_[0], codes.fixed_coef_)
        np.testing.assert_allclose(model.decision_function(X), codes.predict(X))

    @pytest.mark.parametrize("loss", ["log", "squared", "tanh", "squared_hinge"])
    def test_stages_are_the_models_of_each_size(self, moons, loss):
        X, y = moons
        model = plain_classifier(kernel=SEMI, loss=loss, max_atoms=5).fit(X, y)
        for k, stage in enumerate(model.staged_decision_function(X)):
            np.testing.assert_allclose(stage, model.at(k).decision_function(X), atol=1e-9)

    def test_held_out_errors(self, moons):
        X, y = moons
        model = plain_classifier(kernel=SEMI, max_atoms=5, stop=Validation(X=X[60:], y=y[60:], of="error"))
        model.fit(X[:60], y[:60])
        wrong = [np.mean(labels != y[60:]) for labels in model.staged_predict(X[60:])]
        assert wrong[model.n_atoms_] == min(wrong)

    def test_atoms_of_their_own_for_each_class(self, data):
        X, y = data
        model = plain_classifier(kernel=SEMI, max_atoms=4, multi_class="ovr").fit(X, np.digitize(y, [-1, 1]))
        assert model.fixed_coef_.shape == (3, 2)
        np.testing.assert_array_equal(model.fixed_coef_[1], model.estimators_[1].fixed_coef_[0])

    def test_a_longer_path_goes_on_from_a_shorter(self, moons):
        X, y = moons
        warm = plain_classifier(kernel=SEMI, loss="squared", max_atoms=3, stop="max", warm_start=True).fit(X, y)
        warm.set_params(max_atoms=8).fit(X, y)
        cold = plain_classifier(kernel=SEMI, loss="squared", max_atoms=8, stop="max").fit(X, y)
        np.testing.assert_array_equal(warm.decision_function(X), cold.decision_function(X))

    def test_pickles(self, moons):
        X, y = moons
        model = plain_classifier(kernel=SEMI, max_atoms=4).fit(X, y)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


class TestAlwaysRefuses:
    @pytest.mark.parametrize("part", [3, "rbf", None, [first]])
    def test_what_is_no_function(self, part):
        with pytest.raises(ValueError, match="Always takes a dictionary or a function of the rows X, not"):
            Always(part)

    @pytest.mark.parametrize("estimator", [KernelPursuitRegressor, KernelPursuitClassifier])
    @pytest.mark.parametrize("kernel", [TREND, Always(first) + Always(second_squared)])
    def test_nothing_to_pick_from(self, moons, estimator, kernel):
        with pytest.raises(ValueError, match="only functions that are always in; add a dictionary"):
            estimator(kernel=kernel).fit(*moons)

    @pytest.mark.parametrize("part", [Constant(), Functions(first, first)])
    def test_dependent_columns(self, data, part):
        with pytest.raises(ValueError, match="linearly dependent on the training rows; leave one out"):
            plain_regressor(kernel=Always(part) + "rbf").fit(*data)

    def test_functions_of_another_shape_or_without_numbers(self, data):
        with pytest.raises(ValueError, match="must return one value for each row"):
            plain_regressor(kernel=Always(lambda X: X) + "rbf").fit(*data)
        with pytest.raises(ValueError, match="returned NaN or infinity"):
            plain_regressor(kernel=Always(lambda X: np.nan * X[:, 0]) + "rbf").fit(*data)

    def test_precomputed_columns_beside_it(self, data):
        with pytest.raises(ValueError, match="cannot be part of a union"):
            plain_regressor(kernel=[TREND, "precomputed"]).fit(*data)


class TestKernelPerClass:
    FLAT, POINTED = RBF(gamma=[0.3, 5.0]), Laplacian(gamma=2.0)

    def union(self, X, y):
        return KernelAtoms(self.FLAT, centers=X[y == 0]) + KernelAtoms(self.POINTED, centers=X[y == 1])

    def test_every_centre_has_the_kernel_of_its_class(self, moons):
        X, y = moons
        model = plain_classifier(kernel=self.union(X, y), loss="squared", max_atoms=12, stop="max").fit(X, y)
        of_first = model.center_indices_ < (y == 0).sum()
        assert 0 < of_first.sum() < 12
        centers = np.vstack([X[y == 0], X[y == 1]])[model.center_indices_]
        np.testing.assert_array_equal(model.centers_, centers)
        columns = np.where(of_first, self.FLAT(X, centers), self.POINTED(X, centers))
        np.testing.assert_allclose(model.decision_function(X), columns @ model.coef_[0] + model.intercept_)

    def test_cross_validation_keeps_given_centres(self, moons):
        X, y = moons
        centers = np.vstack([X[y == 0], X[y == 1]])
        model = plain_classifier(kernel=self.union(X, y), loss="squared", max_atoms=12, stop="max")
        for train, _ in StratifiedKFold(3).split(X, y):
            fitted = clone(model).fit(X[train], y[train])
            # Atoms are numbered as in the whole dictionary, and rows that are held out may be centres.
            np.testing.assert_array_equal(fitted.centers_, centers[fitted.center_indices_])
            assert not (fitted.centers_[:, None] == X[train]).all(axis=2).any(axis=1).all()

    def test_regression_with_a_kernel_for_each_half(self, data):
        X, y = data
        left = X[:, 0] < 0
        union = KernelAtoms(self.FLAT, centers=X[left]) + KernelAtoms(self.POINTED, centers=X[~left])
        model = plain_regressor(kernel=union, max_atoms=10, stop="max").fit(X, y)
        flat = model.center_indices_ < left.sum()
        assert (model.centers_[flat, 0] < 0).all()
        assert (model.centers_[~flat, 0] >= 0).all()


WORDS = [a + b + c for a in "ab" for b in "abc" for c in "abcd"]


def letters_in_place(X, C):
    """How many letters of two words agree; X and C hold numbers of words."""
    first, second = ([list(WORDS[int(i)]) for i in numbers[:, 0]] for numbers in (X, C))
    return np.array([[sum(map(str.__eq__, a, b)) for b in second] for a in first], dtype=float)


class TestRowNumbers:
    NUMBERS = np.arange(len(WORDS))[:, None]

    def test_classes_of_words(self):
        y = np.array([word[1] for word in WORDS])
        model = plain_classifier(kernel=letters_in_place, max_atoms=8, stop="max").fit(self.NUMBERS, y)
        assert model.score(self.NUMBERS, y) == 1
        np.testing.assert_array_equal(model.centers_[:, 0], model.center_indices_)

    def test_numbers_of_words(self):
        y = np.array([word.count("a") for word in WORDS], dtype=float)
        model = plain_regressor(kernel=letters_in_place, penalty=None, max_atoms=12, stop="max")
        model.fit(self.NUMBERS, y)
        # With the constant, agreements span all sums over places of a number for each letter.
        np.testing.assert_allclose(model.predict(self.NUMBERS), y, atol=1e-6)
        assert model.n_atoms_ <= 6

    def test_new_words_and_pickles(self):
        y = np.array([word[2] == "a" for word in WORDS])
        known = self.NUMBERS[::2], y[::2]
        model = plain_classifier(kernel=letters_in_place, loss="squared", max_atoms=8).fit(*known)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(self.NUMBERS), model.predict(self.NUMBERS))


class TestPrecomputed:
    @pytest.mark.parametrize("kernel", ["precomputed", Precomputed()])
    def test_is_the_kernel_it_was_computed_from(self, moons, kernel):
        X, y = moons
        D = RBF(gamma=1.0)(X, X)
        settings = {"max_atoms": 8, "stop": "max"}
        model = plain_classifier(kernel=kernel, **settings).fit(D, y)
        direct = plain_classifier(kernel=RBF(gamma=1.0), **settings).fit(X, y)
        np.testing.assert_array_equal(model.center_indices_, direct.center_indices_)
        np.testing.assert_allclose(model.decision_function(D), direct.decision_function(X), rtol=1e-6)

    @pytest.mark.parametrize("estimator", [KernelPursuitRegressor, KernelPursuitClassifier])
    def test_any_shape_and_just_the_picked_columns(self, moons, estimator):
        X, y = moons
        D = Laplacian(gamma=1.0)(X, X[:25])
        model = estimator(kernel=Precomputed(), max_atoms=6, stop="max").fit(D, y)
        np.testing.assert_array_equal(model.predict(D[:, model.center_indices_]), model.predict(D))
        smaller = model.at(3)
        np.testing.assert_array_equal(smaller.predict(D[:, smaller.center_indices_]), smaller.predict(D))

    def test_several_classes_just_the_picked_columns(self, data):
        X, y = data
        classes, D = np.digitize(y, [-1, 1]), RBF(gamma=1.0)(X, X)
        model = plain_classifier(kernel=Precomputed(), max_atoms=6).fit(D, classes)
        np.testing.assert_allclose(model.predict_proba(D[:, model.center_indices_]), model.predict_proba(D))

    def test_cross_validation_slices_square_matrices(self, moons):
        X, y = moons
        model = plain_classifier(kernel="precomputed", max_atoms=10)
        direct = plain_classifier(kernel=RBF(gamma=1.0), max_atoms=10)
        scores = cross_val_score(model, RBF(gamma=1.0)(X, X), y, cv=3)
        np.testing.assert_allclose(scores, cross_val_score(direct, X, y, cv=3))


class TestIndefiniteKernels:
    KERNEL = Sigmoid(gamma=1.5, coef0=-1.0)

    @staticmethod
    def after(X, C):
        return np.where(X[:, :1] >= C[:, :1].T, 1.0, 0.0)

    def test_is_indefinite(self, moons):
        X, _ = moons
        assert np.linalg.eigvalsh(self.KERNEL(X, X))[0] < -1

    def test_regression_is_least_squares_on_its_columns(self, data):
        X, y = data
        model = plain_regressor(kernel=self.KERNEL, alpha=ALPHA, max_atoms=7, stop="max").fit(X, y)
        D = np.column_stack([np.ones(len(X)), self.KERNEL(X, model.centers_)])
        exact, _ = penalised(D, y, n_fixed=1)
        np.testing.assert_allclose(model.predict(X), D @ exact, rtol=1e-6)

    def test_classification(self, moons):
        X, y = moons
        model = plain_classifier(kernel=self.KERNEL, max_atoms=25).fit(X, y)
        assert model.score(X, y) > 0.9

    def test_asymmetric_steps(self, moons):
        X, _ = moons
        target = (X[:, 0] > 0.5).astype(float)
        model = plain_regressor(kernel=self.after, max_atoms=3, penalty=None, stop="max").fit(X, target)
        np.testing.assert_allclose(model.at(1).predict(X), target, atol=1e-12)
        classes = plain_classifier(kernel=self.after, loss="squared", max_atoms=1, stop="max").fit(X, target)
        assert classes.score(X, target) == 1

    @pytest.mark.parametrize("settings", [{"selection": "residual"}, {"penalty": "rkhs"}])
    def test_what_needs_a_semidefinite_kernel_says_so(self, data, settings):
        for kernel in (self.KERNEL, self.after):
            with pytest.raises(ValueError, match="positive semidefinite"):
                plain_regressor(kernel=kernel, **settings).fit(*data)
