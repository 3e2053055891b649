"""Width and penalty for another loop than the default one: what was learned without that loop, tried with it.

Scales are learned for weights that are all refitted. A loop that sets only the weight of the new atom wants narrower
kernels, and one without a penalty ends where wide ones are dependent. How features compare does not depend on the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.kernels import Kernel
from kernelpursuit.learning.constants import (
    PENALTY_STEP,
    WIDTH_SEARCH_ATOMS,
    WIDTH_SEARCH_ONE_SPLIT_FROM,
    WIDTH_SEARCH_ROWS,
    WIDTH_SEARCH_SPLITS,
    WIDTH_SEARCH_STEPS,
    WIDTH_SEARCH_TARGETS,
    WIDTH_SEARCH_VALIDATION_FRACTION,
    WIDTH_STEP,
)
from kernelpursuit.learning.plan import WIDTH_SEARCH_STAGE
from kernelpursuit.learning.sample import Standard
from kernelpursuit.pursuit import LoopSpec, TrainingRows, Watch, held_out_rows, run_pursuit
from kernelpursuit.stopping import Validation

RANDOM_STREAM = 15
# Rows, targets and weights.
Sample = tuple[Matrix, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class FoundWidth:
    """A kernel and a penalty for a loop, and how much the scales that were learned are multiplied by.

    Where `factor` is None, one scale for all features has the lower error.
    """

    kernel: Kernel
    alpha: float
    factor: float | None


class LoopValidation:
    """The loop as it is set, on two thirds of a sample of the rows, and its error on the others, the validation rows.

    Few rows are split in several ways.

    Parameters
    ----------
    spec : LoopSpec
        The loop; dictionary and penalty are replaced. Its rule decides which size of a path is validated; one that
        asks for rows or folds of its own is replaced by the least error on the validation rows.
    dictionary : function
        The dictionary of a kernel, with all that is in every model.
    rows : (X, y, weights)
        Rows that differ, targets of shape (n_rows, n_targets), and weights or None.
    one_by_one : bool
        Whether each target has a path of its own.
    watch : Watch
        Follows every run.
    """

    def __init__(
        self,
        spec: LoopSpec,
        dictionary: Callable[[Kernel], Dictionary],
        rows: tuple[Matrix, np.ndarray, np.ndarray | None],
        *,
        one_by_one: bool,
        watch: Watch,
    ) -> None:
        X, y, weights = rows
        self.watch, self._dictionary = watch, dictionary
        generator = np.random.default_rng([spec.seed, 0, RANDOM_STREAM])
        used = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
        sample = np.sort(generator.permutation(used)[:WIDTH_SEARCH_ROWS])
        X, y = X[sample], y[sample]
        weights = np.ones(len(sample)) if weights is None else weights[sample]
        self._splits: list[tuple[Sample, Sample]] = []
        for i in range(1 if len(sample) >= WIDTH_SEARCH_ONE_SPLIT_FROM else WIDTH_SEARCH_SPLITS):
            is_validation = held_out_rows(
                weights, WIDTH_SEARCH_VALIDATION_FRACTION, spec.seed + i, y=y, classes=spec.classes
            )
            fitted, validation = ((X[rows], y[rows], weights[rows]) for rows in (~is_validation, is_validation))
            self._splits.append((fitted, validation))
        drawn = isinstance(spec.candidates, (int, np.integer))
        self._spec = replace(
            spec,
            max_atoms=min(spec.max_atoms, WIDTH_SEARCH_ATOMS),
            candidates=spec.candidates if drawn else "all",
            verbose=False,
        )
        rule = spec.rule
        asks_for_rows = rule.validation_set() is not None or rule.validation_fraction() is not None
        self._rule = None if asks_for_rows or rule.n_folds() is not None else rule
        each = range(min(y.shape[1], WIDTH_SEARCH_TARGETS))
        self._targets: Iterable[slice] = [slice(i, i + 1) for i in each] if one_by_one else [slice(None)]

    def error(self, kernel: Kernel, alpha: float) -> float:
        """The error on validation rows, of the models that the rule keeps."""
        spec = replace(self._spec, dictionary=self._dictionary(kernel), alpha=alpha)
        errors = [
            self._error_of(spec, fitted, others, targets)
            for fitted, others in self._splits
            for targets in self._targets
        ]
        return float(np.mean(errors))

    def _error_of(self, spec: LoopSpec, fitted: Sample, others: Sample, targets: slice) -> float:
        X, y, weights = fitted
        validation = others[0], others[1][:, targets], others[2]
        rule = Validation(*validation[:2], sample_weight=validation[2]) if self._rule is None else self._rule
        rows = TrainingRows(X, y[:, targets], weights, validation=validation)
        found = run_pursuit(rows, replace(spec, rule=rule), callback=self.watch)
        refitted = found.path.refits.get(found.n_kept, {})
        assert found.path.validation is not None
        return float(refitted.get("validation", found.path.validation[found.n_kept]))


def common_scale(kernel: Kernel, X: Matrix, weights: np.ndarray) -> tuple[Kernel, np.ndarray]:
    """The kernel with the width that "scale" stands for once features are standardised, and their scales: all alike."""
    spread = Standard.of(X, weights).spread
    varies = spread > 0
    scales = varies / np.sqrt(max(1, int(np.count_nonzero(varies))))
    gamma = (scales / np.where(varies, spread, 1.0)) ** (1.0 / kernel.gamma_power)
    return kernel.with_gamma(gamma), scales


def search_width(kernel: Kernel, alpha: float | None, plain: tuple[Kernel, float], trial: LoopValidation) -> FoundWidth:
    """Find width and penalty for a loop by its errors on rows that it has not seen.

    Parameters
    ----------
    kernel : Kernel
        With the gamma of every feature that was learned.
    alpha : float or None
        The penalty to start from; None where it is given, or where there is none.
    plain : (Kernel, float)
        The kernel with one scale for all features, and the penalty that is given, or the usual one: kept where nothing
        learned has a lower error.
    trial : LoopValidation
        The loop.
    """
    trial.watch.part(WIDTH_SEARCH_STAGE)
    (simple, given), watch = plain, trial.watch

    def error_of(factor: float, alpha: float) -> float:
        return trial.error(_scaled(kernel, factor), alpha)

    start = given if alpha is None else alpha
    factor, best = _search_factor(lambda factor: error_of(factor, start), WIDTH_STEP, watch)
    if alpha is not None:
        times, best = _search_factor(lambda times: error_of(factor, start * times), PENALTY_STEP, watch, best)
        start *= times
    if not watch.has_ended and trial.error(simple, given) < best:
        return FoundWidth(simple, given, None)
    return FoundWidth(_scaled(kernel, factor), start, factor)


def _search_factor(
    error: Callable[[float], float], step: float, watch: Watch, known: float | None = None
) -> tuple[float, float]:
    """The factor with the least error, found by going on from 1 in steps, up or down, as long as the error falls."""
    best, at = error(1.0) if known is None else known, 1.0
    for direction in (step, 1 / step):
        for _ in range(WIDTH_SEARCH_STEPS):
            if watch.ask(0.0):
                return at, best
            tried = error(at * direction)
            if not tried < best:
                break
            best, at = tried, at * direction
        if at != 1.0:
            break
    return at, best


def _scaled(kernel: Kernel, factor: float) -> Kernel:
    """The kernel with all scales times a factor."""
    return kernel.with_gamma(np.asarray(kernel.gamma) * factor ** (1.0 / kernel.gamma_power))
