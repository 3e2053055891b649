"""What is public is in the reference, has a docstring, and an example that runs (tests/test_docs.py runs it)."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import kernelpursuit
from kernelpursuit import presets

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"\.\. currentmodule:: (\S+)\n.*?:nosignatures:\n\n((?:   \S+\n?)+)", re.DOTALL)
ROOMS = (
    *("bounds", "callbacks", "dask", "data", "dictionary", "exceptions", "explain", "export", "kernels", "losses"),
    *("model", "penalties", "plotting", "presets", "report", "rows", "saved", "search", "stopping", "updates"),
)
# Rooms that nobody imports from, and why.
INSIDE = {
    "cli": "commands, on a page of their own",
    "engine": "where products are computed",
    "estimators": "the classes are names of the package",
    "learning": "what a default fit does",
    "pursuit": "the loop; pursuit_path and PursuitPath are names of the package",
}
BY_NAME = "what the words of a parameter stand for, and how it is turned into an object"
METHOD = "what a method of the estimators calls"
BLOCKS = "what a fit does with blocks of rows"
RULES = "what rules and fits say in their sentences"
# Names that rooms have for each other; they may change in any release.
FOR_OTHER_ROOMS = {
    "kernelpursuit": {"__version__": "of the package"},
    "dask": {"DaskSource": "what the estimators make of arrays and frames"},
    "dictionary": {"as_dictionary": BY_NAME, "split": "how a fit finds the functions that are always in"},
    "explain": {"explain": METHOD},
    "export": {"export": METHOD},
    "kernels": {"BY_NAME": BY_NAME, "as_kernel": BY_NAME, "resolve_gamma": BY_NAME},
    "losses": {"BY_NAME": BY_NAME, "as_loss": BY_NAME},
    "model": {"OneVsRestModel": "several models as one, which has the methods of FittedModel"},
    "penalties": {"BY_NAME": BY_NAME, "as_penalty": BY_NAME, "check_penalty": BY_NAME},
    "presets": {"ALL": "all of them", **dict.fromkeys((one.name for one in presets.ALL), "a page in docs/systems")},
    "report": {"write_report": METHOD},
    "rows": {
        "FEWEST_ROWS": BLOCKS,
        "ArraySource": "what open_rows makes of arrays",
        "Distinct": BLOCKS,
        "Extremes": BLOCKS,
        "MappedSource": "what RowSource.map returns",
        "Prepared": BLOCKS,
        "Statistics": BLOCKS,
        "Survey": BLOCKS,
        "SurveyedSource": BLOCKS,
        "block_size": BLOCKS,
        "dense": BLOCKS,
        "distinct_numbers": BLOCKS,
        "keys_of": BLOCKS,
        "sampled_places": BLOCKS,
        "is_source": "how fit tells sources from arrays",
        "sample_numbers": BLOCKS,
        "slices": BLOCKS,
        "survey": BLOCKS,
    },
    "saved": {
        "FORMAT": METHOD,
        "describe": "what the command line says of a file",
        "load": "kernelpursuit.load",
        "save": METHOD,
    },
    "search": {"LengthScaleSearch": "kernelpursuit.LengthScaleSearch"},
    "stopping": {
        "ALL_LEARNED": RULES,
        "ALL_PICKED": RULES,
        "BY_NAME": BY_NAME,
        "NoAtoms": "the rule of a fit that has found nothing to learn",
        "as_rule": BY_NAME,
        "count_atoms": RULES,
        "tell_size": RULES,
    },
    "updates": {"BY_NAME": BY_NAME, "Update": "base of those that there are; none of your own", "as_update": BY_NAME},
}


def listed():
    """Names of the reference, by module."""
    found = {}
    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for module, names in BLOCK.findall(page.read_text()):
            found.setdefault(module, []).extend(names.split())
    return found


LISTED = listed()
NAMES = [(module, name) for module, names in LISTED.items() for name in names]


def module_of(room):
    return "kernelpursuit" if room == "kernelpursuit" else f"kernelpursuit.{room}"


def test_pages_are_read():
    pages = [page for page in (ROOT / "docs" / "reference").glob("*.md") if "autosummary::" in page.read_text()]
    blocks = sum(page.read_text().count(".. autosummary::") for page in pages)
    assert len(pages) > 10
    assert blocks == sum(len(BLOCK.findall(page.read_text())) for page in pages)
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[f"{module}.{name}" for module, name in NAMES])
def test_names_are_described_by_an_example(module, name):
    found = getattr(importlib.import_module(module), name)
    own = found.__dict__.get("__doc__") if inspect.isclass(found) else found.__doc__
    assert own, "no docstring"
    # What is made from an estimator, and not by its own name, shows that where it is made.
    makers = [getattr(found, key).__doc__ for key in dir(found) if key.startswith("from_")]
    assert any(">>>" in text for text in (own, *makers)), "no example"
    if inspect.isclass(found):
        bare = [
            key
            for key, value in vars(found).items()
            if not key.startswith("_") and (callable(value) or isinstance(value, (property, classmethod, staticmethod)))
            if not inspect.getdoc(getattr(found, key))
        ]
        assert not bare, f"methods without a docstring: {bare}"


@pytest.mark.parametrize("room", ["kernelpursuit", *ROOMS])
def test_every_name_of_a_room_is_listed_or_for_others(room):
    module = module_of(room)
    public, inside = set(LISTED.get(module, ())), FOR_OTHER_ROOMS.get(room, {})
    offered = set(importlib.import_module(module).__all__)
    assert offered - public - inside.keys() == set(), "in __all__, but neither in docs/reference nor listed here"
    assert public <= offered, "in docs/reference, but not in __all__"
    assert inside.keys() <= offered - public, "listed here, but not offered or public"
    assert all(inside.values())


def test_every_room_of_the_reference_is_looked_at():
    assert LISTED.keys() <= {module_of(room) for room in ("kernelpursuit", *ROOMS)}


def test_every_room_is_looked_at():
    rooms = {name.name for name in pkgutil.iter_modules(kernelpursuit.__path__) if not name.name.startswith("_")}
    assert rooms == {*ROOMS, *INSIDE}


def test_presets_have_pages():
    assert all((ROOT / "docs" / "systems" / f"{one.name}.md").is_file() for one in presets.ALL)
