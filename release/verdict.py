"""What `release/check.sh` ends with: that a release can be tagged, or what is in the way of that."""

import sys

from release.versions import declared, disagreements


def verdict(left_out: list[str]) -> str:
    """The last words of a check that failed nowhere, by what it left out."""
    version = declared()
    missing = [f"not checked: {one}" for one in left_out] + [f"not done: {one}" for one in disagreements(released=True)]
    if not missing:
        return f"ready to be tagged v{version}"
    return "\n".join([f"{version} is built, and not ready to be tagged", *(f"  {one}" for one in missing)])


if __name__ == "__main__":
    print(verdict(sys.argv[1:]))
