"""Minimal residual iterations (Nair algorithms 1 and 2): the best step along the residual at the picked rows."""

from __future__ import annotations

import numpy as np

from kernelpursuit import _native
from kernelpursuit.engine import require_finite
from kernelpursuit.pursuit.basis import DEPENDENT, FIRST_ROOM, Basis, grown
from kernelpursuit.pursuit.fits.base import Design, ExaminedAtoms, Outcome, ResidualFit, column_squares, dot, frobenius
from kernelpursuit.pursuit.fits.fixed import Centred, FixedColumns
from kernelpursuit.pursuit.models import Explicit

# A sum of columns this much shorter than the columns is rounding: each of its entries is a sum of some hundred terms
# whose rounding errors, at random, add up to the root of their number times eps, and a few times that.
CANCELLED = 64 * np.finfo(np.float64).eps


class MinResFit(ResidualFit):
    """All weights move along the residual at their own rows, by the step that makes the new residual least.

    The columns of the model's atoms are kept, n numbers each, which is all the memory a step needs.
    """

    def __init__(self, design: Design, targets: np.ndarray):
        engine = design.engine
        super().__init__(design, targets, Basis(engine.n_rows, len(design.fixed), False, engine.n_threads))
        self.n_fixed = len(design.fixed)
        self.fixed = FixedColumns(self.basis, targets, design.fixed_columns())
        self.centred_targets = self.fixed.targets
        rows = engine.dictionary.training_rows
        assert rows is not None
        self.rows_of_atoms = rows
        self.residual = self.centred_targets.copy()
        self.residual_norm = frobenius(self.residual)
        self._root = np.sqrt(engine.weights)
        self._columns = np.empty((min(design.capacity, FIRST_ROOM), engine.n_rows))
        self._values = np.zeros((0, len(targets)))
        self._lengths = np.zeros(0)  # squared, of the columns
        self._places: list[np.ndarray] = [np.zeros(0, dtype=np.intp)]
        self._history: list[np.ndarray] = [np.zeros((0, len(targets)))]
        self.initial_cost = self.cost()

    def cost(self) -> float:
        """`||y - D w||²`."""
        return self.residual_norm**2

    def examine(self, atoms: np.ndarray) -> ExaminedAtoms:
        """Exact scores of a few atoms, whose columns are not kept.

        `u² / <j, j>` is what a step with atom j alone would take from the squared residual (Nair section 3.1), the
        weights of the fixed columns following. The step that is taken moves all weights.
        """
        products, full = self.engine.examine(atoms, np.vstack([self.residual, self.basis.V]))
        inner = full - column_squares(products[self.n_targets :])
        return ExaminedAtoms(atoms, inner, products[: self.n_targets], self.new(inner, None), details=full)

    def dependent(self, examined: ExaminedAtoms) -> np.ndarray:
        """Atoms that are sums of the fixed columns, or copies of one of the model."""
        copies = np.array([self.is_copy(int(atom)) for atom in examined.atoms], dtype=bool)
        return copies | (examined.inner <= DEPENDENT * examined.details)

    def add(self, examined: ExaminedAtoms, k: int) -> Outcome:
        """Add the k-th atom of those examined and take a step with all."""
        atom, n_before = int(examined.atoms[k]), len(self.atoms)
        self._columns, self._values = grown(self._columns, n_before + 1), grown(self._values, n_before + 1)
        self._lengths = grown(self._lengths, n_before + 1)
        centred = self.fixed.centred(self.engine.columns(examined.atoms[[k]])[0])
        self._enter(atom, n_before, centred)
        self._values[n_before], self._lengths[n_before] = 0.0, examined.details[k]
        self.atoms.append(atom)
        rows = self.rows_of_atoms[self.atoms]
        directions = self.residual[:, rows] / self._root[rows]
        residual = np.empty_like(self.residual)
        for target, direction in enumerate(directions):
            # `step = direction @ columns` by what else sweeps a basis: one read of the columns, at the speed of memory.
            step = np.zeros(self.engine.n_rows)
            _, squares = _native.sweep(self._columns[: n_before + 1], -direction, step, self.engine.n_threads)
            # Where the columns cancel each other, what is left of them is rounding, and no direction.
            noise = CANCELLED**2 * (np.square(direction) @ self._lengths[: n_before + 1])
            length = dot(self.residual[target], step) / squares if squares > noise else 0.0
            residual[target] = self.residual[target] - length * step
            self._values[: n_before + 1, target] += length * direction
        self._move(residual)
        self.n_steps += 1
        self._write()
        return Outcome.ADDED

    def swap(self, leaving: int, coming: int, always: bool = False) -> Outcome:
        """Exchange one atom and its weight for another where that makes the residual smaller (Nair algorithm 1)."""
        slot = self.atoms.index(leaving)
        column = self.engine.columns(np.array([coming]))[0]
        centred = self.fixed.centred(column)
        inner, length = dot(centred.column, centred.column), dot(column, column)
        require_finite(np.array(length))
        if inner <= DEPENDENT * length or self.is_copy(coming):
            return Outcome.DEPENDENT
        without = self.residual + np.outer(self._values[slot], self._columns[slot])
        weight = np.array([dot(target, centred.column) for target in without]) / inner
        residual = without - np.outer(weight, centred.column)
        if not always and not frobenius(residual) < self.residual_norm:
            return Outcome.WORTHLESS
        self._enter(coming, slot, centred)
        self._values[slot], self._lengths[slot] = weight, length
        self.atoms[slot] = coming
        self._move(residual)
        self._places.pop()
        self._history.pop()
        self._write()
        return Outcome.ADDED

    def _enter(self, atom: int, slot: int, centred: Centred) -> None:
        """Keep an atom's column, and note its place."""
        self._columns[slot] = centred.column
        if atom not in self.places:
            self.fixed.enter(centred)
        self._place(atom)

    def _move(self, residual: np.ndarray) -> None:
        self.residual = residual
        self.residual_norm = frobenius(residual)

    def _write(self) -> None:
        self._places.append(np.array([self.places[atom] for atom in self.atoms], dtype=np.intp))
        self._history.append(self._values[: len(self.atoms)].copy())

    def models(self, scale: float) -> Explicit:
        """The models by their weights after every step."""
        return Explicit(self._places, self._history, self.fixed.part(scale), scale)
