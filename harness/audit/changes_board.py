"""A leaderboard as it is compared with another one: rows, metrics, values, how exactly known."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..core.names import parse
from ..core.systems import Repeated, of_systems
from ..errors import InputError, Problem, UnknownNameError
from ..experiment import results as results


@dataclass(frozen=True, order=True)
class Key:
    """What tells a row from the others: dataset, run, and columns such as ``seed``."""

    dataset: str
    run: str
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The row without its dataset: ``gbrt seed=1``."""
        return " ".join([self.run, *(f"{name}={value}" for name, value in self.columns)])

    def __str__(self) -> str:
        return f"{self.name} on {self.dataset}" if self.dataset else self.name


@dataclass(frozen=True, eq=False)
class Row:
    """One row of a leaderboard.

    Parameters
    ----------
    values : mapping of str to float
        Summaries by metric; NaN where there is none.
    counts : mapping of str to int
        Queries, missing ones, ties, where they are known.
    entry : Entry, optional
        With the values of each query; None for a CSV.
    captured : mapping of str to str, optional
        What placeholders captured, of a row that is one cell of a folder.
    repetitions : int, optional
        Of a row that stands for several (seeds), where they are known.
    """

    values: Mapping[str, float]
    counts: Mapping[str, int] = field(default_factory=dict)
    entry: Entry | None = None
    captured: Mapping[str, str] | None = None
    repetitions: int | None = None


@dataclass(frozen=True, eq=False)
class Board:
    """One side of a comparison.

    Parameters
    ----------
    name : str
        Folder or file.
    metrics : mapping of str to Metric or None
        By the name that both sides share; None for a name that is none of ours.
    rows : mapping of Key to Row
    slack : mapping of str to float
        By how much a value may be off by rounding: half a unit of the last digit printed; 0
        where every digit is there.
    manifest : mapping, optional
        Of a folder.
    notes : tuple of str
        What was taken for what.
    """

    name: str
    metrics: Mapping[str, Metric | None]
    rows: Mapping[Key, Row]
    slack: Mapping[str, float] = field(default_factory=dict)
    manifest: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that tell rows apart, besides dataset and run."""
        return tuple(dict.fromkeys(name for key in self.rows for name, _ in key.columns))

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets, in order."""
        return tuple(dict.fromkeys(key.dataset for key in self.rows))

    def rekeyed(self, new: Callable[[Key], Key]) -> Board:
        """Return the board with other keys in place of its own."""
        return replace(self, rows={new(key): row for key, row in self.rows.items()})


def canonical(name: str) -> tuple[str, Metric | None]:
    """Return a metric under its own name, or a name that is none of ours as it stands.

    >>> import harness.metrics
    >>> canonical("NDCG@10")[0], canonical("p@5")[0], canonical("ndcg_cut_5")[0]
    ('ndcg@10', 'P@5', 'ndcg@5')
    >>> canonical("my metric"), canonical("P")[1]
    (('my metric', None), None)
    """
    for spelling in (name, name[:1].upper() + name[1:], name.lower()):
        try:
            found = parse(spelling)
        except (UnknownNameError, ValueError):
            continue
        if len(found) == 1:
            return str(found[0]), found[0]
    return name, None


def matched(old: Board, new: Board) -> tuple[Board, Board, list[str]]:
    """Return both boards with keys that can be the same, and what was taken to be so.

    Columns that only one board has do not tell rows apart, where the others do. A board without
    datasets is of the other one's, where that has only one.
    """
    both = set(old.columns) & set(new.columns)
    sides = [_without(board, both) for board in (old, new)]
    notes = [
        f"column '{name}' is in one of them only, and not looked at"
        for name in dict.fromkeys([*old.columns, *new.columns])
        if name not in both and all(name not in side.columns for side in sides)
    ]
    for place, other in ((0, 1), (1, 0)):
        board, names = sides[place], sides[other].datasets
        if board.datasets == ("",) and len(names) == 1 and names != ("",):
            sides[place] = board.rekeyed(partial(replace, dataset=names[0]))
            notes.append(f"{board.name} names no dataset; taken to be on {names[0]}")
    return sides[0], sides[1], notes


def _without(board: Board, shared: set[str]) -> Board:
    """Return a board whose keys have the columns `shared` alone, where that leaves them unique."""

    def sorted_columns(key: Key, names: Collection[str]) -> Key:
        return replace(key, columns=tuple(sorted(one for one in key.columns if one[0] in names)))

    found = board.rekeyed(lambda key: sorted_columns(key, shared))
    if len(found.rows) < len(board.rows):
        found = board.rekeyed(lambda key: sorted_columns(key, board.columns))
    return found


def renamed(name: str, names: Sequence[tuple[str, str]]) -> str:
    """Return what a run, dataset or metric of OLD is called in NEW.

    >>> renamed("BM25", [("BM25", "bm25")]), renamed("lsi", [("BM25", "bm25")])
    ('bm25', 'lsi')
    """
    return next((new for old, new in names if old == name), name)


Names = Sequence[tuple[str, str]]


def read_folder(folder: Path, names: Names = (), *, cells: bool = False) -> Board:
    """Read what ``harness run`` wrote, under other names if given.

    With `cells`, a row is a cell (a fold, a seed) also where the leaderboard has a row a system.
    """
    study = results.read(folder).study
    board, are_cells = study.board, cells or not study.board.summary
    if not are_cells:  # the intervals of the leaderboard are not compared, and take long
        board = of_systems(board, lambda system, metric: (math.nan, math.nan))
    rows: dict[Key, Row] = {}
    for entry in board.entries:
        columns = tuple(entry.columns.items())
        key = Key(renamed(entry.dataset, names), renamed(entry.run, names), columns)
        if key in rows:
            what = f"two rows are called {key}"
            fix = "give each a name of its own by --name"
            raise InputError(Problem(str(folder), what, fix=fix))
        system = entry.system if isinstance(entry, Repeated) else None
        rows[key] = Row(
            {renamed(name, names): value for name, value in entry.summary.items()},
            entry.evaluation.counts.as_dict(),
            entry,
            entry.columns if are_cells else None,
            None if system is None else len(system.entries),
        )
    metrics = {renamed(str(metric), names): metric for metric in board.metrics}
    return Board(str(folder), metrics, rows, manifest=study.manifest)
