"""
A map from measurements at some places
======================================

Rainfall was measured at 150 stations. The model predicts the map between them, and its intervals show how far to
trust it where there are none.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitRegressor


def rain(places):
    """Millimetres at places in kilometres: a coast, a ridge and a valley."""
    east, north = places.T
    ridge = 500 * np.exp(-np.square((east - 60 - 0.3 * north) / 12))
    return 600 + 4 * (100 - east) + ridge - 250 * np.exp(-np.square((east - 80) / 10) - np.square((north - 40) / 25))


generator = np.random.default_rng(2)
stations = generator.uniform(0, 100, (600, 2))
stations = stations[(stations < 62).any(axis=1)][:150]  # nobody measures in the mountains of the north-east
measured = rain(stations) + 25 * generator.standard_normal(150)
model = KernelPursuitRegressor(random_state=0).fit(stations, measured)
print(model.stop_reason_, model.feature_scales_.round(3))

# %%
# A Gaussian process would use all 150 stations. Here some are enough (circles). The interval is widest in the
# mountains, where there are no stations.

side = np.linspace(0, 100, 90)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
prediction, lower, upper = model.predict(grid, interval=0.9)
width = upper - lower
unseen = (grid > 75).all(axis=1)
error = np.sqrt(np.mean(np.square(prediction - rain(grid))[~unseen]))
print(f"error {error:.0f} mm elsewhere; mean width of 90 % intervals {width[~unseen].mean():.0f} mm there,", end=" ")
print(f"{width[unseen].mean():.0f} mm in the mountains")

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained", sharex=True, sharey=True)
shown = [
    ("truth, and stations", rain(grid)),
    ("prediction, and centres", prediction),
    ("width of 90 % intervals", width),
]
for ax, (title, values) in zip(axes, shown):
    limits = {} if values is width else {"vmin": 400, "vmax": 1400}
    image = ax.pcolormesh(side, side, values.reshape(90, 90), cmap="magma" if values is width else "viridis", **limits)
    figure.colorbar(image, ax=ax, shrink=0.8, label="mm")
    ax.set(title=title, aspect="equal", xlabel="km east")
axes[0].plot(*stations.T, ".", color="white", ms=4)
axes[1].plot(*model.centers_.T, "o", mfc="none", mec="white", ms=7)
axes[2].plot(*stations.T, ".", color="white", ms=4)
axes[0].set_ylabel("km north")
