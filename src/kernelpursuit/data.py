"""Small made-up data sets for demos, documentation and tests; each is the same for the same seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import make_friedman1

if TYPE_CHECKING:
    import pandas as pd


def make_chirp(n_samples: int = 400, *, noise: float = 0.15, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw noisy samples of a wave that begins slow and smooth and ends in fast ripples.

    `y = (1 + x / 10) sin(x³ / 40) + noise`, with x uniform on [0, 10]; no one kernel width suits both ends.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of the noise.
    seed : int
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 1)
        Rows in ascending order.
    y : array of shape (n_samples,)
        Targets.

    Examples
    --------
    >>> from kernelpursuit.data import make_chirp
    >>> X, y = make_chirp(100)
    >>> X.shape, y.shape
    ((100, 1), (100,))
    """
    generator = np.random.default_rng(seed)
    x = np.sort(generator.uniform(0.0, 10.0, n_samples))
    y = (1 + x / 10) * np.sin(x**3 / 40)
    return x[:, None], y + noise * generator.standard_normal(n_samples)


def make_peaks(n_samples: int = 600, *, noise: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw noisy samples of a round ripple, `sinc(r)` of the distance to the origin, beside a narrow hill.

    Parameters
    ----------
    n_samples : int
        Number of rows, uniform on the square [-3, 3] x [-3, 3].
    noise : float
        Standard deviation of the noise.
    seed : int
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 2)
        Rows.
    y : array of shape (n_samples,)
        Targets.

    Examples
    --------
    >>> from kernelpursuit.data import make_peaks
    >>> X, y = make_peaks(100)
    >>> X.shape, y.shape
    ((100, 2), (100,))
    """
    generator = np.random.default_rng(seed)
    X = generator.uniform(-3.0, 3.0, (n_samples, 2))
    ripple = np.sinc(np.hypot(X[:, 0], X[:, 1]))
    hill = 0.6 * np.exp(-3 * np.square(X - [1.8, 1.8]).sum(axis=1))
    return X, ripple + hill + noise * generator.standard_normal(n_samples)


def make_friedman(n_samples: int = 2000, *, noise: float = 1.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw noisy samples of Friedman's first function, with five relevant features and five irrelevant ones.

    `y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)² + 10 x4 + 5 x5 + noise`, with ten features uniform on [0, 1].

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of the noise.
    seed : int
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 10)
        Rows.
    y : array of shape (n_samples,)
        Targets.

    References
    ----------
    J. Friedman, Multivariate adaptive regression splines, Annals of Statistics 19, 1991.

    Examples
    --------
    >>> from kernelpursuit.data import make_friedman
    >>> X, y = make_friedman(100)
    >>> X.shape, y.shape
    ((100, 10), (100,))
    """
    return make_friedman1(n_samples, n_features=10, noise=noise, random_state=seed)


def make_waves(n_samples: int = 1000, *, noise: float = 0.2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw noisy samples of a sum of three waves of three features, with three irrelevant features.

    `y = 2 sin(2.5 pi x1) + 1.5 sin(2 pi x2) + sin(1.5 pi x3) + noise`, with six features uniform on [0, 1]. Features
    with a larger amplitude have a higher frequency too, so the order of learned scales is the order of relevance.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of the noise.
    seed : int
        Seed of the draws.

    Returns
    -------
    X : array of shape (n_samples, 6)
        Rows.
    y : array of shape (n_samples,)
        Targets.

    Examples
    --------
    >>> from kernelpursuit.data import make_waves
    >>> X, y = make_waves(100)
    >>> X.shape, y.shape
    ((100, 6), (100,))
    """
    generator = np.random.default_rng(seed)
    X = generator.uniform(0.0, 1.0, (n_samples, 6))
    y = 2 * np.sin(2.5 * np.pi * X[:, 0]) + 1.5 * np.sin(2 * np.pi * X[:, 1]) + np.sin(1.5 * np.pi * X[:, 2])
    return X, y + noise * generator.standard_normal(n_samples)


def make_homes(n_samples: int = 1000, *, noise: float = 0.07, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Draw a table of made-up homes and their prices, with features in their own units.

    A square metre costs less far from the centre and on loud streets, and more in houses that are new or very old; a
    garden is worth more in the suburbs, a lift more the higher one lives. The day of the advertisement
    does not matter. The noise is a fraction of the price, so that dear homes vary more.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of the noise as a fraction of the price.
    seed : int
        Seed of the draws.

    Returns
    -------
    X : DataFrame of shape (n_samples, 9)
        Columns `area` and `garden` in square metres, `rooms`, `year` built, `floor`, `lift` (0 or 1), `distance` to
        the centre in km, `street_noise` in dB, `day` of the year.
    y : Series of shape (n_samples,)
        `price` in thousands.

    Examples
    --------
    >>> from kernelpursuit.data import make_homes
    >>> X, price = make_homes(100)
    >>> X.shape, price.name
    ((100, 9), 'price')
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("make_homes() needs pandas: pip install 'kernelpursuit[io]'.") from None
    generator = np.random.default_rng(seed)
    area = generator.lognormal(np.log(85.0), 0.4, n_samples).clip(25, 260).round()
    distance = generator.gamma(2.0, 3.0, n_samples).clip(0.2, 30).round(1)
    in_house = generator.random(n_samples) < distance / (distance + 8)
    garden = np.where(in_house, generator.gamma(2.0, 120.0, n_samples), 0.0).round()
    year = generator.integers(1880, 2025, n_samples)
    floor = np.where(in_house, 0, generator.integers(0, 7, n_samples))
    lift = (generator.random(n_samples) < np.where(in_house, 0.0, 0.5)).astype(int)
    street_noise = generator.normal(62 - 0.6 * distance, 6).clip(35, 80).round()
    rooms = np.maximum(1, np.round(area / generator.normal(25, 4, n_samples).clip(15, 40)))
    X = pd.DataFrame(
        {
            "area": area,
            "garden": garden,
            "rooms": rooms,
            "year": year,
            "floor": floor,
            "lift": lift,
            "distance": distance,
            "street_noise": street_noise,
            "day": generator.integers(1, 366, n_samples),
        }
    )
    by_age = 1 + 0.25 * np.square((year - 1960) / 65) - 0.15 * np.exp(-np.square((year - 1968) / 12))
    by_place = 2.2 + 4.5 * np.exp(-distance / 5)
    by_noise = 1 - 0.25 / (1 + np.exp(-(street_noise - 63) / 3))
    by_floor = 1 + np.where(lift == 1, 0.02, -0.035) * floor - 0.06 * (~in_house & (floor == 0))
    by_size = area**0.9 * (1 + 0.05 * np.tanh(rooms - area / 30))
    price = by_age * by_place * by_noise * by_floor * by_size + 0.12 * garden * np.tanh(distance / 10) * by_age
    price = price * (1 + noise * generator.standard_normal(n_samples))
    return X, pd.Series(price.round(1), name="price")


__all__ = ["make_chirp", "make_friedman", "make_homes", "make_peaks", "make_waves"]
