"""Any loss, one weight at a time (Vincent and Bengio figure 4): a line search, and all refitted every few steps."""

from __future__ import annotations

import numpy as np

from kernelpursuit.engine import Engine
from kernelpursuit.pursuit.basis import DEPENDENT
from kernelpursuit.pursuit.fits.base import Outcome, Shortlist, dot, frobenius
from kernelpursuit.pursuit.fits.increments import StagewiseFit
from kernelpursuit.pursuit.fits.loss import LossFit
from kernelpursuit.pursuit.models import Explicit
from kernelpursuit.pursuit.objective import Objective, descend
from kernelpursuit.pursuit.penalty import Penalty
from kernelpursuit.pursuit.triangular import solve_upper
from kernelpursuit.updates import Orthogonal, Stagewise


class StagewiseLossFit(StagewiseFit):
    """The residual is the functional gradient (Vincent and Bengio eq. 8), all rows in one metric but for their weights.

    Parameters
    ----------
    engine, objective, start, penalty, fixed
        As for `LossFit`.
    update : Stagewise
        Shrinkage, how often to refit, and by which solver.
    """

    def __init__(
        self,
        engine: Engine,
        objective: Objective,
        start: np.ndarray,
        penalty: Penalty | None,
        fixed: np.ndarray,
        update: Stagewise,
    ):
        self.objective = objective
        self.update = update
        self.fixed_values = fixed
        self._start = start
        without_atoms = LossFit(engine, objective, start, None, 0, fixed, self._all_at_once())
        self._scores = without_atoms.scores()
        self._fixed_weights = without_atoms.weights()
        # One number for all rows, so that atoms are compared with the gradient itself: eq. 9, and the scale of L.
        metric = objective.metric(self._scores)
        self._metric = objective.weights * (metric.sum() / objective.weights.sum())
        engine.reweight(self._metric)
        self._root = np.sqrt(self._metric)
        super().__init__(engine, self._gradient(), penalty, self._root * fixed, update.shrinkage)
        self.sample_weights = objective.weights
        self._look()
        self._places = [np.zeros(0, dtype=np.intp)]
        self._weights = [self.weights()]

    def _all_at_once(self) -> Orthogonal:
        return Orthogonal(solver=self.update.solver)

    def _gradient(self) -> np.ndarray:
        """The steepest descent of the loss, as a vector in the metric."""
        return -self.objective.gradient(self._scores) / (2 * self._root)

    def cost(self) -> float:
        """`sum_i s_i loss(y_i, f_i) + w' L w`."""
        return self.objective.value(self._scores) + float(self.penalties.sum())

    def misfit(self) -> float:
        """Root of the sum of losses, in place of the norm of the residual."""
        return float(np.sqrt(max(self.objective.value(self._scores), 0.0)))

    def add(self, shortlist: Shortlist, k: int) -> Outcome:
        """Add the k-th atom of a shortlist, or to its weight, by a line search; refit all where that is due."""
        atom = int(shortlist.atoms[k])
        column, p = self.fixed.centred(self.engine.columns(shortlist.atoms[[k]])[0])
        if dot(column, column) + self.own_penalties[atom] <= DEPENDENT * shortlist.details.full[k]:
            return Outcome.DEPENDENT
        step = self.shrinkage * self._line_minimum(atom, column)
        self._fixed_weights = self._fixed_weights - np.outer(solve_upper(self.basis.R, p), step)
        self._follow(atom, step, np.ones_like(step), column, p)
        self._refit_fixed()
        every = self.update.refit_every
        if every is not None and self.n_steps % every == 0:
            self._refit()
        self._places.append(np.arange(len(self.places)))
        self._weights.append(self.weights())
        return Outcome.ADDED

    def _line_minimum(self, atom: int, column: np.ndarray) -> np.ndarray:
        """The best weights, one for each target, to add the atom with (Vincent and Bengio eq. 10)."""
        values, share, own = column / self._root, self.share(np.array([atom]))[:, 0], self.own_penalties[atom]
        # In units in which the curvature is about one.
        unit = 1.0 / np.sqrt(dot(column, column) + own)

        def along(t: np.ndarray) -> tuple[float, np.ndarray]:
            step = unit * t
            scores = self._scores + np.outer(step, values)
            cost = self.objective.value(scores) + float(self.penalties.sum() + step @ (2 * share + own * step))
            return cost, unit * (self.objective.gradient(scores) @ values + 2 * (share + own * step))

        return unit * descend(along, np.zeros(self.n_targets), self.update.solver)

    def _refit_fixed(self) -> None:
        """Let the fixed columns follow, so that the gradient is orthogonal to them as atoms are compared without."""
        if not self.n_fixed:
            return
        directions = self.basis.V / self._root

        def along(c: np.ndarray) -> tuple[float, np.ndarray]:
            scores = self._scores + c.T @ directions
            return self.objective.value(scores), directions @ self.objective.gradient(scores).T

        c = descend(along, np.zeros((self.n_fixed, self.n_targets)), self.update.solver)
        self._fixed_weights = self._fixed_weights + solve_upper(self.basis.R, c)
        self._scores = self._scores + c.T @ directions
        self._look()

    def _move(self, step: np.ndarray, factor: np.ndarray, column: np.ndarray) -> None:
        """Let scores and gradient follow."""
        self._scores = self._scores + np.outer(step, column / self._root)
        self._look()

    def _look(self) -> None:
        """Take the gradient at the scores for a residual."""
        self.residual[:] = self._gradient()
        self.residual_norm = frobenius(self.residual)
        self.targets = self._root * self._scores + self.residual

    def _refitted(self, atoms: np.ndarray, weights: np.ndarray) -> tuple[LossFit, np.ndarray, np.ndarray]:
        """Minimise the loss over all weights (Vincent and Bengio eq. 11) from given ones: the fit, weights, scores.

        An atom that is numerically dependent on those before it is left with no weight.
        """
        update = self._all_at_once()
        full = LossFit(self.engine, self.objective, self._start, self.penalty, len(atoms), self.fixed_values, update)
        full.take_over(atoms, weights)
        scores = full.scores()  # before the engine has its own weights again
        self.engine.reweight(self._metric)
        found, all_of_them = full.weights(), np.zeros_like(weights)
        all_of_them[: self.n_fixed] = found[: self.n_fixed]
        all_of_them[self.n_fixed + np.flatnonzero(np.isin(atoms, full.atoms))] = found[self.n_fixed :]
        return full, all_of_them, scores

    def _refit(self) -> None:
        """Give all atoms the weights that minimise the loss."""
        full, weights, self._scores = self._refitted(self.used, self.weights())
        self._fixed_weights, self.values[: len(self.places)] = weights[: self.n_fixed], weights[self.n_fixed :]
        self.penalties = full.penalties()
        self._look()
        self.n_refits += 1

    def weights(self) -> np.ndarray:
        """Weights of the fixed columns and the atoms, as they are."""
        return np.vstack([self._fixed_weights, self.values[: len(self.places)]])

    def models(self, scale: float) -> Explicit:  # type: ignore[override]
        """The models by their weights after every step."""
        return Explicit(self._places, self._weights, None, scale)

    def finish(self, k: int) -> dict[str, float]:
        """Refit the model after k steps, where refits were asked for and the last one is not there."""
        every = self.update.refit_every
        if every is None or k % every == 0:
            return {}
        full, self._weights[k], _ = self._refitted(self.used[self._places[k]], self._weights[k])
        return {"cost": full.cost(), "residual_norm": full.misfit()}
