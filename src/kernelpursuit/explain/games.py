"""A model as a game over features: in closed form where its kernels are products over features, else as a function.

A kernel that is a sum of products over features (Gaussian, Laplacian, periodic, their sums and products) is a sum of
product games, a line and the linear kernel are additive games; both have Shapley values in closed form. The formulas
are those of the description that exports are written from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernelpursuit.explain.shapley import of_products
from kernelpursuit.export.describe import embedded
from kernelpursuit.export.description import Affine, Block
from kernelpursuit.export.expressions import Expr, name
from kernelpursuit.rows import slices

# Bytes of the rows that coalitions are tried on at a time, and of the factors of products.
WORTH_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Term:
    """A product in the formula of a kernel: a number, times exp(-a) of some sums a, times other sums as they are."""

    factor: float
    exponents: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()


def terms_of(value: Expr) -> list[Term] | None:
    """The terms of a formula, multiplied out; None where it is not made of numbers, exp(-a), a, sums and products."""
    if value.op == "number":
        return [Term(float(value.value))]
    if value.op == "name":
        return [Term(1.0, plain=(str(value.value),))]
    if value.op == "exp" and value.args[0].op == "neg" and value.args[0].args[0].op == "name":
        return [Term(1.0, exponents=(str(value.args[0].args[0].value),))]
    if value.op not in ("add", "mul"):
        return None
    first, second = (terms_of(one) for one in value.args)
    if first is None or second is None:
        return None
    if value.op == "add":
        return first + second
    return [Term(a.factor * b.factor, a.exponents + b.exponents, a.plain + b.plain) for a in first for b in second]


def features_of(block: Block) -> np.ndarray:
    """The features that the atoms of a block depend on."""
    return np.unique(_features_of_columns(block))


def closed_terms(block: Block) -> list[Term] | None:
    """The terms of a kernel where each is a product game or an additive one; else None."""
    terms, kinds = terms_of(block.value), {f"a{i}": one for i, one in enumerate(block.sums)}
    if terms is None or any(one.expr != name("s") for one in block.sums):
        return None
    for term in terms:
        products = any(kinds[one].kind == "products" for one in term.exponents)
        if products or len(term.plain) > 1 or (term.plain and term.exponents):
            return None
    return terms


class ClosedGames:
    """The atoms of one kernel with closed terms, the weight of each in the score, and background rows."""

    def __init__(self, block: Block, terms: Sequence[Term], weights: np.ndarray, background: np.ndarray):
        self.block, self.terms, self.weights = block, terms, weights
        self.features = features_of(block)
        self._background = self._sums(background)

    def values(self, row: np.ndarray) -> np.ndarray:
        """Shapley values of `features` for one row."""
        sums, total = self._sums(row[None]), np.zeros(len(self.features))
        for term in self.terms:
            total += self._of_term(term, sums)
        return total

    def _sums(self, X: np.ndarray) -> list[np.ndarray]:
        """What each feature adds to each sum, shape (n_features, n_rows, n_atoms) for every sum."""
        block, z, columns, out = self.block, embedded(X, self.block.embedding), _features_of_columns(self.block), []
        for one in block.sums:
            parts = np.zeros((len(self.features), len(X), len(block.centers)))
            for j in range(one.start, one.stop):
                column, center = z[:, j, None], block.centers[:, j]
                part = column * center if one.kind == "products" else column - center
                part = np.square(part) if one.kind == "squares" else part
                part = np.abs(part) if one.kind == "absolutes" else part
                parts[np.searchsorted(self.features, columns[j])] += part
            out.append(parts if block.factors is None else parts * block.factors)
        return out

    def _of_term(self, term: Term, sums: Sequence[np.ndarray]) -> np.ndarray:
        weights = term.factor * self.weights
        if term.plain:
            i = int(term.plain[0][1:])
            found: np.ndarray = (sums[i][:, 0] - self._background[i].mean(axis=1)) @ weights
            return found
        if not term.exponents or not len(self.features):
            return np.zeros(len(self.features))
        places, total = [int(one[1:]) for one in term.exponents], np.zeros(len(self.features))
        n_background, n_atoms = self._background[0].shape[1:]
        # Some atoms at a time: of hundreds of features, all of them would take gigabytes.
        for some in slices(n_atoms, max(1, WORTH_BYTES // (8 * len(self.features) * n_background))):
            p, q = (np.exp(-sum(given[i][:, :, some] for i in places)) for given in (sums, self._background))
            total += of_products(p[:, 0], q, weights[some])
        return total


def worth_of(
    function: Callable[[np.ndarray], np.ndarray], row: np.ndarray, background: np.ndarray, features: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """What coalitions of some features are worth: a function of them, shape (n_coalitions, n_features).

    The other features keep their values of the background; `function` must not depend on them.
    """
    n_background, n_all = background.shape
    step = max(1, WORTH_BYTES // (8 * n_background * n_all))

    def worth(members: np.ndarray) -> np.ndarray:
        found = []
        for start in range(0, len(members), step):
            some = members[start : start + step].astype(bool)
            rows = np.repeat(background[None], len(some), axis=0)
            rows[:, :, features] = np.where(some[:, None], row[features], background[:, features])
            found.append(function(rows.reshape(-1, n_all)).reshape(len(some), n_background).mean(axis=1))
        return np.concatenate(found)

    return worth


def _features_of_columns(block: Block) -> np.ndarray:
    """The feature that each column of an embedding is of."""
    each = [part.features if isinstance(part, Affine) else np.tile(part.features, 2) for part in block.embedding]
    return np.concatenate([np.zeros(0, dtype=np.intp), *each])
