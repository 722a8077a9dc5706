"""How lines of a YAML text are indented, and what a line could be indented like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import shorten

_DASHES = re.compile(r" *(?:- +)*")
_KEY = re.compile(r""""[^"]*" *:|'[^']*' *:|[^#\[{"'][^#]*?:( |$)|\{\w*\}.*:""")


def indent_of(line: str) -> int:
    """Return how many blanks a line begins with."""
    return len(line) - len(line.lstrip(" "))


def starts_with(line: str) -> str:
    """Return the blanks and dashes with which a line begins.

    >>> starts_with("  - - a: b")
    '  - - '
    """
    match = _DASHES.match(line)
    return match[0] if match else ""


def above_of(lines: list[str], line: int) -> int | None:
    """Return the nearest line above that holds something."""
    return next((n for n in range(line - 1, -1, -1) if lines[n].strip()), None)


def by(blanks: int) -> str:
    """Return a number of blanks in words.

    >>> by(1)
    'by 1 blank'
    """
    return f"by {blanks} blank{'s' * (blanks != 1)}"


def like(lines: list[str], indent: int, line: int) -> str:
    """Return an indentation in words, with a line that has it."""
    return f"{by(indent)} like line {line + 1} ({shorten(lines[line].strip(), 40)})"


def ways(lines: list[str], line: int, kind: str) -> str:
    """Return which open blocks above a line it can be indented like: the next on either side.

    >>> ways(["a:", "  b:", "    c: 1", "   d: 2"], 3, "key")
    'indent it by 4 blanks like line 3 (c: 1), or by 2 blanks like line 2 (b:)'
    """
    found = levels(lines, line, kind) or levels(lines, line)
    here = indent_of(lines[line])
    deeper = [level for level in found if level[0] > here][-1:]
    outer = [level for level in found if level[0] < here][:1]
    said = [like(lines, *level) for level in deeper + outer]
    return f"indent it {', or '.join(said)}" if said else ""


def levels(lines: list[str], line: int, kind: str = "") -> list[tuple[int, int]]:
    """Return where the blocks that are open above a line are indented, the deepest first.

    Parameters
    ----------
    lines : list of str
    line : int
        From 0.
    kind : {"", "key", "-"}
        Only those of keys, or of entries.

    Returns
    -------
    list of (int, int)
        The column, and a line that begins there.
    """
    found: list[tuple[int, int]] = []
    least = 1 << 30
    for above in range(line - 1, -1, -1):
        for indent, here in _starts(lines[above]):
            if indent < least:
                least = indent
                if kind in ("", here):
                    found.append((indent, above))
        if least == 0:
            break
    return found


def _starts(line: str) -> Iterator[tuple[int, str]]:
    """Yield the columns at which a line's key and dashes stand, from right to left."""
    start = starts_with(line)
    if _KEY.match(line[len(start) :]):
        yield len(start), "key"
    for dash in reversed([n for n, sign in enumerate(start) if sign == "-"]):
        yield dash, "-"
