"""
Quantiles
=========

Which time is enough for nine journeys in ten? Delays have a long tail, longest in the rush hour. ``Quantile(q=0.9)``
fits this quantile directly; the mean says little about it.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.losses import Quantile


def draw(n, seed):
    """Minutes by the hour of departure: a base, and a delay with a long tail."""
    generator = np.random.default_rng(seed)
    hour = np.sort(generator.uniform(5, 22, n))
    rush = np.exp(-np.square((hour - 8) / 1.2)) + 0.8 * np.exp(-np.square((hour - 17) / 1.6))
    return hour[:, None], 25 + 6 * rush + generator.gamma(1.5, 1.5 + 6 * rush)


X, minutes = draw(800, seed=0)
X_new, minutes_new = draw(5000, seed=1)
models = {
    q: KernelPursuitRegressor(loss=Quantile(q=q), kernel="rbf", gamma=0.15, max_atoms=10).fit(X, minutes)
    for q in (0.1, 0.5, 0.9)
}
below = {q: float(np.mean(minutes_new <= model.predict(X_new))) for q, model in models.items()}
for q, fraction in below.items():
    print(f"{q:.0%} quantile: {fraction:.1%} of new journeys are below")

# %%
grid = np.linspace(5, 22, 400)[:, None]
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
ax.plot(X[:, 0], minutes, ".", color="#444444", alpha=0.4)
for (q, model), colour in zip(models.items(), ("#009E73", "#0072B2", "#D55E00")):
    ax.plot(grid[:, 0], model.predict(grid), color=colour, lw=2, label=f"{q:.0%} quantile")
ax.set(xlabel="hour of departure", ylabel="minutes")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
