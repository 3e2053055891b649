"""What a report says of a model in words."""

import numpy as np
import pytest

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.kernels import RBF
from kernelpursuit.report.facts import _settings
from kernelpursuit.report.remarks import remarks_on_model
from kernelpursuit.report.states import states_of


@pytest.mark.parametrize(
    ("gamma", "words"),
    [([0.0, 0.6712345, 12.0], "RBF(gamma=[0, 0.671, 12])"), (np.arange(40.0) / 4, "..."), (2.0, "RBF(gamma=2.0)")],
)
def test_arrays_are_written_as_their_values(gamma, words):
    gamma = np.asarray(gamma) if np.ndim(gamma) else gamma
    written = _settings(RBF(gamma=gamma))
    assert words in written
    assert "array" not in written
    assert "shape" not in written


def test_a_path_of_atoms_that_another_loss_has_kept_is_remarked():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = rng.random(300) < 1 / (1 + np.exp(-3 * np.sin(2 * X[:, 0])))
    words = "The squared loss has picked"
    log = KernelPursuitClassifier(random_state=0, loss="log").fit(X, y)
    assert any(words in one for one in remarks_on_model(log.model_, states_of(log, 200)))
    given = KernelPursuitClassifier(gamma=0.5, loss="log", max_atoms=10).fit(X, y)
    assert not any(words in one for one in remarks_on_model(given.model_, states_of(given, 200)))
