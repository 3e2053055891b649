"""
Anomaly scores from leave-one-out errors
========================================

Which rows do not fit the others? A residual understates this, because the fit has adapted to the row. The
leave-one-out error does not: it is the error of a prediction by the model without that row. For least squares it
follows from the residual and the *leverage*, so no model is fitted again.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import average_precision_score

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.data import make_homes

X, price = make_homes(400)
price = price.to_numpy().copy()
generator = np.random.default_rng(1)
wrong = generator.choice(np.argsort(X["area"])[-100:], 12, replace=False)
price[wrong] *= generator.choice([0.75, 1.3], 12)  # typing errors in the prices of twelve large homes

# %%
# The fit learns scales and atoms as usual. Prices vary by percentages, so the target is their logarithm.

target = np.log(price)
model = KernelPursuitRegressor(random_state=0, max_atoms=60).fit(X, target)

# %%
# D holds a column of ones for the intercept, and a column for each atom, with its values at all rows. P is the matrix
# of the penalty. The leverages are the diagonal of ``D (D'D + P)⁻¹ D'``, and a leave-one-out error is
# ``residual / (1 - leverage)``. For few rows, the fit learns the penalty of a Gaussian process, ``n alpha`` times the
# kernel between the centres.

D = np.column_stack([np.ones(len(X)), model.kernel_(X.to_numpy(), model.centers_)])
P = np.zeros((model.n_atoms_ + 1, model.n_atoms_ + 1))
P[1:, 1:] = len(X) * model.alpha_ * model.kernel_(model.centers_, model.centers_)
leverage = np.einsum("ij,ji->i", D, np.linalg.solve(D.T @ D + P, D.T))
residual = target - model.predict(X)
loo_error = residual / (1 - leverage)
score = np.abs(loo_error) / (1.483 * np.median(np.abs(loo_error)))  # in robust standard deviations

# The mean of their squares equals the criterion of the path for this size.
on_path = model.path_.loo[model.n_atoms_]
print(f"mean squared leave-one-out error {np.mean(loo_error**2):.5f}, on the path {on_path:.5f}")

# %%
is_wrong = np.isin(np.arange(400), wrong)
precision = average_precision_score(is_wrong, score)
by_residual = average_precision_score(is_wrong, np.abs(residual))
print(f"average precision {precision:.2f}, by plain residuals {by_residual:.2f}; at random {is_wrong.mean():.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.plot(np.arange(400)[~is_wrong], score[~is_wrong], ".", color="#0072B2", label="homes")
left.plot(np.arange(400)[is_wrong], score[is_wrong], "o", color="#D55E00", label="homes with a typing error")
left.axhline(np.sort(score)[-12], color="#7F7F7F", lw=1, ls="--", label="the twelve largest are above")
left.set(xlabel="row", ylabel="leave-one-out error, in standard deviations", ylim=(0, 1.25 * score.max()))
left.legend(frameon=False, loc="upper left")
right.plot(leverage[~is_wrong], np.abs(residual)[~is_wrong], ".", color="#0072B2")
right.plot(leverage[is_wrong], np.abs(residual)[is_wrong], "o", color="#D55E00")
right.set(xlabel="leverage: how far a row pulls its own prediction", ylabel="|residual|")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
