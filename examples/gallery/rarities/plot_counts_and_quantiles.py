"""
Counts, quantiles, outliers
===========================

The pictures show three losses, on one feature each. Poisson's loss for counts keeps the mean above zero. With the
wide kernel shown, it is nearer to the truth than the squared error in 20 of 20 other draws; with ``gamma=1``, which
suits these peaks, in 7. Quantiles follow a noise that grows. Gross errors hardly affect the fit under Huber's loss.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.losses import Huber, Quantile

grid = np.linspace(0, 10, 400)[:, None]
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12.5, 4.0), layout="constrained")
found = {}


def rmse(values, truth):
    return float(np.sqrt(np.mean(np.square(values - truth))))


# Counts.

mean = 8 * np.exp(-np.square(grid[:, 0] - 3)) + 4 * np.exp(-2 * np.square(grid[:, 0] - 7)) + 0.2
generator = np.random.default_rng(0)
X = np.sort(generator.uniform(0, 10, 300))[:, None]
counts = generator.poisson(8 * np.exp(-np.square(X[:, 0] - 3)) + 4 * np.exp(-2 * np.square(X[:, 0] - 7)) + 0.2)
left.plot(X[:, 0], counts, ".", color="#444444", alpha=0.5, label="counts")
left.plot(grid[:, 0], mean, "--", color="#7F7F7F", lw=1.5, label="true mean")
for loss, colour in (("squared", "#D55E00"), ("poisson", "#0072B2")):
    model = KernelPursuitRegressor(kernel="rbf", loss=loss, gamma=0.3, max_atoms=12).fit(X, counts)
    fitted = model.predict(grid)
    left.plot(grid[:, 0], fitted, color=colour, lw=1.8, label=f"{loss}, {model.n_atoms_} atoms")
    found[f"{loss} on counts"], found[f"least {loss}"] = rmse(fitted, mean), float(fitted.min())

# Quantiles, between which 80 % of new rows should lie.


def draw(n, seed):
    """A wave with a noise that grows."""
    generator = np.random.default_rng(seed)
    x = np.sort(generator.uniform(0, 10, n))
    return x[:, None], np.sin(x) + (0.1 + 0.12 * x) * generator.standard_normal(n)


(X, y), (X_new, y_new) = draw(800, seed=0), draw(2000, seed=1)
middle.plot(X[:, 0], y, ".", color="#444444", alpha=0.5)
bounds = {}
for q, colour in ((0.9, "#D55E00"), (0.5, "#0072B2"), (0.1, "#009E73")):
    model = KernelPursuitRegressor(kernel="rbf", loss=Quantile(q=q), gamma=0.5, max_atoms=12).fit(X, y)
    middle.plot(grid[:, 0], model.predict(grid), color=colour, lw=1.8, label=f"{q:.0%} quantile")
    bounds[q] = model.predict(X_new)
found["inside"] = float(np.mean((bounds[0.1] <= y_new) & (y_new <= bounds[0.9])))

# Gross errors in a tenth of the rows.

generator = np.random.default_rng(2)
X = np.sort(generator.uniform(0, 10, 200))[:, None]
y = np.sin(X[:, 0]) + 0.15 * generator.standard_normal(200)
y[generator.choice(200, 20, replace=False)] += generator.uniform(2, 6, 20)
right.plot(X[:, 0], y, ".", color="#444444", alpha=0.5)
right.plot(grid[:, 0], np.sin(grid[:, 0]), "--", color="#7F7F7F", lw=1.5, label="truth")
for loss, colour, name in (("squared", "#D55E00", "squared"), (Huber(delta=0.3), "#0072B2", "huber")):
    model = KernelPursuitRegressor(kernel="rbf", loss=loss, gamma=0.5, max_atoms=20).fit(X, y)
    right.plot(grid[:, 0], model.predict(grid), color=colour, lw=1.8, label=f"{name}, {model.n_atoms_} atoms")
    found[name] = rmse(model.predict(grid), np.sin(grid[:, 0]))

middle.set_ylim(-5.8, 4)
for ax, title in ((left, "counts"), (middle, "quantiles"), (right, "outliers")):
    ax.set_title(title, fontsize="medium", loc="left")
    ax.set_xlabel("x")
    ax.legend(frameon=False, fontsize="small", loc="lower left" if ax is middle else "upper right")
    ax.spines[["top", "right"]].set_visible(False)
print({name: round(value, 3) for name, value in found.items()})
