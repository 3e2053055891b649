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
            The file, such as "model.kp". It is written as a whole or not at all.

        Notes
        -----
        The file is in the safetensors format and holds numbers and text, no code (docs/saved-models.md). Functions and
        classes of your own are not in it; a warning says under which names `load` wants them.
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
            The file; its ending says what it is in: .onnx, .h (C99), .mjs or .js (JavaScript), .py (Python with NumPy
            alone) or .sql. It is written as a whole or not at all.
        to : {"onnx", "c", "javascript", "python", "sql"}, optional
            What it is in, for other endings.
        dtype : {"float64", "float32"}, default="float64"
            Of ONNX, the type of rows and predictions; of C, that of all arithmetic.
        interval : float, optional
            The fraction of targets that intervals should hold, to have the intervals of `predict_interval` as well.
        quantise : bool, default=False
            Of C: centres as 16-bit integers. What that costs is said of the file.
        table, key, dialect : str
            Of SQL: the table that the rows are in, a column that goes along with the predictions, and "duckdb" or
            "sqlite".

        Returns
        -------
        Exported
            What was written: bytes, multiply-adds, and about the time of a prediction.
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
            The place of one of several targets, by default the first; of a classifier, the class whose score is
            explained, by default the last. Of two classes, the first has the score of the second with the other sign.
        background : array, CSR matrix or frame of shape (n_background, n_features), optional
            Rows that features are compared with; by default the centres, at most 100 of them.
        features : bool, default=True
            Whether to compute Shapley values of the features. Atoms and centres alone cost no more than a prediction.
        n_orders : int, default=64
            Orders of features that are sampled where Shapley values are not exact.

        Returns
        -------
        Explanation
            `scores`, which are `base + atoms + outside` and `expected + features + outside`, row by row; `frame()` and
            `plot()` show them.

        Notes
        -----
        Shapley values are interventional: a feature that is absent has its value in a background row. They are exact
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

        A slider goes through the sizes of the path, and buttons to those that stopping rules keep; errors and plots
        follow, and equal those of `at(k)` and `select(rule)`.

        Parameters
        ----------
        path : str or path
            The file, such as "report.html". It is written as a whole or not at all.
        X : array, CSR matrix or frame of shape (n_samples, n_features), optional
            Rows on which errors, residuals, calibration and intervals are shown: of up to 20,000 of them, drawn at
            random. Without rows the page has what the model alone knows: criteria of the path, centres, scales, and
            partial dependence over its centres.
        y : array of shape (n_samples,) or (n_samples, n_targets), optional
            Their targets, or labels.
        title : str, optional
            What the page is called.

        Notes
        -----
        Plots show some of the rows, and long paths and many targets are thinned out; the page says so where it does. It
        needs jinja2, `pip install 'kernelpursuit[report]'`. It is about one estimator, not about a pipeline: of
        that, call it on the last step, with rows as that step sees them.
        """
        from kernelpursuit.report import write_report

        check_is_fitted(self)
        write_report(cast("BaseKernelPursuit", self), path, X, y=y, title=title)
