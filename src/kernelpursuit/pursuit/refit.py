"""Least-squares weights for a model whose iterations left others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelpursuit.pursuit.fits import OrthogonalFit, Outcome
from kernelpursuit.pursuit.fits.base import Design
from kernelpursuit.pursuit.models import Explicit, Factor
from kernelpursuit.pursuit.path import Entry, PursuitPath
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.recorder import Recorder
from kernelpursuit.pursuit.system import start_fit
from kernelpursuit.updates import Orthogonal


def refitted(path: PursuitPath, k: int, problem: Problem, recorder: Recorder) -> PursuitPath:
    """Return the path with the weights of the model after k steps recomputed, as Nair advises at the end of MRX.

    Atoms that are numerically dependent on the others leave that model, and are among the skipped ones of the path. Its
    arrays stay those of the iterations, which rules compare; `refits` has what holds for the new weights. Time O(n k²),
    memory n k numbers.
    """
    atoms, members = path.atoms(k), path.members(k)
    design = Design(recorder.fit.engine, problem.fixed_values(problem.X), capacity=len(atoms))
    fit = start_fit(Orthogonal(), problem, design)
    assert isinstance(fit, OrthogonalFit), "the squared loss, all weights refitted"
    added = [fit.add(fit.examine(np.array([atom])), 0) is Outcome.ADDED for atom in atoms]
    models = path.models
    assert isinstance(models, Explicit)
    factor = Factor(members[added], fit.basis.R, fit.b[: fit.basis.size] / problem.scale)
    monitor = None if recorder.monitor is None else recorder.monitor.again()
    entry = Recorder(fit, 0, problem, measure=recorder.measure, monitor=monitor).entry()
    size = path.size.copy()
    size[k] = sum(added)
    known: Entry = {
        name: entry[name] for name in ("cost", "residual_norm", "dof", "target_residual", "validation") if name in entry
    }
    left_out = [(k, int(atom)) for atom in atoms[np.logical_not(added)]]
    refits = {**models.refits, k: factor}
    return replace(
        path,
        size=size,
        models=replace(models, refits=refits),
        refits={**path.refits, k: known},
        skipped=path.skipped + left_out,
    )
