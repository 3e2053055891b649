"""How far two atoms of a dictionary may point the same way."""

from __future__ import annotations

import numpy as np

from kernelpursuit.engine import Engine

# Bytes of the values of a block of atoms; two blocks and their products are in memory at a time.
BLOCK_BYTES = 2**24
MOST_ATOMS = 1024


def mutual_coherence(engine: Engine) -> float:
    """Return the largest `|d_i' d_j| / (||d_i|| ||d_j||)` over two atoms of the dictionary (Tropp 2004).

    Atoms that are copies of each other but for rounding, as of a row given twice, are one atom; those that are zero on
    all rows have no direction and do not count. 0 where there are no two.

    Notes
    -----
    Float64 throughout, whatever the memory budget. O(n_rows n_atoms²) time: the atoms are multiplied block by block,
    and the values of a block are computed again for every other one, so that memory is that of two blocks.
    """
    step = int(np.clip(BLOCK_BYTES // (8 * engine.n_rows), 1, MOST_ATOMS))
    blocks = [np.arange(start, min(start + step, engine.n_atoms)) for start in range(0, engine.n_atoms, step)]
    largest = 0.0
    for i, atoms in enumerate(blocks):
        first = _unit(engine.columns(atoms))
        inside = first @ first.T
        np.fill_diagonal(inside, 0.0)
        largest = max(largest, _largest(inside, engine.n_rows))
        for others in blocks[i + 1 :]:
            largest = max(largest, _largest(first @ _unit(engine.columns(others)).T, engine.n_rows))
    return largest


def _unit(columns: np.ndarray) -> np.ndarray:
    """Atoms of norm one, or zero; divided by their largest value first, whose square may be out of range."""
    columns = _over(columns, np.abs(columns).max(axis=1, initial=0.0))
    return _over(columns, np.sqrt(np.einsum("ij,ij->i", columns, columns)))


def _over(columns: np.ndarray, size: np.ndarray) -> np.ndarray:
    return np.divide(columns, size[:, None], out=np.zeros_like(columns), where=size[:, None] > 0)


def _largest(cosines: np.ndarray, n_rows: int) -> float:
    """The largest absolute cosine that is not one but for the rounding of a sum over rows."""
    size = np.abs(cosines)
    return float(size.max(initial=0.0, where=size < 1.0 - (n_rows + 16) * np.finfo(np.float64).eps))
