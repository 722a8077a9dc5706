"""Changes as tables: what text and Markdown show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..comparing.cells import CORRECTIONS, Grid, p_value
from ..comparing.cells import number as shown
from ..reports._cells import ARROWS
from ..stats.registry import find
from .board import Key
from .cells import Cell
from .flow import Changes
from .ranks import Order

ROWS, CELLS = 20, 5
"""Rows of a table, and cells whose queries are listed; CSV and JSON lines have all."""
TITLES = {
    "worse": "worse", "better": "better", "changed": "changed, by metrics that have no better",
    "queries": "the value is the same, and those of queries are not",
}  # fmt: skip
WITHIN = "the value is within the tolerance, and those of queries are not the same"
WITHIN_SHORT = "within the tolerance, whose queries moved"


def head(found: Changes) -> list[str]:
    """Return what was compared, and how it ends."""
    statuses = [cell.status for cell in found.cells]
    counts = [
        f"{statuses.count(status)} {told}"
        for status, told in (
            ("worse", "worse"), ("better", "better"), ("changed", "changed"),
            ("queries", WITHIN_SHORT if _is_within(found) else "whose queries alone moved"),
            ("same", "the same"),
        )
        if status in statuses
    ]  # fmt: skip
    lines = [f"old: {found.old}", f"new: {found.new}"]
    lines.append(f"{_many(len(statuses), 'cell')} in both: {', '.join(counts)}")
    for where, keys, metrics in (
        ("old", found.only_old, found.metrics_only_old),
        ("new", found.only_new, found.metrics_only_new),
    ):
        if keys:
            lines.append(f"only in {where}: {_some(list(map(str, keys)))}")
        if metrics:
            lines.append(f"metrics only in {where}: {_some(metrics)}")
    return lines + [f"{key}: {other_number(key, found)}" for key in found.repetitions]


def other_number(key: Key, found: Changes) -> str:
    """Return how many repetitions (seeds) a row has and had, where that is not the same."""
    before, after = found.repetitions.get(key, (0, 0))
    return f"repetitions {before} -> {after}" if before != after else ""


def _is_within(found: Changes) -> bool:
    """Return whether a value that counts as the same, for its queries are looked at, moved."""
    return any(abs(cell.difference) > 0 for cell in found.having("queries"))


def verdict(found: Changes) -> str:
    """Return the last line: what the exit code says."""
    worse = len(found.having("worse"))
    beyond = "" if found.exact else " beyond the tolerance"
    if worse:
        verb = "is" if worse == 1 else "are"
        return f"REGRESSION: {_many(worse, 'cell')} {verb} worse{beyond}{_gone(found)}"
    if not found.has_change:
        return f"nothing has changed{beyond}"
    return f"no regression{beyond}{_gone(found)}"


def _gone(found: Changes) -> str:
    """Return what the new leaderboard lacks of the old one: none of it can be worse."""
    lists = (found.only_old, "row"), (found.metrics_only_old, "metric")
    gone = [_many(len(names), what) for names, what in lists if names]
    return f"; gone: {' and '.join(gone)} of old" if gone else ""


def grids(found: Changes) -> Iterator[Grid]:
    """Yield the tables, in the order in which they are shown."""
    for status, title in TITLES.items():
        is_within = status == "queries" and _is_within(found)
        yield from _moved(found, found.having(status), WITHIN if is_within else title)
    yield from _queries(found)
    yield from _orders(found)
    yield from _ranks(found)
    yield from _origins(found)
    yield from _reproduced(found)
    yield from _rankings(found)


def notes(found: Changes) -> list[str]:
    """Return what a reader must know: tolerance, test, what was taken for what."""
    lines = [_tolerance(found)]
    if found.family:
        plan = found.plan
        how = CORRECTIONS.get(plan.correction, "no correction")
        title = find(plan.test).title
        lines.append(
            f"p: {title} of the queries of both, new against old; {how} over "
            f"{_many(found.family, 'test')} of cells that moved; * at most {plan.level:g}"
        )
    same = [one for one in found.orders if not is_another(one)]
    if same:
        told = dict.fromkeys(one.metric for one in same)
        datasets = dict.fromkeys(one.dataset for one in same if one.dataset)
        where = f" on {_some(list(datasets))}" if datasets else ""
        lines.append(f"the order of the systems is the same by {_some(list(told))}{where}")
    rounded = "" if found.exact else ", at the digits of the one that has fewer"
    if len(same) < len(found.orders):
        lines.append(
            f"tau_ap: the old order is the truth; RBO: extrapolated, p = {found.p:g}, equal ranks "
            "are real; ranks: among the systems of both" + rounded
        )
        if any(one.has_ties for one in found.orders if is_another(one)):
            lines.append(
                "tau_ap: the mean over the orders of tied systems, below 1 where both order and "
                "tie them alike too"
            )
    if any(map(_is_partly_shared, found.orders)):
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
    used: dict[float, list[str]] = {}
    for cell in found.cells:
        used.setdefault(cell.tolerance, []).append(cell.metric)
    told = "; ".join(
        f"{tolerance:.2g} for {', '.join(dict.fromkeys(names))}"
        for tolerance, names in used.items()
    )
    return f"tolerance: half a unit of the last digit printed ({told})"


def _moved(found: Changes, cells: Sequence[Cell], title: str) -> Iterator[Grid]:
    if not cells:
        return
    kept = cells[:ROWS]
    has_dataset = any(cell.key.dataset for cell in found.cells)
    tested = any(cell.queries is not None for cell in cells)
    noted = any(_note(cell, found) for cell in kept)
    level = 100 * (1 - found.plan.level)
    header = [*(["dataset"] * has_dataset), "run", "metric", "old", "new", "difference"]
    if tested:
        header += ["queries moved", f"{level:g} % interval", "p", "adjusted p"]
    header += ["note"] * noted
    rows = []
    for cell in kept:
        row = [*([cell.key.dataset] * has_dataset), cell.key.name, heading(cell)]
        row += [shown(cell.old), shown(cell.new), _difference(cell.difference)]
        rows.append(row + (_tested(cell, found) if tested else []) + [_note(cell, found)] * noted)
    yield Grid(title, header, rows, 2 + has_dataset, len(cells) - len(kept))


def heading(cell: Cell) -> str:
    """Return a metric's name with an arrow that points to better."""
    return f"{cell.metric} {ARROWS[cell.direction]}".rstrip()


def _tested(cell: Cell, found: Changes) -> list[str]:
    one = cell.queries
    if one is None:
        return [""] * 4
    interval = "–"
    if one.low == one.low:
        interval = f"[{_difference(one.low)}, {_difference(one.high)}]"
    star = "*" * (one.p_adjusted <= found.plan.level)
    return [f"{one.moved}/{one.n}", interval, p_value(one.p), p_value(one.p_adjusted) + star]


def _note(cell: Cell, found: Changes) -> str:
    parts = [other_number(cell.key, found)]
    if cell.new != cell.new:
        parts.append("no value any more")
    elif cell.old != cell.old:
        parts.append("had no value")
    if cell.queries is not None:
        for where, qids in (("old", cell.queries.only_old), ("new", cell.queries.only_new)):
            if qids:
                told = "query" if len(qids) == 1 else "queries"
                parts.append(f"{len(qids)} {told} in {where} only ({_some(qids, 2)})")
        parts.append(cell.queries.note)
    return "; ".join(filter(None, parts))


def _queries(found: Changes) -> Iterator[Grid]:
    moved = [
        cell
        for status in TITLES
        for cell in found.having(status)
        if cell.queries is not None and cell.queries.moved
    ]
    for cell in moved[:CELLS]:
        one = cell.queries
        if one is None:
            continue
        rows = [
            [move.qid, shown(move.old), shown(move.new), _difference(move.difference)]
            for move in (*one.up, *reversed(one.down))
        ]
        title = f"{cell.key}, {heading(cell)}: queries that moved most, of {one.moved}"
        yield Grid(title, ["qid", "old", "new", "difference"], rows, 1)


def is_another(one: Order) -> bool:
    """Return whether two leaderboards order the systems of a dataset in another way."""
    return bool(one.moved or _is_partly_shared(one))


def _is_partly_shared(one: Order) -> bool:
    return bool(one.similarity.only_first or one.similarity.only_second)


def _systems(one: Order) -> str:
    """Return how many systems are in both, and of how many where these are not all."""
    found = one.similarity
    if not _is_partly_shared(one):
        return str(found.shared)
    old, new = (found.shared + len(only) for only in (found.only_first, found.only_second))
    return f"{found.shared} of {old} and {new}"


def _orders(found: Changes) -> Iterator[Grid]:
    has_dataset = any(one.dataset for one in found.orders)
    header = [*(["dataset"] * has_dataset), "metric", "systems", "tau_b", "tau_ap", "RBO",
              "Spearman", "swaps", "normalised", "same top", "ranks moved", "by at most",
              "on average"]  # fmt: skip
    told = [one for one in found.orders if is_another(one)]
    rows = [
        [
            *([one.dataset] * has_dataset), one.metric, _systems(one),
            shown(one.similarity.tau_b), shown(one.similarity.tau_ap), shown(one.similarity.rbo),
            shown(one.similarity.spearman), str(one.similarity.swaps),
            shown(one.similarity.swaps_normalised), "yes" if one.similarity.same_top else "no",
            str(one.moved), str(one.max_change), f"{one.mean_change:.2f}",
        ]
        for one in told
    ]  # fmt: skip
    if rows:
        yield Grid("order of the systems", header, rows[:ROWS], 1 + has_dataset,
                   max(0, len(rows) - ROWS))  # fmt: skip


def _ranks(found: Changes) -> Iterator[Grid]:
    for dataset in dict.fromkeys(one.dataset for one in found.orders):
        orders = [one for one in found.orders if one.dataset == dataset and one.moved]
        largest: dict[str, int] = {}
        cells: dict[tuple[str, str], str] = {}
        for one in orders:
            for each in one.changes:
                if each.change:
                    name = each.key.name
                    largest[name] = max(largest.get(name, 0), abs(each.change))
                    told = f"{each.old} to {each.new} ({each.change:+d})"
                    cells[name, one.metric] = told
        names = sorted(largest, key=lambda name: -largest[name])
        metrics = [one.metric for one in orders]
        rows = [[name, *(cells.get((name, metric), "") for metric in metrics)] for name in names]
        if rows:
            title = ", ".join(filter(None, (dataset, "ranks, old to new (+: higher)")))
            more = max(0, len(rows) - ROWS)
            yield Grid(title, ["run", *metrics], rows[:ROWS], 1, more)


def _origins(found: Changes) -> Iterator[Grid]:
    rows = [[one.kind, one.what, one.old, one.new] for one in found.origins]
    if rows:
        header = ["of", "what", "old", "new"]
        yield Grid("where they come from", header, rows[:ROWS], 4, max(0, len(rows) - ROWS))
    elif found.has_queries:
        same = "inputs, config, policies, versions, code and counts are the same"
        yield Grid(f"where they come from: {same}", [], [], 0)


def _reproduced(found: Changes) -> Iterator[Grid]:
    if not found.reproduced:
        return
    rows = found.reproduced
    has_dataset = any(one.key.dataset for one in rows)
    based = any(one.baseline for one in rows)
    noted = any(one.note for one in rows)
    header = [*(["dataset"] * has_dataset), "run", "metric", "n", "RMSE", "nRMSE", "paired p",
              "Welch p", *(["against", "ER", "DeltaRI"] * based), *(["note"] * noted)]  # fmt: skip
    body = []
    for one in rows[:ROWS]:
        row = [*([one.key.dataset] * has_dataset), one.key.name, one.metric]
        row += [str(one.n) if one.n else "–", shown(one.rmse), shown(one.nrmse)]
        row += [p_value(one.p_paired), p_value(one.p_welch)]
        row += [one.baseline or "–", shown(one.effect_ratio), shown(one.delta_ri)] * based
        body.append(row + [one.note] * noted)
    more = max(0, len(rows) - ROWS)
    yield Grid("reproduction of old by new", header, body, 2 + has_dataset, more)


def _rankings(found: Changes) -> Iterator[Grid]:
    if not found.rankings:
        return
    has_dataset = any(one.key.dataset for one in found.rankings)
    header = [*(["dataset"] * has_dataset), "run", "queries", "shared", "tau_b", "RBO"]
    rows = [
        [*([one.key.dataset] * has_dataset), one.key.name, str(one.n), shown(one.coverage),
         shown(one.tau), shown(one.rbo)]
        for one in found.rankings
    ]  # fmt: skip
    title = "rankings of old and new: share of the old documents, and order of the shared ones"
    yield Grid(title, header, rows[:ROWS], 1 + has_dataset, max(0, len(rows) - ROWS))


def _difference(value: float) -> str:
    """Return a difference with its sign; a small one in powers of ten, as 0 would be wrong.

    >>> _difference(0.01), _difference(-1e-9), _difference(0.0)
    ('+0.0100', '-1.0e-09', '+0.0000')
    """
    if value and abs(value) < 0.00005:
        return f"{value:+.1e}"
    return shown(value, sign=True)


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def _some(names: Sequence[str], shown: int = 8) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
