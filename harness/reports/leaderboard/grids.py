"""A leaderboard as grids: a table a dataset, and what a reader must know of it."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence

from ...core.leaderboard import TEXTS, Entry, Leaderboard, best, numbers_of
from ...core.metric import Metric
from ...core.systems import (
    FEWER,
    UNLIKE,
    Incomplete,
    Repeated,
    how_chosen,
    over_same_queries,
    why_not,
)
from ...core.ties import DRAWS
from ..grid import Cell, Grid, grid
from ..numbers import heading, number

UNSETTLED = "~"
"""Put behind a value whose rank depends on the order of tied documents."""
REPETITIONS = "repetitions"
"""Heading of the column that says of how many repetitions a row has how many."""
FAILED = 10
"""Cells that failed which are named below a table of a dataset; leaderboard.csv has all."""
BEST = "* best of its column; not a test"
"""What the star says beside a value; beside a p-value it says something else."""


def grids(board: Leaderboard, *, per_query: bool = False, stars: bool = False) -> Iterator[Grid]:
    """Yield a table for each dataset, best values bold; then each run's queries, if asked for.

    With `stars`, a note explains the star that text puts behind bold values.
    """
    for dataset, entries in board.by_dataset():
        header, rows, unlike = _rows(board, entries)
        marked = [BEST] if stars and any(cell.bold for row in rows for cell in row) else []
        lines = [*marked, *notes(board, entries, unlike)]
        yield grid(header, rows, title=dataset, notes=lines, level=3)
    if per_query:
        yield from map(_query_grid, board.entries)


def _rows(
    board: Leaderboard, entries: list[Entry]
) -> tuple[list[str], list[list[Cell]], list[str]]:
    """Return heading and rows of a dataset, and the metrics of which no value is the best."""
    columns = [name for name in board.columns if any(name in entry.columns for entry in entries)]
    has_fewer = [REPETITIONS] if any(map(_incomplete, entries)) else []
    header = ["run", *columns, *has_fewer, "queries", "ties", *map(heading, board.metrics)]
    rows = []
    for entry in entries:
        texts = [entry.run, *(entry.columns.get(name, "") for name in columns)]
        texts += [_repetitions(entry)] if has_fewer else []
        texts += ["{}/{}".format(*entry.evaluation.coverage), str(entry.evaluation.counts.tied)]
        rows.append(list(map(Cell, texts)))
    unlike = []
    for metric in board.metrics:
        values = [entry.summary.get(str(metric), math.nan) for entry in entries]
        top, unsettled = best(metric, values), board.unsettled(metric, entries)
        if top and not _over_same_queries(metric, entries):
            unlike.append(str(metric))
            top = set()
        for place, (entry, value) in enumerate(zip(entries, values, strict=True)):
            text = number(value, metric) + _deviation(entry, metric)
            sign = UNSETTLED if place in unsettled else ""
            rows[place].append(Cell(text, sign, bold=place in top))
    return header, rows, unlike


def _over_same_queries(metric: Metric, entries: Sequence[Entry]) -> bool:
    found = (one.evaluation for one in entries if str(metric) in one.evaluation.names)
    return over_same_queries(metric, ((one.qids, one.column(metric)) for one in found))


def _incomplete(entry: Entry) -> Incomplete | None:
    return entry.incomplete if isinstance(entry, Repeated) else None


def _repetitions(entry: Entry) -> str:
    """Return how many repetitions a row is over: ``3``, or ``1 of 3`` where some are missing."""
    fewer = _incomplete(entry)
    if fewer is not None:
        return fewer.share
    return str(max((one.repetitions for one in entry.spread.values()), default=1))


def _deviation(entry: Entry, metric: Metric) -> str:
    spread = entry.spread.get(str(metric))
    return "" if spread is None or spread.repetitions < 2 else f" ± {spread.deviation:.4f}"


def _query_grid(entry: Entry) -> Grid:
    captured = " ".join(f"{name}={value}" for name, value in entry.columns.items())
    on = " on ".join(filter(None, (entry.run, entry.dataset)))
    metrics = numbers_of(entry.evaluation.metrics)
    rows = [
        [qid, *(number(values[str(metric)], metric) for metric in metrics)]
        for qid, values in entry.evaluation.to_dict().items()
    ]
    return grid(["qid", *map(str, metrics)], rows, title=" ".join(filter(None, (on, captured))))


def notes(board: Leaderboard, entries: list[Entry], unlike: Sequence[str]) -> Iterator[str]:
    """Yield what a reader of one dataset's table must know: missing, empty, undefined, ties.

    `unlike` are the metrics of which no value is the best, as they are over different queries.
    """
    yield from without_numbers(entries)
    yield from unanswered(entries)
    policy, settings = entries[0].evaluation.policy, [one.settings for one in board.metrics]
    empty = _setting(policy.empty_queries, [one.empty for one in settings])
    for what, text in (
        ("empty", f"queries without relevant documents ({empty})"),
        ("extra", "queries answered but not judged (ignored)"),
    ):
        counted = {entry.run: entry.evaluation.counts.as_dict()[what] for entry in entries}
        if any(counted.values()):
            yield f"{text}: {by_run(counted)}"
    yield from _undefined(board.metrics, entries)
    if unlike:
        yield f"{UNLIKE}: {', '.join(unlike)}"
    if any(entry.evaluation.counts.tied for entry in entries):
        ties = _setting(f"'{policy.ties}'", [one.ties for one in settings])
        yield f"ties: documents that share a score, ordered by {ties}"
    errors = [entry.evaluation.summary_errors() for entry in entries]
    for name in dict.fromkeys(name for found in errors for name in found):
        largest = max(found.get(name, 0.0) for found in errors)
        yield f"{name}: mean of {DRAWS} random orders of ties, standard error up to {largest:.1g}"
    yield from _failed(board, entries[0].dataset)
    yield from _repeated(board.metrics, entries)
    if any(board.unsettled(metric, entries) for metric in board.metrics):
        yield f"{UNSETTLED} the place in the column hangs on the order of tied documents"


def _undefined(metrics: Sequence[Metric], entries: Sequence[Entry]) -> Iterator[str]:
    """Yield which metrics are left out of means on how many queries."""
    together: dict[str, list[str]] = {}
    left_out = {str(one) for one in metrics if one.settings.undefined in (None, "skip")}
    for name in dict.fromkeys(name for entry in entries for name in entry.undefined):
        if name in left_out:
            counted = {entry.run: entry.undefined.get(name, 0) for entry in entries}
            together.setdefault(by_run(counted, ("query", "queries")), []).append(name)
    for where, names in together.items():
        yield f"undefined, and left out of the mean: {', '.join(names)} on {where}"


def _failed(board: Leaderboard, dataset: str) -> Iterator[str]:
    """Yield the cells of a dataset that failed; those of datasets not shown, below the last."""
    shown = [name for name, _ in board.by_dataset()]
    failed = [
        one
        for one in board.failed
        if one.dataset == dataset or (dataset == shown[-1] and one.dataset not in shown)
    ]
    for one in failed[:FAILED]:
        where = f" on {one.dataset}" if one.dataset not in shown else ""
        columns = "".join(f" {name}={value}" for name, value in one.columns.items())
        yield f"FAILED: {one.run}{columns}{where}: {one.error.splitlines()[0]}"
    if (more := len(failed) - FAILED) > 0:
        yield f"... and {more:,} more FAILED: see leaderboard.csv"


def _repeated(metrics: Sequence[Metric], entries: Sequence[Entry]) -> Iterator[str]:
    """Yield what must be known of rows that are over several repetitions, or the best of them."""
    times = {each.repetitions for entry in entries for each in entry.spread.values()}
    if times - {1}:
        yield f"mean ± standard deviation over {' or '.join(map(str, sorted(times)))} repetitions"
    yield from (f"{FEWER}: {one}" for one in map(_incomplete, entries) if one is not None)
    if any(entry.spread for entry in entries):
        yield from _without_interval(metrics, entries)
    systems = [entry.system for entry in entries if isinstance(entry, Repeated) and entry.system]
    if chosen := how_chosen(systems):
        yield chosen


def _without_interval(metrics: Sequence[Metric], entries: Sequence[Entry]) -> Iterator[str]:
    """Yield which metrics have no interval over queries and repetitions, and why."""
    averaged = not any(isinstance(entry, Repeated) and entry.intervals for entry in entries)
    otherwise = "a mean over parts that count alike is none over queries" if averaged else ""
    reasons: dict[str, list[str]] = {}
    for metric in metrics:
        if reason := why_not(metric) or otherwise:
            reasons.setdefault(reason, []).append(str(metric))
    for reason, names in reasons.items():
        yield f"no interval of {', '.join(names)}: {reason}"


def _setting(policy: str, own: Sequence[str | None]) -> str:
    """Return what holds for all metrics, or that some have settings of their own."""
    if None not in own:
        return "each metric's own setting"
    return policy if not any(own) else f"{policy}, but for metrics with a setting of their own"


def beside_values(board: Leaderboard, *, has_runid: bool = False) -> Iterator[str]:
    """Yield what a reader must know who is shown values and no notes: CSV, JSON lines.

    `has_runid` is whether the runs' names are shown where trec_eval has them.
    """
    for _, entries in board.by_dataset():
        yield from without_numbers(entries, ("runid",) if has_runid else ())
        yield from unanswered(entries)


def without_numbers(entries: Sequence[Entry], but: Container[str] = ()) -> Iterator[str]:
    """Yield which metrics are not shown, as they are no numbers."""
    metrics = dict.fromkeys(metric for one in entries for metric in one.evaluation.metrics)
    shown = set(numbers_of(metrics))
    for metric in metrics:
        if metric not in shown and str(metric) not in but:
            what = TEXTS[metric.definition.name]
            yield f"{metric} is {what} in trec_eval, and no number: it is not shown"


def unanswered(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield how many judged queries each run does not answer, and what became of them."""
    counted = {entry.run: entry.evaluation.counts.missing for entry in entries}
    if any(counted.values()):
        how = entries[0].evaluation.policy.missing_queries
        yield f"queries not answered ({how}): {by_run(counted)}"


def by_run(counted: dict[str, int], names: tuple[str, str] = ("", "")) -> str:
    """Return the number of each run that has any, or the one of all of them.

    >>> by_run({"a": 2, "b": 0}), by_run({"a": 1, "b": 1}, ("query", "queries"))
    ('a 2', '1 query of every run')
    """

    def told(n: int) -> str:
        return f"{n} {noun if n == 1 else plural}".rstrip()

    numbers, (noun, plural) = set(counted.values()), names
    if len(numbers) == 1:
        return f"{told(numbers.pop())} of every run"
    return ", ".join(f"{run} {told(n)}" for run, n in counted.items() if n)
