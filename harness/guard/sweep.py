"""What the guard finds in all cells of a run or a check: facts to findings, grouped."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ..config.cells import Cell
from ..config.model import Config
from ..core.arrow import cast, encode
from ..core.policy import Policy
from ..core.ragged import Array
from ..errors import AlignmentError, Finding, HarnessError, HarnessWarning, InputError, Problem
from ..readers.letor import of_kept
from . import judgements
from .columns import explain_no_common_query
from .facts import Facts, observing
from .lines import content_of, places_of_queries, places_of_rows, qrels_of, scores_of
from .parts import EXAMPLES, First, short, texts_at
from .registry import (
    FOLLOWS,
    RULES,
    SHOWN,
    accepted,
    file_of,
    finding,
    in_order,
    refused,
    rules_of,
    without_effects,
)
from .row_fit import Fit, Rows
from .row_order import Swapped, is_odd, rows_of, swapped_fold, unrelated, wrong_count
from .shared_rows import files_named_twice, part_of, pooled_into, shared_rows

MOST_READ = 8
"""Datasets that ``harness run`` reads again to compare predictions or rows with them."""
OTHERS = 2
"""Other runs that must agree before one differs from them."""
ENOUGH_ROWS = 20
"""Rows below which two files may be equal by chance."""
FAR = 0.2
"""How much larger than the median of the runs a share of unjudged documents must be."""
RANDOM = "random"
"""What the name of a random baseline holds."""
APART = ("reader", "unreadable", "config")
"""Rules whose findings are about anything, and are not grouped."""
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


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


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset as the guard sees it: one of its cells, facts, queries, and marks of its rows."""

    cell: Cell
    facts: judgements.JudgementFacts
    qids: pa.Array
    marks: Array


Failed = Mapping[int, tuple[Cell, HarnessError]]
"""Cells that could not be evaluated, and why, by place."""


@dataclass(frozen=True)
class Placed:
    """A finding and what it is about.

    Parameters
    ----------
    finding : Finding
    key : str
        The entry of the dataset in the config: findings of one rule and entry are grouped.
    cell : int, optional
        The cell, by place; None if it is about a dataset or several files.
    by_reader : bool
    """

    finding: Finding
    key: str = ""
    cell: int | None = None
    by_reader: bool = False


class Sweep:
    """All cells of a run or a check, from whose facts findings are made.

    Parameters
    ----------
    cells : mapping of int to Cell
        Those that were evaluated, by place.
    seen : mapping of int to Seen
        Of each of these.
    datasets : mapping of str to Dataset
        By path.
    failed : mapping of int to (Cell, HarnessError)
    digests : mapping of str to str
        SHA-256 of files, by path.
    pooled : sequence of str
        Placeholders that the config's summary pools.
    most_read : float
        Datasets that are read again, at most, for each purpose.
    wary : bool
        Whether predictions that fit nothing are a warning in any case.
    """

    def __init__(
        self, cells: Mapping[int, Cell], seen: Mapping[int, Seen], datasets: Mapping[str, Dataset],
        failed: Failed, digests: Mapping[str, str], *, pooled: Sequence[str] = (),
        most_read: float = MOST_READ, wary: bool = False,
    ) -> None:  # fmt: skip
        self.cells, self.seen, self.datasets, self.failed = cells, seen, datasets, failed
        self.digests, self.pooled, self.most_read, self.wary = digests, pooled, most_read, wary
        self.causes: dict[int, Finding] = {}
        self._rows: dict[str, Rows | None] = {}

    @cached_property
    def facts(self) -> list[tuple[int, Cell, Facts]]:
        """The cells that have facts."""
        some = ((place, cell, self.seen[place].facts) for place, cell in self.cells.items())
        return [(place, cell, facts) for place, cell, facts in some if facts is not None]

    def examine(self, accept: Sequence[str] = ()) -> list[Placed]:
        """Return all findings without effects of others; those of accepted rules as notes.

        A step that fails is a finding, and the others go on.
        """
        found: list[Placed] = []
        failures: list[Finding] = []
        for step in (
            self._of_cells, self._of_datasets, self._of_order, self._of_failed, self._of_files,
            self._of_queries, self._of_unjudged, self._of_rows,
        ):  # fmt: skip
            with observing(failures):
                found += step()
        found += [Placed(one) for one in failures]
        kept = {*without_effects([one.finding for one in found], accept)}
        return [
            replace(one, finding=accepted([one.finding], accept)[0])
            for one in found
            if one.finding in kept
        ]

    def _of_cells(self) -> Iterator[Placed]:
        """Yield what rules find in each run, and the readers' warnings that say more."""
        for place, cell in self.cells.items():
            seen = self.seen[place]
            own = [] if seen.facts is None else [*seen.facts.findings(cell.run_entry.path)]
            known = {rule for one in own for rule in (one.rule, *FOLLOWS.get(one.rule, ()))}
            read = [one for one in seen.warnings if one.rule not in known]
            yield from (Placed(one, cell.dataset_key, place) for one in own)
            yield from (Placed(one, cell.dataset_key, place, True) for one in read)

    def _of_datasets(self) -> Iterator[Placed]:
        follows = {cell.dataset_entry.path for _, cell, facts in self.facts if facts.run.follows}
        for path, one in self.datasets.items():
            for found in judgements.findings(one.facts, path, path in follows):
                yield Placed(found, one.cell.dataset_key)

    def _of_order(self) -> Iterator[Placed]:
        """Yield what predictions are that do not fit their own rows."""
        odd = [one for one in self.facts if is_odd(one[2].run)]
        swapped = {place: self._swapped(cell, facts) for place, cell, facts in odd}
        fits: dict[Hashable, dict[str, tuple[str, Fit]]] = {}
        models: dict[int, Hashable] = {}
        best: dict[str, tuple[str, Fit]] = {}
        for place, cell, facts in self.facts:
            part, fit = part_of(cell, self.pooled), facts.run.order.fit
            if fit is not None:
                of_run, path = (cell.run, fit), cell.dataset_entry.path
                best[path] = max(best.get(path, of_run), of_run, key=lambda one: one[1].z)
            if part is None or fit is None:
                continue
            models[place] = model = (part.whole, cell.run_key, *cell.of_run.items())
            name, moved = cell.dataset, swapped.get(place)
            if moved is not None:
                name, fit = f"{moved.other} (given for {name})", moved.fit
            fits.setdefault(model, {})[cell.dataset_entry.path] = name, fit
        for place, cell, facts in odd:
            if (moved := swapped[place]) is not None:
                yield Placed(moved.finding, cell.dataset_key)
                continue
            path = cell.dataset_entry.path
            same_model = fits.get(models.get(place), {})
            others = [fit for other, fit in same_model.items() if other != path]
            run, better = cell.run_entry.path, best.get(path)
            if RANDOM in cell.run.lower():  # meant to fit nothing
                better = None
            for found in unrelated(run, facts.run, others, better, self.wary):
                yield Placed(found, cell.dataset_key)

    def _swapped(self, cell: Cell, facts: Facts) -> Swapped | None:
        """Return the other dataset of as many rows that predictions fit."""
        place, path = cell.run_entry.path, cell.dataset_entry.path
        others = self._as_many(facts.judgements.rows, path)
        read = scores_of(place) if others else None
        if read is None:
            return None
        first = places_of_rows(cell.run_entry)([0])[0]
        own = facts.run.order.fit or Fit(0, 0.0, 0)
        return swapped_fold(first or place, own, read[0], others)

    def _as_many(self, n_rows: int, path: str) -> dict[str, Rows]:
        """Return the rows of other datasets that have as many, by their names and files."""
        some = {
            other if other == one.cell.dataset else f"{one.cell.dataset} ({short(other)})": one
            for other, one in self.datasets.items()
            if other != path and one.facts.rows == n_rows
        }
        every = {name: self._rows_of(one.cell) for name, one in some.items()}
        return {name: rows for name, rows in every.items() if rows is not None}

    def _rows_of(self, cell: Cell) -> Rows | None:
        path = cell.dataset_entry.path
        if path not in self._rows:
            if len(self._rows) >= self.most_read:
                return None
            qrels = qrels_of(cell)
            self._rows[path] = None if qrels is None else rows_of(qrels)
        return self._rows[path]

    def _of_failed(self) -> Iterator[Placed]:
        """Yield why cells failed: in the reader's words, or by a second look into their files."""
        for place, (cell, error) in self.failed.items():
            cause = self._cause(cell, rules_of(error))
            if cause is not None:
                self.causes[place] = cause
                yield Placed(cause, cell.dataset_key, place)
            elif isinstance(error, (InputError, AlignmentError)):
                for found in refused(cell.run_entry.path, error):
                    yield Placed(found, cell.dataset_key, place)

    def _cause(self, cell: Cell, rules: Sequence[str]) -> Finding | None:
        path, run = cell.dataset_entry.path, cell.run_entry
        if rules == ["no-common-query"]:
            qids = {path: one.qids for path, one in self.datasets.items()}
            return explain_no_common_query(cell, qrels_of(cell), qids)
        read = scores_of(run.path) if rules == ["row-count"] else None
        if read is None:
            return None
        scores, has_no_end = read
        return wrong_count(
            run.path, cell.dataset, self._rows_of(cell), scores, self._as_many(scores.size, path),
            places_of_rows(run), places_of_rows(cell.dataset_entry), has_no_end,
        )  # fmt: skip

    def _of_files(self) -> Iterator[Placed]:
        """Yield files of the same bytes or content, and files with several names.

        Not runs of equal scores, or of the labels, which other rules find; nor predictions of a
        wrong count that are another fold's.
        """
        every = {**self.cells, **{place: cell for place, (cell, _) in self.failed.items()}}
        for found in files_named_twice(every[place] for place in sorted(every)):
            yield Placed(found)
        rows = {path: one.facts.rows for path, one in self.datasets.items()}
        runs = {self.digests.get(cell.run_entry.path) for _, cell, _ in self.facts}
        for _, cell, facts in self.facts:
            run = facts.run
            if not (run.labels.grades or 0 < run.scores.several == run.scores.constant):
                rows[cell.run_entry.path] = run.queries.rows
        for cell, error in self.failed.values():
            path = cell.run_entry.path
            if rules_of(error) == ["row-count"] and self.digests.get(path, "") not in {*runs, ""}:
                rows[path] = ENOUGH_ROWS
        paths = [path for path, n in rows.items() if n >= ENOUGH_ROWS and path in self.digests]
        content = {path: self.digests[path] for path in paths}
        content |= dict(self._contents(content))
        for same in _by(paths, lambda path: content[path]).values():
            if len(same) > 1:
                n, is_copy = len(same) - 1, len({self.digests[path] for path in same}) == 1
                what = f"{n:,} other {'file has' if n == 1 else 'files have'} "
                what += "the same bytes" if is_copy else "the same rows"
                yield Placed(finding("same-file-twice", same[0], what, n, same[1:]))

    def _contents(self, paths: Container[str]) -> Iterator[tuple[str, str]]:
        """Yield runs that are equal but for their tag, with what they have in common.

        Only runs with the same facts are read again.
        """
        runs = {
            cell.run_entry.path: (cell, repr(facts.run))
            for _, cell, facts in self.facts
            if not facts.run.follows and cell.run_entry.path in paths
        }
        for same in _by(runs, lambda path: runs[path][1]).values():
            if len({self.digests[path] for path in same}) > 1:
                for path in same:
                    if (content := content_of(runs[path][0])) is not None:
                        yield path, content

    def _of_queries(self) -> Iterator[Placed]:
        """Yield the queries that folds have in common, and those that are pooled."""
        datasets = [*self.datasets.values()]
        pooled = _by(datasets, lambda one: pooled_into(one.cell, self.pooled))
        for some in (some for whole, some in pooled.items() if whole):
            yield from self._shared_queries("pooled-queries", some)
        folds = [one for one in pooled.get("", []) if not one.facts.numbered]
        for whole, some in _by(folds, self._whole).items():
            digests = {self.digests.get(one.cell.dataset_entry.path): one for one in some}
            if whole:
                yield from self._shared_queries("shared-queries", [*digests.values()])

    def _whole(self, one: Dataset) -> str:
        part = part_of(one.cell, self.pooled)
        return "" if part is None else part.whole

    def _shared_queries(self, rule: str, datasets: Sequence[Dataset]) -> Iterator[Placed]:
        if len(datasets) < 2:
            return
        every = pa.concat_arrays([cast(one.qids, pa.large_string()) for one in datasets])
        distinct, which = encode(every)
        shared = np.flatnonzero(np.bincount(which, minlength=1) > 1)
        if not shared.size:
            return
        owner = np.repeat(np.arange(len(datasets)), [len(one.qids) for one in datasets])
        qids, examples, first = texts_at(distinct, shared[:EXAMPLES]), [], ""
        places = {}
        for qid, code in zip(qids, shared[:EXAMPLES].tolist(), strict=True):
            both = []
            for cell in (datasets[one].cell for one in owner[which == code][:2].tolist()):
                path = cell.dataset_entry.path
                if path not in places:
                    places[path] = places_of_queries(cell, qids)
                both.append(places[path].get(qid, path))
            first = first or both[1]
            examples.append(f"query {qid}: {short(both[0])} and {short(both[1])}")
        what = (
            f"{shared.size:,} of {len(distinct):,} queries are in several of {len(datasets)} folds"
        )
        yield Placed(finding(rule, first, what, shared.size, examples))

    def _of_unjudged(self) -> Iterator[Placed]:
        """Yield runs with many more unjudged documents near the top than the dataset's others."""
        runs = [one for one in self.facts if one[2].run.documents.judged]
        for some in _by(runs, lambda one: one[1].dataset_entry.path).values():
            documents = [facts.run.documents for _, _, facts in some]
            shares = [1 - one.judged_shown / one.shown for one in documents]
            middle = float(np.median(shares))
            for (_, cell, facts), own in zip(some, shares, strict=True):
                if len(some) > OTHERS and own > middle + FAR:
                    what = (
                        f"{100 * own:.0f}% of the top 10 documents are not judged; "
                        f"the median of {len(some)} runs is {100 * middle:.0f}%"
                    )
                    n = facts.run.documents.shown - facts.run.documents.judged_shown
                    first = facts.run.first.get("unjudged-at-10", First())
                    place, names = first.at(cell.run_entry.path), first.names
                    yield Placed(finding("unjudged-unlike-others", place, what, n, names))

    def _of_rows(self) -> Iterator[Placed]:
        marked = [
            (one.cell, self.digests[path], one.marks)
            for path, one in self.datasets.items()
            if one.marks.size
        ]
        for found in shared_rows(marked, self.pooled, self.most_read):
            yield Placed(found)


def _by(some: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = {}
    for one in some:
        found.setdefault(key(one), []).append(one)
    return found


def accepted_rules(
    accept: Sequence[str], policy: Policy, convention: str | None, ties: bool = False
) -> tuple[str, ...]:
    """Return the rules whose findings a config accepts.

    Parameters
    ----------
    accept : sequence of str
        Those that it names.
    policy : Policy
    convention : str, optional
        Either says how queries without relevant documents count.
    ties : bool
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


@dataclass(eq=False)
class Guarded:
    """What the guard found in a run.

    Parameters
    ----------
    findings : list of Finding
        Errors first. Notes of one rule and one entry of the config's datasets are one.
    printed : list of str
        What is printed of the warnings; those of one rule and one entry as one.
    failed : dict of int to HarnessError
        Cells that a finding makes fail, by place.
    texts : dict of int to list of str
        The readers' warnings of each cell, by place, that no finding repeats.
    """

    findings: list[Finding] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    failed: dict[int, HarnessError] = field(default_factory=dict)
    texts: dict[int, list[str]] = field(default_factory=dict)


def guard(
    config: Config, cells: Mapping[int, Cell], seen: Mapping[int, Seen],
    digests: Mapping[str, str], failed: Failed,
) -> Guarded:  # fmt: skip
    """Return what the guard finds in the cells of a run.

    Parameters
    ----------
    config : Config
    cells : mapping of int to Cell
    seen : mapping of int to Seen
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
    ties = config.is_given("policy", "ties")
    accept = accepted_rules(config.guard.accept, config.to_policy(), config.convention, ties)
    datasets: dict[str, Dataset] = {}
    for place, cell in cells.items():
        if (facts := seen[place].facts) is not None:
            path, judged = cell.dataset_entry.path, facts.judgements
            marks = of_kept(judged.marks)
            datasets.setdefault(path, Dataset(cell, judged, seen[place].qids, marks))
    sweep = Sweep(cells, seen, datasets, failed, digests, pooled=config.summary.pool)
    found = sweep.examine(accept)
    texts: dict[int, list[str]] = {place: [] for place in cells}
    for one in found:
        if one.by_reader and one.cell is not None and one.finding.severity != "note":
            texts[one.cell].append(_text(one.finding))
    # an error of a reader fails no cell, so it is printed as it is
    loose = [
        one
        for one in found
        if one.by_reader and (one.finding.rule == "reader" or one.finding.severity == "error")
    ]
    printed = [
        str(one).removeprefix("warning: ")
        for one in in_order(grouped(one for one in found if one not in loose))
        if one.severity == "warning" and not RULES[one.rule].in_table
    ]
    printed = [*(_text(one.finding) for one in loose), *printed]
    errors = [one for one in found if one.finding.severity == "error" and not one.by_reader]
    result = Guarded([], [*dict.fromkeys(printed)], texts=texts)
    if wrong := [one.finding for one in errors if one.cell is None]:
        for text in result.printed:
            warnings.warn(text, HarnessWarning, stacklevel=3)
        raise InputError([_problem(one) for one in dict.fromkeys(wrong)])
    for place, some in groupby(errors, key=lambda one: one.cell):
        if place is not None and (place in cells or place in sweep.causes):
            result.failed[place] = InputError([_problem(one.finding) for one in some])
    notes = grouped(one for one in found if one.finding.severity == "note")
    rest = (one.finding for one in found if one.finding.severity != "note")
    result.findings = in_order([*rest, *notes])
    return result


def _text(one: Finding) -> str:
    """Return a reader's warning in its own words."""
    return f"{file_of(one)}: {one.what}" if one.place else one.what


def _problem(one: Finding) -> Problem:
    what = f"{one.what}{one.shown} [{one.rule}]"
    return Problem(one.place, what, fix=one.fix, rule=one.rule, effect=one.effect)


def grouped(findings: Iterable[Placed]) -> list[Finding]:
    """Return findings, those of one rule and one dataset's entry as one with the other places."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for key, one in dict.fromkeys((one.key, one.finding) for one in findings):
        group = (one,) if one.rule in APART else (key, one.rule, one.severity)
        groups.setdefault(group, []).append(one)
    return [
        replace(
            one, n_others=len(others), others=tuple(other.place for other in others[:SHOWN])
        )
        for one, *others in groups.values()
    ]  # fmt: skip
