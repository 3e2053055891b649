"""What every loss keeps to: derivatives, curvature, extreme scores, shapes, names."""

import pickle
import re

import numpy as np
import pytest
from folding import every_case
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import kernelpursuit.losses
from kernelpursuit.losses import (
    BY_NAME,
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

# Every loss as it works after `resolve`, and some with other settings.
LOSSES = [
    Squared(),
    SquaredTanh(),
    SquaredTanh(target=0.9),
    Logistic(),
    Exponential(),
    DoomII(),
    SquaredHinge(),
    SmoothHinge(),
    SmoothHinge(width=1.7),
    Huber(delta=0.8),
    Quantile(width=0.4, unit=1.0),
    Quantile(q=0.9, width=0.1, unit=1.0),
    Softmax(),
    Poisson(),
]
SEPARATE = [loss for loss in LOSSES if loss.kind != "classes"]
MARGIN = [loss for loss in LOSSES if loss.kind == "margin"]


def targets(loss, n_outputs, n_rows, seed=0):
    """Random targets of a kind that the loss accepts."""
    rng = np.random.default_rng(seed)
    if loss.kind == "margin":
        return rng.choice([-1.0, 1.0], size=(n_outputs, n_rows))
    if loss.kind == "classes":
        return np.eye(n_outputs)[rng.integers(n_outputs, size=n_rows)].T
    if loss.name == "poisson":
        return rng.poisson(2.0, size=(n_outputs, n_rows)).astype(float)
    return rng.normal(size=(n_outputs, n_rows))


def outputs(loss):
    return (2, 4) if loss.kind == "classes" else (1, 3)


def test_all_losses_are_tried():
    assert {loss.name for loss in LOSSES} == set(BY_NAME)


@every_case("spread", [0.5, 4.0])
@every_case("loss", LOSSES, ids=repr)
def test_gradient_is_the_difference_quotient(loss, spread):
    for n_outputs in outputs(loss):
        y = targets(loss, n_outputs, 200)
        f = spread * np.random.default_rng(1).normal(size=y.shape)
        step = 1e-6
        gradient = loss.gradient(y, f)
        assert gradient.shape == y.shape
        for output in range(n_outputs):
            up, down = f.copy(), f.copy()
            up[output] += step
            down[output] -= step
            quotient = (loss.value(y, up) - loss.value(y, down)) / (2 * step)
            # The quotient knows the slope to rounding of the value / step; at kinks of the slope, to step.
            slack = 1e-9 * (1 + np.abs(loss.value(y, f))) + 2e-5 * np.minimum(1, np.abs(gradient[output]) + 0.1)
            assert (np.abs(gradient[output] - quotient) <= slack).all()


@every_case(
    ("loss", "is_exact"),
    [
        (Squared(), lambda y, f: f == f),
        (Logistic(), lambda y, f: y * f > -2),
        (Exponential(), lambda y, f: f == f),
        (Poisson(), lambda y, f: np.exp(f) > y / 5),
        (SquaredHinge(), lambda y, f: np.abs(1 - y * f) > 1e-3),
        (SmoothHinge(), lambda y, f: np.abs(1 - y * f) < 0.249),
        (Huber(delta=0.8), lambda y, f: np.abs(y - f) < 0.799),
        (Quantile(width=0.4), lambda y, f: np.abs(y - f) < 0.199),
        (DoomII(), lambda y, f: y * f > 0.2),
    ],
    ids=lambda value: repr(value) if isinstance(value, Loss) else "",
)
def test_curvature_is_the_second_derivative_where_it_says_so(loss, is_exact):
    y = targets(loss, 1, 600)
    f = 2 * np.random.default_rng(2).normal(size=y.shape)
    exact = is_exact(y, f)[0]
    assert exact.sum() > 30
    second = (loss.gradient(y, f + 1e-5) - loss.gradient(y, f - 1e-5))[0] / 2e-5
    np.testing.assert_allclose(loss.curvature(y, f)[exact], second[exact], rtol=1e-5, atol=1e-8)


def above(loss, y, f, s):
    """How far the parabola at f lies above the loss after a step s, and the size of the terms."""
    linear, quadratic = (loss.gradient(y, f) * s).sum(axis=0), loss.curvature(y, f) * np.square(s).sum(axis=0) / 2
    before, after = loss.value(y, f), loss.value(y, f + s)
    return before + linear + quadratic - after, np.abs(linear) + quadratic + before + after


@every_case("loss", LOSSES, ids=repr)
def test_parabola_lies_above_near_by(loss):
    for n_outputs in outputs(loss):
        y = targets(loss, n_outputs, 500)
        rng = np.random.default_rng(3)
        f, s = 2 * rng.normal(size=y.shape), 1e-3 * rng.normal(size=y.shape)
        gap, size = above(loss, y, f, s)
        # Third derivatives of these losses are at most their gradients and curvatures, times a few.
        third = 10 * (np.abs(loss.gradient(y, f)).max(axis=0) + loss.curvature(y, f))
        kink = 1.0 if loss.name in ("squared_hinge", "hinge") else 0.0
        entering = kink * np.square(s).sum(axis=0) * (np.abs(1 - y * f).min(axis=0) < loss_edge(loss) + 0.01)
        assert (gap >= -third * np.abs(s).max(axis=0) ** 3 - 2 * entering - 1e-13 * size).all()


def loss_edge(loss):
    """Distance from margin 1 where a hinge leaves zero."""
    return loss.width / 2 if isinstance(loss, SmoothHinge) else 0.0


@pytest.mark.parametrize(
    "loss",
    [Squared(), Huber(delta=0.8), Quantile(q=0.2, width=0.4), SquaredHinge(), SmoothHinge(), SmoothHinge(width=1.7)],
    ids=repr,
)
@given(seed=st.integers(0, 10**6), reach=st.sampled_from([0.1, 1.0, 30.0]), n_outputs=st.integers(1, 3))
def test_parabola_lies_above_everywhere(loss, seed, reach, n_outputs):
    rng = np.random.default_rng(seed)
    y = targets(loss, n_outputs, 100, seed)
    f, s = reach * rng.normal(size=y.shape), reach * rng.normal(size=y.shape)
    gap, size = above(loss, y, f, s)
    rows = np.ones(len(gap), dtype=bool)
    if loss.kind == "margin":
        # An output whose loss is zero tells nothing of what lies behind.
        rows = (loss.gradient(y, f) != 0).all(axis=0)
    assert (gap[rows] >= -1e-12 * size[rows]).all()


@every_case("loss", LOSSES, ids=repr)
def test_steps_are_finite_and_sensible(loss):
    """A row asks for a finite step, no more than a hundred beyond the scores and targets there are."""
    for n_outputs in outputs(loss):
        y = targets(loss, n_outputs, 401)
        for f in (np.linspace(-1e3, 1e3, 401) * np.ones_like(y), np.linspace(-40, 40, 401) * np.ones_like(y)):
            f = f * np.where(np.arange(n_outputs) % 2, -1.0, 1.0)[:, None]
            gradient, curvature = loss.gradient(y, f), loss.curvature(y, f)
            moves = (gradient != 0).any(axis=0)
            assert (curvature[moves] > 0).all()
            steps = np.abs(gradient[:, moves] / curvature[moves]).max(axis=0)
            assert (steps <= 2.1 * (50 + np.abs(f[:, moves]).max(axis=0))).all()


@every_case("score", [1e3, -1e3, 0.0, 700.0, -380.0])
@every_case("loss", LOSSES, ids=repr)
def test_extreme_scores_give_finite_numbers(loss, score):
    """Warnings are errors, so overflow would be seen."""
    for n_outputs in outputs(loss):
        y = targets(loss, n_outputs, 20)
        for f in (np.full(y.shape, score), score * y):
            for answer in (loss.value(y, f), loss.gradient(y, f), loss.curvature(y, f), loss.mean(f)):
                assert np.isfinite(answer).all()
            assert (loss.value(y, f) >= 0).all()
            assert (loss.curvature(y, f) >= 0).all()
            if loss.probabilities(f) is not None:
                np.testing.assert_allclose(loss.probabilities(f).sum(axis=0), 1, rtol=1e-12)


@every_case("loss", LOSSES, ids=repr)
def test_shapes_and_arguments_are_kept(loss):
    for n_outputs in outputs(loss):
        for n_rows in (1, 7):
            y = targets(loss, n_outputs, n_rows)
            f = np.random.default_rng(4).normal(size=y.shape)
            weights = np.ones(n_rows)
            for array in (y, f, weights):
                array.flags.writeable = False
            assert loss.value(y, f).shape == loss.curvature(y, f).shape == (n_rows,)
            assert loss.gradient(y, f).shape == loss.mean(f).shape == y.shape
            assert loss.start(y, weights).shape == (n_outputs,)
            assert loss.resolve(y, weights) == loss
            loss.check_targets(y)


@every_case("loss", SEPARATE, ids=repr)
def test_outputs_add_up(loss):
    y = targets(loss, 3, 50)
    f = 2 * np.random.default_rng(5).normal(size=y.shape)
    alone = [slice(output, output + 1) for output in range(3)]
    np.testing.assert_allclose(loss.value(y, f), sum(loss.value(y[o], f[o]) for o in alone), rtol=1e-13)
    np.testing.assert_array_equal(loss.gradient(y, f), np.vstack([loss.gradient(y[o], f[o]) for o in alone]))
    np.testing.assert_array_equal(loss.curvature(y, f), np.max([loss.curvature(y[o], f[o]) for o in alone], axis=0))


MARGINS = np.array([[-2.0, -0.3, 0.0, 0.6, 1.0, 3.0]])
FORMULAS = [
    (SquaredTanh(), lambda m: (0.65 - np.tanh(m)) ** 2),
    (Logistic(), lambda m: np.log2(1 + np.exp(-2 * m))),
    (Exponential(), lambda m: np.exp(-m)),
    (DoomII(), lambda m: 1 - np.tanh(m)),
    (SquaredHinge(), lambda m: np.maximum(0, 1 - m) ** 2),
    (SmoothHinge(width=1e-9), lambda m: np.maximum(0, 1 - m)),
    (Squared(), lambda m: (1 - m) ** 2),
]


@every_case(("loss", "formula"), FORMULAS, ids=lambda value: repr(value) if isinstance(value, Loss) else "")
@every_case("code", [-1.0, 1.0])
def test_formulas_of_kmp(loss, formula, code):
    """KMP section 3.2 and figure 5, as they are printed."""
    y = np.full(MARGINS.shape, code)
    np.testing.assert_allclose(loss.value(y, code * MARGINS), formula(MARGINS)[0], rtol=1e-12, atol=1e-9)


@every_case("loss", MARGIN, ids=repr)
def test_margin_losses_fall_with_the_margin(loss):
    m = np.linspace(-1e3, 1e3, 20001)[None]
    value = loss.value(np.ones_like(m), m)
    falls = np.diff(value) <= 0
    if isinstance(loss, SquaredTanh):
        # It rises again beyond its target: that is what keeps it from saturating.
        falls = falls[m[0, 1:] < np.arctanh(loss.target)]
        assert value[-1] == pytest.approx((1 - loss.target) ** 2)
        assert value[0] == pytest.approx((1 + loss.target) ** 2)
    else:
        assert value[-1] == 0
    assert falls.all()
    assert loss.gradient(np.ones_like(m), m)[0, -1] == 0


def test_limits():
    far = np.array([[-1e3]])
    up = np.ones((1, 1))
    assert Logistic().value(up, far)[0] == pytest.approx(2e3 / np.log(2))
    assert DoomII().value(up, far)[0] == 2
    assert SmoothHinge().value(up, far)[0] == 1001
    assert Softmax().value(np.array([[1.0], [0.0]]), np.array([[-1e3], [1e3]]))[0] == 2e3
    assert Quantile(q=0.9, width=0.1).value(up, far)[0] == pytest.approx(0.9 * 1001)
    assert Quantile(q=0.9, width=0.1).value(up, -far)[0] == pytest.approx(0.1 * 999)
    assert Huber(delta=2.0).value(up, far)[0] == 4 * 1001 - 4


@pytest.mark.parametrize(("loss", "edge"), [(Exponential(), -30.0), (Poisson(), 50.0)], ids=repr)
def test_continued_exponential_has_no_jump(loss, edge):
    y = np.ones((1, 1))
    inside, outside = (np.array([[edge * (1 + sign * 1e-12)]]) for sign in (-1, 1))
    for question in (loss.value, loss.gradient, loss.curvature):
        np.testing.assert_allclose(question(y, inside), question(y, outside), rtol=1e-9)
    for score in (1.1 * edge, 4 * edge):
        f = np.array([[score]])
        quotient = (loss.value(y, f + 1e-3) - loss.value(y, f - 1e-3)) / 2e-3
        np.testing.assert_allclose(loss.gradient(y, f)[0], quotient, rtol=1e-6)
    # One step of Newton leads back from anywhere beyond.
    far = np.array([[np.sign(edge) * 1e3]])
    assert far - loss.gradient(y, far) / loss.curvature(y, far) == pytest.approx(edge - np.sign(edge))


def test_hinge_is_rounded_over_its_width_only():
    loss, y = SmoothHinge(width=0.5), np.ones((1, 4))
    f = np.array([[0.5, 0.75, 1.25, 2.0]])
    np.testing.assert_array_equal(loss.value(y, f), [0.5, 0.25, 0, 0])
    np.testing.assert_array_equal(loss.gradient(y, f), [[-1, -1, 0, 0]])
    assert loss.value(y[:, :1], y[:, :1])[0] == 0.5 / 8


def test_huber_is_squared_inside():
    rng = np.random.default_rng(6)
    y, f = rng.uniform(-1, 1, size=(2, 3, 40))
    for question in ("value", "gradient", "curvature"):
        np.testing.assert_allclose(
            getattr(Huber(delta=2.0), question)(y, f), getattr(Squared(), question)(y, f), rtol=1e-13
        )


def test_poisson_is_half_the_deviance():
    y, f = np.array([[0.0, 1.0, 7.0]]), np.array([[0.3, -1.0, 2.0]])
    mu = np.exp(f[0])
    expected = [mu[0], np.log(1 / mu[1]) - 1 + mu[1], 7 * np.log(7 / mu[2]) - 7 + mu[2]]
    np.testing.assert_allclose(Poisson().value(y, f), expected, rtol=1e-12)
    np.testing.assert_array_equal(Poisson().mean(f)[0], mu)
    assert Poisson().value(y[:, 1:], np.log(y[:, 1:])) == pytest.approx([0, 0], abs=1e-14)
    # From far below, one step leads to log y.
    far = np.array([[-1e3]])
    count = np.array([[7.0]])
    assert far - Poisson().gradient(count, far) / Poisson().curvature(count, far) == pytest.approx(np.log(7.0))


def test_probabilities_of_logistic():
    f = np.array([[-0.7, 0.0, 2.0]])
    p = Logistic().probabilities(f)
    np.testing.assert_allclose(p, [1 - expit(2 * f[0]), expit(2 * f[0])], rtol=1e-12)
    # They are what the loss is the likelihood of, in bits.
    for row, code in enumerate((-1.0, 1.0)):
        np.testing.assert_allclose(-np.log2(p[row]), Logistic().value(np.full_like(f, code), f), rtol=1e-12)
    several = np.random.default_rng(7).normal(size=(3, 5))
    ones = expit(2 * several)
    np.testing.assert_allclose(Logistic().probabilities(several), ones / ones.sum(axis=0), rtol=1e-12)


def test_probabilities_of_softmax():
    f = np.random.default_rng(8).normal(size=(4, 9))
    p = Softmax().probabilities(f)
    np.testing.assert_allclose(p, np.exp(f) / np.exp(f).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(Softmax().probabilities(f + 900), p, rtol=1e-12)
    for c in range(4):
        y = np.zeros_like(f)
        y[c] = 1
        np.testing.assert_allclose(Softmax().value(y, f), -np.log(p[c]), rtol=1e-12)


def test_softmax_curvature_bounds_the_hessian():
    f = 2 * np.random.default_rng(9).normal(size=(5, 200))
    y = targets(Softmax(), 5, 200)
    for p, c in zip(Softmax().probabilities(f).T, Softmax().curvature(y, f)):
        largest = np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1]
        assert largest * (1 - 1e-12) <= c <= 0.5


def test_softmax_of_two_classes_is_logistic():
    f = np.random.default_rng(10).normal(size=(1, 30))
    y = targets(Logistic(), 1, 30)
    codes = np.vstack([y < 0, y > 0]).astype(float)
    np.testing.assert_allclose(
        Softmax().value(codes, np.vstack([-f, f])) / np.log(2), Logistic().value(y, f), rtol=1e-12
    )


@every_case("loss", [loss for loss in LOSSES if loss.name not in ("logistic", "softmax")], ids=repr)
def test_other_scores_are_no_probabilities(loss):
    assert loss.probabilities(np.zeros((2, 3))) is None


@every_case("loss", [loss for loss in LOSSES if loss.name != "poisson"], ids=repr)
def test_scores_are_predictions(loss):
    f = np.random.default_rng(11).normal(size=(2, 3))
    np.testing.assert_array_equal(loss.mean(f), f)


@every_case(
    ("loss", "y", "sentence"),
    [
        *((loss, [[0.0, 1.0]], f"loss='{loss.name}' needs classes.*-1 and \\+1; code") for loss in MARGIN),
        (Logistic(), [[-1.0, 1.0], [1.0, np.nan]], "-1 and \\+1"),
        (Poisson(), [[2.0, -1.0]], "loss='poisson' needs counts.*negative"),
        (Poisson(), [[2.0, 1e22]], "loss='poisson' needs counts up to 5e21.*unit"),
        (Softmax(), [[1.0, 0.0], [1.0, 1.0]], "loss='softmax'.*1 for its class"),
        (Softmax(), [[0.5], [0.5]], "loss='softmax'.*1 for its class"),
        (Softmax(), [[1.0, 1.0]], "loss='softmax'.*two outputs"),
    ],
)
def test_targets_outside_the_domain_are_refused(loss, y, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        loss.check_targets(np.array(y))
    assert re.fullmatch(r"[^\n]*\.", str(refusal.value))


@pytest.mark.parametrize("loss", [Squared(), Huber(), Quantile()], ids=repr)
def test_real_losses_take_any_number(loss):
    assert loss.check_targets(np.array([[-1e9, 0.0, 0.3]])) is None


@every_case(
    ("make", "sentence"),
    [
        (lambda: SquaredTanh(target=1.0), "target=1.0 is too large; give a number between 0 and 1"),
        (lambda: SquaredTanh(target=0), "target=0 is too small"),
        (lambda: SmoothHinge(width=0), "width=0 is too small"),
        (lambda: Huber(delta=-1.0), "delta=-1.0 is too small"),
        (lambda: Huber(delta="mad"), "delta='mad' is not known; give a number above 0, or 'auto'"),
        (lambda: Huber(delta=None), "delta=None is not usable"),
        (lambda: Quantile(q=1), "q=1 is too large; give a number between 0 and 1"),
        (lambda: Quantile(q=0.0), "q=0.0 is too small"),
        (lambda: Quantile(width="wide"), "width='wide' is not known"),
        (lambda: as_loss("logistik"), "loss='logistik' is not known; did you mean 'logistic'"),
        (lambda: as_loss(3), "loss=3 is not known; use one of 'squared', 'tanh'.*'poisson'"),
        (lambda: as_loss(Huber), r"loss=Huber is a class; call it, as in loss=Huber\(\)"),
    ],
)
def test_settings_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@every_case("name", BY_NAME)
def test_losses_by_name(name):
    loss = as_loss(name)
    assert loss.name == name
    assert type(loss) is BY_NAME[name]
    assert as_loss(loss) is loss
    assert repr(loss) == f"{type(loss).__name__}()"
    assert type(loss).__name__ in kernelpursuit.losses.__all__


def test_losses_are_values():
    assert repr(Quantile(q=0.9)) == "Quantile(q=0.9)"
    assert repr(SmoothHinge(width=0.5)) == "SmoothHinge()"
    assert Huber(delta=2.0) == Huber(delta=2.0) != Huber()
    assert hash(Huber(delta=2.0)) == hash(Huber(delta=2.0))
    assert Logistic() != Exponential()
    assert len({as_loss(name) for name in BY_NAME} | {Squared(), Logistic()}) == len(BY_NAME)
    for loss in LOSSES:
        assert pickle.loads(pickle.dumps(loss)) == loss
    with pytest.raises(AttributeError):
        Huber().delta = 3.0
