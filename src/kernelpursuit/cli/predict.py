"""`kernelpursuit predict`: predictions of a file of rows, to a file or to stdout."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernelpursuit.cli import command
from kernelpursuit.cli.options import Data, Drop, Model
from kernelpursuit.cli.screen import Screen, facts

if TYPE_CHECKING:
    from kernelpursuit.cli.progress import Progress


def predict(
    screen: Screen,
    model: Model,
    data: Data,
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FILE", help="A .csv, .parquet or .npy file; - writes CSV to stdout."),
    ] = "-",
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="SHARE",
            show_default=False,
            help="Add intervals that hold so many of new targets, such as 0.9.",
        ),
    ] = None,
    std: Annotated[bool, typer.Option("--std", help="Add standard deviations.")] = False,
    proba: Annotated[bool, typer.Option("--proba", help="Write probabilities of classes, not labels.")] = False,
    decision: Annotated[bool, typer.Option("--decision", help="Write scores of classes, not labels.")] = False,
    set_coverage: Annotated[
        float | None,
        typer.Option(
            "--set-coverage",
            metavar="SHARE",
            show_default=False,
            help="Write sets of classes that hold the true one for so many rows, such as 0.95.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="NAMES", show_default=False, help="Columns of DATA to write in front."),
    ] = None,
    drop: Drop = None,
) -> None:
    """Predict rows a block at a time, as many as there are."""
    from kernelpursuit import load
    from kernelpursuit.cli.columns import split_names
    from kernelpursuit.cli.data import about_n_rows, names_of, open_features
    from kernelpursuit.cli.goals import check_goal

    method, options = _asked(interval=interval, std=std, proba=proba, decision=decision, set_coverage=set_coverage)
    is_stdout = out == "-"
    if is_stdout and screen.as_json:
        raise typer.BadParameter("--json says what was written, and predictions go to stdout; give --out FILE.")
    check_goal(None if is_stdout else Path(out))
    fitted = load(model)
    _check_kind(fitted, model, method, options)
    names = getattr(fitted, "feature_names_in_", None)
    rows = open_features(data, names, fitted.n_features_in_, drop or ())
    started = time.perf_counter()
    # Predictions on a terminal and a bar would be in each other's way.
    with screen.progress("predicting", is_shown=not (is_stdout and sys.stdout.isatty())) as bar:
        told = _Told(bar, about_n_rows(data))
        goal: Any = sys.stdout.buffer if is_stdout else out
        kept = split_names(keep, names_of(data)) if keep else ()
        n_rows = fitted.predict_to(rows, goal, method=method, keep=kept, told=told, **options)
    seconds = time.perf_counter() - started
    if is_stdout:
        return
    known = {"data": str(data), "model": str(model), "n_rows": n_rows, "seconds": seconds, "out": out}
    screen.show(known, lambda: [_table(known)])


def _asked(
    *, interval: float | None, std: bool, proba: bool, decision: bool, set_coverage: float | None
) -> tuple[str, dict[str, Any]]:
    """The method, and what it is told."""
    others = {
        "--proba": ("predict_proba", proba, {}),
        "--decision": ("decision_function", decision, {}),
        "--set-coverage": ("predict_set", set_coverage is not None, {"coverage": set_coverage}),
    }
    chosen = [name for name, (_, is_asked, _) in others.items() if is_asked]
    plain = [name for name, is_asked in {"--interval": interval is not None, "--std": std}.items() if is_asked]
    if len(chosen) > 1 or (chosen and plain):
        raise typer.BadParameter(f"{' and '.join([*chosen, *plain])} do not go together; give one of them.")
    if chosen:
        method, _, options = others[chosen[0]]
        return method, dict(options)
    found: dict[str, Any] = {} if interval is None else {"interval": interval}
    return "predict", {**found, **({"return_std": True} if std else {})}


def _check_kind(fitted: Any, path: Path, method: str, options: dict[str, Any]) -> None:
    """Refuse what the model does not have."""
    if hasattr(fitted, "classes_"):
        if options.keys() & {"interval", "return_std"}:
            raise ValueError(
                f"{path} predicts classes; use --proba or --set-coverage in place of --interval and --std."
            )
    elif method != "predict":
        raise ValueError(f"{path} predicts numbers; --proba, --decision and --set-coverage are for classes.")


class _Told:
    """Passes on to a bar how many rows are done."""

    def __init__(self, bar: Progress, n_rows: int | None):
        self._bar, self._n_rows = bar, n_rows

    def __call__(self, n_done: int) -> None:
        self._bar.count(n_done, "rows")
        if self._n_rows:
            self._bar.at(min(1.0, n_done / self._n_rows))


def _table(known: dict[str, Any]) -> Any:
    return facts(
        f"predictions of {known['data']}",
        {
            "rows": f"{known['n_rows']:,}",
            "time": f"{known['seconds']:.1f} s",
            "written to": known["out"],
        },
    )


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command.add(app, predict)
