"""The last loop of a classifier, in which coefficients are found under the loss that was asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit.estimators.resolve import Resolved, learning_rows
from kernelpursuit.estimators.spec import FitSpec
from kernelpursuit.learning import Columns, choose_final_loss, sample_of, targets_of
from kernelpursuit.losses import Loss
from kernelpursuit.model import FittedModel
from kernelpursuit.penalties import Atoms, as_penalty
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
        dictionary=spec.with_trend(atoms, None if learned is None else learned.trend),
        candidates="all",
        max_atoms=n_atoms,
        all_picked=ALL_LEARNED,
        by_moments=False,
        rule=KEEP_ALL if spec.stops_by_auto and model.n_steps else resolved.loop.rule,
    )
    if spec.alpha is not None:
        loop = replace(loop, penalty=spec.loop.penalty, alpha=spec.alpha)
    else:
        matrix = as_penalty(loop.penalty)
        total = float(model.path.total_weight)
        over = Atoms.of(atoms, total)
        if matrix is not None:
            unit = matrix.strength(1.0, over)
            every = np.arange(n_atoms)
            between = matrix.between(over, every, every)
            gram = np.diag(matrix.diagonal(over)) if between is None else between
            with one_blas_thread():
                columns = _columns(model, rows, spec, gram=gram)
                found = choose_final_loss(columns, loss, loop.alpha * unit, spec.loop.seed, watch)
            if spec.chooses_loss and not found.is_better:
                return None
            loop = replace(loop, alpha=found.strength / unit)
    return FinalLoop(loop, _with_targets(rows, loss))


def _columns(model: FittedModel, rows: TrainingRows, spec: FitSpec, gram: np.ndarray) -> Columns:
    """What the final model may be made of, on a sample of the rows."""
    weights = learning_rows(spec, rows.y, rows.weights)
    weights = np.ones(len(rows.y)) if weights is None else weights
    sample, n_threads = sample_of(weights, spec.loop.seed), resolve_threads(spec.loop.n_jobs)
    X = rows.X[sample]
    fixed = model.fixed_values(X, n_threads)
    values = model.values(X, model.atoms.take(np.arange(len(gram))), n_threads)
    codes = np.ascontiguousarray(rows.y[sample].T)
    return Columns(np.vstack([fixed, values]), len(fixed), gram, codes, weights[sample])


def _with_targets(rows: TrainingRows, loss: Loss) -> TrainingRows:
    """Rows with targets as a loss takes them."""
    validation = rows.validation
    if validation is not None:
        validation = (validation[0], targets_of(validation[1], loss), validation[2])
    return replace(rows, y=targets_of(rows.y, loss), validation=validation)
