"""About how long the stages of a fit take: operations counted, and constants that were measured.

The unit is the time of one operation of a matrix product on this machine. Constants are from fits of 442 to
1,000,000 rows with 1 to 26 outputs, by one thread; the estimate is within a factor of two of nearly all of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from kernelpursuit.learning.constants import (
    ATTAINED_SPEED,
    EVALUATIONS_A_STEP,
    LOSS_OPERATIONS_A_ROW,
    OPERATIONS_A_VALUE,
    OUTPUTS_POWER,
    REFIT_EVALUATIONS,
    SECONDS_A_STEP,
)
from kernelpursuit.pursuit import one_blas_thread
from kernelpursuit.pursuit.loss_over_all_rows import USUAL_PASSES


@dataclass(frozen=True)
class Speed:
    """What operations cost here.

    n_outputs   targets or scores a row
    has_loss    whether they have another loss than the squared one
    operations  of a matrix product, in a second
    """

    n_outputs: int
    has_loss: bool
    operations: float

    def loop(self, n_steps: float, n_rows: float, n_candidates: float) -> float:
        """Seconds that picking so many atoms takes, on these rows, of so many candidates."""
        a_step = n_rows * n_candidates * OPERATIONS_A_VALUE
        if self.has_loss:
            a_step += LOSS_OPERATIONS_A_ROW * n_rows * self.n_outputs**OUTPUTS_POWER
        return n_steps * (a_step / self.operations + SECONDS_A_STEP)

    def inverses(self, n_fits: float, n_rows: float) -> float:
        """Seconds of so many inverses of a matrix with a row for each of so many rows."""
        return n_fits * 2.0 * n_rows**3 / self.operations

    def evidence(self, n_steps: float, n_rows: float, n_features: float) -> float:
        """Seconds of a minimisation by L-BFGS over the evidence of so many rows."""
        return EVALUATIONS_A_STEP * n_steps * n_rows**2 * (2.0 * n_rows + 20.0 * n_features + 100.0) / self.operations

    def minimisation(self, n_steps: float, n_rows: float, n_atoms: float, a_value: float) -> float:
        """Seconds of a minimisation by L-BFGS, with so many operations for every kernel value of an evaluation."""
        return EVALUATIONS_A_STEP * n_steps * n_rows * n_atoms * a_value / self.operations

    def squared(self, n_steps: float, n_rows: float, n_threads: int) -> float:
        """Seconds of the last loop, whose candidates are its atoms, by passes over blocks."""
        return 6.0 * n_rows * n_steps**2 / self.operations / n_threads + n_steps * SECONDS_A_STEP / 4

    def under_a_loss(self, n_steps: float, n_rows: float, n_all_rows: float, n_threads: int) -> float:
        """Seconds of the same under a loss on some of the rows, and of the last refit on these, and then on all."""
        of_a_look = 4.0 * n_steps * self.n_outputs / self.operations
        refit = REFIT_EVALUATIONS * n_rows * of_a_look
        if n_all_rows > n_rows:
            a_pass = n_all_rows * (of_a_look + n_steps * OPERATIONS_A_VALUE / self.operations) / n_threads
            refit += USUAL_PASSES * a_pass
        return self.loop(n_steps, n_rows, 0.5 * n_steps) + refit


def operations_a_second() -> float:
    """Speed of matrix products in a fit on this machine, by one thread."""
    A, took = np.ones((256, 256)), []
    with one_blas_thread():
        for _ in range(5):
            start = time.perf_counter()
            A @ A
            took.append(time.perf_counter() - start)
    return ATTAINED_SPEED * 2 * 256**3 / max(min(took), 1e-9)
