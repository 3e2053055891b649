"""
Strings
=======

Rows need not be numbers. Here X holds the number of each string, and the kernel looks the strings up. The p-spectrum
kernel counts the substrings of p letters that two strings share. The strings that are picked first contain the motif
of class 1.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitClassifier

MOTIF = "GATTACA"


class Spectrum:
    """The p-spectrum kernel of a list of strings, normalised to 1 for equal strings; rows are numbers in the list."""

    def __init__(self, strings, p):
        pieces = [Counter(s[i : i + p] for i in range(len(s) - p + 1)) for s in strings]
        columns = {piece: j for j, piece in enumerate(sorted(set().union(*pieces)))}
        self.counts = np.zeros((len(strings), len(columns)))
        for row, counter in zip(self.counts, pieces):
            row[[columns[piece] for piece in counter]] = list(counter.values())
        self.counts /= np.linalg.norm(self.counts, axis=1, keepdims=True)

    def __call__(self, X, C):
        """Values for the strings with numbers X and C."""
        return self.counts[X[:, 0].astype(int)] @ self.counts[C[:, 0].astype(int)].T


# %%
# The strings are random letters. Those of class 1 contain the motif twice, often with one wrong letter.

generator = np.random.default_rng(0)
letters, y = generator.choice(list("ACGT"), (600, 50)), np.arange(600) % 2
for i in np.flatnonzero(y):
    for start in (generator.integers(0, 18), generator.integers(25, 43)):
        letters[i, start : start + len(MOTIF)] = list(MOTIF)
        if generator.random() < 0.5:
            letters[i, start + generator.integers(len(MOTIF))] = generator.choice(list("ACGT"))
strings = ["".join(row) for row in letters]
X = np.arange(600)[:, None]
train, test = X[:300], X[300:]

figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.4), layout="constrained", width_ratios=[2, 3])
found, models = {}, {}
for p, colour in zip((1, 2, 4, 6), ("#7F7F7F", "#009E73", "#0072B2", "#D55E00")):
    models[p] = KernelPursuitClassifier(kernel=Spectrum(strings, p), max_atoms=40, stop="max").fit(train, y[:300])
    errors = 100 * np.array([np.mean(labels != y[300:]) for labels in models[p].staged_predict(test)])
    left.plot(errors, color=colour, lw=1.8, label=f"pieces of {p}")
    found[p] = float(errors[-1])
left.set(ylim=(0, None), xlabel="atoms", ylabel="new strings in the wrong class, %")
left.legend(frameon=False, fontsize="small")
left.spines[["top", "right"]].set_visible(False)

# The first twelve strings picked, in the order of their weights, with what they have of the motif in capitals.
model = models[4].at(12)
pieces = {MOTIF[i : i + 4] for i in range(len(MOTIF) - 3)}
for line, j in enumerate(np.argsort(-model.coef_[0])):
    text, weight = strings[model.center_indices_[j]], model.coef_[0, j]
    shared = {k for i in range(len(text) - 3) if text[i : i + 4] in pieces for k in range(i, i + 4)}
    spelled = "".join(c if k in shared else c.lower() for k, c in enumerate(text))
    colour = "#D55E00" if weight > 0 else "#0072B2"
    right.text(0, -line, spelled, family="monospace", va="center", fontsize=10.5, color=colour)
    right.barh(-line, 6 * weight / np.abs(model.coef_).max(), left=51, height=0.6, color=colour)
right.axvline(51, color="#7F7F7F", lw=0.8)
right.set(xlim=(0, 58), ylim=(-11.6, 0.6), xticks=[], yticks=[])
right.spines[:].set_visible(False)
right.set_title(
    f"strings picked, by pieces of 4, and their weights; capitals: of {MOTIF}", fontsize="medium", loc="left"
)
print("error with 40 atoms: " + ", ".join(f"pieces of {p} {error:.1f} %" for p, error in found.items()))
