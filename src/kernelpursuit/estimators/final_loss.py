"""The last loop of a classifier, in which coefficients are found under the loss that was asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.dictionary import Dictionary, KernelAtoms
from kernelpursuit.estimators.resolve import Resolved, learning_rows
from kernelpursuit.estimators.spec import FitSpec
from kernelpursuit.learning import Columns, choose_final_loss, sample_of, targets_of
from kernelpursuit.losses import Loss
from kernelpursuit.model import FittedModel
from kernelpursuit.penalties import Atoms, Penalty, as_penalty
from kernelpursuit.pursuit import LoopSpec, TrainingRows, Watch, one_blas_thread, resolve_threads
from kernelpursuit.stopping import ALL_LEARNED, Max

KEEP_ALL = Max()


@dataclass(frozen=True)
class FinalLoop:
    """A loop over the atoms that the squared loss has picked, and its rows, with targets as the loss takes them."""

    loop: LoopSpec
    rows: TrainingRows


def final_loop(
    model: FittedModel, rows: TrainingRows, spec: FitSpec, *, resolved: Resolved, watch: Watch
) -> FinalLoop | None:
    """The loop that comes after that of the squared loss, whose model is given; None where that model is kept.

    Its atoms are those that the automatic rule has kept. Any other rule may want more, and has all of the path.
    """
    loss, learned = spec.final_loss, resolved.learned
    assert loss is not None
    n_atoms = model.n_steps if spec.stops_by_auto and model.n_steps else model.path.n_steps
    if not n_atoms:
        return None
    atoms = model.atoms.take(np.arange(n_atoms))
    loop = replace(
        resolved.loop,
        loss=loss,
        candidates="all",
        max_atoms=n_atoms,
        all_picked=ALL_LEARNED,
        by_moments=False,
        rule=KEEP_ALL if spec.stops_by_auto and model.n_steps else resolved.loop.rule,
    )
    penalty = as_penalty(loop.penalty)
    if spec.alpha is not None:
        loop = replace(loop, penalty=spec.loop.penalty, alpha=spec.alpha)
    elif penalty is not None:
        unit = penalty.strength(1.0, Atoms.of(atoms, float(model.path.total_weight)))
        sample = _Sample.of(model, rows, spec)

        def columns_of(width_factor: float) -> Columns:
            return sample.columns(_wider(atoms, width_factor), penalty)

        with one_blas_thread():
            found = choose_final_loss(columns_of, loss, loop.alpha * unit, spec.loop.seed, watch)
        if spec.chooses_loss and not found.is_better:
            return None
        atoms = _wider(atoms, found.width_factor)
        loop = replace(loop, alpha=found.strength / unit)
    trend = None if learned is None else learned.trend
    return FinalLoop(replace(loop, dictionary=spec.with_trend(atoms, trend)), _with_targets(rows, loss))


def _wider(atoms: Dictionary, factor: float) -> Dictionary:
    """The same kernels with widths that are some times as large; any other dictionary as it is."""
    if not isinstance(atoms, KernelAtoms) or factor == 1.0:
        return atoms
    kernel = atoms.kernel
    gamma = np.asarray(kernel.gamma) * (1 / factor) ** (1 / kernel.gamma_power)
    return KernelAtoms(kernel.with_gamma(gamma), atoms.centers, factors=atoms.factors)


@dataclass(frozen=True)
class _Sample:
    """Some rows, on which atoms are evaluated; `is_dense` says whether these see dense rows."""

    model: FittedModel
    X: Matrix
    codes: np.ndarray
    weights: np.ndarray
    n_threads: int

    @classmethod
    def of(cls, model: FittedModel, rows: TrainingRows, spec: FitSpec) -> _Sample:
        """A sample of the rows that a model was fitted to."""
        given = learning_rows(spec, rows.y, rows.weights)
        weights = np.ones(len(rows.y)) if given is None else given
        numbers = sample_of(weights, spec.loop.seed)
        codes = np.ascontiguousarray(rows.y[numbers].T)
        return cls(model, rows.X[numbers], codes, weights[numbers], resolve_threads(spec.loop.n_jobs))

    def columns(self, atoms: Dictionary, penalty: Penalty) -> Columns:
        """What the final model may be made of."""
        fixed = self.model.fixed_values(self.X, self.n_threads)
        values = np.vstack([fixed, self.model.values(self.X, atoms, self.n_threads)])
        # The strength is what is looked for, and the matrix is without it.
        over, every = Atoms.of(atoms, 1.0), np.arange(atoms.n_atoms)
        between = penalty.between(over, every, every)
        gram = np.diag(penalty.diagonal(over)) if between is None else between
        return Columns(values, len(fixed), gram, self.codes, self.weights)


def _with_targets(rows: TrainingRows, loss: Loss) -> TrainingRows:
    """Rows with targets as a loss takes them."""
    validation = rows.validation
    if validation is not None:
        validation = (validation[0], targets_of(validation[1], loss), validation[2])
    return replace(rows, y=targets_of(rows.y, loss), validation=validation)
