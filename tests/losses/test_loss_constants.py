"""What the targets decide: the best constant, widths left at "auto"; and losses that users bring."""

from dataclasses import dataclass

import numpy as np
import pytest
from folding import every_case
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from kernelpursuit.losses import (
    DoomII,
    Exponential,
    Huber,
    Logistic,
    Loss,
    Poisson,
    Quantile,
    SmoothHinge,
    Softmax,
    Squared,
    SquaredHinge,
    SquaredTanh,
    as_loss,
)
from kernelpursuit.losses.base import first_minimum
from kernelpursuit.losses.shapes import weighted_quantile

CONVEX = [
    Squared(),
    Logistic(),
    Exponential(),
    SquaredHinge(),
    SmoothHinge(),
    SmoothHinge(width=2.5),
    Huber(delta=0.7),
    Quantile(q=0.3, width=0.2),
    Quantile(q=0.9, width=0.01),
    Poisson(),
]


def draw(loss, rng, n_rows=60, n_outputs=2):
    """Random targets and weights, some of them 0."""
    weights = rng.choice([0.0, 0.3, 1.0, 2.5], size=n_rows)
    if loss.kind == "margin":
        return np.where(rng.random((n_outputs, n_rows)) < rng.uniform(0.2, 0.8), 1.0, -1.0), weights
    if loss.name == "poisson":
        return rng.poisson(3.0, size=(n_outputs, n_rows)).astype(float), weights
    return 3 * rng.normal() + rng.normal(size=(n_outputs, n_rows)) ** 3, weights


def cost_of(loss, y, weights, constant):
    return weights @ loss.value(y, np.tile(constant[:, None], y.shape[1]))


def slopes_of(loss, y, weights, constant):
    return loss.gradient(y, np.tile(constant[:, None], y.shape[1])) @ weights


@pytest.mark.parametrize("own", [True, False], ids=["its own", "default"])
@pytest.mark.parametrize("loss", CONVEX, ids=repr)
@given(seed=st.integers(0, 10**6))
def test_start_is_the_best_constant(loss, own, seed):
    """Closed forms and the search that user losses have find what scipy finds."""
    y, weights = draw(loss, np.random.default_rng(seed))
    start = loss.start(y, weights) if own else Loss.start(loss, y, weights)
    assert start.shape == (2,)
    assert np.abs(slopes_of(loss, y, weights, start)).max() <= 1e-10 * weights.sum() * (1 + np.abs(y).max())
    for output in range(2):
        row = y[output : output + 1]
        reach = np.abs(row).max() + 5

        def cost(score, row=row):
            return cost_of(loss, row, weights, np.array([score]))

        best = minimize_scalar(cost, bounds=(-reach, reach), method="bounded", options={"xatol": 1e-9})
        assert cost(start[output]) <= best.fun * (1 + 1e-12)


@pytest.mark.parametrize("loss", [SquaredTanh(), SquaredTanh(target=0.9)], ids=repr)
@given(seed=st.integers(0, 10**6))
def test_start_where_the_loss_is_not_convex(loss, seed):
    y, weights = draw(loss, np.random.default_rng(seed))
    for start in (loss.start(y, weights), Loss.start(loss, y, weights)):
        np.testing.assert_allclose(slopes_of(loss, y, weights, start), 0, atol=1e-10 * weights.sum())
        assert cost_of(loss, y, weights, start) <= cost_of(loss, y, weights, np.zeros(2))
        grid = np.linspace(-3, 3, 601)
        for output in range(2):
            row = y[output : output + 1]
            best = min(cost_of(loss, row, weights, np.array([score])) for score in grid)
            assert cost_of(loss, row, weights, start[[output]]) <= best * (1 + 1e-12)


def test_start_of_doom2_is_zero_since_no_constant_is_best():
    y = np.array([[1.0, 1.0, -1.0]])
    loss, weights = DoomII(), np.ones(3)
    costs = [cost_of(loss, y, weights, np.array([score])) for score in (0.0, 1.0, 3.0, 6.0)]
    assert (np.diff(costs) < 0).all()
    np.testing.assert_array_equal(loss.start(y, weights), [0.0])


def test_start_of_softmax_is_the_best_constant():
    rng = np.random.default_rng(0)
    loss, y, weights = Softmax(), np.eye(4)[rng.choice(4, p=[0.1, 0.2, 0.3, 0.4], size=80)].T, rng.uniform(size=80)
    start = loss.start(y, weights)
    best = minimize(lambda scores: cost_of(loss, y, weights, scores), np.zeros(4), options={"gtol": 1e-9})
    assert cost_of(loss, y, weights, start) <= best.fun * (1 + 1e-12)
    assert start.sum() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(loss.probabilities(start[:, None])[:, 0], y @ weights / weights.sum(), rtol=1e-12)
    # The search of user losses gets there too, output by output.
    searched = Loss.start(loss, y, weights)
    np.testing.assert_allclose(searched - searched.mean(), start, atol=1e-8)


@every_case("loss", [loss for loss in CONVEX if loss.kind == "real"] + [SquaredTanh()], ids=repr)
def test_weights_count_like_copies(loss):
    rng = np.random.default_rng(1)
    y, _ = draw(loss, rng, n_rows=30)
    times = rng.integers(0, 4, size=30)
    copies = np.repeat(y, times, axis=1)
    np.testing.assert_allclose(
        loss.start(y, times.astype(float)), loss.start(copies, np.ones(times.sum())), rtol=1e-9, atol=1e-12
    )
    for auto in (Huber(), Quantile(q=0.8)):
        one, other = auto.resolve(y, times.astype(float)), auto.resolve(copies, np.ones(times.sum()))
        assert vars(one) == pytest.approx(vars(other), rel=1e-12)


@every_case("loss", ["tanh", "logistic", "exponential", "doom2", "squared_hinge", "hinge"])
@every_case("code", [-1.0, 1.0])
def test_start_with_one_class_only(loss, code):
    y, weights = np.full((1, 5), code), np.ones(5)
    for start in (as_loss(loss).start(y, weights), Loss.start(as_loss(loss), y, weights)):
        assert 0 <= code * start[0] < 40
    assert cost_of(as_loss(loss), y, weights, start) < cost_of(as_loss(loss), y, weights, np.zeros(1))


def test_start_with_nothing_counted():
    """All counts 0, and a class that has no rows: finite scores that predict next to nothing."""
    loss = Poisson()
    assert 0 < loss.mean(loss.start(np.zeros((1, 4)), np.ones(4)))[0] < 1e-15
    start = Softmax().start(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.ones(2))
    assert Softmax().probabilities(start[:, None])[:, 0] == pytest.approx([0.5, 0.5, 0], abs=1e-15)


@every_case("loss", [Huber(delta=1e-7), Quantile(q=0.25, width=1e-8)], ids=repr)
@every_case("offset", [0.0, 1.0, -1e6])
def test_start_finds_small_spreads_far_away(loss, offset):
    rng = np.random.default_rng(2)
    y = offset + 1e-7 * rng.normal(size=(1, 41))
    start = loss.start(y, np.ones(41))
    assert y.min() <= start[0] <= y.max()
    slope = slopes_of(loss, y, np.ones(41), start)[0]
    # Beside 1e6, a spread of 1e-7 has a thousand numbers only.
    assert abs(slope) <= (1e-10 if offset == 0 else 0.5)


def test_huber_resolves_delta_from_the_median_distance():
    y = np.array([[1.0, 2.0, 3.0, 4.0, 100.0]])
    resolved = Huber().resolve(y, np.ones(5))
    assert resolved.delta == pytest.approx(1.345 * 1.4826 * 1.0)
    assert Huber().resolve(y, np.array([0.0, 0, 0, 1, 1])).delta == pytest.approx(1.345 * 1.4826 * 48)
    assert Huber().resolve(np.array([[5.0, 5.0, 5.0, 9.0]]), np.ones(4)) == Huber(delta=1.0)
    assert Huber(delta=3.0).resolve(y, np.ones(5)) == Huber(delta=3.0)
    # Outputs are centred each at its own median.
    assert Huber().resolve(np.vstack([y, y + 1000]), np.ones(5)).delta == pytest.approx(resolved.delta)


def test_quantile_resolves_width_from_the_quartiles():
    y = np.arange(101.0)[None]
    assert Quantile(q=0.9).resolve(y, np.ones(101)) == Quantile(q=0.9, width=0.05 * 50, unit=50.0)
    assert Quantile(width=3.0).resolve(y, np.ones(101)) == Quantile(width=3.0, unit=50.0)
    assert Quantile(width=3.0, unit=1.0).resolve(y, np.ones(101)) == Quantile(width=3.0, unit=1.0)
    # Most targets are equal: the mean distance of 8 / 10 takes the place of the quartiles.
    tied = np.array([[0.0] * 9 + [8.0]])
    assert Quantile().resolve(tied, np.ones(10)).width == pytest.approx(0.05 * 0.8)
    assert Quantile().resolve(np.ones((1, 4)), np.ones(4)).width == 0.05


@every_case("loss", [Huber(), Quantile()], ids=repr)
@every_case("scale", [1e-6, 2.0, 1e6])
def test_resolved_widths_follow_the_unit(loss, scale):
    y, weights = draw(loss, np.random.default_rng(3))
    one, other = (vars(loss.resolve(factor * y, weights)) for factor in (1.0, scale))
    key = "delta" if "delta" in one else "width"
    assert other[key] == pytest.approx(scale * one[key], rel=1e-9)


@every_case("method", ["value", "gradient", "curvature", "start"])
@every_case(("loss", "name"), [(Huber(), "delta"), (Quantile(), "width")])
def test_unresolved_losses_say_so(loss, name, method):
    with pytest.raises(ValueError, match=f"{name}='auto' depends on the targets; call resolve"):
        getattr(loss, method)(np.zeros((1, 2)), np.zeros(2) if method == "start" else np.zeros((1, 2)))


@given(seed=st.integers(0, 10**6), q=st.floats(0.05, 0.95))
def test_rounded_quantile_is_within_half_a_width(seed, q):
    """The bias that the docstring admits, and no more."""
    y, weights = draw(Quantile(), np.random.default_rng(seed), n_outputs=1)
    loss = Quantile(q=q).resolve(y, weights)
    start = loss.start(y, weights)[0]
    order = np.argsort(y[0])
    share = np.cumsum(weights[order]) / weights.sum()
    lower, upper = y[0, order[np.searchsorted(share, q + np.array([-1e-9, 1e-9]))]]
    assert lower - loss.width / 2 - 1e-9 <= start <= upper + loss.width / 2 + 1e-9


def test_rounded_quantile_is_that_of_blurred_targets():
    y, loss = np.random.default_rng(4).normal(size=(1, 50)), Quantile(q=0.7, width=0.6)
    blurred = (y[0, :, None] + np.linspace(-0.3, 0.3, 20001)).ravel()
    assert loss.start(y, np.ones(50))[0] == pytest.approx(np.quantile(blurred, 0.7), abs=1e-4)


@every_case(
    ("values", "weights", "q", "expected"),
    [
        ([3.0, 1.0, 2.0], [1.0, 1.0, 1.0], 0.5, 2.0),
        ([4.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0], 0.5, 2.5),
        ([4.0, 1.0, 2.0], [1.0, 1.0, 0.0], 0.5, 2.5),
        ([4.0, 1.0, 2.0], [0.1, 0.1, 0.1], 0.99, 4.0),
        ([4.0, 1.0, 2.0], [5.0, 1.0, 1.0], 0.5, 4.0),
        ([7.0], [0.2], 0.3, 7.0),
    ],
)
def test_weighted_quantile(values, weights, q, expected):
    assert weighted_quantile(np.array(values), np.array(weights), q) == expected


class Cauchy(Loss):
    """A user's loss that is not convex: log(1 + r²)."""

    def value(self, y, f):
        return np.log1p(np.square(f - y)).sum(axis=0)

    def gradient(self, y, f):
        return 2 * (f - y) / (1 + np.square(f - y))

    def curvature(self, y, f):
        return (2 / (1 + np.square(f - y))).max(axis=0)


@dataclass(frozen=True, repr=False)
class Power(Loss):
    """A user's loss with a parameter, which overflows far out."""

    rate: float = 1.0
    name = "power"

    def value(self, y, f):
        return (np.exp(self.rate * f) - y * f).sum(axis=0)

    def gradient(self, y, f):
        return self.rate * np.exp(self.rate * f) - y

    def curvature(self, y, f):
        return np.full(f.shape[1], 1e-9)  # far too small, so that the first step leaps


def test_a_loss_of_a_user_has_the_defaults():
    loss, y = Cauchy(), np.array([[0.0, 0.1, -0.2, 40.0], [5.0, 5.2, 4.9, -30.0]])
    weights = np.array([1.0, 2.0, 1.0, 1.0])
    assert as_loss(loss) is loss
    assert repr(loss) == "Cauchy()"
    assert (loss.kind, loss.name) == ("real", "custom")
    assert loss == Cauchy() != Squared()
    assert loss.resolve(y, weights) is loss
    assert loss.check_targets(y) is None
    assert loss.probabilities(y) is None
    start = loss.start(y, weights)
    np.testing.assert_allclose(slopes_of(loss, y, weights, start), 0, atol=1e-9)
    np.testing.assert_allclose(start, [0, 5], atol=0.3)


@given(seed=st.integers(0, 10**6))
def test_search_ends_in_a_minimum_no_worse_than_zero(seed):
    """Also where there are several minima."""
    rng = np.random.default_rng(seed)
    y, weights = rng.choice([1.0, 5.0, 30.0], size=(1, 12)) * rng.normal(size=(1, 12)), rng.uniform(size=12)
    start = Cauchy().start(y, weights)
    cost = cost_of(Cauchy(), y, weights, start)
    assert cost <= cost_of(Cauchy(), y, weights, np.zeros(1)) * (1 + 1e-9)
    assert abs(slopes_of(Cauchy(), y, weights, start)[0]) <= 1e-8
    for away in (-1e-3, 1e-3):
        assert cost <= cost_of(Cauchy(), y, weights, start + away) * (1 + 1e-12)


def test_search_does_not_leap_over_a_hill():
    """The first step of 7 leads to where the slope still falls, but higher up."""
    assert first_minimum(lambda x: (0.3 * x - np.sin(x), 0.3 - np.cos(x)), 0.0, 0.1, 1e-14) == pytest.approx(
        np.arccos(0.3)
    )


@pytest.mark.parametrize("curvature", [0.0, np.nan, np.inf])
def test_search_needs_no_curvature(curvature):
    assert first_minimum(lambda x: ((x - 50) ** 2, 2 * (x - 50)), 0.0, curvature, 1e-14) == pytest.approx(50)


def test_search_comes_back_from_overflow():
    loss = Power(rate=2.0)
    y = np.array([[3.0, 5.0]])
    np.testing.assert_allclose(loss.start(y, np.ones(2)), [np.log(4.0 / 2) / 2], rtol=1e-9)
    assert repr(loss) == "Power(rate=2.0)"
    assert loss != Power()


@pytest.mark.parametrize("method", ["value", "gradient", "curvature"])
def test_what_a_loss_must_have(method):
    class Empty(Loss):
        pass

    with pytest.raises(NotImplementedError, match=rf"Empty has no method {method}\(y, f\); a loss needs one."):
        getattr(Empty(), method)(np.zeros((1, 1)), np.zeros((1, 1)))
