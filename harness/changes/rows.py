"""Changes as flat rows: what CSV and JSON lines hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..comparing.cells import plain
from ..escaping import in_json
from ..reports.csv import text_of
from .cells import Cell
from .flow import Changes
from .queries import Paired
from .rankings import Rankings
from .ranks import RankChange
from .reproduced import Reproduced

Row = dict[str, Any]
STATUSES = ("worse", "better", "changed", "queries", "same")


def csv(found: Changes) -> str:
    """Return a row a cell of both leaderboards, moved or not, then rows of one of them alone.

    Columns that tell rows apart (``seed``) stand behind the run. Numbers have every digit.
    """
    names = dict.fromkeys(
        name
        for key in (*(cell.key for cell in found.cells), *found.only_old, *found.only_new)
        for name, _ in key.columns
    )
    rows = []
    for row in _cells(found):
        captured = row.pop("columns")
        head = {name: row.pop(name) for name in ("dataset", "run")}
        rows.append({**head, **{name: captured.get(name, "") for name in names}, **row})
    return text_of(rows)


def jsonl(found: Changes) -> str:
    """Return a line for each thing that is said, with its ``kind``; NaN is null.

    ``summary``, ``cell`` (moved or not), ``query``, ``order``, ``origin``, ``repetitions``,
    ``reproduction``, ``ranking``, ``note``.
    """
    return "".join(in_json({"kind": kind, **plain(row)}) + "\n" for kind, row in _lines(found))


def _lines(found: Changes) -> Iterator[tuple[str, Row]]:
    yield "summary", summary(found)
    yield from (("cell", row) for row in _cells(found))
    for cell in found.cells:
        if cell.queries is not None:
            for move in (*cell.queries.up, *reversed(cell.queries.down)):
                yield "query", {**_named(cell), **asdict(move)}
    for one in found.orders:
        given = asdict(one.similarity)
        given.pop("rank_change")
        for name in ("only_first", "only_second"):
            given[name] = len(given[name])
        yield (
            "order",
            {
                "dataset": one.dataset, "metric": one.metric, **given, "moved": one.moved,
                "max_rank_change": one.max_change, "mean_rank_change": one.mean_change,
            },
        )  # fmt: skip
    yield from (("origin", {"of": each.kind, "what": each.what, "old": each.old, "new": each.new})
                for each in found.origins)  # fmt: skip
    for key, (old, new) in found.repetitions.items():
        named = {"dataset": key.dataset, "run": key.run, "columns": dict(key.columns)}
        yield "repetitions", {**named, "old": old, "new": new}
    yield from (("reproduction", _reproduced(one)) for one in found.reproduced)
    yield from (("ranking", _reproduced(one)) for one in found.rankings)
    yield from (("note", {"text": note}) for note in found.notes)


def summary(found: Changes) -> Row:
    """Return how many cells there are of each status."""
    statuses: list[str] = [one.status for one in found.cells]
    return {
        "old": found.old,
        "new": found.new,
        **{name: statuses.count(name) for name in STATUSES},
        "only_old": len(found.only_old),
        "only_new": len(found.only_new),
        "metrics_only_old": " ".join(found.metrics_only_old),
        "metrics_only_new": " ".join(found.metrics_only_new),
        "regression": found.has_regression,
    }  # fmt: skip


def _named(cell: Cell) -> Row:
    key = cell.key
    return {
        "dataset": key.dataset,
        "run": key.run,
        "columns": dict(key.columns),
        "metric": cell.metric,
    }


def _cells(found: Changes) -> Iterator[Row]:
    ranks: dict[tuple[str, object], RankChange] = {
        (one.metric, change.key): change for one in found.orders for change in one.changes
    }
    for cell in found.cells:
        rank = ranks.get((cell.metric, cell.key))
        yield {
            **_named(cell),
            "direction": cell.direction,
            "status": cell.status,
            "old": cell.old,
            "new": cell.new,
            "difference": cell.difference,
            "tolerance": cell.tolerance,
            "old_rank": None if rank is None else rank.old,
            "new_rank": None if rank is None else rank.new,
            **_queries(cell.queries, found),
        }
    for status, keys in (("only old", found.only_old), ("only new", found.only_new)):
        for key in keys:
            rest = dict.fromkeys(
                ("old", "new", "difference", "tolerance", "old_rank", "new_rank")
            )  # fmt: skip
            yield {
                "dataset": key.dataset, "run": key.run, "columns": dict(key.columns), "metric": "",
                "direction": None, "status": status, **rest, **_queries(None, found),
            }  # fmt: skip


def _queries(one: Paired | None, found: Changes) -> Row:
    names = ("n", "moved_queries", "low", "high", "p", "p_adjusted", "significant", "method")
    if one is None:
        return {**dict.fromkeys(names), "note": ""}
    significant = one.p_adjusted <= found.plan.level if one.p == one.p else None
    values = (one.n, one.moved, one.low, one.high, one.p, one.p_adjusted, significant, one.method)
    return {**dict(zip(names, values, strict=True)), "note": one.note}


def _reproduced(one: Reproduced | Rankings) -> Row:
    key = one.key
    rest = {name: value for name, value in vars(one).items() if name != "key"}
    return {"dataset": key.dataset, "run": key.run, "columns": dict(key.columns), **rest}
