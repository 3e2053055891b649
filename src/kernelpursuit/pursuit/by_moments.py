"""The path over all atoms of a small dictionary from moments of the rows: their order, and what each size comes to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelpursuit._native.threads import resolve_threads
from kernelpursuit.pursuit.loop import Limit
from kernelpursuit.pursuit.path import PursuitPath, Replay
from kernelpursuit.pursuit.penalty import resolve_penalty
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.spec import LoopSpec
from kernelpursuit.pursuit.stream import Stream
from kernelpursuit.pursuit.streamed import ended, streamed_path
from kernelpursuit.pursuit.triangular_factor import triangularise
from kernelpursuit.pursuit.watch import Watch
from kernelpursuit.updates import Orthogonal

# Of the time that a path from blocks of rows takes, what goes to the moments.
MOMENTS_SHARE = 0.6


def path_by_moments(
    problem: Problem,
    spec: LoopSpec,
    limit: Limit,
    order_of: Callable[[np.ndarray, np.ndarray, LoopSpec], np.ndarray],
    watch: Watch,
) -> tuple[PursuitPath | None, Replay | None]:
    """The path over all atoms from blocks of rows, and the steps that lead there.

    The path is None where a loop over all rows is to take these steps, and the steps are where atoms are dependent, or
    another loop than the default one is asked for, in which the order is no matter of inner products alone.
    `order_of` is the loop, which returns the order in which it picks the columns of a square matrix.

    Notes
    -----
    Scores depend on the rows by inner products alone. With `R'R` the matrix of these and `R'b = D'y`, the k atoms have
    the same products with each other and with the targets as the columns of R, of k rows each, with b: so the loop sees
    k rows in place of n, and picks the same atoms.
    """
    n_threads, rule = resolve_threads(spec.n_jobs), spec.rule
    penalty, nugget = resolve_penalty(spec.penalty, spec.alpha, problem.penalised_atoms(n_threads))
    is_plain = spec.selection == "gain" and type(spec.update) is Orthogonal and not spec.exchange
    if nugget or not is_plain or not (penalty is None or penalty.is_diagonal):
        return None, None
    n_atoms = problem.dictionary.n_atoms
    L = np.zeros((n_atoms, n_atoms)) if penalty is None else penalty.matrix()
    stream = Stream.of(problem, n_threads, watch)
    with watch.within(0.0, MOMENTS_SHARE):
        factor = triangularise(stream, L)
    if factor is None:
        return None, None
    n_fixed = stream.columns.n_fixed
    atoms = order_of(factor.R[n_fixed:, n_fixed:], factor.b[n_fixed:], spec)
    replay = Replay.in_blocks_of(atoms)
    # What is asked of all rows at each step needs a loop over all rows.
    asks_more = rule.needs_correlation or rule.needs_coherence or spec.margin is not None
    if len(atoms) < n_atoms or not stream.pays or asks_more:
        return None, replay
    factor = factor.reordered(np.concatenate([np.arange(n_fixed), n_fixed + atoms]))
    with watch.within(MOMENTS_SHARE, 1.0):
        path = streamed_path(problem, stream.in_order(atoms), factor, L[np.ix_(atoms, atoms)], spec=spec)
    if path is None:
        return None, replay
    watch.done()
    norms = factor.target_norm, problem.scale
    return ended(path, rule, watch, norms=norms, last=limit.reason), replay
