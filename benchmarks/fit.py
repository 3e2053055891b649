"""A whole fit against its physical limit, against a textbook ORMP, and within a memory budget."""

from __future__ import annotations

import numpy as np
from timing import best_times, peak_bytes_of, row

from kernelpursuit import _native, pursuit_path
from kernelpursuit.kernels import RBF

N, D, ATOMS = 10_000, 8, 300


def problem(n: int, d: int = D) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.normal(size=n)


def textbook_ormp(K: np.ndarray, y: np.ndarray, n_atoms: int) -> list[int]:
    """Orthogonal residual matching pursuit that keeps every column orthogonal to the picked ones, in NumPy."""
    columns, residual = K.copy(), y.copy()
    norms = np.einsum("ij,ij->j", columns, columns)
    picked: list[int] = []
    for _ in range(n_atoms):
        gains = (residual @ columns) ** 2 / np.where(norms > 1e-12, norms, np.inf)
        gains[picked] = -1.0
        j = int(np.argmax(gains))
        q = columns[:, j] / np.sqrt(norms[j])
        picked.append(j)
        residual = residual - q * (q @ residual)
        columns -= np.outer(q, q @ columns)
        norms = np.einsum("ij,ij->j", columns, columns)
    return picked


def against_limit() -> float:
    """Fit with a stored dictionary against its kernel block and that many bare float32 passes over it."""
    X, y = problem(N)
    options = {"gamma": 1 / D, "max_atoms": ATOMS, "penalty": None, "candidates": "all"}
    scaled = (X * D**-0.5).astype(np.float32)
    A = _native.block(("rbf", 0.0, 0.0), scaled, scaled)
    v = np.random.default_rng(1).normal(size=N).astype(np.float32)
    fit, kernel, passes = best_times(
        lambda: pursuit_path(X, y, **options),
        lambda: _native.block(("rbf", 0.0, 0.0), scaled, scaled),
        # All of them in one go, as the fit makes them: the memory's speed changes from second to second, and a short
        # stretch of passes would be compared at a lucky moment.
        lambda: [A.T @ v for _ in range(ATOMS)],
        rounds=3,
        repeats=1,
    )
    limit = kernel + passes
    gbs = ATOMS * A.nbytes / passes / 1e9
    row(
        f"fit, gain, n={N:,} d={D} {ATOMS} atoms / (block + {ATOMS} float32 passes)",
        f"{fit:.2f} s / {limit:.2f} s = {fit / limit:.2f} ({gbs:.0f} GB/s)",
        "<= 1.5",
        fit / limit <= 1.5,
    )
    return fit


def against_textbook(fit: float) -> None:
    """The same fit against ORMP as textbooks have it, which rewrites every column at each step."""
    X, y = problem(N)
    K = RBF(gamma=1 / D)(X)
    n_timed = 10
    (seconds,) = best_times(lambda: textbook_ormp(K, y, n_timed), rounds=1, repeats=1)
    seconds *= ATOMS / n_timed
    ours = pursuit_path(X, y, gamma=1 / D, max_atoms=n_timed, penalty=None, candidates="all").atom
    same = list(ours) == textbook_ormp(K, y, n_timed)
    row(
        f"the same against a textbook ORMP ({n_timed} steps timed, times {ATOMS // n_timed})",
        f"{seconds:.0f} s / {fit:.2f} s = {seconds / fit:.0f} times, {'same' if same else 'OTHER'} atoms",
        ">= 15 times",
        seconds / fit >= 15 and same,
    )


def memory() -> None:
    """Peak memory of a fit of 40,000 rows, all of them candidates, with a budget of 500 MB."""
    code = (
        "import numpy as np; from kernelpursuit import pursuit_path\n"
        "rng = np.random.default_rng(0); X = rng.normal(size=(40_000, 8)); y = np.sin(X).sum(axis=1)\n"
        "pursuit_path(X, y, gamma=0.1, max_atoms=100, candidates='all', memory_budget=500_000_000)"
    )
    peak = peak_bytes_of(code)
    row("peak memory, n=40,000, budget 500 MB", f"{peak / 1e6:.0f} MB", "< 1,000 MB", peak < 1e9)


def main() -> None:
    fit = against_limit()
    against_textbook(fit)
    memory()


if __name__ == "__main__":
    main()
