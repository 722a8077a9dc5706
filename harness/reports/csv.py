"""The leaderboard as CSV: every digit, stable columns and rows."""

from __future__ import annotations

import csv
import io
import math

from ..core.leaderboard import Leaderboard

suffix = ".csv"


def render(board: Leaderboard, *, per_query: bool = False) -> str:
    """Return CSV with a row a dataset x run; where `per_query`, with a row a query.

    Each run's queries are followed by its summary, with qid ``all``.

    Columns: dataset, run, captured columns, counts, undefined, then each metric. Numbers have
    every digit (they read back to the same float); an undefined value is an empty field.
    """
    rows = _per_query(board) if per_query else board.rows()
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _field(value) for name, value in row.items()})
    return text.getvalue()


def _per_query(board: Leaderboard) -> list[dict[str, str | int | float]]:
    rows: list[dict[str, str | int | float]] = []
    for entry in board.entries:
        names = {"dataset": entry.dataset, "run": entry.run}
        names |= {name: entry.columns.get(name, "") for name in board.columns}
        for qid, values in [*entry.evaluation.to_dict().items(), ("all", entry.summary)]:
            rows.append({**names, "qid": qid, **values})
    return rows


def _field(value: str | int | float) -> str | int:
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    return value
