"""Comparisons as JSON lines: one comparison a line."""

from __future__ import annotations

from ..core.comparison import Comparisons
from ..core.comparison_rows import comparison_rows
from ..escaping import in_json
from .cells import plain


def render(found: Comparisons) -> str:
    """Return a line for each comparison, with the columns of ``significance.csv``; NaN is null."""
    rows = map(plain, comparison_rows(found))
    return "".join(in_json(row) + "\n" for row in rows)
