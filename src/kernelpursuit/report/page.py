"""The page: its parts put together by a template, with the content beside them as JSON."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelpursuit._files import PathLike, as_path, write_whole
from kernelpursuit._native.threads import one_blas_thread
from kernelpursuit._types import Matrix
from kernelpursuit.report.content import Plain, content_of
from kernelpursuit.report.facts import clipped, facts_of, lead, settings_of
from kernelpursuit.report.rows import given_rows

if TYPE_CHECKING:
    from kernelpursuit.estimators.base import BaseKernelPursuit

PARTS = Path(__file__).parent / "page_parts"
# In this order: each uses what those before it define.
SCRIPTS = tuple(
    f"{name}.js"
    for name in ("read", "plot", "table", "views", "path", "numbers", "classes", "features", "lines", "main")
)
# Characters of a title.
MOST_TITLE = 200


def write_report(estimator: BaseKernelPursuit, path: PathLike, X: Matrix, y: Any, title: str | None) -> None:
    """Write a page about a fitted estimator; see `BaseKernelPursuit.report`."""
    try:
        import jinja2
    except ImportError:
        raise ImportError("report() needs jinja2: pip install 'kernelpursuit[report]'.") from None
    goal = as_path(path)
    if not (title is None or isinstance(title, str)):
        raise ValueError(f"title={title!r} is not usable; give a str, or None.")
    rows = given_rows(estimator, X, y)
    # Sizes take hundreds of small products, for which threads cost more than they do.
    with one_blas_thread():
        content = content_of(estimator, rows)
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(_part("page.html"))
    write_whole(goal, template.render(_filled(estimator, content, title)).encode())


def _filled(estimator: BaseKernelPursuit, content: Plain, title: str | None) -> dict[str, Any]:
    """What the template asks for."""
    from markupsafe import Markup

    from kernelpursuit import __version__

    style, script = _part("page.css"), _script()
    scales = content["scales"]
    optional = {name: content.get(name) for name in ("rows", "intervals", "reliability", "confusion", "sets")}
    return {
        **content,
        **optional,
        "title": clipped(title, MOST_TITLE) if title else _title(content),
        "class_name": type(estimator).__name__,
        "version": __version__,
        "lead": lead(estimator, content["states"]["n_path"]),
        "reason": estimator.stop_reason_,
        "facts": facts_of(estimator),
        "settings": settings_of(estimator),
        "shown": _shown(optional["rows"]),
        "irrelevant": [name for name, value in zip(scales["names"], scales["values"]) if not value] if scales else [],
        "banded": any(one["error"] for group in content["criteria"] for one in group["series"]),
        "largest_scale": max([*(scales["values"] if scales else ()), 1e-300]),
        "n_features": estimator.n_features_in_,
        "style": Markup(style),
        "style_hash": _hash(style),
        "script": Markup(script),
        "script_hash": _hash(script),
        "content": Markup(as_json(content)),
    }


def as_json(content: Plain) -> str:
    """JSON that can stand in a script element: nothing in it can end that, or begin a comment or another element."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _title(content: Plain) -> str:
    n = content["states"]["atoms"][content["states"]["kept"]]
    return f"A kernel model of {n:,} atom{'' if n == 1 else 's'}"


def _shown(rows: Plain) -> str:
    """Which of the rows given the plots show."""
    if rows is None:
        return ""
    n, n_given = len(rows["numbers"]), rows["n_given"]
    if n == n_given:
        return f"All {n:,} rows; they are numbered from 0."
    return f"{n:,} of the {n_given:,} rows, drawn at random; they are numbered from 0."


def _part(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def _script() -> str:
    """The scripts as one, whose names are nobody else's."""
    return '"use strict";\n(() => {\n' + "\n".join(_part(name) for name in SCRIPTS) + "})();\n"


def _hash(text: str) -> str:
    """By which a browser knows the only script and style that it may use in the page."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
