"""All weights refitted after each step: basis, residual, leverages, and exact scores of any few atoms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit import _native
from kernelpursuit.dictionary.base import tiles
from kernelpursuit.engine import require_finite
from kernelpursuit.pursuit.basis import DEPENDENT, PANEL, Basis, Direction, grown
from kernelpursuit.pursuit.fits.base import Design, ExaminedAtoms, Outcome, SquaredFit, column_squares, frobenius
from kernelpursuit.pursuit.fits.fixed import fixed_direction
from kernelpursuit.pursuit.models import Drop, Factor, Factored
from kernelpursuit.pursuit.penalty import Picked
from kernelpursuit.pursuit.working import LocalQuadratic

# The part of an atom's penalty L_jj that is not in the coordinates of the picked atoms counts as zero below this
# fraction of it. It is a difference, which Cholesky's method leaves with an error of eps times the condition of L, and
# the weights of a sum of atoms that nearly is another are as large as the root of that condition: with 1e-9 both stay
# below 1e-6 of the cost.
VANISHED_PENALTY = 1e-9
# Most atoms that are made orthonormal ahead of time, and steps that are taken one at a time where that has failed: its
# like often come together, and an attempt costs as much as some ten steps.
LOOK_AHEAD = 2 * PANEL
STEPS_AFTER_FAILURE = 16
# What counts as dependent where the fit watches the condition number itself: all but rounding is let through, since a
# vector of length below 8 eps has no correct digit left.
BARELY_INDEPENDENT = (8 * np.finfo(np.float64).eps) ** 2


@dataclass
class Lifted:
    """Atoms as the basis sees them: coordinates in the penalty, and products with the directions.

    `kept` are those whose columns are still there; `is_sum` marks atoms whose function is known, by the penalty, to be
    a sum of the picked ones.
    """

    kept: slice
    coordinates: np.ndarray
    p: np.ndarray
    is_sum: np.ndarray


@dataclass
class Prepared:
    """An atom that is orthonormal already to those that will be there when it is added.

    column  its coordinates in the penalty
    is_sum  False: something of it is new
    """

    atom: int
    direction: Direction
    column: np.ndarray
    is_sum: np.ndarray


class OrthogonalFit(SquaredFit):
    """Least squares over the picked atoms, by an orthonormal basis of them.

    Parameters
    ----------
    design, targets
        As for `SquaredFit`.
    rcond : float, optional
        End before an atom that makes the condition of the basis worse than this; see `updates.Orthogonal`.
    """

    leverage: np.ndarray

    def __init__(self, design: Design, targets: np.ndarray, rcond: float | None = None):
        engine, n_directions = design.engine, design.capacity + len(design.fixed)
        basis = Basis(engine.n_rows, n_directions, design.penalty is not None, engine.n_threads)
        super().__init__(design, targets, basis)
        self.lowest_rcond = rcond
        self.skips_dependent = rcond is None  # else the condition number is watched, and ends the fit
        self.lifted: dict[int, int] = {}  # atoms with a coordinate in the penalty, which they keep when they leave
        self.drops: dict[int, Drop] = {}
        # The residual as a vector of the basis: y - D w, and minus the model's coordinates in the penalty.
        self.residual = targets.copy()
        self._coordinates = np.zeros((len(targets), 0))
        self.residual_norm = frobenius(targets)
        self.b = np.zeros((0, len(targets)))
        self.leverage = np.zeros(engine.n_rows)
        self._columns = np.empty((0, engine.n_rows))
        self._prepared: list[Prepared] = []  # the last of them is the next
        self._one_at_a_time_until = 0  # steps before which there is no look-ahead
        for column in design.fixed_columns():
            self._append(fixed_direction(self.basis, column))
            self.n_fixed += 1
        self.initial_cost = self.cost()

    def cost(self) -> float:
        """`||y - D w||² + w' L w`."""
        return self.residual_norm**2 + self.penalised()

    def penalised(self) -> float:
        """`w' L w`, all targets together."""
        return float(np.square(self._coordinates).sum())

    def penalties(self) -> np.ndarray:
        """`w' L w` of every target."""
        return np.square(self._coordinates).sum(axis=1)

    def reweight(self, weights: np.ndarray) -> np.ndarray:
        """Give the rows other weights; return S, by which coordinates in the old directions become those in the new.

        What targets and residual are in the new weights is left to `move_to`.
        """
        self._prepared.clear()
        turned = self.basis.reweight(np.sqrt(weights / self.engine.weights))
        self.design = self.design.weighted(weights)
        self.leverage = np.einsum("ij,ij->j", self.basis.V, self.basis.V)
        self.n_reweighted += 1
        return turned

    def move_to(self, b: np.ndarray, local: LocalQuadratic) -> None:
        """Take the model with coordinates b, and the local quadratic approximation around its scores."""
        self.b = b
        self.residual = local.residual
        self.targets = local.targets
        self._coordinates = -(b.T @ self.basis.T)
        self.residual_norm = frobenius(self.residual)
        self.n_refits += 1

    def look_ahead(self, atoms: np.ndarray) -> int:
        """Make atoms orthonormal that will be added in this order, where their coordinates are known beforehand."""
        atoms = atoms[:LOOK_AHEAD]
        if self._prepared or self.n_steps < self._one_at_a_time_until or len(atoms) < 2:
            return len(self._prepared)
        if self.lowest_rcond is not None or not self.lifted.keys().isdisjoint(atoms):
            return 0
        own, m = np.sqrt(self.own_penalties[atoms]), self.basis.n_coordinates
        if self.penalty is not None and not (self.penalty.is_diagonal and (own > 0).all()):
            return 0
        values = self.engine.columns(atoms, self.basis.room_ahead(len(atoms)))
        require_finite(np.einsum("ij,ij->i", values, values))
        for k, direction in enumerate(self.basis.orthogonalise_ahead(own)):
            column = np.zeros(len(direction.coordinates))
            column[m + k :] = own[k]
            self._prepared.append(Prepared(int(atoms[k]), direction, column, np.zeros(1, dtype=bool)))
        self._prepared.reverse()
        if len(self._prepared) < len(atoms):
            # Of one little is new. It is looked at by itself, and the next not before it and its like have passed.
            self._one_at_a_time_until = self.n_steps + len(self._prepared) + STEPS_AFTER_FAILURE
        return len(self._prepared)

    def _examine_prepared(self, prepared: Prepared) -> ExaminedAtoms:
        """Scores of the atom that was prepared to come next."""
        direction = prepared.direction
        along = _native.stored_rmatvec(direction.values[None], self.residual, n_threads=self.engine.n_threads)
        u = direction.rho * (along + self._penalised_along(direction.coordinates[None]))
        new = np.array([direction.rho**2])
        return ExaminedAtoms(np.array([prepared.atom]), new + direction.p @ direction.p, u, new, details=prepared)

    def examine(self, atoms: np.ndarray) -> ExaminedAtoms:
        """Exact scores of a few atoms: their columns and one matrix product over the basis.

        Columns are looked at some at a time, and those of the last ones stay for `add`.
        """
        if self._prepared:
            if len(atoms) == 1 and self._prepared[-1].atom == atoms[0]:
                return self._examine_prepared(self._prepared[-1])
            self._prepared.clear()
        self.basis.reserve()
        inner, u = np.empty(len(atoms)), np.empty((self.n_targets, len(atoms)))
        p = np.empty((len(atoms), self.basis.size)).T  # an atom's products lie side by side, and round alike
        coordinates = np.zeros((len(atoms), self.basis.n_coordinates + self.basis.penalised))
        is_sum = np.zeros(len(atoms), dtype=bool)
        for tile in tiles(len(atoms), self.engine.n_rows * 8):
            count = tile.stop - tile.start
            # Written over what was looked at before: fresh memory costs as much time as a kernel.
            if len(self._columns) < count:
                self._columns = np.empty((count, self.engine.n_rows))
            values = self.engine.columns(atoms[tile], self._columns[:count])
            u[:, tile], inner[tile] = _native.stored_examine(values, self.residual, self.engine.n_threads)
            require_finite(inner[tile])
            coordinates[tile], is_sum[tile] = self._lift(atoms[tile], values)
            p[:, tile] = self.basis.project(values, coordinates[tile])
        u += self._penalised_along(coordinates)
        inner += np.einsum("ij,ij->i", coordinates, coordinates)
        lifted = Lifted(tile, coordinates, p, is_sum)
        return ExaminedAtoms(atoms, inner, u, inner - column_squares(p), details=lifted)

    def _column(self, examined: ExaminedAtoms, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Sample values of the k-th atom of those last examined, and its coordinates."""
        kept, coordinates = examined.details.kept, examined.details.coordinates[k]
        if kept.start <= k < kept.stop:
            return self._columns[k - kept.start], coordinates
        return self.engine.columns(examined.atoms[[k]])[0], coordinates

    def _lift(self, atoms: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates of atoms in the penalty, the last one their own, and which are sums of the picked atoms."""
        if self.penalty is None:
            return np.zeros((len(atoms), 0)), np.zeros(len(atoms), dtype=bool)
        own, m = self.own_penalties[atoms], self.basis.n_coordinates
        coordinates = np.zeros((len(atoms), m + 1))
        lifted = np.fromiter(self.lifted, dtype=np.intp, count=len(self.lifted))
        coordinates[:, :m] = self.penalty.coordinates(Picked(self.basis, self.n_fixed, lifted), atoms, values)
        left = self.penalty.own_part(own, coordinates[:, :m])
        vanished = left <= VANISHED_PENALTY * own
        coordinates[:, m] = np.sqrt(np.where(vanished, 0.0, left))
        for i, atom in enumerate(atoms):
            if atom in self.lifted:
                # One that was here before has its coordinate still.
                coordinates[i, :m], coordinates[i, m], vanished[i] = self.basis.C[:, self.lifted[atom]], 0.0, False
        return coordinates, vanished if self.penalty.is_norm else np.zeros_like(vanished)

    def dependent(self, examined: ExaminedAtoms) -> np.ndarray:
        """Atoms of which less is new than the scores can resolve; none where the condition number is watched."""
        if not self.skips_dependent:
            return super().dependent(examined)
        return examined.details.is_sum | (examined.a <= DEPENDENT * examined.inner)

    def add(self, examined: ExaminedAtoms, k: int) -> Outcome:
        """Add the k-th atom of those examined and refit all weights."""
        lowest = self.lowest_rcond
        direction: Direction | None
        if isinstance(examined.details, Prepared):
            direction, coordinates = examined.details.direction, examined.details.column
            self._prepared.pop()
        else:
            values, coordinates = self._column(examined, k)
            enough = DEPENDENT if lowest is None else BARELY_INDEPENDENT
            p, inner = examined.details.p[:, k], float(examined.inner[k])
            direction = self.basis.orthogonalise(values, coordinates, p, inner, dependent=enough)
        self.rcond = 0.0 if direction is None else _reciprocal_condition(direction.rho**2 / examined.inner[k])
        if lowest is not None and self.rcond < lowest:
            if self.is_copy(int(examined.atoms[k])):
                return Outcome.DEPENDENT
            self.end_reason = f"the reciprocal condition number fell to {self.rcond:.2g}, below rcond={lowest:g}"
            return Outcome.ENDED
        if direction is None:
            return Outcome.DEPENDENT
        self._enter(int(examined.atoms[k]), coordinates, direction)
        self.n_steps += 1
        return Outcome.ADDED

    def _enter(self, atom: int, coordinates: np.ndarray, direction: Direction) -> None:
        """Take an atom into the model, with a coordinate of its own where it brings one."""
        if len(coordinates) and coordinates[-1] > 0:
            self.basis.add_coordinate(coordinates)
            self._coordinates = np.hstack([self._coordinates, np.zeros((self.n_targets, 1))])
            self.lifted[atom] = len(self.lifted)
        self._append(direction)
        self.atoms.append(atom)
        self._place(atom)

    def swap(self, leaving: int, coming: int, always: bool = False) -> Outcome:
        """Exchange two atoms where that alone, one weight for the other, lowers the cost; then refit all.

        Notes
        -----
        Nair algorithms 1 and 3. With X_s, w_s the leaving atom and its weight and X_l the coming one, the cost after
        the exchange of one weight is `||r + w_s X_s - gamma X_l||²`, least over gamma. The residual r is orthogonal
        to X_s, so that this is below `||r||²` where `<r + w_s X_s, X_l>² / <X_l, X_l> > w_s² <X_s, X_s>`.
        """
        self._prepared.clear()
        position = self.n_fixed + self.atoms.index(leaving)
        examined = self.examine(np.array([coming]))
        # What is in the span of the model has nothing to gain from, and its row's copies would hide the next.
        if examined.details.is_sum[0] or examined.a[0] <= DEPENDENT * examined.inner[0]:
            return Outcome.DEPENDENT
        R, p = self.basis.R, examined.details.p[:, 0]
        weight = self.weights()[position]
        gained = np.square(examined.u[:, 0] + weight * (R[:, position] @ p)).sum() / examined.inner[0]
        lost = np.square(weight).sum() * (R[:, position] @ R[:, position])
        if not (always or gained > lost):
            return Outcome.WORTHLESS
        self._leave(position)
        values, coordinates = self._column(examined, 0)
        p = self.basis.project(values[None], coordinates[None])[:, 0]
        inner = float(examined.inner[0])
        direction = self.basis.orthogonalise(values, coordinates, p, inner, dependent=BARELY_INDEPENDENT)
        assert direction is not None, "what is new in the coming atom was found to be enough"
        self._enter(coming, coordinates, direction)
        return Outcome.ADDED

    def _leave(self, position: int) -> None:
        """Take the atom at a position of the basis out of the model."""
        last, atom = self.basis.size - 1, self.atoms.pop(position - self.n_fixed)
        turned = self.basis.drop(position)
        _native.rotate(self.b[position : last + 1], turned.cosines, turned.sines, n_threads=1)
        b = self.b[last].copy()
        self._absorb(b, turned.values, turned.coordinates, sign=-1)
        self.drops[self.n_steps] = Drop(
            position, self.places[atom], column=turned.column, cosines=turned.cosines, sines=turned.sines, b=b
        )

    def _penalised_along(self, coordinates: np.ndarray) -> np.ndarray:
        """The penalty's share of the products of vectors with the residuals, shape (n_targets, n_vectors)."""
        m = self._coordinates.shape[1]
        return _native.stored_rmatvec(coordinates[:, :m], self._coordinates, n_threads=1)

    def _append(self, direction: Direction) -> None:
        t = self.basis.size
        self.basis.append(direction)
        values, coordinates = self.basis.V[t], self.basis.T[t]
        self.b = grown(self.b, t + 1)
        along = _native.stored_rmatvec(values[None], self.residual, n_threads=self.engine.n_threads)
        self.b[t] = (along + self._penalised_along(coordinates[None]))[:, 0]
        self._absorb(self.b[t], values, coordinates)

    def _absorb(self, b: np.ndarray, values: np.ndarray, coordinates: np.ndarray, sign: int = 1) -> None:
        """Take a direction into residual and leverages, or out of them."""
        squares = _native.absorb(self.residual, values, b, self.leverage, sign=sign, n_threads=self.engine.n_threads)
        self.residual_norm = float(np.sqrt(squares.sum()))
        self._coordinates -= np.outer(sign * b, coordinates)

    def models(self, scale: float) -> Factored:
        """The models by the factor R, and how atoms left it."""
        return Factored(
            self._factor(scale), self.n_fixed, {step: replace(d, b=d.b / scale) for step, d in self.drops.items()}
        )

    def weights(self) -> np.ndarray:
        """Weights of the fixed columns and the model's atoms, shape (n_fixed + n_atoms, n_targets)."""
        return self._factor(1.0).weights()

    def _factor(self, scale: float) -> Factor:
        members = np.array([self.places[atom] for atom in self.atoms], dtype=np.intp)
        return Factor(members, self.basis.R, self.b[: self.basis.size] / scale)


def _reciprocal_condition(new: float) -> float:
    """Reciprocal condition number of `[Q, k / ||k||]`, of which the part `new` of k's squared length is not in Q.

    With c the length of `Q'k / ||k||` the singular values are `sqrt(1 + c)`, ones, and `sqrt(1 - c)`.
    """
    new = min(new, 1.0)
    return float(np.sqrt(new) / (1.0 + np.sqrt(1.0 - new)))
