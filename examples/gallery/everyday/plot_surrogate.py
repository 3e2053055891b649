"""
A surrogate of a simulator
==========================

A simulation takes minutes, and a sensitivity analysis needs a hundred thousand of them. A model fitted to 512 runs
takes its place, and predicts in microseconds. The simulator here is a pendulum with friction, integrated step by
step.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import qmc

from kernelpursuit import KernelPursuitRegressor

NAMES = ["length, m", "friction", "first angle", "wind"]
LOW, HIGH = np.array([0.5, 0.05, 0.2, -0.3]), np.array([2.0, 0.5, 2.4, 0.3])


def simulate(X, n_steps=2000, end=4.0):
    """Return the angle after four seconds."""
    length, friction, angle, wind = X.T.copy()
    speed, step = np.zeros(len(X)), end / n_steps
    for _ in range(n_steps):
        speed += step * (wind - friction * speed - 9.81 / length * np.sin(angle))
        angle += step * speed
    return angle


# %%
# The 512 runs are spread evenly over the ranges. There is no noise, so a large model pays.

X = qmc.scale(qmc.Sobol(4, seed=0).random(512), LOW, HIGH)
model = KernelPursuitRegressor(random_state=0, max_atoms=300).fit(X, simulate(X))

X_new = np.random.default_rng(1).uniform(LOW, HIGH, (20_000, 4))
truth, answer = simulate(X_new), model.predict(X_new)
explained = 1 - np.var(truth - answer) / np.var(truth)
print(f"{model.n_atoms_} atoms explain {explained:.2%} of the variance of new runs")

# %%
# Which inputs matter? The first-order Sobol index of an input is the fraction of the variance that this input
# explains alone. The surrogate estimates it:


def first_order(predict, n=4096):
    """Return first-order Sobol indices, by two samples that share one column each time."""
    A, B = (qmc.scale(qmc.Sobol(4, seed=seed).random(n), LOW, HIGH) for seed in (1, 2))
    base, other = predict(A), predict(B)
    indices = []
    for j in range(4):
        mixed = A.copy()
        mixed[:, j] = B[:, j]
        indices.append(np.mean(other * (predict(mixed) - base)) / np.var(base))
    return np.array(indices)


by_model, by_simulator = first_order(model.predict), first_order(simulate)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.plot(truth[:2000], answer[:2000], ".", color="#0072B2", alpha=0.4, ms=4)
left.axline((0, 0), slope=1, color="#7F7F7F", lw=1)
left.set(xlabel="simulator", ylabel="surrogate", title="angle after four seconds, new runs")
place = np.arange(4)
right.bar(place - 0.2, by_simulator, 0.38, color="#7F7F7F", label="simulator, 24,576 runs")
right.bar(place + 0.2, by_model, 0.38, color="#0072B2", label="surrogate, 512 runs")
right.set_xticks(place, NAMES)
right.set(ylabel="fraction of the variance", title="what each input explains alone")
right.legend(frameon=False)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
