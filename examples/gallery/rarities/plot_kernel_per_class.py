"""
A kernel shape for each class
=============================

Class 1 lies in flat layers, class 0 in round grains between and inside them. A dictionary can use that: it holds flat
kernels at the rows of class 1, and round ones at the rows of class 0. With 20 atoms, the error on new rows is 8 %;
with either shape alone, it is 14 % or more.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import RBF
from kernelpursuit.plotting import DecisionDisplay


def draw(n, seed):
    """Class 1 in three layers, and grains of class 0 within."""
    X = np.random.default_rng(seed).uniform([0, 0], [8, 4], (n, 2))
    in_layer = np.abs((X[:, 1] - 0.1 * np.sin(X[:, 0])) % 1.5 - 0.75) < 0.36
    grains = np.array([[1.2, 0.8], [4.0, 2.3], [6.5, 0.8], [6.8, 3.7], [2.0, 3.6]])
    in_grain = (np.square(X[:, None] - grains).sum(axis=2) < 0.3).any(axis=1)
    return X, (in_layer & ~in_grain).astype(int)


X, y = draw(400, seed=0)
X_new, y_new = draw(4000, seed=1)
round_kernel, flat_kernel = RBF(gamma=3.0), RBF(gamma=[0.08, 8.0])
own_shapes = KernelAtoms(round_kernel, centers=X[y == 0]) + KernelAtoms(flat_kernel, centers=X[y == 1])
dictionaries = {"round for both": round_kernel, "flat for both": flat_kernel, "a shape for each class": own_shapes}
models = {
    name: KernelPursuitClassifier(kernel=kernel, loss="squared", max_atoms=40, stop="max").fit(X, y)
    for name, kernel in dictionaries.items()
}

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.3), layout="constrained", width_ratios=[3, 2])
model = models["a shape for each class"].at(20)
DecisionDisplay.from_estimator(model, X, y, ax=left, colorbar=False)
left.set_title(f"{model.n_atoms_} atoms: flat at class 1, round at class 0", fontsize="medium", loc="left", pad=22)
found = {}
for (name, fitted), colour in zip(models.items(), ("#0072B2", "#7F7F7F", "#D55E00")):
    errors = 100 * np.array([np.mean(labels != y_new) for labels in fitted.staged_predict(X_new)])
    right.plot(errors, color=colour, lw=1.8, label=name)
    found[name] = float(errors[20])
right.set(ylim=(0, None), xlabel="atoms", ylabel="rows in the wrong class, %")
right.set_title("error on new rows", fontsize="medium", loc="left")
right.legend(frameon=False, fontsize="small")
right.spines[["top", "right"]].set_visible(False)
print("error with 20 atoms: " + ", ".join(f"{name} {error:.1f} %" for name, error in found.items()))
