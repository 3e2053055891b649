"""The systems of the papers against what their arithmetic must cost, and Nair's figure 7."""

from __future__ import annotations

import numpy as np
from timing import best_times, peak_bytes_of, row

from kernelpursuit import _native, presets
from kernelpursuit.data import make_friedman
from kernelpursuit.updates import MinRes, Orthogonal

RBF = ("rbf", 0.0, 0.0)
D, ATOMS = 10, 200


def problem(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def columns(Z: np.ndarray, count: int, out: np.ndarray) -> None:
    """Evaluate kernel columns, `count` at a time, as often as there are atoms."""
    for step in range(ATOMS):
        _native.block(RBF, Z[step * count : (step + 1) * count], Z, out=out)


def greedy_qr(n: int = 100_000) -> None:
    """Greedy QR against its kernel columns and two bare passes over the basis a step."""
    X, y = problem(n)
    Z, column = X * D**-0.5, np.empty((1, n))
    V, z = np.random.default_rng(1).normal(size=(ATOMS, n)), np.zeros(n)

    def two_passes() -> None:
        for k in range(1, ATOMS):
            z.__isub__((V[:k] @ z) @ V[:k])

    model = presets.greedy_qr(gamma=1 / D, max_atoms=ATOMS)
    fit, kernel, passes = best_times(
        lambda: model.fit(X, y), lambda: columns(Z, 1, column), two_passes, rounds=4, repeats=1
    )
    limit = kernel + passes
    row(
        f"greedy_qr, n={n:,} d={D} {ATOMS} atoms / (columns + two passes a step)",
        f"{fit:.2f} s / ({kernel:.2f} + {passes:.2f}) s = {fit / limit:.2f}",
        "<= 1.5",
        fit / limit <= 1.5,
    )


def kappa(n: int = 200_000, count: int = 59) -> None:
    """Kappa-greedy sparse Gaussian processes against their kernel columns and, with a basis, one product a step."""
    X, y = problem(n)
    Z, block = X * D**-0.5, np.empty((count, n))
    V = np.random.default_rng(1).normal(size=(ATOMS, n))
    options = {"gamma": 1 / D, "max_atoms": ATOMS, "candidates": count, "random_state": 0, "alpha": 1e-3}
    rescale = presets.sparse_gp_kappa(**options)
    orthogonal = presets.sparse_gp_kappa(**options, update=Orthogonal())
    as_printed, kernel = best_times(lambda: rescale.fit(X, y), lambda: columns(Z, count, block), rounds=2, repeats=1)
    refitted, product = best_times(
        lambda: orthogonal.fit(X, y), lambda: [V[:k] @ block.T for k in range(1, ATOMS)], rounds=1, repeats=1
    )
    what = f"sparse_gp_kappa, n={n:,} d={D} kappa={count} {ATOMS} atoms"
    row(
        f"{what} / columns",
        f"{as_printed:.2f} s / {kernel:.2f} s = {as_printed / kernel:.2f}",
        "<= 1.5",
        as_printed / kernel <= 1.5,
    )
    limit = kernel + product
    row(
        "the same with all weights refitted / (columns + one product a step)",
        f"{refitted:.2f} s / ({kernel:.2f} + {product:.2f}) s = {refitted / limit:.2f}",
        "<= 1.5",
        refitted / limit <= 1.5,
    )
    peak = peak_bytes_of(
        "import numpy as np; from kernelpursuit import presets;"
        f"X = np.random.default_rng(0).normal(size=({n}, {D}));"
        f"presets.sparse_gp_kappa(gamma={1 / D}, max_atoms={ATOMS}).fit(X, X[:, 0])"
    )
    errors = [np.sqrt(np.mean((model.predict(X) - y) ** 2)) for model in (rescale, orthogonal)]
    print(f"    peak memory {peak / 1e6:.0f} MB; training error {errors[0]:.4f}, refitted {errors[1]:.4f}")


def figure_7() -> None:
    """Training time against the number of rows, a tenth of them as atoms, and the exponents (Nair figure 7)."""
    sizes = np.array([500, 1000, 2000, 4000, 8000])
    systems = {
        "mrx": presets.mrx(),
        "mrx, no refit": presets.mrx(update=MinRes(refit=False)),
        "greedy_qr": presets.greedy_qr(update=Orthogonal(rcond=1e-14)),
        "ormp": presets.ormp(),
    }
    print("\nNair figure 7: seconds to fit n rows with n / 10 atoms (Friedman 1, gamma = 0.5), kernel included")
    print(f"    {'':<16}" + "".join(f"{n:>9,}" for n in sizes) + "   exponent    error at 8,000")
    for name, model in systems.items():
        seconds, error = [], np.nan
        for n in sizes:
            X, y = make_friedman(int(n))
            model.set_params(gamma=0.5, max_atoms=int(n) // 10)
            seconds += best_times(lambda: model.fit(X, y), rounds=1 if n > 4000 else 3, repeats=1)  # noqa: B023
            X_new, y_new = make_friedman(2000, seed=1)
            error = np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2))
        exponent = np.polyfit(np.log(sizes[1:]), np.log(seconds[1:]), 1)[0]
        print(f"    {name:<16}" + "".join(f"{s:9.3f}" for s in seconds) + f"   {exponent:8.2f}    {error:8.3f}")


def main() -> None:
    greedy_qr()
    kappa()
    figure_7()


if __name__ == "__main__":
    main()
