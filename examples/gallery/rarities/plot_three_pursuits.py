"""
Three pursuits and a support vector machine
===========================================

This is figure 6 of *Kernel matching pursuit*: four classifiers with the same Gaussian kernel. Basic matching pursuit
spends most of its 100 steps on centres that it already has, and still misclassifies a row. Back-fitting and
pre-fitting separate the classes with as many centres as the support vector machine has. Only the centres of the
support vector machine lie along the border.

The draw is chosen to show all of this at once, which 8 of 100 draws do. In all 100, basic pursuit has more centres
than the support vector machine; in 15 it does not separate the classes; back-fitting and pre-fitting do in 81 and 77.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.plotting import DecisionDisplay

X = np.random.default_rng(5).uniform(-2, 2, (400, 2))
height = X[:, 1] - 1.1 * np.sin(1.6 * X[:, 0])
clear = np.flatnonzero(np.abs(height) > 0.4)[:40]  # rows above and below a wave, none of them near it
X, y = X[clear], np.where(height[clear] > 0, 1, -1)

# %%
# Back-fitting and pre-fitting get as many atoms as the support vector machine has support vectors.

svm = SVC(C=1e6, gamma=0.3).fit(X, y)
n_support = len(svm.support_)
shared = {"kernel": "rbf", "gamma": 0.3, "loss": "squared", "penalty": None, "fit_intercept": False, "stop": "max"}
models = {
    "basic": KernelPursuitClassifier(selection="correlation", update="stagewise", max_atoms=100, **shared).fit(X, y),
    "back-fitting": KernelPursuitClassifier(selection="correlation", max_atoms=n_support, **shared).fit(X, y),
    "pre-fitting": KernelPursuitClassifier(selection="gain", max_atoms=n_support, **shared).fit(X, y),
    "hard-margin SVM": svm,
}

# %%
figure, axes = plt.subplots(2, 2, figsize=(9, 7.6), layout="constrained", sharex=True, sharey=True)
found = {}
for ax, (name, model) in zip(axes.flat, models.items()):
    display = DecisionDisplay.from_estimator(model, X, y, ax=ax, colorbar=False, legend=False)
    wrong = model.predict(X) != y
    found[name] = {"centres": len(display.centers), "errors": int(wrong.sum())}
    ax.plot(*X[wrong].T, "s", ms=17, mfc="none", mec="black", mew=1.2, zorder=6, label="misclassified")
    steps = f", {len(model.path_)} steps" if model is not svm else ""
    ax.set_title(f"{name}{steps}: {{centres}} centres, errors: {{errors}}".format(**found[name]), fontsize="medium")
    ax.label_outer()
handles, labels = axes.flat[0].get_legend_handles_labels()
labels[2] = "centres or support vectors"
figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
