"""What a criterion sees of a block of rows, and what it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np

from kernelpursuit.pursuit import working
from kernelpursuit.rows import RowBlock


@dataclass(frozen=True)
class Sizes:
    """A block of rows under the models of every size: k = 0, 1, ... atoms.

    block       the rows
    directions  of the fixed columns, then of atoms, times the root of the weights, shape (n_columns, n_rows)
    residual    `y - f`, times the root of the weights, shape (n_targets, n_sizes, n_rows)
    leverage    the diagonal of the hat matrix, shape (n_sizes, n_rows)

    Notes
    -----
    With V the directions of the fixed columns and the atoms in the order in which they were picked, and b their
    coefficients, the model of size k leaves `y - sum_{t <= k} b_t v_t`, and its leverages are `sum_{t <= k} v_t²`: all
    sizes cost O(n_sizes n_rows) together.
    """

    block: RowBlock
    directions: np.ndarray
    residual: np.ndarray
    leverage: np.ndarray

    @classmethod
    def of(cls, block: RowBlock, V: np.ndarray, b: np.ndarray, n_fixed: int) -> Sizes:
        """Models of every size from directions V of shape (n_columns, n_rows), not weighted yet; V is overwritten."""
        y = block.y.T
        if block.weights is not None:
            root = np.sqrt(block.weights)
            V *= root
            y = y * root
        n_sizes = len(V) - n_fixed + 1
        residual, leverage = np.empty((len(y), n_sizes, len(block))), np.empty((n_sizes, len(block)))
        residual[:, 0] = y - b[:n_fixed].T @ V[:n_fixed]
        leverage[0] = np.square(V[:n_fixed]).sum(axis=0)
        np.square(V[n_fixed:], out=leverage[1:])
        # Size by size: a cumulative sum of NumPy along the first axis takes forty times as long.
        along, by_size = np.empty(y.shape), residual.swapaxes(0, 1)
        for v, coefficients, before, after in zip(V[n_fixed:], b[n_fixed:, :, None], by_size, by_size[1:]):
            np.multiply(v, coefficients, out=along)
            np.subtract(before, along, out=after)
        for fewer, more in pairwise(leverage):
            more += fewer
        return cls(block, V, residual, leverage)

    @property
    def n_sizes(self) -> int:
        """Number of models."""
        return len(self.leverage)

    @cached_property
    def units(self) -> np.ndarray:
        """How many observations each row stands for: one of them is left out."""
        return np.maximum(self.block.sample_weights if self.block.counts is None else self.block.counts, 1.0)

    @cached_property
    def one_minus_leverage(self) -> np.ndarray:
        """What is left of a row when one observation of it is left out, shape (n_sizes, n_rows)."""
        has_units = self.block.weights is not None or self.block.counts is not None
        return working.one_minus_leverage(self.leverage, self.units if has_units else None)

    @cached_property
    def least_left(self) -> np.ndarray:
        """The least that is left of any row, shape (n_sizes,): where that is nothing, the row is interpolated."""
        return self.one_minus_leverage.min(axis=1)

    def loo_error(self, rows: slice | np.ndarray = slice(None)) -> np.ndarray:
        """Leave-one-out errors of some rows times the root of the weights, shape (n_targets, n_sizes, n_rows)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return working.loo_error(self.residual[:, :, rows], self.one_minus_leverage[:, rows])


class Reducer(ABC):
    """A criterion: what it is of every size, after any number of blocks.

    One that was just made has seen no rows. `of_block` returns another that has seen one block, and `+` one that has
    seen the blocks of both: so blocks may be looked at anywhere, and put together in any order.
    """

    @abstractmethod
    def of_block(self, sizes: Sizes) -> Self:
        """The criterion of these rows alone."""

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """The criterion of the rows of both."""

    @abstractmethod
    def result(self) -> dict[str, np.ndarray]:
        """The columns of the path, by name, in the units of the targets as they were seen."""
