"""JSON lines: one value a line."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..core.leaderboard import CHOSEN, Entry, Leaderboard, numbers_of
from ..escaping import in_json

suffix = ".jsonl"


def render(board: Leaderboard, *, per_query: bool = False) -> str:
    """Return a line ``{"dataset", "run", "metric", "qid", "value"}`` for each value.

    Summaries have qid ``all``; undefined values are null. Captured columns stand in between, and
    ``chosen_from`` where the run is the best of several.
    """
    lines = []
    for entry in board.entries:
        for qid, metric, value in values(entry, per_query):
            row: dict[str, object] = {"dataset": entry.dataset, "run": entry.run, **entry.columns}
            row |= {"metric": metric}
            row |= {CHOSEN: entry.chosen} if entry.chosen else {}
            row |= {"qid": qid, "value": None if math.isnan(value) else value}
            lines.append(in_json(row))
    return "".join(f"{line}\n" for line in lines)


def values(entry: Entry, per_query: bool) -> Iterator[tuple[str, str, float]]:
    """Yield (qid, metric, value): every query's where asked for, then the summaries'."""
    names = [str(metric) for metric in numbers_of(entry.evaluation.metrics)]
    if per_query:
        for qid, found in entry.evaluation.to_dict().items():
            for name in names:
                yield qid, name, found[name]
    for name in names:
        yield "all", name, entry.summary[name]
