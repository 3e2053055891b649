"""
Indefinite and asymmetric kernels
=================================

The matrix of the sigmoid kernel has negative eigenvalues, so the problem of a support vector machine is not convex.
Least squares does not need positive eigenvalues. Nor need a kernel be symmetric: with one that is zero before its
centre and decays after it, the fit finds the four times at which a dose was given.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.kernels import Sigmoid
from kernelpursuit.plotting import DecisionDisplay

X, y = make_moons(150, noise=0.15, random_state=0)
kernel = Sigmoid(gamma=1.5, coef0=-1.0)
eigenvalues = np.linalg.eigvalsh(kernel(X, X))
sigmoid = KernelPursuitClassifier(kernel=kernel, max_atoms=30).fit(X, y)
accuracy = sigmoid.score(X, y)
print(f"least eigenvalue {eigenvalues[0]:.1f}, accuracy {accuracy:.3f}")


# %%
# A kernel is any function of rows and centres. This one responds only after its centre:


def decay(X, C):
    """Nothing before the centre; 1 there; then a decay."""
    after = X - C.T
    return np.where(after >= 0, np.exp(-np.maximum(after, 0)), 0.0)


events, doses = np.array([1.0, 2.5, 6.0, 7.2]), np.array([2.0, 1.2, 2.5, 0.8])
t = np.linspace(0, 10, 400)[:, None]
signal = decay(t, events[:, None]) @ doses + 0.08 * np.random.default_rng(0).standard_normal(400)
settings = {"max_atoms": 40, "stop": "one-se", "fit_intercept": False}
decays = KernelPursuitRegressor(kernel=decay, **settings).fit(t, signal)
bells = KernelPursuitRegressor(kernel="rbf", gamma=3.0, **settings).fit(t, signal)
largest = np.argsort(-decays.coef_)[: len(events)]
farthest_event = np.abs(np.sort(decays.centers_[largest, 0]) - events).max()
print(
    f"decays: {decays.n_atoms_} atoms, events found to within {farthest_event:.3f}; Gaussians: {bells.n_atoms_} atoms"
)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.2), layout="constrained", width_ratios=[2, 3])
DecisionDisplay.from_estimator(sigmoid, X, y, ax=left, colorbar=False)
left.set_title("sigmoid kernel, not positive definite", fontsize="medium", loc="left", pad=22)
right.plot(t[:, 0], signal, ".", color="#444444", alpha=0.5, label="data")
right.plot(t[:, 0], bells.predict(t), color="#7F7F7F", lw=1.5, label=f"{bells.n_atoms_} Gaussians")
right.plot(t[:, 0], decays.predict(t), color="#0072B2", lw=1.8, label=f"{decays.n_atoms_} one-sided decays")
right.vlines(decays.centers_[:, 0], 0, decays.coef_, color="#D55E00", lw=2, label="their weights")
right.set(xlabel="time", ylabel="level")
right.set_title("an answer that only comes after", fontsize="medium", loc="left")
right.legend(frameon=False, fontsize="small")
right.spines[["top", "right"]].set_visible(False)
