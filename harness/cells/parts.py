"""What datasets of a config are parts of one: folds, told by placeholders or by names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from ..config.cells import Cell
from ..core.arrow import cast, unique
from ..core.pooling import whole_name

_FOLD = re.compile("fold|split|part", re.IGNORECASE)
"""Names of placeholders whose values are parts of one dataset."""
_SPLIT = re.compile("split", re.IGNORECASE)
"""Those whose values may be train, vali and test where another says the fold."""
_NUMBERS = ("k", "n", "i")
"""Those that are such where the values are numbers."""
_FOLD_NAME = re.compile(r"(.*(?:fold|split|part)[-_ ]?)([0-9]+)(.*)", re.IGNORECASE | re.DOTALL)
"""Names of parts that a config lists one by one."""


class Part(NamedTuple):
    """A part of a dataset: what all of its parts share, and which one it is."""

    whole: str
    name: str


def part_of(cell: Cell, pooled: Sequence[str]) -> Part | None:
    """Return which part of what a cell's dataset is; None where it is whole.

    Told by the placeholders of its entry, as {fold}, or {k} where it is a number and
    the dataset one for learning to rank; or by a name
    that is written out, such as fold1. Where others are captured beside, as {collection}, each of
    their values is a dataset of its own.
    """
    names = [name for name in cell.of_dataset if _is_part(cell, name, pooled)]
    if any(not _SPLIT.search(name) for name in names):
        names = [name for name in names if name in pooled or not _SPLIT.search(name)]
    if names:
        others = [one for name, one in cell.of_dataset.items() if name not in names]
        which = [cell.of_dataset[name] for name in names]
        return Part(" ".join([cell.dataset_key, *others]), " ".join(which))
    written = _FOLD_NAME.fullmatch(cell.dataset) if not cell.of_dataset else None
    return None if written is None else Part(written[1] + written[3], written[2])


def pooled_into(cell: Cell, pooled: Sequence[str]) -> str:
    """Return what a cell's dataset is pooled into with others, nothing where it is not.

    `pooled` are the placeholders that the config's summary pools.
    """
    if not any(name in cell.of_dataset for name in pooled):
        return ""
    return whole_name(cell.dataset_key, cell.columns, pooled)


class PooledQueries:
    """Whether datasets that are pooled share queries, as they become known one by one.

    Attributes
    ----------
    shared : bool
        Whether two of those that were added do.
    """

    def __init__(self, pooled: Sequence[str]) -> None:
        self.shared = False
        self._pooled = pooled
        self._parts: dict[str, dict[str, pa.Array]] = {}

    def add(self, cell: Cell, qids: pa.Array) -> None:
        """Add the queries of a cell's dataset; nothing is done where they are known."""
        whole = pooled_into(cell, self._pooled)
        parts = self._parts.setdefault(whole, {})
        if whole and cell.dataset_entry.path not in parts:
            parts[cell.dataset_entry.path] = cast(qids, pa.large_string())
            every = pa.concat_arrays([*parts.values()])
            self.shared = self.shared or len(unique(every)) < len(every)


def _is_part(cell: Cell, name: str, pooled: Sequence[str]) -> bool:
    numbered = name in _NUMBERS and cell.of_dataset[name].isdecimal()
    is_letor = cell.dataset_entry.format == "letor"
    return name in pooled or bool(_FOLD.search(name)) or (numbered and is_letor)
