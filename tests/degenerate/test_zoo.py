"""Every model of the zoo on every data set of the zoo: a finite answer, or one sentence that names what is wrong."""

import copy
import re
import warnings

import numpy as np
import pytest
from folding import every_case
from sklearn.base import is_classifier
from zoo import DATA, MODELS, NAMED_WARNINGS

SENTENCE = re.compile(r"[^\n]*\b(X|y|gamma|alpha|loss|stop|by|delta)\b[^\n]*[.?]")


def targets_for(model, y):
    """Labels of classifiers: numbers are below or above their median."""
    y = np.asarray(y)
    if not is_classifier(model) or y.dtype.kind == "U":
        return y
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    return (y > np.median(y, axis=0)).astype(int)


def assert_right(model, X, y):
    """Predictions are finite and of the right shape; probabilities go with them."""
    prediction = model.predict(X)
    assert prediction.shape == y.shape
    if not is_classifier(model):
        assert np.isfinite(prediction).all()
        return
    assert np.isin(prediction, model.classes_).all()
    p = model.predict_proba(X)
    assert p.shape == (len(y), len(model.classes_))
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], prediction)


@every_case("data", DATA)
@pytest.mark.parametrize("name", MODELS)
def test_pair(name, data):
    model = MODELS[name]()
    X, y = DATA[data]()
    y = targets_for(model, y)
    before, unfitted, refusal = (copy.deepcopy(X), y.copy()), vars(model).copy(), None
    for pattern in NAMED_WARNINGS:
        warnings.filterwarnings("ignore", pattern)
    try:
        model.fit(X, y)
    except ValueError as error:
        refusal = str(error)
    if refusal is None:
        assert_right(model, X, y)
    else:
        assert SENTENCE.fullmatch(refusal), refusal
        assert vars(model) == unfitted, "half fitted"
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
