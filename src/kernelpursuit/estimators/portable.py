"""What takes a fitted model out of the notebook: files, other languages, pages.

What a method calls is imported when it is called: the rooms that write are above this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sklearn.utils.validation import check_is_fitted

from kernelpursuit._files import PathLike
from kernelpursuit._types import Matrix

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit
    from kernelpursuit.export import Exported


class Portable:
    """Methods of a fitted estimator that write it somewhere."""

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
        """Write the fitted model in another language; its path stays behind.

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
            Of ONNX and Python: the fraction of targets that intervals should hold, to have these as well.
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

    def report(self, path: PathLike, X: Matrix = None, y: Any = None, *, title: str | None = None) -> None:
        """Write a page about the fitted model: one HTML file, which loads nothing from anywhere.

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
