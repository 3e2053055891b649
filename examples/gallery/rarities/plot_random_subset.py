"""
A random subset of the candidates
=================================

By default, a step of the pursuit compares all atoms of the dictionary. It may compare fewer: some that are drawn anew
for each step (``candidates=59``; the best of 59 is among the best 5 % with a probability of 95 %), or a list drawn
once. Steps are then faster, and each atom lowers the error a little less.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.data import make_friedman

X, y = make_friedman(2000)
X_new, y_new = make_friedman(1000, noise=0.0, seed=1)
some_rows = np.random.default_rng(0).choice(2000, 100, replace=False)
searches = {
    "all 2000": ("all", "#0072B2"),
    "59 drawn anew each step": (59, "#D55E00"),
    "100 drawn once": (some_rows, "#009E73"),
    "5 drawn anew each step": (5, "#AA4499"),
    "1: a random atom": (1, "#7F7F7F"),
}

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.1), layout="constrained")
found = {}
for name, (candidates, colour) in searches.items():
    settings = {"kernel": "rbf", "gamma": 0.5, "max_atoms": 80, "stop": "max"}
    start = time.perf_counter()
    model = KernelPursuitRegressor(candidates=candidates, random_state=0, **settings).fit(X, y)
    seconds = time.perf_counter() - start
    errors = [np.sqrt(np.mean(np.square(p - y_new))) for p in model.staged_predict(X_new)]
    left.plot(range(1, len(errors)), errors[1:], color=colour, lw=1.8, label=name)
    found[name] = {"error": float(errors[-1]), "seconds": seconds}
left.set(yscale="log", xlabel="atoms", ylabel="error on new rows")
left.legend(frameon=False, fontsize="small")
colours = [colour for _, colour in searches.values()]
bars = right.barh(list(found), [numbers["seconds"] for numbers in found.values()], color=colours, height=0.6)
right.bar_label(bars, [f"error {numbers['error']:.2f}" for numbers in found.values()], padding=4, fontsize="small")
right.invert_yaxis()
right.margins(x=0.2)
right.set(xlabel="seconds for 80 atoms, and the error then")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
