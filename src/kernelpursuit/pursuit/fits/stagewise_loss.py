"""Any loss, one weight at a time (Vincent and Bengio figure 4): a line search, and all refitted every few steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit.pursuit.basis import DEPENDENT
from kernelpursuit.pursuit.fits.around import FitAround
from kernelpursuit.pursuit.fits.base import Design, ExaminedAtoms, Outcome
from kernelpursuit.pursuit.fits.fixed import Centred
from kernelpursuit.pursuit.fits.increments import IncrementFit, Step
from kernelpursuit.pursuit.fits.loss import LossFit
from kernelpursuit.pursuit.objective import Objective, Search, minimise
from kernelpursuit.pursuit.triangular import solve_upper
from kernelpursuit.updates import Orthogonal, Stagewise


@dataclass(frozen=True)
class Refitted:
    """A model with all weights refitted: those of the fixed columns and the atoms, scores, and the fit they are of."""

    weights: np.ndarray
    scores: np.ndarray
    fit: LossFit


class StagewiseLossFit(FitAround):
    """The residual is the functional gradient (Vincent and Bengio eq. 8), with one working weight for all rows.

    Parameters
    ----------
    design, objective, start
        As for `LossFit`.
    update : Stagewise
        Shrinkage, how often to refit, and by which solver.
    """

    quadratic: IncrementFit

    def __init__(self, design: Design, objective: Objective, start: np.ndarray, update: Stagewise):
        self.update = update
        self._start = start
        self._search = Search(update.solver)
        self._all_at_once = Orthogonal(solver=update.solver)
        without_atoms = LossFit(Design(design.engine, design.fixed), objective, start, self._all_at_once)
        self._scores = without_atoms.scores()
        self._fixed_weights = without_atoms.weights()
        # One number for all rows but for their sample weights, so that atoms are compared with the gradient itself:
        # eq. 9, and the scale of L.
        weights = objective.working_weights(self._scores)
        weights = objective.weights * (weights.sum() / objective.weights.sum())
        local = objective.around(self._scores, weights)
        super().__init__(objective, IncrementFit(design.weighted(weights), local.residual, update.shrinkage))
        self._root = np.sqrt(weights)
        self.initial_cost = self.cost()
        self._approximate()
        self._write()

    def cost(self) -> float:
        """`sum_i s_i loss(y_i, f_i) + w' L w`."""
        return self.objective.value(self._scores) + float(self.quadratic.penalties.sum())

    def misfit(self) -> float:
        """Root of the sum of losses, in place of the norm of the residual."""
        return float(np.sqrt(max(self.objective.value(self._scores), 0.0)))

    def weights(self) -> np.ndarray:
        """Weights of the fixed columns and the atoms, as they are."""
        return np.vstack([self._fixed_weights, self.quadratic.values])

    def add(self, examined: ExaminedAtoms, k: int) -> Outcome:
        """Add the k-th atom of those examined, or to its weight, by a line search; refit all where that is due."""
        atom, fit = int(examined.atoms[k]), self.quadratic
        centred = fit.fixed.centred(self.engine.columns(examined.atoms[[k]])[0])
        if fit.inner(atom, centred) <= DEPENDENT * examined.details.full[k]:
            return Outcome.DEPENDENT
        added = fit.shrinkage * self._line_minimum(atom, centred)
        self._fixed_weights = self._fixed_weights - np.outer(solve_upper(fit.basis.R, centred.p), added)
        fit.take(Step(atom, added, np.ones_like(added)), centred)
        self._scores = self._scores + np.outer(added, centred.column / self._root)
        self._refit_fixed()
        self._approximate()
        every = self.update.refit_every
        if every is not None and self.n_steps % every == 0:
            self._refit()
        self._write()
        return Outcome.ADDED

    def _line_minimum(self, atom: int, centred: Centred) -> np.ndarray:
        """The best weights, one for each target, to add the atom with (Vincent and Bengio eq. 10)."""
        fit, values = self.quadratic, centred.column / self._root
        share, own = fit.share(np.array([atom]))[:, 0], fit.own_penalties[atom]
        # In units in which the curvature is about one.
        unit = 1.0 / np.sqrt(fit.inner(atom, centred))

        def along(t: np.ndarray) -> tuple[float, np.ndarray]:
            step = unit * t
            scores = self._scores + np.outer(step, values)
            cost = self.objective.value(scores) + float(fit.penalties.sum() + step @ (2 * share + own * step))
            return cost, unit * (self.objective.gradient(scores) @ values + 2 * (share + own * step))

        return unit * minimise(along, np.zeros(self.n_targets), self._search)

    def _refit_fixed(self) -> None:
        """Let the fixed columns follow, so that the gradient is orthogonal to them as atoms are compared without."""
        if not self.n_fixed:
            return
        basis = self.quadratic.basis
        directions = basis.V / self._root

        def along(c: np.ndarray) -> tuple[float, np.ndarray]:
            scores = self._scores + c.T @ directions
            return self.objective.value(scores), directions @ self.objective.gradient(scores).T

        c = minimise(along, np.zeros((self.n_fixed, self.n_targets)), self._search)
        self._fixed_weights = self._fixed_weights + solve_upper(basis.R, c)
        self._scores = self._scores + c.T @ directions

    def _approximate(self) -> None:
        """Take the gradient at the scores for a residual."""
        self.quadratic.approximate(self.objective.around(self._scores, self.engine.weights))

    def _refitted(self, atoms: np.ndarray, weights: np.ndarray) -> Refitted:
        """Minimise the loss over all weights (Vincent and Bengio eq. 11) from given ones.

        An atom that is numerically dependent on those before it is left with no weight.
        """
        design = replace(self.quadratic.design, capacity=len(atoms))
        fit = LossFit(design, self.objective, self._start, self._all_at_once)
        fit.take_over(atoms, weights)
        found, all_of_them = fit.weights(), np.zeros_like(weights)
        all_of_them[: self.n_fixed] = found[: self.n_fixed]
        all_of_them[self.n_fixed + np.flatnonzero(np.isin(atoms, fit.atoms))] = found[self.n_fixed :]
        return Refitted(all_of_them, fit.scores(), fit)

    def _refit(self) -> None:
        """Give all atoms the weights that minimise the loss."""
        refitted = self._refitted(self.used, self.weights())
        self._fixed_weights, self._scores = refitted.weights[: self.n_fixed], refitted.scores
        self.quadratic.replace_weights(refitted.weights[self.n_fixed :], refitted.fit.quadratic.penalties())
        self._approximate()

    def _write(self) -> None:
        self._places.append(np.arange(len(self.places)))
        self._weights.append(self.weights())

    def finish(self, k: int) -> dict[str, float]:
        """Refit the model after k steps, where refits were asked for and the last one is not there."""
        every = self.update.refit_every
        if every is None or k % every == 0:
            return {}
        refitted = self._refitted(self.used[self._places[k]], self._weights[k])
        self._weights[k] = refitted.weights
        return {"cost": refitted.fit.cost(), "residual_norm": refitted.fit.misfit()}
