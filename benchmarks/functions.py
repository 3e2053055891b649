"""Generated functions for `benchmarks/battery.py`: each takes `(n, rng)` and returns rows, the function there, noise.

For numbers, f holds the noise-free targets and noise is its standard deviation in units of that of f. For classes, f
holds the true labels 0 and 1, and noise is the probability that a label is flipped. Rows of one feature are spread
evenly (one in each of n equal cells), so that a wave of n/8 periods has eight rows a period; rows of several are
uniform. `NUMBERS` and `CLASSES` say how many training rows each has: a new function is a line in one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Drawn = tuple[np.ndarray, np.ndarray, float]
Function = Callable[[int, np.random.Generator], Drawn]


@dataclass(frozen=True)
class Case:
    """A function and the number of its training rows."""

    draw: Function
    n: int


def evenly(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return one point in each of n equal cells of [0, 1], in random order, shape (n, 1)."""
    return rng.permutation((np.arange(n) + rng.random(n)) / n)[:, None]


def cube(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Uniform points in [-1, 1]^d."""
    return rng.uniform(-1.0, 1.0, size=(n, d))


# Numbers, one feature


def wave(periods: float, noise: float = 0.1) -> Function:
    """Return a sine with this many periods."""

    def draw(n: int, rng: np.random.Generator) -> Drawn:
        X = evenly(n, rng)
        return X, np.sin(2 * np.pi * periods * X[:, 0]), noise

    return draw


def curve(of: Callable[[np.ndarray], np.ndarray], noise: float = 0.1) -> Function:
    """Return a formula of one feature in [0, 1]."""

    def draw(n: int, rng: np.random.Generator) -> Drawn:
        X = evenly(n, rng)
        return X, of(X[:, 0]), noise

    return draw


def chirp(periods: float, noise: float = 0.1) -> Function:
    """Return a sine whose frequency rises from none, with this many periods in all."""
    return curve(lambda x: np.sin(2 * np.pi * periods * x**2), noise)


def step(x: np.ndarray) -> np.ndarray:
    """Nothing up to 0.4, then one."""
    return (x > 0.4).astype(float)


def stairs(x: np.ndarray) -> np.ndarray:
    """Six steps of different heights."""
    return np.array([0.0, 2.0, 1.0, 3.0, 2.5, 0.5])[np.minimum((6 * x).astype(int), 5)]


def spike(x: np.ndarray) -> np.ndarray:
    """A slope with a narrow peak."""
    return x + 2 * np.exp(-(((x - 0.6) / 0.02) ** 2))


def spikes(x: np.ndarray) -> np.ndarray:
    """Three peaks of different widths."""
    return sum(np.exp(-(((x - at) / width) ** 2)) for at, width in ((0.2, 0.005), (0.5, 0.02), (0.8, 0.08)))


def two_scales(x: np.ndarray) -> np.ndarray:
    """A slow wave, and a fast one in the right half."""
    return np.sin(4 * np.pi * x) + np.where(x > 0.5, 0.5 * np.sin(60 * np.pi * x), 0.0)


def slow_and_fast(x: np.ndarray) -> np.ndarray:
    """A slow wave and a fast one everywhere."""
    return np.sin(2 * np.pi * x) + 0.3 * np.sin(50 * np.pi * x)


def trend_wave(x: np.ndarray) -> np.ndarray:
    """A fast wave on a steep line."""
    return 3 * x + np.sin(40 * x)


def series(x: np.ndarray) -> np.ndarray:
    """Ten periods on a line, like a series in time."""
    return 10 + 10 * x + 3 * np.sin(500 * x / 8)


# Numbers, several features


def field(d: int, of: Callable[[np.ndarray], np.ndarray], noise: float = 0.1) -> Function:
    """Return a formula of d features, uniform in [-1, 1]."""

    def draw(n: int, rng: np.random.Generator) -> Drawn:
        X = cube(n, d, rng)
        return X, of(X), noise

    return draw


def squares(per_side: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a checkerboard of the first two features, 0 and 1."""

    def of(X: np.ndarray) -> np.ndarray:
        cells = np.floor((X[:, :2] + 1) / 2 * per_side)
        return cells.sum(axis=1) % 2

    return of


def egg_crate(periods: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a product of two sines, with this many periods a side."""
    return lambda X: np.sin(np.pi * periods * X[:, 0]) * np.sin(np.pi * periods * X[:, 1])


def fast_among_slow(rate: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a fast wave of the fifth feature and three slow functions of others."""
    return lambda X: np.sin(rate * X[:, 4]) + X[:, 0] + 0.5 * X[:, 1] ** 2 + np.sin(X[:, 2])


def additive(X: np.ndarray) -> np.ndarray:
    """One smooth function of each of the first five features."""
    return np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + np.abs(X[:, 2]) + np.exp(X[:, 3]) / 2 + X[:, 4]


def friedman(X: np.ndarray) -> np.ndarray:
    """Friedman's function of the first five features."""
    U = (X + 1) / 2
    return 10 * np.sin(np.pi * U[:, 0] * U[:, 1]) + 20 * (U[:, 2] - 0.5) ** 2 + 10 * U[:, 3] + 5 * U[:, 4]


def ring_wave(X: np.ndarray) -> np.ndarray:
    """Rings that come closer outwards."""
    return np.cos(12 * (X[:, 0] ** 2 + X[:, 1] ** 2))


def diagonal(X: np.ndarray) -> np.ndarray:
    """A fast wave along the difference of two features."""
    return np.sin(15 * (X[:, 0] - X[:, 1]))


def corner(X: np.ndarray) -> np.ndarray:
    """One where both of the first two features are positive, else nothing."""
    return ((X[:, 0] > 0) & (X[:, 1] > 0)).astype(float)


def bump(X: np.ndarray) -> np.ndarray:
    """A plane with a narrow hill."""
    return 0.3 * X[:, 0] + np.exp(-np.sum((X[:, :2] - 0.3) ** 2, axis=1) / 0.005)


def rough_corner(X: np.ndarray) -> np.ndarray:
    """Smooth, but for a fast wave in one quarter."""
    inside = (X[:, 0] > 0) & (X[:, 1] > 0)
    return np.sin(2 * X[:, 0]) + X[:, 1] + np.where(inside, np.sin(20 * X[:, 0]) * np.sin(20 * X[:, 1]), 0.0)


def hat(X: np.ndarray) -> np.ndarray:
    """A sinc of the distance from the middle."""
    return np.sinc(3 * np.sqrt(np.sum(X[:, :2] ** 2, axis=1)))


NUMBERS: dict[str, Case] = {
    **{f"wave_{periods}_of_500": Case(wave(periods), 500) for periods in (1, 2, 4, 8, 16, 32, 62)},
    "wave_3_of_30": Case(wave(3), 30),
    "wave_2_of_60": Case(wave(2), 60),
    "wave_12_of_100": Case(wave(12), 100),
    "wave_100_of_2000": Case(wave(100), 2000),
    "wave_250_of_2000": Case(wave(250), 2000),
    "wave_50_of_20000": Case(wave(50), 20000),
    "wave_8_no_noise": Case(wave(8, noise=0.0), 200),
    "wave_8_noise_half": Case(wave(8, noise=0.5), 500),
    "wave_8_noise_1": Case(wave(8, noise=1.0), 500),
    "wave_2_noise_2": Case(wave(2, noise=2.0), 500),
    "chirp_6_of_200": Case(chirp(6), 200),
    "chirp_20_of_1000": Case(chirp(20), 1000),
    "chirp_60_of_5000": Case(chirp(60), 5000),
    "step_of_200": Case(curve(step), 200),
    "stairs_of_1000": Case(curve(stairs), 1000),
    "corner_of_2000": Case(field(4, corner), 2000),
    "spike_of_300": Case(curve(spike), 300),
    "spikes_of_2000": Case(curve(spikes), 2000),
    "bump_of_2000": Case(field(2, bump), 2000),
    "two_scales_of_500": Case(curve(two_scales), 500),
    "slow_and_fast_of_500": Case(curve(slow_and_fast), 500),
    "rough_corner_of_3000": Case(field(2, rough_corner), 3000),
    "trend_wave_of_400": Case(curve(trend_wave), 400),
    "series_of_500": Case(curve(series), 500),
    "checkerboard_4_of_1000": Case(field(2, squares(4)), 1000),
    "checkerboard_8_of_4000": Case(field(2, squares(8)), 4000),
    "egg_crate_3_of_800": Case(field(2, egg_crate(3)), 800),
    "egg_crate_6_of_3000": Case(field(2, egg_crate(6)), 3000),
    "product_of_300": Case(field(5, lambda X: X[:, 0] * X[:, 1]), 300),
    "product_of_four_of_2000": Case(field(6, lambda X: np.prod(X[:, :4], axis=1), noise=0.2), 2000),
    "fast_14_among_ten_of_1500": Case(field(10, fast_among_slow(14)), 1500),
    "fast_30_among_ten_of_5000": Case(field(10, fast_among_slow(30)), 5000),
    "additive_of_500": Case(field(5, additive), 500),
    "additive_among_ten_of_2000": Case(field(10, additive, noise=0.5), 2000),
    "friedman_of_200": Case(field(10, friedman, noise=0.2), 200),
    "friedman_of_20000": Case(field(10, friedman, noise=0.2), 20000),
    "ring_wave_of_1000": Case(field(2, ring_wave), 1000),
    "ring_wave_of_5000": Case(field(2, ring_wave), 5000),
    "diagonal_of_800": Case(field(2, diagonal), 800),
    "diagonal_of_3000": Case(field(2, diagonal), 3000),
    "diagonal_among_six_of_4000": Case(field(6, diagonal), 4000),
    "hat_of_10000": Case(field(2, hat, noise=0.3), 10000),
    "line_of_50": Case(field(3, lambda X: X[:, 0] + 0.5 * X[:, 1], noise=0.3), 50),
    "line_of_2000": Case(field(8, lambda X: X @ np.arange(8.0), noise=1.0), 2000),
    "parabola_of_30": Case(curve(lambda x: (x - 0.4) ** 2), 30),
}


# Two classes


def labels(d: int, of: Callable[[np.ndarray], np.ndarray], noise: float = 0.05) -> Function:
    """Return a rule of d features, uniform in [-1, 1], that says which rows are of class 1."""

    def draw(n: int, rng: np.random.Generator) -> Drawn:
        X = cube(n, d, rng)
        return X, of(X).astype(int), noise

    return draw


def spirals(turns: float, noise: float = 0.02) -> Function:
    """Return two arms around each other; rows lie about them."""

    def draw(n: int, rng: np.random.Generator) -> Drawn:
        which = rng.integers(0, 2, size=n)
        along = np.sqrt(rng.uniform(0.03, 1.0, size=n))
        angle = 2 * np.pi * turns * along + np.pi * which
        X = along[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return X + rng.normal(scale=0.02, size=(n, 2)), which, noise

    return draw


def moons(n: int, rng: np.random.Generator) -> Drawn:
    """Two half circles that reach into each other."""
    which = rng.integers(0, 2, size=n)
    angle = rng.uniform(0, np.pi, size=n)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.where(which[:, None] == 1, np.array([1.0, 0.5]) - upper, upper)
    return X + rng.normal(scale=0.15, size=(n, 2)), which, 0.0


CLASSES: dict[str, Case] = {
    "squares_4_of_800": Case(labels(2, squares(4)), 800),
    "squares_8_of_3000": Case(labels(2, squares(8)), 3000),
    "spirals_2_of_400": Case(spirals(2), 400),
    "spirals_4_of_2000": Case(spirals(4), 2000),
    "ring_of_500": Case(labels(2, lambda X: np.abs(np.sum(X**2, axis=1) - 0.6) < 0.25), 500),
    "wave_boundary_of_1000": Case(labels(2, lambda X: X[:, 1] > 0.5 * np.sin(12 * X[:, 0])), 1000),
    "fast_among_ten_of_1500": Case(labels(10, lambda X: np.sin(14 * X[:, 4]) + 0.5 * X[:, 0] > 0), 1500),
    "xor_among_eight_of_800": Case(labels(8, lambda X: X[:, 0] * X[:, 1] > 0), 800),
    "moons_of_200": Case(moons, 200),
    "half_space_of_500": Case(labels(10, lambda X: X[:, 0] + X[:, 1] > 0, noise=0.1), 500),
}
