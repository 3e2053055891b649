"""The models that a path leaves behind: which atoms each has, and their weights.

Atoms are numbered by their place on the path (0 for the first that was picked, 1 for the next that was not there
before, and so on). The weights of a model start with those of the fixed columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import solve_triangular

from kernelpursuit import _native


@dataclass
class Factor:
    """A model by its triangular factor: the weights solve `R w = b`, columns in the order of `members`."""

    members: np.ndarray
    R: np.ndarray
    b: np.ndarray

    def weights(self) -> np.ndarray:
        """Weights of the fixed columns and the members, shape (size, n_targets)."""
        return solve_triangular(self.R, self.b, check_finite=False) if len(self.b) else self.b


class Models(ABC):
    """The models after 0, 1, ... steps."""

    @abstractmethod
    def members(self, k: int) -> np.ndarray:
        """Places of the atoms of the model after k steps."""

    @abstractmethod
    def weights(self, k: int) -> np.ndarray:
        """Weights of the fixed columns and of `members(k)`, shape (n_fixed + n_members, n_targets)."""

    def factor(self, k: int) -> Factor | None:
        """The triangular factor of the model after k steps; None where its weights are no least-squares fit."""
        return None

    @abstractmethod
    def first(self, k: int) -> Models:
        """Return the models after 0, 1, ..., k steps alone."""

    @abstractmethod
    def n_places(self, k: int) -> int:
        """How many atoms the first k steps have used."""

    def in_units(self, units: np.ndarray) -> Models:
        """Return the models of targets that are so many times as large, one number for each target."""
        raise ValueError(f"{type(self).__name__} models have no units of targets; fit with update='orthogonal'.")


@dataclass
class Drop:
    """How a column left a triangular factor, so that it can be put back.

    position  where the column was
    place     place of its atom on the path
    column    what it was
    cosines, sines   rotations of rows i, i + 1 for i = position, position + 1, ..., that made R triangular again
    b         the coefficient that went with the last direction
    """

    position: int
    place: int
    column: np.ndarray
    cosines: np.ndarray
    sines: np.ndarray
    b: np.ndarray

    def undo(self, factor: Factor, n_fixed: int) -> Factor:
        """Return the factor as it was before the column left."""
        size = len(factor.R)
        both = np.zeros((size + 1, size + factor.b.shape[1]))
        both[:size, :size], both[:size, size:], both[size, size:] = factor.R, factor.b, self.b
        # The same rotations from the last row up turn the rows back.
        turned = np.ascontiguousarray(both[self.position :][::-1])
        _native.rotate(turned, self.cosines[::-1], self.sines[::-1], n_threads=1)
        both[self.position :] = turned[::-1]
        # What the rotations had made zero: the factor without its column is Hessenberg, and nothing below that.
        R = np.insert(both[:, :size], self.position, self.column, axis=1)
        members = np.insert(factor.members, self.position - n_fixed, self.place)
        return Factor(members, np.triu(R), both[:, size:])


@dataclass
class Factored(Models):
    """Models that are least-squares fits: one growing triangular factor.

    Parameters
    ----------
    last : Factor
        The factor of the last model.
    n_fixed : int
        Leading columns that every model has.
    drops : dict
        By step, how an atom left in that step's exchange. The step's own atom came before it, another after it.
    """

    last: Factor
    n_fixed: int
    drops: dict[int, Drop] = field(default_factory=dict)

    def factor(self, k: int) -> Factor:
        """The leading part of the last factor, or where atoms have left since, the factor wound back."""
        factor = self.last
        for step in sorted((step for step in self.drops if step > k), reverse=True):
            factor = self.drops[step].undo(self._leading(factor, step - 1), self.n_fixed)
        return self._leading(factor, k)

    def _leading(self, factor: Factor, n_atoms: int) -> Factor:
        size = self.n_fixed + n_atoms
        return Factor(factor.members[:n_atoms], factor.R[:size, :size], factor.b[:size])

    def members(self, k: int) -> np.ndarray:
        """Places of the atoms after k steps."""
        return self.factor(k).members

    def first(self, k: int) -> Factored:
        """The factor after k steps, and how atoms left until then."""
        return Factored(self.factor(k), self.n_fixed, {step: drop for step, drop in self.drops.items() if step <= k})

    def n_places(self, k: int) -> int:
        """One more than the last place of those in the model and those that have left it."""
        left = [drop.place for step, drop in self.drops.items() if step <= k]
        return max([*left, *self.members(k)], default=-1) + 1

    def in_units(self, units: np.ndarray) -> Factored:
        """Return the models of targets that are so many times as large."""
        drops = {step: replace(drop, b=drop.b * units) for step, drop in self.drops.items()}
        return Factored(replace(self.last, b=self.last.b * units), self.n_fixed, drops)

    def weights(self, k: int) -> np.ndarray:
        """Solve `R_k w = b_k`."""
        return self.factor(k).weights()


@dataclass
class FixedPart:
    """The fixed columns of models that refit nothing else: orthonormal directions, and the atoms' products with them.

    R : shape (n_fixed, n_fixed)
    b : shape (n_fixed, n_targets)
    p : shape (n_fixed, n_places), products of the directions with the atoms, in order of place
    """

    R: np.ndarray
    b: np.ndarray
    p: np.ndarray

    def beside(self, members: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Put the weights of the fixed columns before those of the atoms."""
        if not len(self.R):
            return weights
        fixed = solve_triangular(self.R, self.b - self.p[:, members] @ weights, check_finite=False)
        return np.vstack([fixed, weights])


@dataclass
class Increments(Models):
    """Models of which a step multiplies all weights by one factor and adds to the weight of one atom.

    Parameters
    ----------
    place : array of shape (n_steps,)
        The atom of every step, by place.
    step, factor_before : arrays of shape (n_steps, n_targets)
        What is added to its weight, and what all weights are multiplied by before.
    fixed : FixedPart
        The fixed columns.
    """

    place: np.ndarray
    step: np.ndarray
    factor_before: np.ndarray
    fixed: FixedPart

    def members(self, k: int) -> np.ndarray:
        """The atoms of the first k steps, which are the first places."""
        return np.arange(self.n_places(k))

    def first(self, k: int) -> Increments:
        """The first k steps."""
        fixed = replace(self.fixed, p=self.fixed.p[:, : self.n_places(k)])
        return Increments(self.place[:k], self.step[:k], self.factor_before[:k], fixed)

    def n_places(self, k: int) -> int:
        """One more than the last place."""
        return int(self.place[:k].max(initial=-1)) + 1

    def weights(self, k: int) -> np.ndarray:
        """Add up what the first k steps left."""
        later = np.ones((k, self.step.shape[1]))
        if k:
            later[: k - 1] = np.cumprod(self.factor_before[k - 1 : 0 : -1], axis=0)[::-1]
        members = self.members(k)
        weights = np.zeros((len(members), self.step.shape[1]))
        np.add.at(weights, self.place[:k], self.step[:k] * later)
        return self.fixed.beside(members, weights)


@dataclass
class Explicit(Models):
    """Models whose weights are written down after every step.

    Parameters
    ----------
    places, values : lists with one entry for every number of steps
        Places of the atoms, and their weights times `scale`.
    fixed : FixedPart or None
        The fixed columns; None where their weights are among the values, first.
    refits : dict
        By number of steps, the least-squares fit that has taken the place of the weights written down.
    """

    places: list[np.ndarray]
    values: list[np.ndarray]
    fixed: FixedPart | None
    scale: float = 1.0
    refits: dict[int, Factor] = field(default_factory=dict)

    def members(self, k: int) -> np.ndarray:
        """Places of the atoms after k steps."""
        return self.refits[k].members if k in self.refits else self.places[k]

    def first(self, k: int) -> Explicit:
        """What is written down of the first k steps."""
        n = self.n_places(k)
        fixed = None if self.fixed is None else replace(self.fixed, p=self.fixed.p[:, :n])
        refits = {step: refit for step, refit in self.refits.items() if step <= k}
        return Explicit(self.places[: k + 1], self.values[: k + 1], fixed, scale=self.scale, refits=refits)

    def n_places(self, k: int) -> int:
        """One more than the last place of any of these models."""
        return max((int(places.max(initial=-1)) for places in self.places[: k + 1]), default=-1) + 1

    def weights(self, k: int) -> np.ndarray:
        """The weights written down, or those of the refit."""
        if k in self.refits:
            return self.refits[k].weights()
        weights = self.values[k] / self.scale
        return weights if self.fixed is None else self.fixed.beside(self.places[k], weights)

    def factor(self, k: int) -> Factor | None:
        """The factor of a refit."""
        return self.refits.get(k)
