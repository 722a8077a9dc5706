"""An audit as text, as a page of HTML with heat maps, and as CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..core.metric import Metric
from ..core.text import width as width_of
from ..errors import for_terminal, legible
from ..reports import csv as csv_report
from ..reports import html as html_report
from ..reports import text as text_report
from ..reports.grid import Cell, Grid, grid
from ..reports.numbers import UNDEFINED, heading, number
from ..reports.text import wrapped
from .conventions import Audited
from .spread import BASE, Comparison, Effect, Matrix, Row, Walk

WIDTH = 100
REFUSED = "x"
"""Shown if a convention refuses the data."""
OVERVIEW = (
    "dataset", "metric", "largest single choice", "largest range", "other order", "other best",
)  # fmt: skip
RANGES = ("system", "lowest", "lowest under", "highest", "highest under", "range")
CHOICES = (
    "one choice", "base", "with", "largest change", "of", "lowest tau", "under",
    "other best under",
)  # fmt: skip
_HIGHER, _LOWER = (107, 174, 214), (253, 174, 97)
"""Blue and orange, which every kind of colour vision tells apart, pale enough for black text."""
_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; color: #111; background: #fff; margin: 2em auto;
  max-width: 1200px; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin: 2.2em 0 .3em; }
p { margin: .3em 0; max-width: 60em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .8em 0; }
caption { font-weight: 600; padding-bottom: .3em; }
th, td { border: 1px solid #ddd; padding: .2em .55em; }
tfoot td { border: 0; color: #444; }
.key span { padding: .1em .6em; border: 1px solid #ddd; }
"""


def as_text(audited: Audited, *, width: int = WIDTH, details: bool = True) -> str:
    """Return an overview, then conventions as rows and systems as columns.

    Parameters
    ----------
    audited : Audited
    width : int
        Characters a line may take; systems that do not fit go into further blocks below.
    details : bool
        Whether to add the tables of each dataset and metric. Without them, the overview is
        followed by the conventions under which another system is best.
    """
    lines = [*_shown(_overview(audited), width)]
    for note in _left_out(audited):
        lines += ["", *wrapped(note, width)]
    for matrix in audited.matrices if details else ():
        title = legible(_title(matrix))
        lines += ["", "", title, "=" * min(width_of(title), width)]
        for sentence in _verdict(matrix):
            lines += wrapped(sentence, width)
        for one in _grids(matrix):
            lines += ["", *_shown(one, width)]
    if not details:
        lines.append("")
        for matrix in audited.matrices:
            if matrix.comparable and _changed(matrix)[1]:
                lines += wrapped(f"{_title(matrix)}: {_verdict(matrix)[-1]}", width)
        lines += [""] * (lines[-1] != "")
        lines.append("--details prints every table, --convention TOOL explains one tool")
    return for_terminal("\n".join(lines)) + "\n"


def _shown(one: Grid, width: int) -> Iterator[str]:
    if one.rows:
        table = replace(one, notes=())
        yield from text_report.render([table], width=width).splitlines()
    for note in one.notes:
        yield from wrapped(note, width, 2)


def as_html(audited: Audited) -> str:
    """Return a page: an overview, then a section for each dataset and metric.

    Cells are coloured by their difference to the base: blue above it, orange below, the deepest
    being the largest difference of the matrix.
    """
    low, high = _colour(-1, 1), _colour(1, 1)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Audit of conventions</title><style>{_STYLE}</style></head><body>",
        "<h1>The leaderboard under every convention</h1>",
        f'<p class="key">Colours: <span style="background: {low}">lower than the base</span> '
        f'<span>the same</span> <span style="background: {high}">higher</span>. The best system '
        "of a row is bold.</p>",
        html_report.render([_overview(audited)]),
        *(f"<p>{html_report.in_html(note)}</p>" for note in _left_out(audited)),
    ]
    for matrix in audited.matrices:
        parts.append(f"<h2>{html_report.in_html(_title(matrix))}</h2>")
        parts += [f"<p>{html_report.in_html(sentence)}</p>" for sentence in _verdict(matrix)]
        parts.append(html_report.render(_grids(matrix)))
    return "\n".join([*parts, "</body></html>"]) + "\n"


def as_csv(audited: Audited) -> str:
    """Return a row for each dataset, metric, system and convention, the base's own rows first.

    ``base`` is the base's value and ``difference`` is value minus base; both are empty if there
    is none. ``order_changed`` says whether the convention puts these systems in another order
    than the base, and is the same for all of them; it is empty if fewer than two have a value in
    both, so that there is no order. ``refused`` is why there is no value.
    """
    return csv_report.render(
        [
            {
                "dataset": matrix.dataset, "metric": str(matrix.metric), "system": system,
                "convention": row.name, "value": row.values[at].item(),
                "base": matrix.base.values[at].item(),
                "difference": row.values[at].item() - matrix.base.values[at].item(),
                "order_changed": found.order_changed if found.compared > 1 else None,
                "refused": row.refused[at],
            }
            for matrix in audited.matrices
            for row, found in _rows(matrix)
            for at, system in enumerate(matrix.systems)
        ]
    )  # fmt: skip


RENDERINGS: Mapping[str, Callable[..., str]] = {"text": as_text, "csv": as_csv, "html": as_html}


def _rows(matrix: Matrix) -> list[tuple[Row, Comparison]]:
    """Return the base and every convention, each compared with the base."""
    return [(matrix.base, matrix.own), *zip(matrix.rows, matrix.comparisons, strict=True)]


def _title(matrix: Matrix) -> str:
    return f"{matrix.dataset}: {heading(matrix.metric)}".removeprefix(": ")


def _overview(audited: Audited) -> Grid:
    rows = []
    for matrix in audited.matrices:
        ordered, bests = (len(names) for names in _changed(matrix))
        total = _n_compared(matrix)
        widths = [each.width for each in matrix.ranges if not math.isnan(each.width)]
        rows.append(
            [
                matrix.dataset, heading(matrix.metric), _first_choice(matrix),
                number(max(widths, default=math.nan), matrix.metric),
                *(f"{n} of {total}" if total else UNDEFINED for n in (ordered, bests)),
            ]
        )  # fmt: skip
    return grid(OVERVIEW, rows, left=3)


def _first_choice(matrix: Matrix) -> str:
    """Return the choice that changes a summary the most, and by how much."""
    if not matrix.comparable:
        return "no base to start from"
    first = next((each for each in matrix.effects if each.system >= 0), None)
    if first is None:
        return "none"
    return f"{first.choice}={first.value}: {_signed(first.change, matrix.metric)}"


def _grids(matrix: Matrix) -> Iterator[Grid]:
    """Yield the tables of one metric: values, ranges, ways to conventions and single choices."""
    yield _values(matrix)
    if matrix.systems and matrix.rows:
        yield _ranges(matrix)
    if matrix.comparable:
        yield from (_walk(matrix, walk) for walk in matrix.walks)
        yield _effects(matrix)


def _values(matrix: Matrix) -> Grid:
    differences = [np.abs(row.values - matrix.base.values) for row in matrix.rows]
    largest = float(np.nanmax([0.0, *(np.nan_to_num(each).max() for each in differences)]))
    rows = []
    for row, found in _rows(matrix):
        name = f"{row.name} (own)" if row.own else row.name
        cells = [Cell(name), Cell(_order(row, found)), Cell(tau_text(found.tau))]
        for at, value in enumerate(row.values.tolist()):
            if row.refused[at]:
                cells.append(Cell(REFUSED, hint=row.refused[at]))
                continue
            colour = _colour(value - matrix.base.values[at].item(), largest)
            text = number(value, matrix.metric)
            cells.append(Cell(text, bold=at in found.best, colour=colour))
        rows.append(cells)
    header = ["convention", "order", "tau", *matrix.systems]
    return grid(header, rows, left=2, notes=_notes(matrix))


def tau_text(value: float) -> str:
    """Return a tau as it is shown: 1 only for the same order, -1 only for the opposite one.

    >>> tau_text(0.9999), tau_text(1.0), tau_text(-1 / 3), tau_text(-0.9999), tau_text(math.nan)
    ('0.99', '1.00', '-0.33', '-0.99', '–')
    """
    if math.isnan(value):
        return UNDEFINED
    shown = value if abs(value) == 1 else min(max(value, -0.99), 0.99)
    return f"{round(shown, 2) + 0.0:.2f}"  # + 0.0: no minus before a zero


def _order(row: Row, found: Comparison) -> str:
    """Return what a row does to the order of systems; nothing if it is the base's."""
    if all(row.refused):
        return "refused"
    if np.isnan(row.values).all():
        return "undefined"
    if found.best_changed:
        return "other best"
    return "other order" if found.order_changed else ""


def _notes(matrix: Matrix) -> Iterator[str]:
    """Yield why values are refused, and which are undefined."""
    for reason, rows in matrix.refusals.items():
        names_of: dict[str, list[str]] = {}
        for name, systems in rows.items():
            is_all = len(systems) == len(matrix.systems)
            names_of.setdefault("" if is_all else f" ({', '.join(systems)})", []).append(name)
        who = "; ".join(", ".join(names) + systems for systems, names in names_of.items())
        yield f"{REFUSED} refused by {who}: {reason}"
    if any(row.own for row in matrix.rows):
        yield "(own) a metric that the config, or -m, names beside the base"
    undefined = [
        row.name
        for row in (matrix.base, *matrix.rows)
        if (np.isnan(row.values) & (np.array(row.refused) == "")).any()
    ]
    if undefined:
        yield (
            f"{UNDEFINED} undefined under {', '.join(undefined)}: "
            "a query's undefined value makes the mean so, or none is defined"
        )


def _ranges(matrix: Matrix) -> Grid:
    rows = []
    for name, each in zip(matrix.systems, matrix.ranges, strict=True):
        low, high, width = (number(v, matrix.metric) for v in (each.low, each.high, each.width))
        ends = _first_few(each.low_names), _first_few(each.high_names)
        if each.low_names and each.low_names == each.high_names:
            ends = "all", "all"
        rows.append([name, low, ends[0], high, ends[1], width])
    return grid(RANGES, rows, left=6, title="Range of each system")


def _walk(matrix: Matrix, walk: Walk) -> Grid:
    """Return what each setting adds on the way from the base to a convention."""
    metric = matrix.metric

    def ends(name: str, values: Iterable[float]) -> list[str]:
        return [name, *(number(value, metric) for value in values)]

    rows = [ends(BASE, matrix.base.values.tolist())]
    rows += [[name, *(_signed(one, metric) for one in change)] for name, change in walk.changes]
    rows.append(ends(f"= {walk.name}", walk.values.tolist()))
    notes = [f"no change by: {', '.join(walk.nothing)}"] if walk.nothing else []
    return grid([f"{BASE} -> {walk.name}", *matrix.systems], rows, notes=notes)


def _effects(matrix: Matrix) -> Grid:
    """Return the table of choices, one at a time from the base."""
    rows = [_choice(each, matrix) for each in matrix.effects if each.matters]
    lost = [f"{each.choice}={value}" for each in matrix.effects for value in each.lost]
    inert = [each.choice for each in matrix.effects if not each.matters]
    notes = [f"no value for some system with: {', '.join(lost)}"] if lost else []
    notes += [f"without effect here: {', '.join(inert)}"] if inert else []
    title = "One choice at a time, the others being the base's"
    return grid(CHOICES, rows, left=len(CHOICES), title=title, notes=notes)


def _choice(found: Effect, matrix: Matrix) -> list[str]:
    change = ["", ""]
    if found.system >= 0:
        change = [_signed(found.change, matrix.metric), matrix.systems[found.system]]
    return [
        found.choice, found.own, found.value, *change, tau_text(found.tau),
        found.tau_value if found.order_changed else "", _first_few(found.best_changed),
    ]  # fmt: skip


def _signed(change: float, metric: Metric) -> str:
    if math.isnan(change):
        return UNDEFINED
    return f"{'-' if change < 0 else '+'}{number(abs(change), metric)}"


def _first_few(names: Sequence[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are.

    >>> _first_few(["a", "b", "c", "d", "e"])
    'a, b, c +2'
    """
    more = f" +{len(names) - most}" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _colour(difference: float, largest: float) -> str:
    """Return white for no difference, the full colour for the largest."""
    share = 0.0 if math.isnan(difference) or not largest else min(abs(difference) / largest, 1.0)
    full = _HIGHER if difference > 0 else _LOWER
    return "#" + "".join(f"{round(255 + share * (part - 255)):02x}" for part in full)


def _of_conventions(matrix: Matrix) -> list[tuple[Row, Comparison]]:
    pairs = zip(matrix.rows, matrix.comparisons, strict=True)
    return [(row, found) for row, found in pairs if row.convention]


def _n_compared(matrix: Matrix) -> int:
    """Return how many conventions have an order of systems to compare with the base's."""
    return sum(found.compared > 1 for _, found in _of_conventions(matrix))


def _changed(matrix: Matrix) -> tuple[list[str], list[str]]:
    """Return the conventions with another order, and those with another best system."""
    pairs = _of_conventions(matrix)
    ordered = [row.name for row, found in pairs if found.order_changed]
    return ordered, [row.name for row, found in pairs if found.best_changed]


def _verdict(matrix: Matrix) -> list[str]:
    """Return the findings as sentences: whether there is a base, order, best system."""
    if not matrix.comparable:
        reasons = "; ".join(dict.fromkeys(filter(None, matrix.base.refused)))
        why = f"refused: {reasons}" if reasons else "undefined for every system"
        return [f"The base is {why}; nothing to compare with."] if matrix.systems else []
    total, (ordered, bests) = _n_compared(matrix), _changed(matrix)
    if not total:
        return []
    under = {1: "the one convention compared", 2: "both conventions"}.get(
        total, f"all {total} conventions"
    )
    lines = [f"The order of systems is the same under {under}."]
    if ordered:
        under = under if total == 1 else f"{len(ordered)} of {total} conventions"
        lines = [f"The order of systems is another under {under} ({', '.join(ordered)})."]
    if not matrix.own.best:
        return lines
    top = _systems(matrix, matrix.own.best)
    if not bests:
        return [*lines, f"The best is {top} under every one."]
    names_of: dict[str, list[str]] = {}
    for row, found in _of_conventions(matrix):
        if found.best_changed:
            names_of.setdefault(_systems(matrix, found.best), []).append(row.name)
    others = "; ".join(f"{who} under {', '.join(names)}" for who, names in names_of.items())
    return [*lines, f"The best is {top}, but {others}."]


def _systems(matrix: Matrix, places: Sequence[int]) -> str:
    if len(places) == len(matrix.systems):
        return "all of them equally"
    return " and ".join(matrix.systems[place] for place in places)


def _left_out(audited: Audited) -> Iterator[str]:
    """Yield what was not audited."""
    if audited.left_out:
        names = ", ".join(audited.left_out)
        yield f"Not audited, as no convention compared has it or it is a mere count: {names}."
    for one in audited.failed:
        yield f"Not audited, as in the leaderboard: {one.run} on {one.dataset} {one.error}."
    if audited.bounds:
        yield "ties: bounds is not audited: the base is the metric itself, not its bounds."
