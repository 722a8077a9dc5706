"""Conventions as tables, as a page of HTML with heat maps, and as records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..core.entries import grouped_by
from ..core.names import parse, shown_name, spelled
from ..core.ragged import Floats
from ..errors import first_of
from ..reports import html
from ..reports.grid import Answer, Grid, GridCell, Tone, filled, grid, grid_of, not_shown
from ..reports.notes import weighted
from ..reports.phrases import UNDEFINED, decimals, heading, listed, number
from .conventions import (
    BASE,
    DIGITS,
    ComparedConventions,
    ConventionRow,
    Matrix,
    OrderComparison,
    Walk,
)

MOST = 8
"""Metrics on a dataset that have a sentence above the tables."""
REFUSED = "x"
"""Shown if a convention refuses the data."""
OVERVIEW = (
    *("dataset", "metric", "largest single choice", "largest range"),
    *("other order", "other best"),
)
MEANINGS = (
    "The largest single choice is the setting that alone changes a system's value most.",
    "The largest range is that of one system over all conventions.",
    "'other order' and 'other best' count conventions that order the systems differently or have "
    "another best system.",
)
RANGES = ("system", "lowest", "lowest under", "highest", "highest under", "range")
CHOICES = (
    *("one choice", "base", "with", "largest change"),
    *("of", "lowest tau", "under", "other best under"),
)
_HIGHER, _LOWER = (107, 174, 214), (253, 174, 97)
"""Blue and orange, which every kind of colour vision tells apart, pale enough for black text."""


def grids(
    result: ComparedConventions, details: bool = True, explained: bool = False
) -> Iterator[Grid]:
    """Yield the answers and an overview; with `details`, the tables of each dataset and metric.

    If the conventions are `explained`, each answer has a table of the settings that change values.
    """
    if explained and not details:
        for matrix in result.matrices:
            if _verdict(matrix):
                yield Grid(answers=(_answer(matrix),))
            walks = matrix.walks if matrix.comparable else ()
            yield from (_walk(matrix, walk) for walk in walks)
            if not walks or any(any(row.refused) for row in matrix.rows):
                yield _values(matrix)
        by = {matrix.dataset: matrix.weighted_by for matrix in result.matrices}
        yield Grid(notes=(*weighted(by), *_left_out(result)))
        yield Grid(notes=("--details prints every table",))
        return
    answers = [_answer(matrix) for matrix in result.matrices if _verdict(matrix)]
    rest = not_shown(len(answers) - MOST, "answer", "see the table")
    yield Grid(answers=(*answers[:MOST], *map(Answer, rest)))
    yield _overview(result)
    for matrix in result.matrices if details else ():
        yield Grid(title=_title(matrix))
        yield from _tables(matrix)
    if not details:
        hint = "--details prints every table, --convention TOOL explains one tool"
        yield Grid(notes=(hint,))


def page(result: ComparedConventions) -> str:
    """Return a page of HTML: an overview, then a section for each dataset and metric.

    Cells are coloured by their difference to the base: blue above it, orange below, the deepest
    being the largest difference of the matrix.
    """
    low, high = _colour(-1, 1), _colour(1, 1)
    parts = [
        f'<p>Colours: <span style="background: {low}; color: #111">lower than the base</span>, '
        f'<span style="background: {high}; color: #111">higher</span>. The best system of a row '
        "is bold.</p>",
        html.render([_overview(result)]),
    ]
    for matrix in result.matrices:
        parts.append(f"<h2>{html.in_html(_title(matrix))}</h2>")
        parts.append(html.render([Grid(notes=_verdict(matrix)), *_tables(matrix)]))
    title = "The leaderboard under every convention"
    return html.document(title, "".join(f"{part}\n" for part in parts))


def records(result: ComparedConventions) -> list[dict[str, Any]]:
    """Return a record for each dataset, metric, system and convention, the base's own first.

    ``base`` is the base's value and ``difference`` is value minus base; both are NaN if there
    is none. ``order_changed`` is whether the convention puts these systems in another order than
    the base; None if fewer than two have a value in both. ``refused`` is why there is no value.
    """
    return [
        {
            "dataset": matrix.dataset,
            "metric": str(matrix.metric),
            "system": system,
            "convention": row.name,
            "value": row.values[at].item(),
            "base": matrix.base.values[at].item(),
            "difference": row.values[at].item() - matrix.base.values[at].item(),
            "order_changed": order.order_changed if order.compared > 1 else None,
            "refused": row.refused[at],
        }
        for matrix in result.matrices
        for row, order in matrix.compared
        for at, system in enumerate(matrix.systems)
    ]


def _of_conventions(matrix: Matrix) -> list[tuple[ConventionRow, OrderComparison]]:
    """Return the conventions with an order of systems to compare with the base's."""
    return [(row, order) for row, order in matrix.compared[1:] if order.compared > 1]


def _title(matrix: Matrix) -> str:
    return f"{matrix.dataset}: {heading(matrix.metric)}".removeprefix(": ")


def _overview(result: ComparedConventions) -> Grid:
    rows = []
    for matrix in result.matrices:
        orders = [order for _, order in _of_conventions(matrix)]
        changed = [sum(order.order_changed for order in orders)]
        changed += [sum(order.best_changed for order in orders)]
        first = next((effect for effect in matrix.effects if effect.system >= 0), None)
        choice = "none" if matrix.comparable else "no base to start from"
        if matrix.comparable and first is not None:
            choice = f"{first.choice}={first.value}: {decimals(first.change, sign=True)}"
        values = _all_values(matrix)
        known = values[:, ~np.isnan(values).all(axis=0)]
        widths = np.nanmax(known, axis=0) - np.nanmin(known, axis=0)
        widest = number(float(widths.max()) if widths.size else math.nan, matrix.metric)
        counts = [f"{n} of {len(orders)}" if orders else UNDEFINED for n in changed]
        rows.append([matrix.dataset, heading(matrix.metric), choice, widest, *counts])
    by = {matrix.dataset: matrix.weighted_by for matrix in result.matrices}
    return grid(OVERVIEW, rows, left=3, notes=[*MEANINGS, *weighted(by), *_left_out(result)])


def _tables(matrix: Matrix) -> Iterator[Grid]:
    yield _values(matrix)
    if matrix.systems and matrix.rows:
        yield _ranges(matrix)
    if matrix.comparable:
        yield from (_walk(matrix, walk) for walk in matrix.walks)
        yield _effects(matrix)


def _values(matrix: Matrix) -> Grid:
    differences = [np.abs(row.values - matrix.base.values) for row in matrix.rows]
    largest = float(np.nanmax([0.0, *(np.nan_to_num(row).max() for row in differences)]))
    rows = []
    for row, order in matrix.compared:
        change = "other best" if order.best_changed else "other order"
        change = change if order.best_changed or order.order_changed else ""
        if np.isnan(row.values).all():
            change = "refused" if all(row.refused) else "undefined"
        cells = [GridCell(row.name), GridCell(change), GridCell(decimals(order.tau, 2))]
        for at, value in enumerate(row.values.tolist()):
            if row.refused[at]:
                cells.append(GridCell(REFUSED))
                continue
            colour = _colour(value - matrix.base.values[at].item(), largest)
            text = number(value, matrix.metric)
            cells.append(GridCell(text, bold=at in order.best, colour=colour))
        rows.append(cells)
    header = ["convention", "order", "tau", *matrix.systems]
    return grid(header, rows, left=2, notes=_notes(matrix))


def _notes(matrix: Matrix) -> Iterator[str]:
    yield from weighted({matrix.dataset: matrix.weighted_by})
    rows = [row for row, _ in matrix.compared]
    for reason in dict.fromkeys(why for row in rows for why in row.refused if why):
        names = [row.name for row in rows if reason in row.refused]
        yield f"{REFUSED} marks values that {', '.join(names)} cannot compute: {reason}."
    undefined = [
        row.name for row in rows if (np.isnan(row.values) & (np.array(row.refused) == "")).any()
    ]
    if undefined:
        yield f"{UNDEFINED} marks values that are undefined under {', '.join(undefined)}."


def _all_values(matrix: Matrix) -> Floats:
    """Return every value, a row for the base and each convention, a column for each system."""
    return np.stack([row.values for row, _ in matrix.compared])


def _ranges(matrix: Matrix) -> Grid:
    names, rows = [row.name for row, _ in matrix.compared], []
    for system, column in zip(matrix.systems, _all_values(matrix).T, strict=True):
        cells = [system]
        ends = float(np.fmin.reduce(column)), float(np.fmax.reduce(column))
        for end in ends:
            same = np.flatnonzero((column - end).round(DIGITS) == 0)
            cells += [number(end, matrix.metric), first_of([names[at] for at in same], 3)]
        rows.append([*cells, number(ends[1] - ends[0], matrix.metric)])
    return grid(RANGES, rows, left=6, title="Range of each system")


def _walk(matrix: Matrix, walk: Walk) -> Grid:
    """Return the table of the change by each setting, from the base to a convention."""
    metric = matrix.metric
    rows = [[BASE, *(number(value, metric) for value in matrix.base.values.tolist())]]
    rows += [
        [name, *(decimals(part, sign=True) for part in change)] for name, change in walk.changes
    ]
    rows.append([f"= {walk.name}", *(number(value, metric) for value in walk.values.tolist())])
    notes = [f"These settings change nothing: {', '.join(walk.nothing)}."] if walk.nothing else []
    return grid([f"{BASE} -> {walk.name}", *matrix.systems], rows, notes=notes)


def _effects(matrix: Matrix) -> Grid:
    """Return the table of choices, one at a time from the base."""
    rows = []
    for effect in (effect for effect in matrix.effects if effect.matters):
        change = [decimals(effect.change, sign=True), matrix.systems[effect.system]]
        under = effect.tau_value if effect.tau != 1 else ""
        tau, best = decimals(effect.tau, 2), first_of(effect.best_changed, 3)
        shown = change if effect.system >= 0 else ["", ""]
        cells = effect.choice, effect.own, effect.value, *shown, tau, under, best
        rows.append(dict(zip(CHOICES, cells, strict=True)))
    lost = [f"{effect.choice}={value}" for effect in matrix.effects for value in effect.lost]
    inert = [effect.choice for effect in matrix.effects if not effect.matters]
    notes = [f"Some system has no value with {', '.join(lost)}."] if lost else []
    notes += [f"These choices change nothing here: {', '.join(inert)}."] if inert else []
    title = "One choice at a time, the others as in the base"
    return grid_of(filled(rows), left=len(CHOICES), title=title, notes=notes)


def _colour(difference: float, largest: float) -> str:
    """Return white for no difference, the full colour for the largest."""
    share = 0.0 if math.isnan(difference) or not largest else min(abs(difference) / largest, 1.0)
    full = _HIGHER if difference > 0 else _LOWER
    return "#" + "".join(f"{round(255 + share * (part - 255)):02x}" for part in full)


def _answer(matrix: Matrix) -> Answer:
    """Name the conventions that change the order of systems by a metric."""
    place = ", ".join(filter(None, (matrix.dataset, spelled(matrix.metric))))
    changes = any(order.order_changed for _, order in _of_conventions(matrix))
    tone: Tone = "mixed" if changes or not matrix.comparable else "good"
    return Answer(f"{place}: {' '.join(_verdict(matrix))}", tone)


def _verdict(matrix: Matrix) -> tuple[str, ...]:
    """Return sentences on changes of the order and of the best system by convention."""
    if not matrix.comparable:
        reasons = "; ".join(dict.fromkeys(filter(None, matrix.base.refused)))
        why = f"refused: {reasons}" if reasons else "undefined for every system"
        return (f"The base is {why}; nothing is compared with it.",) if matrix.systems else ()
    if not (pairs := _of_conventions(matrix)):
        return ()
    ordered = [row.name for row, order in pairs if order.order_changed]
    names = f": {', '.join(ordered)}" if ordered else ""
    count, rank = f"{len(ordered)} of {len(pairs)}", "rank" if len(ordered) > 1 else "ranks"
    count = count if ordered else f"None of {len(pairs)}"
    lines = [f"{count} conventions {rank} the systems differently{names}."]
    if len(pairs) == 1:
        how = "differently" if ordered else "in the same order"
        lines = [f"{pairs[0][0].name} ranks the systems {how}."]
    if top := matrix.compared[0][1].best:

        def name(places: Sequence[int]) -> str:
            return listed(matrix.systems[place] for place in places)

        changed = [pair for pair in pairs if pair[1].best_changed]
        by_best = grouped_by(changed, lambda pair: name(pair[1].best))
        rest = [
            f"; under {', '.join(row.name for row, _ in rows)}: {best}"
            for best, rows in by_best.items()
        ]
        verb = "is" if len(top) == 1 else "are"
        best_system = "best system" if len(top) == 1 else "best systems"
        lines.append(f"The {best_system} {verb} {name(top)}{''.join(rest)}.")
    swaps = filter(None, (_swap(matrix, row) for row, order in pairs if not order.best_changed))
    return (*lines, *islice(swaps, 1))


def _swap(matrix: Matrix, row: ConventionRow) -> str:
    """Name the two systems that a convention swaps by the largest difference; "" if none are."""
    before, after = (
        np.nan_to_num((values[:, None] - values).round(DIGITS))
        for values in (matrix.base.values, row.values)
    )
    swapped = np.where(before * after < 0, np.abs(after), 0.0)
    if not swapped.any():
        return ""
    names = (matrix.systems[place] for place in np.unravel_index(swapped.argmax(), swapped.shape))
    return f"For example, {row.name} swaps {listed(names)}."


def _left_out(result: ComparedConventions) -> Iterator[str]:
    has_direction = grouped_by(
        result.left_out, lambda name: bool(parse(name)[0].definition.direction)
    )
    for is_directed, names in has_direction.items():
        are, them = ("is", "it") if len(names) == 1 else ("are", "them")
        why = f"no convention here has {them}" if is_directed else "no value is better than another"
        yield f"{listed(map(shown_name, names))} {are} not compared: {why}."
    for cell in result.failed:
        yield f"Not compared, as in the leaderboard: {cell.run} on {cell.dataset}: {cell.error}."
