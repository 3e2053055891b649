"""Print the oldest versions that pyproject.toml declares, as constraints for pip; `make test-floor` installs these."""

import re
import tomllib
from pathlib import Path

# Tools that run the tests may be new: users do not install them.
GROUPS = ("plot", "io", "cli", "dask", "onnx", "report", "test")
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "mpmath", "import-linter", "duckdb", "skops")


def floors() -> list[str]:
    """`name==version` for every requirement `name>=version` of the package."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    listed = project["dependencies"] + [one for group in GROUPS for one in project["optional-dependencies"][group]]
    needed = {one for one in listed if not one.startswith("kernelpursuit") and one.split(">=")[0] not in TOOLS}
    # A constraint is of a package and has no extras.
    return sorted(re.sub(r"\[.*\]", "", one).replace(">=", "==") for one in needed)


if __name__ == "__main__":
    print("\n".join(floors()))
