"""Small pieces of Markdown that the pages share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(lines: Sequence[Sequence[str]]) -> str:
    """A table; the first line is its head."""
    head, *rest = lines
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |"
        for line in (head, ["---"] * len(head), *rest)
    )


def listed(numbers: Iterable[int]) -> str:
    """Numbers in order, with commas."""
    return ", ".join(f"{number:,}" for number in sorted(numbers))


def span(ends: tuple[int, int]) -> str:
    """The least and the largest of some numbers, or the one that they are."""
    return " to ".join(f"{end:,}" for end in sorted(set(ends)))


def called(name: str) -> str:
    """A table or figure as the text calls it."""
    paper, kind, number = name.split("-")
    return f"{'KMP' if paper == 'kmp' else paper.capitalize()}, {kind} {number}"


def anchor(name: str) -> str:
    """Where its section begins on the page of its paper."""
    return called(name).lower().replace(",", "").replace(" ", "-")


def linked(name: str) -> str:
    """Its name, with a link to its section from another page."""
    return f"[{called(name)}]({name.split('-')[0]}.md#{anchor(name)})"
