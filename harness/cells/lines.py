"""Lines of a file for the first of what facts count, which know its row alone."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

import numpy as np

from .. import readers
from ..config import DatasetEntry, RunEntry
from ..config.cells import Cell
from ..core.arrow import string_column
from ..errors import HarnessError, HarnessWarning
from ..guard.first import EXAMPLES, First
from ..guard.part import Part
from ..guard.sweep import GuardedCell, Places
from ..guard.watch import shares
from ..readers import Source
from ..readers.format import Kind
from ..readers.lines import find_lines
from .again import qrels_of


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


def places_in(cells: Iterable[Cell]) -> FilePlaces:
    """Return what looks up places in the files of cells, which are read again for it."""
    return FilePlaces({(cell.dataset_entry.path, cell.run_entry.path): cell for cell in cells})


class FilePlaces(Places):
    """Looks up what is in the files of a sweep.

    Parameters
    ----------
    cells : mapping of (str, str) to Cell
        By the files of dataset and run.
    """

    def __init__(self, cells: Mapping[tuple[str, str], Cell]) -> None:
        self.cells = cells

    def queries(self, path: str, qids: Sequence[str]) -> dict[str, str]:
        """Return the place of the first row of each query in a dataset."""
        cell = next(cell for (dataset, _), cell in self.cells.items() if dataset == path)
        qrels = qrels_of(cell)
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
        add_lines(first, Source(path), cell.dataset_entry, tuple(first))
        return {qid: one.at(path) for qid, one in first.items()}

    def scores(self, cell: GuardedCell, low: float, high: float) -> tuple[int, First]:
        """Return how many of a run's scores are below or above these, and the first."""

        def outside(part: Part) -> tuple[int, First]:
            scores = part.run.scores
            rows = np.flatnonzero((scores < low) | (scores > high))
            some = rows[:EXAMPLES]
            said = (f"{score:.15g}" for score in scores[some].tolist())
            return rows.size, part.documents(some, said)

        return self._outside(cell, outside)

    def spans(self, cell: GuardedCell, low: float, high: float) -> tuple[int, First]:
        """Return in how many queries scores span less or more, and the first."""

        def outside(part: Part) -> tuple[int, First]:
            least, most = part.run.extremes
            answered, span = np.flatnonzero(part.lengths > 0), most - least
            several = part.lengths[answered] > 1  # one document spans nothing
            which = np.flatnonzero(several & ((span < low) | (span > high)))
            some = part.queries(answered[which])
            names = zip(some.names, span[which].tolist(), strict=False)
            return which.size, some._replace(names=tuple(f"{q} ({one:.3g})" for q, one in names))

        return self._outside(cell, outside)

    def _outside(
        self, guarded: GuardedCell, outside: Callable[[Part], tuple[int, First]]
    ) -> tuple[int, First]:
        """Return how many there are in a run, read again,, and the first, with its line."""
        cell = self.cells[guarded.dataset, guarded.run]
        qrels, entry = qrels_of(cell), cell.run_entry
        n, found = 0, {"": First()}
        if qrels is None:
            return n, found[""]
        with contextlib.suppress(HarnessError), warnings.catch_warnings():
            warnings.simplefilter("ignore", HarnessWarning)
            run = readers.read_run(entry.path, dataset=qrels, **entry.options())
            n, found[""] = outside(Part(run, qrels, shares(run.qids, qrels.qids), 0, 0))
            add_lines(found, Source(entry.path), entry, found)
        return n, found[""]
