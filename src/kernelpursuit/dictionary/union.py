"""Several dictionaries as one, and the dictionary that a `kernel` parameter stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kernelpursuit._types import Matrix, RowForm, State
from kernelpursuit._validate import check_option
from kernelpursuit.dictionary.base import Dictionary
from kernelpursuit.dictionary.kernel_atoms import KernelAtoms
from kernelpursuit.dictionary.precomputed import Precomputed
from kernelpursuit.kernels import BY_NAME, KernelLike
from kernelpursuit.rows import dense


class Union(Dictionary):
    """The atoms of several dictionaries, one dictionary after the other.

    `take` may ask for them in another order. The atoms of one part are kept together all the same, so that a model
    of k atoms is evaluated by as many products as it has kernels; `order` says where atom number j stands.

    Examples
    --------
    >>> from kernelpursuit.dictionary import KernelAtoms, Union
    >>> Union(KernelAtoms("rbf"), KernelAtoms("laplacian"))  # also KernelAtoms("rbf") + KernelAtoms("laplacian")
    KernelAtoms(RBF(), at training rows) + KernelAtoms(Laplacian(), at training rows)
    """

    def __init__(self, *parts: Dictionary, order: np.ndarray | None = None, training_rows: np.ndarray | None = None):
        # A union of unions is flat, so that (a + b) + c and a + (b + c) number their atoms alike.
        self.parts: list[Dictionary] = []
        for part in parts:
            self.parts.extend(part.parts if isinstance(part, Union) else [part])
        if any(isinstance(part, Precomputed) for part in self.parts):
            raise ValueError("kernel='precomputed' cannot be part of a union; append its columns to X instead.")
        self.order = order
        self.training_rows = training_rows

    @property
    def is_mercer(self) -> bool:
        """Whether every part is."""
        return all(part.is_mercer for part in self.parts)

    @property
    def takes_gamma(self) -> bool:
        """Whether any part does."""
        return any(part.takes_gamma for part in self.parts)

    @property
    def n_atoms(self) -> int:
        """Number of atoms of all parts."""
        return sum(part.n_atoms for part in self.parts)

    @property
    def starts(self) -> np.ndarray:
        """Place of the first atom of each part, and of the end."""
        return np.cumsum([0, *(part.n_atoms for part in self.parts)])

    def _in_order(self, values: np.ndarray) -> np.ndarray:
        return values if self.order is None else values[self.order]

    def _places(self, atoms: Sequence[int] | np.ndarray) -> np.ndarray:
        return np.asarray(atoms) if self.order is None else self.order[atoms]

    def _by_part(self, atoms: Sequence[int] | np.ndarray) -> Iterator[tuple[int, Dictionary, np.ndarray, np.ndarray]]:
        """Yield (part number, part, which of `atoms` are its, their numbers in the part)."""
        places, starts = self._places(atoms), self.starts
        for k, part in enumerate(self.parts):
            mine = np.flatnonzero((places >= starts[k]) & (places < starts[k + 1]))
            if len(mine):
                yield k, part, mine, places[mine] - starts[k]

    def count(self, X: Matrix) -> int:
        """Number of atoms of all parts."""
        return sum(part.count(X) for part in self.parts)

    def resolve(self, X: Matrix, gamma: ArrayLike = "scale", weights: np.ndarray | None = None) -> Union:
        """Resolve every part."""
        parts = [part.resolve(X, gamma, weights) for part in self.parts]
        return Union(*parts, training_rows=np.concatenate([_training_rows(part) for part in parts]))

    def with_parts(self, parts: Iterable[Dictionary]) -> Union:
        """Return the union of other parts with as many atoms each, in the order of this one."""
        return Union(*parts, order=self.order, training_rows=self.training_rows)

    def with_training_rows(self, training_rows: np.ndarray | None) -> Union:
        """Return the same parts, whose atoms are centred at other rows."""
        return Union(*self.parts, order=self.order, training_rows=training_rows)

    def rows(self, X: Matrix) -> list[RowForm]:
        """Rows in the form of each part."""
        return [part.rows(X) for part in self.parts]

    def take(self, atoms: np.ndarray) -> Union:
        """Return these atoms, in this order."""
        nothing = np.zeros(0, dtype=np.intp)
        # Even a union of nothing keeps a part, which knows the rows and the width of its centres.
        pieces = list(self._by_part(atoms)) or [(0, self.parts[0], nothing, nothing)]
        order = np.empty(len(atoms), dtype=np.intp)
        order[np.concatenate([mine for _, _, mine, _ in pieces])] = np.arange(len(atoms))
        parts = (part.take(numbers) for _, part, _, numbers in pieces)
        return Union(*parts, order=order, training_rows=_training_rows(self)[atoms])

    def state(self) -> State:
        """The parts, and the order of their atoms."""
        return {"parts": self.parts, "order": self.order, "training_rows": self.training_rows}

    @classmethod
    def from_state(cls, state: State) -> Union:
        """Return the union that `state` describes."""
        return cls(*state["parts"], order=state["order"], training_rows=state["training_rows"])

    def repeated(self) -> np.ndarray:
        """Which atoms repeat an earlier one of their part."""
        return self._in_order(np.concatenate([part.repeated() for part in self.parts]))

    def same_as(self, atom: int, others: np.ndarray) -> np.ndarray:
        """Which of the others are the same function of the same part."""
        out = np.zeros(len(others), dtype=bool)
        ((own_part, _, _, number),) = self._by_part([atom])
        for k, part, mine, numbers in self._by_part(others):
            if k == own_part:
                out[mine] = part.same_as(int(number[0]), numbers)
        return out

    def block(
        self, rows: list[RowForm], atoms: np.ndarray, dtype: DTypeLike = np.float64, n_threads: int | None = None
    ) -> np.ndarray:
        """Values of the given atoms, part by part."""
        out = np.empty((len(atoms), rows[0].shape[0]), dtype=dtype)
        for k, part, mine, numbers in self._by_part(atoms):
            out[mine] = part.block(rows[k], numbers, dtype, n_threads)
        return out

    def rmatvec(
        self,
        rows: list[RowForm],
        V: np.ndarray,
        atoms: np.ndarray,
        dtype: DTypeLike = np.float64,
        n_threads: int | None = None,
    ) -> np.ndarray:
        """`D' V`, part by part."""
        out = np.empty((V.shape[0], len(atoms)))
        for k, part, mine, numbers in self._by_part(atoms):
            out[:, mine] = part.rmatvec(rows[k], V, numbers, dtype, n_threads=n_threads)
        return out

    def sqnorms(
        self,
        rows: list[RowForm],
        weights: np.ndarray,
        atoms: np.ndarray,
        dtype: DTypeLike = np.float64,
        n_threads: int | None = None,
    ) -> np.ndarray:
        """Squared norms, part by part."""
        out = np.empty(len(atoms))
        for k, part, mine, numbers in self._by_part(atoms):
            out[mine] = part.sqnorms(rows[k], weights, numbers, dtype, n_threads=n_threads)
        return out

    def matvec(self, rows: list[RowForm], coef: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """`D c`, the sum over parts."""
        out = np.zeros((rows[0].shape[0], coef.shape[1]))
        for k, part, mine, numbers in self._by_part(np.arange(self.n_atoms)):
            out += part.matvec(rows[k], coef[mine][np.argsort(numbers)], n_threads)
        return out

    @property
    def centers(self) -> Matrix:
        """Centres of all atoms; a row of NaN for an atom that has none. None where no part has any."""
        each: list[Matrix] = [part.centers for part in self.parts]
        widths = {c.shape[1] for c in each if c is not None}
        if not widths:
            return None
        filled: list[Matrix] = [
            np.full((p.n_atoms, *widths), np.nan) if c is None else c for p, c in zip(self.parts, each)
        ]
        return self._in_order(np.vstack([dense(c) for c in filled]))

    def gram(self, atoms: np.ndarray, others: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """Inner products in the direct sum of the parts' spaces: atoms of different parts are orthogonal."""
        out = np.zeros((len(atoms), len(others)))
        columns = {k: (mine, numbers) for k, _, mine, numbers in self._by_part(others)}
        for k, part, mine, numbers in self._by_part(atoms):
            if k in columns:
                theirs, other_numbers = columns[k]
                out[np.ix_(mine, theirs)] = part.gram(numbers, other_numbers, n_threads)
        return out

    def own_values(self) -> np.ndarray:
        """Values of all atoms at their own centres."""
        return self._in_order(np.concatenate([part.own_values() for part in self.parts]))

    def __repr__(self) -> str:
        """Show the parts."""
        return " + ".join(map(repr, self.parts)) or "Union()"


def _training_rows(dictionary: Dictionary) -> np.ndarray:
    rows = dictionary.training_rows
    return np.full(dictionary.n_atoms, -1) if rows is None else rows


#: What stands for a dictionary: a kernel, a dictionary, or several of these.
DictionaryLike: TypeAlias = KernelLike | Dictionary | list["DictionaryLike"] | tuple["DictionaryLike", ...]


def as_dictionary(kernel: DictionaryLike) -> Dictionary:
    """Return the dictionary that `kernel` stands for.

    A name, a kernel object or a callable means that kernel at every training row; a list, each of its members one
    after the other; "precomputed", the columns of X; a dictionary, itself.
    """
    if isinstance(kernel, Dictionary):
        return kernel
    if isinstance(kernel, str) and kernel == "precomputed":
        return Precomputed()
    if isinstance(kernel, (list, tuple)):
        if not kernel:
            raise ValueError("kernel=[] is empty; give at least one kernel.")
        return Union(*map(as_dictionary, kernel))
    if isinstance(kernel, str):
        check_option("kernel", kernel, (*BY_NAME, "precomputed"))
    return KernelAtoms(kernel)


def widths(kernel: KernelLike, gammas: Sequence[float] | np.ndarray) -> Union:
    """Return a dictionary with `kernel` at every training row in each of several widths.

    Examples
    --------
    >>> from kernelpursuit.dictionary import widths
    >>> widths("rbf", [0.1, 1.0, 10.0])
    KernelAtoms(RBF(gamma=0.1), at training rows) + KernelAtoms(RBF(gamma=1.0), at training rows) + ...
    """
    from kernelpursuit.kernels import Kernel, as_kernel

    base = as_kernel(kernel)
    if not isinstance(base, Kernel):
        raise ValueError("widths() needs a kernel with a gamma, not a callable; list the callables instead.")
    if np.ndim(gammas) == 0 or len(gammas) == 0:
        raise ValueError(f"gammas={gammas!r} is not usable; give a list of widths, such as [0.1, 1.0, 10.0].")
    return Union(*(KernelAtoms(base.with_gamma(gamma)) for gamma in gammas))
