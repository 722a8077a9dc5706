"""The guard over all cells: what their facts say, which of them fail, what is accepted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from ..config import Config
from ..config.cells import Cell
from ..errors import HarnessError, InputError, Problem
from ..guard import rules
from ..guard.facts import Facts
from ..guard.finding import Finding, in_order
from ..guard.registry import accepted, of_reader
from ..guard.said import Said
from ..guard.sweep import GuardedCell, collapsed, of_sweep
from .record import Record
from .said import with_names

_FOLD = re.compile("fold|split|part", re.IGNORECASE)
"""Names of placeholders whose values are parts of one dataset."""


@dataclass(eq=False)
class Guarded:
    """What the guard says.

    Parameters
    ----------
    findings : list of Finding
        Errors first; those of one rule and one entry of the config's datasets as one.
    failed : dict of int to HarnessError
        Cells that a finding makes fail, by place.
    said : dict of int to list of str
        What is left of the readers' warnings of each cell, by place: what no finding says.
    """

    findings: list[Finding] = field(default_factory=list)
    failed: dict[int, HarnessError] = field(default_factory=dict)
    said: dict[int, list[str]] = field(default_factory=dict)


def guard(
    config: Config, cells: Mapping[int, Cell], records: Mapping[int, Record],
    digests: Mapping[str, str],
) -> Guarded:  # fmt: skip
    """Return what the guard says of evaluated cells.

    Parameters
    ----------
    cells : mapping of int to Cell
    records : mapping of int to Record
        Of each of these cells.
    digests : mapping of str to str
        SHA-256 of their files, by path.

    Raises
    ------
    InputError
        Where a dataset, or the sweep as a whole, has an error that is not accepted.
    """
    found = Guarded()
    accept = config.guard.accept
    of_datasets: dict[str, tuple[str, list[Finding]]] = {}
    guarded, scoped = [], []
    for place, cell in cells.items():
        record = records[place]
        dataset, run = cell.dataset_entry.path, cell.run_entry.path
        own = [] if record.facts is None else accepted(rules.of_run(record.facts, run), accept)
        said = rules.beyond(with_names(record.warnings, cell), own)
        found.said[place], notes = _accepted_of(said, cell, accept)
        scoped += [(cell.dataset_key, one) for one in notes]
        if record.facts is None:
            continue
        if dataset not in of_datasets:
            of_dataset = accepted(_of_dataset(record.facts, dataset), accept)
            of_datasets[dataset] = cell.dataset_key, of_dataset
        errors = [one for one in own if one.severity == "error"]
        if errors:
            found.failed[place] = InputError([_problem(one) for one in errors])
        scoped += [(cell.dataset_key, one) for one in own]
        pooled = config.summary.pool
        guarded.append(guarded_cell(cell, record.facts, record.qids, digests, pooled))
    everywhere = accepted(of_sweep(guarded), accept)
    wrong = [one for _, own in of_datasets.values() for one in own] + everywhere
    wrong = [one for one in wrong if one.severity == "error"]
    if wrong:
        raise InputError([_problem(one) for one in wrong])
    scoped += [(key, one) for key, own in of_datasets.values() for one in own]
    found.findings = in_order(collapsed([*scoped, *(("", one) for one in everywhere)]))
    return found


def _accepted_of(
    said: Iterable[Said], cell: Cell, accept: Sequence[str]
) -> tuple[list[str], list[Finding]]:
    """Return the readers' warnings, and as notes those of rules that are accepted."""
    left, notes = [], []
    for one in said:
        paths = (cell.run_entry.path, cell.dataset_entry.path)
        place = next((path for path in paths if one.text.startswith(f"{path}: ")), "")
        if one.rule in accept:
            notes.append(of_reader(one, place, "note"))
        else:
            left.append(one.text)
    return left, notes


def _of_dataset(facts: Facts, path: str) -> Iterator[Finding]:
    yield from rules.of_dataset(facts.judgements, path)
    yield from rules.of_rows(facts, path)


def _problem(one: Finding) -> Problem:
    return Problem(one.place, f"{one.what} [{one.rule}]", fix=one.fix)


def guarded_cell(
    cell: Cell, facts: Facts, qids: pa.Array, digests: Mapping[str, str], pooled: Sequence[str]
) -> GuardedCell:
    """Return a cell as the rules of a sweep look at it; `pooled` is the config's summary's."""
    model = cell.dataset_key, cell.run_key, *cell.of_run.items()
    return GuardedCell(
        facts, cell.dataset_entry.path, cell.run_entry.path, cell.dataset_key, model, qids, digests,
        is_fold(cell, pooled),
    )  # fmt: skip


def is_fold(cell: Cell, pooled: Sequence[str]) -> bool:
    """Return whether a cell's dataset is one of several parts of one, by its placeholders."""
    return any(name in pooled or _FOLD.search(name) for name in cell.of_dataset)
