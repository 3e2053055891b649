"""The prediction-based termination rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelpursuit._types import Path
from kernelpursuit._validate import check_number
from kernelpursuit.stopping.base import StoppingRule, tell_size
from kernelpursuit.stopping.criteria import HDAIC

# Values of T that are tried: m (1 + log p) / N_TRIED for m = 1, ..., N_TRIED (Xu sec. 3.1).
N_TRIED = 20


@dataclass(repr=False)
class PTR(StoppingRule):
    """Stop at `k*`, the largest whole number below `T sqrt(n / log n)` (Xu eq. 2.4).

    It minimises a bound on the prediction error over functions whose weights add up to T. Without T, the values
    `m (1 + log p) / 20`, m = 1, ..., 20, with p features, are tried: the loop runs to the `k*` of the largest, and of
    the `k*` on the path the one with the least `HDAIC` is kept.

    Parameters
    ----------
    T : sum of the absolute weights of the function that is looked for; None to choose by HDAIC

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.stopping import PTR
    >>> model = KernelPursuitRegressor(gamma=3.0, max_atoms=60, stop=PTR(T=2.0)).fit(*make_chirp(200))
    >>> model.stop_reason_
    '12 atoms: PTR with T=2'
    """

    T: float | None = None
    name = "ptr"

    def __post_init__(self) -> None:
        if self.T is not None:
            check_number("T", self.T, low=0, strict=True)

    def tried(self, path: Path) -> np.ndarray:
        """The values of T, ascending."""
        if self.T is not None:
            return np.array([float(self.T)])
        if path.n_features is None:
            raise ValueError(
                "stop='ptr' chooses T by the number of features, which a precomputed dictionary lacks; give PTR(T=...)."
            )
        return np.arange(1, N_TRIED + 1) * (1 + np.log(path.n_features)) / N_TRIED

    def sizes(self, path: Path) -> np.ndarray:
        """The `k*` of every T that is tried."""
        n = path.n_units
        reach = self.tried(path) * np.sqrt(n / np.log(n)) if n > 1 else np.zeros(len(self.tried(path)))
        # No path is longer than an integer can count.
        return np.maximum(np.ceil(np.minimum(reach, 2.0**62)).astype(np.int64) - 1, 0)

    def fired(self, path: Path) -> bool:
        """Whether the largest `k*` is reached."""
        return bool(path.n_steps >= self.sizes(path)[-1])

    def choose(self, path: Path) -> int:
        """The `k*` of the T that is given, or of the one with the least HDAIC; the end of a path that is shorter."""
        sizes = self.sizes(path)
        on_path = sizes[sizes <= path.n_steps]
        if not len(on_path):
            return path.n_steps
        return int(on_path[np.argmin(HDAIC().curve(path)[on_path])])

    def explain(self, path: Path) -> str:
        """Say which T it was."""
        sizes, T = self.sizes(path), self.tried(path)
        k = self.choose(path)
        if sizes[-1] > path.n_steps and (k == path.n_steps or self.T is not None):
            wanted = f"PTR with T={T[-1]:.3g} asks for {sizes[-1]}"
            return f"{tell_size(path, k)}: {path.end_reason}, where {wanted}"
        first = int(np.flatnonzero(sizes == k)[0])
        how = "" if self.T is not None else f", which has the least HDAIC of {N_TRIED} values tried"
        return f"{tell_size(path, k)}: PTR with T={T[first]:.3g}{how}"
