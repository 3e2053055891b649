"""Functions that are in every model, beside the atoms that are picked."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from kernelpursuit._types import Matrix, RowForm, State
from kernelpursuit.dictionary.base import Dictionary
from kernelpursuit.dictionary.functions import Functions
from kernelpursuit.dictionary.kernel_atoms import KernelAtoms
from kernelpursuit.dictionary.union import Union, as_dictionary
from kernelpursuit.kernels import Kernel


class Always(Dictionary):
    """Functions that are in every model, unpenalised: a semi-parametric model.

    They are refitted with the picked atoms at every step, like an intercept, and count as no atom of the model.

    Parameters
    ----------
    part : Dictionary or function
        What is always in: a dictionary that does not depend on the training rows, or a function of the rows.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.dictionary import Always, Functions
    >>> trend = Always(Functions(lambda X: X[:, 0], lambda X: X[:, 0] ** 2))
    >>> model = KernelPursuitRegressor(kernel=trend + "rbf")
    """

    def __init__(self, part: Matrix):
        if callable(part) and not isinstance(part, (Dictionary, Kernel)):
            part = Functions(part)
        if not isinstance(part, Dictionary):
            raise ValueError(f"Always takes a dictionary or a function of the rows X, not {part!r}.")
        if isinstance(part, KernelAtoms) and part.at_training_rows:
            raise ValueError(f"Always would have {part!r}, every one of them, in the model; give it centers.")
        self.part = part

    @property
    def n_atoms(self) -> int:
        """Number of functions."""
        return self.part.n_atoms

    @property
    def takes_gamma(self) -> bool:
        """Whether a kernel of the part leaves its width to the estimator's `gamma`."""
        return self.part.takes_gamma

    def take(self, atoms: np.ndarray) -> Always:
        """Return just these."""
        return Always(self.part.take(atoms))

    def state(self) -> State:
        """The part."""
        return {"part": self.part}

    @classmethod
    def from_state(cls, state: State) -> Always:
        """Return what `state` describes."""
        return cls(state["part"])

    def block(
        self, rows: RowForm, atoms: np.ndarray, dtype: DTypeLike = np.float64, n_threads: int | None = None
    ) -> np.ndarray:
        """Values of the part."""
        return self.part.block(rows, atoms, dtype, n_threads)

    def __repr__(self) -> str:
        """Show the part."""
        return f"Always({self.part!r})"


def split(dictionary: Dictionary) -> tuple[Dictionary, Dictionary | None]:
    """Return what atoms are picked from, and what is always in, or None."""
    parts = dictionary.parts if isinstance(dictionary, Union) else [dictionary]
    always = [part.part for part in parts if isinstance(part, Always)]
    if not always:
        return dictionary, None
    others = [part for part in parts if not isinstance(part, Always)]
    if not others:
        raise ValueError("kernel holds only functions that are always in; add a dictionary to pick atoms from.")
    return others[0] if len(others) == 1 else Union(*others), Union(*map(as_dictionary, always))
