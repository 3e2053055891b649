"""Write docs/licences.md from pyproject.toml and the metadata of installed packages.

`.venv/bin/python docs/make_licences.py`. A package that is not installed keeps the licence that the page has.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
# What a user installs, in the order of the page; then what those install who build, test or measure.
EXTRAS = ("plot", "io", "cli", "dask", "report", "onnx", "docs", "test", "dev", "bench")
OWN = "kernelpursuit"
# Metadata of older releases say the licence in words, which these are the beginnings of, and not by its identifier.
IN_WORDS = (
    (r"(the )?mit\b", "MIT"),
    (r"(the )?(new )?bsd( license)?$|3-clause bsd|(the )?bsd.3.clause", "BSD-3-Clause"),
    (r"bsd.2.clause", "BSD-2-Clause"),
    (r"apache", "Apache-2.0"),
    (r"mozilla public license 2", "MPL-2.0"),
    (r"(psf|python software foundation)", "PSF-2.0"),
)

# Metadata that say nothing; the licence is in a file.
IN_A_FILE = {"skops": "MIT"}


def name_of(requirement: str) -> str:
    """The package of a requirement."""
    return re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0]


def declared() -> dict[str, list[str]]:
    """For each package that pyproject.toml names, what it is needed for."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = settings["project"]
    groups = {"every installation": project["dependencies"], "building": settings["build-system"]["requires"]}
    groups |= {f"`{extra}`": project["optional-dependencies"][extra] for extra in EXTRAS}
    order = ["every installation", *(f"`{extra}`" for extra in EXTRAS), "building"]
    found: dict[str, list[str]] = {}
    for group in order:
        for requirement in groups[group]:
            if name_of(requirement) != OWN and group not in found.setdefault(name_of(requirement), []):
                found[name_of(requirement)].append(group)
    return found


def licence_of(package: PackageMetadata) -> str:
    """The licence that metadata tell: as an expression, in a few words, or as a classifier."""
    if expression := package.get("License-Expression"):
        return str(expression)
    words = str(package.get("License") or "").strip().partition("\n")[0]
    classes = [one.rpartition(" :: ")[2] for one in package.get_all("Classifier") or [] if one.startswith("License ::")]
    for told in (words, *classes):
        for beginning, licence in IN_WORDS:
            if re.match(beginning, told, re.IGNORECASE):
                return licence
    return words


def installed(name: str) -> str | None:
    """The licence of a package that is installed here; None where it is not."""
    try:
        return licence_of(metadata(name)) or IN_A_FILE.get(name)
    except PackageNotFoundError:
        return None


def written() -> dict[str, str]:
    """The licence of each package on the page."""
    text = PAGE.read_text() if PAGE.exists() else ""
    return dict(re.findall(r"^\| ([\w.-]+) \| [^|]+ \| ([^|]+) \|$", text, re.MULTILINE))


def page() -> str:
    """The whole page."""
    known = written()
    rows = [
        f"| {name} | {', '.join(groups)} | {installed(name) or known.get(name, 'not known here')} |"
        for name, groups in declared().items()
    ]
    return "\n".join([HEAD, *rows, TAIL])


HEAD = """<!-- Made by docs/make_licences.py; change that and not this page. -->

# Licences

kernelpursuit has the BSD 3-Clause licence: use it in anything, also closed and sold, with its notice kept.

## What it imports

Nothing of these packages is copied into ours; each is installed for itself. The second column says which extra asks for
a package; those of `docs`, `test`, `dev` and `bench` are for people who work on the library.

| package | needed for | licence |
|---|---|---|"""

TAIL = """
These are the words of each package's own metadata. Wheels of NumPy, SciPy and others also carry compiled libraries
under licences of their own, such as OpenBLAS (BSD-3-Clause) and the runtime of GNU Fortran (GPL-3.0 with the GCC
Runtime Library Exception, which leaves programs that use it free); the wheels hold the texts.

## What is in our wheels

| part | licence | text in the wheel |
|---|---|---|
| kernelpursuit | BSD-3-Clause | `LICENSE` |
| nanobind, by which Python calls the core, compiled into it | BSD-3-Clause | `licenses/nanobind.txt` |
| robin-map, of nanobind | MIT | `licenses/robin-map.txt` |
| libgomp, GCC's OpenMP runtime, in Linux wheels | GPL-3.0-or-later WITH GCC-exception-3.1 | `licenses/libgomp.txt` |

Exported models (`model.export`) and reports hold numbers of yours and lines of ours; do with them what you like.
"""


if __name__ == "__main__":
    PAGE.write_text(page())
