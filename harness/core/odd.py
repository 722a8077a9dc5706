"""Rows of a file that are not as the others, counted."""

from __future__ import annotations

from typing import NamedTuple


class Odd(NamedTuple):
    """Rows that are not as the others: how many, of how many queries, and the first of them.

    `row` is its position in the file, from 0, or -1 where it is not known; `words` are its qid,
    and its docno where that matters.
    """

    rows: int = 0
    queries: int = 0
    row: int = -1
    words: tuple[str, ...] = ()

    def more(self, later: Odd) -> Odd:
        """Return these and later ones."""
        first = later if self.row < 0 else self
        return Odd(self.rows + later.rows, self.queries + later.queries, first.row, first.words)

    def after(self, rows: int) -> Odd:
        """Return them with their place in a file that has so many rows before."""
        return self if self.row < 0 else self._replace(row=self.row + rows)


NOTHING = Odd()
"""All rows are as the others."""
