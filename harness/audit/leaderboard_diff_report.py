"""Output of ``harness diff OLD NEW``: text, Markdown, CSV or JSON lines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import Any

from ..core.cell_key import CellKey
from ..core.entries import grouped_by
from ..core.names import shown_name
from ..errors import counted, first_of
from ..reports import formats
from ..reports.grid import Answer, Grid, GridCell, Group, filled, grid_of, not_shown
from ..reports.phrases import (
    ARROWS,
    CORRECTIONS,
    UNDEFINED,
    at_most,
    confidence,
    decimals,
    listed,
    no_room,
    p_value,
    signed,
)
from ..reports.text import fitted
from ..stats.registry import find
from .leaderboard_diff import CellChange, Changes, OrderChange, Reproduced

ROWS, CELLS = 20, 5
"""Limits of rows of a table, and of cells with listed queries; CSV and JSON lines have all."""
OPTIONAL = ("old (all)", "new (all)", "p", "queries moved")
"""Columns that a narrow terminal does not show, the first ones first."""
STATUSES = {
    "worse": "worse",
    "better": "better",
    "changed": "changed: the metric has no direction, or no query is in both",
    "queries": "with other query values: the mean is the same, or within the tolerance",
    "same": "the same",
}
"""Titles of the cells of each status; counts use their first words."""
FIELDS = (
    *("dataset", "run", "columns", "metric", "direction", "status", "old", "new", "difference"),
    *("old_all", "new_all", "tolerance", "old_rank", "new_rank", "n", "moved_queries"),
    *("low", "high", "p", "p_adjusted", "significant", "method", "note"),
)
TESTED = ("n", "low", "high", "p", "p_adjusted", "method")
ORDER = {
    "dataset": "dataset", "metric": "metric", "shared": "shared", "only_first": "only old",
    "only_second": "only new", "tau_b": "tau_b", "tau_ap": "tau_ap", "rbo": "RBO",
    "same_top": "same first", "moved": "moved", "max_rank_change": "largest move",
}  # fmt: skip
"""Measures of similarity in the text, and their headings."""
EVERY_DIGIT = 1e-12
"""Tolerances up to this are of tables with every digit."""
Fields = dict[str, Any]


def render(changes: Changes, format: str = "text", *, width: int | None = None) -> str:
    """Return the output of ``harness diff OLD NEW``, text in lines of `width` characters.

    ``csv`` has a row for each cell of both leaderboards, then rows of one of them only. ``jsonl``
    has a line for each thing that is reported, with its ``kind``. Both have every digit.
    """
    if format == "csv":
        return formats.as_csv(_csv_records(changes))
    if format == "jsonl":
        return formats.as_jsonl(records(changes))
    optional = *OPTIONAL, f"{confidence(changes.plan.level)} interval"
    tables, left_out = fitted([_head(changes), *grids(changes)], width, optional)
    lines = *notes(changes, left_out), *no_room(left_out, "--format csv")
    return formats.render([*tables, Grid(notes=lines)], format, width=width)


def records(changes: Changes) -> Iterator[Fields]:
    """Yield everything that is reported, each with its kind."""
    counts = Counter[str](cell.status for cell in changes.cells)
    yield {
        "kind": "summary",
        "old": changes.old,
        "new": changes.new,
        **{name: counts[name] for name in STATUSES},
        "only_old": len(changes.only_old),
        "only_new": len(changes.only_new),
        "metrics_only_old": " ".join(changes.metrics_only_old),
        "metrics_only_new": " ".join(changes.metrics_only_new),
        "regression": changes.has_regression,
    }
    by_kind: dict[str, Iterable[Fields]] = {
        "cell": _cell_records(changes),
        "query": (
            {**_named(cell.key), "metric": cell.metric, **move}
            for cell in changes.cells
            if cell.queries is not None
            for move in cell.queries.moves
        ),
        "order": map(_order_record, changes.orders),
        "origin": (difference._asdict() for difference in changes.origins),
        "reproduction": map(_with_key, changes.reproduced),
        "note": ({"text": note} for note in changes.notes),
    }
    for kind, reported in by_kind.items():
        yield from ({"kind": kind, **record} for record in reported)


def _named(key: CellKey) -> Fields:
    return {"dataset": key.dataset, "run": key.run, "columns": dict(key.columns)}


def _with_key(run: Reproduced) -> Fields:
    return {**_named(run.key), **{name: at for name, at in vars(run).items() if name != "key"}}


def _order_record(order: OrderChange) -> Fields:
    similarity, sizes = asdict(order.similarity), [abs(rank.change) for rank in order.changes]
    del similarity["rank_change"]
    similarity |= {name: len(similarity[name]) for name in ("only_first", "only_second")}
    sizes_of = {"max_rank_change": max(sizes), "mean_rank_change": sum(sizes) / len(sizes)}
    names = {"dataset": order.dataset, "metric": order.metric}
    return {**names, **similarity, "moved": order.moved, **sizes_of}


def _cell_records(changes: Changes) -> Iterator[Fields]:
    blank = {**dict.fromkeys(FIELDS), "metric": "", "note": ""}
    ranks = {
        (order.metric, change.key): (change.old, change.new)
        for order in changes.orders
        for change in order.changes
    }
    for cell in changes.cells:
        record = {**blank, **_named(cell.key), **vars(cell), "difference": cell.difference}
        record["old_rank"], record["new_rank"] = ranks.get((cell.metric, cell.key), (None, None))
        if cell.queries is not None and (tested := cell.tested) is not None:
            record |= {name: getattr(tested, name) for name in TESTED}
            record |= {"moved_queries": cell.queries.moved, "note": _note(cell, True)}
            if not math.isnan(tested.p):
                record["significant"] = tested.p_adjusted <= changes.plan.level
        yield {name: record[name] for name in FIELDS}
    yield from ({**blank, **_named(key), "status": "only old"} for key in changes.only_old)
    yield from ({**blank, **_named(key), "status": "only new"} for key in changes.only_new)


def _csv_records(changes: Changes) -> list[Fields]:
    rows = list(_cell_records(changes))
    names = dict.fromkeys(name for row in rows for name in row["columns"])
    return [
        {
            **{name: row[name] for name in FIELDS[:2]},
            **{name: row["columns"].get(name, "") for name in names},
            **{name: row[name] for name in FIELDS[3:]},
        }
        for row in rows
    ]


def _head(changes: Changes) -> Grid:
    only = {
        "only in old": [*map(str, changes.only_old)],
        "metrics only in old": changes.metrics_only_old,
        "only in new": [*map(str, changes.only_new)],
        "metrics only in new": changes.metrics_only_new,
    }
    named = {"old": [changes.old], "new": [changes.new], **only}
    return Grid(
        answers=(answer(changes),),
        notes=tuple(f"{side}: {first_of(names)}" for side, names in named.items() if names),
    )


def answer(changes: Changes) -> Answer:
    """Name the outcome of the comparison, and count what the new leaderboard lost."""
    statuses, n = Counter[str](cell.status for cell in changes.cells), len(changes.cells)
    if not statuses["worse"] and not changes.has_change:
        if limit := changes.tolerance:
            return Answer(f"no value of {n:,} changed by more than {limit:g}", "good")
        text = f"nothing has changed: {counted(n, 'value is', 'values are')} the same"
        return Answer(text, "good")
    parts = ["no value is worse"]
    if worse := changes.having("worse"):
        are, first = f"{len(worse):,} of {n:,} values {'are' if len(worse) > 1 else 'is'}", worse[0]
        values = f"{decimals(first.old)} to {decimals(first.new)}"
        tested = [cell.tested for cell in worse if cell.tested is not None]
        significant = sum(test.p_adjusted <= changes.plan.level for test in tested)
        aside = f" ({significant or 'none'} significantly)" if tested else ""
        name = f"{shown_name(first.metric)} of {first.key}"
        example = f", {name} most ({values})" if len(worse) > 1 else f": {name} ({values})"
        parts = [f"{are} worse{aside}{example}"]
    counts = {title.partition(":")[0]: statuses[name] for name, title in STATUSES.items()}
    del counts["worse"]
    if rest := [f"{k:,} {title}" for title, k in counts.items() if k]:
        parts.append(listed(rest))
    lists = (changes.only_old, "row"), (changes.metrics_only_old, "metric")
    if gone := [counted(len(names), kind) for names, kind in lists if names]:
        parts.append(f"gone: {listed(gone)} of old")
    if inputs := [PurePath(one.what).name for one in changes.origins if one.of == "input"]:
        parts.append(f"{counted(len(inputs), 'input')} changed: {first_of(inputs, 2)}")
    return Answer("; ".join(parts), "bad" if worse else "mixed" if gone else "good")


def notes(changes: Changes, left_out: Container[str] = ()) -> Iterator[str]:
    """Yield notes on the tables: tolerance, test and assumptions; not on columns left out."""
    yield f"{_tolerated(changes)}."
    if changes.family:
        plan = changes.plan
        how = CORRECTIONS[plan.correction].title
        yield f"The test is a {find(plan.test).title} of new against old on the queries of both."
        n = counted(changes.family, "test")
        yield f"The adjusted p has {how} over {n} of cells that moved."
        if f"{confidence(plan.level)} interval" not in left_out:
            yield "Intervals of differences are unadjusted."
        if any(cell.tested and cell.tested.p_adjusted <= plan.level for cell in changes.cells):
            yield f"* marks an adjusted {at_most(plan.level)}."
    if any(cell.has_other_queries for cell in changes.cells):
        yield "Values and differences are over the queries of both."
        columns = "" if "old (all)" in left_out else " and the columns old (all) and new (all)"
        yield f"Ranks{columns} are over all queries of each."
    same = [order for order in changes.orders if not order.differs]
    if same and len(same) == len(changes.orders):
        yield "No system changes its rank by any metric."
        same = []
    for dataset, orders in grouped_by(same, lambda order: order.dataset).items():
        where = f" on {dataset}" if dataset else ""
        metrics = first_of([shown_name(order.metric) for order in orders])
        yield f"The order of the systems is the same by {metrics}{where}."
    if any(order.differs for order in changes.orders):
        yield "tau_ap takes the old order as the truth."
        yield f"RBO is extrapolated with p = {changes.p:g}."
        yield "RBO and 'same first' are over all systems, the rest over the systems in both."
    if changes.reproduced:
        yield "rmse is over queries; nrmse is its share of the largest possible."
        yield "effect_ratio (ER) is the new effect divided by the old one."
        yield "delta_ri (DeltaRI) is the old relative improvement minus the new one."
    yield from changes.notes


def _tolerated(changes: Changes) -> str:
    """Return the sentence on the differences that count as equal, without its full stop."""
    if changes.tolerance:
        return f"Differences up to {changes.tolerance:g} count as equal"
    units: dict[str, dict[str, None]] = {}
    for cell in changes.cells:
        if cell.tolerance > EVERY_DIGIT:
            units.setdefault(f"{cell.tolerance:.2g}", {})[shown_name(cell.metric)] = None
    if not units:
        return "The tolerance is 0, so every difference counts"
    texts = [f"{unit} for {first_of([*names])}" for unit, names in units.items()]
    listing = listed(texts) if len(texts) > 1 else next(iter(units))
    return f"Differences up to half a unit of the last printed digit count as equal: {listing}"


def grids(changes: Changes) -> Iterator[Grid]:
    """Yield the tables, in the order in which they are shown."""
    moved = {status: changes.having(status) for status in STATUSES if status != "same"}
    for status, cells in moved.items():
        yield from _grid(STATUSES[status], [_cell_row(cell, changes) for cell in cells])
    tested = [(cell, cell.queries) for cells in moved.values() for cell in cells if cell.queries]
    for cell, queries in [pair for pair in tested if pair[1].moved][:CELLS]:
        n, listed_moves = queries.moved, len(queries.moves)
        which = "queries that moved" if n > 1 else "the only query that moved"
        which += f" most ({listed_moves} of {n:,})" if n > listed_moves else ""
        title = f"{cell.key}, {_heading(cell)}: {which}"
        yield from _grid(title, queries.moves, 1)
    orders = [order for order in changes.orders if order.differs]
    ranked = [
        {title: record[name] for name, title in ORDER.items()}
        for record in map(_order_record, orders)
    ]
    for row in ranked:
        row |= {"metric": shown_name(row["metric"])}
        row |= {"same first": "yes" if row["same first"] else "no"}
    yield from _grid("order of the systems", ranked)
    for dataset, of_dataset in grouped_by(orders, lambda order: order.dataset).items():
        yield from _ranks(dataset, [order for order in of_dataset if order.moved])
    if changes.has_queries and not changes.origins:
        yield Grid(title="inputs, config, policies, versions, code and counts are the same")
    origins = [
        {"difference": f"{origin.of} {origin.what}".strip(), "old": origin.old, "new": origin.new}
        for origin in changes.origins
    ]
    yield from _grid("inputs, config and versions", origins, 3)
    effects = [
        {**_with_key(run), "run": run.key.run_with_columns, "columns": ""}
        for run in changes.reproduced
    ]
    for row in effects:
        if not row["baseline"]:
            row |= {"effect_ratio": None, "delta_ri": None}
    yield from _grid("reproduction of old by new", effects)


def _grid(title: str, rows: Sequence[Fields], left: int | None = None) -> Iterator[Grid]:
    """Yield a table of the first rows without empty columns; nothing without rows.

    The first `left` columns are flush left. By default these are run and metric, and each dataset
    has its rows below its name.
    """
    if not rows:
        return
    texts = [{name: _show(name, value) for name, value in row.items()} for row in rows[:ROWS]]
    shown, more = filled(texts), not_shown(len(rows) - ROWS, "row", "--format jsonl lists all")
    if left is not None:
        yield grid_of(shown, left=left, title=title, notes=more)
        return
    datasets = grouped_by(shown, lambda row: str(row.pop("dataset", "")))
    table = grid_of(shown, left=len({"run", "metric"} & {*shown[0]}), title=title, notes=more)
    cells = dict(zip(map(id, shown), table.rows, strict=True))
    groups = [Group(name, tuple(cells[id(row)] for row in rows)) for name, rows in datasets.items()]
    yield replace(table, groups=tuple(groups))


def _show(name: str, value: Any) -> str | GridCell:
    if value is None:
        return ""
    if isinstance(value, float):
        if name in ("p", "p_paired", "p_welch"):
            return p_value(value)
        return signed(value) if name == "difference" else decimals(value)
    return value if isinstance(value, GridCell) else str(value)


def _cell_row(cell: CellChange, changes: Changes) -> Fields:
    key = cell.key
    row: Fields = {"dataset": key.dataset, "run": key.run_with_columns, "metric": _heading(cell)}
    row |= {"old": cell.old, "new": cell.new, "difference": cell.difference}
    if any(other.has_other_queries for other in changes.cells):
        row |= {"old (all)": cell.old_all, "new (all)": cell.new_all}
    if changes.has_queries:
        tested, level = cell.tested, changes.plan.level
        moved, p, adjusted, interval = "0/0", math.nan, math.nan, UNDEFINED
        if tested is not None and cell.queries is not None:
            moved, p, adjusted = f"{cell.queries.moved}/{tested.n}", tested.p, tested.p_adjusted
            if not math.isnan(tested.low):
                interval = f"[{signed(tested.low)}, {signed(tested.high)}]"
        star = "*" if adjusted <= level else ""
        row |= {"queries moved": moved, f"{confidence(level)} interval": interval, "p": p}
        row["adjusted p"] = GridCell(p_value(adjusted), star)
    return {**row, "note": _note(cell)}


def _heading(cell: CellChange) -> str:
    return f"{shown_name(cell.metric)} {ARROWS[cell.direction]}".rstrip()


def _note(cell: CellChange, is_full: bool = False) -> str:
    """Return the note on a cell; a full one names the queries of one side."""
    parts = []
    if math.isnan(cell.new_all):
        parts.append("value is gone")
    elif math.isnan(cell.old_all):
        parts.append("value is new")
    if (queries := cell.queries) is not None:
        for where, qids in (("old", queries.only_old), ("new", queries.only_new)):
            if qids:
                n = counted(len(qids), "query", "queries")
                named = f"{n} in {where} only: {first_of(qids, 2)}"
                parts.append(named if is_full else f"{n} {where}")
        parts.append("" if queries.n else "no query in both")
    if cell.tested is not None:
        parts.append(cell.tested.note)
    return "; ".join(filter(None, parts))


def _ranks(dataset: str, orders: Sequence[OrderChange]) -> Iterator[Grid]:
    """Yield the ranks of the systems that moved by some metric, the largest change first."""
    largest: Counter[str] = Counter()
    ranks: dict[tuple[str, str], str] = {}
    for order in orders:
        for rank in filter(lambda rank: rank.change, order.changes):
            name = rank.key.run_with_columns
            largest[name] = max(largest[name], abs(rank.change))
            ranks[name, order.metric] = f"{rank.old} to {rank.new} ({rank.change:+d})"
    metrics = [order.metric for order in orders]
    rows = [
        {"run": name, **{shown_name(m): ranks.get((name, m), "") for m in metrics}}
        for name, _ in largest.most_common()
    ]
    title = ", ".join(filter(None, (dataset, "ranks, old to new (+: higher)")))
    yield from _grid(title, rows, 1)
