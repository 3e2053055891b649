"""The fit so far: basis, residual, leverages, and exact scores of any few atoms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit.engine import Engine
from kernelpursuit.pursuit.basis import Basis, Direction
from kernelpursuit.pursuit.penalty import Penalty


@dataclass
class Shortlist:
    """A few atoms with everything that a selection rule may want to know of them, in float64.

    atoms    their numbers, ascending
    columns  their sample values, shape (n_atoms, n_rows)
    inner    <j, j>
    p        <j, direction t>, shape (n_directions, n_atoms)
    u        what is left for j to explain, shape (n_targets, n_atoms)
    a        what of j is still new
    between  penalty between picked atoms and j, or None
    """

    atoms: np.ndarray
    columns: np.ndarray
    inner: np.ndarray
    p: np.ndarray
    u: np.ndarray
    a: np.ndarray
    between: np.ndarray | None


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
    capacity : int
        Most directions that may be added, the intercept's included.
    fixed : array of shape (n_fixed, n_rows)
        Columns that are in the model from the start and never penalised (the intercept).
    """

    def __init__(
        self, engine: Engine, targets: np.ndarray, penalty: Penalty | None, capacity: int, fixed: np.ndarray
    ):
        self.engine = engine
        self.penalty = penalty
        self.own_penalties = np.zeros(engine.n_atoms) if penalty is None else penalty.diagonal(engine.n_atoms)
        self.basis = Basis(engine.n_rows, capacity, penalty is not None)
        self.residual = targets.copy()
        self.b = np.zeros((capacity, targets.shape[0]))
        self.leverage = np.zeros(engine.n_rows)
        self.atoms: list[int] = []
        self.n_fixed = 0
        for column in fixed:
            nothing = np.zeros(self.basis.size)
            direction = self.basis.orthogonalise(column, self.basis.V @ column, float(column @ column), None, 0.0)
            if direction is None:
                raise ValueError("The fixed columns of the model are linearly dependent; leave one of them out.")
            self._append(direction, nothing, 0.0)
            self.n_fixed += 1
        self.initial_cost = self.cost()

    @property
    def weights(self) -> np.ndarray:
        """Weights of fixed columns and picked atoms, shape (size, n_targets)."""
        return self.basis.weights(self.b[: self.basis.size])

    def residual_norm(self) -> float:
        """Root of the weighted sum of squared residuals."""
        return float(np.linalg.norm(self.residual))

    def cost(self) -> float:
        """`||y - D w||² + w' L w`."""
        cost = float(np.vdot(self.residual, self.residual))
        if self.basis.L is not None:
            w = self.weights
            cost += float(np.vdot(w, self.basis.L @ w))
        return cost

    def between(self, atoms: np.ndarray) -> np.ndarray | None:
        """Penalty between everything in the model (fixed columns have none) and the given atoms."""
        picked = None if self.penalty is None else self.penalty.between(np.asarray(self.atoms, dtype=int), atoms)
        if picked is None:
            return None
        return np.vstack([np.zeros((self.n_fixed, len(atoms))), picked])

    def examine(self, atoms: np.ndarray) -> Shortlist:
        """Exact scores of a few atoms: their columns and one matrix product over the basis."""
        columns = self.engine.columns(atoms)
        between = self.between(atoms)
        p = self.basis.project(columns, between)
        u = self.residual @ columns.T
        if between is not None:
            u -= self.weights.T @ between
        inner = np.einsum("ij,ij->i", columns, columns) + self.own_penalties[atoms]
        a = inner - np.einsum("ij,ij->j", p, p)
        return Shortlist(atoms, columns, inner, p, u, a, between)

    def add(self, shortlist: Shortlist, k: int) -> bool:
        """Add the k-th atom of a shortlist and refit all weights; False where it is numerically dependent."""
        atom = int(shortlist.atoms[k])
        between = None if shortlist.between is None else shortlist.between[:, k]
        own = float(self.own_penalties[atom])
        direction = self.basis.orthogonalise(
            shortlist.columns[k], shortlist.p[:, k], float(shortlist.inner[k]), between, own
        )
        if direction is None:
            return False
        self._append(direction, between, own)
        self.atoms.append(atom)
        return True

    def _append(self, direction: Direction, between: np.ndarray | None, own_penalty: float) -> None:
        t = self.basis.size
        b = self.residual @ direction.values
        if self.basis.L is not None and t:
            # The model so far has weights w, and the new direction has weights (-R^{-1} p, 1) / rho.
            w = self.weights
            q = self.basis.weights(direction.p)
            cross = 0.0 if between is None else w.T @ between
            b -= cross - w.T @ (self.basis.L @ q)
        b /= direction.rho
        v = self.basis.append(direction, between, own_penalty)
        self.b[t] = b
        self.residual -= np.outer(b, v)
        self.leverage += np.square(v)
