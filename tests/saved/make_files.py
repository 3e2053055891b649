"""Save one model of each kind with this version of the library, to be read by all later ones.

    python tests/saved/make_files.py

Run it once for every release, after its version was set; files of earlier versions stay as they are.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, make_friedman1

import kernelpursuit
from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor

FILES = Path(__file__).parent / "files"


def answers(model, rows):
    """What a model says of rows, by name."""
    if isinstance(model, KernelPursuitClassifier):
        return {"predict": model.predict(rows), "proba": model.predict_proba(rows), "at_2": model.at(2).predict(rows)}
    found = model.predict(rows, return_std=True, interval=0.9)
    return {**dict(zip(("predict", "std", "lower", "upper"), found)), "at_2": model.at(2).predict(rows)}


def main():
    X, y = make_friedman1(120, 5, noise=0.5, random_state=0)
    rows, labels = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[labels]
    few, rows_beyond = rows[::10], np.vstack([X[:12] + 0.01, 3 * X[:4]])
    models = {
        "regressor": (KernelPursuitRegressor(random_state=0, max_atoms=12).fit(X, y), rows_beyond),
        "classifier": (KernelPursuitClassifier(random_state=0, max_atoms=10).fit(rows, words), few),
        "one_vs_rest": (KernelPursuitClassifier(gamma=0.5, max_atoms=4, multi_class="ovr").fit(rows, words), few),
    }
    folder = FILES / kernelpursuit.__version__
    folder.mkdir(parents=True)
    for name, (model, new) in models.items():
        model.save(folder / f"{name}.kp")
        np.savez_compressed(folder / f"{name}.npz", rows=new, **answers(model, new))


if __name__ == "__main__":
    main()
