"""`kernelpursuit demo`: fits of bundled data, and a file to try the commands on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernelpursuit.cli import command
from kernelpursuit.cli.screen import Screen, grid

if TYPE_CHECKING:
    import numpy as np

WAVES = "waves"


def demo(
    screen: Screen,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE.csv",
            show_default=False,
            help="Write the rows of the waves to a CSV file, and fit nothing.",
        ),
    ] = None,
) -> None:
    """Fit three bundled data sets as they come, or write one to a file to try the other commands on."""
    from kernelpursuit.cli.goals import check_goal

    if save is not None:
        check_goal(save)
        if save.exists():
            raise ValueError(f"{str(save)!r} is already there; give a new name to --save.")
        n_rows = _save(save)
        screen.show({"out": str(save), "n_rows": n_rows}, lambda: _next(save, n_rows))
        return
    found = []
    with screen.progress("fitting") as bar:
        for i, (name, (X, y, noise)) in enumerate(_bundled().items()):
            found.append(_fitted(name, X, y, noise=noise, follow=_follow(bar, i, name)))
    columns = ["data", "rows", "features", "atoms", "error", "best possible", "seconds"]
    rows = [[one[name.replace(" ", "_")] for name in columns] for one in found]
    title = "Fits without settings; the error is RMSE, or the share of wrong classes, on 25 % of the rows"
    screen.show(
        {"fits": found},
        lambda: [grid(title, columns, rows), "Try the other commands: kernelpursuit demo --save waves.csv"],
    )


def _bundled() -> dict[str, tuple[np.ndarray, np.ndarray, float | None]]:
    """Rows, targets, and the error that noise alone makes."""
    from sklearn.datasets import load_breast_cancer

    from kernelpursuit.data import make_chirp, make_waves

    return {
        "chirp": (*make_chirp(noise=0.15), 0.15),
        WAVES: (*make_waves(noise=0.2), 0.2),
        "breast cancer, two classes": (*load_breast_cancer(return_X_y=True), None),
    }


def _follow(bar: Any, i: int, name: str) -> Any:
    from kernelpursuit.cli.progress import FitProgress

    return FitProgress(bar, start=i / 3, share=1 / 3, words=f"{name}: ")


def _fitted(name: str, X: np.ndarray, y: np.ndarray, *, noise: float | None, follow: Any) -> dict[str, Any]:
    from sklearn.model_selection import train_test_split

    from kernelpursuit.cli.scores import scores
    from kernelpursuit.cli.settings import estimator_for

    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    started = time.perf_counter()
    model = estimator_for(noise is None, 0, {}).fit(X_train, y_train, callback=follow)
    seconds = time.perf_counter() - started
    found = scores(model, X_test, y_test)
    return {
        "data": name,
        "rows": len(y_train),
        "features": X.shape[1],
        "atoms": int(model.n_atoms_),
        "error": found.get("rmse", 1 - found.get("accuracy", 0.0)),
        "best_possible": noise,
        "seconds": seconds,
    }


def _save(path: Path) -> int:
    """Write the waves to a CSV file."""
    from kernelpursuit._files import write_whole
    from kernelpursuit.data import make_waves

    X, y = make_waves()
    lines = [",".join([*(f"x{j + 1}" for j in range(X.shape[1])), "y"])]
    lines += [",".join(map(repr, [*row, target])) for row, target in zip(X.tolist(), y.tolist())]
    write_whole(path, ("\n".join(lines) + "\n").encode())
    return len(y)


def _next(path: Path, n_rows: int) -> list[str]:
    """What was written, and a command to copy, as paragraphs."""
    command = f"kernelpursuit fit {path} --target y --test 0.25 -o m.kp"
    return [f"{path}: {n_rows:,} rows of x1 to x6 and y. Next:", command]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command.add(app, demo)
