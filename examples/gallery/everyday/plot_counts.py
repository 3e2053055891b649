"""
Counts
======

How many bicycles pass in an hour? Counts are whole numbers, never below zero, and their noise grows with the mean.
``loss="poisson"`` fits the logarithm of the mean.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitRegressor


def mean_count(hour, rain):
    """Two rush hours, and fewer bicycles the more it rains."""
    rush = 40 * np.exp(-np.square((hour - 8) / 1.2)) + 30 * np.exp(-np.square((hour - 17.5) / 1.8))
    return (1 + 8 * np.exp(-np.square((hour - 13) / 5)) + rush) * np.exp(-0.25 * rain)


generator = np.random.default_rng(0)
hour, rain = generator.uniform(0, 24, 600), generator.exponential(1.5, 600)
X, counts = np.column_stack([hour, rain]), generator.poisson(mean_count(hour, rain))

X_new = np.column_stack([generator.uniform(0, 24, 4000), generator.exponential(1.5, 4000)])
true = mean_count(*X_new.T)
settings = {"kernel": "rbf", "gamma": [0.05, 0.1], "max_atoms": 40}
poisson = KernelPursuitRegressor(loss="poisson", **settings).fit(X, counts)
squared = KernelPursuitRegressor(loss="squared", **settings).fit(X, counts)


# %%
# The deviance measures how good a predicted mean is for counts. The squared error can predict negative means, whose
# deviance is not defined, so the comparison raises them to 0.1.


def excess_deviance(mean):
    """Half the mean deviance of the true mean from a prediction."""
    mean = np.maximum(mean, 0.1)
    return np.mean(true * np.log(true / mean) - true + mean)


found = {}
for name, model in (("poisson", poisson), ("squared", squared)):
    mean = model.predict(X_new)
    found[name] = {"deviance": excess_deviance(mean), "least": mean.min(), "atoms": model.n_atoms_}
    print(name, {key: round(float(value), 3) for key, value in found[name].items()})

# %%
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
dry = rain < 1
ax.plot(hour[dry], counts[dry], ".", color="#444444", alpha=0.6, label="counts in hours with little rain")
grid = np.column_stack([np.linspace(0, 24, 400), np.full(400, 0.4)])
ax.plot(grid[:, 0], mean_count(*grid.T), "--", color="#7F7F7F", label="true mean")
ax.plot(grid[:, 0], squared.predict(grid), color="#D55E00", label="squared error")
ax.plot(grid[:, 0], poisson.predict(grid), color="#0072B2", lw=2, label="Poisson's loss")
ax.axhline(0, color="#7F7F7F", lw=0.6)
ax.set(xlabel="hour", ylabel="bicycles an hour", xticks=range(0, 25, 3))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
