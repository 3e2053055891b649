"""One model for each class against the rest: what is learned for all of them is what each is fitted with."""

import numpy as np
import pandas as pd
import pytest

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.callbacks import Callback

RNG = np.random.default_rng(1)
X = RNG.normal(size=(240, 2))
LABELS = np.digitize(np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * RNG.normal(size=240), [0.3, 1.2])
SYSTEMS = [
    {"selection": "correlation"},
    {"selection": "random"},
    {"candidates": 20},
    {"candidates": "all"},
    {"penalty": "rkhs"},
    {"update": "stagewise", "stop": "max"},
    {"penalty": "ols", "loss": "squared"},
    {"penalty": "nugget", "loss": "squared"},
]


@pytest.mark.parametrize("settings", SYSTEMS, ids=str)
@pytest.mark.parametrize("loss", ["log", "squared"])
def test_systems_of_the_papers_learn_for_classes(settings, loss):
    model = KernelPursuitClassifier(
        **{"loss": loss, "multi_class": "ovr", "max_atoms": 10, "random_state": 0, **settings}
    )
    model.fit(X, LABELS)
    shares = np.bincount(LABELS) / len(LABELS)
    assert model.score(X, LABELS) > shares.max() + 0.15
    for one in model.estimators_:
        assert one.penalty_ == model.penalty_
        assert one.alpha_ == model.alpha_
        np.testing.assert_array_equal(one.kernel_.gamma, model.kernel_.gamma)


def test_each_class_knows_the_names_of_features():
    frame = pd.DataFrame(X, columns=["u", "v"])
    model = KernelPursuitClassifier(multi_class="ovr", gamma=0.5, max_atoms=5).fit(frame, LABELS)
    one = model.estimators_[0]
    assert list(one.feature_names_in_) == ["u", "v"]
    assert one.predict(frame).dtype == bool
    with pytest.raises(ValueError, match="feature names"):
        one.predict(frame[["v", "u"]])


def test_a_callback_that_is_late_loses_no_learned_atoms():
    """All atoms are known when the last stage begins: one that ends then would leave a model of one atom."""

    class Late(Callback):
        def on_stage(self, stage):
            return stage.name == "fitting all rows"

    rows = RNG.normal(size=(500, 3))
    codes = np.sin(2 * rows[:, 0]) + rows[:, 1] > 0
    settings = {"loss": "squared", "penalty": "ridge", "max_atoms": 20, "random_state": 0}
    late = KernelPursuitClassifier(**settings).fit(rows, codes, callback=Late())
    want = KernelPursuitClassifier(**settings).fit(rows, codes)
    np.testing.assert_array_equal(late.predict_proba(rows), want.predict_proba(rows))
