"""Findings in all cells of a run, a check or files, grouped."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..config.cells import Cell
from ..core.entries import grouped_by
from ..core.leaderboard import Select
from ..core.policy import Policy
from ..core.rules import RULES, SHOWN, VALIDATION, finding
from ..errors import Finding, HarnessError, InputError, Place
from .datasets import (
    Dataset,
    are_apart,
    findings_of_features,
    findings_of_folds,
    findings_of_validation,
    part_of,
    validation_pairs,
)
from .documents import explain_no_common_query
from .findings import (
    APART,
    FOLLOWS,
    findings_of_error,
    place_of_run_row,
    qrels_of,
    rules_of_error,
    scores_of,
    short_place,
    sort_findings,
    without_effects,
)
from .leaks import findings_of_leaks
from .row_order import (
    CHANCE,
    ENOUGH,
    RULES_OF_ROWS,
    Fit,
    GradedRows,
    graded_rows,
    is_chance,
    is_random,
    swapped_fold,
    unrelated_finding,
    wrong_count,
)
from .scores import RULES_OF_LABELS
from .visits import Visit
from .watch import Facts, observing

if TYPE_CHECKING:
    from ..config.model import Config

ENOUGH_ROWS = 20
"""Rows below which two files may be equal by chance."""


@dataclass(frozen=True)
class Placed:
    """A finding and its subject."""

    finding: Finding
    key: str = ""
    """The entry of the dataset in the config: findings of one rule and entry are grouped."""
    cell: int | None = None
    """The cell, by position; None if it is about a dataset or several files."""
    by_reader: bool = False

    def accepted(self, accept: Sequence[str], only_warns: bool) -> Placed:
        """Return it as a note if a config accepts its rule, as a warning if errors only warn."""
        rule, severity = self.finding.rule, self.finding.severity
        if rule in accept:
            severity = "note"
        elif severity == "error" and (only_warns or not RULES[rule].stops_run):
            severity = "warning"
        return replace(self, finding=replace(self.finding, severity=severity))


@dataclass(eq=False)
class Sweep:
    """All cells of a run or a check; their facts give findings."""

    visits: dict[int, Visit] = field(default_factory=dict)
    """Evaluated cells, by position."""
    datasets: dict[str, Dataset] = field(default_factory=dict)
    """Datasets by path."""
    failed: dict[int, tuple[Cell, HarnessError]] = field(default_factory=dict)
    """Cells that could not be evaluated, and why, by position."""
    digests: dict[str, str] = field(default_factory=dict)
    """SHA-256 of files by path."""
    pooled: Sequence[str] = ()
    """Placeholders that the config's summary pools."""
    wary: bool = False
    """Whether predictions that fit nothing are a warning."""
    select: Select | None = None
    causes: dict[int, Finding] = field(default_factory=dict)
    """Causes that a second reading of failed cells found, by position."""
    _rows: dict[str, GradedRows | None] = field(default_factory=dict)

    @cached_property
    def facts(self) -> list[tuple[int, Cell, Facts]]:
        """The cells that have facts."""
        visits = self.visits.items()
        return [(n, visit.cell, visit.facts) for n, visit in visits if visit.facts is not None]

    def examine(self) -> list[Placed]:
        """Return all findings; a step that fails is one, and the others go on."""
        findings: list[Placed] = []
        failures: list[Finding] = []
        steps = [self._of_cells, self._of_datasets, self._of_order]
        steps += [self._of_failed] if self.failed else []
        steps += [self._of_files]
        steps += [self._of_queries] if len(self.datasets) > 1 else []
        for step in steps:
            with observing(failures):
                findings += step()
        return findings + [Placed(finding) for finding in failures]

    def _of_cells(self) -> Iterator[Placed]:
        """Yield the findings of each run, and more specific warnings of readers."""
        for place, visit in self.visits.items():
            cell = visit.cell
            findings = () if visit.facts is None else visit.facts.run.findings
            # scores that a fusion computed differ by rounding, too
            unused = {"single-precision"} if cell.is_fused else ()
            run_findings = [_of_column(cell, one) for one in findings if one.rule not in unused]
            reported = {
                rule
                for finding in run_findings
                for rule in (finding.rule, *FOLLOWS.get(finding.rule, ()))
            }
            yield from (Placed(finding, cell.dataset_key, place) for finding in run_findings)
            read = [one for one in visit.findings if one.rule not in reported]
            yield from (Placed(one, cell.dataset_key, place, by_reader=True) for one in read)

    def _of_datasets(self) -> Iterator[Placed]:
        for path, dataset in self.datasets.items():
            for unplaced in dataset.facts.findings:
                finding = replace(unplaced, place=unplaced.place.within(path))
                yield Placed(finding, dataset.cell.dataset_key)

    def _of_order(self) -> Iterator[Placed]:
        """Yield findings about predictions that do not fit their own rows."""
        for place, cell, facts in self.facts:
            if facts.run.unrelated is not None:
                finding = self._swapped(cell, facts)
                if finding is None:
                    better = self._better(place, cell, facts)
                    wary = (
                        self.wary and not is_random(cell.run)
                    ) or cell.dataset_entry.path in self._without_fit
                    finding = unrelated_finding(facts.run.unrelated, facts.run.fit, better, wary)
                if finding is not None:
                    yield Placed(_of_column(cell, finding), cell.dataset_key, place)

    @cached_property
    def _without_fit(self) -> set[str]:
        """Datasets with grades that no run fits, except random baselines."""
        fitting: dict[str, bool] = {}
        for _, cell, facts in self.facts:
            if not is_random(cell.run):
                path, run = cell.dataset_entry.path, facts.run
                fits = run.unrelated is None or not is_chance(run.fit)
                fitting[path] = fitting.get(path, False) or fits
        return {path for path, fits in fitting.items() if not fits}

    def _better(self, place: int, cell: Cell, own_facts: Facts) -> tuple[str, Fit] | None:
        """Return the best fit of this model on other folds, and of other models on these rows."""
        if is_random(cell.run):  # meant to fit nothing
            return None
        model, fit = self._model(cell), own_facts.run.fit
        # on few rows, a weak model or setting looks like shuffled rows
        like_chance = fit.n >= ENOUGH and fit.z < CHANCE
        related = [
            (f"{candidate.run} on {candidate.dataset}", facts.run.fit)
            for index, candidate, facts in self.facts
            if (like_chance and candidate.dataset_entry.path == cell.dataset_entry.path)
            or (model is not None and self._model(candidate) == model)
            if index != place
        ]
        return max(related, key=lambda pair: pair[1].z, default=None)

    def _model(self, cell: Cell) -> Hashable:
        part = part_of(cell, self.pooled)
        return None if part is None else (part.dataset, cell.run_key, *cell.of_run.items())

    def _swapped(self, cell: Cell, facts: Facts) -> Finding | None:
        """Return a finding if predictions fit another dataset of as many rows."""
        candidates = self._as_many(facts.judgements.rows, cell.dataset_entry.path)
        scores = scores_of(cell.run_entry.path) if candidates else None
        if scores is None:
            return None
        return swapped_fold(place_of_run_row(cell.run_entry, 0), facts.run.fit, scores, candidates)

    def _as_many(self, n_rows: int, path: str) -> dict[str, GradedRows]:
        """Return the rows of other datasets that have as many, by their names and files."""
        rows_by_name = {}
        for file, dataset in self.datasets.items():
            if file != path and dataset.facts.rows == n_rows:
                name = dataset.cell.dataset
                rows = self._rows_of(dataset.cell)
                if rows is not None:
                    rows_by_name[file if file == name else f"{name} ({short_place(file)})"] = rows
        return rows_by_name

    def _rows_of(self, cell: Cell) -> GradedRows | None:
        path = cell.dataset_entry.path
        if path not in self._rows:
            qrels = qrels_of(cell)
            self._rows[path] = None if qrels is None else graded_rows(qrels)
        return self._rows[path]

    def _of_failed(self) -> Iterator[Placed]:
        """Yield the causes of failed cells: readers' errors, or findings of a second reading."""
        for place, (cell, error) in self.failed.items():
            cause = self._cause(cell, rules_of_error(error))
            if cause is not None:
                self.causes[place] = cause
                yield Placed(cause, cell.dataset_key, place)
            else:
                for finding in findings_of_error(cell.run_entry.path, error):
                    if finding.place.file == cell.dataset_entry.path:  # which only this run needs
                        message = f"{short_place(finding.place)}: {finding.what}"
                        finding = replace(finding, place=Place(cell.run_entry.path), what=message)
                    yield Placed(finding, cell.dataset_key, place)

    def _cause(self, cell: Cell, rules: Sequence[str]) -> Finding | None:
        path, run = cell.dataset_entry.path, cell.run_entry
        if rules == ["no-common-query"]:
            qids = {path: dataset.qids for path, dataset in self.datasets.items()}
            return explain_no_common_query(cell, qrels_of(cell), qids)
        scores = scores_of(run.path) if rules == ["row-count"] else None
        if scores is None or (rows := self._rows_of(cell)) is None:
            return None
        return wrong_count(run, cell.dataset, rows, scores, self._as_many(scores.size, path))

    def _of_files(self) -> Iterator[Placed]:
        """Yield files of the same bytes or the same ranking, and files with several names."""
        cells = {place: visit.cell for place, visit in self.visits.items()}
        cells |= {place: cell for place, (cell, _) in self.failed.items()}
        if len(cells) > 1:
            yield from map(Placed, _named_twice(cells[place] for place in sorted(cells)))
        rows = {path: dataset.facts.rows for path, dataset in self.datasets.items()}
        rankings: dict[tuple[str, str], dict[str, str]] = {}
        for _, cell, facts in self.facts:
            run = facts.run
            if run.own_scores:
                path = cell.run_entry.path
                rows[path] = run.rows
                if run.ranking and run.rows >= ENOUGH_ROWS:
                    key = cell.dataset_entry.path, run.ranking
                    # one path for each content
                    rankings.setdefault(key, {}).setdefault(self.digests.get(path, path), path)
        paths = [path for path, n in rows.items() if n >= ENOUGH_ROWS and path in self.digests]
        for equal_files in grouped_by(paths, self.digests.__getitem__).values():
            n = len(equal_files) - 1
            data = [self.datasets[file] for file in equal_files if file in self.datasets]
            pairs = combinations(data, 2)
            if n and (n >= len(data) or any(are_apart(*pair, self.pooled) for pair in pairs)):
                message = f"{n:,} other {'file has' if n == 1 else 'files have'} the same bytes"
                original, *copies = equal_files
                yield Placed(finding("same-file-twice", original, message, n, copies))
        for original, *copies in map(dict.values, rankings.values()):
            if n := len(copies):
                message = f"{n:,} other {'run has' if n == 1 else 'runs have'} the same rankings"
                yield Placed(finding("same-file-twice", original, message, n, copies))

    def _of_queries(self) -> Iterator[Placed]:
        datasets = [*self.datasets.values()]
        yield from map(Placed, findings_of_folds(datasets, self.pooled))
        cells = [visit.cell for visit in self.visits.values()]
        if self.select is not None:
            shared = [*findings_of_validation(cells, self.datasets, self.select)]
            pairs = validation_pairs(cells, self.select)
            with_rows = {path for path, dataset in self.datasets.items() if dataset.hashes.size}
            pairs = [pair for pair in pairs if not shared and with_rows.issuperset(pair)]
            leaks = ((validation, self.datasets[test].cell) for validation, test in pairs)
            yield from map(Placed, (*shared, *findings_of_leaks(leaks, VALIDATION.effect)))
        yield from map(Placed, findings_of_features(datasets, self.pooled))


def _named_twice(cells: Iterable[Cell]) -> Iterator[Finding]:
    """Yield each file that is several runs on one dataset and read in one way, with their names."""
    names_by_file: dict[tuple[str, str, str], dict[str, None]] = {}
    for cell in cells:
        options = cell.run_entry.options().items()
        read_by = repr(sorted((name, value) for name, value in options if name != "format"))
        of_run = cell.of_run.items()
        settings = (f" {name}={value}" for name, value in of_run if name in cell.columns)
        key = cell.dataset, cell.run_entry.path, read_by
        names_by_file.setdefault(key, {})[cell.run + "".join(settings)] = None
    for path, names in {
        (path, tuple(names)): None for (_, path, _), names in names_by_file.items()
    }:
        if len(names) > 1:
            message = f"{len(names):,} run names for this one file"
            yield finding("same-file-twice", path, message, len(names), names)


def accepted_rules(config: Config, policy: Policy) -> tuple[str, ...]:
    """Return the rules that a config accepts, by name or by another setting."""
    chosen = {
        "empty-queries": policy.empty_queries != "zero" or config.convention is not None,
        "missing-queries": policy.missing_queries == "skip",
        "score-ties": config.is_given("policy", "ties"),
    }
    return (*config.guard.accept, *(rule for rule, is_chosen in chosen.items() if is_chosen))


@dataclass(frozen=True, eq=False)
class Guarded:
    """Findings about a run, and the cells that they mark or make fail."""

    findings: list[Finding]
    """Errors first. Notes of one rule and one entry of the config's datasets are one."""
    marks: dict[int, tuple[str, ...]]
    """The rules of the warnings about each cell, by position."""
    failed: dict[int, HarnessError]
    """Cells that a finding makes fail, by position."""
    shown: tuple[Finding, ...]
    """Those to warn of; findings of one rule and one entry of the config's datasets are one."""


def guard(
    visits: dict[int, Visit],
    digests: dict[str, str],
    failed: dict[int, tuple[Cell, HarnessError]],
    *,
    accept: Sequence[str],
    pooled: Sequence[str] = (),
    only_warns: bool = False,
    known: Iterable[Finding] = (),
) -> Guarded:
    """Check the cells of a run with every rule; `digests` are by path.

    Findings of rules in `accept` become notes, and `pooled` is for `Sweep`. InputError if a
    dataset, or the sweep as a whole, has an error that is not accepted; its `findings` are those
    to warn of. With `only_warns`, for commands without a config, errors are warnings, except those
    of a run without a judged document. `known` are earlier findings.
    """
    by_path: dict[str, Dataset] = {}
    for visit in visits.values():
        path, facts = visit.cell.dataset_entry.path, visit.facts
        if facts is not None and path not in by_path:
            judgements, hashes = facts.judgements, np.array(facts.judgements.marks, np.uint64)
            digest = digests.get(path, path)
            by_path[path] = Dataset(visit.cell, judgements, visit.qids, hashes, digest)
    sweep = Sweep(visits, by_path, failed, digests, pooled=pooled, wary=only_warns)
    placements = [*map(Placed, known), *sweep.examine()]
    if not placements:
        return Guarded([], {}, {}, ())
    unjudged = {
        place
        for place, visit in visits.items()
        if visit.evaluation is not None and visit.evaluation.counts.none_judged
    }
    remaining = {*without_effects([placed.finding for placed in placements], accept)}
    placements = [placed for placed in placements if placed.finding in remaining]
    placements = [
        placed.accepted(accept, only_warns and placed.cell not in unjudged) for placed in placements
    ]
    # a warning of a reader never makes a cell fail
    own = [placed for placed in placements if not placed.by_reader]
    errors = [placed for placed in own if placed.finding.severity == "error"]
    to_warn = tuple(
        finding
        for finding in group_findings(placed for placed in placements if placed not in errors)
        if finding.severity != "note" and not RULES[finding.rule].in_table
    )
    if wrong := [placed.finding for placed in errors if placed.cell is None]:
        error = InputError([finding.problem for finding in dict.fromkeys(wrong)])
        error.findings = to_warn
        raise error
    stopped: dict[int, HarnessError] = {
        position: InputError([placed.finding.problem for placed in group])
        for position, group in grouped_by(errors, lambda placed: placed.cell).items()
        if position is not None and (position in visits or position in sweep.causes)
    }
    wrong_runs = {visits[place].cell.key: stopped[place] for place in stopped if place in visits}
    for position, visit in sorted(visits.items()):
        parts = getattr(visit.cell.run_entry, "cells", ())  # of a fused run
        errors_of_parts = [wrong_runs[cell.key] for cell in parts if cell.key in wrong_runs]
        if errors_of_parts and position not in stopped:
            stopped[position] = wrong_runs[visit.cell.key] = errors_of_parts[0]
    notes = [placed for placed in placements if placed.finding.severity == "note"]
    problems = [placed for placed in placements if placed.finding.severity != "note"]
    findings = sort_findings([*(placed.finding for placed in problems), *group_findings(notes)])
    return Guarded(findings, _warning_marks(placements, visits), stopped, to_warn)


def _warning_marks(
    placements: Iterable[Placed], visits: Mapping[int, Visit]
) -> dict[int, tuple[str, ...]]:
    """Return the rules of the warnings that a leaderboard marks, by cell."""
    rules: dict[int, dict[str, None]] = {}
    by_path = grouped_by(visits, lambda position: visits[position].cell.run_entry.path)
    for placed in placements:
        finding = placed.finding
        if finding.severity == "warning" and not RULES[finding.rule].in_table:
            files = {
                finding.place.file,
                *(finding.examples if finding.rule == "same-file-twice" else ()),
            }
            at_cell = None if placed.by_reader else placed.cell  # a reader's may be of the qrels
            of_files = (position for file in files for position in by_path.get(file, ()))
            for position in of_files if at_cell is None else [at_cell]:
                rules.setdefault(position, {})[finding.rule] = None
    return {position: (*names,) for position, names in rules.items()}


def _of_column(cell: Cell, finding: Finding) -> Finding:
    """Return a finding about a run, with its file and the column of scores that a config names."""
    finding = replace(finding, place=finding.place.within(cell.run_entry.path))
    column = (cell.run_entry.options().get("columns") or {}).get("score")
    what = finding.what if column is None else f"column '{column}': {finding.what}"
    return replace(finding, what=what)


def group_findings(findings: Iterable[Placed]) -> list[Finding]:
    """Return findings, those of one rule and one dataset's entry as one with the other places."""
    groups: dict[object, dict[Finding, None]] = {}
    for placed in findings:
        finding = placed.finding
        key = finding if finding.rule in APART else (placed.key, finding.rule, finding.severity)
        groups.setdefault(key, {})[finding] = None
    merged = []
    for finding, *repeats in groups.values():
        places = tuple(repeat.place for repeat in repeats[:SHOWN])
        merged.append(replace(finding, n_others=len(repeats), others=places))
    return merged


def findings_of_rows(visits: Iterable[Visit]) -> Iterator[Finding]:
    """Yield findings on scores that are labels or classes, or seem to belong to other rows."""
    sweep = Sweep(dict(enumerate(visits)))
    rules = {*RULES_OF_ROWS, *RULES_OF_LABELS, "guard-failed"}
    findings = without_effects([placed.finding for placed in sweep.examine()])
    yield from (f for f in findings if f.rule in rules and f.severity != "note")
