"""A cell, one run on one dataset: which ones `where` keeps, and which of a grid have no file."""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import SHOWN, UnknownNameError, did_you_mean, near_names
from ..reports.select import matched, pattern_problems
from .patterns import Pattern, natural
from .yaml_file import Loc

if TYPE_CHECKING:
    from .model import DatasetEntry, RunEntry

DATASET = "dataset"
"""The placeholder for each dataset's name in a run's path."""
Where = Mapping[str, Sequence[str]]
"""Patterns by column, as ``{"seed": ["1", "2"], "model": ["!random*"]}``."""
_WITH_GRADES_AND_SCORES = re.compile(
    r"\.(csv|tsv|parquet|arrow|feather|jsonl|ndjson|json|npz)(\.\w+)?$", re.I
)


@dataclass(frozen=True)
class Cell:
    """One run on one dataset.

    `dataset` and `run` are their names with placeholders filled in, the keys those of the config,
    the entries have paths of files, ready to open. `of_dataset` and `of_run` are what placeholders
    captured: those of the dataset's path, and those of the run's alone. A run's grid goes `across`
    datasets if its path has ``{dataset}``.
    """

    dataset: str
    run: str
    dataset_entry: DatasetEntry
    run_entry: RunEntry
    dataset_key: str
    run_key: str
    of_dataset: Mapping[str, str]
    of_run: Mapping[str, str]
    across: bool = False

    @property
    def columns(self) -> dict[str, str]:
        """What was captured, without a placeholder that is the whole of the run's name."""
        return _columns(self.run_key, {**self.of_dataset, **self.of_run})


@dataclass(frozen=True)
class FileEntry:
    """Stands for an entry of a config, for a file that no config names."""

    path: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    groups = None

    @property
    def format(self) -> str | None:
        """Name of the format; by default the one that the file looks like."""
        return self.settings.get("format")

    def options(self) -> dict[str, Any]:
        """Return the reader's options that are set."""
        return {name: value for name, value in self.settings.items() if value is not None}


def cell_of_files(
    qrels: str, run: str, of_qrels: Mapping[str, Any], of_run: Mapping[str, Any],
    names: tuple[str, str] | None = None,
) -> Cell:  # fmt: skip
    """Return the cell of two files that no config names, with the options of their readers.

    `names` are those of the dataset and the run; their paths by default.
    """
    dataset_entry: Any = FileEntry(qrels, of_qrels)
    run_entry: Any = FileEntry(run, of_run)
    dataset, name = names or (qrels, run)
    return Cell(dataset, name, dataset_entry, run_entry, qrels, run, {}, {})


def columns_of(cell: Cell) -> dict[str, str]:
    """Return all by which a cell can be chosen: its names, and everything that was captured."""
    return {DATASET: cell.dataset, "run": cell.run, **cell.of_dataset, **cell.of_run}


def _columns(run_key: str, captured: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in captured.items() if run_key != f"{{{name}}}"}


class GridProblem(NamedTuple):
    """Something wrong with a grid, and its place in the config."""

    loc: Loc
    what: str
    fix: str = ""


@dataclass(frozen=True)
class Gap:
    """A cell of a grid without predictions."""

    dataset: str
    run: str
    columns: dict[str, str]

    @property
    def name(self) -> str:
        """What it is called: ``gbrt on letor-fold1 fold=1 seed=2``."""
        columns = "".join(f" {name}={value}" for name, value in self.columns.items())
        return f"{self.run} on {self.dataset}{columns}"


def missing(cells: Iterable[Cell]) -> list[Gap]:
    """Return the combinations that would complete each run's grid of cells.

    A run's grid is every dataset of one entry (every fold) x every value that each of the
    run's own placeholders takes in any of its cells. If the run's path has ``{dataset}``, it
    is every dataset of all the entries that it has cells on. Runs that belong to one dataset, as
    those of the rounds of a shared task, are no grid.
    """
    datasets: dict[str, dict[str, Cell]] = {}
    grids: dict[tuple[str, str, tuple[str, ...]], list[Cell]] = {}
    for cell in cells:
        datasets.setdefault(cell.dataset_key, {}).setdefault(cell.dataset_entry.path, cell)
        key = "" if cell.across else cell.dataset_key
        grids.setdefault((key, cell.run_key, tuple(cell.of_run)), []).append(cell)
    gaps = []
    for (_, run_key, names), grid in grids.items():
        if _are_own_runs(grid):
            continue
        there = {(_place(cell), *cell.of_run.values()) for cell in grid}
        axes = [sorted({cell.of_run[name] for cell in grid}, key=natural) for name in names]
        keys = dict.fromkeys(cell.dataset_key for cell in grid)
        for one in [one for key in keys for one in datasets[key].values()]:
            for values in itertools.product(*axes):
                if (_place(one), *values) not in there:
                    captured = {**one.of_dataset, **dict(zip(names, values, strict=True))}
                    run = Pattern(run_key).fill({**captured, DATASET: one.dataset})
                    gaps.append(Gap(one.dataset, run, _columns(run_key, captured)))
    return gaps


def _are_own_runs(grid: Sequence[Cell]) -> bool:
    """Return whether most datasets mostly have runs that no other dataset has."""
    places: dict[str, set[tuple[str, str]]] = {}
    for cell in grid:
        places.setdefault(cell.run, set()).add(_place(cell))
    own = Counter(next(iter(some)) for some in places.values() if len(some) == 1)
    runs = Counter(place for some in places.values() for place in some)
    return len(runs) > 1 and 2 * sum(2 * own[one] > runs[one] for one in runs) > len(runs)


def _place(cell: Cell) -> tuple[str, str]:
    return cell.dataset_key, cell.dataset_entry.path


def listed(gaps: Sequence[Gap], n_cells: int) -> str:
    """Return how many cells are missing, and the first of them, one a line."""
    more = [f"... and {len(gaps) - SHOWN} more"] if len(gaps) > SHOWN else []
    head = f"{len(gaps)} of {len(gaps) + n_cells} cells are missing:"
    return "\n  ".join([head, *(gap.name for gap in gaps[:SHOWN]), *more])


def shown(cells: Sequence[Cell]) -> str:
    """Return the cells that are missing; ``""`` if every grid is complete."""
    gaps = missing(cells)
    return listed(gaps, len(cells)) if gaps else ""


def reference(cells: Iterable[Cell], cell: Cell, name: str) -> Cell:
    """Return the cell of the run `name` on this cell's dataset, of the same seed if several.

    Raises UnknownNameError if there is none, or several.
    """
    cells = list(cells)
    here = [
        other for other in cells if other.run == name and other.dataset_entry == cell.dataset_entry
    ]
    same = [other for other in here if _outside_name(other) == _outside_name(cell)]
    if not here or (len(here) > 1 and not same):
        runs = sorted({other.run for other in cells if other.dataset == cell.dataset})
        what = f"has {len(here)} runs of that name" if here else f"has {', '.join(runs)}"
        raise UnknownNameError(
            f"reference={name}: no such run to compare {cell.run} to; dataset {cell.dataset} {what}"
        )
    return (same or here)[0]


def without_reference(cells: Iterable[Cell], name: str) -> Iterator[UnknownNameError]:
    """Yield why a run cannot be what the others are compared to, once for each dataset entry.

    A fold without its predictions does not count if other folds have some.
    """
    by_key: dict[str, dict[str, list[Cell]]] = {}
    for cell in cells:
        files = by_key.setdefault(cell.dataset_key, {})
        files.setdefault(cell.dataset_entry.path, []).append(cell)
    for files in by_key.values():
        with_run = [here for here in files.values() if any(one.run == name for one in here)]
        for here in with_run or files.values():
            others = [one for one in here if one.run == name] or here
            try:
                for cell in here:
                    reference(others, cell, name)
            except UnknownNameError as error:
                yield error
                break


def _outside_name(cell: Cell) -> dict[str, str]:
    """Return what was captured outside the run's name: its seed."""
    return {name: one for name, one in cell.of_run.items() if f"{{{name}}}" not in cell.run_key}


def kept(where: Where, seen: Sequence[Mapping[str, str]]) -> dict[str, frozenset[str]]:
    """Return the values of each column that are kept, given the columns of each cell.

    >>> cells = [{"model": "svm", "seed": "1"}, {"model": "random", "seed": "1"}]
    >>> sorted(kept({"model": ["!rand*"]}, cells)["model"])
    ['svm']
    """
    return {
        column: frozenset(matched(patterns, _values(column, seen), None))
        for column, patterns in where.items()
    }


def keeps(values: Mapping[str, frozenset[str]], columns: Mapping[str, str]) -> bool:
    """Whether a cell is kept: in each column that it has, its value is.

    >>> keeps({"seed": frozenset("12")}, {"seed": "3"}), keeps({"seed": frozenset("12")}, {})
    (False, True)
    """
    return all(columns[name] in some for name, some in values.items() if name in columns)


def check_where(where: Where, seen: Sequence[Mapping[str, str]]) -> Iterator[GridProblem]:
    """Yield columns that do not exist, and values and patterns that match nothing."""
    known = list(dict.fromkeys(column for columns in seen for column in columns))
    for column, patterns in where.items():
        if column not in known:
            near = did_you_mean(column, known)
            what = f"there is no column '{column}'{near}  (there are: {near_names(column, known)})"
            yield GridProblem(("where", column), what)
            continue
        values = _values(column, seen)
        for place, what in pattern_problems(patterns, values, column):
            loc = ("where", column) if len(patterns) == 1 else ("where", column, place)
            yield GridProblem(loc, what)


def _values(column: str, seen: Sequence[Mapping[str, str]]) -> list[str]:
    return sorted({columns[column] for columns in seen if column in columns}, key=natural)


def dataset_files_as_runs(cells: Sequence[tuple[Cell, Loc]]) -> Iterator[GridProblem]:
    """Yield the entries of runs that take a dataset's own file, once for all its folds.

    Tables and JSON may hold grades and scores side by side, and are fine.
    """
    names = {os.path.normpath(cell.dataset_entry.path): cell.dataset for cell, _ in cells}
    wrong: dict[tuple[Loc, str], list[Cell]] = {}
    for cell, loc in cells:
        path = cell.run_entry.path
        is_table = _WITH_GRADES_AND_SCORES.search(PurePath(path).name)
        if os.path.normpath(path) in names and not is_table:
            wrong.setdefault((loc, cell.run), []).append(cell)
    for (loc, run), some in wrong.items():
        path = some[0].run_entry.path
        dataset = names[os.path.normpath(path)]
        what = f"{path} is the file of dataset {dataset} itself, taken as run '{run}'"
        fix = "name the file of its predictions"
        if some[0].of_run:
            fix = f"narrow the pattern, or exclude it: 'where: {{run: \"!{run}\"}}'"
        yield GridProblem(loc, what, fix)
