"""`LengthScaleSearch`: a grid of widths and penalties, with distances computed once and every fit in a table."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelpursuit._types import Matrix, State, ValidationSet
from kernelpursuit._validate import ByName, check_option, check_verbose
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.dictionary.distances import WORTH_FROM, share_distances, shared_size, unshare
from kernelpursuit.engine import resolve_budget
from kernelpursuit.engine.engine import FLOAT64_UP_TO
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.estimators.checks import ROWS, check_range, check_seed, one_sentence
from kernelpursuit.estimators.spec import MOST_PICKED, WITHIN, chosen_rule, given_dictionary, is_word
from kernelpursuit.pursuit import check_weights
from kernelpursuit.pursuit.selection import AUTO_CANDIDATES
from kernelpursuit.search.criterion import SCORE_AT, SearchRule, search_rule
from kernelpursuit.search.grid import auto_gammas, check_values
from kernelpursuit.search.progress import SearchProgress
from kernelpursuit.search.table import Table
from kernelpursuit.stopping import Loo, StoppingRule

if TYPE_CHECKING:
    import pandas as pd

# The attributes that `fit` sets.
FITTED = (
    *("n_features_in_", "feature_names_in_", "shared_distances_"),
    *("best_params_", "best_estimator_", "best_index_", "best_score_", "results_", "by_"),
)


def _best_has(name: str) -> Callable[[LengthScaleSearch], bool]:
    """A check for `available_if`: whether the estimator has a method."""

    def check(search: LengthScaleSearch) -> bool:
        getattr(search.best_estimator_ if hasattr(search, "best_estimator_") else search.estimator, name)
        return True

    return check


class LengthScaleSearch(ByName, MetaEstimatorMixin, BaseEstimator):
    """Fit an estimator with every `gamma` and `alpha` of a grid, and keep the best by a criterion of each path.

    scikit-learn's `GridSearchCV` fits every combination on every fold. This search fits each combination once, and
    compares the criteria of these fits, such as the leave-one-out error along the path. Where that saves time, it
    computes the distances between rows once for all combinations. The best model equals
    `estimator.set_params(gamma=..., alpha=...).fit(X, y)`.

    Parameters
    ----------
    estimator : KernelPursuitRegressor or KernelPursuitClassifier
        The estimator to fit. Its own `gamma` is ignored, and so is its `alpha` where `alphas` are given.
    gammas : array of shape (n_gammas,) or "auto", default="auto"
        Inverse widths of every kernel that has none of its own. "auto" is nine values from 1/256 to 256 times one over
        the median squared distance between rows (for the Laplacian kernel, the median sum of absolute differences).
    alphas : array of shape (n_alphas,), optional
        Strengths of the penalty; by default that of the estimator.
    by : str or StoppingRule, default="stop"
        The criterion to minimise: that of the estimator's own stopping rule ("stop"), or that of a rule of
        `kernelpursuit.stopping`, given as an object or a name: "loo" (Hagiwara), "cv" (Nair), "mdl", "validation", ...
    score_at : {"kept", "least"}, default="kept"
        Where on the path of a fit the criterion is read: at the number of atoms that the estimator's `stop` chose, or
        at the minimum of the criterion. "kept" compares the models that are kept, "least" the best models on the
        paths. They differ where `stop` does not keep the minimum, as "tcr", "one-se" and, by "loo", "fpe" do.
    cv : int, default=5
        Number of folds for `by="cv"`; ignored otherwise.
    verbose : bool, default=False
        Whether to show progress on stderr once two seconds have passed.

    Attributes
    ----------
    results_ : dict of arrays
        One entry for each combination: "gamma", "alpha", the number of atoms kept "n_atoms", the criterion "score"
        (lower is better; NaN where the fit failed), its "standard_error" (for leave-one-out errors; else NaN), its
        "rank" from 1 on, and the "seconds" that the fit took.
    best_index_ : int
        Index of the best combination in these arrays; the first of several equal ones.
    best_params_ : dict
        The best "gamma", and where `alphas` were given the best "alpha".
    best_score_ : float
        The criterion of the best combination.
    best_estimator_ : KernelPursuitRegressor or KernelPursuitClassifier
        The fitted model of the best combination, with the other parameters of `estimator`.
    by_ : str
        Name of the criterion.
    shared_distances_ : bool
        Whether distances were computed once for all fits. If not, every fit evaluates its kernels, with the same
        result. Distances are shared from 32 features on; with fewer, evaluating a kernel is as fast as reading memory.
        They are not shared if they and the dictionary's values exceed the estimator's `memory_budget`, if its
        `candidates` leave atoms out or `refine=True` moves them, for sparse rows, and for kernels that are not
        functions of a distance.
    classes_ : array of shape (n_classes,)
        Class labels; classifiers only.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, where X has string column names.

    See Also
    --------
    kernelpursuit.plotting.SearchDisplay : Draws the table.
    kernelpursuit.dictionary.widths : Several widths in one model, for the pursuit to choose from.

    Notes
    -----
    The minimum of a criterion over a grid is an optimistic estimate of the error. Measure the error on test rows, or
    put the search in `cross_val_score`.

    References
    ----------
    P. Nair, A. Choudhury, A. Keane, Some greedy learning algorithms for sparse regression and classification with
    Mercer kernels, JMLR 3, 2002.
    K. Hagiwara, A sparse modeling method based on reduction of cost function in regularized forward selection, IEICE
    Transactions E97.D, 2014.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor, LengthScaleSearch
    >>> from kernelpursuit.data import make_chirp
    >>> X, y = make_chirp()
    >>> model = KernelPursuitRegressor(alpha=1e-3, max_atoms=60, stop="loo")
    >>> search = LengthScaleSearch(model, gammas=[0.3, 1.0, 3.0, 10.0]).fit(X, y)
    >>> search.best_params_
    {'gamma': 3.0}
    >>> search.results_["score"].shape
    (4,)
    """

    results_: dict[str, np.ndarray]
    best_index_: int
    best_params_: dict[str, float]
    best_score_: float
    best_estimator_: BaseKernelPursuit
    by_: str
    shared_distances_: bool

    def __init__(
        self,
        estimator: BaseKernelPursuit,
        *,
        gammas: ArrayLike = "auto",
        alphas: ArrayLike | None = None,
        by: str | StoppingRule = "stop",
        score_at: str = "kept",
        cv: int = 5,
        verbose: bool = False,
    ):
        self.estimator = estimator
        self.gammas = gammas
        self.alphas = alphas
        self.by = by
        self.score_at = score_at
        self.cv = cv
        self.verbose = verbose

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit every combination, and keep the best.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Targets, or class labels.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        self
        """
        # A search that fails leaves this object as it was: attributes are set at the end.
        found = copy.copy(self)
        found._fit(X, y, sample_weight)
        for name in FITTED:
            if hasattr(found, name):
                setattr(self, name, getattr(found, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    def _fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        base, dictionary = self._check_estimator()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        with one_sentence("X", X):
            rows = validate_data(self, X, **ROWS)
        check_range(rows)
        weights = None if sample_weight is None else check_weights(sample_weight, rows.shape[0])
        check_option("score_at", self.score_at, SCORE_AT)
        # Refined atoms are learned atoms, and the same rule keeps them.
        is_refined = is_word(base.stop, "auto") and base.refine is True
        rule = search_rule(self.by, Loo(within=WITHIN) if is_refined else chosen_rule(base.stop), self.cv)
        grid = self._grid(base, dictionary, rows, weights)
        shared = self._share(base, dictionary, rows, sorted(gamma for gamma, _ in grid))
        # One seed for all fits gives them the same folds, validation rows and drawn candidates.
        seed = {"random_state": check_seed(None)} if base.random_state is None else {}
        during = {**shared, **seed, "stop": rule, "verbose": False}
        table, best = self._fit_all(base, grid, during, rule=rule, data=(X, y, sample_weight))
        names = ("gamma",) if self.alphas is None else ("gamma", "alpha")
        self.best_params_ = {name: float(table.columns[name][table.best]) for name in names}
        if rule.needs_refit:
            best = clone(base).set_params(**self.best_params_, **seed).fit(X, y, sample_weight=sample_weight)
            best = best.as_if_fitted_with({name: base.random_state for name in seed}, unshare)
        self.best_estimator_ = best
        self.results_ = table.columns
        self.best_index_ = table.best
        self.best_score_ = float(table.columns["score"][table.best])
        self.by_ = rule.by.name

    def _fit_all(
        self,
        base: BaseKernelPursuit,
        grid: list[tuple[float, float]],
        during: State,
        rule: SearchRule,
        data: ValidationSet,
    ) -> tuple[Table, BaseKernelPursuit]:
        """Fit every combination with the settings `during`; return the results, and the best without those settings."""
        table, progress = Table(grid, self.score_at), SearchProgress(len(grid), check_verbose(self.verbose))
        if not self.shared_distances_:
            progress.say("distances are computed again for each combination")
        best, before = base, {}
        try:
            for i, (gamma, alpha) in enumerate(grid):
                model = clone(base).set_params(gamma=gamma, **({} if self.alphas is None else {"alpha": alpha}))
                own = {name: getattr(model, name) for name in during}
                if table.add(i, model.set_params(**during), rule, data):
                    best, before = model, own
                progress.step(i + 1, table, rule.by.name)
        finally:
            progress.close()
        table.finish(rule)
        # The best model keeps its own parameters and no shared distances.
        return table, best.as_if_fitted_with(before, unshare)

    def _check_estimator(self) -> tuple[BaseKernelPursuit, Dictionary]:
        """Return the estimator and its dictionary; raise an error where a search cannot vary them."""
        base = self.estimator
        if not isinstance(base, BaseKernelPursuit):
            raise ValueError(
                f"estimator={base!r} is not usable; give a KernelPursuitRegressor or KernelPursuitClassifier (a scaler "
                "goes in a pipeline around the search)."
            )
        # kernel="auto" is chosen with learned scales. Here gammas are given, and it is the Gaussian kernel.
        dictionary = given_dictionary(base.kernel)
        if not dictionary.takes_gamma:
            raise ValueError(
                f"kernel={base.kernel!r} has no width that gammas could set; give a kernel without a gamma of its own, "
                "such as 'rbf', or vary the estimator with GridSearchCV."
            )
        if self.alphas is not None and base.penalty is None:
            raise ValueError("alphas would be ignored with penalty=None; leave them out, or give a penalty.")
        return base, dictionary

    def _grid(
        self, base: BaseKernelPursuit, dictionary: Dictionary, rows: Matrix, weights: np.ndarray | None
    ) -> list[tuple[float, float]]:
        """All combinations of gamma and alpha; those of one gamma follow each other."""
        if is_word(self.gammas, "auto"):
            gammas = auto_gammas(dictionary, rows, weights)
        elif isinstance(self.gammas, str):
            raise ValueError(f"gammas={self.gammas!r} is not known; give a list of numbers, or 'auto'.")
        else:
            gammas = check_values("gammas", self.gammas)
        alphas = [base.alpha] if self.alphas is None else check_values("alphas", self.alphas, zero=True).tolist()
        return [(gamma, alpha) for gamma in gammas.tolist() for alpha in alphas]

    def _share(self, base: BaseKernelPursuit, dictionary: Dictionary, rows: Matrix, gammas: list[float]) -> State:
        """Parameters of the fits that share distances, if memory allows; else none."""
        budget = resolve_budget(base.memory_budget)
        middle = gammas[len(gammas) // 2]
        n_atoms = dictionary.resolve(rows, middle).n_atoms
        n_values = rows.shape[0] * n_atoms
        dtype = np.dtype(np.float64 if n_values <= FLOAT64_UP_TO else np.float32)
        table = shared_size(dictionary, rows.shape[0]) * dtype.itemsize
        # The table saves time only beside the stored values of the dictionary: both must fit.
        max_atoms = MOST_PICKED if is_word(base.max_atoms, "auto") else base.max_atoms
        basis = rows.shape[0] * 8 * (max_atoms if isinstance(max_atoms, (int, np.integer)) else 0)
        fits = table + n_values * dtype.itemsize + basis <= budget
        everything = is_word(base.candidates, "all") or (
            is_word(base.candidates, "auto") and n_atoms <= AUTO_CANDIDATES
        )
        worth_it = fits and everything and rows.shape[1] >= WORTH_FROM and base.refine is not True
        shared = share_distances(dictionary, rows, middle, dtype) if worth_it else dictionary
        self.shared_distances_ = shared is not dictionary
        return {"kernel": shared, "memory_budget": budget - table} if self.shared_distances_ else {}

    def to_frame(self) -> pd.DataFrame:
        """Return the results as a pandas DataFrame with one row for each combination."""
        check_is_fitted(self)
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame() needs pandas: pip install 'kernelpursuit[io]'.") from None
        return pd.DataFrame(self.results_)

    @property
    def classes_(self) -> np.ndarray:
        """Class labels, of a classifier."""
        check_is_fitted(self)
        return self.best_estimator_.classes_

    @available_if(_best_has("predict"))
    def predict(self, X: Matrix, **options: Any) -> Any:
        """Predict with the best model; `options` are those of its `predict`, such as `return_std`."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X, **options)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Predict the probability of every class with the best model."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @available_if(_best_has("predict_log_proba"))
    def predict_log_proba(self, X: Matrix) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        check_is_fitted(self)
        return self.best_estimator_.predict_log_proba(X)

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Matrix) -> np.ndarray:
        """Scores of the classes by the best model."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @available_if(_best_has("score"))
    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R² of the best model, or for classifiers its accuracy."""
        check_is_fitted(self)
        return self.best_estimator_.score(X, y, sample_weight=sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a fit has succeeded."""
        return hasattr(self, "best_estimator_")

    def __sklearn_tags__(self) -> Any:
        """The tags of the estimator that concern its data."""
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.input_tags, tags.target_tags = own.input_tags, own.target_tags
        return tags
