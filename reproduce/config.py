"""The configurations of tables and figures: `configs/*.toml`."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from reproduce.cells import COMPARATOR, OWN
from reproduce.data import known

CONFIGS = Path(__file__).parent / "configs"
PAPERS = {
    "nair": "Nair, Choudhury and Keane",
    "kmp": "Vincent and Bengio",
    "hagiwara": "Hagiwara",
    "zhang": "Zhang",
    "xu": "Xu, Lin, Fang and Li",
}
NAME = re.compile(rf"({'|'.join(PAPERS)})-(table|figure)-\d+")


class ConfigError(ValueError):
    """A configuration says something that cannot be."""


@dataclass(frozen=True)
class Part:
    """A part of a table that is run on its own: a data set, a digit, a sample size."""

    settings: Mapping[str, Any]
    data: tuple[str, ...]
    quick: int
    full: int


@dataclass(frozen=True)
class Reason:
    """Why cells are not reproduced; `cells` is a pattern of "row | column"."""

    cells: str
    cause: str
    text: str

    def covers(self, row: str, column: str) -> bool:
        """Whether it speaks of that cell."""
        return fnmatchcase(f"{row} | {column}", self.cells)


@dataclass(frozen=True)
class Choice:
    """What was chosen with the published numbers in view: how many settings, and of which systems."""

    what: str
    values: int
    system: str = OWN


CAUSES = {
    "paper": "a slip in the paper, we infer",
    "ambiguity": "the paper does not say",
    "data": "other data",
    "ours": "on our side",
}


@dataclass(frozen=True)
class Config:
    """One table or figure of a paper."""

    name: str
    title: str
    protocol: str
    experiment: str
    figure: str
    runs: str
    parts: tuple[Part, ...]
    variants: Mapping[str, Mapping[str, Any]]
    reasons: tuple[Reason, ...]
    p_values: tuple[Mapping[str, Any], ...]
    chosen: tuple[Choice, ...] = ()

    @property
    def paper(self) -> str:
        """The short name of its paper."""
        return self.name.split("-")[0]

    def touched(self, variant: str) -> tuple[Part, ...]:
        """The parts that a variant is run on: of its `only`, those whose setting is in the list."""
        only = self.variants[variant].get("only", {})
        return tuple(part for part in self.parts if all(part.settings[key] in allowed for key, allowed in only.items()))

    def varied(self, variant: str) -> tuple[Part, ...]:
        """Those parts with the settings of the variant laid over them."""
        change = {key: value for key, value in self.variants[variant].items() if key not in ("why", "only")}
        return tuple(replace(part, settings={**part.settings, **change}) for part in self.touched(variant))


FIELDS = {
    "title", "protocol", "experiment", "figure", "runs", "data", "repetitions", "settings", "parts", "variants",
    "reasons", "p_values", "chosen",
}  # fmt: skip


ENTRIES = {
    "reasons": {"cells", "cause", "text"},
    "p_values": {"column", "first", "second", "test", "test_share", "sides"},
    "chosen": {"what", "values", "system"},
}


def chosen_for(name: str) -> tuple[Choice, ...]:
    """What was chosen for a table: for the run that it shows, and for itself."""
    return tuple(dict.fromkeys([*named(named(name).runs).chosen, *named(name).chosen]))


def named(name: str) -> Config:
    """The configuration of that name."""
    path = CONFIGS / f"{name}.toml"
    if not path.exists():
        raise ConfigError(f"No table or figure is called {name!r}; there are {', '.join(names())}.")
    return _read(path)


def names() -> list[str]:
    """All tables and figures, in the order of the papers, tables first."""
    order = list(PAPERS)
    found = [path.stem for path in CONFIGS.glob("*.toml")]
    for name in found:
        if not NAME.fullmatch(name):
            raise ConfigError(f"{name}.toml is not called after a table or figure, such as nair-table-2.")
    return sorted(found, key=lambda name: (order.index(name.split("-")[0]), "figure" in name, int(name.split("-")[-1])))


def function(reference: str, package: str) -> Callable[..., Any]:
    """The function that `module:name` stands for, in a package of `reproduce`."""
    module, _, name = reference.partition(":")
    try:
        return getattr(importlib.import_module(f"reproduce.{package}.{module}"), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ConfigError(f"reproduce/{package}/ has no {reference}: {error}.") from error


@cache
def _read(path: Path) -> Config:
    try:
        text = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path.name} is not TOML: {error}.") from error
    unknown = text.keys() - FIELDS
    if unknown:
        raise ConfigError(f"{path.name} has {', '.join(sorted(unknown))}; it may have {', '.join(sorted(FIELDS))}.")
    if "experiment" in text and "runs" in text:
        raise ConfigError(f"{path.name} has an experiment and `runs`, the table whose run it shows; it must choose.")
    if "figure" not in text and not text.keys() & {"experiment", "runs"}:
        raise ConfigError(f"{path.name} has neither an experiment, nor `runs`, nor a figure.")
    for field, allowed in ENTRIES.items():
        for entry in text.get(field, []):
            if not set(entry) <= allowed or entry.get("test", "paired") not in ("paired", "resampled"):
                what = f"it may have {', '.join(sorted(allowed))}, and a test is paired or resampled"
                raise ConfigError(f"{path.name} has a slip in {field}: {entry}; {what}.")
    try:
        config = Config(
            name=path.stem,
            title=text["title"],
            protocol=text.get("protocol", "").strip(),
            experiment=text.get("experiment", ""),
            figure=text.get("figure", ""),
            runs=text.get("runs", path.stem),
            parts=_parts(text) if "experiment" in text else (),
            variants=text.get("variants", {}),
            reasons=tuple(Reason(**reason) for reason in text.get("reasons", [])),
            p_values=tuple(text.get("p_values", [])),
            chosen=tuple(Choice(**choice) for choice in text.get("chosen", [])),
        )
    except (KeyError, TypeError) as error:
        raise ConfigError(f"{path.name} lacks {error}.") from error
    _check(config, path.name)
    return config


def _check(config: Config, name: str) -> None:
    """Refuse what can be read and cannot be."""
    if not all(1 <= part.quick <= part.full for part in config.parts):
        raise ConfigError(f"{name} needs repetitions of at least 1, and no more for the quick pass than for the full.")
    unknown = {name for part in config.parts for name in part.data} - known().keys()
    if unknown:
        raise ConfigError(f"{name} needs {', '.join(sorted(unknown))}, which datasets.toml does not have.")
    if not {reason.cause for reason in config.reasons} <= CAUSES.keys():
        raise ConfigError(f"{name} has a cause that is none of {', '.join(CAUSES)}.")
    for choice in config.chosen:
        if not choice.what or choice.values < 1 or choice.system not in (OWN, COMPARATOR):
            what = "it says what, how many values, and of which system, own or comparator"
            raise ConfigError(f"{name} has a slip in chosen: {choice}; {what}.")


def _parts(text: Mapping[str, Any]) -> tuple[Part, ...]:
    parts = []
    for given in text.get("parts", [{}]):
        own = dict(given)
        data = own.pop("data", text.get("data", []))
        repetitions = own.pop("repetitions", text.get("repetitions"))
        parts.append(
            Part({**text.get("settings", {}), **own}, tuple(data), repetitions["quick"], repetitions["full"]),
        )
    return tuple(parts)
