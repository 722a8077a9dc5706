"""Who a cell is: a run on a dataset, and what placeholders captured."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, total_ordering
from typing import Any

Columns = tuple[tuple[str, str], ...]
"""Captured columns and their values."""


def pairs(columns: Iterable[tuple[str, str]]) -> str:
    """Return columns as text: ``fold=1 seed=2``."""
    return " ".join(f"{name}={value}" for name, value in columns)


@total_ordering
@dataclass(frozen=True, eq=False)
class CellKey:
    """Identity of a cell: its dataset, its run and its captured columns.

    Columns keep the order in which they were captured, which does not tell keys apart.

    >>> key = CellKey("fold1", "gbrt", (("fold", "1"), ("seed", "2")))
    >>> str(key), str(key.without(["fold"]))
    ('gbrt on fold1, fold=1, seed=2', 'gbrt on fold1, seed=2')
    >>> key == CellKey("fold1", "gbrt", (("seed", "2"), ("fold", "1")))
    True
    """

    dataset: str
    run: str
    columns: Columns = ()

    @cached_property
    def _sorted(self) -> tuple[str, str, Columns]:
        return self.dataset, self.run, tuple(sorted(self.columns))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CellKey) and self._sorted == other._sorted

    def __lt__(self, other: CellKey) -> bool:
        return self._sorted < other._sorted

    def __hash__(self) -> int:
        return hash(self._sorted)

    def __str__(self) -> str:
        run = f"{self.run} on {self.dataset}" if self.dataset else self.run
        return ", ".join((run, *map("=".join, self.columns)))

    @property
    def run_with_columns(self) -> str:
        """The run and its columns: ``gbrt fold=1 seed=2``."""
        return " ".join(filter(None, (self.run, pairs(self.columns))))

    def without(self, names: Collection[str]) -> CellKey:
        """Return the key without some columns."""
        columns = tuple(pair for pair in self.columns if pair[0] not in names)
        return CellKey(self.dataset, self.run, columns)


class Keyed:
    """Base of a cell, its row of the leaderboard, and its record."""

    dataset: Any
    run: Any
    columns: Any

    @property
    def key(self) -> CellKey:
        """Identity of the cell."""
        columns: Mapping[str, str] = self.columns
        return CellKey(self.dataset, self.run, tuple(columns.items()))
