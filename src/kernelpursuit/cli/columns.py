"""Which columns of a file are what, as options say it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Columns:
    """Which columns are what, as the user has said, by name or position.

    target    one or more, which may be joined by commas like features and drop; empty where the file says which
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
        """As options give them."""
        return cls(tuple(target or ()), tuple(features or ()), tuple(drop or ()), weights)

    def split(self, known: Collection[str] = ()) -> Columns:
        """One name each, where these are the names that there are."""
        target, features, drop = (split_names(one, known) for one in (self.target, self.features, self.drop))
        return replace(self, target=target, features=features, drop=drop)

    @property
    def one_target(self) -> str | None:
        """The target, where there is at most one."""
        return self.target[0] if self.target else None


def split_names(given: Sequence[str] | None, known: Collection[str] = ()) -> tuple[str, ...]:
    """Names that may be joined by commas; a known one that has commas itself stays whole."""
    each = [(one,) if one in known else tuple(name.strip() for name in one.split(",")) for one in given or ()]
    return tuple(name for names in each for name in names if name)
