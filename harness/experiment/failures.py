"""Cells that could not be evaluated, those of one cause together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..config.cells import Cell
from ..core.leaderboard import Failed
from ..errors import (
    ALIKE,
    AlignmentError,
    HarnessError,
    InputError,
    Problem,
    ShortageError,
    in_common,
    others_at,
)
from ..guard.registry import refused
from .work import CHANGED

FEW = 5
"""Errors of one reason that are all printed."""
_NAMED = re.compile(r" \[[a-z-]+\]$")
"""The name of its rule, that what the guard says of a cell ends with."""
_FURTHER = re.compile(r"(?<=[^\s])[:;] ")
"""Where what is wrong ends, and its examples or what follows from it begin."""


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
    """Yield what is printed of failures: the fix once for each rule, below all that break it.

    Of many of one reason they are the first, and the places of the others.

    Parameters
    ----------
    n_cells : int
        All cells, those that did not fail too.
    """
    alike: dict[tuple[str, ...], dict[str, list[tuple[list[str], Problem]]]] = {}
    for cells, error in by_cause(failures):
        for one in by_rule(error).problems:
            rule, reason = _NAMED.search(one.what), in_common(one.what)
            key = rule[0] if rule else reason, one.fix, one.effect
            alike.setdefault(key, {}).setdefault(reason, []).append((cells, one))
    for (_, fix, effect), reasons in alike.items():
        texts = []
        for some in reasons.values():
            shown = some if len(some) <= FEW else some[:ALIKE]
            texts += [f"{named(cells)}: {replace(one, fix='', effect='')}" for cells, one in shown]
            if rest := some[len(shown) :]:
                n_failed = sum(len(cells) for cells, _ in some)
                places = others_at([one.where or named(cells) for cells, one in rest])
                texts.append(f"alike in {n_failed:,} of {n_cells:,} cells\n  {places}")
        texts[-1] += str(Problem("", "", fix=fix, effect=effect))
        yield from texts


def by_rule(error: HarnessError) -> HarnessError:
    """Return an error of files with one problem for each rule, as ``harness check`` has them."""
    files = isinstance(error, (InputError, AlignmentError))
    what = error.problems[0].what
    if not files or isinstance(error, ShortageError) or _NAMED.search(what):
        return error
    if what.startswith(CHANGED):  # by no fault of the file
        return error
    found = [
        Problem(one.place, f"{one.what}{one.shown} [{one.rule}]", fix=one.fix)
        for one in refused("", error)
    ]
    return type(error)(found)


def brief(error: HarnessError) -> str:
    """Return where an error is, its first words and its rule, for where all of it is printed.

    >>> brief(InputError(Problem("a.txt:7", "2 scores are NaN: 'nan', 'nan' [not-finite]")))
    'a.txt:7: 2 scores are NaN [not-finite]'
    """
    one = by_rule(error).problems[0]
    rule = found[0] if (found := _NAMED.search(one.what)) else ""
    first = _FURTHER.split(one.what.removesuffix(rule), maxsplit=1)[0]
    return str(Problem(one.where, first + rule))


def as_printed(failed: Sequence[Failed], failures: Sequence[Failure]) -> tuple[Failed, ...]:
    """Return failed cells with their errors as they are printed: paths as they were given."""
    errors = (each.error for each in failures)
    return tuple(
        replace(one, error=str(error), brief=brief(error))
        for one, error in zip(failed, errors, strict=True)
    )


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
        error = by_rule(error)
        total, at_least = total + error.total, at_least or error.at_least
        for one in error.problems:
            where, what, rule = one.where, one.what, _NAMED.search(one.what)
            if not where:
                where = named(cells)
            elif len(cells) > 1:
                at = rule.start() if rule else len(what)
                what = f"{what[:at]} ({len(cells):,} cells){what[at:]}"
            found.append(replace(one, where=where, what=what))
    return type(failures[0].error)(found, total=total, at_least=at_least)
