"""Shapley values of one score of a model: which way of computing them the model allows, and row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelpursuit.explain.games import ClosedGames, closed_terms, features_of, worth_of
from kernelpursuit.explain.shapley import MOST_COUNTED, of_all_coalitions, of_orders
from kernelpursuit.export.description import Description
from kernelpursuit.model import FittedModel


class Attribution:
    """Shapley values of a weighted sum of the scores of models, before anything is faded or clipped.

    members      models, and the weights of the scores of each
    description  what they compute, or None where that is not known: then all features count, and none by itself
    direction    the weights of all scores
    background   rows that give absent features their values, shape (n_background, n_features)
    n_orders     orders that are sampled, where there are too many features for all coalitions
    n_threads    threads that evaluate the models
    """

    def __init__(
        self,
        members: Sequence[tuple[FittedModel, np.ndarray]],
        description: Description | None,
        direction: np.ndarray,
        *,
        background: np.ndarray,
        n_orders: int,
        n_threads: int,
    ):
        self.members, self.background, self.n_orders, self.n_threads = members, background, n_orders, n_threads
        n_features = background.shape[1]
        #: What the score grows by along each feature, by lines beside the atoms.
        self.slope = np.zeros(n_features)
        #: Features that atoms depend on.
        self.features = np.arange(n_features)
        #: The atoms as games of which the values are known in closed form; None where they are not.
        self.closed: list[ClosedGames] | None = None
        if description is not None:
            line, blocks = description.line, description.blocks
            np.add.at(self.slope, line.features, line.coef @ direction / line.spread)
            self.features = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *map(features_of, blocks)]))
            terms = [closed_terms(block) for block in blocks]
            if None not in terms:
                self.closed = [
                    ClosedGames(block, one or [], weights=block.coef @ direction, background=background)
                    for block, one in zip(blocks, terms)
                ]

    @property
    def is_exact(self) -> bool:
        """Whether values are exact, and not of sampled orders."""
        return self.closed is not None or len(self.features) <= MOST_COUNTED

    def sums(self, rows: np.ndarray) -> np.ndarray:
        """The score of rows."""
        total = np.zeros(len(rows))
        for model, direction in self.members:
            total += model.sums(rows, self.n_threads) @ direction
        return total

    def values(self, row: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Shapley values of all features, and their standard errors, 0 where values are exact."""
        phi, error = self.slope * (row - self.background.mean(axis=0)), np.zeros(len(row))
        if self.closed is not None:
            for game in self.closed:
                phi[game.features] += game.values(row)
            return phi, error
        # Without the line, of which the values are known: it may have more features than the atoms.
        worth = worth_of(self._beside_the_line, row, self.background, self.features)
        if self.is_exact:
            phi[self.features] += of_all_coalitions(worth, len(self.features))
            return phi, error
        found, error[self.features] = of_orders(worth, len(self.features), self.n_orders, rng)
        phi[self.features] += found
        return phi, error

    def _beside_the_line(self, rows: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.sums(rows) - rows @ self.slope
        return found
