"""The version is in pyproject.toml; say where another file disagrees.

`python release/versions.py` prints the version. `--release` asks for its own section on top of CHANGELOG.md too, and
`--tag vX.Y.Z` for this version.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Where else the version is written down, and how.
COPIES = {
    "CITATION.cff": r"^version: (.+)$",
    "conda/recipe.yaml": r"^  version: \"(.+)\"$",
    "docs/cite.md": r"^  version = \{(.+)\},$",
}


def declared() -> str:
    """The version of the package."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def disagreements(*, released: bool = False, tag: str | None = None) -> list[str]:
    """One sentence for each file that says something else, and for a tag that does."""
    version, found = declared(), []
    if tag is not None and tag != f"v{version}":
        found.append(f"the tag is {tag}, but pyproject.toml has the version {version}; tag v{version}, or change it.")
    for name, pattern in COPIES.items():
        copies = re.findall(pattern, (ROOT / name).read_text(), re.MULTILINE)
        if copies != [version]:
            found.append(f"{name} has the version {', '.join(copies) or 'nowhere'}; write {version}.")
    sections = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    allowed = [version] if released else ["Unreleased", version]
    if sections[0] not in allowed:
        found.append(f"CHANGELOG.md begins with {sections[0]!r}; let it begin with {' or '.join(allowed)}.")
    if version not in sections:
        found.append(f"CHANGELOG.md has no section {version}; add one.")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--release", action="store_true", help="ask for a section of the version on top of CHANGELOG.md"
    )
    parser.add_argument("--tag", help="the tag of the release")
    given = parser.parse_args()
    wrong = disagreements(released=given.release, tag=given.tag)
    print("\n".join(wrong) or declared())
    sys.exit(bool(wrong))
