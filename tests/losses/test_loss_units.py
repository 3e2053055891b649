"""Losses of numbers do not depend on the unit of the targets, and say so of y where that leaves the range."""

import numpy as np
import pytest

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.losses import Quantile
from kernelpursuit.pursuit import Objective

RNG = np.random.default_rng(5)
X = RNG.uniform(-2, 2, size=(60, 2))
Y = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=60)


def fitted(loss, y, gamma="scale"):
    return KernelPursuitRegressor(gamma=gamma, loss=loss, max_atoms=8, random_state=0, n_jobs=1).fit(X, y)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", Quantile(q=0.8)], ids=str)
@pytest.mark.parametrize("unit", [1e-100, 1e-4, 7.0, 1e100])
@pytest.mark.parametrize("gamma", ["scale", "learn"])
def test_targets_in_other_units_are_predicted_in_them(loss, unit, gamma):
    here, there = fitted(loss, Y, gamma), fitted(loss, unit * Y, gamma)
    assert here.n_atoms_ == there.n_atoms_
    np.testing.assert_allclose(there.predict(X) / unit, here.predict(X), rtol=0, atol=1e-6)
    assert here.score(X, Y) > 0.6


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile"])
@pytest.mark.parametrize("size", [1e-200, 1e200, 1.7e308])
@pytest.mark.parametrize("gamma", ["scale", "learn"])
def test_targets_out_of_range_are_refused_for_what_they_are(loss, size, gamma):
    y = size * np.clip(Y / np.abs(Y).max(), -1, 1)
    with pytest.raises(ValueError, match=r"^y is of the size .*multiply y by a constant first\.$"):
        fitted(loss, y, gamma)


def test_the_unit_multiplies_the_sum_of_losses():
    y, scores, weights = RNG.normal(size=(1, 9)), RNG.normal(size=(1, 9)), RNG.uniform(1, 2, size=9)
    one, five = (Objective(Quantile(width=0.1, unit=unit), y, weights) for unit in (1.0, 5.0))
    assert five.value(scores) == pytest.approx(5 * one.value(scores))
    np.testing.assert_allclose(five.gradient(scores), 5 * one.gradient(scores))
    np.testing.assert_allclose(five.working_weights(scores), 5 * one.working_weights(scores))


@pytest.mark.parametrize("unit", [0.0, -1.0, "wide"])
def test_a_unit_that_is_none_is_refused(unit):
    with pytest.raises(ValueError, match=r"^unit="):
        Quantile(unit=unit)
