"""The estimators of rows on a cluster: what differs from those of rows in memory."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from distributed import Client
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from kernelpursuit import estimators as local
from kernelpursuit._files import PathLike
from kernelpursuit._types import Matrix
from kernelpursuit.dask.lazy import predicted
from kernelpursuit.dask.partitions import is_collection
from kernelpursuit.dask.scores import Accuracy, RSquared
from kernelpursuit.dask.source import DaskSource
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.model import FittedModel

#: Predictions: of a Dask collection a Dask array, of rows in memory an array.
Values = Any


class OnCluster(BaseKernelPursuit):
    """What both estimators have beside the plain ones: a client, fits and predictions of Dask collections."""

    #: The estimator of rows in memory, which does the fit.
    _plain: ClassVar[type[BaseKernelPursuit]]
    client: Client | None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, callback: Any = None) -> Self:
        """Fit the model; the rows stay on the workers.

        Parameters
        ----------
        X : Dask array or frame of shape (n_samples, n_features)
            Training rows, in chunks of rows; lengths of chunks need not be known, and may be 0.
        y : Dask array, series or frame, or str or list of str
            Targets or labels, in the order of the rows; their chunks may be others. Names are those of columns of X.
        sample_weight : Dask array or series of shape (n_samples,), optional
            Weights, as for the plain estimator.
        callback : callable, Callback or list of these, optional
            As for the plain estimator; called in this process.

        Returns
        -------
        self

        Notes
        -----
        A sample of up to `sample_rows` rows comes to this process, where scales and atoms are learned from it. All else
        is of all rows: passes over the chunks, of which sums of k x k numbers travel. What is not persisted is read
        or computed anew in every pass, of which there are three to five.
        """
        plain = self._plain(**self._plain_params())._take_over(self)
        plain.fit(DaskSource(X, y, sample_weight, client=self.client), callback=callback)
        return self._take_over(plain)

    def partial_fit(self, X: Any, y: Any, *args: Any, **settings: Any) -> Self:
        """Go on with more rows, which are in memory; see the plain estimator."""
        if is_collection(X):
            raise ValueError("partial_fit takes some rows in memory at a time; fit a Dask collection, or compute it.")
        return self._take_over(self.to_local().partial_fit(X, y, *args, **settings))

    def save(self, path: PathLike) -> None:
        """Write the fitted model to a file, which `kernelpursuit.load` reads as the plain estimator."""
        self.to_local().save(path)

    def to_local(self) -> BaseKernelPursuit:
        """Return the plain estimator: fitted if this one is, with the same parameters but for `client`."""
        return self._plain(**self._plain_params())._take_over(self)

    def _plain_params(self) -> dict[str, Any]:
        return {name: value for name, value in self.get_params(deep=False).items() if name != "client"}

    def _predicted(self, method: str, X: Any, **settings: Any) -> Values:
        """What a method of the plain estimator returns: lazily of a Dask collection, at once of rows in memory."""
        check_is_fitted(self)
        plain = self.to_local()
        if not is_collection(X):
            return getattr(plain, method)(X, **settings)
        # Workers have a thread for each task, and no use for steps that were not kept.
        assert isinstance(self.model_, FittedModel), "there is one model of all classes"
        smaller = plain.at(self.model_.n_steps, keep_path=False).set_params(n_jobs=1)
        return predicted(smaller, method, X, **settings)

    def _rows(self, X: Matrix, n_picked: int) -> Any:
        """Refuse Dask collections where no lazy prediction is: they would be fetched."""
        if is_collection(X):
            raise ValueError("stages are of rows in memory; of a Dask collection, use at(k).predict(X), which is lazy.")
        return super()._rows(X, n_picked)

    def __sklearn_clone__(self) -> Self:
        """A client cannot be copied: clones share it."""
        params = {name: clone(value, safe=False) for name, value in self._plain_params().items()}
        copied = type(self)(**params)
        copied.client = self.client
        return copied

    def __copy__(self) -> Self:
        """A copy has the client, where a pickle has none."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """A pickle goes to another process, in which the client would be of no use."""
        return {**super().__getstate__(), "client": None}


class KernelPursuitRegressor(OnCluster, local.KernelPursuitRegressor):
    """Sparse kernel regression of rows on the workers of a Dask cluster.

    The parameters are those of `kernelpursuit.KernelPursuitRegressor`, and so is the result, to 1e-8.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; None is the current client.
    kernel, gamma, ..., verbose
        As for `kernelpursuit.KernelPursuitRegressor`. `n_jobs` is for this process, in which scales and atoms are
        learned; a worker has one thread for each task.

    See Also
    --------
    kernelpursuit.KernelPursuitRegressor : The same of rows in memory, with all parameters and attributes.

    Examples
    --------
    >>> from kernelpursuit.dask import KernelPursuitRegressor
    >>> KernelPursuitRegressor(max_atoms=100).to_local()
    KernelPursuitRegressor(max_atoms=100)
    """

    _plain = local.KernelPursuitRegressor

    def __init__(
        self,
        *,
        kernel: Any = "auto",
        gamma: Any = "learn",
        max_atoms: Any = "auto",
        selection: str = "gain",
        update: Any = "orthogonal",
        exchange: bool = False,
        candidates: Any = "auto",
        shortlist: int | None = None,
        penalty: str | None = "auto",
        alpha: Any = "auto",
        stop: Any = "auto",
        loss: Any = "squared",
        refine: Any = "auto",
        trend: Any = "auto",
        outside: str = "auto",
        fit_intercept: bool = True,
        truncate: Any = None,
        sample_rows: int | str | None = "auto",
        memory_budget: int | None = None,
        warm_start: bool = False,
        forgetting: float = 1.0,
        checkpoint: PathLike | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        client: Client | None = None,
    ):
        super().__init__(
            kernel=kernel,
            gamma=gamma,
            max_atoms=max_atoms,
            selection=selection,
            update=update,
            exchange=exchange,
            candidates=candidates,
            shortlist=shortlist,
            penalty=penalty,
            alpha=alpha,
            stop=stop,
            loss=loss,
            refine=refine,
            trend=trend,
            outside=outside,
            fit_intercept=fit_intercept,
            truncate=truncate,
            sample_rows=sample_rows,
            memory_budget=memory_budget,
            warm_start=warm_start,
            forgetting=forgetting,
            checkpoint=checkpoint,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.client = client

    def predict(self, X: Any, return_std: bool = False, interval: float | None = None) -> Values:
        """Predict targets: for a Dask collection, a Dask array, or a tuple of them."""
        return self._predicted("predict", X, return_std=return_std, interval=interval)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Values, Values]:
        """Predict intervals that should contain a given fraction of new targets; Dask arrays for Dask collections."""
        return self._predicted("predict_interval", X, coverage=coverage)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² of the predictions, in one pass over the chunks; for several targets, the mean."""
        check_is_fitted(self)
        if not is_collection(X):
            return self.to_local().score(X, y, sample_weight)
        work = RSquared(self.to_local().set_params(n_jobs=1))
        return work.score(DaskSource(X, y, sample_weight, client=self.client))


class KernelPursuitClassifier(OnCluster, local.KernelPursuitClassifier):
    """Sparse kernel classification of rows on the workers of a Dask cluster.

    The parameters are those of `kernelpursuit.KernelPursuitClassifier`, and so is the result, to 1e-8.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; None is the current client.
    kernel, gamma, ..., verbose
        As for `kernelpursuit.KernelPursuitClassifier`. `n_jobs` is for this process, in which scales and atoms are
        learned; a worker has one thread for each task.

    See Also
    --------
    kernelpursuit.KernelPursuitClassifier : The same of rows in memory, with all parameters and attributes.

    Examples
    --------
    >>> from kernelpursuit.dask import KernelPursuitClassifier
    >>> KernelPursuitClassifier(loss="squared").to_local()
    KernelPursuitClassifier(loss='squared')
    """

    _plain = local.KernelPursuitClassifier

    def __init__(
        self,
        *,
        kernel: Any = "auto",
        gamma: Any = "learn",
        max_atoms: Any = "auto",
        selection: str = "gain",
        update: Any = "orthogonal",
        exchange: bool = False,
        candidates: Any = "auto",
        shortlist: int | None = None,
        penalty: str | None = "auto",
        alpha: Any = "auto",
        stop: Any = "auto",
        loss: Any = "auto",
        refine: Any = "auto",
        trend: Any = "auto",
        outside: str = "auto",
        multi_class: str = "shared",
        class_weight: Any = None,
        fit_intercept: bool = True,
        sample_rows: int | str | None = "auto",
        memory_budget: int | None = None,
        warm_start: bool = False,
        forgetting: float = 1.0,
        checkpoint: PathLike | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        client: Client | None = None,
    ):
        super().__init__(
            kernel=kernel,
            gamma=gamma,
            max_atoms=max_atoms,
            selection=selection,
            update=update,
            exchange=exchange,
            candidates=candidates,
            shortlist=shortlist,
            penalty=penalty,
            alpha=alpha,
            stop=stop,
            loss=loss,
            refine=refine,
            trend=trend,
            outside=outside,
            multi_class=multi_class,
            class_weight=class_weight,
            fit_intercept=fit_intercept,
            sample_rows=sample_rows,
            memory_budget=memory_budget,
            warm_start=warm_start,
            forgetting=forgetting,
            checkpoint=checkpoint,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.client = client

    def predict(self, X: Any) -> Values:
        """Predict class labels: for a Dask collection a Dask array."""
        return self._predicted("predict", X)

    def decision_function(self, X: Any) -> Values:
        """Return the scores of the classes: for a Dask collection a Dask array."""
        return self._predicted("decision_function", X)

    def predict_proba(self, X: Any) -> Values:
        """Predict the probabilities of the classes: for a Dask collection a Dask array."""
        return self._predicted("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Values:
        """Return the logarithms of `predict_proba`."""
        return self._predicted("predict_log_proba", X)

    def predict_set(self, X: Any, coverage: float = 0.9) -> Values:
        """Predict sets of classes that should contain the true class for a given fraction of new rows."""
        return self._predicted("predict_set", X, coverage=coverage)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, in one pass over the chunks."""
        check_is_fitted(self)
        if not is_collection(X):
            return self.to_local().score(X, y, sample_weight)
        work = Accuracy(self.to_local().set_params(n_jobs=1))
        return work.score(DaskSource(X, y, sample_weight, client=self.client))
