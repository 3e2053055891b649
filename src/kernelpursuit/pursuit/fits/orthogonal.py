"""All weights refitted after each step: basis, residual, leverages, and exact scores of any few atoms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelpursuit import _native
from kernelpursuit.dictionary.base import tiles
from kernelpursuit.engine import Engine, require_finite
from kernelpursuit.pursuit.basis import DEPENDENT, PANEL, Basis, Direction, grown
from kernelpursuit.pursuit.fits.base import Fit, Outcome, Shortlist, column_squares, fixed_direction, frobenius
from kernelpursuit.pursuit.models import Drop, Factor, Factored
from kernelpursuit.pursuit.penalty import Penalty

# An atom whose function is a sum of the picked ones but for this part of its squared norm: rounding of L, amplified by
# weights as large as that takes, would begin to show in the cost.
LOST = 1e-9
# Most atoms that are prepared for at a time, and steps that are taken one at a time where that has failed.
FORESEEN = 2 * PANEL
BLIND = 16
# What counts as dependent where the fit watches the condition number itself: all but rounding is let through.
BARELY_INDEPENDENT = (8 * np.finfo(np.float64).eps) ** 2


@dataclass
class Lifted:
    """Atoms as the basis sees them: coordinates in the penalty, and products with the directions.

    `kept` are those whose columns are still there; `lost` marks atoms of whose penalty nothing is left but rounding:
    their functions are sums of the picked ones.
    """

    kept: slice
    coordinates: np.ndarray
    p: np.ndarray
    lost: np.ndarray


@dataclass
class Foreseen:
    """An atom that is orthonormal already to those that will be there when it is added.

    column  its coordinates in the penalty
    lost    that something of it is new is known
    """

    atom: int
    direction: Direction
    column: np.ndarray
    lost: np.ndarray


class OrthogonalFit(Fit):
    """Least squares over the picked atoms, by an orthonormal basis of them.

    Parameters
    ----------
    engine, targets, penalty
        As for `Fit`.
    capacity : int
        Atoms to make room for at first.
    fixed : array of shape (n_fixed, n_rows)
        Columns that are in the model from the start, never penalised (the intercept).
    rcond : float, optional
        End before an atom that makes the condition of the basis worse than this; see `updates.Orthogonal`.
    """

    def __init__(
        self,
        engine: Engine,
        targets: np.ndarray,
        penalty: Penalty | None,
        capacity: int,
        fixed: np.ndarray,
        rcond: float | None = None,
    ):
        basis = Basis(engine.n_rows, capacity + len(fixed), penalty is not None, engine.n_threads)
        super().__init__(engine, targets, penalty, basis)
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
        self._foreseen: list[Foreseen] = []  # the last of them is the next
        self._blind_until = 0  # steps before which no atom is foreseen
        for column in fixed:
            self._append(fixed_direction(self.basis, column))
            self.n_fixed += 1
        self.initial_cost = self.cost()

    def cost(self) -> float:
        """`||y - D w||² + w' L w`."""
        return self.residual_norm**2 + float(np.square(self._coordinates).sum())

    def foresee(self, atoms: np.ndarray) -> int:
        """Make atoms orthonormal that will be added in this order, where their coordinates are known beforehand."""
        knows_coordinates = self.penalty is None or self.penalty.is_diagonal
        atoms = atoms[:FORESEEN]
        if self._foreseen or self.n_steps < self._blind_until or len(atoms) < 2:
            return len(self._foreseen)
        if self.lowest_rcond is not None or not knows_coordinates or not self.lifted.keys().isdisjoint(atoms):
            return 0
        values = self.engine.columns(atoms, self.basis.room_ahead(len(atoms)))
        require_finite(np.einsum("ij,ij->i", values, values))
        own, m = np.sqrt(self.own_penalties[atoms]), self.basis.n_coordinates
        for k, direction in enumerate(self.basis.orthogonalise_ahead(own)):
            column = np.zeros(len(direction.coordinates))
            column[m + k :] = own[k]
            self._foreseen.append(Foreseen(int(atoms[k]), direction, column, np.zeros(1, dtype=bool)))
        self._foreseen.reverse()
        if len(self._foreseen) < len(atoms):
            # Of one little is new. It is looked at by itself, and the next not before it and its like have passed.
            self._blind_until = self.n_steps + len(self._foreseen) + BLIND
        return len(self._foreseen)

    def _foreseen_shortlist(self, foreseen: Foreseen) -> Shortlist:
        """Scores of the atom that was foreseen to come next."""
        direction = foreseen.direction
        along = _native.stored_rmatvec(direction.values[None], self.residual, n_threads=self.engine.n_threads)
        u = direction.rho * (along + self._penalised_along(direction.coordinates[None]))
        new = np.array([direction.rho**2])
        return Shortlist(np.array([foreseen.atom]), new + direction.p @ direction.p, u, new, foreseen)

    def examine(self, atoms: np.ndarray) -> Shortlist:
        """Exact scores of a few atoms: their columns and one matrix product over the basis.

        Columns are looked at some at a time, and those of the last ones stay for `add`.
        """
        if self._foreseen:
            if len(atoms) == 1 and self._foreseen[-1].atom == atoms[0]:
                return self._foreseen_shortlist(self._foreseen[-1])
            self._foreseen.clear()
        self.basis.reserve()
        inner, u = np.empty(len(atoms)), np.empty((self.n_targets, len(atoms)))
        p = np.empty((len(atoms), self.basis.size)).T  # an atom's products lie side by side, and round alike
        coordinates = np.zeros((len(atoms), self.basis.n_coordinates + self.basis.penalised))
        lost = np.zeros(len(atoms), dtype=bool)
        for tile in tiles(len(atoms), self.engine.n_rows * 8):
            count = tile.stop - tile.start
            # Written over what was looked at before: fresh memory costs as much time as a kernel.
            if len(self._columns) < count:
                self._columns = np.empty((count, self.engine.n_rows))
            values = self.engine.columns(atoms[tile], self._columns[:count])
            u[:, tile], inner[tile] = _native.stored_examine(values, self.residual, self.engine.n_threads)
            require_finite(inner[tile])
            coordinates[tile], lost[tile] = self._lift(atoms[tile], values)
            p[:, tile] = self.basis.project(values, coordinates[tile])
        u += self._penalised_along(coordinates)
        inner += np.einsum("ij,ij->i", coordinates, coordinates)
        return Shortlist(atoms, inner, u, inner - column_squares(p), Lifted(tile, coordinates, p, lost))

    def _column(self, shortlist: Shortlist, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Sample values of the k-th atom of the shortlist last looked at, and its coordinates."""
        kept, coordinates = shortlist.details.kept, shortlist.details.coordinates[k]
        if kept.start <= k < kept.stop:
            return self._columns[k - kept.start], coordinates
        return self.engine.columns(shortlist.atoms[[k]])[0], coordinates

    def _lift(self, atoms: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates of atoms in the penalty, the last one their own, and which of them have none left."""
        if self.penalty is None:
            return np.zeros((len(atoms), 0)), np.zeros(len(atoms), dtype=bool)
        own, m = self.own_penalties[atoms], self.basis.n_coordinates
        coordinates = np.zeros((len(atoms), m + 1))
        lifted = np.fromiter(self.lifted, dtype=np.intp, count=len(self.lifted))
        coordinates[:, :m] = self.penalty.coordinates(self.basis, self.n_fixed, lifted, atoms, values)
        left = self.penalty.own_part(own, coordinates[:, :m])
        lost = left <= LOST * own
        coordinates[:, m] = np.sqrt(np.where(lost, 0.0, left))
        for i, atom in enumerate(atoms):
            if atom in self.lifted:
                # One that was here before has its coordinate still.
                coordinates[i, :m], coordinates[i, m], lost[i] = self.basis.C[:, self.lifted[atom]], 0.0, False
        return coordinates, lost

    def dependent(self, shortlist: Shortlist) -> np.ndarray:
        """Atoms of which less is new than the scores can resolve; none where the condition number is watched."""
        if not self.skips_dependent:
            return super().dependent(shortlist)
        return shortlist.details.lost | (shortlist.a <= DEPENDENT * shortlist.inner)

    def add(self, shortlist: Shortlist, k: int) -> Outcome:
        """Add the k-th atom of a shortlist and refit all weights."""
        lowest = self.lowest_rcond
        direction: Direction | None
        if isinstance(shortlist.details, Foreseen):
            direction, coordinates = shortlist.details.direction, shortlist.details.column
            self._foreseen.pop()
        else:
            values, coordinates = self._column(shortlist, k)
            enough = DEPENDENT if lowest is None else BARELY_INDEPENDENT
            direction = self.basis.orthogonalise(
                values, coordinates, shortlist.details.p[:, k], float(shortlist.inner[k]), enough
            )
        self.rcond = 0.0 if direction is None else _reciprocal_condition(direction.rho**2 / shortlist.inner[k])
        if lowest is not None and self.rcond < lowest:
            if self.is_copy(int(shortlist.atoms[k])):
                return Outcome.DEPENDENT
            self.end_reason = f"the reciprocal condition number fell to {self.rcond:.2g}, below rcond={lowest:g}"
            return Outcome.ENDED
        if direction is None:
            return Outcome.DEPENDENT
        self._enter(int(shortlist.atoms[k]), coordinates, direction)
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
        self._foreseen.clear()
        position = self.n_fixed + self.atoms.index(leaving)
        shortlist = self.examine(np.array([coming]))
        # What is in the span of the model has nothing to gain from, and its row's copies would hide the next.
        if shortlist.details.lost[0] or shortlist.a[0] <= DEPENDENT * shortlist.inner[0]:
            return Outcome.DEPENDENT
        R, p = self.basis.R, shortlist.details.p[:, 0]
        weight = self.weights()[position]
        gained = np.square(shortlist.u[:, 0] + weight * (R[:, position] @ p)).sum() / shortlist.inner[0]
        lost = np.square(weight).sum() * (R[:, position] @ R[:, position])
        if not (always or gained > lost):
            return Outcome.WORTHLESS
        self._leave(position)
        values, coordinates = self._column(shortlist, 0)
        p = self.basis.project(values[None], coordinates[None])[:, 0]
        direction = self.basis.orthogonalise(values, coordinates, p, shortlist.inner[0], BARELY_INDEPENDENT)
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
        self.drops[self.n_steps] = Drop(position, self.places[atom], turned.column, turned.cosines, turned.sines, b)

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
        assert self.leverage is not None
        squares = _native.absorb(self.residual, values, b, self.leverage, sign, self.engine.n_threads)
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
