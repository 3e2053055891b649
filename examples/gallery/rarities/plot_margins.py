"""
Losses as functions of the margin
=================================

This is figure 5 of *Kernel matching pursuit*. The losses of boosting and support vector machines never penalise large
margins m = y f(x). The squared error does. The squared error after tanh penalises them only a little: an outlier
costs little, and coefficients still stay finite.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelpursuit.losses import DoomII, Exponential, Logistic, SmoothHinge, Squared, SquaredTanh

margin_losses = {
    r"AdaBoost: $e^{-m}$": Exponential(),
    r"LogitBoost: $\log_2(1 + e^{-2m})$": Logistic(),
    r"Doom II: $1 - \tanh(m)$": DoomII(),
    r"soft-margin SVM: $[1 - m]_+$": SmoothHinge(width=1e-3),
}
traditional_losses = {
    "squared: $(f - y)^2 = (1 - m)^2$": Squared(),
    r"squared after tanh: $(0.65 - \tanh(m))^2$": SquaredTanh(),
}


def cost(loss, margins):
    """Return the loss of rows of class +1 with these scores, which are then their margins."""
    return loss.value(np.ones((1, len(margins))), margins[None])


# %%
margins = np.linspace(-3, 3, 601)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.9), layout="constrained", sharex=True, sharey=True)
families = {"Losses of boosting and of the SVM": margin_losses, "Traditional losses": traditional_losses}
for ax, (title, family) in zip(axes, families.items()):
    for (label, loss), line, colour in zip(
        family.items(), ("-", "--", "-.", ":"), ("#0072B2", "#D55E00", "#009E73", "k")
    ):
        ax.plot(margins, cost(loss, margins), line, color=colour, lw=2, label=label)
    ax.axvline(0, ymax=0.7, color="#AAAAAA", lw=0.8, zorder=0)
    ax.set(xlim=(-3, 3), ylim=(0, 4), xlabel="margin m = y f(x): wrong below 0, right above", ylabel="loss")
    ax.set_title(title, fontsize="medium", loc="left")
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(2 / 3, 1))
    ax.spines[["top", "right"]].set_visible(False)
    ax.label_outer()

# %%
# The script prints the losses of a row far on the correct side, at a margin of 3:

losses = {"squared": Squared(), "tanh": SquaredTanh(), "doom2": DoomII(), "logistic": Logistic()}
at_3 = {name: float(cost(loss, np.array([3.0]))[0]) for name, loss in losses.items()}
print(", ".join(f"{name} {value:.3f}" for name, value in at_3.items()))
