"""
Functions beside kernels
========================

The dictionary holds eight guessed functions, the constant and a Gaussian at every row. The target contains three of
the functions, and a bump that only kernels can fit. The pursuit picks these three first, then kernels for the bump,
and none of the other guesses.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.dictionary import Constant, Functions, KernelAtoms

guesses = {
    "x": lambda X: X[:, 0],
    "x²": lambda X: X[:, 0] ** 2,
    "|x|": lambda X: np.abs(X[:, 0]),
    "x > 1": lambda X: (X[:, 0] > 1).astype(float),
    "x > 2": lambda X: (X[:, 0] > 2).astype(float),
    "sin 3x": lambda X: np.sin(3 * X[:, 0]),
    "sin 6x": lambda X: np.sin(6 * X[:, 0]),
    "exp x": lambda X: np.exp(X[:, 0]),
}
true = {"|x|": 1.2, "x > 1": -2.0, "sin 6x": 0.5}
generator = np.random.default_rng(0)
X = np.sort(generator.uniform(-3, 3, 400))[:, None]
y = sum(weight * guesses[name](X) for name, weight in true.items())
y = y + 1.5 * np.exp(-10 * np.square(X[:, 0] + 1.5)) + 0.1 * generator.standard_normal(400)

# %%
union = Functions(*guesses.values()) + Constant() + KernelAtoms("rbf")
model = KernelPursuitRegressor(kernel=union, gamma=8.0, alpha=1e-2, stop="one-se", fit_intercept=False).fit(X, y)
names = [*guesses, "1"]  # atoms are numbered in the order of the union
picked = [names[j] if j < len(names) else "kernel" for j in model.center_indices_]
weights = {name: float(w) for name, w in zip(picked, model.coef_) if name != "kernel"}
n_kernels = picked.count("kernel")
print(", ".join(f"{name} ({w:.2f})" for name, w in weights.items()), f"and {n_kernels} kernels")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.1), layout="constrained")
left.plot(X[:, 0], y, ".", color="#444444", alpha=0.5, label="data")
left.plot(X[:, 0], model.predict(X), color="#0072B2", lw=1.8, label="prediction")
left.set(xlabel="x", ylabel="target")
left.legend(frameon=False, fontsize="small")
error = np.sqrt(model.path_.loo[: min(model.n_atoms_ + 4, model.path_.n_steps) + 1])
right.plot(error, color="#7F7F7F", lw=1.5, zorder=1)
for k, name in enumerate(picked, start=1):
    colour, size = ("#0072B2", 6) if name == "kernel" else ("#D55E00", 9)
    right.plot(k, error[k], "o", color=colour, ms=size)
    if name != "kernel":
        right.annotate(name, (k, error[k]), (7, 5), textcoords="offset points", color=colour)
right.set(yscale="log", xlabel="atoms", ylabel="leave-one-out error")
right.set_title("in the order they were picked (orange: functions, blue: kernels)", fontsize="medium", loc="left")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
