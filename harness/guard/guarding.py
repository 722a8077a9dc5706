"""The guard over all cells of a run: what their facts say, and which of them fail."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from ..config.cells import Cell
from ..config.model import Config
from ..core.policy import Policy
from ..errors import AlignmentError, Finding, HarnessError, HarnessWarning, InputError, Problem
from . import columns as columns
from .elsewhere import Elsewhere, Held
from .facts import Facts
from .judgements import of_dataset, of_rows
from .lines import BY_ROW, format_of, places_of_queries, qrels_of, rows_of
from .registry import RULES, Kind, accepted, file_of, in_order, refused, rule_of, without_effects
from .row_order import is_odd
from .rules import beyond, of_run
from .shared_rows import files_named_twice, part_of, pooled_into, shared_rows_of_cells
from .sweep import GuardedCell, Places, collapsed, of_sweep
from .watch import observing

MOST_READ = 8
"""Datasets that are read again to see whether predictions fit them, in one sweep."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What the guard looks at of an evaluated cell.

    Parameters
    ----------
    facts : Facts, optional
        None if the guard failed there.
    warnings : sequence of Finding
        Of readers.
    qids : pyarrow string array
        Queries of its dataset.
    """

    facts: Facts | None
    warnings: Sequence[Finding]
    qids: pa.Array


Failed = Mapping[int, tuple[Cell, HarnessError]]
"""Cells that could not be evaluated, and why, by place."""


@dataclass(eq=False)
class Guarded:
    """What the guard found.

    Parameters
    ----------
    findings : list of Finding
        Errors first, with each file's own figures; what readers refused and warned of among them.
        Notes of one rule and one entry of the config's datasets are one.
    printed : list of str
        What is printed of the warnings; those of one rule and one entry of the config's datasets as
        one.
    failed : dict of int to HarnessError
        Cells that a finding makes fail, by place.
    said : dict of int to list of str
        The readers' warnings of each cell, by place, that no finding repeats.
    """

    findings: list[Finding] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    failed: dict[int, HarnessError] = field(default_factory=dict)
    said: dict[int, list[str]] = field(default_factory=dict)


def guard(
    config: Config, cells: Mapping[int, Cell], records: Mapping[int, Seen],
    digests: Mapping[str, str], failed: Failed,
) -> Guarded:  # fmt: skip
    """Return what the guard finds in evaluated cells; if it fails, that, and the readers' warnings.

    Parameters
    ----------
    cells : mapping of int to Cell
    records : mapping of int to Seen
        Of each of these cells.
    digests : mapping of str to str
        SHA-256 of their files, by path, and of those that failed, if they can be read.
    failed : mapping of int to (Cell, HarnessError)
        Cells that could not be evaluated, and why.

    Raises
    ------
    InputError
        If a dataset, or the sweep as a whole, has an error that is not accepted.
    """
    failures: list[Finding] = []
    with observing(failures):
        return _guard(config, cells, records, digests, failed)
    said = {place: [_text(one) for one in records[place].warnings] for place in cells}
    texts = [text for some in said.values() for text in some]
    texts += _printed([("", one) for one in failures])
    return Guarded(failures, [*dict.fromkeys(texts)], said=said)


def _guard(
    config: Config, cells: Mapping[int, Cell], records: Mapping[int, Seen],
    digests: Mapping[str, str], failed: Failed,
) -> Guarded:  # fmt: skip
    ties = config.is_given("policy", "ties")
    accept = as_meant(config.guard.accept, config.to_policy(), config.convention, ties)
    found = Guarded()
    guarded: list[GuardedCell] = []
    of_readers: list[tuple[str, Finding]] = []
    of_runs: list[tuple[str, Finding]] = []
    of_datasets: dict[str, list[tuple[str, Finding]]] = {}
    for place, cell in cells.items():
        facts, key, path = records[place].facts, cell.dataset_key, cell.dataset_entry.path
        own = [] if facts is None else [*of_run(facts, cell.run_entry.path, cell.dataset)]
        own = accepted(own, accept)
        read = accepted(beyond(records[place].warnings, own), accept)
        found.said[place] = [_text(one) for one in read if one.severity != "note"]
        of_readers += [(key, one) for one in read]
        of_runs += [(key, one) for one in own]
        errors = [one for one in without_effects(own, accept) if one.severity == "error"]
        if errors:
            found.failed[place] = InputError([_problem(one) for one in errors])
        if facts is not None:
            guarded.append(
                guarded_cell(cell, facts, records[place].qids, digests, config.summary.pool)
            )
            if path not in of_datasets:
                judged = accepted(_of_dataset(facts, path), accept)
                of_datasets[path] = [(key, one) for one in judged]

    elsewhere = Elsewhere(_held(cells, records), MOST_READ)
    known = [(cell, facts.run) for place, cell in cells.items() if (facts := records[place].facts)]
    odd = [(cell, run) for cell, run in known if is_odd(run)]
    for cell, one in elsewhere.odd(odd, guarded):
        of_runs += [(cell.dataset_key, settled) for settled in accepted([one], accept)]

    causes = _causes(failed, cells, records, elsewhere)
    found.failed |= {place: InputError([_problem(one)]) for place, one in causes.items()}
    refusals = [
        (cell.dataset_key, one)
        for place, (cell, error) in failed.items()
        for one in ([causes[place]] if place in causes else _refused(cell, error))
    ]

    together = accepted(_together(cells, records, digests, failed, guarded, config), accept)
    every = [*of_runs, *(("", one) for one in together)]
    kept = {*without_effects([one for _, one in every], accept)}
    every = [(key, one) for key, one in every if one in kept]
    every += [one for some in of_datasets.values() for one in some]
    # an error of a reader fails no cell, so it is printed as it is
    alone = {one for _, one in of_readers if one.rule == "reader" or not one.place}
    alone |= {one for _, one in of_readers if one.severity == "error"}
    loose = [one for _, one in of_readers if one in alone]
    placed = [(key, one) for key, one in of_readers if one not in alone]
    texts = [_text(one) for one in loose if one.severity != "note"]
    found.printed = [*dict.fromkeys(texts), *_printed([*placed, *every])]

    of_runs_alone = {one for _, one in of_runs}
    wrong = [one for _, one in every if one.severity == "error" and one not in of_runs_alone]
    if wrong:
        for text in found.printed:
            warnings.warn(text, HarnessWarning, stacklevel=3)
        raise InputError([_problem(one) for one in dict.fromkeys(wrong)])
    every += [*of_readers, *refusals]
    notes = collapsed((key, one) for key, one in every if one.severity == "note")
    found.findings = in_order([*(one for _, one in every if one.severity != "note"), *notes])
    return found


def _together(
    cells: Mapping[int, Cell], records: Mapping[int, Seen], digests: Mapping[str, str],
    failed: Failed, guarded: Sequence[GuardedCell], config: Config,
) -> Iterator[Finding]:  # fmt: skip
    """Yield what several files say together."""
    every = {**cells, **{place: cell for place, (cell, _) in failed.items()}}
    yield from files_named_twice(every[place] for place in sorted(every))
    hashes = {
        path: digests[path]
        for cell, error in failed.values()
        if _rules(error) == ["row-count"] and (path := cell.run_entry.path) in digests
    }
    yield from of_sweep(guarded, hashes, places_in(cells.values()))
    marked = {
        cell.dataset_entry.path: (cell, facts.judgements.marks)
        for place, cell in cells.items()
        if (facts := records[place].facts) is not None and facts.judgements.marks
    }
    yield from shared_rows_of_cells(
        [cell for cell, _ in marked.values()], [digests[path] for path in marked],
        [marks for _, marks in marked.values()], config.summary.pool, MOST_READ,
    )  # fmt: skip


def _causes(
    failed: Failed, cells: Mapping[int, Cell], records: Mapping[int, Seen], elsewhere: Elsewhere
) -> dict[int, Finding]:
    """Return what is told of cells that failed by looking into their files once more."""
    qids = {cells[place].dataset_entry.path: one.qids for place, one in records.items()}
    strangers = [cell for cell, error in failed.values() if _rules(error) == ["no-common-query"]]
    read = {cell.dataset_entry.path: qrels_of(cell) for cell in strangers}
    qids |= {path: qrels.qids for path, qrels in read.items() if qrels is not None}
    found: dict[int, Finding | None] = {}
    for place, (cell, error) in failed.items():
        if _rules(error) == ["row-count"]:
            path = cell.dataset_entry.path
            elsewhere.know(Held(cell.dataset, path, -1, partial(rows_of, cell)))
            found[place] = elsewhere.count(cell)
        elif _rules(error) == ["no-common-query"]:
            found[place] = columns.stranger(cell, read[cell.dataset_entry.path], qids)
    return {place: one for place, one in found.items() if one is not None}


def _held(cells: Mapping[int, Cell], records: Mapping[int, Seen]) -> Iterator[Held]:
    """Yield the datasets of learning-to-rank cells, whose rows are read if they are needed."""
    for place, cell in cells.items():
        facts = records[place].facts
        if facts is not None and facts.run.follows:
            rows, path = facts.run.queries.rows, cell.dataset_entry.path
            yield Held(cell.dataset, path, rows, partial(rows_of, cell))


def _refused(cell: Cell, error: HarnessError) -> Iterator[Finding]:
    """Yield what readers refused of a cell; nothing of what else it failed of."""
    if isinstance(error, (InputError, AlignmentError)):
        run = cell.run_entry
        kind: Kind = "rows" if format_of(run.path, run.format, "run") in BY_ROW else ""
        if error.problems[0].where.startswith(cell.dataset_entry.path):
            kind = "judgements"
        yield from refused(run.path, error, kind)


def _of_dataset(facts: Facts, path: str) -> Iterator[Finding]:
    yield from of_dataset(facts.judgements, path)
    if facts.run.follows:
        yield from of_rows(facts.judgements, path)


def _rules(error: HarnessError) -> list[str]:
    return [rule_of(problem) for problem in error.problems]


def _printed(scoped: Sequence[tuple[str, Finding]]) -> Iterator[str]:
    """Yield the text of each warning that no table shows, those of one rule together."""
    for one in in_order(collapsed(scoped)):
        if one.severity == "warning" and not RULES[one.rule].in_table:
            yield str(one).removeprefix("warning: ")


def _text(one: Finding) -> str:
    """Return a reader's warning in its own words."""
    return f"{file_of(one)}: {one.what}" if one.place else one.what


def _problem(one: Finding) -> Problem:
    what = f"{one.what}{one.shown} [{one.rule}]"
    return Problem(one.place, what, fix=one.fix, rule=one.rule, effect=one.effect)


def as_meant(
    accept: Sequence[str], policy: Policy, convention: str | None, ties: bool = False
) -> tuple[str, ...]:
    """Return the rules whose findings are as a config says that they should be.

    Parameters
    ----------
    accept : sequence of str
        Those that it accepts.
    policy : Policy
    convention : str, optional
        Either says how queries without relevant documents count.
    ties : bool, optional
        Whether the config says how documents of one score are ordered.
    """
    meant = [*accept]
    if policy.empty_queries != "zero" or convention is not None:
        meant.append("empty-queries")
    if policy.missing_queries == "skip":
        meant.append("missing-queries")
    if ties:
        meant.append("score-ties")
    return tuple(meant)


def guarded_cell(
    cell: Cell, facts: Facts, qids: pa.Array, digests: Mapping[str, str], pooled: Sequence[str]
) -> GuardedCell:
    """Return a cell as the rules of a sweep look at it; `pooled` is the config's summary's."""
    part = part_of(cell, pooled)
    entry = cell.dataset_key if part is None else part.whole
    model = entry, cell.run_key, *cell.of_run.items()
    return GuardedCell(
        facts, cell.dataset_entry.path, cell.run_entry.path, entry, model, qids, digests,
        part is not None, pooled_into(cell, pooled), cell.dataset,
    )  # fmt: skip


def places_in(cells: Iterable[Cell]) -> Places:
    """Return what looks up the places of queries in the datasets of some cells."""
    of_path = {cell.dataset_entry.path: cell for cell in cells}
    return lambda path, qids: places_of_queries(of_path[path], qids)
