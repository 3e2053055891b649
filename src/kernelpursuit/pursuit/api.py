"""`pursuit_path`: the whole library as one function of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_number
from kernelpursuit.callbacks import CallbackLike
from kernelpursuit.dictionary import as_dictionary
from kernelpursuit.dictionary.union import DictionaryLike
from kernelpursuit.losses import Loss, Squared, as_loss
from kernelpursuit.penalties import Penalty
from kernelpursuit.pursuit.path import PursuitPath
from kernelpursuit.pursuit.problem import as_rows, as_targets, check_weights
from kernelpursuit.pursuit.run import run_pursuit
from kernelpursuit.pursuit.spec import LoopSpec, TrainingRows
from kernelpursuit.stopping import StoppingRule, as_rule
from kernelpursuit.updates import Stagewise, Update, as_update


def pursuit_path(
    X: Matrix,
    y: ArrayLike,
    *,
    kernel: DictionaryLike = "rbf",
    gamma: ArrayLike = "scale",
    max_atoms: int = 200,
    selection: str = "gain",
    update: str | Update = "orthogonal",
    exchange: bool = False,
    candidates: ArrayLike = "auto",
    shortlist: int | None = None,
    penalty: str | Penalty | None = "ridge",
    alpha: float = 1e-3,
    stop: str | StoppingRule = "max",
    loss: str | Loss = "squared",
    fit_intercept: bool = False,
    sample_weight: ArrayLike | None = None,
    memory_budget: int | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    callback: CallbackLike | None = None,
) -> PursuitPath:
    """Pick atoms greedily and return the path of models of every size.

    Minimises `sum_i w_i (y_i - f(x_i))² + w' L w` over sums f of k atoms, one atom at a time.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Training rows; with `kernel="precomputed"`, the values of every atom, one column each.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Targets; several of them share their atoms.
    kernel : str, Kernel, callable, list of these, "precomputed" or Dictionary
        The functions that the model may be a sum of.
    gamma : float, array of shape (n_features,) or "scale"
        Inverse width of every kernel that has none of its own.
    max_atoms : int
        Upper limit on the steps, and so on the atoms, of the path.
    selection : {"gain", "correlation", "residual", "random"}
        How the next atom is picked.
    update : {"orthogonal", "stagewise", "minres", "rescale"} or Update
        How coefficients change in a step: all are refitted; only that of the new atom is set; all move along the
        residual; or the new one is set and one factor scales the others. See `kernelpursuit.updates`.
    exchange : bool
        Whether every step ends with an attempt to swap an atom of the model for a better one (Nair algorithm 1); for
        `update` "orthogonal" and "minres", kernels at the training rows, and the squared loss.
    candidates : {"auto", "all"}, int or array of int
        Which atoms a step compares: all of them, that many random ones in each step, or those with these numbers.
        "auto" is all, or a random 10,000 if there are more.
    shortlist : int, optional
        Largest number of steps for one pass over all candidates. Between passes, only the scores of a list of the best
        candidates are updated, and the best of these is picked. 1 and None mean a pass in each step, which is exact; 16
        about halves the time for thousands of candidates. It needs `selection` "gain" or "correlation" and
        `update="orthogonal"`.
    penalty : {"ridge", "rkhs", "nugget", "ols"}, Penalty or None
        The penalty L: `alpha I`; `n alpha K`; none, but `K + alpha I` in place of K; alpha on the coefficients of the
        successively orthogonalised atoms; or one of your own, see `kernelpursuit.penalties`.
    alpha : float
        Strength of the penalty; no effect with `penalty=None`.
    stop : str or StoppingRule
        The rule that decides after each step whether to end.
    loss : str or Loss
        The loss to minimise in place of `(y_i - f(x_i))²`; see `kernelpursuit.losses`. A margin loss needs y in
        {-1, +1}, "softmax" a column of zeros and ones for each class.
    fit_intercept : bool
        Whether to fit a constant that is not penalised.
    sample_weight : array of shape (n_samples,), optional
        A row of weight 2 counts as two rows. Rows of weight 0 are left out.
    memory_budget : int, optional
        Bytes for stored dictionary values; by default a quarter of free memory.
    random_state : int, optional
        Seed for `selection="random"`, random candidates and validation rows; None draws another one each time.
    n_jobs : int, optional
        Threads; None or -1 for all.
    verbose : bool
        Whether to show progress on stderr once two seconds have passed.
    callback : callable, Callback or list of these, optional
        Called with the path after every step; a true result ends the loop. See `kernelpursuit.callbacks`.

    Returns
    -------
    PursuitPath
        Atoms, criteria and coefficients of the models with 0, 1, ... atoms.

    Notes
    -----
    Time: for "gain" and "correlation" over all candidates, one pass over the n x M dictionary in each step (or every
    few, with `shortlist`); otherwise O(n k) a step. Memory: n k numbers for the basis, and the dictionary as far as it
    fits the budget.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelpursuit import pursuit_path
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> path = pursuit_path(x, np.sin(x).ravel(), gamma=1.0, max_atoms=10)
    >>> path.atom[:3]
    array([ 51, 156, 199])
    >>> bool(path.residual_norm[10] < 0.05 * path.residual_norm[0])
    True
    """
    X, y, sample_weight = _check_arrays(X, y, sample_weight)
    settings_update = as_update(update)
    spec = LoopSpec(
        rule=as_rule(stop),
        dictionary=as_dictionary(kernel),
        gamma=gamma,
        max_atoms=max_atoms,
        selection=selection,
        update=settings_update,
        exchange=exchange,
        candidates=candidates,
        shortlist=shortlist,
        penalty=penalty,
        alpha=alpha,
        fit_intercept=fit_intercept,
        loss=as_fitted_loss(loss, settings_update),
        memory_budget=memory_budget,
        seed=_seed(random_state),
        n_jobs=n_jobs,
        verbose=verbose,
    )
    rows = TrainingRows(X, y, sample_weight, validation=spec.rule.validation_set())
    return run_pursuit(rows, spec, callback=callback).path


def as_fitted_loss(loss: str | Loss, update: Update) -> Loss | None:
    """The loss as the loop takes it: None where least squares have all in closed form."""
    found = as_loss(loss)
    in_steps = isinstance(update, Stagewise) and update.refit_every is not None
    return None if type(found) is Squared and not in_steps else found


def _check_arrays(
    X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Matrix, np.ndarray, np.ndarray | None]:
    """Check the arrays of `pursuit_path`; estimators have scikit-learn do that."""
    X, y = as_rows("X", X), as_targets("y", y)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}; give at least one row and one column.")
    if y.ndim != 2 or y.shape[0] != X.shape[0] or y.shape[1] == 0:
        raise ValueError(f"y has shape {y.shape}, but X has {X.shape[0]} rows; give one target for each row.")
    return X, y, None if sample_weight is None else check_weights(sample_weight, X.shape[0])


def _seed(random_state: int | None) -> int:
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    return int(check_number("random_state", random_state, low=0, integer=True))
