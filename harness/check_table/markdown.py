"""Tables of a Markdown file: rows of cells between bars."""

from __future__ import annotations

import re

from . import html
from .grid import Cell, Grid, grid_of
from .inline import pieces, unescaped

_DIVIDER = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_BAR = re.compile(r"(?<!\\)\|")


def grids(text: str) -> list[Grid]:
    """Return the tables of a Markdown file, in order, with those in HTML."""
    lines = text.split("\n")
    found, at, since = [], 1, 0
    while at < len(lines):
        is_divider = "|" in lines[at] and _DIVIDER.fullmatch(lines[at]) is not None
        if not is_divider or "|" not in lines[at - 1]:
            at += 1
            continue
        start, end = at - 1, at + 1
        while end < len(lines) and "|" in lines[end] and lines[end].strip():
            end += 1
        rows = [_row(lines[place], place + 1) for place in (start, *range(at + 1, end))]
        grid = grid_of(
            rows, 1, start + 1, _title(lines, since, start), "\n".join(lines[since:end]),
            caption=" ".join(lines[since:start]),
        )  # fmt: skip
        found += [grid] if grid else []
        at = since = end
    return sorted([*found, *html.grids(text)], key=lambda grid: grid.line)


def _row(line: str, number: int) -> list[Cell]:
    inner = line.strip()
    inner = inner.removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [Cell(pieces(_unescaped(part)), number) for part in _BAR.split(inner)]


def _unescaped(text: str) -> str:
    """Return a cell's text with entities replaced that are no tags."""
    kept = text.replace("&lt;", "\\<").replace("&gt;", "\\>").replace("&amp;", "&")
    return unescaped(kept)


def _title(lines: list[str], start: int, end: int) -> str:
    """Return the nearest heading above a table."""
    for line in reversed(lines[start:end]):
        if (match := re.fullmatch(r"\s*#+\s*(.*?)\s*#*\s*", line)) is not None:
            return match[1]
    return ""
