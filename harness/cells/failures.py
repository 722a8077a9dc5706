"""Cells that could not be evaluated, those of one cause together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

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
from ..guard.refused import refused
from .as_read import CHANGED

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
    """Yield what is printed of failures: what to do once for each rule, below all that break it.

    Of many of one reason they are the first, and the places of the others.

    Parameters
    ----------
    n_cells : int
        All cells, those that did not fail too.
    """
    alike: dict[tuple[str, ...], list[_One]] = {}
    for cells, error in by_cause(failures):
        for one in by_rule(error).problems:
            alike.setdefault(_advised(one), []).append(_One(cells, one))
    for some in alike.values():
        *texts, last = _heads(some, n_cells)
        yield from texts
        yield last + _advice(some[0].problem)


class _One(NamedTuple):
    """One thing that is wrong, and the cells that fail of it."""

    cells: list[str]
    problem: Problem


def _advised(one: Problem) -> tuple[str, ...]:
    """Return what things that need the same advice have in common: a rule, or all they say."""
    rule = _NAMED.search(one.what)
    return (rule[0] if rule else in_common(one.what), one.fix, one.effect)


def _heads(some: Sequence[_One], n_cells: int) -> Iterator[str]:
    """Yield what is wrong, few that say the same."""
    kinds: dict[str, list[_One]] = {}
    for one in some:
        kinds.setdefault(in_common(one.problem.what), []).append(one)
    for kind in kinds.values():
        shown = kind if len(kind) <= FEW else kind[:ALIKE]
        for cells, problem in shown:
            yield f"{named(cells)}: {replace(problem, fix='', effect='')}"
        if len(shown) < len(kind):
            n_failed = sum(len(cells) for cells, _ in kind)
            places = [problem.where or named(cells) for cells, problem in kind[ALIKE:]]
            yield f"alike in {n_failed:,} of {n_cells:,} cells\n  {others_at(places)}"


def _advice(one: Problem) -> str:
    """Return the lines that say what it does and what to do, each after a line end."""
    return str(Problem("", "", fix=one.fix, effect=one.effect))


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


def _counted(what: str, n: int) -> str:
    """Return what is wrong, and in how many cells, before the rule.

    >>> _counted("no rows [empty-file]", 2), _counted("no rows", 1)
    ('no rows (2 cells) [empty-file]', 'no rows')
    """
    if n == 1:
        return what
    at = found.start() if (found := _NAMED.search(what)) else len(what)
    return f"{what[:at]} ({n:,} cells){what[at:]}"


def as_one(failures: Sequence[Failure]) -> HarnessError:
    """Return the error of all cells: each cause once, with how many cells have it."""
    found, total, at_least = [], 0, False
    for cells, error in by_cause(failures):
        error = by_rule(error)
        total, at_least = total + error.total, at_least or error.at_least
        for one in error.problems:
            counted = _counted(one.what, len(cells))
            has_place = bool(one.where)
            where, what = (one.where, counted) if has_place else (named(cells), one.what)
            found.append(replace(one, where=where, what=what))
    return type(failures[0].error)(found, total=total, at_least=at_least)
