"""An audit as one page of HTML: heat maps, without scripts or anything from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from ..escaping import in_html
from ..reports._cells import heading, number
from . import words
from .flow import Audited
from .spread import Comparison, Matrix, Row

_HIGHER, _LOWER = (107, 174, 214), (253, 174, 97)
"""Blue and orange, which every kind of colour vision tells apart, pale enough for black text."""
_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; color: #111; background: #fff; margin: 2em auto;
  max-width: 1200px; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin: 2.2em 0 .3em; }
p { margin: .3em 0; max-width: 60em; }
.wide { overflow-x: auto; margin: .8em 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .3em; }
th, td { border: 1px solid #ddd; padding: .2em .55em; text-align: right; white-space: nowrap; }
thead th { background: #f2f2f2; vertical-align: bottom; white-space: normal; }
th:first-child, .text { text-align: left; } tbody th { font-weight: 400; background: #fafafa; }
tr.base td, tr.base th { border-bottom: 2px solid #666; }
tr.changed th { font-weight: 700; border-left: 5px solid #111; }
td.best { font-weight: 700; } td.refused { background: #e6e6e6; color: #555; }
.key span { display: inline-block; padding: .1em .6em; border: 1px solid #ddd; }
.note { color: #444; }
"""


def render(audited: Audited) -> str:
    """Return the page: an overview, then a section a dataset and metric.

    Cells are coloured by their difference to the base: blue above it, orange below, the deepest
    being the largest difference of the matrix. The numbers stand in them.
    """
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Audit of conventions</title><style>{_STYLE}</style></head><body>",
        "<h1>The leaderboard under every convention</h1>",
        _key(),
        _overview(audited),
    ]
    parts += [_paragraph(note, "note") for note in words.left_out(audited)]
    for place, matrix in enumerate(audited.matrices):
        parts += _section(matrix, place)
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _key() -> str:
    low, high = _css(_LOWER), _css(_HIGHER)
    return (
        '<p class="key">Colours: <span style="background:'
        f'{low}">lower than the base</span> <span>the same</span> '
        f'<span style="background:{high}">higher</span>. The best system of a row is bold with '
        "an asterisk; rows with a black bar order the systems otherwise than the base.</p>"
    )


def _overview(audited: Audited) -> str:
    rows = []
    for place, matrix in enumerate(audited.matrices):
        link = f'<a href="#m{place}">{in_html(heading(matrix.metric))}</a>'
        rows.append(
            f"<tr><th>{in_html(matrix.dataset)}</th><td class=text>{link}</td>"
            + _cells([words.first_choice(matrix)], text=1)
            + _cells([number(words.widest(matrix), matrix.metric)])
            + _cells(words.shares(matrix))
            + "</tr>"
        )
    return _table("", words.OVERVIEW, rows, text=(1, 2))


def _section(matrix: Matrix, place: int) -> list[str]:
    title = f"{matrix.dataset}: {heading(matrix.metric)}".removeprefix(": ")
    parts = [f'<h2 id="m{place}">{in_html(title)}</h2>']
    parts += [_paragraph(sentence) for sentence in words.verdict(matrix)]
    differences = [np.abs(row.values - matrix.base.values) for row in matrix.rows]
    largest = float(np.nanmax([*map(_largest, differences), 0.0]))
    rows = [_row(matrix, matrix.base, matrix.own, largest, "base")]
    for row, found in zip(matrix.rows, matrix.comparisons, strict=True):
        kind = "changed" if found.order_changed else ""
        rows.append(_row(matrix, row, found, largest, kind))
    parts.append(_table("", ["convention", "order", "tau", *matrix.systems], rows, text=(1,)))
    parts += [_paragraph(note, "note") for note in words.notes(matrix)]
    ranges = []
    for name, each in zip(matrix.systems, matrix.ranges, strict=True):
        low, high, wide = (number(v, matrix.metric) for v in (each.low, each.high, each.width))
        lowest, highest = words.ends(each, 6)
        cells = _cells([low]), _cells([lowest], text=1), _cells([high])
        last = _cells([highest], text=1) + _cells([wide])
        ranges.append(f"<tr><th>{in_html(name)}</th>{''.join(cells)}{last}</tr>")
    parts.append(_table("Range of each system", words.RANGES, ranges, text=(2, 4)))
    if not matrix.comparable:
        return parts
    for walk in matrix.walks:
        lines = [
            f"<tr><th>{in_html(name)}</th>{_cells(cells)}</tr>"
            for name, *cells in words.walk(matrix, walk)
        ]
        parts.append(_table(f"From the base to {walk.name}", ["step", *matrix.systems], lines))
        if walk.nothing:
            parts.append(_paragraph(f"No change by: {', '.join(walk.nothing)}.", "note"))
    return parts + _effects(matrix)


def _effects(matrix: Matrix) -> list[str]:
    effects = [
        f"<tr><th>{in_html(first)}</th>{_cells(rest, text=len(rest))}</tr>"
        for first, *rest in (words.choice(each, matrix) for each in matrix.effects if each.matters)
    ]
    caption, every = "One choice at a time, the others being the base's", range(len(words.CHOICES))
    parts = [_table(caption, words.CHOICES, effects, text=every)]
    if lost := words.lost(matrix):
        parts.append(_paragraph(f"No value for some system with: {', '.join(lost)}.", "note"))
    if nothing := words.no_effect(matrix.effects):
        parts.append(_paragraph(f"Without effect here: {', '.join(nothing)}.", "note"))
    return parts


def _row(matrix: Matrix, row: Row, found: Comparison, largest: float, kind: str) -> str:
    cells = [f"<td class=text>{words.order(row, found)}</td><td>{words.tau(found.tau)}</td>"]
    for at in range(len(matrix.systems)):
        text = words.cell(row, at, matrix.metric)
        if row.refused[at]:
            cells.append(f'<td class="refused" title="{in_html(row.refused[at])}">{text}</td>')
            continue
        difference = row.values[at].item() - matrix.base.values[at].item()
        style = f' style="background:{_css(_mixed(difference, largest))}"'
        best = ' class="best"' if at in found.best else ""
        star = "*" if best else ""
        cells.append(f"<td{best}{style}>{text}{star}</td>")
    of_kind = f' class="{kind}"' if kind else ""
    return f"<tr{of_kind}><th>{in_html(words.row_name(row))}</th>{''.join(cells)}</tr>"


def _largest(differences: np.ndarray) -> float:
    known = differences[~np.isnan(differences)]
    return float(known.max()) if known.size else 0.0


def _mixed(difference: float, largest: float) -> tuple[int, int, int]:
    """Return white for no difference, the full colour for the largest."""
    if math.isnan(difference) or not largest:
        return 255, 255, 255
    share = min(abs(difference) / largest, 1.0)
    red, green, blue = (
        round(255 + share * (full - 255)) for full in (_HIGHER if difference > 0 else _LOWER)
    )
    return red, green, blue


def _css(colour: Sequence[int]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)


def _cells(texts: Iterable[str], text: int = 0) -> str:
    """Return cells, the first `text` of them flush left."""
    return "".join(
        f"<td{' class=text' if at < text else ''}>{in_html(each)}</td>"
        for at, each in enumerate(texts)
    )


def _paragraph(text: str, kind: str = "") -> str:
    of_kind = f' class="{kind}"' if kind else ""
    return f"<p{of_kind}>{in_html(text)}</p>"


def _table(
    caption: str, names: Sequence[str], rows: Sequence[str], text: Collection[int] = ()
) -> str:
    """Return a table; the headings of the columns `text` are flush left, as their cells."""
    head = "".join(
        f"<th{' class=text' if at in text else ''}>{in_html(name)}</th>"
        for at, name in enumerate(names)
    )
    title = f"<caption>{in_html(caption)}</caption>" if caption else ""
    body = "\n".join(rows)
    return (
        f'<div class="wide"><table>{title}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
