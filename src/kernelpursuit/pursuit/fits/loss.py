"""Any loss, all weights refitted: least squares on its local quadratic approximation, moved along by refits.

Between two refits the fit is the least-squares one of the working response, with the working weights (`working.py`), so
that a step, its gain u²/a and leave-one-out cost what they always cost. A refit minimises the loss itself over all
weights, and takes the approximation at the minimum for the steps to come. Its working weights are not the exact ones of
every row: curvatures below a hundredth of the largest are rounded up to that, and where new weights cost much, those
that are up to half as many atoms old are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from scipy.linalg import cholesky

from kernelpursuit.pursuit.fits.around import FitAround
from kernelpursuit.pursuit.fits.base import Design, ExaminedAtoms, Outcome
from kernelpursuit.pursuit.fits.orthogonal import OrthogonalFit
from kernelpursuit.pursuit.objective import CONVERGED, FULLY_CONVERGED, LossSums, Objective, Search, minimise
from kernelpursuit.pursuit.triangular import solve_upper
from kernelpursuit.pursuit.watch import Ended
from kernelpursuit.updates import Orthogonal

# The working weights stay as they are where none would change by more than this fraction: gains, which decide what is
# picked, then change by less than that. New ones cost the scores a pass over the dictionary for every direction that
# there is: above AFFORDABLE_PASSES products, some tenths of a second, they also stay until the model has grown by this
# factor, so that all passes together cost no more than twice the last.
SAME_WEIGHTS = 1e-3
AFFORDABLE_PASSES = 2e8
GROWTH_BETWEEN = 2.0
# refit_every="auto": a refit after an eighth as many steps as the model has atoms, and where there are more products
# than this in one look at the loss, about a millisecond, after as many.
FEW_PRODUCTS = 1e6
# Up to this many, a look at the loss costs less than calling it, and every refit goes to the last digits.
NEGLIGIBLE_PRODUCTS = 1e4
# The same over more rows than these, each look at which is a pass. The cost is then within 1e-7 of the least, and some
# 1e-5 where several scores have directions with little curvature: a small part of what the rows leave open, which is
# the number of coefficients over theirs.
CONVERGED_ELSEWHERE = 3e-4
# Curvatures beside that of the working weights, which is one in every direction, are taken to be no less than this.
# With a tenth of it there were twice as many passes: other rows turn steps back where these say next to nothing.
LEAST_PART_OF_CURVATURE = 1e-3


class LossFit(FitAround):
    """The fit that minimises a loss over the picked atoms.

    Parameters
    ----------
    design : Design
        The columns; the working weights take the place of its weights.
    objective : Objective
        The loss, targets and sample weights.
    start : array of shape (n_targets,)
        Scores around which the first approximation is taken.
    update : Orthogonal
        How often to refit, and by which solver.
    """

    quadratic: OrthogonalFit

    def __init__(self, design: Design, objective: Objective, start: np.ndarray, update: Orthogonal):
        local = objective.around(np.repeat(start[:, None], design.engine.n_rows, axis=1))
        super().__init__(objective, OrthogonalFit(design.weighted(local.weights), local.targets, update.rcond))
        self._loss_sum = objective.value(local.scores)
        self.update = update
        self._weighted_at = 0  # steps that the model had when the working weights were taken
        self._refitted_at = 0  # steps that it had when all was refitted
        self._refitted = np.zeros((0, self.n_targets))  # coordinates that the last refit found
        self.refit()
        self._write()
        self.initial_cost = self.cost()

    def _scores_of(self, b: np.ndarray) -> np.ndarray:
        return (b.T @ self.quadratic.basis.V[: len(b)]) / np.sqrt(self.engine.weights)

    def _cost_of(self, b: np.ndarray) -> tuple[float, np.ndarray]:
        """The penalised loss of the model with coordinates b in the first directions, and its gradient."""
        basis, root = self.quadratic.basis, np.sqrt(self.engine.weights)
        V, T = basis.V[: len(b)], basis.T[: len(b)]
        scores, model = (b.T @ V) / root, T.T @ b
        gradient = self.objective.gradient(scores) / root
        cost = self.objective.value(scores) + float(np.square(model).sum())
        return cost, V @ gradient.T + 2 * (T @ model)

    def scores(self) -> np.ndarray:
        """Values of the model on the training rows, shape (n_targets, n_rows)."""
        return self.quadratic.scores()

    def weights(self) -> np.ndarray:
        """Weights of the fixed columns and the model's atoms, shape (n_fixed + n_atoms, n_targets)."""
        return self.quadratic.weights()

    def cost(self) -> float:
        """`sum_i s_i loss(y_i, f_i) + w' L w`."""
        return self._loss_sum + self.quadratic.penalised()

    def misfit(self) -> float:
        """Root of the sum of losses, in place of the norm of the residual."""
        return float(np.sqrt(max(self._loss_sum, 0.0)))

    def add(self, examined: ExaminedAtoms, k: int) -> Outcome:
        """Add the k-th atom of those examined; refit where that is due, or where the approximation has misled."""
        before = self.cost()
        outcome = self.quadratic.add(examined, k)
        if outcome is Outcome.ADDED:
            self._loss_sum = self.objective.value(self.scores())
            if self.n_steps >= self._refitted_at + self._steps_between() or not self.cost() <= before:
                self.refit()
            self._write()
        return outcome

    def _n_products(self, size: int) -> int:
        """Products in one look at the loss with so many directions."""
        return self.residual.size * size

    def _steps_between(self) -> int:
        every = self.update.refit_every
        if every != "auto":
            return int(every)
        few = self._n_products(self.quadratic.basis.size) <= FEW_PRODUCTS
        return max(1, self._refitted_at // 8 if few else self._refitted_at)

    def take_over(self, atoms: np.ndarray, weights: np.ndarray) -> None:
        """Add atoms one after the other and minimise the loss from given weights of fixed columns and atoms.

        Atoms that are numerically dependent on those before are left out.
        """
        added = [self.quadratic.add(self.examine(np.array([atom])), 0) is Outcome.ADDED for atom in atoms]
        kept = np.concatenate([np.ones(self.n_fixed, dtype=bool), added])
        self.refit(self.quadratic.basis.R @ weights[kept])

    def refit(self, start: np.ndarray | None = None) -> None:
        """Minimise the loss over all weights, and take the approximation (and where due, its weights) there."""
        size = self.quadratic.basis.size
        converged = FULLY_CONVERGED if self._n_products(size) <= NEGLIGIBLE_PRODUCTS else CONVERGED
        b = self._minimum(self.quadratic.b[:size] if start is None else start, converged)
        self._refitted_at = self.n_steps
        n_products = self.engine.n_rows * self.engine.n_atoms * size
        if n_products <= AFFORDABLE_PASSES or self.n_steps >= GROWTH_BETWEEN * self._weighted_at:
            b = self._reweight(b)
        self._refitted = b.copy()
        scores = self._scores_of(b)
        self.quadratic.move_to(b, self.objective.around(scores, self.engine.weights))
        self._loss_sum = self.objective.value(scores)

    def _reweight(self, b: np.ndarray) -> np.ndarray:
        """Take the working weights at the model with coordinates b, where they have changed; return its new ones."""
        weights = self.objective.working_weights(self._scores_of(b))
        if np.allclose(weights, self.engine.weights, rtol=SAME_WEIGHTS, atol=0.0):
            return b
        self._weighted_at = self.n_steps
        return self.quadratic.reweight(weights) @ b

    def _minimum(self, b: np.ndarray, converged: float) -> np.ndarray:
        """Coordinates that minimise the penalised loss over the first `len(b)` directions.

        The search starts from b, b without the last atom, or the last refit, whichever is lowest.
        """
        if not len(b):
            return b
        before, last = b.copy(), np.zeros_like(b)
        before[-1] = 0.0
        shared = min(len(b), len(self._refitted))
        last[:shared] = self._refitted[:shared]
        start = min((b, before, last), key=lambda coordinates: self._cost_of(coordinates)[0])
        return minimise(self._cost_of, start, Search(self.update.solver, converged, self.objective.watch))

    def _write(self) -> None:
        self._places.append(np.array([self.places[atom] for atom in self.atoms], dtype=np.intp))
        self._weights.append(self.weights())

    def finish(self, k: int) -> dict[str, float]:
        """Minimise the loss over the weights of the model after k steps, to the last digits; return what it is then."""
        R = self._factor(k)
        b = self._minimum(R @ self._weights[k], FULLY_CONVERGED)
        self._weights[k] = solve_upper(R, b)
        return _facts(self._cost_of(b)[0], self.objective.value(self._scores_of(b)))

    def finish_over(self, k: int, sums: Callable[[np.ndarray], LossSums]) -> dict[str, float]:
        """The same over other rows, that `sums` gives value and gradient of by coefficients; these rows are close.

        A search that is asked to end leaves the lowest model so far; one that has not begun, that of these rows.
        """
        R = self._factor(k)
        T = self.quadratic.basis.T[: len(R)]
        b = self._minimum(R @ self._weights[k], CONVERGED)
        factors = self._curvature_factors(b)
        lowest, loss_sum = np.inf, 0.0
        self._weights[k] = solve_upper(R, b)

        def cost_of(point: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal lowest, loss_sum
            b = np.column_stack([solve_upper(C, column) for C, column in zip(factors, point.T)])
            if self.objective.loss.only_differences:
                # What all scores share has a penalty and nothing else: without it, no step goes there.
                b = b - b.mean(axis=1, keepdims=True)
            weights, model = solve_upper(R, b), T.T @ b
            found = sums(weights)
            cost = found.value + float(np.square(model).sum())
            if cost < lowest:
                lowest, loss_sum, self._weights[k] = cost, found.value, weights
            gradient = solve_upper(R, found.gradient, transposed=True) + 2 * (T @ model)
            columns = [solve_upper(C, column, transposed=True) for C, column in zip(factors, gradient.T)]
            return cost, np.column_stack(columns)

        with suppress(Ended):
            start = np.column_stack([C @ column for C, column in zip(factors, b.T)])
            minimise(cost_of, start, Search(self.update.solver, CONVERGED_ELSEWHERE, self.objective.watch))
        return _facts(lowest, loss_sum) if np.isfinite(lowest) else {}

    def _curvature_factors(self, b: np.ndarray) -> list[np.ndarray]:
        """C of every target, with `C'C` half the curvature of the cost by its coordinates, at b."""
        basis, halves = self.quadratic.basis, self.objective.half_curvatures(self._scores_of(b))
        V, T = basis.V[: len(b)], basis.T[: len(b)]
        own = T @ T.T
        own[np.diag_indices_from(own)] += LEAST_PART_OF_CURVATURE
        found = ((V * (half / self.engine.weights)) @ V.T + own for half in halves)
        return [cholesky(A, check_finite=False) if len(A) else A for A in found]

    def atoms_after(self, k: int) -> np.ndarray:
        """Numbers of the atoms of the model after k steps, in the order of its weights."""
        return self.used[self._places[k]]

    def _factor(self, k: int) -> np.ndarray:
        size = self.n_fixed + k
        return self.quadratic.basis.R[:size, :size]


def _facts(cost: float, loss_sum: float) -> dict[str, float]:
    """What a path says of a refit."""
    return {"cost": cost, "residual_norm": float(np.sqrt(max(loss_sum, 0.0)))}
