"""Cells that could not be evaluated, those of one cause together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    others_at,
)
from ..guard.registry import refused
from ..guard.sweep import GuardError
from .work import ChangedInputError

FEW = 5
"""Errors of one reason that are all printed."""


@dataclass(frozen=True)
class Failure:
    """A cell that could not be evaluated."""

    cell: Cell
    error: HarnessError

    @property
    def name(self) -> str:
        """What the cell is called in messages."""
        return f"{self.cell.run} on {self.cell.dataset}"

    @property
    def paths(self) -> tuple[str, str]:
        """The files of its dataset and run."""
        return self.cell.dataset_entry.path, self.cell.run_entry.path

    def as_row(self, placed: Callable[[str], str]) -> Failed:
        """Return its row in a leaderboard; `placed` writes paths as the manifest does."""
        cell, error = self.cell, placed(str(self.error))
        pattern = cell.dataset_key if cell.of_dataset else ""
        return Failed(cell.dataset, cell.run, cell.columns, error, pattern, self.brief)

    @property
    def problems(self) -> list[Problem]:
        """What is wrong, as ``harness check`` has it: one problem for each rule of a file."""
        error, own = self.error, self.error.problems
        of_files = isinstance(error, (InputError, AlignmentError))
        if not of_files or isinstance(error, (ShortageError, ChangedInputError, GuardError)):
            return own
        return [
            Problem(one.place, f"{one.what}{one.shown} [{one.rule}]", fix=one.fix, rule=one.rule)
            for one in refused("", error)
        ]

    @property
    def brief(self) -> str:
        """The place and the first line of what is wrong, without advice."""
        one = self.problems[0]
        return str(Problem(one.where, one.what.partition("\n")[0]))


def _by_cause(failures: Sequence[Failure]) -> Iterable[list[Failure]]:
    """Return the failures of each error."""
    found: dict[str, list[Failure]] = {}
    for one in failures:
        found.setdefault(str(one.error), []).append(one)
    return found.values()


def failure_texts(failures: Sequence[Failure], n_cells: int) -> Iterator[str]:
    """Yield what is printed of failures, of all `n_cells`: those of one rule together."""
    groups: dict[tuple[str, str, str], list[tuple[list[Failure], Problem]]] = {}
    for some in _by_cause(failures):
        for one in some[0].problems:
            groups.setdefault((one.rule, one.fix, one.effect), []).append((some, one))
    for (_, fix, effect), group in groups.items():
        shown = group if len(group) <= FEW else group[:ALIKE]
        texts = [f"{_named(some)}: {replace(one, fix='', effect='')}" for some, one in shown]
        if rest := group[len(shown) :]:
            n_failed = sum(len(some) for some, _ in group)
            places = others_at([one.where or _named(some) for some, one in rest])
            texts.append(f"alike in {n_failed:,} of {n_cells:,} cells\n  {places}")
        texts[-1] += str(Problem("", "", fix=fix, effect=effect))
        yield from texts


def _named(failures: Sequence[Failure]) -> str:
    """Return the first of some cells, and how many others there are."""
    others = len(failures) - 1
    return failures[0].name + (f" and {others:,} more" if others else "")


def as_one(failures: Sequence[Failure]) -> HarnessError:
    """Return the error of all cells: each cause once, with how many cells have it."""
    found, total = list[Problem](), 0
    for some in _by_cause(failures):
        problems, error = some[0].problems, some[0].error
        total += max(len(problems), error.total if problems is error.problems else 0)
        many = f" ({len(some):,} cells)" if len(some) > 1 else ""
        found += [
            replace(one, where=one.where or _named(some), what=one.what + many) for one in problems
        ]
    at_least = any(one.error.at_least for one in failures)
    return type(failures[0].error)(found, total=total, at_least=at_least)
