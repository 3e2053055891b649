"""
A table of homes
================

Prices from nine features in their own units, one call of ``fit``.
"""

import matplotlib.pyplot as plt

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.data import make_homes
from kernelpursuit.plotting import PathDisplay, ScalesDisplay

X, price = make_homes(600)
model = KernelPursuitRegressor(random_state=0).fit(X, price)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
ScalesDisplay.from_estimator(model, ax=left)
PathDisplay.from_estimator(model, ax=right)
print(model.stop_reason_)
