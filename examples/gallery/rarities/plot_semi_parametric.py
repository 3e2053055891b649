"""
A trend that is always in
=========================

``Always`` holds a trend and a season. They are refitted with every atom and never penalised, like an intercept. So
their coefficients can be interpreted, and the model continues them after the last row. Kernels alone return to a
constant there.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import Always, Functions


def trend(X):
    return X[:, 0]


def season(X):
    return np.sin(2 * np.pi * X[:, 0])


generator = np.random.default_rng(0)
X = np.sort(generator.uniform(0, 12, 500))[:, None]
bumps = 2.0 * np.exp(-3 * np.square(X[:, 0] - 2.3)) - 1.5 * np.exp(-6 * np.square(X[:, 0] - 5.5))
y = 0.6 * trend(X) + 1.0 * season(X) + bumps + 0.2 * generator.standard_normal(500)
known = X[:, 0] < 8

# %%
settings = {"gamma": 4.0, "max_atoms": 40}
models = {
    "trend, season and kernels": KernelPursuitRegressor(kernel=Always(Functions(trend, season)) + "rbf", **settings),
    "kernels alone": KernelPursuitRegressor(kernel="rbf", **settings),
}
errors = {}
for name, model in models.items():
    model.fit(X[known], y[known])
    errors[name] = float(np.sqrt(np.mean(np.square(model.predict(X) - y)[~known])))
of_trend, of_season = models["trend, season and kernels"].fixed_coef_
print(f"weights: trend {of_trend:.2f} (true 0.6), season {of_season:.2f} (true 1)")
print("error after the last year: " + ", ".join(f"{name} {error:.2f}" for name, error in errors.items()))

# %%
figure, ax = plt.subplots(figsize=(9.5, 4.0), layout="constrained")
ax.axvspan(8, X[-1, 0], color="#EEEEEE", lw=0, zorder=0)
ax.plot(X[known, 0], y[known], ".", color="#444444", alpha=0.6, label="training rows")
ax.plot(X[~known, 0], y[~known], ".", color="#D55E00", alpha=0.7, label="what came then")
for (name, model), colour in zip(models.items(), ("#0072B2", "#7F7F7F")):
    ax.plot(X[:, 0], model.predict(X), color=colour, lw=1.8, label=f"{name} ({model.n_atoms_} atoms)")
ax.set(xlabel="year", ylabel="target")
ax.margins(x=0)
ax.legend(frameon=False, fontsize="small")
ax.spines[["top", "right"]].set_visible(False)
