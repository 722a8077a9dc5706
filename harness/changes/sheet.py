"""What the columns of a CSV leaderboard are: names, metrics, counts, and what else they hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from ..core.evaluation import Counts
from ..core.leaderboard import CHOSEN, FAILED
from ..core.metric import Metric
from ..errors import SHOWN, InputError, Problem, UnknownNameError, did_you_mean
from ..reports._cells import REPETITIONS
from .board import Board, Key, canonical, renamed
from .csv_file import Sheet, read_sheet
from .numbers import Printed, number

RUNS = ("run", "system", "model", "runid", "run_id", "run id", "run name", "name", "method", "tag",
        "approach", "submission")  # fmt: skip
DATASETS = ("dataset", "data set", "collection", "corpus", "test set", "testset", "benchmark")
APART = ("seed", "fold", "split", "repeat", "repetition", "trial")
"""Columns that tell the rows of one run apart."""
COUNTS = tuple(one.name for one in fields(Counts))
_PARTS = (" tier", " sd", " deviation", " low", " high", " marks")
_PLACES = ("rank", "#", "no", "no.", "id", "index", "place", "position", "")


@dataclass
class _Kinds:
    """The places of the columns, by what they are."""

    run: int
    datasets: list[int] = field(default_factory=list)
    apart: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    metrics: list[int] = field(default_factory=list)
    other: list[int] = field(default_factory=list)


def read_csv(path: Path, keys: Sequence[str] = (), names: Sequence[tuple[str, str]] = ()) -> Board:
    """Read a leaderboard; :func:`harness.changes.changes` says what its columns are taken for.

    Parameters
    ----------
    path : Path
    keys : sequence of str
        The column of runs, then others that tell rows apart.
    names : sequence of (str, str)
        Names of runs, datasets and metrics, and what to call them instead.

    Raises
    ------
    InputError
        With file and line, where it is no leaderboard.
    UnknownNameError
        Where it has no column of that name.
    """
    sheet = read_sheet(path)
    is_ours = {"dataset", "run", "undefined", *COUNTS} <= set(sheet.header)
    if is_ours and FAILED in sheet.header:
        place = sheet.header.index(FAILED)
        kept = [row for row, fields in enumerate(sheet.rows) if not fields[place]]
        rows, lines = [sheet.rows[row] for row in kept], [sheet.lines[row] for row in kept]
        sheet = Sheet(path, sheet.header, rows, lines)
    kinds = _ours(sheet) if is_ours else _kinds(sheet, keys)
    found = [_key(sheet, kinds, row, names) for row in range(len(sheet.rows))]
    _check_unique(sheet, found)
    columns: dict[str, list[float]] = {}
    metrics: dict[str, Metric | None] = {}
    slack, notes = {}, [] if is_ours else [_said(sheet, kinds)]
    for place in kinds.metrics:
        printed = sheet.header[place]
        bare = printed.removesuffix("(%)").strip()
        name, metric = canonical(
            renamed(bare, [*names, (bare, renamed(canonical(bare)[0], names))])
        )
        if name in columns:  # two spellings of one metric
            name, metric = printed, None
        values, unit, percent = _numbers(sheet, place, metric)
        columns[name], metrics[name] = values, metric
        slack[name] = 0.0 if is_ours else unit / 2
        if percent:
            notes.append(f"'{printed}' is printed in percent")
    whole = {sheet.header[at]: [_count(cell) for cell in sheet.column(at)] for at in kinds.counts}
    return Board(
        str(path),
        metrics,
        {key: {name: columns[name][row] for name in columns} for row, key in enumerate(found)},
        slack,
        {key: {name: whole[name][row] for name in whole} for row, key in enumerate(found)},
        repetitions=_repetitions(sheet, found) if is_ours else {},
        notes=tuple(f"{path}: {note}" for note in notes),
    )


def _ours(sheet: Sheet) -> _Kinds:
    """Return the kinds of a CSV that ``harness run`` wrote."""
    header = sheet.header
    counts = [header.index(name) for name in COUNTS]
    start = header.index("undefined") + 1
    known = (FAILED, CHOSEN, "unsettled", REPETITIONS)
    metrics = [
        place
        for place in range(start, len(header))
        if header[place] not in known and not _is_part(header[place], header)
    ]
    apart = list(range(2, min(counts)))
    return _Kinds(header.index("run"), [header.index("dataset")], apart, counts, metrics)


def _kinds(sheet: Sheet, keys: Sequence[str]) -> _Kinds:
    """Return what the columns of anyone's CSV are, by their names and by what they hold."""
    header = [name.lower() for name in sheet.header]
    named = [_place(sheet, name) for name in keys]
    numeric = {place for place in range(len(header)) if _is_numeric(sheet.column(place))}
    text = [place for place in range(len(header)) if place not in numeric]
    places = [header.index(name) for name in RUNS if name in header]
    run = next(iter([*named, *places, *text]), None)
    if run is None:
        what = "no column names the runs: all hold numbers"
        raise InputError(Problem(str(sheet.path), what, fix="name it: --key COLUMN"))
    kinds = _Kinds(run, apart=named[1:])
    for place, name in enumerate(header):
        if place in (run, *kinds.apart):
            continue
        if name in DATASETS:
            kinds.datasets.append(place)
        elif name in APART:
            kinds.apart.append(place)
        elif place in numeric and name in (*COUNTS, "n"):
            kinds.counts.append(place)
        elif place in numeric and name not in _PLACES and not _is_part(name, header):
            kinds.metrics.append(place)
        else:
            kinds.other.append(place)
    if not kinds.metrics:
        what = "no column of numbers, so no metric"
        raise InputError(Problem(str(sheet.path), what, ", ".join(sheet.header)))
    return kinds


def _place(sheet: Sheet, name: str) -> int:
    if name not in sheet.header:
        known = ", ".join(sheet.header)
        near = did_you_mean(name, sheet.header)
        raise UnknownNameError(f"{sheet.path}: no column '{name}'{near}  (there are: {known})")
    return sheet.header.index(name)


def _is_part(name: str, header: Sequence[str]) -> bool:
    """Return whether a column says more of another one: its deviation, its tier."""
    return any(name.endswith(part) and name.removesuffix(part) in header for part in _PARTS)


def _is_numeric(cells: Sequence[str]) -> bool:
    """Return whether a column is meant to hold numbers: more than half of what is filled does."""
    found = [number(cell) for cell in cells]
    filled = [one for one in found if one is None or not math.isnan(one.value)]
    wrong = sum(one is None for one in filled)
    return bool(filled) and wrong * 2 < len(filled)


def _numbers(sheet: Sheet, place: int, metric: Metric | None) -> tuple[list[float], float, bool]:
    """Return the values of a column, the unit of its last digit, and whether it is in percent."""
    found = [number(cell) for cell in sheet.column(place)]
    problems = [
        Problem(
            sheet.where(row),
            f"'{sheet.rows[row][place]}' is not a number, in column '{sheet.header[place]}'",
            fix="leave the field empty where there is no value",
        )
        for row, one in enumerate(found)
        if one is None
    ]
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))
    kept = [one for one in found if one is not None]
    filled = [one for one in kept if not math.isnan(one.value)]
    percent = sheet.header[place].endswith("(%)") or _is_percent(filled, metric)
    values = [one.value / 100 if percent or one.percent else one.value for one in kept]
    units = [one.unit / 100 if percent or one.percent else one.unit for one in filled]
    return values, min(units, default=0.0), percent or any(one.percent for one in filled)


def _is_percent(filled: Sequence[Printed], metric: Metric | None) -> bool:
    """Return whether a metric that ends at 1 is printed in percent: a value lies above it."""
    if metric is None or metric.definition.bounds[1] != 1:
        return False
    largest = max((one.value for one in filled if not one.percent), default=0.0)
    return 1.5 < largest <= 100


def _repetitions(sheet: Sheet, keys: Sequence[Key]) -> dict[Key, int]:
    if REPETITIONS not in sheet.header:
        return {}
    column = sheet.column(sheet.header.index(REPETITIONS))
    return {key: _count(cell) for key, cell in zip(keys, column, strict=True)}


def _count(cell: str) -> int:
    found = number(cell)
    return 0 if found is None or math.isnan(found.value) else int(found.value)


def _key(sheet: Sheet, kinds: _Kinds, row: int, names: Sequence[tuple[str, str]]) -> Key:
    cells = sheet.rows[row]
    dataset = " ".join(filter(None, (cells[place] for place in kinds.datasets)))
    apart = tuple((sheet.header[place], cells[place]) for place in kinds.apart if cells[place])
    return Key(renamed(dataset, names), renamed(cells[kinds.run], names), apart)


def _check_unique(sheet: Sheet, keys: Sequence[Key]) -> None:
    first: dict[Key, int] = {}
    problems = []
    for row, key in enumerate(keys):
        if not key.run:
            fix = "name the run, or the column that does: --key COLUMN"
            problems.append(Problem(sheet.where(row), "no name of a run", fix=fix))
        elif key in first:
            what = f"a row for {key} stands on line {sheet.lines[first[key]]} already"
            fix = "name the columns that tell them apart: --key RUN_COLUMN --key COLUMN"
            problems.append(Problem(sheet.where(row), what, fix=fix))
        first.setdefault(key, row)
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))


def _said(sheet: Sheet, kinds: _Kinds) -> str:
    def names(places: Sequence[int]) -> str:
        return ", ".join(f"'{sheet.header[place]}'" for place in places)

    def parts() -> Iterator[str]:
        yield f"runs in column {names([kinds.run])}"
        for what, places in (
            ("datasets in", kinds.datasets), ("told apart by", kinds.apart),
            ("metrics", kinds.metrics), ("not compared", [*kinds.counts, *kinds.other]),
        ):  # fmt: skip
            if places:
                yield f"{what} {names(places)}"

    return "; ".join(parts())
