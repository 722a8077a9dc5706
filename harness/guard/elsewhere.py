"""Which other dataset of a sweep predictions fit, that do not fit their own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..config.cells import Cell
from ..config.model import DatasetEntry, RunEntry
from ..core.ragged import Array
from ..errors import Finding, HarnessError
from ..readers.columns import numbers_of, read_columns
from ..readers.npy import NoArrayError, array_of
from ..readers.predictions import RUN as SCORES
from ..readers.source import Source
from . import lost_rows as counts
from . import row_order as predictions
from .facts import RunFacts
from .lines import add_lines, reading_again
from .parts import First
from .row_order import Fit, Rows
from .sweep import GuardedCell, other_folds


@dataclass(frozen=True, eq=False)
class Held:
    """A dataset that predictions are held against.

    Parameters
    ----------
    name, path : str
    n_rows : int
    rows : callable
        Reads them where they are not at hand; None where the file's rows are not the dataset's.
    """

    name: str
    path: str
    n_rows: int
    rows: Callable[[], Rows | None]

    def __str__(self) -> str:
        return self.name if self.name == self.path else f"{self.name} ({self.path})"


class Elsewhere:
    """All datasets of a sweep.

    Parameters
    ----------
    datasets : iterable of Held
    most : int, optional
        Files that are read for it; all by default.
    """

    def __init__(self, datasets: Iterable[Held], most: int | None = None) -> None:
        self.datasets = {one.path: one for one in datasets}
        self.most = most
        self._read: dict[str, Rows | None] = {}

    def know(self, one: Held) -> None:
        """Add a dataset, where it is not known."""
        self.datasets.setdefault(one.path, one)

    def odd(
        self, odd: Iterable[tuple[Cell, RunFacts]], cells: Iterable[GuardedCell]
    ) -> Iterator[tuple[Cell, Finding]]:
        """Yield what predictions are that do not fit their own rows, with the cell.

        `cells` are all of the sweep: how the same model's predictions fit its other folds, or
        these in another order, tells whether it is a random baseline.
        """
        every = [(cell, run, self._swapped(cell, run)) for cell, run in odd]
        names = {str(held): held.name for held in self.datasets.values()}
        swapped = {
            _files(cell): (names[one.other], one.fit) for cell, _, one in every if one is not None
        }
        folds = other_folds(cells, swapped)
        for cell, run, one in every:
            if one is not None:
                yield cell, one.finding
                continue
            others = folds.get(_files(cell), ())
            for found in predictions.of_order(cell.run_entry.path, cell.dataset, run, others):
                yield cell, found

    def _swapped(self, cell: Cell, run: RunFacts) -> predictions.Swapped | None:
        """Return the other dataset of as many rows that predictions fit."""
        place, dataset = cell.run_entry.path, cell.dataset_entry.path
        n_rows = self.datasets[dataset].n_rows
        others = dict(self._of(n_rows, dataset))
        read = numbers(place) if others else None
        if read is None:
            return None
        own, at = run.order.fit or Fit(0, 0.0, 0), partial(_at, cell.run_entry)
        own_rows = self._rows(self.datasets[dataset])
        return predictions.of_others(place, cell.dataset, own, read[0], others, own_rows, at)

    def count(self, cell: Cell) -> Finding | None:
        """Return where predictions fit that are more or fewer than rows."""
        place, dataset = cell.run_entry.path, cell.dataset_entry.path
        read = numbers(place)
        if read is None:
            return None
        scores, has_no_end = read
        rows = self._rows(self.datasets[dataset]) if dataset in self.datasets else None
        others = dict(self._of(scores.size, dataset))
        at, at_rows = (partial(_at, entry) for entry in (cell.run_entry, cell.dataset_entry))
        return counts.of_count(place, cell.dataset, rows, scores, others, at, at_rows, has_no_end)

    def _of(self, n_rows: int, dataset: str) -> Iterator[tuple[str, Rows]]:
        """Yield the other datasets of so many rows."""
        for held in self.datasets.values():
            if held.path != dataset and held.n_rows == n_rows:
                rows = self._rows(held)
                if rows is not None:
                    yield str(held), rows

    def _rows(self, held: Held) -> Rows | None:
        if held.path not in self._read:
            if self.most is not None and len(self._read) >= self.most:
                return None
            self._read[held.path] = held.rows()
        return self._read[held.path]


def _files(cell: Cell) -> tuple[str, str]:
    return cell.dataset_entry.path, cell.run_entry.path


def _at(entry: DatasetEntry | RunEntry, rows: Sequence[int]) -> list[str]:
    """Return where some rows of a file are, which is read again up to the last of them."""
    first = {str(row): First(row=row) for row in rows}
    with contextlib.suppress(HarnessError, OSError):
        add_lines(first, Source(entry.path), entry, tuple(first))
    return [one.at(entry.path) if one.line else "" for one in first.values()]


def numbers(path: str) -> tuple[Array, bool] | None:
    """Return the numbers of a file of scores, and whether the last line of a text has no end.

    However many they are; None where some are no numbers.
    """
    with contextlib.suppress(NoArrayError, ValueError, OSError), reading_again():
        source = Source(path)
        if path.endswith(".npy"):
            return np.asarray(array_of(source.read()), np.float64).ravel(), False
        tables = read_columns(source, SCORES)
        found: Array = np.concatenate([numbers_of(table, "score") for table in tables])
        return found, bool(source.unfinished)
    return None
