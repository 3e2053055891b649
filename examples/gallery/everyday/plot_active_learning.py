"""
Active learning by uncertainty
==============================

Each measurement is expensive. Where should the next one be? Where the model is least certain: at the candidate with
the largest standard deviation. ``gamma`` is given here, so nothing is learned and a fit takes milliseconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitRegressor


def measure(X, generator):
    """Return a surface with a sharp hill, and some noise."""
    return surface(X) + 0.02 * generator.standard_normal(len(X))


def surface(X):
    return np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 1.5 * np.exp(-6 * np.square(X - [1.6, 0.8]).sum(axis=1))


START, STEPS = 12, 24
test = np.random.default_rng(99).uniform(-2, 2, (1000, 2))


def learn(by_uncertainty, seed):
    """Return errors after each measurement, the places, and the last model."""
    generator = np.random.default_rng(seed)
    pool = generator.uniform(-2, 2, (300, 2))
    X, pool = pool[:START], pool[START:]
    y = measure(X, generator)
    errors = []
    for _ in range(STEPS):
        model = KernelPursuitRegressor(kernel="rbf", gamma=2.0, alpha=1e-3, stop="max", max_atoms=40).fit(X, y)
        errors.append(np.sqrt(np.mean(np.square(model.predict(test) - surface(test)))))
        _, std = model.predict(pool, return_std=True)
        chosen = np.argmax(std) if by_uncertainty else 0
        X = np.vstack([X, pool[chosen]])
        y = np.append(y, measure(pool[chosen][None], generator))
        pool = np.delete(pool, chosen, axis=0)
    return np.array(errors), X, model


# %%
# Both strategies are repeated four times, each with 12 first measurements and 24 more:

rounds = {name: [learn(chosen, seed) for seed in range(4)] for name, chosen in (("uncertain", True), ("random", False))}
errors = {name: np.mean([one[0] for one in runs], axis=0) for name, runs in rounds.items()}
print({name: round(float(curve[-1]), 3) for name, curve in errors.items()})

# %%
_, X, model = rounds["uncertain"][0]
side = np.linspace(-2, 2, 80)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
image = left.pcolormesh(side, side, model.predict(grid).reshape(80, 80), cmap="viridis")
figure.colorbar(image, ax=left, shrink=0.8, label="prediction")
left.plot(*X[:START].T, "o", mfc="none", mec="white", label="at the start")
left.plot(*X[START:].T, ".", color="white", label="chosen")
left.set(aspect="equal", xlabel="x1", ylabel="x2", title="where it measured")
for (name, curve), colour in zip(errors.items(), ("#0072B2", "#7F7F7F")):
    right.plot(START + np.arange(STEPS), curve, color=colour, lw=2, label=name)
right.set(xlabel="measurements", ylabel="error of the surface", yscale="log", title="mean of four rounds")
right.legend(frameon=False)
right.spines[["top", "right"]].set_visible(False)
