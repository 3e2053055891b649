"""What is in a wheel or a source distribution, and whether that is all that should be: `contents.py FILE...`."""

import sys
import tarfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
LARGEST = 5 * 10**6
# What a user needs that is no Python, and what a user does not need.
WANTED = ("py.typed", ".css", ".html", ".js")
UNWANTED = (".cpp", ".hpp", ".txt", ".pyc", ".o", ".a")


def names_of(path: Path) -> list[str]:
    """Files of an archive, those of a source distribution without its own folder."""
    if path.suffix == ".whl":
        return zipfile.ZipFile(path).namelist()
    with tarfile.open(path) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def of_package(*endings: str) -> set[str]:
    """Files of the package with these endings, as a wheel names them."""
    files = (path for path in (SOURCE / "kernelpursuit").rglob("*") if path.name.endswith(endings))
    return {path.relative_to(SOURCE).as_posix() for path in files}


def faults(path: Path) -> list[str]:
    """What is wrong with an archive."""
    names, size = set(names_of(path)), path.stat().st_size
    found = [f"it has {size:,} bytes, more than {LARGEST:,}"] if size > LARGEST else []
    if path.suffix == ".whl":
        inside = {name for name in names if ".dist-info/" not in name and ".libs/" not in name}
        found += [f"it lacks {name}" for name in sorted(of_package(".py", *WANTED) - names)]
        found += [f"it has {name}" for name in sorted(inside) if name.endswith(UNWANTED)]
        found += [f"it has {name}" for name in sorted(inside) if not name.startswith("kernelpursuit/")]
        if not path.name.endswith("-none-any.whl") and not any("/_core." in name for name in names):
            found.append("it lacks the native core")
        found += [] if any(name.endswith("licenses/LICENSE") for name in names) else ["it lacks LICENSE"]
        for part in sorted({path.name.partition(".")[0] for path in (SOURCE.parent / "licenses").iterdir()}):
            if not any(name.endswith(f"licenses/{part}.txt") for name in names):
                found.append(f"it lacks licenses/{part}.txt")
    else:
        sources = {f"src/{name}" for name in of_package(".py", ".cpp", ".hpp", *WANTED)}
        wanted = sources | {"pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "PKG-INFO"}
        found += [f"it lacks {name}" for name in sorted(wanted - names)]
    return found


if __name__ == "__main__":
    wrong = [f"{name}: {fault}" for name in sys.argv[1:] for fault in faults(Path(name))]
    for name in sys.argv[1:]:
        print(f"{Path(name).name}: {Path(name).stat().st_size:,} bytes, {len(names_of(Path(name)))} files")
    print("\n".join(wrong))
    sys.exit(bool(wrong))
