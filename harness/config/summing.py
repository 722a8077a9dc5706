"""`summary:`: what can be checked of it before any data are read, and what it makes of names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..core.pooling import whole_name
from ..core.summary import NOT_COMPARED
from ..core.systems import run_name
from ..errors import Problem, did_you_mean
from .cells import Cell, columns_of
from .patterns import Pattern
from .reporting import Summary
from .yamlfile import Source

_OF_DATASETS = ("pool", "average")


def check(
    summary: Summary, cells: Sequence[Cell], source: Source, compared: bool = False
) -> Iterator[Problem]:
    """Yield columns that there are not, that stand twice, or that are not theirs to take out."""
    of_dataset = dict.fromkeys(name for cell in cells for name in cell.of_dataset)
    of_run = dict.fromkeys(name for cell in cells for name in cell.of_run)
    seen: dict[str, str] = {}
    for key, names in summary:
        fitting, others = (of_dataset, of_run) if key in _OF_DATASETS else (of_run, of_dataset)
        for place, name in enumerate(names):
            loc = ("summary", key) if len(names) == 1 else ("summary", key, place)
            if name in seen:
                yield source.problem(loc, f"column '{name}' stands under {seen[name]} already")
            elif name in others and name not in fitting:
                yield source.problem(loc, *_of_the_others(name, key, fitting))
            elif name not in fitting:
                known = ", ".join(fitting) or "none"
                near = did_you_mean(name, fitting)
                yield source.problem(loc, f"no column '{name}'{near}  (there are: {known})")
            seen.setdefault(name, key)
    yield from _within_names(seen, cells, source)
    if summary.pool and summary.average:
        what = "folds are pooled or averaged, not both"
        yield source.problem(("summary", "average"), what)
    if summary.average and compared:
        yield source.problem(("compare",), NOT_COMPARED)


def _of_the_others(name: str, key: str, fitting: Iterable[str]) -> tuple[str, str, str]:
    """Return what to say of a run's column where a dataset's is wanted, or the other way round.

    The problem, what was found (nothing) and what to do.
    """
    whose, wanted = ("runs", "datasets") if key in _OF_DATASETS else ("datasets", "runs")
    there = f"there are: {known}" if (known := ", ".join(fitting)) else "there are none"
    what = f"column '{name}' is one of {whose}, and {key} takes those of {wanted}  ({there})"
    if whose == "runs":
        return what, "", f"seeds and other repetitions go under spread: 'spread: [{name}]'"
    return what, "", f"folds and other parts go under pool or average: 'pool: [{name}]'"


def _within_names(
    columns: Mapping[str, str], cells: Sequence[Cell], source: Source
) -> Iterator[Problem]:
    """Yield runs whose names hold a column that is to be taken out of the leaderboard.

    Parameters
    ----------
    columns : mapping of str to str
        The key of the summary under which each stands.
    cells : sequence of Cell
    source : Source
    """
    by_key: dict[str, list[Cell]] = {}
    for cell in cells:
        by_key.setdefault(cell.run_key, []).append(cell)
    for key, some in by_key.items():
        held = [
            name
            for name in Pattern(key).names
            if name in columns and len({columns_of(cell).get(name) for cell in some}) > 1
        ]
        if not held:
            continue
        runs = list(dict.fromkeys(cell.run for cell in some))
        keys = " and ".join(f"summary.{columns[name]}" for name in held)
        parts = " and ".join(f"{{{name}}}" for name in held)
        one = "s" * (len(held) == 1)
        what = (
            f"{parts} in the name make{one} {', '.join(runs[:3])} runs of their own, and {keys} "
            f"ha{one or 've'} nothing to take together"
        )
        less = key
        for name in held:
            less = re.sub(rf"[-_. ]*(?:[A-Za-z]+[-_. ]?)?\{{{name}\}}", "", less)
        fix = f'call them "{less}"' if less.strip("-_. ") else "give them one name"
        yield source.problem(("runs", key), what, fix=f"{fix}; the path alone needs {parts}")


def names(summary: Summary, cells: Sequence[Cell]) -> tuple[list[str], list[str]]:
    """Return the names of datasets and of runs, as a summary leaves them."""
    core = summary.to_core()
    datasets = dict.fromkeys(
        whole_name(cell.dataset_key, cell.columns, core.parts) if core.parts else cell.dataset
        for cell in cells
    )
    runs = dict.fromkeys(run_name(cell.run, cell.columns, cell.dataset_key, core) for cell in cells)
    return list(datasets), list(runs)
