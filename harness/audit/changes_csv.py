"""Leaderboards as CSV files, of the harness or of anyone."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from ..core.evaluation import Counts
from ..core.leaderboard import CHOSEN, FAILED
from ..core.metric import Metric
from ..errors import SHOWN, InputError, Problem, UnknownNameError, did_you_mean
from ..reports.leaderboard.grids import REPETITIONS
from .changes_board import Board, Key, Names, Row, canonical, renamed
from .table_csv import Row as CsvRow
from .table_csv import read_rows, read_text

BLANK = {"", "-", "–", "—", "n/a", "na", "nan", "none", "null", "undefined"}
LARGEST = 300
"""The largest power of ten of a number's last digit."""
_NUMBER = re.compile(
    r"[*_]*\s*(?P<number>[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?)\s*(?P<percent>%?)"
    r"[*_\s]*(?:(?:±|\+/-)[^*†]*|\([^)]*\)|\[[^\]]*\])?[*_†‡§¶‖▲▼△▽↑↓\s]*"
)
RUNS = ("run", "system", "model", "runid", "run_id", "run id", "run name", "name", "method", "tag",
        "approach", "submission")  # fmt: skip
DATASETS = ("dataset", "data set", "collection", "corpus", "test set", "testset", "benchmark")
APART = ("seed", "fold", "split", "repeat", "repetition", "trial")
"""Columns that tell the rows of one run apart."""
COUNTS = tuple(Counts.__dataclass_fields__)
_PARTS = (" tier", " sd", " deviation", " low", " high", " marks")
_PLACES = ("rank", "#", "no", "no.", "id", "index", "place", "position", "")
_FILL = "leave the field empty where there is no value"


class Printed(NamedTuple):
    """A number, the unit of its last digit, and whether a percent sign stood behind it."""

    value: float
    unit: float
    percent: bool = False


def number(text: str) -> Printed | None:
    """Return the number of a cell, without marks and what stands behind ± ; None where it has none.

    A blank is NaN.

    >>> number("31,3 %")
    Printed(value=31.3, unit=0.1, percent=True)
    >>> number("0.3128*").value, number("**.25** (0.01)").value, number("n/a").value
    (0.3128, 0.25, nan)
    >>> number("bm25") is None
    True
    """
    text = text.strip().replace("\u2212", "-")
    if text.lower() in BLANK:
        return Printed(math.nan, 0.0)
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    digits = found["number"].replace(",", ".").lower()
    mantissa, _, exponent = digits.partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    value = float(digits)
    if math.isinf(value) or places < -LARGEST:
        return None
    return Printed(value, 10.0**-places, bool(found["percent"]))


Kind = Literal["run", "dataset", "apart", "count", "metric", "other"]


@dataclass
class Column:
    """One column: its heading, its fields, and what it is taken for."""

    name: str
    texts: list[str]
    kind: Kind = "other"

    @cached_property
    def numbers(self) -> list[Printed | None]:
        """The number of each field, where it is one."""
        return [number(text) for text in self.texts]

    @cached_property
    def filled(self) -> list[Printed]:
        """The numbers that are not blank."""
        return [one for one in self.numbers if one is not None and not math.isnan(one.value)]

    @property
    def is_numeric(self) -> bool:
        """Whether it is meant to hold numbers: more than half of what is filled does."""
        return self.numbers.count(None) < len(self.filled)

    @property
    def counts(self) -> list[int]:
        """Its whole numbers; 0 where there is none."""
        values = [math.nan if one is None else one.value for one in self.numbers]
        return [0 if math.isnan(value) else int(value) for value in values]

    def is_percent(self, metric: Metric | None) -> bool:
        """Whether its values are x 100: it says so, or a metric that ends at 1 has one above it."""
        if self.name.endswith("(%)"):
            return True
        largest = max((one.value for one in self.filled if not one.percent), default=0.0)
        ends_at_one = metric is not None and metric.definition.bounds[1] == 1
        return ends_at_one and 1.5 < largest <= 100


def read_csv(path: Path, keys: Sequence[str] = (), names: Names = ()) -> Board:
    """Read a leaderboard; :func:`harness.changes.changes` says what its columns are taken for.

    `keys` are the column of runs, then others that tell rows apart.
    """
    header, rows = _header_and_rows(path)
    is_ours = {"dataset", "run", "undefined", *COUNTS} <= set(header)
    if is_ours and FAILED in header:
        rows = [row for row in rows if not row.fields[header.index(FAILED)]]
    columns = [Column(name, [row.fields[at] for row in rows]) for at, name in enumerate(header)]
    if is_ours:
        _tell_ours(columns)
    else:
        _tell(path, columns, keys)
    found = _keys(path, rows, columns, names)
    values: dict[str, list[float]] = {}
    metrics: dict[str, Metric | None] = {}
    slack, notes = {}, [] if is_ours else [_described(columns)]
    for column in (one for one in columns if one.kind == "metric"):
        bare = column.name.removesuffix("(%)").strip()
        own = renamed(bare, names)
        name, metric = canonical(renamed(canonical(bare)[0], names) if own == bare else own)
        if name in values:  # two spellings of one metric
            name, metric = column.name, None
        percent = column.is_percent(metric)
        values[name] = [
            one.value / (100 if percent or one.percent else 1)
            for one in _checked(path, rows, column)
        ]
        metrics[name] = metric
        units = [one.unit / (100 if percent or one.percent else 1) for one in column.filled]
        slack[name] = 0.0 if is_ours else min(units, default=0.0) / 2
        if percent or any(one.percent for one in column.filled):
            notes.append(f"'{column.name}' is printed in percent")
    counts = {one.name: one.counts for one in columns if one.kind == "count"}
    repeated = [one.counts for one in columns if is_ours and one.name == REPETITIONS]
    return Board(
        str(path),
        metrics,
        {
            key: Row(
                {name: some[at] for name, some in values.items()},
                {name: some[at] for name, some in counts.items()},
                repetitions=repeated[0][at] if repeated else None,
            )
            for at, key in enumerate(found)
        },
        slack,
        notes=tuple(f"{path}: {note}" for note in notes),
    )


def _header_and_rows(path: Path) -> tuple[list[str], list[CsvRow]]:
    _, rows = read_rows(read_text(path), str(path))
    if not rows:
        raise InputError(Problem(str(path), "is empty", fix="give a leaderboard with a heading"))
    header, where = rows[0].fields, f"{path}:{rows[0].line}"
    if len(header) < 2:
        what = "the heading has one column, and a leaderboard has a name and a metric"
        raise InputError(Problem(where, what, header[0]))
    named = [name for name in header if name]
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        what = f"two columns are called '{twice}'"
        raise InputError(Problem(where, what, fix="give each a name of its own"))
    if len(rows) == 1:
        raise InputError(Problem(where, "a heading and no rows"))
    return header, rows[1:]


def _tell_ours(columns: Sequence[Column]) -> None:
    """Set what the columns of a CSV are that ``harness run`` wrote."""
    header = [column.name for column in columns]
    start, first_count = header.index("undefined"), min(map(header.index, COUNTS))
    for at, column in enumerate(columns):
        if column.name in ("dataset", "run"):
            column.kind = "dataset" if column.name == "dataset" else "run"
        elif column.name in COUNTS:
            column.kind = "count"
        elif at < first_count:
            column.kind = "apart"
        elif at > start and column.name not in (FAILED, CHOSEN, "unsettled", REPETITIONS):
            column.kind = "other" if _is_part(column.name, header) else "metric"


def _tell(path: Path, columns: Sequence[Column], keys: Sequence[str]) -> None:
    """Set what the columns of anyone's CSV are, by their names and by what they hold."""
    header = [column.name for column in columns]
    lowered = [name.lower() for name in header]
    for name in keys:
        if name not in header:
            near, known = did_you_mean(name, header), ", ".join(header)
            raise UnknownNameError(f"{path}: no column '{name}'{near}  (there are: {known})")
    places = [header.index(name) for name in keys]
    places += [lowered.index(name) for name in RUNS if name in lowered]
    places += [at for at, column in enumerate(columns) if not column.is_numeric]
    if not places:
        what = "no column names the runs: all hold numbers"
        raise InputError(Problem(str(path), what, fix="name it: --key COLUMN"))
    for at, (name, column) in enumerate(zip(lowered, columns, strict=True)):
        if at == places[0]:
            column.kind = "run"
        elif column.name in keys or name in APART:
            column.kind = "apart"
        elif name in DATASETS:
            column.kind = "dataset"
        elif column.is_numeric and name not in _PLACES and not _is_part(name, lowered):
            column.kind = "count" if name in (*COUNTS, "n") else "metric"
    if not any(column.kind == "metric" for column in columns):
        what = "no column of numbers, so no metric"
        raise InputError(Problem(str(path), what, ", ".join(header)))


def _is_part(name: str, header: Sequence[str]) -> bool:
    """Return whether a column says more of another one: its deviation, its tier."""
    return any(name.endswith(part) and name.removesuffix(part) in header for part in _PARTS)


def _checked(path: Path, rows: Sequence[CsvRow], column: Column) -> list[Printed]:
    """Return the numbers of a column; raise InputError if a field is not one."""
    problems = [
        Problem(
            f"{path}:{row.line}", f"'{text}' is not a number, in column '{column.name}'", fix=_FILL
        )
        for row, text, one in zip(rows, column.texts, column.numbers, strict=True)
        if one is None
    ]
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))
    return [one for one in column.numbers if one is not None]


def _keys(path: Path, rows: Sequence[CsvRow], columns: Sequence[Column], names: Names) -> list[Key]:
    """Return the key of each row; raise InputError where two are the same."""
    found: dict[Key, int] = {}
    problems = []
    for at, row in enumerate(rows):
        fields = [(one, one.texts[at]) for one in columns if one.texts[at]]
        dataset = " ".join(text for one, text in fields if one.kind == "dataset")
        run = next((text for one, text in fields if one.kind == "run"), "")
        apart = tuple((one.name, text) for one, text in fields if one.kind == "apart")
        key = Key(renamed(dataset, names), renamed(run, names), apart)
        if not key.run:
            fix = "name the run, or the column that does: --key COLUMN"
            problems.append(Problem(f"{path}:{row.line}", "no name of a run", fix=fix))
        elif key in found:
            what = f"a row for {key} stands on line {found[key]} already"
            fix = "name the columns that tell them apart: --key RUN_COLUMN --key COLUMN"
            problems.append(Problem(f"{path}:{row.line}", what, fix=fix))
        found.setdefault(key, row.line)
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))
    return list(found)


def _described(columns: Sequence[Column]) -> str:
    parts = []
    for what, kinds in (
        ("runs in column", ("run",)), ("datasets in", ("dataset",)), ("told apart by", ("apart",)),
        ("metrics", ("metric",)), ("not compared", ("count", "other")),
    ):  # fmt: skip
        if names := [f"'{one.name}'" for one in columns if one.kind in kinds]:
            parts.append(f"{what} {', '.join(names)}")
    return "; ".join(parts)
