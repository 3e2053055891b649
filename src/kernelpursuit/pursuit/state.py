"""The fit so far: basis, residual, leverages, and exact scores of any few atoms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit import _native
from kernelpursuit.engine import Engine
from kernelpursuit.pursuit.basis import Basis, Direction, grown
from kernelpursuit.pursuit.penalty import Penalty


@dataclass
class Shortlist:
    """A few atoms with everything that a selection rule may want to know of them, in float64.

    atoms    their numbers, ascending
    vectors  their vectors as the basis takes them: sample values, then coordinates in the penalty
    inner    <j, j>
    p        <j, direction t>, shape (n_directions, n_atoms)
    u        what is left for j to explain, shape (n_targets, n_atoms)
    a        what of j is still new
    """

    atoms: np.ndarray
    vectors: np.ndarray
    inner: np.ndarray
    p: np.ndarray
    u: np.ndarray
    a: np.ndarray


class PursuitState:
    """What the loop carries from step to step.

    Parameters
    ----------
    engine : Engine
        Products with the dictionary.
    targets : array of shape (n_targets, n_rows)
        Targets, times the root of the sample weights.
    penalty : Penalty or None
        The penalty over atoms.
    max_atoms : int
        Most atoms that may be added.
    fixed : array of shape (n_fixed, n_rows)
        Columns that are in the model from the start and never penalised (the intercept).
    """

    def __init__(self, engine: Engine, targets: np.ndarray, penalty: Penalty | None, max_atoms: int, fixed: np.ndarray):
        self.engine = engine
        self.penalty = penalty
        self.own_penalties = np.zeros(engine.n_atoms) if penalty is None else penalty.diagonal(engine.n_atoms)
        self.basis = Basis(engine.n_rows, max_atoms + len(fixed), penalty is not None, engine.n_threads)
        # The residual as a vector of the basis: beside y - D w, minus the model's coordinates in the penalty.
        self._left = np.zeros((targets.shape[0], self.basis.full_width))
        self._left[:, : engine.n_rows] = targets
        self.b = np.zeros((0, targets.shape[0]))
        self.leverage = np.zeros(engine.n_rows)
        self.residual_norm = self._norm()  # root of the weighted sum of squared residuals
        self.atoms: list[int] = []
        self.n_fixed = 0
        for column in fixed:
            vector = np.zeros(self.basis.full_width)
            vector[: engine.n_rows] = column
            direction = self.basis.orthogonalise(vector, self.basis.project(vector[None])[:, 0])
            if direction is None:
                raise ValueError("The fixed columns of the model are linearly dependent; leave one of them out.")
            self._append(direction, None)
            self.n_fixed += 1
        self.initial_cost = self.cost()

    @property
    def residual(self) -> np.ndarray:
        """`y - D w`, times the root of the sample weights, shape (n_targets, n_rows)."""
        return self._left[:, : self.engine.n_rows]

    def _norm(self) -> float:
        return float(np.sqrt(np.einsum("ij,ij->", self.residual, self.residual)))

    def cost(self) -> float:
        """`||y - D w||² + w' L w`."""
        left = self._left[:, : self.basis.width]
        return float(np.einsum("ij,ij->", left, left))

    def examine(self, atoms: np.ndarray) -> Shortlist:
        """Exact scores of a few atoms: their columns and one matrix product over the basis."""
        self.basis.reserve()
        if self._left.shape[1] < self.basis.full_width:
            self._left = np.pad(self._left, ((0, 0), (0, self.basis.full_width - self._left.shape[1])))
        picked = np.asarray(self.atoms, dtype=np.intp)
        between = None if self.penalty is None else self.penalty.between(picked, atoms)
        vectors = self.basis.lift(self.engine.columns(atoms), between, self.own_penalties[atoms])
        p = self.basis.project(vectors)
        u = self._times_left(vectors)
        inner = np.einsum("ij,ij->i", vectors, vectors)
        return Shortlist(atoms, vectors, inner, p, u, inner - np.einsum("ij,ij->j", p, p))

    def add(self, shortlist: Shortlist, k: int) -> bool:
        """Add the k-th atom of a shortlist and refit all weights; False where it is numerically dependent."""
        vector = shortlist.vectors[k]
        direction = self.basis.orthogonalise(vector, shortlist.p[:, k])
        if direction is None:
            return False
        self._append(direction, vector[self.engine.n_rows :])
        self.atoms.append(int(shortlist.atoms[k]))
        return True

    def _times_left(self, vectors: np.ndarray) -> np.ndarray:
        """Products of vectors with the residuals, shape (n_targets, n_vectors)."""
        return _native.stored_rmatvec(vectors, self._left, n_threads=self.engine.n_threads)

    def _append(self, direction: Direction, coordinates: np.ndarray | None) -> None:
        t = self.basis.size
        v = self.basis.append(direction, coordinates)
        b = self._times_left(v[None])[:, 0]
        v = v[: self.basis.width]
        left = self._left[:, : self.basis.width]
        self.b = grown(self.b, t + 1)
        self.b[t] = b
        left -= np.outer(b, v)
        self.leverage += np.square(v[: self.engine.n_rows])
        self.residual_norm = self._norm()
