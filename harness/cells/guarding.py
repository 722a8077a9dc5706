"""The guard over all cells: what their facts say, which of them fail, what is accepted."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from ..config import Config
from ..config.cells import Cell
from ..core.policy import Policy
from ..errors import AlignmentError, HarnessError, HarnessWarning, InputError, Problem
from ..guard import rules
from ..guard.causes import without_effects
from ..guard.facts import Facts
from ..guard.finding import Finding, Severity, in_order
from ..guard.predictions import is_odd
from ..guard.refused import OF_JUDGEMENTS, OF_ROWS, refused
from ..guard.registry import RULES, accepted, of_reader
from ..guard.said import Said, rule_of
from ..guard.sweep import GuardedCell, collapsed, of_sweep
from . import columns, named_twice, shared_rows
from .again import BY_ROW, format_of
from .elsewhere import Elsewhere, Held, qrels_of, rows_of
from .lines import places_in
from .parts import part_of, pooled_into
from .record import Record
from .said import with_names

MOST_READ = 8
"""Datasets that are read again to see whether predictions fit them, in one sweep."""


@dataclass(eq=False)
class Guarded:
    """What the guard says.

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
        What is left of the readers' warnings of each cell, by place: what no finding says.
    """

    findings: list[Finding] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    failed: dict[int, HarnessError] = field(default_factory=dict)
    said: dict[int, list[str]] = field(default_factory=dict)


def guard(
    config: Config, cells: Mapping[int, Cell], records: Mapping[int, Record],
    digests: Mapping[str, str], failed: Mapping[int, tuple[Cell, HarnessError]],
) -> Guarded:  # fmt: skip
    """Return what the guard says of evaluated cells.

    Parameters
    ----------
    cells : mapping of int to Cell
    records : mapping of int to Record
        Of each of these cells.
    digests : mapping of str to str
        SHA-256 of their files, by path, and of those that failed, where they can be read.
    failed : mapping of int to (Cell, HarnessError)
        Cells that could not be evaluated, and why.

    Raises
    ------
    InputError
        Where a dataset, or the sweep as a whole, has an error that is not accepted.
    """
    found = Guarded()
    ties = "ties" in config.policy.model_fields_set
    accept = as_meant(config.guard.accept, config.to_policy(), config.convention, ties)
    of_datasets: dict[str, tuple[str, list[Finding]]] = {}
    guarded, scoped, scoped_read = [], [], []
    loose: list[str] = []
    gathered: list[tuple[str, Finding]] = []
    for place, cell in cells.items():
        record = records[place]
        dataset, run = cell.dataset_entry.path, cell.run_entry.path
        own = (
            []
            if record.facts is None
            else accepted(rules.of_run(record.facts, run, cell.dataset), accept)
        )
        said = rules.beyond(with_names(record.warnings, cell), own)
        read = _of_readers(said, cell, accept)
        found.said[place] = [text for text, one in read if one.severity != "note"]
        scoped_read += [(cell.dataset_key, one) for _, one in read]
        for text, one in read:
            if one.place and one.rule != "reader":
                gathered.append((cell.dataset_key, one))
            elif one.severity != "note":
                loose.append(text)
        if record.facts is None:
            continue
        if dataset not in of_datasets:
            of_dataset = accepted(_of_dataset(record.facts, dataset), accept)
            of_datasets[dataset] = cell.dataset_key, of_dataset
        errors = [one for one in without_effects(own, accept) if one.severity == "error"]
        if errors:
            found.failed[place] = InputError([_problem(one) for one in errors])
        scoped += [(cell.dataset_key, one) for one in own]
        pooled = config.summary.pool
        guarded.append(guarded_cell(cell, record.facts, record.qids, digests, pooled))
    elsewhere = Elsewhere(_held(cells, records), MOST_READ)
    known = ((cell, records[place].facts) for place, cell in cells.items())
    odd = [(cell, facts.run) for cell, facts in known if facts is not None and is_odd(facts.run)]
    for cell, one in elsewhere.odd(odd, guarded):
        scoped += [(cell.dataset_key, said) for said in accepted([one], accept)]
    better = {**dict(_counted(failed, elsewhere)), **dict(_strangers(failed, cells, records))}
    found.failed |= {place: InputError([_problem(one)]) for place, one in better.items()}
    for place, (cell, error) in failed.items():
        refusals = [better[place]] if place in better else _refused(cell, error)
        scoped_read += [(cell.dataset_key, one) for one in refusals]
    held_rows = {
        path: digests[path]
        for cell, error in failed.values()
        if is_count(error) and (path := cell.run_entry.path) in digests
    }
    shared = _shared(cells, records, digests, config.summary.pool)
    every_cell = {**cells, **{place: cell for place, (cell, _) in failed.items()}}
    twice = named_twice.of_cells(every_cell[place] for place in sorted(every_cell))
    sweep = of_sweep(guarded, held_rows, places_in(cells.values()))
    everywhere = accepted([*twice, *sweep, *shared], accept)
    kept = {*without_effects([*(one for _, one in scoped), *everywhere], accept)}
    scoped = [(key, one) for key, one in scoped if one in kept]
    everywhere = [one for one in everywhere if one in kept]
    wrong = [one for _, own in of_datasets.values() for one in own] + everywhere
    wrong = [one for one in wrong if one.severity == "error"]
    every = [*scoped, *((key, one) for key, own in of_datasets.values() for one in own)]
    every += [("", one) for one in everywhere]
    found.printed = [*dict.fromkeys(loose), *_printed([*gathered, *every])]
    if wrong:
        for text in found.printed:
            warnings.warn(text, HarnessWarning, stacklevel=2)
        raise InputError([_problem(one) for one in wrong])
    found.findings = in_order(_kept([*every, *scoped_read]))
    return found


def _printed(scoped: Sequence[tuple[str, Finding]]) -> Iterator[str]:
    """Yield the text of each warning that no table shows, those of one rule together."""
    for one in in_order(collapsed(scoped)):
        if one.severity == "warning" and not RULES[one.rule].in_table:
            yield str(one).removeprefix("warning: ")


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
    says = policy.empty_queries != "zero" or convention is not None
    leaves_out = policy.missing_queries == "skip"
    return (
        *accept,
        *["empty-queries"] * says,
        *["missing-queries"] * leaves_out,
        *["score-ties"] * ties,
    )


def _kept(scoped: Sequence[tuple[str, Finding]]) -> Iterator[Finding]:
    """Yield findings with each file's own figures; notes, of which there are many, together."""
    yield from (one for _, one in scoped if one.severity != "note")
    yield from collapsed((scope, one) for scope, one in scoped if one.severity == "note")


def _shared(
    cells: Mapping[int, Cell], records: Mapping[int, Record], digests: Mapping[str, str],
    pooled: Sequence[str],
) -> Iterator[Finding]:  # fmt: skip
    """Yield the rows that several datasets hold."""
    first: dict[str, int] = {}
    for place, cell in cells.items():
        first.setdefault(cell.dataset_entry.path, place)
    marks = {
        place: facts.judgements.marks
        for place in first.values()
        if (facts := records[place].facts) is not None and facts.judgements.marks
    }
    some = [cells[place] for place in marks]
    hashes = [digests[cell.dataset_entry.path] for cell in some]
    yield from shared_rows.of_cells(some, hashes, [*marks.values()], pooled, MOST_READ)


def _held(cells: Mapping[int, Cell], records: Mapping[int, Record]) -> Iterator[Held]:
    """Yield the datasets of learning-to-rank cells, whose rows are read where they are needed."""
    for place, cell in cells.items():
        facts = records[place].facts
        if facts is not None and facts.run.follows:
            n_rows = facts.run.rows
            yield Held(cell.dataset, cell.dataset_entry.path, n_rows, partial(rows_of, cell))


def _counted(
    failed: Mapping[int, tuple[Cell, HarnessError]], elsewhere: Elsewhere
) -> Iterator[tuple[int, Finding]]:
    """Yield, for cells of too many or too few predictions, where they fit."""
    for place, (cell, error) in failed.items():
        if is_count(error):
            elsewhere.know(Held(cell.dataset, cell.dataset_entry.path, -1, partial(rows_of, cell)))
            better = elsewhere.count(cell)
            if better is not None:
                yield place, better


def _strangers(
    failed: Mapping[int, tuple[Cell, HarnessError]], cells: Mapping[int, Cell],
    records: Mapping[int, Record],
) -> Iterator[tuple[int, Finding]]:  # fmt: skip
    """Yield why runs share no query with their judgements, or name a document twice.

    Where columns or files tell it.
    """
    some = [
        (place, cell)
        for place, (cell, error) in failed.items()
        if _rules(error) == ["no-common-query"]
    ]
    read = {cell.dataset_entry.path: qrels_of(cell) for _, cell in some}
    known = {cells[place].dataset_entry.path: one.qids for place, one in records.items()}
    known |= {path: qrels.qids for path, qrels in read.items() if qrels is not None}
    for place, cell in some:
        path, run = cell.dataset_entry.path, cell.run_entry.path
        others = {other: qids for other, qids in known.items() if other != path}
        found = columns.swapped(run, read[path]) or columns.respelled_qids(run, read[path])
        found = found or columns.other_topics(run, cell.dataset, others)
        if found is not None:
            yield place, found
    for place, (cell, error) in failed.items():
        entry = cell.run_entry
        if "duplicates" in _rules(error) and format_of(entry.path, entry.format, "run") == "trec":
            blanks = columns.blank_docnos(entry.path)
            if blanks is not None:
                yield place, blanks


def _refused(cell: Cell, error: HarnessError) -> Iterator[Finding]:
    """Yield what readers refused of a cell; nothing of what else it failed of."""
    if isinstance(error, (InputError, AlignmentError)):
        yield from refused(cell.run_entry.path, error, _effects(cell, error))


def _effects(cell: Cell, error: HarnessError) -> Mapping[str, str]:
    """Return what rules of readers do to the numbers, by which file of a cell an error is of."""
    if error.problems[0].where.startswith(cell.dataset_entry.path):
        return OF_JUDGEMENTS
    run = cell.run_entry
    return OF_ROWS if format_of(run.path, run.format, "run") in BY_ROW else {}


def is_count(error: HarnessError) -> bool:
    """Whether predictions were more or fewer than rows."""
    return _rules(error) == ["row-count"]


def _rules(error: HarnessError) -> list[str]:
    return [rule_of(problem) for problem in error.problems]


def _of_readers(
    said: Iterable[Said], cell: Cell, accept: Sequence[str]
) -> list[tuple[str, Finding]]:
    """Return the readers' warnings, and each as a finding: a note where its rule is accepted."""
    paths = (cell.run_entry.path, cell.dataset_entry.path)
    found = []
    for one in said:
        place = next((path for path in paths if one.text.startswith(f"{path}: ")), "")
        severity: Severity = "note" if one.rule in accept else RULES[one.rule].severity
        found.append((one.text, of_reader(one, place, severity, judged=place == paths[1])))
    return found


def _of_dataset(facts: Facts, path: str) -> Iterator[Finding]:
    yield from rules.of_dataset(facts.judgements, path)
    yield from rules.of_rows(facts, path)


def _problem(one: Finding) -> Problem:
    return Problem(one.place, f"{one.what}{one.shown} [{one.rule}]", fix=one.fix, effect=one.effect)


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
