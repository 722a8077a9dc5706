"""Files of datasets that a run's pattern takes for predictions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from .cells import PACKED, Cell

Loc = tuple[str | int, ...]
_OF_BOTH = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".jsonl", ".ndjson", ".json", ".npz")
"""Endings of what may hold grades and scores side by side."""


def taken(cells: Sequence[tuple[Cell, Loc]]) -> Iterator[tuple[Loc, str, str]]:
    """Yield the entries of runs that have a dataset's own file: where, what, and what to do.

    Of all cells of one entry and name, as in every fold, the first is named.
    """
    names = {_normal(cell.dataset_entry.path): cell.dataset for cell, _ in cells}
    wrong: dict[tuple[Loc, str], list[Cell]] = {}
    for cell, loc in cells:
        path = cell.run_entry.path
        if _normal(path) in names and not _may_be_both(path):
            wrong.setdefault((loc, cell.run), []).append(cell)
    for (loc, run), some in wrong.items():
        path = some[0].run_entry.path
        what = f"{path} is the file of dataset {names[_normal(path)]} itself, taken as run '{run}'"
        if len(some) > 1:
            what += f"; so in {len(some):,} cells"
        yield loc, what, _fix(run, some, [cell for cell, _ in cells if cell.run == run])


def _fix(run: str, some: Sequence[Cell], of_name: Sequence[Cell]) -> str:
    if not some[0].of_run:
        return "name the file of its predictions"
    quoted = run.replace("'", "''")
    exclude = f", or exclude it (where: {{run: '!{quoted}'}})" if len(some) == len(of_name) else ""
    return f"narrow the pattern{exclude}"


def _normal(path: str) -> str:
    return os.path.normpath(path)


def _may_be_both(path: str) -> bool:
    """Whether a file may hold grades and scores, by its ending.

    >>> _may_be_both("fold1/test.txt"), _may_be_both("all.csv.gz")
    (False, True)
    """
    name = PurePath(path)
    return (name.stem if name.suffix in PACKED else name.name).lower().endswith(_OF_BOTH)
