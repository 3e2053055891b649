"""A random subset of the candidates, for speed.

A step of the pursuit looks at every atom of the dictionary. It may look at fewer: at some that are drawn anew for each
step (`candidates=59`; the best of 59 is among the best 5 % with a probability of 95 %), or at a list drawn once.

    python examples/random_subset.py [folder]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from picture import BLUE, GREEN, GREY, ORANGE, PURPLE, finish, panels, plain_ticks, save

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.data import make_friedman


def main(folder: str | Path = "out", n_samples: int = 3000) -> dict[str, dict[str, float]]:
    X, y = make_friedman(n_samples)
    X_new, y_new = make_friedman(1000, noise=0.0, seed=1)
    some_rows = np.random.default_rng(0).choice(n_samples, n_samples // 20, replace=False)
    searches = {
        f"all {n_samples}": ("all", BLUE),
        "59 drawn anew each step": (59, ORANGE),
        f"{len(some_rows)} drawn once": (some_rows, GREEN),
        "5 drawn anew each step": (5, PURPLE),
        "1: a random atom": (1, GREY),
    }
    figure, (left, right) = panels(1, 2, (11.5, 4.1))
    found = {}
    for name, (candidates, colour) in searches.items():
        settings = {"kernel": "rbf", "gamma": 0.5, "max_atoms": 100, "stop": "max"}
        model = KernelPursuitRegressor(candidates=candidates, random_state=0, **settings)
        seconds = np.inf
        for _ in range(2):
            start = time.perf_counter()
            model.fit(X, y)
            seconds = min(seconds, time.perf_counter() - start)
        errors = [np.sqrt(np.mean(np.square(p - y_new))) for p in model.staged_predict(X_new)]
        left.plot(range(1, len(errors)), errors[1:], color=colour, lw=1.8, label=name)
        found[name] = {"error": float(errors[-1]), "seconds": seconds}
    left.set_yscale("log")
    plain_ticks(left)
    finish(left, f"Friedman's function, {n_samples} rows", "atoms", "error on new rows", legend="upper right")
    colours = [colour for _, colour in searches.values()]
    bars = right.barh(list(found), [numbers["seconds"] for numbers in found.values()], color=colours, height=0.6)
    right.bar_label(bars, [f"error {numbers['error']:.2f}" for numbers in found.values()], padding=4, fontsize="small")
    right.invert_yaxis()
    right.margins(x=0.15)
    finish(right, "time for 100 atoms, and the error then", "seconds", "")
    save(figure, folder, "random_subset.png")

    for name, numbers in found.items():
        print(f"{name}: error {numbers['error']:.3f} in {numbers['seconds']:.2f} s")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])
