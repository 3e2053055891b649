"""Rows that are not numbers: a string kernel, by way of row numbers.

X holds one column, the number of each string, and the kernel looks the strings up. The p-spectrum kernel counts the
pieces of p letters that two strings share. The pursuit then picks the few strings that tell the classes apart.

    python examples/strings.py [folder]
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from picture import BLUE, GREEN, GREY, ORANGE, finish, panels, save

from kernelpursuit import KernelPursuitClassifier

MOTIF = "GATTACA"


class Spectrum:
    """The p-spectrum kernel of a list of strings, normalised to 1 for equal strings; rows are numbers in the list."""

    def __init__(self, strings: list[str], p: int):
        pieces = [Counter(s[i : i + p] for i in range(len(s) - p + 1)) for s in strings]
        columns = {piece: j for j, piece in enumerate(sorted(set().union(*pieces)))}
        self.counts = np.zeros((len(strings), len(columns)))
        for row, counter in zip(self.counts, pieces):
            row[[columns[piece] for piece in counter]] = list(counter.values())
        self.counts /= np.linalg.norm(self.counts, axis=1, keepdims=True)

    def __call__(self, X: np.ndarray, C: np.ndarray) -> np.ndarray:
        """Values for the strings with numbers X and C."""
        return self.counts[X[:, 0].astype(int)] @ self.counts[C[:, 0].astype(int)].T


def main(folder: str | Path = "out") -> dict[str, float]:
    strings, y = make_sequences()
    X = np.arange(len(strings))[:, None]
    train, test = X[:300], X[300:]
    figure, (left, right) = panels(1, 2, (11.5, 4.4), width_ratios=[2, 3])
    found, models = {}, {}
    for p, colour in zip((1, 2, 4, 6), (GREY, GREEN, BLUE, ORANGE)):
        model = KernelPursuitClassifier(kernel=Spectrum(strings, p), max_atoms=40, stop="max").fit(train, y[:300])
        errors = 100 * np.array([np.mean(labels != y[300:]) for labels in model.staged_predict(test)])
        left.plot(errors, color=colour, lw=1.8, label=f"pieces of {p}")
        found[f"pieces of {p}"], models[p] = float(errors[-1]), model
    left.set_ylim(0)
    finish(left, "error on 300 new strings", "atoms", "strings in the wrong class, %", legend="upper right")
    draw_strings(right, models[4].at(12), strings)
    save(figure, folder, "strings.png")

    print("error with 40 atoms: " + ", ".join(f"{name} {error:.1f} %" for name, error in found.items()))
    return found


def draw_strings(ax, model: KernelPursuitClassifier, strings: list[str]) -> None:
    """The picked strings in the order of their weights, with what they have of the motif in capitals."""
    order = np.argsort(-model.coef_[0])
    for line, j in enumerate(order):
        text, weight = strings[model.center_indices_[j]], model.coef_[0, j]
        shares = shared_with_motif(text)
        spelled = "".join(c if s else c.lower() for c, s in zip(text, shares))
        colour = ORANGE if weight > 0 else BLUE
        ax.text(0, -line, spelled, family="monospace", va="center", fontsize=11, color=colour)
        ax.barh(-line, 6 * weight / np.abs(model.coef_).max(), left=49, height=0.6, color=colour)
    ax.axvline(49, color="black", lw=0.8)
    ax.set(xlim=(0, 56), ylim=(-len(order) + 0.4, 0.6), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    title = f"first {len(order)} strings picked, by pieces of 4, and their weights; capitals: pieces of {MOTIF}"
    ax.set_title(title, fontsize="medium", loc="left")


def shared_with_motif(text: str, p: int = 4) -> np.ndarray:
    """Which letters belong to a piece of p letters of the motif."""
    pieces = {MOTIF[i : i + p] for i in range(len(MOTIF) - p + 1)}
    shared = np.zeros(len(text), dtype=bool)
    for i in range(len(text) - p + 1):
        shared[i : i + p] |= text[i : i + p] in pieces
    return shared


def make_sequences(n_strings: int = 600, length: int = 50, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Random letters; in class 1 the motif is put in twice, one letter of it often misspelled."""
    generator = np.random.default_rng(seed)
    letters = generator.choice(list("ACGT"), (n_strings, length))
    y = np.arange(n_strings) % 2
    for i in np.flatnonzero(y):
        for start in (generator.integers(0, 18), generator.integers(25, 43)):
            letters[i, start : start + len(MOTIF)] = list(MOTIF)
            if generator.random() < 0.5:
                letters[i, start + generator.integers(len(MOTIF))] = generator.choice(list("ACGT"))
    return ["".join(row) for row in letters], y


if __name__ == "__main__":
    main(*sys.argv[1:])
