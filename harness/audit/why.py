"""The path of one value of a leaderboard, from its files to the value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import readers as readers
from ..config.cells import Cell
from ..config.patterns import as_if_there
from ..core.align import align
from ..core.aligned import Aligned
from ..core.evaluate import evaluate
from ..core.leaderboard import Entry, Failed, Leaderboard, Summary
from ..core.metric import Metric
from ..core.names import parse
from ..core.policy import GradeRule, Policy
from ..core.ragged import Ints
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
from ..core.views import policies_of, takes_fractions, view
from ..errors import (
    SHOWN,
    HarnessError,
    InputError,
    Problem,
    UnknownNameError,
    did_you_mean,
    near_names,
)
from ..experiment import folder as results
from ..experiment.outcome import Results
from ..metrics.gains import Scale

UNCHANGED = "unchanged"
FIRST, MOST = 10, 60
"""Ranks that are always shown, and how many are shown at most."""


@dataclass(frozen=True)
class Step:
    """One document of a ranking, or of the ideal order, which has no docno and no score.

    `grade` is None if it is not judged. For DCG and nDCG it adds `gain` / `discount`. `running` is
    the metric's value for the ranking cut here; in the ideal order its DCG up to here.
    """

    rank: int
    docno: str
    score: float
    grade: float | None = None
    gain: float | None = None
    discount: float | None = None
    running: float | None = None

    @property
    def added(self) -> float | None:
        """What the document adds: gain / discount."""
        return None if self.gain is None or self.discount is None else self.gain / self.discount


class Part(NamedTuple):
    """What one cell adds to a row.

    `total` is the sum of its `n` values, times their weights if they have any; the sum of
    logarithms for a geometric mean. `weight` is the sum of the weights, or `n`.
    """

    dataset: str
    columns: Mapping[str, str]
    value: float
    n: int
    total: float
    weight: float


class Repetition(NamedTuple):
    """One value of the mean that a row is; `whole` is all of its cells (`parts`) together."""

    columns: Mapping[str, str]
    value: float
    whole: Part
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Account(Shown):
    """A value of a leaderboard, and where it comes from.

    `inputs` has path, bytes and sha256 of each file, its ``state`` and whether it is ``there``;
    `unseen` is why they were not hashed. The rest depends on what the value is of:

    - a cell: its `entry`, its part of the `manifest` (`cell`);
    - a query of a cell (`qid`): also `derived`, its value computed again from the files, its
      `ranking`, and the `ideal` order if the metric divides by it;
    - a row of `repetitions`: the value `recorded` in ``leaderboard.csv``, `deviation`, and `low`
      and `high`, NaN without an interval; `averaged` is whether parts of any size count alike;
    - a query of a row: its `values` in the repetitions, whose mean comparisons use.

    `warned` has the rules of the guard's warnings about its runs.
    """

    name: str
    run: str
    dataset: str
    metric: Metric
    value: float
    inputs: tuple[Mapping[str, Any], ...] = ()
    unseen: str = ""
    folder: str = ""
    entry: Entry | None = None
    manifest: Mapping[str, Any] = field(default_factory=dict)
    cell: Mapping[str, Any] = field(default_factory=dict)
    qid: str | None = None
    derived: float | None = None
    ranking: tuple[Step, ...] = ()
    ideal: tuple[Step, ...] = ()
    values: tuple[tuple[Mapping[str, str], float], ...] = ()
    recorded: float | None = None
    deviation: float = math.nan
    low: float = math.nan
    high: float = math.nan
    repetitions: tuple[Repetition, ...] = ()
    averaged: bool = False
    chosen: Chosen | None = None
    choices: tuple[Choice, ...] = ()
    incomplete: Incomplete | None = None
    warned: tuple[str, ...] = ()

    def __str__(self) -> str:
        from .why_report import render

        return render(self, self.folder).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Account: {self.metric} of {self.name}: {self.value!r}>"

    @property
    def is_confirmed(self) -> bool:
        """Whether the files, or the queries of a row, still give the value to the last bit."""
        other = self.derived if self.recorded is None else self.recorded
        return other is None or np.array_equal(other, self.value, equal_nan=True)


def why(
    folder: Path, run: str, metric: str, *, dataset: str | None = None,
    where: Sequence[str] = (), query: str | None = None, inputs: Path | None = None,
) -> Account:  # fmt: skip
    """Return the path of one cell of a folder of results, or the parts of a row.

    A row of several cells (``summary``) is meant if all of its cells fit the names; with `query`,
    the cells that hold it: one of its fold, or one of each seed. `inputs` is the folder from which
    the config's paths start, if that or the results were moved.

    Raises InputError if there are no results, a query's files are gone or have changed, or the
    cell could not be evaluated; UnknownNameError if there is no such cell, metric or query.
    """
    stored = results.read(folder, but=[results.LEADERBOARD])
    manifest = results.with_inputs(stored.manifest, inputs)
    board = _board(stored, dataset, where)
    wanted = _metric(board.entries[0].evaluation.metrics, metric)
    entries = [one for one in board.entries if _fits(one, board, run, dataset, where)]
    if query is None:
        found = _row(stored, board, entries, wanted)
    else:
        entries = _with_query(query, entries) if entries else []
        found = _query_row(board, entries, wanted, query)
    if found is None:
        entries = [_one(entries, board, run, dataset, where)]
        found = _cell(entries[0], manifest, wanted)
    cells, unseen = _cells(folder, manifest, entries)
    seen = _states(folder, manifest, cells)
    warned = tuple(dict.fromkeys(rule for one in entries for rule in one.warned))
    found = replace(found, inputs=seen, unseen=unseen, folder=str(folder), warned=warned)
    if query is not None and found.entry is not None:
        return _with_ranking(found, folder, cells, query)
    return found


def _board(stored: Results, dataset: str | None, where: Sequence[str]) -> Leaderboard:
    """Return the leaderboard to find names in: all settings if they name one."""
    selection = stored.board.selection
    if selection is None:
        return stored.board
    every = {one.dataset for one in stored.cells.entries}
    names_one = any(name in selection.settings.over for name in results.columns_of(where))
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


def _key(one: Entry | Failed, board: Leaderboard) -> tuple[str, str]:
    """Return dataset and run of the row that a cell is a part of."""
    name = run_name(one.run, one.columns, one.pattern, board.summary)
    return dataset_name(one, board.summary), name


def _fits(
    one: Entry | Failed, board: Leaderboard, run: str, dataset: str | None, where: Sequence[str]
) -> bool:
    """Return whether names fit a cell or its row."""
    row_dataset, row_run = _key(one, board)
    return (
        run in (one.run, row_run)
        and dataset in (None, one.dataset, row_dataset)
        and results.columns_of(where).items() <= dict(one.columns).items()
    )


def _with_query(query: str, entries: Sequence[Entry]) -> list[Entry]:
    """Return the cells that hold a query; UnknownNameError if there are none."""
    qids = [one.evaluation.qids.to_pylist() for one in entries]
    holding = [one for one, some in zip(entries, qids, strict=True) if query in some]
    if not holding:
        every = list(dict.fromkeys(qid for some in qids for qid in some))
        name = results.name_of(entries[0])
        if len(entries) > 1:
            name = f"any of {len(entries)} cells of {entries[0].run}"
        near = did_you_mean(query, every)
        some = f"{len(every):,} queries: {near_names(query, every)}"
        raise UnknownNameError(f"no query '{query}' in {name}{near}  ({some})")
    return holding


def _one(
    entries: Sequence[Entry], board: Leaderboard, run: str, dataset: str | None,
    where: Sequence[str],
) -> Entry:  # fmt: skip
    """Return the only entry; raise with the reason if there are none or several."""
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


def _cell(entry: Entry, manifest: Mapping[str, Any], metric: Metric) -> Account:
    own = entry.dataset, entry.run, entry.all_columns
    cell = next(
        one
        for one in manifest["cells"]
        if (one["dataset"], one["run"], one.get("columns", {})) == own
    )
    return Account(
        name=results.name_of(entry), run=entry.run, dataset=entry.dataset, metric=metric,
        value=entry.summary[str(metric)], entry=entry, manifest=manifest, cell=cell,
        choices=entry.choices,
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
    folder: Path, manifest: Mapping[str, Any], cell: Cell, fractions: bool = True
) -> tuple[Qrels, Run]:
    """Read the qrels and the run of a cell; InputError if they are gone or have changed."""
    judged, ranked = cell.dataset_entry, cell.run_entry
    results.check_inputs(folder, manifest, only=(judged.path, ranked.path))
    own = readers.read_qrels(
        judged.path, name=cell.dataset, fractions=fractions, **judged.options()
    )
    return own, readers.read_run(ranked.path, dataset=own, name=cell.run, **ranked.options())


def _with_ranking(found: Account, folder: Path, cells: Sequence[Cell], query: str) -> Account:
    """Return the account of one query's value, with its ranking read from the files."""
    assert found.entry is not None
    metric, evaluation = found.metric, found.entry.evaluation
    if not metric.is_built_in:
        fix = "leave --query out; harness verify --plugins computes all values again"
        what = f"expected a metric of the harness with --query, got a plugin's: {metric}"
        raise InputError(Problem(str(folder), what, fix=fix))
    if not any(each["there"] for each in found.inputs):
        results.config_and_cells(folder, found.manifest)  # raises, with a fix
    value = evaluation.column(str(metric))[evaluation.qids.to_pylist().index(query)]
    fractions = takes_fractions((metric,), evaluation.policy)
    qrels, run = read_inputs(folder, found.manifest, cells[0], fractions)
    ranking, ideal, derived = steps(qrels, run, query, metric, evaluation.policy)
    return replace(
        found, value=float(value), qid=query, derived=derived, ranking=ranking, ideal=ideal
    )


def _row(
    stored: Results, asked: Leaderboard, entries: Sequence[Entry], metric: Metric
) -> Account | None:
    """Return a row taken apart; None if the entries are not all cells of rows.

    UnknownNameError if they are of several rows, or a part is missing.
    """
    keys = list(dict.fromkeys(_key(one, asked) for one in entries))
    n_cells = sum(_key(one, asked) in keys for one in asked.entries)
    if not asked.summary or not n_cells == len(entries) > 1:
        return None
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
    return Account(
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
) -> Account | None:
    """Return a query's values in a row; None if the cells are not the repetitions of one."""
    keys = {_key(one, board) for one in cells}
    rows = [one for one in systems_of(board) if {(one.dataset, one.run)} == keys]
    if len(cells) < 2 or not rows or len(rows[0].entries) != len(cells):
        return None
    (system,) = rows
    at = system.qids.index(query)
    columns = [{name: one.columns[name] for name in system.varying} for one in system.entries]
    values = system.repetitions(metric)[:, at].tolist()
    return Account(
        name=f"{system.run} on {system.dataset}", run=cells[0].run, dataset=cells[0].dataset,
        metric=metric, qid=query, value=float(system.values(metric)[at]),
        values=tuple(zip(columns, values, strict=True)),
    )  # fmt: skip


def steps(
    qrels: Qrels, run: Run, query: str, metric: Metric, policy: Policy
) -> tuple[tuple[Step, ...], tuple[Step, ...], float | None]:
    """Return a query's ranking and ideal order under a metric's settings, and its value.

    The ranking has ranks 1 to 10 and all documents with a grade above 0, up to the cutoff and 60
    rows; it is empty if the run does not answer the query. DCG and nDCG have an ideal order. The
    value is None without a ranking, and for a metric that compares to another run.
    """
    if query not in run.qids.to_pylist():
        return (), (), None
    at, place = (each.qids.to_pylist().index(query) for each in (qrels, run))
    judged, ranked = qrels.part(at, at + 1), run.part(place, place + 1)
    whole = replace(policy, missing_queries="zero")
    own = whole.with_settings(metric.settings)
    order = _order(judged, ranked, own)
    seen = view(align(judged, ranked, whole, policies_of([metric], whole)), own)
    grades = dict(zip(seen.rank.tolist(), seen.grade.tolist(), strict=True))
    cut = metric.cutoff is not None and metric.cutoff >= 1
    last = min(order.size, int(metric.cutoff or 0)) if cut else order.size
    relevant = {rank for rank, grade in grades.items() if grade > 0 and rank <= last}
    shown = sorted(relevant.union(range(1, min(last, FIRST) + 1), [last] if last else []))[:MOST]
    running = {}
    if own.ties != "average" and own.seed is None and metric.reference is None:
        for rank in shown:
            head = np.isin(np.arange(ranked.n_rows), order[:rank])
            top = replace(ranked.filter(head), order=None, n_source=None)
            running[rank] = _value(metric, whole, judged, top)
    scale, docnos = _scale(metric), ranked.docnos.to_strings().to_pylist()
    ranking = []
    for rank in shown:
        row, grade = order[rank - 1], grades.get(rank)
        step = Step(rank, docnos[row], float(ranked.scores[row]), grade, running=running.get(rank))
        if scale is not None:
            gain = 0.0 if grade is None else float(scale.gains(np.array([grade]))[0])
            discount = float(scale.discounts(np.array([rank]))[0])
            step = replace(step, gain=gain, discount=discount)
        ranking.append(step)
    ideal = _ideal(metric, seen, scale) if scale and metric.definition.name == "ndcg" else ()
    value = None if metric.reference else _value(metric, whole, judged, ranked)
    return tuple(ranking), ideal, value


def _order(judged: Qrels, ranked: Run, policy: Policy) -> Ints:
    """Return the rows of a query's run in rank order, under the policy's order of ties."""
    every = Qrels(ranked.qids, ranked.offsets, ranked.docnos, np.arange(ranked.n_rows))
    ties = policy.ties
    if ties in ("best", "worst", "average") or policy.seed is not None:
        ties = "trec_eval"
    plain = replace(policy, depth=None, judged_only=False, grades=GradeRule(), ties=ties)
    found = view(align(every, ranked, plain, [plain]), plain)
    order: Ints = found.grade  # the "grade" of a document is its row
    grade_of = judged.to_dict()[judged.qids[0].as_py()]
    grade = np.array([grade_of.get(d, -1) for d in ranked.docnos.to_strings().to_pylist()])
    if policy.ties in ("best", "worst"):
        sign = -1 if policy.ties == "best" else 1
        order = order[np.lexsort((sign * grade[order], found.tie_first))]
    if policy.judged_only:
        order = order[grade[order] >= 0]
    return order if policy.depth is None else order[: policy.depth]


def _value(metric: Metric, policy: Policy, judged: Qrels, ranked: Run) -> float:
    aligned = align(judged, ranked, policy, policies_of([metric], policy))
    return float(evaluate(aligned, [metric]).values[0, 0])


def _scale(metric: Metric) -> Scale | None:
    """Return what gains and discounts a metric adds up; None if it is no DCG."""
    given: dict[str, Any] = metric.arguments()
    if metric.definition.name not in ("dcg", "ndcg") or given.get("gains"):
        return None
    return Scale(**{name: given[name] for name in Scale._fields if name in given})


def _ideal(metric: Metric, seen: Aligned, scale: Scale) -> tuple[Step, ...]:
    full = metric.arguments().get("ideal") == "full"
    _, at, rank = scale.ideal(seen, None if full or metric.cutoff is None else int(metric.cutoff))
    gains, discounts = scale.gains(seen.ideal.values[at]), scale.discounts(rank)
    sums = np.cumsum(gains / discounts)
    columns = rank, seen.ideal.values[at], gains, discounts, sums
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(Step(rank, "", math.nan, *rest) for rank, *rest in rows)
