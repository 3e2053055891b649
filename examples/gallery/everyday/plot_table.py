"""
A table of homes
================

One call of ``fit`` predicts prices from nine features in their own units. The pictures show which features matter,
how many atoms the model needs, and how good it is.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.data import make_homes
from kernelpursuit.plotting import PathDisplay, ScalesDisplay

X, price = make_homes(1200)
X_train, X_test, price_train, price_test = train_test_split(X, price, train_size=600, random_state=0)
model = KernelPursuitRegressor(random_state=0).fit(X_train, price_train)
score = model.score(X_test, price_test)
print(f"{model.stop_reason_}; R² {score:.3f} on {len(X_test)} new homes")

# %%
# The day of the advertisement has no effect on the price, and its scale is 0. The same fit gives the error of every
# size.

figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
ScalesDisplay.from_estimator(model, ax=axes[0])
PathDisplay.from_estimator(model, ax=axes[1])
axes[2].plot(price_test, model.predict(X_test), ".", color="#0072B2", alpha=0.5)
axes[2].axline((0, 0), slope=1, color="#7F7F7F", lw=1)
axes[2].set(xlabel="price, thousands", ylabel="prediction for new homes")
axes[2].spines[["top", "right"]].set_visible(False)

# %%
# A smaller model, from the same fit:

small = model.at(20)
small_score = small.score(X_test, price_test)
print(f"{small.n_atoms_} atoms: R² {small_score:.3f}")
