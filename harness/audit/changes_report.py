"""Changes as text, Markdown, CSV or JSON lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from ..errors import for_terminal, in_markdown, legible
from ..reports import csv, jsonl, markdown, text
from ..reports.grid import Cell as GridCell
from ..reports.grid import Grid, and_more, grid
from ..reports.numbers import ARROWS, UNDEFINED, decimals, p_value
from ..reports.phrases import CORRECTIONS, counted
from ..stats.registry import find
from .changes import Cell, Changes, Order
from .changes_board import Key

ROWS, CELLS = 20, 5
"""Rows of a table, and cells whose queries are listed; CSV and JSON lines have all."""
STATUSES = {
    "worse": ("worse", "worse"),
    "better": ("better", "better"),
    "changed": ("changed", "changed: the metric has no direction, or no query is shared"),
    "queries": (
        "whose queries differ", "the value over the shared queries is the same, its queries differ",
    ),
    "same": ("the same", ""),
}  # fmt: skip
"""What counts and titles call each status."""
WITHIN = (
    "within the tolerance, whose queries differ",
    "the value over the shared queries is within the tolerance, its queries differ",
)
"""The same for queries that moved, where a mean did too."""
FIELDS = (
    "dataset", "run", "columns", "metric", "direction", "status", "old", "new", "difference",
    "old_all", "new_all", "tolerance", "old_rank", "new_rank", "n", "moved_queries", "low", "high",
    "p", "p_adjusted", "significant", "method", "note",
)  # fmt: skip
Record = dict[str, Any]
T = TypeVar("T")


def render(found: Changes, format: str = "text", *, width: int | None = None) -> str:
    """Return what ``harness compare OLD NEW`` prints.

    ``csv`` has a row for each cell of both leaderboards, moved or not, then rows of one of them
    alone; columns that tell rows apart (``seed``) stand behind the run. ``jsonl`` has a line for
    each thing that is reported, with its ``kind``. Both have every digit.

    Parameters
    ----------
    found : Changes
    format : {"text", "csv", "jsonl", "markdown"}
    width : int, optional
        Characters a line of text may take.
    """
    if format == "csv":
        return csv.render(_csv_records(found))
    if format == "jsonl":
        return jsonl.render({"kind": kind, **record} for kind, record in records(found))
    about, end = Grid(notes=tuple(head(found))), Grid(notes=tuple(notes(found)))
    if format == "markdown":
        tables = markdown.render([about, *grids(found), end])
        return f"**{in_markdown(verdict(found))}**\n\n{tables}"
    tables = text.render([*grids(found), end], width=width).removesuffix("\n")
    blocks = ["\n".join(map(legible, about.notes)), tables, verdict(found)]
    return for_terminal("\n\n".join(blocks)) + "\n"


def records(found: Changes) -> Iterator[tuple[str, Record]]:
    """Yield all that was found, each with its kind."""
    statuses = [one.status for one in found.cells]
    yield (
        "summary",
        {
            "old": found.old,
            "new": found.new,
            **{name: sum(one == name for one in statuses) for name in STATUSES},
            "only_old": len(found.only_old),
            "only_new": len(found.only_new),
            "metrics_only_old": " ".join(found.metrics_only_old),
            "metrics_only_new": " ".join(found.metrics_only_new),
            "regression": found.has_regression,
        },
    )
    yield from (("cell", record) for record in _cell_records(found))
    for cell in found.cells:
        if cell.queries is not None:
            for move in (*cell.queries.up, *reversed(cell.queries.down)):
                yield "query", {**_named(cell.key), "metric": cell.metric, **asdict(move)}
    for one in found.orders:
        similarity = asdict(one.similarity)
        del similarity["rank_change"]
        for name in ("only_first", "only_second"):
            similarity[name] = len(similarity[name])
        yield "order", {
            "dataset": one.dataset, "metric": one.metric, **similarity, "moved": one.moved,
            "max_rank_change": one.max_change, "mean_rank_change": one.mean_change,
        }  # fmt: skip
    for each in found.origins:
        yield "origin", {"of": each.kind, "what": each.what, "old": each.old, "new": each.new}
    for key, (old, new) in found.repetitions.items():
        yield "repetitions", {**_named(key), "old": old, "new": new}
    for kind, some in (("reproduction", found.reproduced), ("ranking", found.rankings)):
        for item in some:
            values = {name: value for name, value in vars(item).items() if name != "key"}
            yield kind, {**_named(item.key), **values}
    yield from (("note", {"text": note}) for note in found.notes)


def _named(key: Key) -> Record:
    return {"dataset": key.dataset, "run": key.run, "columns": dict(key.columns)}


def _cell_records(found: Changes) -> Iterator[Record]:
    blank = {**dict.fromkeys(FIELDS), "metric": "", "note": ""}
    ranks = {
        (one.metric, change.key): {"old_rank": change.old, "new_rank": change.new}
        for one in found.orders
        for change in one.changes
    }
    for cell in found.cells:
        record = {**blank, **_named(cell.key), **ranks.get((cell.metric, cell.key), {})}
        record |= {name: getattr(cell, name) for name in FIELDS[3:12]}
        if (one := cell.queries) is not None:
            names = ("n", "low", "high", "p", "p_adjusted", "method")
            record |= {name: getattr(one, name) for name in names}
            record["note"] = _note(cell, found)
            record["moved_queries"] = one.moved
            if not math.isnan(one.p):
                record["significant"] = one.p_adjusted <= found.plan.level
        yield record
    for status, keys in (("only old", found.only_old), ("only new", found.only_new)):
        yield from ({**blank, **_named(key), "status": status} for key in keys)


def _csv_records(found: Changes) -> list[Record]:
    rows = list(_cell_records(found))
    names = dict.fromkeys(name for row in rows for name in row["columns"])
    return [
        {
            **{name: row[name] for name in FIELDS[:2]},
            **{name: row["columns"].get(name, "") for name in names},
            **{name: row[name] for name in FIELDS[3:]},
        }
        for row in rows
    ]


def head(found: Changes) -> list[str]:
    """Return what was compared, and how it ends."""
    statuses = [cell.status for cell in found.cells]
    counts = [
        f"{sum(one == status for one in statuses)} {_called(status, found)[0]}"
        for status in STATUSES
        if status in statuses
    ]
    lines = [f"old: {found.old}", f"new: {found.new}"]
    lines.append(f"{counted(len(statuses), 'cell')} in both: {', '.join(counts)}")
    for where, keys, metrics in (
        ("old", found.only_old, found.metrics_only_old),
        ("new", found.only_new, found.metrics_only_new),
    ):
        if keys:
            lines.append(f"only in {where}: {_some(list(map(str, keys)))}")
        if metrics:
            lines.append(f"metrics only in {where}: {_some(metrics)}")
    return lines + [f"{key}: {_repetitions(key, found)}" for key in found.repetitions]


def _called(status: str, found: Changes) -> tuple[str, str]:
    """Return what counts and titles call a status."""
    queries = found.having("queries") if status == "queries" else []
    return WITHIN if any(abs(cell.difference) > 0 for cell in queries) else STATUSES[status]


def _repetitions(key: Key, found: Changes) -> str:
    """Return how many repetitions (seeds) a row has and had, where that is not the same."""
    before, after = found.repetitions.get(key, (0, 0))
    return f"repetitions {before} -> {after}" if before != after else ""


def verdict(found: Changes) -> str:
    """Return the last line: what the exit code says, and what the new leaderboard does not have."""
    worse = len(found.having("worse"))
    end = "" if found.exact else " beyond the tolerance"
    if not worse and not found.has_change:
        return f"nothing has changed{end}"
    lists = (found.only_old, "row"), (found.metrics_only_old, "metric")
    if gone := [counted(len(names), what) for names, what in lists if names]:
        end += f"; gone: {' and '.join(gone)} of old"
    if not worse:
        return f"no regression{end}"
    return f"REGRESSION: {counted(worse, 'cell')} {'is' if worse == 1 else 'are'} worse{end}"


def notes(found: Changes) -> list[str]:
    """Return what a reader must know: tolerance, test, what was taken for what."""
    lines = [_tolerance(found)]
    if found.family:
        plan = found.plan
        how = CORRECTIONS.get(plan.correction, "no correction")
        lines.append(
            f"p: {find(plan.test).title} of the queries of both, new against old; {how} over "
            f"{counted(found.family, 'test')} of cells that moved; * at most {plan.level:g}"
        )
    if any(cell.has_other_queries for cell in found.cells):
        lines.append(
            "old, new, difference, interval and p are over the queries of both; ranks and the "
            "columns 'all queries' are over all queries of each"
        )
    metrics: dict[str, list[str]] = {}  # by which the order is the same, by dataset
    for one in found.orders:
        if not one.differs:
            metrics.setdefault(one.dataset, []).append(one.metric)
    for names in dict.fromkeys(map(tuple, metrics.values())):
        datasets = [dataset for dataset, own in metrics.items() if tuple(own) == names]
        where = f" on {_some(datasets)}" if any(datasets) else ""
        lines.append(f"the order of the systems is the same by {_some(names)}{where}")
    differing = [one for one in found.orders if one.differs]
    if differing:
        lines.append(
            f"tau_ap: the old order is the truth; RBO: extrapolated, p = {found.p:g}, equal ranks "
            "are real; ranks: among the systems of both"
            + ("" if found.exact else ", at the digits of the one that has fewer")
        )
    if any(one.has_ties for one in differing):
        lines.append(
            "tau_ap: the mean over the orders of tied systems, below 1 where both order and "
            "tie them alike too"
        )
    if any(one.is_partly_shared for one in differing):
        lines.append(
            "order: over the systems of both, but RBO and same top, which are over all of each"
        )
    if found.reproduced:
        lines.append(
            "RMSE, nRMSE: over queries, and as a share of the largest possible; ER: new effect "
            "over the old one; DeltaRI: old relative improvement minus the new one"
        )
    return [*lines, *found.notes]


def _tolerance(found: Changes) -> str:
    if found.tolerance is not None:
        return f"tolerance: {found.tolerance:g}"
    if found.exact:
        return "tolerance: 0; any digit counts"
    used: dict[float, dict[str, None]] = {}
    for cell in found.cells:
        used.setdefault(cell.tolerance, {})[cell.metric] = None
    parts = "; ".join(f"{value:.2g} for {', '.join(names)}" for value, names in used.items())
    return f"tolerance: half a unit of the last digit printed ({parts})"


def grids(found: Changes) -> Iterator[Grid]:
    """Yield the tables, in the order in which they are shown."""
    moved = {status: found.having(status) for status in STATUSES if status != "same"}
    for status, cells in moved.items():
        yield from _grid(_called(status, found)[1], cells, _moved_columns(found, cells))
    with_moves = [
        (cell, one)
        for cells in moved.values()
        for cell in cells
        if (one := cell.queries) is not None and one.moved
    ]
    for cell, one in with_moves[:CELLS]:
        title = f"{cell.key}, {_heading(cell)}: queries that moved most, of {one.moved}"
        yield from _grid(title, (*one.up, *reversed(one.down)), _QUERY_COLUMNS, 1)
    orders = [one for one in found.orders if one.differs]
    yield from _grid("order of the systems", orders, _ORDER_COLUMNS)
    for dataset in dict.fromkeys(one.dataset for one in found.orders):
        yield from _ranks(dataset, [one for one in orders if one.dataset == dataset and one.moved])
    if found.has_queries and not found.origins:
        same = "inputs, config, policies, versions, code and counts are the same"
        yield Grid(title=f"where they come from: {same}")
    columns = {"of": "kind", "what": "what", "old": "old", "new": "new"}
    yield from _grid("where they come from", found.origins, columns, 4, drop=False)
    based = any(one.baseline for one in found.reproduced)
    yield from _grid("reproduction of old by new", found.reproduced, _reproduced_columns(based))
    title = "rankings of old and new: share of the old documents, and order of the shared ones"
    yield from _grid(title, found.rankings, _RANKING_COLUMNS)


Columns = Mapping[str, Callable[[Any], str | GridCell] | str]
"""What stands in each column: the name of an attribute, or a function of the row."""


def _grid(
    title: str, rows: Sequence[T], columns: Columns, left: int | None = None, *, drop: bool = True
) -> Iterator[Grid]:
    """Yield a table of the first rows, without columns that are empty; nothing without rows.

    The first `left` columns are flush left: by default those of names.
    """
    if not rows:
        return
    body = [
        [getattr(row, cell) if isinstance(cell, str) else cell(row) for cell in columns.values()]
        for row in rows[:ROWS]
    ]
    places = [at for at in range(len(columns)) if not drop or any(row[at] for row in body)]
    header = [list(columns)[at] for at in places]
    if left is None:
        left = sum(name in ("dataset", "run", "metric") for name in header)
    more = and_more(len(rows) - ROWS, "--format jsonl has them")
    cells = [[row[at] for at in places] for row in body]
    yield grid(header, cells, left=left, title=title, notes=more)


def _moved_columns(found: Changes, cells: Iterable[Cell]) -> Columns:
    others = any(cell.has_other_queries for cell in cells)
    level = 100 * (1 - found.plan.level)

    def tested(show: Callable[[Any], str | GridCell]) -> Callable[[Cell], str | GridCell]:
        return lambda cell: "" if cell.queries is None else show(cell.queries)

    return {
        "dataset": lambda cell: cell.key.dataset,
        "run": lambda cell: cell.key.name,
        "metric": _heading,
        "old": lambda cell: decimals(cell.old),
        "new": lambda cell: decimals(cell.new),
        "difference": lambda cell: _difference(cell.difference),
        "old, all queries": lambda cell: decimals(cell.old_all) if others else "",
        "new, all queries": lambda cell: decimals(cell.new_all) if others else "",
        "queries moved": tested(lambda one: f"{one.moved}/{one.n}"),
        f"{level:g} % interval": tested(lambda one: _interval(one.low, one.high)),
        "p": tested(lambda one: p_value(one.p)),
        "adjusted p": tested(
            lambda one: GridCell(
                p_value(one.p_adjusted), "*" if one.p_adjusted <= found.plan.level else ""
            )
        ),
        "note": lambda cell: _note(cell, found),
    }


_QUERY_COLUMNS: Columns = {
    "qid": "qid",
    "old": lambda one: decimals(one.old),
    "new": lambda one: decimals(one.new),
    "difference": lambda one: _difference(one.difference),
}
_ORDER_COLUMNS: Columns = {
    "dataset": "dataset",
    "metric": "metric",
    "systems": lambda one: _systems(one),
    "tau_b": lambda one: decimals(one.similarity.tau_b),
    "tau_ap": lambda one: decimals(one.similarity.tau_ap),
    "RBO": lambda one: decimals(one.similarity.rbo),
    "Spearman": lambda one: decimals(one.similarity.spearman),
    "swaps": lambda one: str(one.similarity.swaps),
    "normalised": lambda one: decimals(one.similarity.swaps_normalised),
    "same top": lambda one: "yes" if one.similarity.same_top else "no",
    "ranks moved": lambda one: str(one.moved),
    "by at most": lambda one: str(one.max_change),
    "on average": lambda one: f"{one.mean_change:.2f}",
}
_RANKING_COLUMNS: Columns = {
    "dataset": lambda one: one.key.dataset,
    "run": lambda one: one.key.name,
    "queries": lambda one: str(one.n),
    "shared": lambda one: decimals(one.coverage),
    "tau_b": lambda one: decimals(one.tau),
    "RBO": lambda one: decimals(one.rbo),
}


def _reproduced_columns(based: bool) -> Columns:
    columns: dict[str, Callable[[Any], str | GridCell] | str] = {
        "dataset": lambda one: one.key.dataset,
        "run": lambda one: one.key.name,
        "metric": "metric",
        "n": lambda one: str(one.n) if one.n else UNDEFINED,
        "RMSE": lambda one: decimals(one.rmse),
        "nRMSE": lambda one: decimals(one.nrmse),
        "paired p": lambda one: p_value(one.p_paired),
        "Welch p": lambda one: p_value(one.p_welch),
    }
    if based:
        columns["against"] = lambda one: one.baseline or UNDEFINED
        columns["ER"] = lambda one: decimals(one.effect_ratio)
        columns["DeltaRI"] = lambda one: decimals(one.delta_ri)
    return {**columns, "note": "note"}


def _heading(cell: Cell) -> str:
    """Return a metric's name with an arrow that points to better."""
    return f"{cell.metric} {ARROWS[cell.direction]}".rstrip()


def _interval(low: float, high: float) -> str:
    return UNDEFINED if math.isnan(low) else f"[{_difference(low)}, {_difference(high)}]"


def _note(cell: Cell, found: Changes) -> str:
    parts = [_repetitions(cell.key, found)]
    if math.isnan(cell.new_all):
        parts.append("no value any more")
    elif math.isnan(cell.old_all):
        parts.append("had no value")
    if cell.queries is not None:
        for where, qids in (("old", cell.queries.only_old), ("new", cell.queries.only_new)):
            if qids:
                n = counted(len(qids), "query", "queries")
                parts.append(f"{n} in {where} only ({_some(qids, 2)})")
        parts.append(cell.queries.note if cell.queries.n else "no query in both")
    return "; ".join(filter(None, parts))


def _systems(one: Order) -> str:
    """Return how many systems are in both, and of how many where these are not all."""
    shared = one.similarity.shared
    if not one.is_partly_shared:
        return str(shared)
    alone = one.similarity.only_first, one.similarity.only_second
    return f"{shared} of {shared + len(alone[0])} and {shared + len(alone[1])}"


def _ranks(dataset: str, orders: Sequence[Order]) -> Iterator[Grid]:
    """Yield the ranks of the systems that moved by some metric, the largest change first."""
    changes: dict[str, dict[str, int]] = {}
    ranks: dict[tuple[str, str], str] = {}
    for one in orders:
        for each in one.changes:
            if each.change:
                changes.setdefault(each.key.name, {})[one.metric] = abs(each.change)
                shown = f"{each.old} to {each.new} ({each.change:+d})"
                ranks[each.key.name, one.metric] = shown
    names = sorted(changes, key=lambda name: -max(changes[name].values()))
    columns: dict[str, Callable[[str], str]] = {"run": str}
    for one in orders:
        columns[one.metric] = lambda name, metric=one.metric: ranks.get((name, metric), "")  # type: ignore[misc]
    title = ", ".join(filter(None, (dataset, "ranks, old to new (+: higher)")))
    yield from _grid(title, names, columns, 1)


def _difference(value: float) -> str:
    """Return a difference with its sign; a small one in powers of ten, as 0 would be wrong.

    >>> _difference(0.01), _difference(-1e-9), _difference(0.0)
    ('+0.0100', '-1.0e-09', '+0.0000')
    """
    if value and abs(value) < 0.00005:
        return f"{value:+.1e}"
    return decimals(value, sign=True)


def _some(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
