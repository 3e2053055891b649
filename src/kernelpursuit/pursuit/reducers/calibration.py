"""How sure one may be of a class: what leave-one-out scores of the calibration rows say of probabilities and sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit.pursuit.constants import CALIBRATION_GROWTH, FEW_SCORES
from kernelpursuit.pursuit.measure import inverse_temperature, score_gaps
from kernelpursuit.pursuit.reducers.base import Reducer, Sizes
from kernelpursuit.pursuit.reducers.quantiles import LEVELS, conformal_quantiles
from kernelpursuit.pursuit.reducers.schedule import is_due
from kernelpursuit.pursuit.working import INTERPOLATED, loo_prediction, one_minus_leverage


class Calibrator:
    """Inverse temperature and quantiles of score gaps while a model grows; of many scores, of one a tenth smaller.

    Parameters
    ----------
    y : array of shape (n_targets, n_rows)
        Codes of the calibration rows.
    weights : array of shape (n_rows,)
        Their sample weights.
    needs_inverse_temperature : bool
        Whether scores become probabilities only by a factor that must be found.
    """

    def __init__(self, y: np.ndarray, weights: np.ndarray, needs_inverse_temperature: bool = True):
        self.y = y
        self.weights = weights
        self.needs_inverse_temperature = needs_inverse_temperature
        self._temperature = 1.0
        self._found: dict[str, float | np.ndarray] = {}
        self._found_for = 0  # atoms

    def entry(self, scores: np.ndarray, size: int, known: bool) -> dict[str, float | np.ndarray]:
        """What scores of the calibration rows under a model of this size say.

        Where a row is interpolated, `known` is false, and nothing is left to say how sure one may be.
        """
        if not known or scores.size <= FEW_SCORES or is_due(size, self._found_for, CALIBRATION_GROWTH):
            found: dict[str, float | np.ndarray] = {}
            if self.needs_inverse_temperature:
                # The last one is where the search begins.
                self._temperature = inverse_temperature(self.y, scores, self.weights, self._temperature)
                found["inverse_temperature"] = self._temperature
            found["loo_quantiles"] = conformal_quantiles(score_gaps(self.y, scores), self.weights) if known else np.inf
            self._found, self._found_for = found, size
        return self._found


@dataclass(frozen=True)
class Known:
    """What is known of calibration rows: their directions, so that models of any size can be looked at in the end.

    numbers     of the rows
    directions  times the root of the weights, shape (n_columns, n_rows)
    y           targets, shape (n_targets, n_rows)
    weights     sample weights
    units       how many observations each row stands for
    """

    numbers: np.ndarray
    directions: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    units: np.ndarray

    @classmethod
    def joined(cls, parts: tuple[Known, ...]) -> Known:
        """The rows of all parts, in the order of their numbers."""
        order = np.argsort(np.concatenate([part.numbers for part in parts]))
        each = ((part.numbers, part.directions, part.y, part.weights, part.units) for part in parts)
        return cls(*(np.concatenate(arrays, axis=-1)[..., order] for arrays in zip(*each)))


@dataclass(frozen=True)
class ScoreCalibration(Reducer):
    """`inverse_temperature` and `loo_quantiles` (of score gaps), of the leave-one-out scores of calibration rows.

    rows    their numbers, ascending
    b       coefficients of the directions, shape (n_columns, n_targets)
    scale   what targets are multiplied by; the results are in units of the targets themselves
    places  for each size, that whose scores stand for its own, shape (n_sizes,)
    found   the calibration rows of the blocks that were seen
    least   the least `1 - h` of any row, shape (n_sizes,)

    Notes
    -----
    Memory: `n_columns + n_targets` numbers for each calibration row. Models of every size are made of these, one after
    the other, when the result is asked for.
    """

    rows: np.ndarray
    b: np.ndarray
    scale: float
    places: np.ndarray
    found: tuple[Known, ...] = ()
    least: float | np.ndarray = np.inf

    def of_block(self, sizes: Sizes) -> ScoreCalibration:
        """The calibration rows among these."""
        block = sizes.block
        at = np.flatnonzero(np.isin(block.numbers, self.rows))
        known = Known(
            numbers=block.numbers[at],
            directions=sizes.directions[:, at],
            y=block.y[at].T,
            weights=block.sample_weights[at],
            units=sizes.units[at],
        )
        return replace(self, found=(known,) if len(at) else (), least=sizes.least_left)

    def __add__(self, other: ScoreCalibration) -> ScoreCalibration:
        """The rows of both."""
        return replace(self, found=self.found + other.found, least=np.minimum(self.least, other.least))

    def result(self) -> dict[str, np.ndarray]:
        """Both columns, of shapes (n_sizes,) and (n_sizes, n_levels, 1)."""
        rows, is_known = Known.joined(self.found), np.asarray(self.least) > INTERPOLATED
        root = np.sqrt(rows.weights)
        targets = root * rows.y
        calibrator = Calibrator(rows.y / self.scale, rows.weights)
        temperatures, gaps = np.empty(len(self.places)), np.empty((len(self.places), len(LEVELS), 1))
        for size, (residual, leverage) in enumerate(self._models(targets, rows.directions)):
            # Of a model in which a row is interpolated, the scores are those that the rows have.
            left = one_minus_leverage(leverage, rows.units) if is_known[size] else np.ones(1)
            if not is_known[size] or self.places[size] == size:
                scores = loo_prediction(targets, residual, left) / (root * self.scale)
                entry = calibrator.entry(scores, size, bool(is_known[size]))
            temperatures[size], gaps[size] = entry["inverse_temperature"], entry["loo_quantiles"]
        return {"inverse_temperature": temperatures, "loo_quantiles": gaps}

    def _models(self, targets: np.ndarray, V: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Residuals and leverages of the models of every size, each valid until the next is asked for."""
        n_fixed = len(V) - len(self.places) + 1
        residual, leverage = targets - self.b[:n_fixed].T @ V[:n_fixed], np.square(V[:n_fixed]).sum(axis=0)
        yield residual, leverage
        for v, coefficients in zip(V[n_fixed:], self.b[n_fixed:]):
            residual -= coefficients[:, None] * v
            leverage += np.square(v)
            yield residual, leverage
