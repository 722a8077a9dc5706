"""A cell: one run on one dataset; and the cells that a grid lacks."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from ..errors import SHOWN, UnknownNameError, did_you_mean, in_json
from ..reports.paper_table.select import matched, problems
from .patterns import Pattern, natural

if TYPE_CHECKING:
    from .model import DatasetEntry, RunEntry

Loc = tuple[str | int, ...]
DATASET = "dataset"
"""The placeholder that stands for each dataset's name in a run's path."""
PACKED = (".gz", ".zst", ".xz", ".bz2")


@dataclass(frozen=True)
class Cell:
    """One run on one dataset.

    Parameters
    ----------
    dataset, run : str
        Their names, placeholders filled in.
    dataset_entry, run_entry : DatasetEntry, RunEntry
        Their entries of the config; ``path`` is that of a file, and can be opened as it is.
    dataset_key, run_key : str
        Their names as they stand in the config, with placeholders.
    of_dataset, of_run : mapping of str to str
        What placeholders captured: those of the dataset's path, and those of the run's alone.
    across : bool
        Whether the run's path has ``{dataset}``, so that its grid goes across datasets.
    run_path : str
        The run's path with its placeholders, from the folder of the config on.
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
    run_path: str = field(default="", compare=False)

    @property
    def columns(self) -> dict[str, str]:
        """What was captured, without a placeholder that is the whole of the run's name."""
        return _columns(self.run_key, {**self.of_dataset, **self.of_run})


class Finding(NamedTuple):
    """Something wrong with a grid, and its place in the config."""

    loc: Loc
    what: str
    fix: str = ""


@dataclass(frozen=True)
class Gap:
    """A combination for which a grid of cells has no predictions; `path` is where they would be."""

    dataset: str
    run: str
    columns: dict[str, str]
    path: str = field(default="", compare=False)

    @property
    def almost(self) -> str:
        """The file whose name differs in a suffix of compression alone, where there is one."""
        bare, suffix = os.path.splitext(self.path)
        names = [bare] if suffix in PACKED else [self.path + one for one in PACKED]
        return next((name for name in names if self.path and os.path.isfile(name)), "")


def missing(cells: Iterable[Cell]) -> list[Gap]:
    """Return the combinations that would make each run's grid of cells whole.

    A run's grid is every dataset of one entry (every fold) x every value that each of the
    run's own placeholders takes in any of its cells. Where the run's path has ``{dataset}``, it
    is every dataset of all the entries that it has cells on.
    """
    datasets: dict[str, dict[str, Cell]] = {}
    grids: dict[tuple[str, str, tuple[str, ...]], list[Cell]] = {}
    for cell in cells:
        datasets.setdefault(cell.dataset_key, {}).setdefault(cell.dataset_entry.path, cell)
        key = "" if cell.across else cell.dataset_key
        grids.setdefault((key, cell.run_key, tuple(cell.of_run)), []).append(cell)
    gaps = []
    for (_, run_key, names), grid in grids.items():
        there = {(_place(cell), *cell.of_run.values()) for cell in grid}
        axes = [sorted({cell.of_run[name] for cell in grid}, key=natural) for name in names]
        keys = dict.fromkeys(cell.dataset_key for cell in grid)
        for one in [one for key in keys for one in datasets[key].values()]:
            for values in itertools.product(*axes):
                if (_place(one), *values) not in there:
                    captured = {**one.of_dataset, **dict(zip(names, values, strict=True))}
                    run = Pattern(run_key).fill({**captured, DATASET: one.dataset})
                    path = Pattern(grid[0].run_path).fill({**captured, DATASET: one.dataset})
                    gaps.append(Gap(one.dataset, run, _columns(run_key, captured), path))
    return gaps


def _place(cell: Cell) -> tuple[str, str]:
    return cell.dataset_key, cell.dataset_entry.path


def reference(cells: Iterable[Cell], cell: Cell, name: str) -> Cell:
    """Return the cell of the run called `name` on this cell's dataset, of its own seed if many.

    Raises
    ------
    UnknownNameError
        If there is none, or several.
    """
    cells = list(cells)
    here = [
        other for other in cells if other.run == name and other.dataset_entry == cell.dataset_entry
    ]
    same = [other for other in here if _beside_name(other) == _beside_name(cell)]
    if not here or (len(here) > 1 and not same):
        runs = sorted({other.run for other in cells if other.dataset == cell.dataset})
        what = f"has {len(here)} runs of that name" if here else f"has {', '.join(runs)}"
        raise UnknownNameError(
            f"reference={name}: no such run to compare {cell.run} to; dataset {cell.dataset} {what}"
        )
    return (same or here)[0]


def without_reference(cells: Iterable[Cell], name: str) -> Iterator[UnknownNameError]:
    """Yield why a run cannot be what the others are compared to, once for each dataset of a config.

    A dataset that the run is on in part, as predictions of one fold are missing, is none of them.
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


def _beside_name(cell: Cell) -> dict[str, str]:
    """Return what was captured beside the run's name: its seed."""
    return {name: one for name, one in cell.of_run.items() if f"{{{name}}}" not in cell.run_key}


def columns_of(cell: Cell) -> dict[str, str]:
    """Return all by which a cell can be chosen: its names, and everything that was captured."""
    return {DATASET: cell.dataset, "run": cell.run, **cell.of_dataset, **cell.of_run}


def _columns(run_key: str, captured: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in captured.items() if run_key != f"{{{name}}}"}


WIDTH = 96
"""Characters of a line of a grid, at most; a wider grid is continued below."""
ROWS = 20
"""Runs up to which those without a gap are shown too."""
THERE, LACKING = "x", "-"


def name_of(gap: Gap) -> str:
    """Return what a gap is called: ``gbrt on letor-fold1 fold=1 seed=2``."""
    columns = "".join(f" {name}={value}" for name, value in gap.columns.items())
    return f"{gap.run} on {gap.dataset}{columns}{_almost(gap)}"


def _almost(gap: Gap) -> str:
    """Return that a file of nearly that name is there: packed, or unpacked."""
    if not gap.almost:
        return ""
    is_there, wanted = os.path.basename(gap.almost), os.path.basename(gap.path)
    return f" ({is_there} is there, and {wanted} is not)"


def listed(gaps: Sequence[Gap], n_cells: int) -> str:
    """Return how many cells are missing, and the first of them, a line each."""
    more = [f"... and {len(gaps) - SHOWN} more"] if len(gaps) > SHOWN else []
    return "\n  ".join([f"{_count(len(gaps), n_cells)}:", *map(name_of, gaps[:SHOWN]), *more])


def shown(cells: Sequence[Cell]) -> str:
    """Return the grids that have gaps, each run a row; ``""`` where nothing is missing.

    Columns are the combinations of what placeholders captured. Of more than 20 runs only those
    with a gap are shown.
    """
    gaps = missing(cells)
    if not gaps:
        return ""
    across = {cell.dataset_key for cell in cells if cell.across}
    key_of = {c.dataset: "" if c.dataset_key in across else c.dataset_key for c in cells}
    there: dict[tuple[str, tuple[str, ...]], list[Gap]] = {}
    for cell in cells:
        one = Gap(cell.dataset, cell.run, cell.columns)
        there.setdefault((key_of[cell.dataset], tuple(cell.columns)), []).append(one)
    lines = [f"{_count(len(gaps), len(cells))}  ({THERE} there, {LACKING} missing)"]
    for (key, names), known in there.items():
        lacking = [gap for gap in gaps if (key_of[gap.dataset], tuple(gap.columns)) == (key, names)]
        if lacking:
            lines += ["", *_grid(known, lacking, names)]
    near = [name_of(gap) for gap in gaps if gap.almost]
    more = [f"... and {len(near) - SHOWN} more"] if len(near) > SHOWN else []
    lines += ["", *near[:SHOWN], *more] if near else []
    return "\n".join(lines)


def _count(n_gaps: int, n_cells: int) -> str:
    verb = "is" if n_gaps == 1 else "are"
    return f"{n_gaps} of {n_gaps + n_cells} cells {verb} missing"


def _grid(there: Sequence[Gap], lacking: Sequence[Gap], names: tuple[str, ...]) -> Iterator[str]:
    every = [*there, *lacking]
    if len({_values_of(one, names) for one in every}) < len(
        {(one.dataset, _values_of(one, names)) for one in every}
    ):
        names = (DATASET, *names)
    marks = {(one.run, _values_of(one, names)): THERE for one in there}
    marks |= {(one.run, _values_of(one, names)): LACKING for one in lacking}
    columns = sorted({place for _, place in marks}, key=lambda p: [natural(v) for v in p])
    runs = list(dict.fromkeys(one.run for one in every))
    with_gaps = {one.run for one in lacking}
    rows = runs if len(runs) <= ROWS else [run for run in runs if run in with_gaps]
    head = max(map(len, [*names, *rows]))
    while columns:
        ends = itertools.accumulate(2 + max(map(len, place)) for place in columns)
        n = max(1, sum(end <= WIDTH - head for end in ends))
        here, columns = columns[:n], columns[n:]
        for at, name in enumerate(names):
            yield _line(name, head, [place[at] for place in here], here)
        for run in rows:
            yield _line(run, head, [marks.get((run, place), "") for place in here], here)
    if len(rows) < len(runs):
        yield f"({len(runs) - len(rows)} more runs lack nothing)"


def _values_of(one: Gap, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one.dataset if name == DATASET else one.columns[name] for name in names)


def _line(head: str, width: int, cells: Sequence[str], places: Sequence[tuple[str, ...]]) -> str:
    padded = (
        f"  {cell:>{max(map(len, place))}}" for cell, place in zip(cells, places, strict=True)
    )
    return f"{head:<{width}}{''.join(padded)}".rstrip()


Where = Mapping[str, Sequence[str]]
"""Patterns by column, as ``{"seed": ["1", "2"], "model": ["!random*"]}``."""


MOST = 20
"""Values that a suggestion lists."""
_PLAIN = re.compile("0|[1-9][0-9]{0,14}")  # YAML reads 01 as another


def kept(where: Where, seen: Sequence[Mapping[str, str]]) -> dict[str, frozenset[str]]:
    """Return the values of each column that are kept.

    Parameters
    ----------
    where : mapping of str to sequence of str
        Values and patterns, as :func:`~harness.reports.paper_table.select.select` takes them.
    seen : sequence of mapping
        The columns of each cell.

    Examples
    --------
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


def check(where: Where, seen: Sequence[Mapping[str, str]]) -> Iterator[Finding]:
    """Yield columns that there are not, and values and patterns that fit nothing."""
    known = list(dict.fromkeys(column for columns in seen for column in columns))
    for column, patterns in where.items():
        if column not in known:
            near = did_you_mean(column, known)
            yield Finding(
                ("where", column),
                f"there is no column '{column}'{near}  (there are: {', '.join(known)})",
            )
            continue
        values = _values(column, seen)
        for place, what in problems(patterns, values, column):
            loc = ("where", column) if len(patterns) == 1 else ("where", column, place)
            yield Finding(loc, what, _same_number(patterns[place].removeprefix("!"), values))


def without(these: Sequence[Mapping[str, str]], others: Sequence[Mapping[str, str]]) -> str:
    """Return what to do about datasets without runs, where one entry found both.

    Parameters
    ----------
    these, others : sequence of mapping
        What placeholders captured of the datasets without runs, and of those with some.

    Examples
    --------
    >>> without([{"fold": "3"}], [{"fold": "1"}, {"fold": "2"}])
    "add them, or leave them out: 'where: {fold: [1, 2]}' keeps the others"
    >>> without([{"fold": "3"}], [])
    'add them, or take the dataset out'
    """
    if not others:
        return "add them, or take the dataset out"
    for column in others[0]:
        some = sorted({one[column] for one in others}, key=natural)
        if len(some) <= MOST and not {*some} & {one[column] for one in these}:
            listed = ", ".join(one if _PLAIN.fullmatch(one) else in_json(one) for one in some)
            return (
                f"add them, or leave them out: 'where: {{{column}: [{listed}]}}' keeps the others"
            )
    return "add them, or narrow the path"


def _values(column: str, seen: Sequence[Mapping[str, str]]) -> list[str]:
    return sorted({columns[column] for columns in seen if column in columns}, key=natural)


def _same_number(text: str, values: Sequence[str]) -> str:
    """Say that 1 is not 01, where that is why nothing fits."""
    same = [value for value in values if value != text and _number(value) == _number(text)]
    listed = ", ".join(f'"{value}"' for value in same)
    return f"write {listed}: values are text, and {text} is another" if same else ""


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


_OF_BOTH = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".jsonl", ".ndjson", ".json", ".npz")
"""Endings of what may hold grades and scores side by side."""


def taken(cells: Sequence[tuple[Cell, Loc]]) -> Iterator[Finding]:
    """Yield the entries of runs that take a dataset's own file, once for all its folds."""
    names = {os.path.normpath(cell.dataset_entry.path): cell.dataset for cell, _ in cells}
    wrong: dict[tuple[Loc, str], list[Cell]] = {}
    for cell, loc in cells:
        path = cell.run_entry.path
        if os.path.normpath(path) in names and not _may_be_both(path):
            wrong.setdefault((loc, cell.run), []).append(cell)
    for (loc, run), some in wrong.items():
        path = some[0].run_entry.path
        dataset = names[os.path.normpath(path)]
        what = f"{path} is the file of dataset {dataset} itself, taken as run '{run}'"
        if len(some) > 1:
            what += f"; so in {len(some):,} cells"
        fix = "narrow the pattern" if some[0].of_run else "name the file of its predictions"
        if some[0].of_run and len(some) == sum(cell.run == run for cell, _ in cells):
            quoted = run.replace("'", "''")
            fix += f", or exclude it (where: {{run: '!{quoted}'}})"
        yield Finding(loc, what, fix)


def _may_be_both(path: str) -> bool:
    """Whether a file may hold grades and scores, by its ending.

    >>> _may_be_both("fold1/test.txt"), _may_be_both("all.csv.gz")
    (False, True)
    """
    name = PurePath(path)
    return (name.stem if name.suffix in PACKED else name.name).lower().endswith(_OF_BOTH)
