"""A loss over all rows, where those in memory are a sample: a pass over blocks for each look at value and gradient.

The loop under a loss weighs rows anew at every refit, so that no sums over rows would serve all of its steps. Atoms are
picked, and their number is chosen, on the sample. For the one model that is kept, the loss of all rows is a function of
some hundred coefficients, and the sample is close: from its minimum, in coordinates in which its curvature is one, a
few passes find the minimum over all rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit._native.threads import resolve_threads
from kernelpursuit.losses import Loss
from kernelpursuit.penalties import as_penalty
from kernelpursuit.pursuit.moments import ModelColumns
from kernelpursuit.pursuit.objective import LossSums, Objective
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.spec import LoopSpec
from kernelpursuit.pursuit.stream import Stream
from kernelpursuit.pursuit.watch import Ended, Watch
from kernelpursuit.rows import RowBlock, block_size

# About so many passes find the minimum (benchmarks/massive.py): what each takes of the time that is shown.
USUAL_PASSES = 8


@dataclass(frozen=True)
class LossSumsOf:
    """The loss of a model on a block of rows, for a pass over a source.

    columns       of the model
    coefficients  shape (n_columns, n_targets)
    loss          resolved
    """

    columns: ModelColumns
    coefficients: np.ndarray
    loss: Loss

    def __call__(self, block: RowBlock) -> LossSums:
        """The sums over these rows."""
        targets = np.ascontiguousarray(block.y.T)
        self.loss.check_targets(targets)
        objective = Objective(self.loss, targets, block.sample_weights)
        values = self.columns.values(block.X)
        scores = self.coefficients.T @ values
        return LossSums(objective.value(scores), values @ objective.gradient(scores).T)


class LossOverAllRows:
    """The loss of a model as a function of its coefficients, over all rows, that count as much as those in memory.

    Parameters
    ----------
    problem : Problem
        A problem whose rows are a sample, with a loss.
    atoms : array of int
        The model's atoms in the order of its coefficients, by their numbers in the searched dictionary.
    n_threads : int or None
        Threads that take blocks in turn.
    watch : Watch
        Told how far a pass is.
    """

    def __init__(self, problem: Problem, atoms: np.ndarray, n_threads: int | None, watch: Watch):
        assert problem.loss is not None
        self._loss, self._share, self._watch = problem.loss, _share(problem), watch
        self._stream = Stream.of(problem, resolve_threads(n_threads), watch).in_order(atoms)
        self._n_passes = 0

    def __call__(self, coefficients: np.ndarray) -> LossSums:
        """Value and gradient; `Ended` where the pass was cut short, since part of a sum would look like a low one."""
        work = LossSumsOf(self._stream.columns, coefficients, self._loss)
        # Passes beyond the usual number share what is left of the time.
        first, last = (1 - (1 - 1 / USUAL_PASSES) ** n for n in (self._n_passes, self._n_passes + 1))
        self._n_passes += 1
        with self._watch.within(first, last):
            found = self._stream.reduce(work, block_size(len(self._stream.columns)))
        if self._watch.cut_short():
            raise Ended
        return LossSums(self._share * found.value, self._share * found.gradient)


def alpha_in_memory(problem: Problem, spec: LoopSpec) -> float:
    """The strength with which the penalty has the share beside the rows in memory that it has beside all of them."""
    penalty = as_penalty(spec.penalty)
    if penalty is None or problem.all_rows is None:
        return spec.alpha
    here, everywhere = (problem.penalised_atoms(1, over_all_rows=is_all) for is_all in (False, True))
    return spec.alpha * _share(problem) * penalty.strength(1.0, everywhere) / penalty.strength(1.0, here)


def _share(problem: Problem) -> float:
    """How much the rows in memory count beside all rows."""
    assert problem.all_rows is not None
    return problem.total_weight / problem.all_rows.total_weight
