"""Origin of one value of a leaderboard: its files, settings, cells and ranking."""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..config.cells import Cell
from ..core.align import align, rank_order
from ..core.aligned import Aligned
from ..core.arguments import MAPPING, PATH, TEXT, PathLike, check_arguments
from ..core.cell_key import pairs
from ..core.entries import Choice, Chosen, Entry, Failed, Incomplete, System, best_of
from ..core.evaluation import evaluate
from ..core.leaderboard import Leaderboard, Summary
from ..core.metric import Metric
from ..core.names import metric_spellings, spelled
from ..core.policy import Policy
from ..core.policy_views import policies_of, view
from ..core.qrels_and_runs import Qrels, Run
from ..core.ragged import Ints
from ..core.systems import dataset_name, system_key, system_name, systems_of
from ..errors import (
    HarnessError,
    InputError,
    Problem,
    UnknownNameError,
    and_more,
    check_known,
    counted,
)
from ..experiment.manifest import Manifest
from ..experiment.results import (
    LEADERBOARD,
    Results,
    changed_inputs,
    check_columns,
    check_inputs,
    config_and_cells,
    folder_of,
    misfit,
    one_cell,
    read_results,
    root_of,
    run_named,
    with_inputs,
)
from ..input_files import joined, name_of, real_path
from ..metrics.ndcg import DISCOUNTS, Scale, scale_of
from ..reports import text as text_report
from ..reports.catalogue import in_force, resolved
from ..reports.grid import Grid, Group, filled, grid, grid_of
from ..reports.leaderboard import plan_of
from ..reports.notes import counted_values, missing_repetitions, warned_of
from ..reports.phrases import confidence, listed, number, plural
from ..reports.text import Shown
from .table_files import csv_rows, read_text

FIRST, MOST = 10, 60
"""Ranks that are always shown, and how many are shown at most."""


@dataclass(frozen=True)
class Step:
    """One document of a ranking, or of the ideal order, which has no docno and no score.

    `grade` is None if it is not judged. For DCG and nDCG it adds `gain` / `discount`. `running` is
    the metric's value for the ranking cut here; in the ideal order its DCG up to here. `ranks` are
    those in the runs that a run is fused from.
    """

    rank: int
    docno: str
    score: float
    grade: float | None = None
    gain: float | None = None
    discount: float | None = None
    running: float | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)

    @property
    def added(self) -> float | None:
        """Contribution of the document: gain / discount."""
        return None if self.gain is None or self.discount is None else self.gain / self.discount


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
    at, place = (data.qids.to_pylist().index(query) for data in (qrels, run))
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
    scale, docnos = scale_of(metric), ranked.docnos.to_strings().to_pylist()
    ranking = []
    for rank in shown:
        row, grade, gain, discount = order[rank - 1], grades.get(rank), None, None
        if scale is not None:
            gain = 0.0 if grade is None else float(scale.gains(np.array([grade]))[0])
            discount = float(DISCOUNTS[scale.discount](np.array([rank]))[0])
        score, value = float(ranked.scores[row]), running.get(rank)
        ranking.append(Step(rank, docnos[row], score, grade, gain, discount, value))
    ideal = _ideal(metric, seen, scale) if scale and metric.definition.name == "ndcg" else ()
    value = None if metric.reference else _value(metric, whole, judged, ranked)
    return tuple(ranking), ideal, value


def _order(judged: Qrels, ranked: Run, policy: Policy) -> Ints:
    """Return the rows of a query's run in rank order, under the policy's order of ties."""
    by_row = Qrels(ranked.qids, ranked.offsets, ranked.docnos, np.arange(ranked.n_rows))
    ties = policy.ties
    if ties in ("best", "worst", "average") or policy.seed is not None:
        ties = "trec_eval"
    plain = replace(policy, depth=None, judged_only=False, grades=Policy.grades, ties=ties)
    seen = view(align(by_row, ranked, plain, [plain]), plain)
    order: Ints = seen.grade  # the "grade" of a document is its row
    grade_of = judged.to_dict()[judged.qids[0].as_py()]
    grade = np.array([grade_of.get(d, -1) for d in ranked.docnos.to_strings().to_pylist()])
    if policy.ties in ("best", "worst"):
        sign = -1 if policy.ties == "best" else 1
        order = order[np.lexsort((sign * grade[order], seen.tie_first))]
    if policy.judged_only:
        order = order[grade[order] >= 0]
    return order if policy.depth is None else order[: policy.depth]


def _value(metric: Metric, policy: Policy, judged: Qrels, ranked: Run) -> float:
    aligned = align(judged, ranked, policy, policies_of([metric], policy))
    return float(evaluate(aligned, [metric]).values[0, 0])


def _ideal(metric: Metric, seen: Aligned, scale: Scale) -> tuple[Step, ...]:
    full = metric.arguments.get("ideal") == "full"
    _, at, rank = scale.ideal(seen, None if full or metric.cutoff is None else int(metric.cutoff))
    gains, discounts = scale.gains(seen.ideal.values[at]), DISCOUNTS[scale.discount](rank)
    sums = np.cumsum(gains / discounts)
    columns = rank, seen.ideal.values[at], gains, discounts, sums
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(Step(rank, "", math.nan, *rest) for rank, *rest in rows)


def ranking_grid(steps: Sequence[Step], running: str, full: bool, title: str = "") -> Grid:
    """Return a ranking as a table, with the columns that have values; `running` heads the last.

    Numbers have six digits with `full`, else four decimals; scores always have six digits.
    """

    def number(value: float | None, is_long: bool = full) -> str:
        if value is None or math.isnan(value):
            return ""
        return f"{value:.6g}" if is_long or value.is_integer() else f"{value:.4f}"

    fused = dict.fromkeys(name for step in steps for name in step.ranks)
    rows = [
        {
            "rank": str(step.rank),
            "docno": step.docno,
            **{f"{name} rank": str(step.ranks.get(name, "")) for name in fused},
            "score": number(step.score, True),
            "grade": "not judged" if step.grade is None else f"{step.grade:g}",
            "gain": number(step.gain),
            "/ discount": number(step.discount),
            "adds": number(step.added),
            running: number(step.running),
        }
        for step in steps
    ]
    shown: list[dict[str, str]] = []
    last = 0
    for step, row in zip(steps, filled(rows), strict=True):
        if step.rank > last + 1:
            shown.append({**dict.fromkeys(row, ""), "rank": f"({step.rank - last - 1} more)"})
        shown.append(row)
        last = step.rank
    return grid_of(shown, left=2 if "docno" in shown[0] else 1, title=title)


UNCHANGED = "unchanged"
HASH = 8
"""Characters of a hash that are shown."""
Text = Callable[[float | None], str]
SHOWN_INPUTS = EXTREMES = 5
"""Changed files, and largest and smallest values, that are listed."""
SHOWN_VALUES = 10
"""Repetitions up to which their mean is written as a sum."""


class FoldShare(NamedTuple):
    """Contribution of one cell to a row.

    `total` is the sum of its `n` values, times their weights if they have any; the sum of
    logarithms for a geometric mean. `weight` is the sum of the weights, or `n`.
    """

    dataset: str
    columns: Mapping[str, str]
    value: float
    n: int
    total: float
    weight: float
    is_weighted: bool = False


class Repetition(NamedTuple):
    """One value of the mean that a row is; `whole` is all of its cells (`parts`) together."""

    columns: Mapping[str, str]
    value: float
    whole: FoldShare
    parts: tuple[FoldShare, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Account(Shown):
    """A value of a leaderboard, and its origin; ``print`` shows all of it.

    Attributes
    ----------
    name, run, dataset : str
        The row of the leaderboard, its run and its dataset.
    metric : Metric
        The metric, with its settings.
    value : float
        The value, with all digits.
    inputs : tuple of dict
        ``path``, ``bytes``, ``sha256`` and ``state`` of each file.
    folder : str
        The results folder.
    qid, derived : str, float
        For one query: its qid, and its value computed again from the files.
    ranking, ideal : tuple
        For one query: its ranking, and the ideal order if the metric divides by it.
    repetitions, averaged : tuple, bool
        For a row of several seeds or folds: their values, and whether parts of any size count
        alike.
    recorded, deviation, low, high, level : float
        For such a row: the value in ``leaderboard.csv``, the standard deviation, and the interval
        with confidence 1 - `level`; NaN without one.
    fused : tuple of str
        Names of the runs that were fused.
    """

    name: str
    run: str
    dataset: str
    metric: Metric
    value: float
    inputs: tuple[Mapping[str, Any], ...] = ()
    folder: str = ""
    entry: Entry | None = None
    manifest: Manifest | None = None
    qid: str | None = None
    derived: float | None = None
    ranking: tuple[Step, ...] = ()
    ideal: tuple[Step, ...] = ()
    recorded: float | None = None
    deviation: float = math.nan
    low: float = math.nan
    high: float = math.nan
    level: float = 0.05
    repetitions: tuple[Repetition, ...] = ()
    averaged: bool = False
    chosen: Chosen | None = None
    choices: tuple[Choice, ...] = ()
    incomplete: Incomplete | None = None
    fused: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()

    def __str__(self) -> str:
        return text_report.render(grids(self)).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Account: {self.metric} of {self.name}: {self.value!r}>"

    @property
    def is_confirmed(self) -> bool:
        """Whether the files, or the queries of a row, still give the value to the last bit."""
        other = self.derived if self.recorded is None else self.recorded
        return other is None or np.array_equal(other, self.value, equal_nan=True)


def trace(
    results: PathLike | Results,
    run: str,
    metric: str,
    *,
    query: str | None = None,
    dataset: str | None = None,
    where: Mapping[str, Any] | None = None,
    inputs: PathLike | None = None,
) -> Account:
    """Trace one value of a leaderboard to its files, settings and rankings, as ``harness trace``.

    Parameters
    ----------
    results : path or Results
        A folder that ``harness run`` wrote, or the return value of `harness.run`.
    run, metric : str
        Names in the leaderboard; the metric in any spelling.
    query : str, optional
        A qid: trace the value of this query, with its ranking.
    dataset : str, optional
        Name of the dataset, if there are several.
    where : mapping, optional
        Columns of a cell: ``{"seed": 1}``.
    inputs : path, optional
        Folder at which the paths of the config start, if the config or the results were moved.

    Returns
    -------
    Account
        ``value``, its ``inputs``, and ``is_confirmed``: true if the files still give the value.
    """
    check_arguments(locals(), run=TEXT, metric=TEXT, query=TEXT.or_none(), dataset=TEXT.or_none())
    check_arguments(locals(), inputs=PATH.or_none())
    folder, columns = folder_of(results), columns_of(where)
    outcome = read_results(folder)
    manifest = with_inputs(outcome.manifest, None if inputs is None else Path(inputs))
    names = _Names(run_named(outcome, run), dataset, columns)
    board = names.board(outcome)
    metrics = {str(known): known for known in board.entries[0].evaluation.metrics}
    name = metric if metric in metrics else next(iter(metric_spellings(metrics)(metric)), metric)
    check_known("metric", name, metrics)
    entries = [entry for entry in board.entries if names.fit(entry, board)]
    if query is not None and entries:
        entries = _with_query(query, entries)
    account = _row(outcome, board, entries, metrics[name]) if query is None else None
    if account is None:
        (entry,) = entries = [names.only(entries, board)]
        account = Account(
            name=str(entry.key),
            run=entry.run,
            dataset=entry.dataset,
            metric=metrics[name],
            value=entry.summary[name],
            entry=entry,
            manifest=manifest,
            choices=entry.choices,
        )
    cells: list[Cell] = []
    try:
        cells = _cells(folder, manifest, entries)
    except HarnessError:  # a file is gone, which the value of a row or a cell does not need
        if query is not None:
            raise
    files = _states(folder, manifest, cells)
    warned = tuple(dict.fromkeys(rule for entry in entries for rule in entry.warned))
    account = replace(account, inputs=files, folder=name_of(folder), warned=warned)
    account = replace(account, fused=tuple(dict.fromkeys(filter(None, map(_fused, cells)))))
    if query is not None:
        return _with_ranking(account, folder, cells, query)
    return account


def columns_of(where: Mapping[str, Any] | None) -> dict[str, str]:
    """Return ``{"seed": 1}`` with its values as they are captured from names of files."""
    check_arguments(locals(), where=MAPPING.or_none())
    return {name: str(value) for name, value in (where or {}).items()}


class _Names(NamedTuple):
    """Requested names: a run or a row, perhaps its dataset, and its columns."""

    run: str
    dataset: str | None
    columns: Mapping[str, str]

    def board(self, outcome: Results) -> Leaderboard:
        """Return the leaderboard to find the names in: all settings if they name one."""
        selection = outcome.board.selection
        if selection is None:
            return outcome.board
        datasets = {cell.dataset for cell in outcome.cells.entries}
        datasets -= {entry.dataset for entry in outcome.board.entries}
        if self.dataset in datasets or {*selection.settings.over} & {*self.columns}:
            return replace(outcome.cells, summary=Summary())
        return outcome.board

    def fit(self, cell: Entry | Failed, board: Leaderboard) -> bool:
        """Whether the names fit a cell or its row."""
        row_dataset, row_run = _key(cell, board)
        return (
            self.run in (cell.run, row_run)
            and self.dataset in (None, cell.dataset, row_dataset)
            and self.columns.items() <= dict(cell.columns).items()
        )

    def only(self, entries: Sequence[Entry], board: Leaderboard) -> Entry:
        """Return the only entry; UnknownNameError if there are none or several."""
        if len(entries) > 1:
            return one_cell(entries, entries[0].run)  # raises
        if entries:
            return entries[0]
        why_not = "has no value, as it could not be evaluated"
        failed = [cell for cell in board.failed if self.fit(cell, board)]
        if failed:
            raise InputError([Problem(str(c.key), f"{why_not}: {c.error}") for c in failed])
        named = self._replace(columns={})
        columns = [entry.columns for entry in board.entries if named.fit(entry, board)]
        check_columns(columns, self.columns)
        return one_cell(board.entries, *self)


def _key(cell: Entry | Failed, board: Leaderboard) -> tuple[str, str]:
    """Return dataset and run of the row that a cell is a part of."""
    return dataset_name(cell, board.summary), system_name(cell, board.summary)


def _with_query(query: str, entries: Sequence[Entry]) -> list[Entry]:
    """Return the cells with a query; UnknownNameError without any."""
    qids = [entry.evaluation.qids.to_pylist() for entry in entries]
    first, several = entries[0], len(entries) > 1
    name = f"any of {len(entries)} cells of {first.run}" if several else str(first.key)
    check_known("query", query, list(dict.fromkeys(chain.from_iterable(qids))), name)
    return [entry for entry, held in zip(entries, qids, strict=True) if query in held]


def _cells(folder: Path, manifest: Manifest, entries: Sequence[Entry]) -> list[Cell]:
    """Return the cells of entries in the config; HarnessError if a file of these is gone."""
    config = dict(manifest.config)
    runs = {entry.run for entry in entries}
    runs |= {str(metric.reference) for metric in entries[0].evaluation.metrics}
    named = [*config["runs"].items()]
    for name, value in reversed(named):  # a fused run may name one before it
        if name in runs and isinstance(value, Mapping):
            runs |= {*value.get("fuse", ())}
    config["runs"] = {name: value for name, value in named if name in runs or "{" in name}
    part = manifest.model_copy(update={"config": config})
    _, cells = config_and_cells(folder, part)
    keys = {replace(entry.key, columns=tuple(entry.all_columns.items())) for entry in entries}
    cells = [cell for cell in cells if cell.key in keys]
    if len(cells) < len(keys):
        check_inputs(folder, manifest)
    return cells


def _states(
    folder: Path, manifest: Manifest, cells: Sequence[Cell]
) -> tuple[Mapping[str, Any], ...]:
    """Return the files of cells, qrels first, each with its state; all inputs without cells."""
    root = root_of(folder, manifest)
    entries = [cell.dataset_entry for cell in cells]
    paths = [path for entry in entries for path in (entry.path, entry.group) if path]
    paths += [entry.weights.path for entry in entries if entry.weights]
    paths += [path for cell in cells for path in cell.run_files]
    recorded = {real_path(joined(root, file.path)): file for file in manifest.inputs}
    own = dict.fromkeys(path for path in map(real_path, paths) if path in recorded) or recorded
    changes = changed_inputs(folder, manifest, only=own)
    changed = {real_path(change.path): change.what for change in changes}
    return tuple(
        {**recorded[path].model_dump(exclude_defaults=True), "state": changed.get(path, UNCHANGED)}
        for path in own
    )


def read_inputs(folder: Path, manifest: Manifest, cell: Cell) -> tuple[Qrels, Run]:
    """Read the qrels and the run of a cell; InputError if they are gone or have changed."""
    check_inputs(folder, manifest, only=(cell.dataset_entry.path, *cell.run_files))
    qrels = cell.read_qrels()
    return qrels, cell.read_run(qrels)


def _fused(cell: Cell) -> str:
    """Return the runs and the method that a run is fused by; nothing for another run."""
    if not cell.is_fused:
        return ""
    entry: Any = cell.run_entry
    runs = listed([part.run for part in entry.cells])
    return f"The run is fused from {runs} by {entry.fusion.in_words()}."


def _ranks(cell: Cell, qrels: Qrels, query: str) -> dict[str, dict[str, int]]:
    """Return the ranks of documents in the runs that a run is fused from, by docno and run."""
    entry: Any = cell.run_entry
    ranks: dict[str, dict[str, int]] = defaultdict(dict)
    for part in entry.cells if cell.is_fused else ():
        run = part.read_run(qrels)
        if query in (qids := run.qids.to_pylist()):
            ranked = run.part(qids.index(query), qids.index(query) + 1)
            order = rank_order(ranked)[: entry.fusion.depth]
            for rank, docno in enumerate(ranked.docnos.take(order).to_pylist(), 1):
                ranks[docno][part.run] = rank
    return ranks


def _with_ranking(account: Account, folder: Path, cells: Sequence[Cell], query: str) -> Account:
    """Return the account of one query's value, with its ranking read from the files."""
    assert account.entry is not None
    assert account.manifest is not None
    metric, evaluation = account.metric, account.entry.evaluation
    if not metric.definition.is_built_in:
        fix = "leave --query out; harness verify --plugins computes all values again"
        message = f"expected a metric of the harness with --query, got a plugin's: {metric}"
        raise InputError(Problem(name_of(folder), message, fix=fix))
    value = float(evaluation.column(str(metric))[evaluation.qids.to_pylist().index(query)])
    qrels, run = read_inputs(folder, account.manifest, cells[0])
    ranking, ideal, derived = steps(qrels, run, query, metric, evaluation.policy)
    sign = cells[0].sign_of_scores
    ranks = _ranks(cells[0], qrels, query)
    ranking = tuple(
        replace(step, score=sign * step.score, ranks=ranks.get(step.docno, {})) for step in ranking
    )
    return replace(account, value=value, qid=query, derived=derived, ranking=ranking, ideal=ideal)


def _row(
    outcome: Results, asked: Leaderboard, entries: Sequence[Entry], metric: Metric
) -> Account | None:
    """Return a row taken apart; None if the entries are not all cells of rows.

    UnknownNameError if they are of several rows, or a part is missing.
    """
    keys = list(dict.fromkeys(_key(entry, asked) for entry in entries))
    n_cells = sum(_key(entry, asked) in keys for entry in asked.entries)
    if not asked.summary or not n_cells == len(entries) > 1:
        return None
    if len(keys) > 1:
        listed = "; ".join(f"{run} on {dataset}" for dataset, run in keys[:10])
        what = f"expected one row, got {len(keys)}: {listed}"
        fix = "add the --dataset of one, and its columns as in --where lr=0.1"
        raise UnknownNameError(what, fix=fix)
    board, (key,) = outcome.board, keys
    name = f"{key[1]} on {key[0]}"
    systems = systems_of(board)
    system = next((row for row in systems if (row.dataset, row.run) == key), None)
    if system is None:
        message = f"{name} has no value: a part of it is missing"
        fix = "choose one of its cells with --dataset and --where"
        raise UnknownNameError(message, fix=fix)
    path = outcome.folder / LEADERBOARD
    rows = csv_rows(read_text(path), str(path))
    shown = [row.fields for row in rows if row.fields[:2] == [*key]]
    if not shown:
        raise misfit(path, f"expected a row of {key[1]} on {key[0]}, got none")
    recorded = dict(zip(rows[0].fields, shown[0], strict=True))
    value, low, high = (
        float(recorded.get(f"{metric}{end}") or math.nan) for end in ("", " low", " high")
    )
    choices = dict.fromkeys(choice for entry in system.entries for choice in entry.choices)
    return Account(
        name=name,
        run=system.entries[0].run,
        dataset=key[0],
        metric=metric,
        value=system.value(metric),
        recorded=value,
        low=low,
        high=high,
        level=plan_of(outcome).level,
        deviation=system.deviation(metric),
        averaged=bool(board.summary.average),
        repetitions=tuple(_repetition(entry, system, board, metric) for entry in system.entries),
        chosen=system.best_of,
        choices=tuple(choices),
        incomplete=system.incomplete,
    )


def _repetition(entry: Entry, system: System, board: Leaderboard, metric: Metric) -> Repetition:
    summary, names = board.summary, board.summary.parts
    key = entry.key.without(names)
    in_key = (cell for cell in board.entries if system_key(cell, summary) == key)
    columns = {name: entry.columns.get(name, "") for name in system.varying}
    parts = tuple(_part(cell, metric) for cell in (in_key if names else [entry]))
    return Repetition(columns, entry.summary[str(metric)], _part(entry, metric), parts)


def _part(entry: Entry, metric: Metric) -> FoldShare:
    at = entry.evaluation.names.index(str(metric))
    values, weights = entry.evaluation.values[:, at], entry.evaluation.weights.get(at)
    if metric.settings.undefined == "zero":
        values = np.nan_to_num(values, nan=0.0)
    defined = ~np.isnan(values)
    n = int(defined.sum())
    if weights is not None:
        defined &= weights != 0
    total = values[defined] if weights is None else values[defined] * weights[defined]
    weight = n if weights is None else math.fsum(weights[defined].tolist())
    value, columns = entry.summary[str(metric)], dict(entry.columns)
    weighted = weights is not None
    return FoldShare(entry.dataset, columns, value, n, math.fsum(total.tolist()), weight, weighted)


def grids(account: Account, full: bool = False) -> Iterator[Grid]:
    """Yield the tables of ``harness trace``; with `full`, every digit, hash and setting."""
    text = partial(_text, account, full)
    query = f" of query {account.qid}," if account.qid else " of"
    notes = [*warned_of([(account.run, account.warned)]), *_summary(account, text)]
    mean = _mean(account, text)
    title = f"{spelled(account.metric)}{query} {account.name}: {text(account.value)}{mean}"
    yield Grid(title=title, notes=tuple(notes))
    if account.qid is not None:
        yield from _query(account, text, full)
        return
    yield from (_repetition_grid(part, account, text) for part in account.repetitions)
    yield from _chosen(account.choices, text)
    yield _inputs(account, full)
    yield from _pointer(account) if account.repetitions else _cell(account, full)
    hints = ["--full prints every digit, hash and setting"] * (not full)
    if account.metric.definition.is_built_in and not account.repetitions:
        hints.append("--query QID prints the ranking behind one query's value")
    if hints:
        yield Grid(notes=tuple(hints))


def _text(account: Account, full: bool, value: float | None) -> str:
    """Return a number with four decimals, or with all digits if the files give another value."""
    if value is None or math.isnan(value):
        return "undefined"
    has_all = full or isinstance(value, int) or not account.is_confirmed
    return repr(value) if has_all else number(value, account.metric)


def _summary(account: Account, text: Text) -> Iterator[str]:
    """Yield the computation of a row from its repetitions, or the reason of a missing ranking."""
    if account.qid is not None and not account.ranking and account.entry is not None:
        policy = account.entry.evaluation.policy
        yield f"The run does not answer the query (missing_queries: {policy.missing_queries})."
    if not account.is_confirmed and account.repetitions:
        yield f"leaderboard.csv has ANOTHER value: {text(account.recorded)}."
    names = [*account.repetitions[0].columns] if account.repetitions else []
    if (n := len(account.repetitions)) > 1:
        over = counted_values(names[0], n) if len(names) == 1 else f"{n} repetitions"
        deviation = f"their standard deviation is {text(account.deviation)}"
        yield f"The value is the mean of {over}; {deviation}."
    yield from account.fused
    yield from missing_repetitions([account.incomplete])
    if not math.isnan(account.low):
        ends = f"{text(account.low)} to {text(account.high)}"
        drawn = f", by bootstrap over queries and {plural(names)}" if n > 1 else ""
        yield f"Its {confidence(account.level)} interval is {ends}{drawn}."
    if account.chosen is not None:
        yield f"The run is the {best_of([account.chosen])}."


def _mean(account: Account, text: Text) -> str:
    """Return the mean over repetitions that gives a row's value."""
    values = [text(repetition.value) for repetition in account.repetitions]
    if not 2 <= len(values) <= SHOWN_VALUES:
        return ""
    return f" = ({' + '.join(values)}) / {len(values)}"


def _repetition_grid(repetition: Repetition, row: Account, text: Text) -> Grid:
    """Return the value of a repetition, and the contribution of each fold."""
    name = pairs(repetition.columns.items()) or "value"
    title = f"{name}: {text(repetition.value)}{_quotient(repetition, row, text)}"
    parts, whole = repetition.parts, repetition.whole
    if len(parts) == 1 and parts[0].dataset == whole.dataset:
        return Grid(title=title)
    weighted = whole.is_weighted
    total = "sum of logarithms" if row.metric.definition.summary == "gm" else "sum"
    sums = ["weights", f"{total} of weight x value"] if weighted else [total]

    def cells(name: str, value: str, part: FoldShare) -> list[str]:
        numbers = [part.weight, part.total] if weighted else [part.total]
        return [name, value, str(part.n), *map(text, numbers)]

    rows = [cells(part.dataset, text(part.value), part) for part in parts]
    if not row.averaged:
        rows.append(cells("all", "", whole))
    return grid(["dataset", "value", "queries", *sums], rows, title=title)


def _quotient(repetition: Repetition, row: Account, text: Text) -> str:
    """Return the sum and the division that give a value."""
    how = row.metric.definition.summary
    if row.averaged:
        values = " + ".join(text(part.value) for part in repetition.parts)
        return f" = ({values}) / {len(repetition.parts)}, parts have equal weight"
    if how == "sum" or math.isnan(repetition.value):
        return ""
    if how == "median":
        weighted = "weighted " if repetition.whole.is_weighted else ""
        return f", the {weighted}median of {counted(repetition.whole.n, 'value')}"
    quotient = f"{text(repetition.whole.total)} / {text(repetition.whole.weight)}"
    return f" = exp({quotient})" if how == "gm" else f" = {quotient}"


def _chosen(choices: Sequence[Choice], text: Text) -> Iterator[Grid]:
    """Yield the settings chosen on validation queries, and the ranking of all if there is one."""
    if not choices:
        return
    rows = []
    for choice in choices:
        tied = f", tied with {', '.join(map(pairs, choice.tied))}" if choice.tied else ""
        how = f"best of {len(choice.ranked)}{tied}"
        rows.append([choice.name, pairs(choice.setting), text(choice.value), how])
    title = f"Setting chosen on validation queries by {choices[0].metric}"
    yield grid(["for", "setting", "validation value", "chosen as"], rows, left=2, title=title)
    if len(choices) == 1:
        (choice,) = choices
        title = f"All settings on {', '.join(choice.datasets)}, best first"
        ranked = [[pairs(setting), text(value)] for setting, value in choice.ranked]
        ranked += [[pairs(setting), "left out: not every value"] for setting in choice.left_out]
        yield grid(["setting", choice.metric], ranked, title=title)


def _inputs(account: Account, full: bool) -> Grid:
    """Return the table of a cell's files, with notes on those that have changed."""
    changed = [file for file in account.inputs if file["state"] != UNCHANGED]
    total = counted(len(account.inputs), "file")
    notes = [f"{file['path']}: {file['state']}" for file in changed[:SHOWN_INPUTS]]
    notes += and_more(len(changed) - SHOWN_INPUTS)
    if changed and len(changed) == len(account.inputs):
        notes.append("If they were moved, add --inputs FOLDER: the config's paths start there.")
    state = f"{len(changed)} of {total} HAVE CHANGED" if changed else f"{total}, {UNCHANGED}"
    title = f"Inputs: {state}"
    if account.repetitions:
        return Grid(title=title, notes=tuple(notes))
    end = None if full else HASH
    rows = [[file["path"], file["sha256"][:end], str(file["bytes"])] for file in account.inputs]
    return grid(["file", "sha256", "bytes"], rows, left=2, title=title, notes=notes)


def _pointer(row: Account) -> Iterator[Grid]:
    cell = row.repetitions[0].parts[0]
    where = (
        {"--dataset": cell.dataset}.items(),
        [("--where", "=".join(p)) for p in cell.columns.items()],
    )
    words = [row.folder, "--run", row.run, "--metric", str(row.metric)]
    parts = shlex.join(words), shlex.join(word for pair in chain(*where) for word in pair)
    command = f"harness trace {parts[0]} \\", f"  {parts[1]}"
    yield Grid(title="To see the files, counts and settings of one cell:", notes=command)


def _cell(account: Account, full: bool) -> Iterator[Grid]:
    assert account.entry is not None
    evaluation, metric = account.entry.evaluation, account.metric
    n, queries = evaluation.n()[str(metric)], len(evaluation.qids)
    how = {"gm": "geometric mean"}.get(metric.definition.summary, metric.definition.summary)
    by = evaluation.weighted_by or "weight"
    is_weighted = evaluation.names.index(str(metric)) in evaluation.weights
    weighted = f", each query by its {by}" if is_weighted else ""
    undefined = f"; undefined for {queries - n}" if n < queries else ""
    own = replace(evaluation.counts, empty=evaluation.counts.empty_of(str(metric)))
    values, qids = evaluation.column(str(metric)), evaluation.qids.to_pylist()
    order = [at for at in np.argsort(values, kind="stable") if not math.isnan(values[at])]
    ranked = [f"{qids[at]} ({values[at]:.4f})" for at in order]
    counts = (
        replace(evaluation, counts=own).notes,
        f"{how} over {counted(n, 'query', 'queries')}{weighted}{undefined}",
        f"highest values: {', '.join(ranked[::-1][:EXTREMES]) or 'none'}",
        f"lowest values:  {', '.join(ranked[:EXTREMES]) or 'none'}",
    )
    yield Grid(title="Queries", notes=counts)
    settings = resolved([metric], evaluation.policy)
    settings = replace(settings, title=f"Metric: {settings.title}")
    yield settings if full else _changed(settings, metric, evaluation.policy)
    manifest = account.manifest
    assert manifest is not None
    origin = [", ".join(f"{name} {text}" for name, text in manifest.versions.items() if text)]
    if (git := manifest.git) is not None:
        origin.append(f"git {git.commit[:12]}{' with changes not committed' if git.dirty else ''}")
    key = replace(account.entry.key, columns=tuple(account.entry.all_columns.items()))
    check = next(cell.crosscheck for cell in manifest.cells if cell.key == key)
    if check.queries:
        again = f"pytrec_eval evaluated {check.queries} queries again"
        origin.append(f"{again}: largest difference {check.largest_difference:g}")
    yield Grid(title="Made by", notes=tuple(origin))


def _changed(settings: Grid, metric: Metric, policy: Policy) -> Grid:
    """Return the table of a metric's settings without those that have their default values."""
    usual = in_force(Metric(metric.definition), Policy())
    values = in_force(metric, policy)
    changed = {name for name, value in values.items() if value != usual.get(name)}
    rows = [row for row in settings.rows if row[0].text in changed]
    if not rows:
        return Grid(title=settings.title, notes=("every setting has its default value",))
    return replace(settings, groups=(Group("", tuple(rows)),))


def _query(account: Account, text: Text, full: bool) -> Iterator[Grid]:
    if not account.ranking:
        return
    yield ranking_grid(account.ranking, "so far", full)
    if account.ideal:
        total = account.ideal[-1].running or 0.0
        parts = [step.added for step in account.ranking if step.added is not None]
        title = f"The ideal order has a DCG of {text(total)}"
        yield ranking_grid(account.ideal, "DCG so far", full, title)
        name = spelled(account.metric)
        yield Grid(title=f"{name} = {text(math.fsum(parts))} / {text(total)}")
    if account.derived is not None:
        same = "the same as in the results" if account.is_confirmed else "NOT the results' value"
        yield Grid(title=f"Computed again from the files: {text(account.derived)}, {same}")
