"""A leaderboard in each of its formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ...core.comparison import Comparisons
from ...core.leaderboard import CHOSEN, Entry, Leaderboard, numbers_of
from ...core.metric import Metric
from ...errors import legible
from .. import csv, html, jsonl, markdown, text
from .grids import grids


class Report(NamedTuple):
    """``render(board, per_query=False)`` and the ending of the files."""

    render: Callable[..., str]
    suffix: str


def as_csv(
    board: Leaderboard, *, per_query: bool = False, comparisons: Comparisons | None = None
) -> str:
    """Return CSV with a row a dataset x run; where `per_query`, with a row a query.

    Each run's queries are followed by its summary, with qid ``all``. Where runs were compared, the
    last columns are the tier of each by each metric compared: ``map tier``.

    Columns: dataset, run, captured columns, counts, undefined, then each metric. Numbers have
    every digit (they read back to the same float); an undefined value is an empty field.
    """
    if per_query:
        return csv.render(list(_query_records(board)))
    standings = () if comparisons is None else comparisons.standings
    tiers: dict[tuple[csv.Value, ...], str] = {
        (one.dataset, one.run, str(one.metric)): one.tier for one in standings
    }
    names = dict.fromkeys(metric for _, _, metric in tiers)
    rows = board.rows()
    for row in rows:
        where = row["dataset"], row["run"]
        row |= {f"{metric} tier": tiers.get((*where, metric), "") for metric in names}
    return csv.render(rows)


def _query_records(board: Leaderboard) -> Iterator[dict[str, csv.Value]]:
    for entry in board.entries:
        captured = {name: entry.columns.get(name, "") for name in board.columns}
        for qid, values in _values(entry, per_query=True):
            yield {"dataset": entry.dataset, "run": entry.run, **captured, "qid": qid, **values}


def as_html(board: Leaderboard, *, per_query: bool = False) -> str:
    """Return the leaderboard as HTML tables, one a dataset, best values in bold."""
    return html.render(grids(board, per_query=per_query))


def as_jsonl(board: Leaderboard, *, per_query: bool = False) -> str:
    """Return a line ``{"dataset", "run", "metric", "qid", "value"}`` for each value.

    Summaries have qid ``all``; undefined values are null. Captured columns come before the metric,
    and ``chosen_from`` after it where the run is the best of several.
    """
    return jsonl.render(
        {
            "dataset": entry.dataset, "run": entry.run, **entry.columns, "metric": metric,
            **({CHOSEN: entry.chosen} if entry.chosen else {}), "qid": qid, "value": value,
        }
        for entry in board.entries
        for qid, values in _values(entry, per_query)
        for metric, value in values.items()
    )  # fmt: skip


def _values(entry: Entry, per_query: bool) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield qid and values by metric: every query's where asked for, then the summaries."""
    names = [str(metric) for metric in numbers_of(entry.evaluation.metrics)]
    queries = entry.evaluation.to_dict().items() if per_query else ()
    for qid, values in [*queries, ("all", entry.summary)]:
        yield qid, {name: values[name] for name in names}


def as_markdown(board: Leaderboard, *, per_query: bool = False) -> str:
    """Return the leaderboard as Markdown, a table a dataset, best values bold."""
    return markdown.render(grids(board, per_query=per_query))


def as_text(board: Leaderboard, *, width: int | None = None, per_query: bool = False) -> str:
    """Return the leaderboard as aligned columns, a block a dataset, best values marked ``*``.

    Parameters
    ----------
    board : Leaderboard
    width : int, optional
        Characters a line may take; metrics that do not fit go into further blocks below.
    per_query : bool
        Also list every query's values.
    """
    return text.render(grids(board, per_query=per_query, stars=True), width=width)


def as_trec(board: Leaderboard, *, per_query: bool = False) -> str:
    r"""Return ``metric<TAB>qid<TAB>value`` lines, with trec_eval's names and widths.

    Counts are whole, other values have four decimals. With several runs, each run's lines
    begin with a ``runid`` line, as trec_eval prints it; it says so where the run is the best of
    several. A tab or line break within a qid, which no
    TREC file can have, is shown as ``\t`` or ``\n``.
    """
    return "".join(line for entry in board.entries for line in _trec_lines(entry, per_query))


def _trec_lines(entry: Entry, per_query: bool) -> Iterator[str]:
    metrics = numbers_of(entry.evaluation.metrics)
    *queries, (_, summary) = _values(entry, per_query)
    for qid, values in queries:
        yield from (_trec_line(metric, qid, values[str(metric)]) for metric in metrics)
    if entry.run:
        chosen = f" ({entry.chosen})" if entry.chosen else ""
        yield f"{'runid':<22}\tall\t{legible(entry.run + chosen)}\n"
    yield from (_trec_line(metric, "all", summary[str(metric)]) for metric in metrics)


def _trec_line(metric: Metric, qid: str, value: float) -> str:
    shown = f"{value:.0f}" if metric.definition.summary == "sum" else f"{value:6.4f}"
    return f"{metric.trec_name:<22}\t{legible(qid)}\t{shown}\n"


REPORTS: Mapping[str, Report] = {
    "csv": Report(as_csv, ".csv"),
    "html": Report(as_html, ".html"),
    "jsonl": Report(as_jsonl, ".jsonl"),
    "markdown": Report(as_markdown, ".md"),
    "table": Report(as_text, ".txt"),
    "trec": Report(as_trec, ".eval"),
}
