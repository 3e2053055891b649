"""
A far cluster and the squared error
===================================

This is figure 7 of *Kernel matching pursuit*. The rows at the lower right are far on the correct side of any good
line. The squared error penalises their large margins as errors, and turns the line towards them. ``loss="tanh"`` does
not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.plotting import DecisionDisplay

generator = np.random.default_rng(3)
upper = generator.normal([-0.6, 1.0], [0.7, 0.45], (30, 2))
lower = generator.normal([0.6, -1.0], [0.7, 0.45], (30, 2))
slope = np.array([-0.4, 1.0])
upper, lower = upper[upper @ slope > 0.25], lower[lower @ slope < -0.25]
far = generator.normal([7.0, -5.0], 0.5, (25, 2))
X, y = np.vstack([upper, lower, far]), np.repeat([1, -1, -1], [len(upper), len(lower), len(far)])

# %%
# Two linear atoms and a constant can represent any line.

linear = {"kernel": "linear", "penalty": None, "max_atoms": 2, "stop": "max"}
models = {
    "hard-margin SVM": SVC(kernel="linear", C=1e6).fit(X, y),
    "squared error": KernelPursuitClassifier(loss="squared", **linear).fit(X, y),
    "squared error after tanh": KernelPursuitClassifier(loss="tanh", **linear).fit(X, y),
}

# %%
figure, axes = plt.subplots(1, 3, figsize=(11.5, 4.2), layout="constrained", sharex=True, sharey=True)
errors = {}
for ax, (name, model) in zip(axes, models.items()):
    DecisionDisplay.from_estimator(model, X, y, ax=ax, colorbar=False, legend=False)
    wrong = model.predict(X) != y
    errors[name] = int(wrong.sum())
    ax.plot(*X[wrong].T, "s", ms=11, mfc="none", mec="black", mew=1.2, zorder=6, label="misclassified")
    ax.set_title(f"{name}: {errors[name]} errors", fontsize="medium")
    ax.label_outer()
handles, labels = axes[1].get_legend_handles_labels()
labels[2] = "centres or support vectors"
figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
