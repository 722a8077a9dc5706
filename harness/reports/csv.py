"""The leaderboard as CSV: every digit, stable columns and rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..core.comparison import Comparisons
from ..core.leaderboard import Leaderboard, numbers_of
from ..escaping import csv_field, csv_text

suffix = ".csv"


def render(
    board: Leaderboard, *, per_query: bool = False, comparisons: Comparisons | None = None
) -> str:
    """Return CSV with a row a dataset x run; where `per_query`, with a row a query.

    Each run's queries are followed by its summary, with qid ``all``. Where runs were compared, the
    last columns are the tier of each by each metric compared: ``map tier``.

    Columns: dataset, run, captured columns, counts, undefined, then each metric. Numbers have
    every digit (they read back to the same float); an undefined value is an empty field.
    """
    if per_query:
        return text_of(_per_query(board))
    tiers = {} if comparisons is None else _tiers(comparisons)
    names = dict.fromkeys(metric for _, _, metric in tiers)
    rows = board.rows()
    for row in rows:
        where = row["dataset"], row["run"]
        row |= {f"{metric} tier": tiers.get((*where, metric), "") for metric in names}
    return text_of(rows)


def text_of(rows: Sequence[Mapping[str, str | int | float | None]]) -> str:
    """Return rows of the same keys as CSV; NaN and None are empty fields.

    Names that a spreadsheet would compute have an apostrophe before them.
    """
    header = list(rows[0]) if rows else []
    body = ([_field(row[name]) for name in header] for row in rows)
    return csv_text([map(csv_field, header), *body])


def _tiers(comparisons: Comparisons) -> dict[tuple[str | int | float, ...], str]:
    return {(one.dataset, one.run, str(one.metric)): one.tier for one in comparisons.standings}


def _per_query(board: Leaderboard) -> list[dict[str, str | int | float]]:
    rows: list[dict[str, str | int | float]] = []
    for entry in board.entries:
        names = {"dataset": entry.dataset, "run": entry.run}
        names |= {name: entry.columns.get(name, "") for name in board.columns}
        shown = [str(metric) for metric in numbers_of(entry.evaluation.metrics)]
        for qid, values in [*entry.evaluation.to_dict().items(), ("all", entry.summary)]:
            rows.append({**names, "qid": qid, **{name: values[name] for name in shown}})
    return rows


def _field(value: str | int | float | None) -> str | int:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    return csv_field(value) if isinstance(value, str) else value
