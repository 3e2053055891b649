"""What takes a fitted model out of the notebook: files, other languages, pages, and why it predicts what it does.

What a method calls is imported when it is called: the rooms that write are above this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sklearn.utils.validation import check_is_fitted

from kernelpursuit._files import PathLike
from kernelpursuit._types import Matrix

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit
    from kernelpursuit.explain import Explanation
    from kernelpursuit.export import Exported


class Portable:
    """Methods of a fitted estimator that write it somewhere, or say what its predictions are made of."""

    def save(self, path: PathLike) -> None:
        """Write the fitted model to a file, which `kernelpursuit.load` reads again.

        Parameters
        ----------
        path : str or path
            The file, such as "model.kp". It is written completely or not at all.

        Notes
        -----
        The file is in the safetensors format and holds numbers and text, no code (docs/saved-models.md). Functions and
        classes of your own are not in it; a warning says under which names to give them to `load`.
        """
        from kernelpursuit.saved import save

        check_is_fitted(self)
        save(cast("BaseKernelPursuit", self), path)

    def export(
        self,
        path: PathLike,
        *,
        to: str | None = None,
        dtype: str = "float64",
        interval: float | None = None,
        quantise: bool = False,
        table: str = "rows",
        key: str | None = None,
        dialect: str = "duckdb",
    ) -> Exported:
        """Write `predict` of the fitted model as a program in another language, without the path.

        Parameters
        ----------
        path : str or path
            The file. Its ending chooses the language: .onnx, .h (C99), .mjs or .js (JavaScript), .py (Python with only
            NumPy) or .sql. It is written completely or not at all.
        to : {"onnx", "c", "javascript", "python", "sql"}, optional
            The language, for other endings.
        dtype : {"float64", "float32"}, default="float64"
            For ONNX, the type of rows and predictions; for C, the type of all arithmetic.
        interval : float, optional
            The fraction of targets that intervals should contain, to export `predict_interval` as well.
        quantise : bool, default=False
            For C: whether to store centres as 16-bit integers. The result states the error.
        table, key, dialect : str
            For SQL: the table of the rows, a column to include in the result, and "duckdb" or "sqlite".

        Returns
        -------
        Exported
            Facts about the file: bytes, multiply-adds, and about the time of a prediction.
        """
        from kernelpursuit.export import export

        check_is_fitted(self)
        options: dict[str, object] = {"dtype": dtype, "interval": interval, "quantise": quantise}
        options.update(table=table, key=key, dialect=dialect)
        return export(cast("BaseKernelPursuit", self), path, to, options)

    def explain(
        self,
        X: Matrix,
        *,
        target: Any = None,
        background: Matrix = None,
        features: bool = True,
        n_orders: int = 64,
    ) -> Explanation:
        """Split predictions into contributions of features, of training rows and of atoms.

        Parameters
        ----------
        X : array, CSR matrix or frame of shape (n_samples, n_features)
            Rows to explain.
        target : optional
            The index of one of several targets, by default the first; for a classifier, the class whose score is
            explained, by default the last. With two classes, the score of the first is minus that of the second.
        background : array, CSR matrix or frame of shape (n_background, n_features), optional
            Rows from which features that are not yet known take their values; by default the centres, at most 100.
        features : bool, default=True
            Whether to compute Shapley values of the features. Contributions of atoms and centres cost no more than a
            prediction and the shares.
        n_orders : int, default=64
            Number of orders of features that are sampled if Shapley values are not exact.

        Returns
        -------
        Explanation
            `scores`, which are `base + atoms + outside` and `expected + features + outside`, row by row; `frame()` and
            `plot()` show them.

        Notes
        -----
        Shapley values are interventional: an absent feature takes its value from a background row. They are exact
        for kernels that are products over features (Gaussian, Laplacian, periodic, and sums and products of these) and
        for linear ones, at a cost of O(n_atoms * n_background * d²) a row; for others up to 12 features, at
        O(n_atoms * n_background * 2^d). For more features they are estimated, with `standard_error` (docs/explain.md).
        """
        from kernelpursuit.explain import explain

        check_is_fitted(self)
        model = cast("BaseKernelPursuit", self)
        return explain(model, X, target=target, background=background, features=features, n_orders=n_orders)

    def report(self, path: PathLike, X: Matrix = None, y: Any = None, *, title: str | None = None) -> None:
        """Write a page about the fitted model: one HTML file, which loads nothing from a network.

        A slider sets the number of atoms, and buttons set those that stopping rules keep. Errors and plots change with
        it, and equal those of `at(k)` and `select(rule)`.

        Parameters
        ----------
        path : str or path
            The file, such as "report.html". It is written completely or not at all.
        X : array, CSR matrix or frame of shape (n_samples, n_features), optional
            Rows for errors, residuals, calibration and intervals; up to 20,000 of them, drawn at random. Without rows,
            the page shows what can be computed from the model alone: criteria of the path, centres, scales, and
            partial dependence over its centres.
        y : array of shape (n_samples,) or (n_samples, n_targets), optional
            Targets or labels of these rows.
        title : str, optional
            The title of the page.

        Notes
        -----
        The page leaves out some rows, sizes and targets, and says where. It needs jinja2,
        `pip install 'kernelpursuit[report]'`. It describes one estimator, not a pipeline. For a pipeline, call `report`
        on the last step, with rows that the earlier steps have transformed.
        """
        from kernelpursuit.report import write_report

        check_is_fitted(self)
        write_report(cast("BaseKernelPursuit", self), path, X, y=y, title=title)
