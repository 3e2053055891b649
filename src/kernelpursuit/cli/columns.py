"""Which columns of a file are what, as options say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Columns:
    """Which columns are what, as the user has said, by name or position.

    target    one or more; empty where the file says which
    features  empty for all others
    drop      columns that are not looked at
    weights   sample weights, or None
    """

    target: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    weights: str | None = None

    @classmethod
    def of(
        cls,
        target: Sequence[str] | None,
        features: Sequence[str] | None,
        drop: Sequence[str] | None,
        weights: str | None,
    ) -> Columns:
        """As options give them: names may be joined by commas."""
        return cls(split_names(target), split_names(features), split_names(drop), weights)

    @property
    def one_target(self) -> str | None:
        """The target, where there is at most one."""
        return self.target[0] if self.target else None


def split_names(given: Sequence[str] | None) -> tuple[str, ...]:
    """Names that may be joined by commas."""
    return tuple(name.strip() for one in given or () for name in one.split(",") if name.strip())
