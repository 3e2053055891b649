"""The path over all rows, where those in memory are a sample: atoms are picked on it, and all else is of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg import eigh, qr

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
    problem: Problem, spec: LoopSpec, limit: Limit, order_of: OrderOf, watch: Watch, order: np.ndarray | None = None
) -> tuple[PursuitPath, Problem]:
    """The path of all atoms of a problem over all rows, and the problem without atoms that are dependent.

    Parameters
    ----------
    problem : Problem
        Its rows are a sample, its atoms those that were picked on it.
    spec : LoopSpec
        All weights refitted under the squared loss, with a penalty whose matrix is that of the atoms in any order.
    order_of : callable
        The loop, which returns the order in which it picks the columns of a square matrix.
    order : array, optional
        The atoms in the order in which they were picked, where that stays; else the largest gain over all rows is
        picked first.

    Notes
    -----
    Of the atoms, greedy steps over all rows pick those first that steps over the whole dictionary would: so with all
    rows for a sample, this is the path of the plain loop. Time: about two passes of `n k²` multiplications each.
    """
    n_threads, n_candidates = resolve_threads(spec.n_jobs), problem.dictionary.n_atoms
    for n_round in range(MAX_ROUNDS):
        n_atoms = problem.dictionary.n_atoms
        atoms = problem.penalised_atoms(n_threads, over_all_rows=True)
        penalty, _ = resolve_penalty(spec.penalty, spec.alpha, atoms)
        L = np.zeros((n_atoms, n_atoms)) if penalty is None else penalty.matrix()
        stream = Stream.of(problem, n_threads, watch)
        n_fixed = stream.columns.n_fixed
        with watch.within(0.0, MOMENTS_SHARE):
            factor = triangularise(stream, L)
        if factor is None:
            problem, order = _only(problem, order, _independent(stream, L, NEW_ON_SAMPLE * STRICTER**n_round))
            continue
        known = order_of(factor.R[n_fixed:, n_fixed:], factor.b[n_fixed:], spec) if order is None else order
        # Atoms that the loop did not pick come last: dependent ones, and all where nothing is left to explain.
        places = np.concatenate([known, np.setdiff1d(np.arange(n_atoms), known)])
        factor = factor.reordered(np.concatenate([np.arange(n_fixed), n_fixed + places]))
        is_new = factor.new_parts[n_fixed:] > BARELY_NEW
        if not is_new.all():
            problem, order = _only(problem, order, np.sort(places[is_new]))
            continue
        with watch.within(MOMENTS_SHARE, 1.0):
            path = streamed_path(problem, stream.in_order(places), factor, L[np.ix_(places, places)], spec=spec)
        assert path is not None, "too little of an atom is new"
        watch.done()
        path = replace(path, n_candidates=n_candidates)
        norms = factor.target_norm, problem.scale
        return ended(path, spec.rule, watch, norms=norms, last=limit.reason), problem
    raise ValueError("atoms are dependent on each other over all rows; give a larger alpha, or fewer atoms.")


def _only(problem: Problem, order: np.ndarray | None, kept: np.ndarray) -> tuple[Problem, np.ndarray | None]:
    """The problem with some of its atoms, and their order by their new numbers."""
    return problem.only(kept), None if order is None else np.searchsorted(kept, order[np.isin(order, kept)])


def _independent(stream: Stream, penalties: np.ndarray, least: float) -> np.ndarray:
    """Atoms of which so much is new on the sample, by QR with pivots."""
    columns: ModelColumns = stream.columns
    sample = stream.sample(min(stream.in_memory.n_rows, 4 * len(columns)))
    values = columns.values(sample.X)
    # Of so few rows, the penalty has the share that it has beside all. Atoms have its root for coordinates.
    squares, vectors = eigh(penalties * (len(sample) / stream.n_rows), check_finite=False)
    n_fixed = columns.n_fixed
    root = np.pad(vectors * np.sqrt(np.maximum(squares, 0.0)), ((n_fixed, 0), (0, 0)))
    values = np.hstack([values, root])
    lengths = np.sqrt(np.einsum("ij,ij->i", values, values))
    scaled = values / np.where(lengths > 0, lengths, 1.0)[:, None]
    Q = np.linalg.qr(scaled[:n_fixed].T)[0]
    left = scaled[n_fixed:].T - Q @ (Q.T @ scaled[n_fixed:].T)
    R, order = qr(left, mode="r", pivoting=True, check_finite=False)
    rank = int(np.count_nonzero(np.square(np.diagonal(R)) > least))
    return np.sort(order[:rank])
