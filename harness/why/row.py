"""A row of a leaderboard that stands for several cells, taken apart into them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .. import origin
from ..core.incomplete import Incomplete, incomplete
from ..core.leaderboard import Entry, Failed, Leaderboard
from ..core.metric import Metric
from ..core.pooling import key_of
from ..core.systems import Chosen, System, dataset_name, run_name, systems_of
from ..errors import SHOWN, InputError, Problem, UnknownNameError
from ..results import LEADERBOARD, Results
from .inputs import States

Key = tuple[str, str]
"""A row's dataset and run."""


@dataclass(frozen=True)
class Part:
    """What one cell adds to a row.

    Parameters
    ----------
    dataset : str
    columns : mapping of str to str
        What was captured.
    value : float
        Its own, as ``leaderboard_cells.csv`` has it.
    n : int
        Queries that count.
    total : float
        The sum of their values, each times its weight where they have weights; of logarithms
        for a geometric mean.
    weight : float
        The sum of their weights; `n` where they have none.
    """

    dataset: str
    columns: Mapping[str, str]
    value: float
    n: int
    total: float
    weight: float


@dataclass(frozen=True)
class Repetition:
    """One value of those whose mean a row is: of one seed.

    Parameters
    ----------
    columns : mapping of str to str
        What tells it from the others.
    value : float
    whole : Part
        All of its parts together.
    parts : tuple of Part
        The cells: folds.
    """

    columns: Mapping[str, str]
    value: float
    whole: Part
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Row:
    """Where the value of a row comes from.

    Parameters
    ----------
    name : str
        Run and dataset of the row.
    run : str
        What its cells' run is called.
    metric : Metric
    value : float
        The mean of the repetitions' values.
    recorded : float
        What ``leaderboard.csv`` holds.
    deviation, low, high : float
        Over the repetitions, and the interval that the results hold; NaN where there is none.
    repetitions : tuple of Repetition
    averaged : bool
        Whether the parts count alike, whatever their sizes.
    chosen : Chosen, optional
        Where it is the best of several.
    inputs : tuple of mapping
        Of all its cells, as those of :class:`~harness.why.Account`.
    unseen : str
        Why the inputs were not looked at.
    incomplete : Incomplete, optional
        Where it has fewer repetitions than it should.
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
        return self.value == self.recorded or (math.isnan(self.value) and math.isnan(self.recorded))


def meant(
    board: Leaderboard, run: str, dataset: str | None, where: Sequence[str]
) -> tuple[list[Entry], list[Key]]:
    """Return the cells that are meant, and the rows where these are all cells of rows.

    Names are those of a cell, or of the row that it is a part of. A cell alone is no row, and
    where the config has no summary there are none.
    """
    wanted, rows = origin.columns_of(where), dict[Key, list[Entry]]()
    for entry in board.entries:
        rows.setdefault(row_key(entry, board), []).append(entry)
    fitting = {
        key: some
        for key, cells in rows.items()
        if (some := [one for one in cells if _fits(one, key, run, dataset, wanted)])
    }
    cells = [entry for some in fitting.values() for entry in some]
    alone = len(cells) < 2 or not board.summary
    if alone or any(len(some) < len(rows[key]) for key, some in fitting.items()):
        return cells, []
    return cells, list(fitting)


def check_failed(board: Leaderboard, run: str, dataset: str | None, where: Sequence[str]) -> None:
    """Raise InputError with the reason where the cells that are meant could not be evaluated."""
    wanted, problems = origin.columns_of(where), []
    for one in board.failed:
        name = run_name(one.run, one.columns, one.pattern, board.summary)
        if _fits(one, (dataset_name(one, board.summary), name), run, dataset, wanted):
            columns = "".join(f", {name}={value}" for name, value in one.columns.items())
            what = f"has no value, as it could not be evaluated: {one.error}"
            problems.append(Problem(f"{one.run} on {one.dataset}{columns}", what))
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))


def row_key(entry: Entry, board: Leaderboard) -> Key:
    """Return the row that a cell is a part of."""
    name = run_name(entry.run, entry.columns, entry.pattern, board.summary)
    return dataset_name(entry, board.summary), name


def row_name(key: Key) -> str:
    """Return what a row is called: ``gbrt on letor``."""
    dataset, run = key
    return f"{run} on {dataset}"


def _fits(
    entry: Entry | Failed, key: Key, run: str, dataset: str | None, wanted: Mapping[str, str]
) -> bool:
    return (
        run in (entry.run, key[1])
        and dataset in (None, entry.dataset, key[0])
        and all(entry.columns.get(name) == value for name, value in wanted.items())
    )


def row_of(stored: Results, keys: Sequence[Key], metric: Metric) -> Row:
    """Return a row taken apart.

    Raises
    ------
    UnknownNameError
        Where there are several, or the leaderboard leaves it out since it lacks a part.
    """
    if len(keys) > 1:
        listed = "; ".join(f"{run} on {dataset}" for dataset, run in keys)
        raise UnknownNameError(
            f"{len(keys)} rows fit, where one is needed: name its --dataset, or its columns as "
            f"in --where lr=0.1  (there are: {listed})"
        )
    board, (key,) = stored.study.board, keys
    dataset, run = key
    systems = systems_of(board)
    places = [at for at, one in enumerate(systems) if (one.dataset, one.run) == key]
    if not places:
        raise UnknownNameError(
            f"{run} on {dataset} has no value: it lacks a part; name one of its cells, with "
            "--dataset and --where"
        )
    system = systems[places[0]]
    text = origin.read_bytes(stored.folder / LEADERBOARD).decode("utf-8")
    row = list(csv.DictReader(io.StringIO(text, newline="")))[places[0]]
    recorded, low, high = (_number(row.get(f"{metric}{end}")) for end in ("", " low", " high"))
    return Row(
        row_name(key), system.entries[0].run, metric, system.value(metric), recorded,
        system.deviation(metric), low, high,
        tuple(_repetition(one, system, board, metric) for one in system.entries),
        bool(board.summary.average), system.chosen, incomplete=incomplete(board).get(key),
    )  # fmt: skip


def _number(text: str | None) -> float:
    return float(text) if text else math.nan


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
    kept = ~np.isnan(values)
    total = values[kept] if weights is None else values[kept] * weights[kept]
    n = int(kept.sum())
    return Part(
        entry.dataset, dict(entry.columns), entry.summary[str(metric)], n,
        math.fsum(total.tolist()), n if weights is None else math.fsum(weights[kept].tolist()),
    )  # fmt: skip
