"""The path over all rows, where those in memory are a sample: atoms are picked on it, and all else is of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg import qr

from kernelpursuit._native.threads import resolve_threads
from kernelpursuit.pursuit.by_moments import MOMENTS_SHARE
from kernelpursuit.pursuit.loop import Limit
from kernelpursuit.pursuit.moments import ModelColumns
from kernelpursuit.pursuit.path import PursuitPath
from kernelpursuit.pursuit.penalty import resolve_penalty
from kernelpursuit.pursuit.problem import Problem
from kernelpursuit.pursuit.spec import LoopSpec
from kernelpursuit.pursuit.stream import Stream
from kernelpursuit.pursuit.streamed import BARELY_NEW, ended, streamed_path
from kernelpursuit.pursuit.triangular_factor import triangularise
from kernelpursuit.pursuit.watch import Watch

# Passes after each of which atoms are left out that are dependent on the others.
MAX_ROUNDS = 4
# On a sample, the least part of an atom's squared length that is new, where the factor over all rows has failed; and by
# how much more is asked for in every round.
NEW_ON_SAMPLE, STRICTER = 1e-10, 1e2

OrderOf = Callable[[np.ndarray, np.ndarray, LoopSpec], np.ndarray]


def path_over_all_rows(
    problem: Problem, spec: LoopSpec, limit: Limit, order_of: OrderOf, watch: Watch
) -> tuple[PursuitPath, Problem]:
    """The path of all atoms of a problem over all rows, and the problem without atoms that are dependent.

    Parameters
    ----------
    problem : Problem
        Its rows are a sample, its atoms those that were picked on it.
    spec : LoopSpec
        The default loop under the squared loss, with a penalty that is diagonal (`can_stream`).
    order_of : callable
        The loop, which returns the order in which it picks the columns of a square matrix.

    Notes
    -----
    Of the atoms, greedy steps over all rows pick those first that steps over the whole dictionary would: so with all
    rows for a sample, this is the path of the plain loop. Time: about two passes of `n k²` multiplications each.
    """
    n_threads, n_candidates = resolve_threads(spec.n_jobs), problem.dictionary.n_atoms
    for n_round in range(MAX_ROUNDS):
        n_atoms = problem.dictionary.n_atoms
        penalty, _ = resolve_penalty(spec.penalty, spec.alpha, problem.penalised_atoms(n_threads))
        own = np.zeros(n_atoms) if penalty is None else penalty.diagonal()
        stream = Stream.of(problem, n_threads, watch)
        n_fixed = stream.columns.n_fixed
        with watch.within(0.0, MOMENTS_SHARE):
            factor = triangularise(stream, own)
        if factor is None:
            problem = problem.only(_independent(stream, own, NEW_ON_SAMPLE * STRICTER**n_round))
            continue
        atoms = order_of(factor.R[n_fixed:, n_fixed:], factor.b[n_fixed:], spec)
        # Atoms that the loop did not pick come last: dependent ones, and all where nothing is left to explain.
        order = np.concatenate([atoms, np.setdiff1d(np.arange(n_atoms), atoms)])
        factor = factor.reordered(np.concatenate([np.arange(n_fixed), n_fixed + order]))
        is_new = factor.new_parts[n_fixed:] > BARELY_NEW
        if not is_new.all():
            problem = problem.only(np.sort(order[is_new]))
            continue
        with watch.within(MOMENTS_SHARE, 1.0):
            path = streamed_path(problem, stream.in_order(order), factor, own[order], spec=spec)
        assert path is not None, "too little of an atom is new"
        watch.done()
        path = replace(path, n_candidates=n_candidates)
        norms = factor.target_norm, problem.scale
        return ended(path, spec.rule, watch, norms=norms, last=limit.reason), problem
    raise ValueError("atoms are dependent on each other over all rows; give a larger alpha, or fewer atoms.")


def _independent(stream: Stream, penalties: np.ndarray, least: float) -> np.ndarray:
    """Atoms of which so much is new on the sample, by QR with pivots."""
    columns: ModelColumns = stream.columns
    sample = stream.sample(min(stream.in_memory.n_rows, 4 * len(columns)))
    values = columns.values(sample.X)
    # Of so few rows, the penalty has the share that it has beside all.
    share = len(sample) / stream.n_rows
    own = np.concatenate([np.zeros(columns.n_fixed), penalties]) * share
    lengths = np.sqrt(np.einsum("ij,ij->i", values, values) + own)
    scaled = np.hstack([values, np.diag(np.sqrt(own))]) / np.where(lengths > 0, lengths, 1.0)[:, None]
    n_fixed = columns.n_fixed
    Q = np.linalg.qr(scaled[:n_fixed].T)[0]
    left = scaled[n_fixed:].T - Q @ (Q.T @ scaled[n_fixed:].T)
    R, order = qr(left, mode="r", pivoting=True, check_finite=False)
    rank = int(np.count_nonzero(np.square(np.diagonal(R)) > least))
    return np.sort(order[:rank])
