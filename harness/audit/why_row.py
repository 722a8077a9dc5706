"""A row of a leaderboard that several cells make, taken apart into them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.leaderboard import Entry, Failed, Leaderboard
from ..core.metric import Metric
from ..core.pooling import key_of, lacking
from ..core.systems import (
    Chosen,
    Incomplete,
    System,
    dataset_name,
    incomplete,
    run_name,
    systems_of,
)
from ..errors import SHOWN, InputError, Problem, UnknownNameError
from ..experiment import origin as origin
from ..experiment.results import LEADERBOARD, Results, read_rows

States = tuple[Mapping[str, Any], ...]
"""Of each file path, bytes and sha256 then, and its state now."""
Key = tuple[str, str]
"""A row's dataset and run."""


@dataclass(frozen=True)
class Part:
    """What one cell adds to a row.

    `value` is the cell's own, as ``leaderboard_cells.csv`` has it, over `n` queries that count.
    `total` is the sum of their values, each times its weight if they have weights; of logarithms
    for a geometric mean. `weight` is the sum of their weights; `n` if they have none.
    """

    dataset: str
    columns: Mapping[str, str]
    value: float
    n: int
    total: float
    weight: float


@dataclass(frozen=True)
class Repetition:
    """One of the values whose mean a row is: `columns` tell its seed from the others.

    `parts` are its cells (folds), `whole` is all of them together.
    """

    columns: Mapping[str, str]
    value: float
    whole: Part
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Row:
    """Where the value of a row comes from.

    `value` is the mean of the repetitions' values, `recorded` what ``leaderboard.csv`` holds;
    `low` and `high` are NaN if the results hold no interval. `averaged` is whether the parts count
    alike, whatever their sizes. `inputs` are those of all its cells, or `unseen` why they were not
    looked at.
    """

    name: str
    run: str
    metric: Metric
    value: float
    recorded: float
    deviation: float
    low: float
    high: float
    repetitions: tuple[Repetition, ...]
    averaged: bool
    chosen: Chosen | None
    inputs: States = ()
    unseen: str = ""
    incomplete: Incomplete | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the values of its queries give what the leaderboard holds, to the last bit."""
        return np.array_equal(self.value, self.recorded, equal_nan=True)


@dataclass(frozen=True, eq=False)
class QueryRow:
    """The values of a query in the repetitions of a row, and their mean.

    `run` and `dataset` are those of the cells that hold the query. `value` is what comparisons take
    for it; NaN if a repetition has none.
    """

    name: str
    run: str
    dataset: str
    metric: Metric
    qid: str
    value: float
    values: tuple[tuple[Mapping[str, str], float], ...]
    inputs: States = ()
    unseen: str = ""

    @property
    def is_confirmed(self) -> bool:
        """True: nothing is computed again."""
        return True


def selected(
    board: Leaderboard, run: str, dataset: str | None, where: Sequence[str]
) -> tuple[list[Entry], list[Key]]:
    """Return the cells that fit, and the rows if these are all cells of rows.

    Names are those of a cell, or of the row that it is a part of. A cell alone is no row, and
    if the config has no summary there are none.
    """
    wanted, rows = origin.columns_of(where), dict[Key, list[Entry]]()
    for entry in board.entries:
        rows.setdefault(_key(entry, board), []).append(entry)
    fitting = {
        key: some
        for key, cells in rows.items()
        if (some := [one for one in cells if _fits(one, key, run, dataset, wanted)])
    }
    cells = [entry for some in fitting.values() for entry in some]
    if len(cells) < 2 or not board.summary or any(fitting[key] != rows[key] for key in fitting):
        return cells, []
    return cells, list(fitting)


def check_failed(board: Leaderboard, run: str, dataset: str | None, where: Sequence[str]) -> None:
    """Raise InputError with the reason if the selected cells could not be evaluated."""
    wanted, problems = origin.columns_of(where), []
    for one in board.failed:
        if _fits(one, _key(one, board), run, dataset, wanted):
            columns = "".join(f", {name}={value}" for name, value in one.columns.items())
            what = f"has no value, as it could not be evaluated: {one.error}"
            problems.append(Problem(f"{one.run} on {one.dataset}{columns}", what))
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))


def _key(one: Entry | Failed, board: Leaderboard) -> Key:
    """Return the row that a cell is a part of."""
    name = run_name(one.run, one.columns, one.pattern, board.summary)
    return dataset_name(one, board.summary), name


def _fits(
    entry: Entry | Failed, key: Key, run: str, dataset: str | None, wanted: Mapping[str, str]
) -> bool:
    return (
        run in (entry.run, key[1])
        and dataset in (None, entry.dataset, key[0])
        and all(entry.columns.get(name) == value for name, value in wanted.items())
    )


def row_of(stored: Results, keys: Sequence[Key], metric: Metric) -> Row:
    """Return a row taken apart; UnknownNameError if there are several, or it lacks a part."""
    if len(keys) > 1:
        listed = "; ".join(f"{run} on {dataset}" for dataset, run in keys)
        raise UnknownNameError(
            f"{len(keys)} rows fit, where one is needed: name its --dataset, or its columns as "
            f"in --where lr=0.1  (there are: {listed})"
        )
    board, (key,) = stored.study.board, keys
    name = f"{key[1]} on {key[0]}"
    systems = systems_of(board)
    at = next((at for at, one in enumerate(systems) if (one.dataset, one.run) == key), None)
    if at is None:
        raise UnknownNameError(
            f"{name} has no value: it lacks a part; name one of its cells, with --dataset and "
            "--where"
        )
    system = systems[at]
    recorded, low, high = _recorded(
        stored.folder / LEADERBOARD, [*systems, *lacking(board)], at, metric
    )
    return Row(
        name, system.entries[0].run, metric, system.value(metric), recorded,
        system.deviation(metric), low, high,
        tuple(_repetition(one, system, board, metric) for one in system.entries),
        bool(board.summary.average), system.chosen, incomplete=incomplete(board).get(key),
    )  # fmt: skip


def _recorded(path: Path, shown: Sequence[System | Failed], at: int, metric: Metric) -> list[float]:
    """Return a row's value and the interval around it, NaN if the file has none."""
    names = [{"dataset": one.dataset, "run": one.run} for one in shown]
    row = read_rows(path, origin.read_bytes(path), names)[at]
    columns = [f"{metric}{end}" for end in ("", " low", " high")]
    found = row.numbers([name for name in columns if name in row.fields])
    return [found.get(name, math.nan) for name in columns]


def _repetition(entry: Entry, system: System, board: Leaderboard, metric: Metric) -> Repetition:
    names = board.summary.parts
    rest = tuple((name, value) for name, value in entry.columns.items() if name not in names)
    key = entry.dataset, entry.run, rest
    cells = [one for one in board.entries if key_of(one, names) == key] if names else [entry]
    columns = {name: entry.columns.get(name, "") for name in system.varying}
    return Repetition(
        columns, entry.summary[str(metric)], _part(entry, metric),
        tuple(_part(one, metric) for one in cells),
    )  # fmt: skip


def _part(entry: Entry, metric: Metric) -> Part:
    at = entry.evaluation.names.index(str(metric))
    values, weights = entry.evaluation.values[:, at], entry.evaluation.weights.get(at)
    if metric.settings.undefined == "zero":
        values = np.nan_to_num(values, nan=0.0)
    defined = ~np.isnan(values)
    total = values[defined] if weights is None else values[defined] * weights[defined]
    n = int(defined.sum())
    return Part(
        entry.dataset, dict(entry.columns), entry.summary[str(metric)], n,
        math.fsum(total.tolist()), n if weights is None else math.fsum(weights[defined].tolist()),
    )  # fmt: skip


def query_row_of(
    stored: Results, cells: Sequence[Entry], metric: Metric, query: str
) -> QueryRow | None:
    """Return a query's values in a row; None if the cells are not the repetitions of one."""
    board = stored.study.board
    keys = {_key(one, board) for one in cells}
    rows = [one for one in systems_of(board) if {(one.dataset, one.run)} == keys]
    if len(cells) < 2 or not rows or len(rows[0].entries) != len(cells):
        return None
    (system,) = rows
    if query not in system.qids:
        return None
    at = system.qids.index(query)
    values = system.repetitions(metric)[:, at].tolist()
    varying = [{name: one.columns[name] for name in system.varying} for one in system.entries]
    return QueryRow(
        f"{system.run} on {system.dataset}", cells[0].run, cells[0].dataset, metric, query,
        float(np.asarray(system.values(metric))[at]), tuple(zip(varying, values, strict=True)),
    )  # fmt: skip
