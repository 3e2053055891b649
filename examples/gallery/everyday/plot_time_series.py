"""
A time series with a trend
==========================

The series has a trend, a season and some events, over ten years. Predictions of a plain fit return to the mean after
the last row. With ``trend="linear"`` the trend continues, and with features on the circle of the year the season
does.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitRegressor

generator = np.random.default_rng(0)
month = np.arange(144.0)
year = month / 12
events = 1.5 * np.exp(-8 * np.square(year - 3.3)) - 1.2 * np.exp(-12 * np.square(year - 6.7))
truth = 0.4 * year + np.sin(2 * np.pi * year) + 0.4 * np.sin(4 * np.pi * year)
series = truth + events + 0.15 * generator.standard_normal(144)
known = year < 10

# %%
# The first two features are the place on the circle of the year, which repeats every year. The third is the time, for
# the events and the line, which continues after the last row.

X = np.column_stack([np.cos(2 * np.pi * year), np.sin(2 * np.pi * year), year])
model = KernelPursuitRegressor(trend="linear", random_state=0).fit(X[known], series[known])
alone = KernelPursuitRegressor(random_state=0).fit(year[known, None], series[known])
errors = {
    "trend and season": np.sqrt(np.mean(np.square(model.predict(X) - series)[~known])),
    "time alone": np.sqrt(np.mean(np.square(alone.predict(year[:, None]) - series)[~known])),
}
print({name: round(float(error), 2) for name, error in errors.items()})

# %%
# The two shaded years were not in the training rows.

figure, ax = plt.subplots(figsize=(10, 4), layout="constrained")
ax.axvspan(10, year[-1], color="#7F7F7F", alpha=0.15, lw=0)
ax.plot(year, series, ".", color="#444444", label="data")
ax.plot(year, model.predict(X), color="#0072B2", lw=2, label=f"linear trend and season, {model.n_atoms_} atoms")
ax.plot(year, alone.predict(year[:, None]), color="#D55E00", lw=1.2, label=f"time alone, {alone.n_atoms_} atoms")
ax.set(xlabel="year", ylabel="level")
ax.legend(frameon=False, loc="upper left")
ax.spines[["top", "right"]].set_visible(False)
