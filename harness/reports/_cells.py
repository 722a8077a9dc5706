"""What the renderings share: cells of text, made from a leaderboard."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from ..core.comparable import why_not
from ..core.incomplete import FEWER, Incomplete
from ..core.leaderboard import Entry, Leaderboard, best, numbers_of
from ..core.metric import Metric
from ..core.repeated import Repeated
from ..core.same_queries import UNLIKE, over_same_queries
from ..core.sampling import DRAWS
from ..core.systems import how_chosen
from ._said import by_run, unanswered, without_numbers

ARROWS = {"higher": "↑", "lower": "↓", None: ""}
UNDEFINED = "–"
UNSETTLED = "~"
"""Put behind a value whose place hangs on the order of tied documents."""


REPETITIONS = "repetitions"
"""Heading of the column that says of how many repetitions a row has how many."""
FAILED = 10
"""Cells that failed which are named below a table of a dataset; leaderboard.csv has all."""
BEST = "* best of its column; not a test"
"""What the star says beside a value; beside a p-value it says something else."""


class Best(str):
    """A cell that holds the best value of its column."""

    __slots__ = ()


def heading(metric: Metric) -> str:
    """Return a metric's name with an arrow that points to better.

    >>> from harness.core.names import parse
    >>> heading(parse("P@5")[0])
    'P@5 ↑'
    """
    return f"{metric} {ARROWS[metric.definition.direction]}".rstrip()


def number(value: float, metric: Metric, digits: int = 4) -> str:
    """Return a value as it is shown: counts whole, others with `digits` decimals."""
    if math.isnan(value):
        return UNDEFINED
    if metric.definition.summary == "sum" and value == int(value):
        return str(int(value))
    return f"{value:.{digits}f}"


def grid(
    board: Leaderboard, entries: list[Entry], mark: Callable[[str], str] = str
) -> tuple[list[str], list[list[str]]]:
    """Return the heading and the rows of one dataset's table.

    Parameters
    ----------
    mark : callable
        What is made of the best value of each metric; the others stay as they are.
    """
    columns = [name for name in board.columns if any(name in entry.columns for entry in entries)]
    has_fewer = any(map(_incomplete, entries))
    header = ["run", *columns, *([REPETITIONS] * has_fewer), "queries", "ties"]
    header += [heading(metric) for metric in board.metrics]
    rows = [
        [
            entry.run,
            *(entry.columns.get(name, "") for name in columns),
            *([_repetitions(entry)] * has_fewer),
            _queries(entry),
            str(entry.evaluation.counts.tied),
        ]
        for entry in entries
    ]
    tops, _ = tops_of(board, entries)
    for metric in board.metrics:
        values = [entry.summary.get(str(metric), math.nan) for entry in entries]
        top, unsettled = tops[metric], board.unsettled(metric, entries)
        for place, (row, value) in enumerate(zip(rows, values, strict=True)):
            text = number(value, metric) + _deviation(entries[place], metric)
            text += UNSETTLED * (place in unsettled)
            row.append(mark(text) if place in top else text)
    return header, rows


Tops = tuple[dict[Metric, set[int]], list[str]]
"""The places of the best values of each metric, and metrics of which none is called the best."""


def tops_of(board: Leaderboard, entries: list[Entry]) -> Tops:
    """Return where the best values of one dataset's entries stand.

    None is the best of a metric whose values are not over the same queries; see
    :func:`~harness.core.same_queries.over_same_queries`.
    """
    return board.memo(f"best of {entries[0].dataset}", lambda: _tops(board.metrics, entries))


def _tops(metrics: Sequence[Metric], entries: Sequence[Entry]) -> Tops:
    tops, unlike = {}, []
    for metric in metrics:
        found = best(metric, [entry.summary.get(str(metric), math.nan) for entry in entries])
        of = (one.evaluation for one in entries if str(metric) in one.evaluation.names)
        if found and not over_same_queries(metric, ((one.qids, one.column(metric)) for one in of)):
            unlike.append(str(metric))
            found = set()
        tops[metric] = found
    return tops, unlike


def _incomplete(entry: Entry) -> Incomplete | None:
    return entry.incomplete if isinstance(entry, Repeated) else None


def _repetitions(entry: Entry) -> str:
    """Return how many repetitions an entry stands for: ``3``, or ``1 of 3`` where some lack."""
    fewer = _incomplete(entry)
    if fewer is not None:
        return fewer.share
    return str(max((one.repetitions for one in entry.spread.values()), default=1))


def _deviation(entry: Entry, metric: Metric) -> str:
    """Return how far repetitions spread, where the entry stands for several."""
    spread = entry.spread.get(str(metric))
    return "" if spread is None or spread.repetitions < 2 else f" ± {spread.deviation:.4f}"


def query_grids(board: Leaderboard) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield each entry's title, heading and rows: a row a query, a column a metric."""
    for entry in board.entries:
        evaluation = entry.evaluation
        captured = " ".join(f"{name}={value}" for name, value in entry.columns.items())
        on = " on ".join(filter(None, (entry.run, entry.dataset)))
        metrics = numbers_of(evaluation.metrics)
        names = list(map(str, metrics))
        rows = [
            [qid, *(number(values[str(metric)], metric) for metric in metrics)]
            for qid, values in evaluation.to_dict().items()
        ]
        yield " ".join(filter(None, (on, captured))), ["qid", *names], rows


def _queries(entry: Entry) -> str:
    answered, judged = entry.evaluation.coverage
    return f"{answered}/{judged}"


def notes(board: Leaderboard, entries: list[Entry]) -> list[str]:
    """Return what a reader of one dataset's table must know: missing, empty, undefined, ties."""
    lines = [*without_numbers(entries), *unanswered(entries)]
    policy, settings = entries[0].evaluation.policy, [one.settings for one in board.metrics]
    empty = _said(policy.empty_queries, [one.empty for one in settings])
    for what, how, text in (
        ("empty", empty, "queries without relevant documents"),
        ("extra", "ignored", "queries answered but not judged"),
    ):
        counted = {entry.run: entry.evaluation.counts.as_dict()[what] for entry in entries}
        if any(counted.values()):
            lines.append(f"{text} ({how}): {by_run(counted)}")
    kept = {str(one) for one in board.metrics if one.settings.undefined in (None, "skip")}
    undefined = {
        entry.run: {name: n for name, n in entry.undefined.items() if name in kept}
        for entry in entries
    }
    together: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for found in undefined.values() for name in found):
        counted = {run: found.get(name, 0) for run, found in undefined.items()}
        together.setdefault(by_run(counted, ("query", "queries")), []).append(name)
    for where, names in together.items():
        lines.append(f"undefined, and left out of the mean: {', '.join(names)} on {where}")
    if unlike := tops_of(board, entries)[1]:
        lines.append(f"{UNLIKE}: {', '.join(unlike)}")
    if any(entry.evaluation.counts.tied for entry in entries):
        ties = _said(f"'{policy.ties}'", [one.ties for one in settings])
        lines.append(f"ties: documents that share a score, ordered by {ties}")
    errors = [entry.evaluation.summary_errors() for entry in entries]
    for name in dict.fromkeys(name for found in errors for name in found):
        largest = max(found.get(name, 0.0) for found in errors)
        lines.append(
            f"{name}: mean of {DRAWS} random orders of ties, standard error up to {largest:.1g}"
        )
    shown = {entry.dataset for entry in board.entries}
    is_last = entries[0].dataset == [dataset for dataset, _ in board.by_dataset()][-1]
    failed = [  # of datasets that are not shown below the last one, once
        one
        for one in board.failed
        if one.dataset == entries[0].dataset or (is_last and one.dataset not in shown)
    ]
    for one in failed[:FAILED]:
        where = f" on {one.dataset}" if one.dataset not in shown else ""
        columns = "".join(f" {name}={value}" for name, value in one.columns.items())
        lines.append(f"FAILED: {one.run}{columns}{where}: {one.error.splitlines()[0]}")
    if (more := len(failed) - FAILED) > 0:
        lines.append(f"... and {more:,} more FAILED: see leaderboard.csv")
    repetitions = {each.repetitions for entry in entries for each in entry.spread.values()}
    if repetitions - {1}:
        how_many = " or ".join(map(str, sorted(repetitions)))
        lines.append(f"mean ± standard deviation over {how_many} repetitions")
    lines += [f"{FEWER}: {one}" for one in map(_incomplete, entries) if one is not None]
    if any(entry.spread for entry in entries):
        lines += _without_interval(board.metrics, entries)
    systems = [entry.system for entry in entries if isinstance(entry, Repeated) and entry.system]
    if said := how_chosen(systems):
        lines.append(said)
    if any(board.unsettled(metric, entries) for metric in board.metrics):
        lines.append(f"{UNSETTLED} the place in the column hangs on the order of tied documents")
    return lines


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


def _said(policy: str, own: Sequence[str | None]) -> str:
    """Return what holds for all metrics, or that some have settings of their own."""
    if None not in own:
        return "each metric's own setting"
    return policy if not any(own) else f"{policy}, but for metrics with a setting of their own"
