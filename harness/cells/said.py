"""What was said of a cell's files, kept without the names that they go by."""

from __future__ import annotations

from collections.abc import Iterable

from ..config.cells import Cell
from ..guard.said import Said


def without_names(warnings: Iterable[Said], cell: Cell) -> list[Said]:
    """Return warnings with a placeholder where they name the cell or a file of it at the start.

    Values follow from bytes, whatever a file or a run is called; so must what is kept with them.
    """
    names = sorted(_names(cell).items(), key=lambda one: -len(one[1]))
    pairs = [(f"{name}:", f"{{{what}}}:") for what, name in names]
    return [one._replace(text=_begun_with(one.text, pairs)) for one in warnings]


def with_names(warnings: Iterable[Said], cell: Cell) -> list[Said]:
    """Return what :func:`without_names` made, with this cell's names."""
    names = [(f"{{{what}}}:", f"{name}:") for what, name in _names(cell).items()]
    return [one._replace(text=_begun_with(one.text, names)) for one in warnings]


def _names(cell: Cell) -> dict[str, str]:
    group = cell.dataset_entry.group
    names = {"dataset": cell.dataset_entry.path, "run": cell.run_entry.path}
    names["run on dataset"] = f"{cell.run} on {cell.dataset}"
    return {**names, "group": group} if group else names


def _begun_with(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    for old, new in pairs:
        if text.startswith(old):
            return new + text.removeprefix(old)
    return text
