"""The cells that a grid lacks, for the eye: as a grid, and one by one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from ..errors import SHOWN
from .cells import DATASET, Cell, Gap, missing
from .patterns import natural

WIDTH = 96
"""Characters of a line of a grid, at most; a wider grid is continued below."""
ROWS = 20
"""Runs up to which those without a gap are shown too."""
THERE, LACKING = "x", "-"

_Place = tuple[str, ...]


def name_of(gap: Gap) -> str:
    """Return what a gap is called: ``gbrt on letor-fold1 fold=1 seed=2``."""
    columns = "".join(f" {name}={value}" for name, value in gap.columns.items())
    return f"{gap.run} on {gap.dataset}{columns}{_almost(gap)}"


def _almost(gap: Gap) -> str:
    """Return that a file of nearly that name is there: packed, or unpacked."""
    if not gap.almost:
        return ""
    is_there, wanted = os.path.basename(gap.almost), os.path.basename(gap.path)
    return f" ({is_there} is there, and {wanted} is not)"


def listed(gaps: Sequence[Gap], n_cells: int) -> str:
    """Return how many cells are missing, and the first of them, a line each."""
    more = [f"... and {len(gaps) - SHOWN} more"] if len(gaps) > SHOWN else []
    return "\n  ".join([f"{_count(len(gaps), n_cells)}:", *map(name_of, gaps[:SHOWN]), *more])


def shown(cells: Sequence[Cell]) -> str:
    """Return the grids that have gaps, each run a row; ``""`` where nothing is missing.

    Columns are the combinations of what placeholders captured. Of more than 20 runs only those
    with a gap are shown.
    """
    gaps = missing(cells)
    if not gaps:
        return ""
    across = {cell.dataset_key for cell in cells if cell.across}
    key_of = {c.dataset: "" if c.dataset_key in across else c.dataset_key for c in cells}
    there: dict[tuple[str, _Place], list[Gap]] = {}
    for cell in cells:
        one = Gap(cell.dataset, cell.run, cell.columns)
        there.setdefault((key_of[cell.dataset], tuple(cell.columns)), []).append(one)
    lines = [f"{_count(len(gaps), len(cells))}  ({THERE} there, {LACKING} missing)"]
    for (key, names), known in there.items():
        lacking = [gap for gap in gaps if (key_of[gap.dataset], tuple(gap.columns)) == (key, names)]
        if lacking:
            lines += ["", *_grid(known, lacking, names)]
    near = [name_of(gap) for gap in gaps if gap.almost]
    more = [f"... and {len(near) - SHOWN} more"] if len(near) > SHOWN else []
    lines += ["", *near[:SHOWN], *more] if near else []
    return "\n".join(lines)


def _count(n_gaps: int, n_cells: int) -> str:
    verb = "is" if n_gaps == 1 else "are"
    return f"{n_gaps} of {n_gaps + n_cells} cells {verb} missing"


def _grid(there: Sequence[Gap], lacking: Sequence[Gap], names: _Place) -> Iterator[str]:
    every = [*there, *lacking]
    if len({_place(one, names) for one in every}) < len(
        {(one.dataset, _place(one, names)) for one in every}
    ):
        names = (DATASET, *names)
    places = sorted({_place(one, names) for one in every}, key=lambda p: [natural(v) for v in p])
    runs = list(dict.fromkeys(one.run for one in every))
    holes = {(one.run, _place(one, names)) for one in lacking}
    known = {(one.run, _place(one, names)) for one in there}
    with_holes = {run for run, _ in holes}
    rows = runs if len(runs) <= ROWS else [run for run in runs if run in with_holes]
    head = max(map(len, [*names, *rows]))
    for some in _pieces(places, WIDTH - head):
        for n, name in enumerate(names):
            yield _line(name, head, (place[n] for place in some), some)
        for run in rows:
            marks = (
                THERE if (run, p) in known else LACKING if (run, p) in holes else "" for p in some
            )
            yield _line(run, head, marks, some)
    if len(rows) < len(runs):
        yield f"({len(runs) - len(rows)} more runs lack nothing)"


def _place(one: Gap, names: _Place) -> _Place:
    return tuple(one.dataset if name == DATASET else one.columns[name] for name in names)


def _pieces(places: Sequence[_Place], width: int) -> Iterator[list[_Place]]:
    """Yield the columns in pieces that fit on a line."""
    piece: list[_Place] = []
    used = 0
    for place in places:
        wide = 2 + max(map(len, place))
        if piece and used + wide > width:
            yield piece
            piece, used = [], 0
        piece.append(place)
        used += wide
    yield piece


def _line(head: str, width: int, values: Iterable[str], places: Sequence[_Place]) -> str:
    columns = (
        f"  {value:>{max(map(len, place))}}" for value, place in zip(values, places, strict=True)
    )
    return f"{head:<{width}}{''.join(columns)}".rstrip()
