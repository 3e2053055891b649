"""The predicted class is the most probable one, and the one of the largest score: for any scores and any loss."""

import numpy as np
import pytest
from folding import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import plain_classifier

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.losses import Logistic, Softmax
from kernelpursuit.model.probabilities import agreeing

LOSSES = ["log", Logistic(), Softmax(), "squared", "squared_hinge", "hinge", "exponential", "tanh", "doom2"]
# Equal, equal but for the last digit, too small to be told from zero, and so large that probabilities are 0 and 1.
SCORES = st.sampled_from(
    [0.0, 5e-324, -5e-324, 1e-17, 3e-13, 1.0, 1 + 2e-16, 1 + 1e-9, -1.0, -1 - 2e-16, 40.0, 1e3, -1e3, 1e6, 1e6 + 1e-9]
)


def fitted(loss, n_classes, multi_class):
    rows = np.random.default_rng(0).normal(size=(20, 2))
    model = plain_classifier(loss=loss, multi_class=multi_class, max_atoms=2, stop="max", random_state=0)
    return model.fit(rows, np.arange(20) % n_classes)


def assert_agree(model, rows):
    predicted, margins, p = model.predict(rows), model.decision_function(rows), model.predict_proba(rows)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], predicted)
    by_score = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[by_score], predicted)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6 if rows.dtype == np.float32 else 1e-14)
    assert (p >= 0).all()
    assert (p <= 1).all()
    assert p.dtype == rows.dtype


MODELS = [(loss, n_classes, "shared") for loss in LOSSES for n_classes in (2, 3)]
# Softmax has all classes at once.
MODELS += [(loss, 3, "ovr") for loss in LOSSES if not isinstance(loss, Softmax)]


class GivenScores:
    """A fitted model with scores of one's choice."""

    def __init__(self, model, scores):
        self.model, self.given = model, scores

    def __getattr__(self, name):
        return getattr(self.model, name)

    def scores(self, X, n_threads=None):
        return self.given


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("loss", "n_classes", "multi_class"), MODELS, ids=str)
def test_any_scores(loss, n_classes, multi_class, dtype):
    model = fitted(loss, n_classes, multi_class)
    fitted_model = model.model_
    n_scores = 1 if n_classes == 2 and not isinstance(loss, Softmax) else n_classes
    rows = np.zeros((18, 2), dtype=dtype)

    @settings(max_examples=5)
    @given(st.lists(st.lists(SCORES, min_size=n_scores, max_size=n_scores), min_size=18, max_size=18))
    def check(scores):
        model.model_ = GivenScores(fitted_model, np.array(scores))
        assert_agree(model, rows)

    check()


@every_case("multi_class", ["shared", "ovr"])
@every_case("dtype", [np.float64, np.float32])
@every_case("loss", ["log", "squared", "hinge", "tanh", "doom2"])
def test_rows_far_from_every_centre(loss, dtype, multi_class):
    """In 2,000 features all kernel values are next to zero, and so are the differences between classes."""
    rng = np.random.default_rng(1)
    X, new = (rng.normal(size=(n, 2000)).astype(dtype) for n in (30, 60))
    model = KernelPursuitClassifier(
        loss=loss, gamma=1 / 300, multi_class=multi_class, max_atoms=4, stop="max", random_state=0
    )
    assert_agree(model.fit(X, np.arange(30) % 3), new)


def test_only_rows_that_disagree_are_changed():
    p = np.array([[0.2, 0.5, 0.3], [0.25, 0.25, 0.5], [0.4, 0.4, 0.2]])
    got = agreeing(p, np.array([1, 2, 1]))
    np.testing.assert_array_equal(got[:2], p[:2])
    assert got[2].argmax() == 1
    np.testing.assert_allclose(got[2], p[2], rtol=1e-15)
    assert agreeing(p, p.argmax(axis=1)) is p
