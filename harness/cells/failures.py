"""Cells that could not be evaluated, those of one cause together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..config.cells import Cell
from ..errors import ALIKE, HarnessError, in_common, others_at

FEW = 5
"""Errors of one reason that are all printed."""


@dataclass(frozen=True)
class Failure:
    """A cell that could not be evaluated."""

    cell: Cell
    error: HarnessError


def by_cause(failures: Sequence[Failure]) -> Iterator[tuple[list[str], HarnessError]]:
    """Yield each error that is said in its own words, and the cells that have it."""
    names: dict[str, list[str]] = {}
    errors: dict[str, HarnessError] = {}
    for one in failures:
        said = str(one.error)
        errors.setdefault(said, one.error)
        names.setdefault(said, []).append(f"{one.cell.run} on {one.cell.dataset}")
    for said, error in errors.items():
        yield names[said], error


def told(failures: Sequence[Failure], n_cells: int) -> Iterator[str]:
    """Yield what is printed of failures: of many of one reason the first, and places of the others.

    Parameters
    ----------
    n_cells : int
        All cells, those that did not fail too.
    """
    alike: dict[tuple[str, ...], list[tuple[list[str], HarnessError]]] = {}
    for cells, error in by_cause(failures):
        said = (text for one in error.problems for text in (one.what, one.fix))
        alike.setdefault(tuple(map(in_common, said)), []).append((cells, error))
    for some in alike.values():
        shown = some if len(some) <= FEW else some[:ALIKE]
        for cells, error in shown:
            yield from (f"{named(cells)}: {one}" for one in error.texts)
        if len(shown) < len(some):
            n_failed = sum(len(cells) for cells, _ in some)
            places = [error.problems[0].where or named(cells) for cells, error in some[ALIKE:]]
            yield f"the same in {n_failed:,} of {n_cells:,} cells\n  {others_at(places)}"


def named(cells: Sequence[str]) -> str:
    """Return the first of some cells, and how many others there are.

    >>> named(["gbrt on fold1"]), named(["gbrt on fold1", "gbrt on fold2", "svm on fold1"])
    ('gbrt on fold1', 'gbrt on fold1 and 2 other cells')
    """
    others = len(cells) - 1
    return f"{cells[0]} and {others:,} other cell{'s' * (others > 1)}" if others else cells[0]


def as_one(failures: Sequence[Failure]) -> HarnessError:
    """Return the error of all cells: each cause once, with how many cells have it."""
    found, total, at_least = [], 0, False
    for cells, error in by_cause(failures):
        total, at_least = total + error.total, at_least or error.at_least
        for one in error.problems:
            counted = f"{one.what} ({len(cells):,} cells)" if len(cells) > 1 else one.what
            has_place = bool(one.where)
            where, what = (one.where, counted) if has_place else (named(cells), one.what)
            found.append(replace(one, where=where, what=what))
    return type(failures[0].error)(found, total=total, at_least=at_least)
