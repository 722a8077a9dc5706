"""A leaderboard to compare: a folder of ``harness run``, or a table of any tool as a file."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core import systems
from ..core.cell_key import CellKey
from ..core.entries import Entry, System
from ..core.evaluation import Counts
from ..core.leaderboard import FAILED
from ..core.metric import Metric
from ..core.names import parse
from ..errors import InputError, Problem, UnknownNameError, check_known, first_of
from ..experiment.manifest import Manifest
from ..experiment.results import Results, read_results, results_of
from ..input_files import name_of
from ..reports.leaderboard import REPETITIONS
from ..reports.notes import warned_of
from ..reports.paper_table.settings import TableSettings, renamed
from .table_files import TableRow, printed, read_table

Names = Mapping[str, str]
NO_NAMES: Names = {}
NO_DATASET = ("",)
"""Datasets of a table without a column of datasets."""


@dataclass(frozen=True, eq=False)
class BoardRow:
    """One row of a leaderboard.

    `values` are summaries by metric. Of a folder, `counts` are repetitions, queries, missing ones
    and ties, and `entry` has each query's values. Of a table of the harness, `counts` are queries.
    """

    values: Mapping[str, float]
    counts: Mapping[str, int] = field(default_factory=dict)
    entry: Entry | None = None


def plain_name(text: str) -> str:
    """Return a name without case, spaces, signs and accents.

    >>> plain_name("Query-Likelihood (k=2)"), plain_name("lambda_MART"), plain_name("MAP ↑")
    ('querylikelihoodk2', 'lambdamart', 'map')
    """
    flat = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in flat if sign.isalnum()) or text


class ShownNames:
    """Names of a board by those that tables print in their place; see `plain_name`."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._exact: dict[str, str] = {}
        self._alike: dict[str, set[str]] = {}
        for shown, own in pairs:
            self._exact.setdefault(shown, own)
            self._alike.setdefault(plain_name(shown), set()).add(own)

    def own(self, shown: str) -> str | None:
        """Return the name in the board; None if no name, or more than one, is similar."""
        if shown in self._exact:
            return self._exact[shown]
        alike = self._alike.get(plain_name(shown), set())
        return next(iter(alike)) if len(alike) == 1 else None


@dataclass(frozen=True, eq=False)
class Board:
    """One side of a comparison: a folder with its manifest, or a table with notes on its columns.

    `metrics` are by the name that both sides share, None for metrics of other tools. `slack` is
    half a unit of a metric's last printed digit; 0 if every digit is there. `shown` has the names
    of runs and datasets in tables of a folder, `headings` those of metrics, with datasets too.
    """

    name: str
    metrics: Mapping[str, Metric | None]
    rows: Mapping[CellKey, BoardRow]
    slack: Mapping[str, float] = field(default_factory=dict)
    manifest: Manifest | None = None
    notes: tuple[str, ...] = ()
    shown: ShownNames = field(default_factory=ShownNames)
    headings: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that identify rows, in addition to dataset and run."""
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
        f"Column '{name}' is in one leaderboard only and is ignored."
        for name in dict.fromkeys([*old.columns, *new.columns])
        if name not in (*both, *first.columns, *second.columns)
    ]
    first, second = _with_dataset(first, second, notes), _with_dataset(second, first, notes)
    return first, second, notes


def _with_columns(board: Board, shared: set[str]) -> Board:
    """Return a board with only the shared columns in its keys; with all if they are needed."""
    rows = {
        replace(key, columns=tuple(pair for pair in key.columns if pair[0] in shared)): row
        for key, row in board.rows.items()
    }
    if len(rows) == len(board.rows):
        return replace(board, rows=rows)
    return _with_columns(board, set(board.columns))


def _with_dataset(board: Board, other: Board, notes: list[str]) -> Board:
    if board.datasets != NO_DATASET or len(other.datasets) != 1 or other.datasets == NO_DATASET:
        return board
    (dataset,) = other.datasets
    notes.append(f"{board.name} has no column of datasets; it is taken to be on {dataset}.")
    rows = {replace(key, dataset=dataset): row for key, row in board.rows.items()}
    return replace(board, rows=rows)


def read_folder(
    folder: Path, names: Mapping[str, str] = NO_NAMES, *, of_systems: bool = False
) -> Board:
    """Read a folder of ``harness run``, with runs, datasets and metrics under new `names`.

    Rows are cells, or `of_systems` means over the repetitions of each, as tables have them.
    """
    study = read_results(folder)
    board = study.board
    if board.summary or of_systems:  # without intervals, which take long
        board = systems.of_systems(board)
    rows: dict[CellKey, BoardRow] = {}
    for entry in board.entries:
        columns = tuple(entry.columns.items())
        key = CellKey(
            names.get(entry.dataset, entry.dataset), names.get(entry.run, entry.run), columns
        )
        if key in rows:
            fix = "give each row its own name with --name"
            raise InputError(Problem(name_of(folder), f"two rows are called {key}", fix=fix))
        values = {names.get(name, name): value for name, value in entry.summary.items()}
        counts = {"repetitions": len(entry.entries)} if isinstance(entry, System) else {}
        rows[key] = BoardRow(values, {**counts, **entry.evaluation.counts.as_dict()}, entry)
    metrics = {names.get(str(metric), str(metric)): metric for metric in board.metrics}
    warned = warned_of((entry.run, entry.warned) for entry in board.entries)
    notes = tuple(f"{name_of(folder)}: {note}" for note in warned)
    shown = _shown_names(study, names)
    return Board(name_of(folder), metrics, rows, manifest=study.manifest, notes=notes, **shown)


def _shown_names(study: Results, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the names that tables of these results print, by those of their board, `names`."""
    tables = [*(table.names for table in study.config.tables.values()), {}]
    settings = [TableSettings(names=renamed(study.config.names, table)) for table in tables]
    shown = [
        (text, names.get(own, own))
        for own in (*study.runs, *study.datasets)
        for text in (own, *(table.name(own) for table in settings))
    ]
    metrics = study.board.metrics
    usual = {metric: TableSettings().metric_name(metric, metrics) for metric in metrics}
    chosen = [
        (table.metric_name(metric, metrics), metric) for table in settings for metric in usual
    ]
    titles = [
        *((text, metric) for text, metric in chosen if text != usual[metric]),
        *((str(metric), metric) for metric in usual),
        *((text, metric) for metric, text in usual.items()),
    ]
    headings = [
        (f"{place} {text}".lstrip(), (names.get(own, own), names.get(str(metric), str(metric))))
        for text, metric in titles
        for own in ("", *study.datasets)
        for place in dict.fromkeys((own, *(table.name(own) for table in settings)))
    ]
    first = dict(reversed(headings))
    alike = {plain_name(text): first[text] for text, _ in reversed(headings)}
    return {"shown": ShownNames(shown), "headings": {**alike, **first}}


_BLANK = {"", "-", "–", "—", "n/a", "na", "nan", "none", "null", "undefined"}
_COUNTS = tuple(Counts().as_dict())
QUERIES = _COUNTS[0]
"""Count of the queries of a row."""
_RUNS = "run,system,model,runid,run_id,run id,run name,name,method,tag,approach,submission"
_DATASETS = "dataset,data set,collection,corpus,test set,testset,benchmark"
_OTHER = f"n,{REPETITIONS},rank,#,no,no.,id,index,place,position,"
_KINDS = {
    "run": _RUNS.split(","),
    "dataset": _DATASETS.split(","),
    "apart": ["seed", "fold", "split", "repeat", "repetition", "trial"],
    "other": [*_COUNTS, *_OTHER.split(",")],
}
"""Kinds of columns, by their names in lower case."""
_PARTS = (
    "tier",
    "sd",
    "deviation",
    "error",
    "delta",
    "p",
    "low",
    "high",
    "marks",
    "n",
    "repetitions",
    "rank",
    "answered",
)
"""Ends of the names of columns that describe another column."""
_TITLES = {
    "run": "runs in",
    "dataset": "datasets in",
    "apart": "rows identified by",
    "metric": "metrics",
    "other": "not compared",
}


def number(text: str) -> tuple[float, float] | None:
    """Return a cell's number and the unit of its last digit; NaN if blank, None if not a number.

    A percent sign divides by 100; marks and a deviation after the number are ignored.

    >>> number("50,5 %"), number("**.25** (0.01)"), number("n/a"), number("bm25")
    ((0.505, 0.001), (0.25, 0.01), (nan, 0.0), None)
    """
    text = text.strip()
    if text.lower() in _BLANK:
        return math.nan, 0.0
    value = printed(re.sub(r"[*_↑↓]", "", text))
    if value is None or math.isinf(float(value.number)):
        return None
    scale, exponent = (100 if value.is_percent else 1), value.number.as_tuple().exponent
    return float(value.number) / scale, 10.0 ** int(exponent) / scale


class _BoardColumn:
    """One column of a table: its heading, its fields, their numbers, and its kind."""

    def __init__(self, name: str, texts: list[str]) -> None:
        self.name, self.texts, self.kind = name, texts, "other"
        self.numbers = [number(text) for text in texts]
        self.filled = [pair for pair in self.numbers if pair and not math.isnan(pair[0])]
        self.is_numeric = self.numbers.count(None) < len(self.filled)

    def scale(self, metric: Metric | None) -> int:
        """Return the divisor of the values: 100 for percentages; 0 if percent signs did it.

        Percentages have "(%)" in the heading, or are above 1.5 for a metric that ends at 1.
        """
        if any(re.match(r"[^(\[±]*\d\s*%", text) for text in self.texts):
            return 0
        largest = max((value for value, _ in self.filled), default=0.0)
        ends_at_one = metric is not None and metric.definition.bounds[1] == 1
        is_large = ends_at_one and 1.5 < largest <= 100
        return 100 if self.name.endswith("(%)") or is_large else 1


def read_file(
    path: Path, keys: Sequence[str] = (), names: Names = NO_NAMES, other: Board | None = None
) -> Board:
    """Read a leaderboard of the harness or of another tool, as CSV or Markdown.

    `keys` are the column of runs, then others that identify rows; `names` are new names of runs,
    datasets and metrics. Names that tables of the `other` board print are read as its own, and a
    column may name a dataset too: "Fold 1 MAP".

    Raises InputError with file and line for something other than a leaderboard, and
    UnknownNameError if there is no column called as one of `keys`.
    """
    other = other or Board("", {}, {})
    header, rows = _header_and_rows(path)
    is_ours = _is_ours(header)
    if is_ours and FAILED in header:
        rows = [row for row in rows if not row.fields[header.index(FAILED)]]
    columns = [
        _BoardColumn(name, [row.fields[at] for row in rows]) for at, name in enumerate(header)
    ]
    if is_ours:  # its first columns are dataset, run and what placeholders captured
        keys = header[1 : header.index(QUERIES)]
    _recognise(path, columns, keys)
    row_keys = _keys(path, rows, columns, names, other.shown)
    headings = {}
    for column in (column for column in columns if column.kind == "metric"):
        text = " ".join(re.sub(r"[↑↓]|\(%\)$", "", column.name).split())
        key = text if text in other.headings else plain_name(text)
        if key in other.headings:
            headings[column.name] = other.headings[key]
    if any(dataset for dataset, _ in headings.values()):  # the rest are means over datasets
        for column in columns:
            if column.kind == "metric" and not headings.get(column.name, ("", ""))[0]:
                column.kind = "other"
    values: dict[tuple[str, str], list[float]] = {}
    metrics: dict[str, Metric | None] = {}
    slack: dict[str, float] = {}
    kinds = [
        f"{title} {first_of(quoted, 6)}"
        for kind, title in _TITLES.items()
        if (quoted := [f"'{column.name}'" for column in columns if column.kind == kind])
    ]
    notes = [] if is_ours else [f"{'; '.join(kinds)}."]
    for column in (column for column in columns if column.kind == "metric"):
        expected = f"expected a number in '{column.name}'"
        fix = "leave a field without a value empty"
        wrong = [
            Problem(f"{path}:{row.line}", f"{expected}, got '{text}'", fix=fix)
            for row, text, pair in zip(rows, column.texts, column.numbers, strict=True)
            if pair is None
        ]
        if wrong:
            raise InputError(wrong)
        bare = column.name.removesuffix("(%)").strip()
        own = names.get(bare, bare)
        name, metric = canonical(names.get(canonical(bare)[0], own) if own == bare else own)
        dataset, shown = headings.get(column.name, ("", name))
        if shown != name and bare not in names:
            name, metric = shown, other.metrics.get(shown)
        if (dataset, name) in values:  # two spellings of one metric
            name, metric = column.name, None
        scale = column.scale(metric)
        if scale != 1:
            notes.append(f"'{column.name}' is printed in percent.")
        values[dataset, name] = [pair[0] / (scale or 1) for pair in column.numbers if pair]
        metrics[name] = metric
        unit = min((unit for _, unit in column.filled), default=0.0) / (scale or 1)
        slack[name] = 0.0 if is_ours else unit / 2
    cells: dict[CellKey, dict[str, float]] = {}
    for (dataset, name), column_values in values.items():
        for row_key, value in zip(row_keys, column_values, strict=True):
            cell_key = replace(row_key, dataset=dataset or row_key.dataset)
            cells.setdefault(cell_key, {})[name] = value
    counts: dict[CellKey, dict[str, int]] = {}
    if is_ours:
        texts = columns[header.index(QUERIES)].texts
        pairs = zip(row_keys, texts, strict=True)
        counts = {key: {QUERIES: int(text)} for key, text in pairs if text.isdecimal()}
    board_rows = {key: BoardRow(row, counts.get(key, {})) for key, row in cells.items()}
    return Board(
        str(path), metrics, board_rows, slack, notes=tuple(f"{path}: {note}" for note in notes)
    )


def _header_and_rows(path: Path) -> tuple[list[str], list[TableRow]]:
    if path.suffix in (".yaml", ".yml") and path.is_file():
        message = "expected a folder of results or a table, got a config"
        raise InputError(Problem(str(path), message, fix=results_of(path)))
    rows = read_table(path)
    if not rows:
        raise InputError(Problem(str(path), "expected a table of a heading and rows, got none"))
    header = rows[0].fields
    twice = [name for name in header if name and header.count(name) > 1]
    if twice:
        fix = "give each column its own name"
        what = f"two columns are called '{twice[0]}'"
        raise InputError(Problem(f"{path}:{rows[0].line}", what, fix=fix))
    return header, rows[1:]


def names_its_columns(path: Path) -> bool:
    """Whether the file is a leaderboard of the harness, with known columns."""
    return _is_ours(_header_and_rows(path)[0])


def _is_ours(header: Sequence[str]) -> bool:
    return {"dataset", "run", "undefined", *_COUNTS} <= set(header)


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
        is_part = any(name == f"{other} {part}" for other in lowered for part in _PARTS)
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
        fix = "give a table of values; for runs: harness compare RUN RUN --qrels QRELS -m METRIC"
        raise InputError(Problem(str(path), what, ", ".join(header), fix))


def _keys(
    path: Path,
    rows: Sequence[TableRow],
    columns: Sequence[_BoardColumn],
    names: Names,
    shown: ShownNames,
) -> list[CellKey]:
    """Return the key of each row; raise InputError if a row has no run, or two have one key."""
    lines: dict[CellKey, int] = {}
    problems = []
    for at, row in enumerate(rows):
        fields = [(column, column.texts[at]) for column in columns if column.texts[at]]
        dataset = " ".join(text for column, text in fields if column.kind == "dataset")
        run = next((text for column, text in fields if column.kind == "run"), "")
        apart = tuple((column.name, text) for column, text in fields if column.kind == "apart")
        dataset, run = (names.get(text) or shown.own(text) or text for text in (dataset, run))
        key = CellKey(dataset, run, apart)
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
