"""The path of one value of a leaderboard, from its files to the value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import readers as readers
from ..config.cells import Cell
from ..config.patterns import as_if_there
from ..core.leaderboard import Entry, Failed, Leaderboard, Summary
from ..core.metric import Metric
from ..core.names import parse
from ..core.selection import Choice
from ..core.systems import (
    Chosen,
    Incomplete,
    System,
    dataset_name,
    failed_rows,
    incomplete,
    key_of,
    run_name,
    systems_of,
)
from ..core.tables import Qrels, Run
from ..core.text import Shown
from ..core.views import takes_fractions
from ..errors import SHOWN, HarnessError, InputError, Problem, UnknownNameError, did_you_mean
from ..experiment import folder as results
from ..experiment.outcome import Outcome
from .why_ranking import Step, steps

Key = tuple[str, str]
"""A row's dataset and run."""
EXTREMES = 5
"""How many of the largest and of the smallest values are listed."""
UNCHANGED = "unchanged"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Value(Shown):
    """A value of a leaderboard, and the files that it was computed from.

    `inputs` has path, bytes and sha256 of each file, and its ``state`` now; `unseen` is why they
    could not be looked up. `folder` is that of the results, as it was given.
    """

    name: str
    run: str
    dataset: str
    metric: Metric
    value: float
    inputs: tuple[Mapping[str, Any], ...] = ()
    unseen: str = ""
    folder: str = ""

    def __str__(self) -> str:
        from .why_report import render

        return render(self, self.folder).rstrip("\n")  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.metric} of {self.name}: {self.value!r}>"

    @property
    def is_confirmed(self) -> bool:
        """Whether the value was found again, to the last bit, as far as it was computed again."""
        return True


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Account(_Value):
    """The value of a cell, or of one of its queries (`qid`).

    `cell` is the cell's part of the `manifest`. A query also has `derived`, its value computed
    again from the files, its `ranking`, and the `ideal` order if the metric divides by it.
    """

    entry: Entry
    manifest: Mapping[str, Any]
    cell: Mapping[str, Any]
    qid: str | None = None
    derived: float | None = None
    ranking: tuple[Step, ...] = ()
    ideal: tuple[Step, ...] = ()

    @property
    def is_confirmed(self) -> bool:
        """Whether the files still give the query's value, to the last bit."""
        return self.derived is None or np.array_equal(self.derived, self.value, equal_nan=True)

    @property
    def extremes(self) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Queries with the largest and with the smallest values, five each."""
        values = self.entry.evaluation.column(str(self.metric))
        qids = self.entry.evaluation.qids.to_pylist()
        order = np.argsort(values, kind="stable")
        ranked = [(qids[at], float(values[at])) for at in order if not math.isnan(values[at])]
        return ranked[::-1][:EXTREMES], ranked[:EXTREMES]


@dataclass(frozen=True)
class Part:
    """What one cell adds to a row.

    `value` is the cell's own, over `n` queries that count. `total` is the sum of their values,
    each times its weight if they have weights; of logarithms for a geometric mean. `weight` is
    the sum of their weights; `n` if they have none.
    """

    dataset: str
    columns: Mapping[str, str]
    value: float
    n: int
    total: float
    weight: float


@dataclass(frozen=True)
class Repetition:
    """One of the values whose mean a row is; `columns` tell its seed from the others.

    `parts` are its cells (folds), `whole` is all of them together.
    """

    columns: Mapping[str, str]
    value: float
    whole: Part
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Row(_Value):
    """The value of a row: the mean of the repetitions' values.

    `recorded` is what ``leaderboard.csv`` holds; `low` and `high` are NaN if the results hold no
    interval. `averaged` is whether the parts count alike, whatever their sizes.
    """

    recorded: float
    deviation: float
    low: float
    high: float
    repetitions: tuple[Repetition, ...]
    averaged: bool
    chosen: Chosen | None
    choices: tuple[Choice, ...] = ()
    incomplete: Incomplete | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the values of its queries give what the leaderboard holds, to the last bit."""
        return np.array_equal(self.value, self.recorded, equal_nan=True)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class QueryRow(_Value):
    """The mean of a query's values in the repetitions of a row, as comparisons take it.

    `run` and `dataset` are those of the cells that hold the query. `value` is NaN if a repetition
    has none.
    """

    qid: str
    values: tuple[tuple[Mapping[str, str], float], ...]


def why(
    folder: Path, run: str, metric: str, *, dataset: str | None = None,
    where: Sequence[str] = (), query: str | None = None, inputs: Path | None = None,
) -> Account | Row | QueryRow:  # fmt: skip
    """Return the path of one cell of a folder of results, or what a row is made of.

    A row of several cells (``summary``) is meant if all of its cells fit; with `query`, those
    that hold it: the one of its fold, or one of each seed.

    Parameters
    ----------
    folder : Path
        Where ``harness run`` wrote them.
    run, dataset, where
        Names of a cell, or of the row that it is a part of; see
        :func:`harness.experiment.folder.one_cell`.
    metric : str
        One that the results hold, in any spelling.
    query : str, optional
        A qid: its ranking is read again from the files, and must give the value recorded.
    inputs : Path, optional
        The folder from which the config's paths start, if that or the results were moved.

    Raises
    ------
    InputError
        If there are no results, a query's files are gone or have changed, or the cell could
        not be evaluated: with the reason.
    UnknownNameError
        If there is no such cell, metric or query.
    """
    stored = results.read(folder, but=[results.LEADERBOARD])
    manifest = results.with_inputs(stored.manifest, inputs)
    board = _board(stored, dataset, where)
    wanted = _metric(board.entries[0].evaluation.metrics, metric)
    entries = [one for one in board.entries if _fits(one, board, run, dataset, where)]
    rows = _rows(entries, board) if query is None else []
    if query is not None and entries:
        entries = _with_query(query, entries)
    found: Account | Row | QueryRow | None = None
    if rows:
        found = _row(stored, rows, wanted)
    elif query is not None:
        found = _query_row(board, entries, wanted, query)
    if found is None:
        entries = [_one(entries, board, run, dataset, where)]
        found = _account(entries[0], manifest, wanted)
    cells, unseen = _cells(folder, manifest, entries)
    seen = _states(folder, manifest, cells)
    found = replace(found, inputs=seen, unseen=unseen, folder=str(folder))
    if isinstance(found, Account) and query is not None:
        return _with_ranking(found, folder, cells, query)
    return found


def _board(stored: Outcome, dataset: str | None, where: Sequence[str]) -> Leaderboard:
    """Return the leaderboard that names are of: of all settings if they name one."""
    selection = stored.board.selection
    if selection is None:
        return stored.board
    over, every = selection.settings.over, {one.dataset for one in stored.cells.entries}
    names_one = any(name in over for name in results.columns_of(where))
    if names_one or dataset in every - {one.dataset for one in stored.board.entries}:
        return replace(stored.cells, summary=Summary())
    return stored.board


def _metric(metrics: Sequence[Metric], name: str) -> Metric:
    by_name = {str(metric): metric for metric in metrics}
    if name not in by_name:
        try:
            spelt = [str(one) for one in parse(name)]
        except UnknownNameError:
            spelt = []
        if len(spelt) != 1 or spelt[0] not in by_name:
            raise UnknownNameError(
                f"these results hold no metric '{name}'{did_you_mean(name, by_name)}"
                f"  (they hold: {', '.join(by_name)})"
            )
        name = spelt[0]
    return by_name[name]


def _key(one: Entry | Failed, board: Leaderboard) -> Key:
    """Return the row that a cell is a part of."""
    name = run_name(one.run, one.columns, one.pattern, board.summary)
    return dataset_name(one, board.summary), name


def _fits(
    one: Entry | Failed, board: Leaderboard, run: str, dataset: str | None, where: Sequence[str]
) -> bool:
    """Return whether names are those of a cell or of its row."""
    row_dataset, row_run = _key(one, board)
    return (
        run in (one.run, row_run)
        and dataset in (None, one.dataset, row_dataset)
        and results.columns_of(where).items() <= dict(one.columns).items()
    )


def _rows(entries: Sequence[Entry], board: Leaderboard) -> list[Key]:
    """Return the rows of the entries if these are all cells of rows; a cell alone is no row."""
    keys = dict.fromkeys(_key(one, board) for one in entries)
    every = [one for one in board.entries if _key(one, board) in keys]
    return list(keys) if board.summary and len(every) == len(entries) > 1 else []


def _with_query(query: str, entries: Sequence[Entry]) -> list[Entry]:
    """Return the cells that hold a query; UnknownNameError if none does."""
    qids = [one.evaluation.qids.to_pylist() for one in entries]
    holding = [one for one, some in zip(entries, qids, strict=True) if query in some]
    if not holding:
        every = list(dict.fromkeys(qid for some in qids for qid in some))
        name = results.name_of(entries[0])
        if len(entries) > 1:
            name = f"any of {len(entries)} cells of {entries[0].run}"
        near = did_you_mean(query, every)
        raise UnknownNameError(f"no query '{query}' in {name}{near}  ({len(every)} queries)")
    return holding


def _one(
    entries: Sequence[Entry], board: Leaderboard, run: str, dataset: str | None,
    where: Sequence[str],
) -> Entry:  # fmt: skip
    """Return the only entry; raise with the reason if there is none, or there are several."""
    if len(entries) == 1:
        return entries[0]
    if entries:
        results.one_cell(entries, entries[0].run)  # raises
    problems = [
        Problem(results.name_of(one), f"has no value, as it could not be evaluated: {one.error}")
        for one in board.failed
        if _fits(one, board, run, dataset, where)
    ]
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))
    every = [one for one in board.entries if _fits(one, board, run, dataset, ())]
    results.check_columns([one.columns for one in every], where)
    return results.one_cell(board.entries, run, dataset, where)


def _account(entry: Entry, manifest: Mapping[str, Any], metric: Metric) -> Account:
    own = entry.dataset, entry.run, entry.all_columns
    cell = next(
        one
        for one in manifest["cells"]
        if (one["dataset"], one["run"], one.get("columns", {})) == own
    )
    return Account(
        name=results.name_of(entry), run=entry.run, dataset=entry.dataset, metric=metric,
        value=entry.summary[str(metric)], entry=entry, manifest=manifest,
        cell=cell,
    )  # fmt: skip


def _cells(
    folder: Path, manifest: Mapping[str, Any], entries: Sequence[Entry]
) -> tuple[list[Cell], str]:
    """Return the config's cells of entries, also if files are gone, or why there are none."""
    roots = (results.root_of(folder, manifest), folder / manifest["base"])
    paths = [root / each["path"] for each in manifest["inputs"] for root in roots]
    own = {(one.dataset, one.run, *sorted(one.all_columns.items())) for one in entries}
    try:
        with as_if_there(path for path in paths if not path.is_file()):
            _, cells = results.config_and_cells(folder, manifest, gone=True)
    except HarnessError as error:  # such as a plugin that is gone; the value does not need it
        return [], " ".join(str(error.problems[0] if error.problems else error).split())
    return [one for one in cells if (one.dataset, one.run, *sorted(one.columns.items())) in own], ""


def _states(
    folder: Path, manifest: Mapping[str, Any], cells: Sequence[Cell]
) -> tuple[Mapping[str, Any], ...]:
    """Return the files of cells, qrels first, each with its state and whether it is there."""
    root = results.root_of(folder, manifest)
    entries = [cell.dataset_entry for cell in cells]
    paths = [Path(path) for each in entries for path in (each.path, each.group) if path]
    paths += [Path(cell.run_entry.path) for cell in cells]
    recorded = {(root / each["path"]).resolve(): each for each in manifest["inputs"]}
    own = dict.fromkeys(path for one in paths if (path := one.resolve()) in recorded)
    changed = {
        Path(one.where).resolve(): one.what
        for one in results.changed_inputs(folder, manifest, only=map(str, own))
    }
    return tuple(
        {**recorded[path], "state": changed.get(path, UNCHANGED), "there": path.is_file()}
        for path in own
    )


def read_inputs(
    folder: Path, manifest: Mapping[str, Any], cell: Cell, fractions: bool
) -> tuple[Qrels, Run]:
    """Read the qrels and the run of a cell; InputError if they are gone or have changed."""
    judged, ranked = cell.dataset_entry, cell.run_entry
    results.check_inputs(folder, manifest, only=(judged.path, ranked.path))
    qrels = readers.read_qrels(
        judged.path, name=cell.dataset, fractions=fractions, **judged.options()
    )
    return qrels, readers.read_run(ranked.path, dataset=qrels, name=cell.run, **ranked.options())


def _with_ranking(found: Account, folder: Path, cells: Sequence[Cell], query: str) -> Account:
    """Return the account of one query's value, with its ranking read from the files."""
    metric, evaluation = found.metric, found.entry.evaluation
    if not metric.is_built_in:
        fix = "leave --query out; harness verify --plugins computes all values again"
        what = f"expected a metric of the harness with --query, got a plugin's: {metric}"
        raise InputError(Problem(str(folder), what, fix=fix))
    if not any(each["there"] for each in found.inputs):
        results.config_and_cells(folder, found.manifest)  # raises, with what to do
    value = evaluation.column(str(metric))[evaluation.qids.to_pylist().index(query)]
    fractions = takes_fractions((metric,), evaluation.policy)
    qrels, run = read_inputs(folder, found.manifest, cells[0], fractions)
    ranking, ideal, derived = steps(qrels, run, query, metric, evaluation.policy)
    return replace(
        found, value=float(value), qid=query, derived=derived, ranking=ranking, ideal=ideal
    )


def _row(stored: Outcome, keys: Sequence[Key], metric: Metric) -> Row:
    """Return a row taken apart; UnknownNameError if there are several, or a part is missing."""
    if len(keys) > 1:
        listed = "; ".join(f"{run} on {dataset}" for dataset, run in keys[:10])
        raise UnknownNameError(
            f"{len(keys)} rows fit, where one is needed: name its --dataset, or its columns as in "
            f"--where lr=0.1  (there are: {listed})"
        )
    board, (key,) = stored.board, keys
    name = f"{key[1]} on {key[0]}"
    systems = systems_of(board)
    at = next((at for at, one in enumerate(systems) if (one.dataset, one.run) == key), None)
    if at is None:
        raise UnknownNameError(
            f"{name} has no value, as a part is missing; name one of its cells, with --dataset and "
            "--where"
        )
    system, path = systems[at], stored.folder / results.LEADERBOARD
    shown: list[System | Failed] = [*systems, *failed_rows(board)]
    names = [{"dataset": one.dataset, "run": one.run} for one in shown]
    line = results.read_rows(path, results.read_bytes(path), names)[at]
    columns = [f"{metric}{end}" for end in ("", " low", " high")]
    recorded = line.numbers([name for name in columns if name in line.fields])
    value, low, high = (recorded.get(name, math.nan) for name in columns)
    return Row(
        name=name, run=system.entries[0].run, dataset=key[0], metric=metric,
        value=system.value(metric), recorded=value, low=low, high=high,
        deviation=system.deviation(metric), averaged=bool(board.summary.average),
        repetitions=tuple(_repetition(one, system, board, metric) for one in system.entries),
        chosen=system.chosen,
        choices=tuple(dict.fromkeys(c for one in system.entries for c in one.choices)),
        incomplete=incomplete(board).get(key),
    )  # fmt: skip


def _repetition(entry: Entry, system: System, board: Leaderboard, metric: Metric) -> Repetition:
    names = board.summary.parts
    rest = tuple((name, value) for name, value in entry.columns.items() if name not in names)
    key = entry.dataset, entry.run, rest
    cells = [one for one in board.entries if key_of(one, names) == key] if names else [entry]
    columns = {name: entry.columns.get(name, "") for name in system.varying}
    parts = tuple(_part(one, metric) for one in cells)
    return Repetition(columns, entry.summary[str(metric)], _part(entry, metric), parts)


def _part(entry: Entry, metric: Metric) -> Part:
    at = entry.evaluation.names.index(str(metric))
    values, weights = entry.evaluation.values[:, at], entry.evaluation.weights.get(at)
    if metric.settings.undefined == "zero":
        values = np.nan_to_num(values, nan=0.0)
    defined = ~np.isnan(values)
    n = int(defined.sum())
    total = values[defined] if weights is None else values[defined] * weights[defined]
    weight = n if weights is None else math.fsum(weights[defined].tolist())
    value, columns = entry.summary[str(metric)], dict(entry.columns)
    return Part(entry.dataset, columns, value, n, math.fsum(total.tolist()), weight)


def _query_row(
    board: Leaderboard, cells: Sequence[Entry], metric: Metric, query: str
) -> QueryRow | None:
    """Return a query's values in a row; None if the cells are not the repetitions of one."""
    keys = {_key(one, board) for one in cells}
    rows = [one for one in systems_of(board) if {(one.dataset, one.run)} == keys]
    if len(cells) < 2 or not rows or len(rows[0].entries) != len(cells):
        return None
    (system,) = rows
    at = system.qids.index(query)
    columns = [{name: one.columns[name] for name in system.varying} for one in system.entries]
    values = system.repetitions(metric)[:, at].tolist()
    return QueryRow(
        name=f"{system.run} on {system.dataset}", run=cells[0].run, dataset=cells[0].dataset,
        metric=metric, qid=query, value=float(system.values(metric)[at]),
        values=tuple(zip(columns, values, strict=True)),
    )  # fmt: skip
