"""What a file of tables may be: beyond that, looking for them would take minutes and more."""

from __future__ import annotations

import re

SIZE = 4 << 20
CELL = {".tex": 2000, ".ltx": 2000}
"""Characters of one cell in LaTeX."""
OTHER_CELL = 12_000
COLUMNS = 1000
DEPTH = 100
EXPANDED = 100_000
"""Characters that macros may make of one cell, those that other macros take in counted too."""
_SEPARATORS = {
    ".tex": r"&|\\\\", ".ltx": r"&|\\\\", ".md": r"\|", ".markdown": r"\|", ".csv": "[,;\t]",
    ".tsv": "\t",
}  # fmt: skip


class BeyondError(Exception):
    """Macros make more of a cell than is read; the text says where."""


def beyond(text: str, suffix: str) -> str:
    """Return what of a text is more than a paper has; nothing where all is within the limits.

    At most :data:`SIZE` characters, :data:`COLUMNS` columns, :data:`OTHER_CELL` characters in one
    cell (in LaTeX :data:`CELL`), and in LaTeX braces :data:`DEPTH` deep. HTML is
    read in one pass, and has the first alone.

    >>> beyond("a;" * 3000, ".csv"), beyond("a,b", ".csv")
    ('line 1 has more than 1,000 columns', '')
    """
    if len(text) > SIZE:
        return f"it has more than {SIZE:,} characters"
    if suffix not in _SEPARATORS:
        return ""
    for number, line in enumerate(text.split("\n"), 1):
        cells = re.split(_SEPARATORS[suffix], line)
        if len(cells) > COLUMNS:
            return f"line {number} has more than {COLUMNS:,} columns"
        if max(map(len, cells)) > (most := CELL.get(suffix, OTHER_CELL)):
            return f"line {number} has a cell of more than {most:,} characters"
    if suffix in CELL and (deep := _deep(text)):
        return f"line {deep} has braces more than {DEPTH} inside each other"
    return ""


def _deep(text: str) -> int:
    """Return the line where braces are too deep; 0 where they are not."""
    depth = 0
    for sign in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        depth = max(depth + (sign[0] == "{") - (sign[0] == "}"), 0)
        if depth > DEPTH:
            return text.count("\n", 0, sign.start()) + 1
    return 0
