"""Lines of a file for the first of what facts count, which know its row alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

import numpy as np

from .. import readers
from ..config import DatasetEntry, RunEntry
from ..config.cells import Cell
from ..core.arrow import string_column
from ..errors import HarnessError
from ..guard.first import First
from ..readers import Source
from ..readers.format import Kind
from ..readers.lines import find_lines
from .elsewhere import qrels_of


def add_lines(
    first: dict[str, First],
    source: Source,
    entry: DatasetEntry | RunEntry,
    among: Container[str] | None = None,
) -> None:
    """Put the line of each row where it is known; its number, where rows are not lines.

    Parameters
    ----------
    first : dict of str to First
        Of facts, by rule; changed in place.
    source : Source
        Their file, after it was read.
    entry : DatasetEntry or RunEntry
        How it was read.
    among : collection of str, optional
        Rules for which the file is read again, up to the line. Without it, lines are those in
        the file's beginning, which is at hand, or in all of a small file.
    """
    rows = {
        rule: one
        for rule, one in first.items()
        if one.row >= 0 and (among is None or rule in among)
    }
    if not rows:
        return
    kind: Kind = "qrels" if isinstance(entry, DatasetEntry) else "run"
    with contextlib.suppress(HarnessError):
        form = readers.FORMATS[entry.format or readers.guess_format(source, kind)]
        is_data = form.is_data(source) if form.is_data is not None else None
        if is_data is not None:
            wanted = {one.row: one.words for one in rows.values()}
            found = find_lines(source, wanted, is_data, whole=among is not None)
            for rule, one in rows.items():
                first[rule] = one._replace(line=found.get(one.row, 0))
        elif form.has_rows:
            for rule, one in rows.items():
                first[rule] = one._replace(line=one.row + 1, is_row=True)


def places_in(cells: Iterable[Cell]) -> Callable[[str, Sequence[str]], Mapping[str, str]]:
    """Return ``where(path, qids)``: the place of the first row of queries in a dataset.

    Its file is read again for it.
    """
    datasets = {cell.dataset_entry.path: cell for cell in cells}

    def where(path: str, qids: Sequence[str]) -> dict[str, str]:
        qrels = qrels_of(datasets[path])
        if qrels is None:
            return {}
        at = qrels.place(string_column(qids))
        names = [qids[one] for one in np.flatnonzero(at >= 0).tolist()]
        rows = qrels.offsets[at[at >= 0]]
        rows = rows if qrels.order is None else qrels.order[rows]
        first = {
            name: First((name,), row, (name,))
            for name, row in zip(names, rows.tolist(), strict=True)
        }
        add_lines(first, Source(path), datasets[path].dataset_entry, tuple(first))
        return {qid: one.at(path) for qid, one in first.items()}

    return where
