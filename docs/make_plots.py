"""Draw the pictures of docs/plots.md and docs/explain.md: python docs/make_plots.py, about ten seconds."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from PIL import Image
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.model_selection import train_test_split

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, LengthScaleSearch
from kernelpursuit.data import make_chirp, make_homes
from kernelpursuit.plotting import (
    CentersDisplay,
    ComparisonDisplay,
    CoverageDisplay,
    DecisionDisplay,
    DependenceDisplay,
    FitDisplay,
    PathDisplay,
    ReliabilityDisplay,
    ResidualsDisplay,
    ScalesDisplay,
    SearchDisplay,
)

IMAGES = Path(__file__).parent / "images"


def save(name: str, ax: Axes) -> None:
    """Write the figure of some axes, in few colours and small."""
    path = IMAGES / f"plot-{name}.png"
    ax.figure.savefig(path, dpi=85)
    Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)
    plt.close("all")
    print(f"{path}: {path.stat().st_size / 1000:.0f} KB")


def main() -> None:
    """Draw all."""
    X, y = make_homes(900)
    seen, new = slice(0, 500), slice(500, 900)
    model = KernelPursuitRegressor(random_state=0).fit(X[seen], y[seen])
    save("path", PathDisplay.from_estimator(model).ax_)
    save("scales", ScalesDisplay.from_estimator(model).ax_)
    save("residuals", ResidualsDisplay.from_estimator(model, X[new], y[new]).ax_)
    save("predicted", ResidualsDisplay.from_estimator(model, X[new], y[new], kind="predicted").ax_)
    save("coverage", CoverageDisplay.from_estimator(model, X[new], y[new]).ax_)
    save("dependence", DependenceDisplay.from_estimator(model, "distance", X[seen]).ax_)
    save("centers", CentersDisplay.from_estimator(model, X[seen]).ax_)
    models = {kernel: KernelPursuitRegressor(kernel=kernel).fit(X[seen], y[seen]) for kernel in ("rbf", "laplacian")}
    models = {"learned": model, **models, "one width": KernelPursuitRegressor(gamma="scale").fit(X[seen], y[seen])}
    save("comparison", ComparisonDisplay.from_estimators(models, X[new], y[new]).ax_)
    explanation = model.explain(X[new], background=X[seen][:100])
    save("explanation", explanation.plot(0))
    save("explanation-centers", explanation.plot(0, by="centers"))
    curve, targets = make_chirp(200)
    search = LengthScaleSearch(KernelPursuitRegressor(max_atoms=40, stop="loo"), alphas=[1e-4, 1e-2, 1.0])
    save("search", SearchDisplay.from_search(search.fit(curve, targets)).ax_)
    save(
        "fit", FitDisplay.from_estimator(KernelPursuitRegressor(random_state=0).fit(curve, targets), curve, targets).ax_
    )
    cancer, is_benign = load_breast_cancer(return_X_y=True)
    known, others, labels, answers = train_test_split(cancer[:, :4], is_benign, test_size=0.6, random_state=0)
    classifier = KernelPursuitClassifier(random_state=0).fit(known, labels)
    save("reliability", ReliabilityDisplay.from_estimator(classifier, others, answers, n_bins=8).ax_)
    moons, sides = make_moons(300, noise=0.25, random_state=0)
    save("decision", DecisionDisplay.from_estimator(KernelPursuitClassifier().fit(moons, sides), moons, sides).ax_)


if __name__ == "__main__":
    main()
