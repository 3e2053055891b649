"""Any loss, all weights refitted: least squares on the square that equals the loss, moved along by refits.

Around given scores f, `sum s_i loss(y_i, f_i)` equals to second order, but for a constant, a weighted sum of squares
`sum m_i (z_i - f_i)²`. Its weights `m = s loss''/2` are the *metric*, `z = f - loss'/loss''` is the working response.
Between two refits the fit is the least-squares one of that response, so that a step, its gain u²/a and leave-one-out
cost what they always cost. A refit minimises the loss itself over all weights, and takes the square at the minimum for
the steps to come. It is not the exact one of every row: curvatures below a hundredth of the largest are rounded up to
that, and where a new metric costs much, one that is up to half as many atoms old is kept.
"""

from __future__ import annotations

import numpy as np

from kernelpursuit.engine import Engine
from kernelpursuit.pursuit.fits.base import Outcome, Shortlist, frobenius
from kernelpursuit.pursuit.fits.orthogonal import OrthogonalFit
from kernelpursuit.pursuit.models import Explicit, Factor
from kernelpursuit.pursuit.objective import CONVERGED, SETTLED, Objective, descend
from kernelpursuit.pursuit.penalty import Penalty
from kernelpursuit.updates import Orthogonal

# The metric stays as it is where no row's weight would change by more than this part. A new one costs the scores a
# pass over the dictionary for every direction that there is: where that is more than so many products, it also stays
# until the model has grown by this factor.
SAME_METRIC = 1e-3
CHEAP = 2e8
GROWN = 2.0
# refit_every="auto": a refit after an eighth as many steps as the model has atoms, and where there are more products
# than this in one look at the loss, after as many.
FEW_PRODUCTS = 1e6
# Up to this many, a look at the loss costs next to nothing.
NO_PRODUCTS = 1e4


class LossFit(OrthogonalFit):
    """The fit that minimises a loss over the picked atoms.

    Parameters
    ----------
    engine : Engine
        Its weights become the metric.
    objective : Objective
        The loss, targets and sample weights.
    start : array of shape (n_targets,)
        Scores around which the first square is taken.
    penalty, capacity
        As for `OrthogonalFit`.
    fixed : array of shape (n_fixed, n_rows)
        Values of the functions that are in the model from the start.
    update : Orthogonal
        How often to refit, and by which solver.
    """

    def __init__(
        self,
        engine: Engine,
        objective: Objective,
        start: np.ndarray,
        penalty: Penalty | None,
        capacity: int,
        fixed: np.ndarray,
        update: Orthogonal,
    ):
        scores = np.repeat(start[:, None], engine.n_rows, axis=1)
        metric = objective.metric(scores)
        engine.reweight(metric)
        root = np.sqrt(metric)
        response = root * scores - objective.gradient(scores) / (2 * root)
        self.objective = objective
        self._loss_sum = objective.value(scores)
        super().__init__(engine, response, penalty, capacity, root * fixed, update.rcond)
        self.sample_weights = objective.weights
        self.update = update
        self.n_metrics = 0
        self.n_refits = 0
        self._metric_of = 0  # steps that the model had when the metric was taken
        self._refitted_at = 0  # steps that it had when all was refitted
        self._refitted = np.zeros((0, self.n_targets))  # coordinates that the last refit found
        self._places: list[np.ndarray] = []
        self._weights: list[np.ndarray] = []
        self.refit()
        self._write()
        self.initial_cost = self.cost()

    def _scores_of(self, b: np.ndarray) -> np.ndarray:
        return (b.T @ self.basis.V[: len(b)]) / np.sqrt(self.engine.weights)

    def _cost_of(self, b: np.ndarray) -> tuple[float, np.ndarray]:
        """The penalised loss of the model with coordinates b in the first directions, and its gradient."""
        V, T = self.basis.V[: len(b)], self.basis.T[: len(b)]
        scores, model = self._scores_of(b), T.T @ b
        gradient = self.objective.gradient(scores) / np.sqrt(self.engine.weights)
        cost = self.objective.value(scores) + float(np.square(model).sum())
        return cost, V @ gradient.T + 2 * (T @ model)

    def cost(self) -> float:
        """`sum_i s_i loss(y_i, f_i) + w' L w`."""
        return self._loss_sum + float(np.square(self._coordinates).sum())

    def penalties(self) -> np.ndarray:
        """`w' L w` of every target."""
        return np.square(self._coordinates).sum(axis=1)

    def misfit(self) -> float:
        """Root of the sum of losses, in place of the norm of the residual."""
        return float(np.sqrt(max(self._loss_sum, 0.0)))

    def foresee(self, atoms: np.ndarray) -> int:
        """None: every refit gives the rows other weights, in which other directions are orthonormal."""
        return 0

    def add(self, shortlist: Shortlist, k: int) -> Outcome:
        """Add the k-th atom of a shortlist; refit where that is due, or where the square has misled."""
        before = self.cost()
        outcome = super().add(shortlist, k)
        if outcome is Outcome.ADDED:
            self._loss_sum = self.objective.value(self.scores())
            if self.n_steps >= self._refitted_at + self._steps_between() or not self.cost() <= before:
                self.refit()
            self._write()
        return outcome

    def _steps_between(self) -> int:
        every = self.update.refit_every
        if every != "auto":
            return int(every)
        few = self.residual.size * self.basis.size <= FEW_PRODUCTS
        return max(1, self._refitted_at // 8 if few else self._refitted_at)

    def take_over(self, atoms: np.ndarray, weights: np.ndarray) -> None:
        """Add atoms one after the other and minimise the loss from given weights of fixed columns and atoms.

        Atoms that are numerically dependent on those before are left out.
        """
        came = [super(LossFit, self).add(self.examine(np.array([atom])), 0) is Outcome.ADDED for atom in atoms]
        self.refit(self.basis.R @ weights[np.concatenate([np.ones(self.n_fixed, dtype=bool), came])])

    def refit(self, start: np.ndarray | None = None) -> None:
        """Minimise the loss over all weights, and take the square around the minimum (and where due, its metric)."""
        b = self._minimum(self.b[: self.basis.size] if start is None else start, self._closely(self.basis.size))
        self._refitted_at = self.n_steps
        self.n_refits += 1
        work = self.engine.n_rows * self.engine.n_atoms * self.basis.size
        if work <= CHEAP or self.n_steps >= GROWN * self._metric_of:
            b = self._take_metric(b)
        self._settle(b)

    def _take_metric(self, b: np.ndarray) -> np.ndarray:
        """Take the metric at the model with coordinates b, where it has changed; return its new coordinates."""
        metric = self.objective.metric(self._scores_of(b))
        if np.allclose(metric, self.engine.weights, rtol=SAME_METRIC, atol=0.0):
            return b
        factor = np.sqrt(metric / self.engine.weights)
        self.engine.reweight(metric)
        b = self.basis.reweight(factor) @ b
        self.leverage = np.einsum("ij,ij->j", self.basis.V, self.basis.V)
        self.n_metrics += 1
        self._metric_of = self.n_steps
        return b

    def _closely(self, size: int) -> float:
        """How small to make the gradient in a refit: as small as can be where that costs next to nothing."""
        return SETTLED if self.residual.size * size <= NO_PRODUCTS else CONVERGED

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
        return descend(self._cost_of, start, self.update.solver, converged, self.objective.watch)

    def _settle(self, b: np.ndarray) -> None:
        """Take the model with coordinates b, and the square around its scores."""
        root = np.sqrt(self.engine.weights)
        self.b = b
        self._refitted = b.copy()
        scores = self._scores_of(b)
        self.residual = -self.objective.gradient(scores) / (2 * root)
        self.targets = root * scores + self.residual
        self._coordinates = -(b.T @ self.basis.T)
        self.residual_norm = frobenius(self.residual)
        self._loss_sum = self.objective.value(scores)

    def _write(self) -> None:
        self._places.append(np.array([self.places[atom] for atom in self.atoms], dtype=np.intp))
        self._weights.append(self.weights())

    def models(self, scale: float) -> Explicit:  # type: ignore[override]
        """The models by their weights after every step."""
        return Explicit(self._places, self._weights, None, scale)

    def finish(self, k: int) -> dict[str, float]:
        """Minimise the loss over the weights of the model after k steps, to the last digits; return what it is then."""
        size = self.n_fixed + k
        R = self.basis.R[:size, :size]
        b = self._minimum(R @ self._weights[k], SETTLED)
        self._weights[k] = Factor(self._places[k], R, b).weights()
        loss_sum = self.objective.value(self._scores_of(b))
        return {"cost": self._cost_of(b)[0], "residual_norm": float(np.sqrt(max(loss_sum, 0.0)))}
