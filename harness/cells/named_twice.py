"""Files that stand under several names of runs in a config, told without reading them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..config.cells import Cell
from ..guard.finding import Finding
from ..guard.registry import finding

_SAME_VALUES = {"format"}
"""Options of an entry that do not change which rows and columns are taken."""


def of_cells(cells: Iterable[Cell]) -> Iterator[Finding]:
    """Yield each file that is several runs on one dataset, with their names.

    One run whose file holds the queries of several datasets is no such file; nor are runs that
    take different columns of a table, or different ones of its duplicates.

    Parameters
    ----------
    cells : iterable of Cell
        All of them, those that could not be read too.
    """
    same: dict[tuple[str, str, str], dict[str, None]] = {}
    for cell in cells:
        options = cell.run_entry.options().items()
        read_by = repr(sorted((name, one) for name, one in options if name not in _SAME_VALUES))
        key = cell.dataset, cell.run_entry.path, read_by
        same.setdefault(key, {})[_name(cell)] = None
    found = {(path, tuple(names)): None for (_, path, _), names in same.items()}
    for path, names in found:
        if len(names) > 1:
            what = f"{len(names):,} names of runs stand for this one file"
            yield finding("same-file-twice", path, what, len(names), names)


def _name(cell: Cell) -> str:
    """Return what a run is called: ``gbrt seed=2``."""
    own = (f" {name}={value}" for name, value in cell.of_run.items() if name in cell.columns)
    return cell.run + "".join(own)
