"""Least-squares weights for a model whose iterations left others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernelpursuit.engine import Engine
from kernelpursuit.pursuit.fits import OrthogonalFit, Outcome
from kernelpursuit.pursuit.models import Explicit, Factor
from kernelpursuit.pursuit.path import PursuitPath
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.recorder import Recorder

# Columns that are looked at together.
BLOCK = 64


def refitted(path: PursuitPath, k: int, engine: Engine, problem: Problem, recorder: Recorder) -> PursuitPath:
    """Return the path with the weights of the model after k steps recomputed, as Nair advises at the end of MRX.

    Atoms that are numerically dependent on the others leave that model. All that the path says of it is what holds
    for the new weights. Time O(n k²), memory n k numbers.
    """
    atoms, members = path.atoms(k), path.members(k)
    fit = OrthogonalFit(engine, problem.targets, None, len(atoms), problem.fixed)
    kept = [i for i, atom in enumerate(atoms) if fit.add(fit.examine(np.array([atom])), 0) is Outcome.ADDED]
    models = path.models
    assert isinstance(models, Explicit)
    factor = Factor(members[kept], fit.basis.R, fit.b[: fit.basis.size] / problem.scale)
    entry = Recorder(fit, 0, problem.scale, recorder.facts, recorder.monitor).entry()
    size = path.size.copy()
    size[k] = len(kept)
    changed: dict[str, Any] = {"size": size}
    for name in ("cost", "residual_norm", "dof", "target_residual", "validation"):
        if name in entry:
            changed[name] = getattr(path, name).copy()
            changed[name][k] = entry[name]
    return replace(path, models=replace(models, refits={**models.refits, k: factor}), **changed)
