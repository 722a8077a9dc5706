"""A leaderboard to compare with another one: a folder of ``harness run``, or a CSV of any tool."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from ..core.entries import Entry, System
from ..core.evaluation import Counts
from ..core.leaderboard import FAILED
from ..core.metric import Metric
from ..core.names import parse
from ..core.systems import of_systems
from ..errors import InputError, Problem, UnknownNameError, check_known
from ..experiment.manifest import Manifest
from ..experiment.results import read_results
from ..reports.leaderboard import REPETITIONS
from ..reports.phrases import warned_of
from .printed_tables import CsvRow, PrintedCell, printed, read_rows, read_text

NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, order=True)
class Key:
    """What identifies a row: dataset, run, and columns such as ``seed``."""

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
class BoardRow:
    """One row of a leaderboard.

    `values` are summaries by metric. Of a folder, `counts` are repetitions, queries, missing ones
    and ties, and `entry` has each query's values.
    """

    values: Mapping[str, float]
    counts: Mapping[str, int] = field(default_factory=dict)
    entry: Entry | None = None


@dataclass(frozen=True, eq=False)
class Board:
    """One side of a comparison: a folder with its manifest, or a CSV with notes on its columns.

    `metrics` are by the name that both sides share, None for metrics of other tools. `slack` is
    half a unit of a metric's last printed digit; 0 if every digit is there.
    """

    name: str
    metrics: Mapping[str, Metric | None]
    rows: Mapping[Key, BoardRow]
    slack: Mapping[str, float] = field(default_factory=dict)
    manifest: Manifest | None = None
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that identify rows, besides dataset and run."""
        return tuple(dict.fromkeys(name for key in self.rows for name, _ in key.columns))

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets, in order."""
        return tuple(dict.fromkeys(key.dataset for key in self.rows))


def canonical(name: str) -> tuple[str, Metric | None]:
    """Return our name of a metric and the metric; the name itself and None if we have none.

    >>> import harness.metrics
    >>> canonical("NDCG@10")[0], canonical("p@5")[0], canonical("ndcg_cut_5")[0]
    ('ndcg@10', 'P@5', 'ndcg@5')
    >>> canonical("my metric"), canonical("P")[1]
    (('my metric', None), None)
    """
    for spelling in (name, name[:1].upper() + name[1:], name.lower()):
        try:
            metrics = parse(spelling)
        except (UnknownNameError, ValueError):
            continue
        if len(metrics) == 1:
            return str(metrics[0]), metrics[0]
    return name, None


def matched(old: Board, new: Board) -> tuple[Board, Board, list[str]]:
    """Return both boards with comparable keys, and notes on the assumptions.

    Columns that only one board has do not identify rows, if the others do. A board without
    datasets gets the dataset of the other board, if that has only one.
    """
    both = {*old.columns} & {*new.columns}
    first, second = (_with_columns(board, both) for board in (old, new))
    notes = [
        f"column '{name}' is in one leaderboard only, so it is ignored"
        for name in dict.fromkeys([*old.columns, *new.columns])
        if name not in (*both, *first.columns, *second.columns)
    ]
    first, second = _with_dataset(first, second, notes), _with_dataset(second, first, notes)
    return first, second, notes


def _with_columns(board: Board, shared: set[str]) -> Board:
    """Return a board with only the shared columns in its keys; with all if they are needed."""
    rows = {
        replace(key, columns=tuple(sorted(one for one in key.columns if one[0] in shared))): row
        for key, row in board.rows.items()
    }
    if len(rows) == len(board.rows):
        return replace(board, rows=rows)
    return _with_columns(board, set(board.columns))


def _with_dataset(board: Board, other: Board, notes: list[str]) -> Board:
    if board.datasets != ("",) or len(other.datasets) != 1 or other.datasets == ("",):
        return board
    (dataset,) = other.datasets
    notes.append(f"{board.name} has no column of datasets; taken to be on {dataset}")
    rows = {replace(key, dataset=dataset): row for key, row in board.rows.items()}
    return replace(board, rows=rows)


def read_folder(folder: Path, names: Mapping[str, str] = NO_NAMES) -> Board:
    """Read a folder of ``harness run``, with runs, datasets and metrics under new `names`."""
    study = read_results(folder)
    board = study.board
    if board.summary:  # without intervals, which take long
        board = of_systems(board)
    rows: dict[Key, BoardRow] = {}
    for entry in board.entries:
        columns = tuple(entry.columns.items())
        key = Key(names.get(entry.dataset, entry.dataset), names.get(entry.run, entry.run), columns)
        if key in rows:
            fix = "give each row its own name with --name"
            raise InputError(Problem(str(folder), f"two rows are called {key}", fix=fix))
        values = {names.get(name, name): value for name, value in entry.summary.items()}
        counts = {"repetitions": len(entry.entries)} if isinstance(entry, System) else {}
        rows[key] = BoardRow(values, {**counts, **entry.evaluation.counts.as_dict()}, entry)
    metrics = {names.get(str(metric), str(metric)): metric for metric in board.metrics}
    notes = warned_of((one.run, one.warned) for one in board.entries)
    return Board(
        str(folder), metrics, rows, manifest=study.manifest,
        notes=tuple(f"{folder}: {note}" for note in notes),
    )  # fmt: skip


_BLANK = {"", "-", "–", "—", "n/a", "na", "nan", "none", "null", "undefined"}
_COUNTS = tuple(one.name for one in fields(Counts))
_KINDS = {
    "run": ("run", "system", "model", "runid", "run_id", "run id", "run name", "name", "method",
            "tag", "approach", "submission"),
    "dataset": ("dataset", "data set", "collection", "corpus", "test set", "testset", "benchmark"),
    "apart": ("seed", "fold", "split", "repeat", "repetition", "trial"),
    "other": (*_COUNTS, "n", REPETITIONS, "rank", "#", "no", "no.", "id", "index", "place",
              "position", ""),
}  # fmt: skip
"""Kinds of columns, by their names in lower case."""
_PARTS = (" tier", " sd", " deviation", " low", " high", " marks")
"""Ends of the names of columns that describe another column."""
_TITLES = {
    "run": "runs in", "dataset": "datasets in", "apart": "rows identified by", "metric": "metrics",
    "other": "not compared",
}  # fmt: skip


def number(text: str) -> tuple[float, float] | None:
    """Return a cell's number and the unit of its last digit; NaN if blank, None if not a number.

    A percent sign divides by 100; marks and a deviation after the number are ignored.

    >>> number("50,5 %"), number("**.25** (0.01)"), number("n/a"), number("bm25")
    ((0.505, 0.001), (0.25, 0.01), (nan, 0.0), None)
    """
    text = text.strip()
    if text.lower() in _BLANK:
        return math.nan, 0.0
    found = printed(PrintedCell(re.sub(r"[*_↑↓]", "", text)))
    if found is None or math.isinf(float(found.number)):
        return None
    scale, exponent = (100 if found.is_percent else 1), found.number.as_tuple().exponent
    return float(found.number) / scale, 10.0 ** int(exponent) / scale


class _BoardColumn:
    """One column of a CSV: its heading, its fields, their numbers, and its kind."""

    def __init__(self, name: str, texts: list[str]) -> None:
        self.name, self.texts, self.kind = name, texts, "other"
        self.numbers = [number(text) for text in texts]
        self.filled = [one for one in self.numbers if one and not math.isnan(one[0])]
        self.is_numeric = self.numbers.count(None) < len(self.filled)

    def scale(self, metric: Metric | None) -> int:
        """Return what values are divided by; 0 if percent signs did it.

        Percentages have "(%)" in the heading, or are above 1.5 for a metric that ends at 1.
        """
        if any(re.match(r"[^(\[±]*\d\s*%", text) for text in self.texts):
            return 0
        largest = max((value for value, _ in self.filled), default=0.0)
        ends_at_one = metric is not None and metric.definition.bounds[1] == 1
        is_large = ends_at_one and 1.5 < largest <= 100
        return 100 if self.name.endswith("(%)") or is_large else 1


def read_csv(path: Path, keys: Sequence[str] = (), names: Mapping[str, str] = NO_NAMES) -> Board:
    """Read a leaderboard of ours or of another tool.

    `keys` are the column of runs, then others that identify rows; `names` are new names of runs,
    datasets and metrics. Raises InputError with file and line for something other than a
    leaderboard, and UnknownNameError if there is no column called as one of `keys`.
    """
    header, rows = _header_and_rows(path)
    is_ours = {"dataset", "run", "undefined", *_COUNTS} <= set(header)
    if is_ours and FAILED in header:
        rows = [row for row in rows if not row.fields[header.index(FAILED)]]
    columns = [
        _BoardColumn(name, [row.fields[at] for row in rows]) for at, name in enumerate(header)
    ]
    if is_ours:  # its first columns are dataset, run and what placeholders captured
        keys = header[1 : header.index(_COUNTS[0])]
    _recognise(path, columns, keys)
    row_keys = _keys(path, rows, columns, names)
    values: dict[str, list[float]] = {}
    metrics: dict[str, Metric | None] = {}
    slack: dict[str, float] = {}
    kinds = [
        f"{title} {', '.join(quoted)}"
        for kind, title in _TITLES.items()
        if (quoted := [f"'{one.name}'" for one in columns if one.kind == kind])
    ]
    notes = [] if is_ours else ["; ".join(kinds)]
    for column in (one for one in columns if one.kind == "metric"):
        what, fix = f"expected a number in '{column.name}'", "leave a field without a value empty"
        wrong = [
            Problem(f"{path}:{row.line}", f"{what}, got '{text}'", fix=fix)
            for row, text, one in zip(rows, column.texts, column.numbers, strict=True)
            if one is None
        ]
        if wrong:
            raise InputError(wrong)
        bare = column.name.removesuffix("(%)").strip()
        own = names.get(bare, bare)
        name, metric = canonical(names.get(canonical(bare)[0], own) if own == bare else own)
        if name in values:  # two spellings of one metric
            name, metric = column.name, None
        scale = column.scale(metric)
        if scale != 1:
            notes.append(f"'{column.name}' is printed in percent")
        values[name] = [one[0] / (scale or 1) for one in column.numbers if one]
        metrics[name] = metric
        unit = min((unit for _, unit in column.filled), default=0.0) / (scale or 1)
        slack[name] = 0.0 if is_ours else unit / 2
    cells = (dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True))
    board_rows = dict(zip(row_keys, map(BoardRow, cells), strict=True))
    return Board(
        str(path), metrics, board_rows, slack, notes=tuple(f"{path}: {note}" for note in notes)
    )


def _header_and_rows(path: Path) -> tuple[list[str], list[CsvRow]]:
    rows = read_rows(read_text(path), str(path))
    if not rows:
        raise InputError(Problem(str(path), "expected a heading and rows, got an empty file"))
    header = rows[0].fields
    twice = [name for name in header if name and header.count(name) > 1]
    if twice:
        fix = "give each column its own name"
        what = f"two columns are called '{twice[0]}'"
        raise InputError(Problem(f"{path}:{rows[0].line}", what, fix=fix))
    return header, rows[1:]


def _recognise(path: Path, columns: Sequence[_BoardColumn], keys: Sequence[str]) -> None:
    """Set the kind of each column, by its name and its fields."""
    header = [column.name for column in columns]
    lowered = [name.lower() for name in header]
    for name in keys:
        check_known("column", name, header, str(path))
    places = [header.index(name) for name in keys]
    places += [lowered.index(name) for name in _KINDS["run"] if name in lowered]
    places += [at for at, column in enumerate(columns) if not column.is_numeric]
    if not places:
        what = "expected a column with the names of runs, got numbers only"
        raise InputError(Problem(str(path), what, fix="name the column: --key COLUMN"))
    for at, (name, column) in enumerate(zip(lowered, columns, strict=True)):
        kind = next((kind for kind, names in _KINDS.items() if name in names), "metric")
        is_part = any(name == f"{other}{part}" for other in lowered for part in _PARTS)
        if at == places[0]:
            column.kind = "run"
        elif column.name in keys or kind == "apart":
            column.kind = "apart"
        elif kind == "dataset":
            column.kind = kind
        elif column.is_numeric and not is_part:
            column.kind = "metric" if kind == "run" else kind
    if not any(column.kind == "metric" for column in columns):
        what = "expected a column of numbers, got none"
        raise InputError(Problem(str(path), what, ", ".join(header)))


def _keys(
    path: Path, rows: Sequence[CsvRow], columns: Sequence[_BoardColumn], names: Mapping[str, str]
) -> list[Key]:
    """Return the key of each row; raise InputError if a row has no run, or two have one key."""
    lines: dict[Key, int] = {}
    problems = []
    for at, row in enumerate(rows):
        fields = [(one, one.texts[at]) for one in columns if one.texts[at]]
        dataset = " ".join(text for one, text in fields if one.kind == "dataset")
        run = next((text for one, text in fields if one.kind == "run"), "")
        apart = tuple((one.name, text) for one, text in fields if one.kind == "apart")
        key = Key(names.get(dataset, dataset), names.get(run, run), apart)
        if not run:
            what, fix = "expected the name of a run, got none", "name its column: --key COLUMN"
            problems.append(Problem(f"{path}:{row.line}", what, fix=fix))
        elif key in lines:
            what = f"expected one row for {key}, got another on line {lines[key]}"
            fix = "name the columns that differ: --key RUN_COLUMN --key COLUMN"
            problems.append(Problem(f"{path}:{row.line}", what, fix=fix))
        lines.setdefault(key, row.line)
    if problems:
        raise InputError(problems)
    return list(lines)
