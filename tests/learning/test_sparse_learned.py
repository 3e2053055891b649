"""Sparse rows are learned from: the same numbers give the same model, however they are stored."""

import numpy as np
import pytest
import scipy.sparse as sp
from short import SHORT
from short import short_regressor as regressor

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.learning import observations, wide
from kernelpursuit.learning.sample import Standard
from kernelpursuit.pursuit import problem
from kernelpursuit.rows import Distinct, distinct


@pytest.fixture(autouse=True)
def _short(short_plan):
    pass


@pytest.fixture(scope="module")
def holey(some):
    X, y = some
    return np.where(np.abs(X) < 0.5, 0.0, X), y


@pytest.fixture
def nothing_fits(monkeypatch):
    """As if the rows were too many to be made dense."""
    for module in (observations, problem):
        monkeypatch.setattr(module, "DENSE_UP_TO", 10)
    monkeypatch.setattr(distinct, "MOST_VALUES", 10)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix], ids=lambda f: f.__name__)
def test_the_same_bits_as_dense_rows(holey, form):
    X, y = holey
    model, dense = regressor().fit(form(X), y), regressor().fit(X, y)
    np.testing.assert_array_equal(model.predict(form(X)), dense.predict(X))
    np.testing.assert_array_equal(model.feature_scales_, dense.feature_scales_)
    np.testing.assert_array_equal(model.predict(X), dense.predict(form(X)))


def test_whole_numbers_and_stored_zeros(rng):
    X = rng.integers(0, 3, size=(90, 4))
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=90)
    stored = sp.csr_array(X)
    stored.data[::3] = 0
    dense = stored.toarray()
    np.testing.assert_array_equal(regressor().fit(stored, y).predict(stored), regressor().fit(dense, y).predict(dense))


def test_classes(holey):
    X, labels = holey[0], holey[1] > 0.5
    one, other = (KernelPursuitClassifier(**{**SHORT, "max_atoms": 4}).fit(A, labels) for A in (sp.csr_array(X), X))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.usefixtures("nothing_fits")
class TestKeptSparse:
    @pytest.mark.parametrize(
        "settings", [{}, {"refine": True}, {"kernel": "laplacian"}, {"stop": "validation"}], ids=str
    )
    def test_the_model_of_dense_rows(self, holey, settings):
        X, y = holey
        model, dense = regressor(**settings).fit(sp.csr_array(X), y), regressor(**settings).fit(X, y)
        assert not model.model_.is_dense
        np.testing.assert_allclose(model.feature_scales_, dense.feature_scales_, rtol=1e-4)
        np.testing.assert_allclose(model.predict(sp.csr_array(X)), dense.predict(X), atol=1e-3)
        assert np.corrcoef(model.predict(X), y)[0, 1] > 0.8

    def test_copies_and_weights(self, holey):
        X, y = sp.csr_array(holey[0]), holey[1]
        twice = np.repeat(np.arange(90), np.where(np.arange(90) < 20, 2, 1))
        weighted = regressor().fit(X, y, np.where(np.arange(90) < 20, 2.0, 1.0))
        np.testing.assert_allclose(regressor().fit(X[twice], y[twice]).predict(X), weighted.predict(X), rtol=1e-6)

    def test_classes(self, holey):
        X, labels = sp.csr_array(holey[0]), holey[1] > 0.5
        model = KernelPursuitClassifier(**SHORT).fit(X, labels)
        assert model.feature_scales_ is not None
        assert model.score(X, labels) > 0.8

    def test_equal_rows_are_found_whatever_is_stored(self):
        X = sp.csr_array(([1.0, 0.0, 1.0, 2.0], [0, 1, 0, 1], [0, 2, 3, 4]), shape=(3, 2))
        found = Distinct.of(X, np.zeros((3, 1)), None)
        assert found.which[0] == found.which[1] != found.which[2]
        assert sorted(found.first) == [0, 2]


def test_spread_of_sparse_rows(rng):
    X = np.where(rng.random((200, 5)) < 0.2, 1e3 * rng.normal(size=(200, 5)), 0.0)
    X[:, 3], X[:, 4] = 0.0, 7.0
    weights = rng.uniform(0.5, 2.0, 200)
    found, wanted = Standard.of(sp.csr_array(X), weights), Standard.of(X, weights)
    np.testing.assert_allclose(found.spread, wanted.spread, rtol=1e-10)
    assert not found.center.any()
    np.testing.assert_allclose(
        found.apply(sp.csr_array(X)).toarray(),
        np.divide(X, wanted.spread, out=np.zeros_like(X), where=wanted.spread > 0),
    )


class TestWide:
    """More features than can have a scale each."""

    @staticmethod
    def draw(seed):
        rng = np.random.default_rng(seed)
        hidden = rng.normal(size=(150, 2))
        X = np.where(rng.random((150, 40)) < 0.5, hidden @ rng.normal(size=(2, 40)), 0.0)
        return X, np.sin(hidden[:, 0]) + hidden[:, 1]

    @pytest.fixture
    @staticmethod
    def rows(monkeypatch):
        for module in (observations, wide):
            monkeypatch.setattr(module, "MAX_SCALES", 20)
        return TestWide.draw(2)

    def test_one_scale_for_all(self, rows, capsys):
        X, y = rows
        model = regressor(max_atoms=40, verbose=True).fit(sp.csr_array(X), y)
        assert "one scale for all of 40 features" in capsys.readouterr().err
        scales = model.feature_scales_
        spread = X.std(axis=0)
        assert min(np.ptp(scales) / scales.mean(), np.ptp(scales / spread) / (scales / spread).mean()) < 1e-9
        assert np.corrcoef(model.predict(X), y)[0, 1] > 0.8
        np.testing.assert_allclose(regressor(max_atoms=40).fit(X, y).predict(X), model.predict(X), atol=1e-6)
        np.testing.assert_array_equal(
            model.centers_ if isinstance(model.centers_, np.ndarray) else model.centers_.toarray(),
            X[model.center_indices_],
        )

    @pytest.mark.usefixtures("rows")
    def test_units_are_learned(self):
        ratios = []
        for seed in range(6):
            X, y = self.draw(seed)
            units = 10.0 ** np.random.default_rng(seed + 100).integers(-4, 5, 40)
            errors = []
            for rows in (X, X * units):
                model = regressor(max_atoms=40).fit(rows[:100], y[:100])
                errors.append(np.mean(np.square(model.predict(rows[100:]) - y[100:])))
            assert max(errors) < 0.5 * y.var()
            ratios.append(errors[1] / errors[0])
        assert np.exp(np.mean(np.log(ratios))) < 1.2, ratios

    def test_classes_and_a_given_penalty(self, rows):
        X, y = rows
        model = KernelPursuitClassifier(**{**SHORT, "max_atoms": 4}, alpha=0.3).fit(X, y > 0)
        assert model.alpha_ == 0.3
        assert model.score(X, y > 0) > 0.7

    def test_refine_is_refused(self, rows):
        with pytest.raises(ValueError, match=r"^refine=True [^\n]*40 features[^\n]*\.$"):
            regressor(refine=True).fit(*rows)
