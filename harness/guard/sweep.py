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
from ..core.rules import RULES, SHOWN, finding
from ..errors import AlignmentError, Finding, HarnessError, InputError, Place
from .datasets import (
    Dataset,
    are_apart,
    of_features,
    of_folds,
    of_validation,
    part_of,
)
from .documents import explain_no_common_query
from .findings import (
    APART,
    FOLLOWS,
    accepted,
    in_order,
    place_of_row,
    qrels_of,
    refused,
    rules_of,
    scores_of,
    short,
    without_effects,
)
from .row_order import (
    CHANCE,
    ENOUGH,
    RULES_OF_ROWS,
    Fit,
    GradedRows,
    is_chance,
    is_random,
    rows_of,
    swapped_fold,
    unrelated,
    wrong_count,
)
from .visits import Visit
from .watch import Facts, observing

if TYPE_CHECKING:
    from ..config.model import Config

ENOUGH_ROWS = 20
"""Rows below which two files may be equal by chance."""


class GuardError(InputError):
    """What the guard found to be wrong in one run; each problem ends with its rule."""


@dataclass(frozen=True)
class Placed:
    """A finding and what it is about."""

    finding: Finding
    key: str = ""
    """The entry of the dataset in the config: findings of one rule and entry are grouped."""
    cell: int | None = None
    """The cell, by position; None if it is about a dataset or several files."""
    by_reader: bool = False

    def accepted(self, accept: Sequence[str], only_warns: bool) -> Placed:
        """Return it as a note if a config accepts its rule, as a warning if errors only warn."""
        (found,) = accepted([self.finding], accept)
        only_warns = only_warns or not RULES[found.rule].stops_run
        if only_warns and found.severity == "error":
            found = replace(found, severity="warning")
        return replace(self, finding=found)


@dataclass(eq=False)
class Sweep:
    """All cells of a run or a check, from whose facts findings are made."""

    seen: dict[int, Visit] = field(default_factory=dict)
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
    """What a second look at failed cells found, by position."""
    _rows: dict[str, GradedRows | None] = field(default_factory=dict)

    @cached_property
    def facts(self) -> list[tuple[int, Cell, Facts]]:
        """The cells that have facts."""
        return [(n, one.cell, one.facts) for n, one in self.seen.items() if one.facts is not None]

    def examine(self) -> list[Placed]:
        """Return all findings; a step that fails is one, and the others go on."""
        found: list[Placed] = []
        failures: list[Finding] = []
        for step in (
            self._of_cells, self._of_datasets, self._of_order, self._of_failed, self._of_files,
            self._of_queries,
        ):  # fmt: skip
            with observing(failures):
                found += step()
        return found + [Placed(one) for one in failures]

    def _of_cells(self) -> Iterator[Placed]:
        """Yield what rules find in each run, and the readers' warnings that tell more."""
        for place, seen in self.seen.items():
            cell = seen.cell
            found = () if seen.facts is None else seen.facts.run.findings
            own = [_of_column(cell, one) for one in found]
            known = {rule for one in own for rule in (one.rule, *FOLLOWS.get(one.rule, ()))}
            yield from (Placed(one, cell.dataset_key, place) for one in own)
            read = [one for one in seen.findings if one.rule not in known]
            yield from (Placed(one, cell.dataset_key, place, by_reader=True) for one in read)

    def _of_datasets(self) -> Iterator[Placed]:
        for path, one in self.datasets.items():
            for found in one.facts.findings:
                found = replace(found, place=found.place.within(path))
                yield Placed(found, one.cell.dataset_key)

    def _of_order(self) -> Iterator[Placed]:
        """Yield what predictions are that do not fit their own rows."""
        for place, cell, facts in self.facts:
            if facts.run.unrelated is not None:
                found = self._swapped(cell, facts)
                if found is None:
                    better = self._better(place, cell, facts)
                    wary = self.wary or cell.dataset_entry.path in self._without_fit
                    found = unrelated(facts.run.unrelated, facts.run.fit, better, wary)
                if found is not None:
                    yield Placed(_of_column(cell, found), cell.dataset_key, place)

    @cached_property
    def _without_fit(self) -> set[str]:
        """The datasets whose grades no run fits, but for random baselines."""
        fitting: dict[str, bool] = {}
        for _, cell, facts in self.facts:
            if not is_random(cell.run):
                path, run = cell.dataset_entry.path, facts.run
                fits = run.unrelated is None or not is_chance(run.fit)
                fitting[path] = fitting.get(path, False) or fits
        return {path for path, fits in fitting.items() if not fits}

    def _better(self, place: int, cell: Cell, own: Facts) -> tuple[str, Fit] | None:
        """Return the best fit of this model on other folds, and of other models on these rows."""
        if is_random(cell.run):  # meant to fit nothing
            return None
        model, fit = self._model(cell), own.run.fit
        # on few rows, a weak model or setting looks like shuffled rows
        like_chance = fit.n >= ENOUGH and fit.z < CHANCE
        related = [
            (f"{other.run} on {other.dataset}", facts.run.fit)
            for at, other, facts in self.facts
            if (like_chance and other.dataset_entry.path == cell.dataset_entry.path)
            or (model is not None and self._model(other) == model)
            if at != place
        ]
        return max(related, key=lambda one: one[1].z, default=None)

    def _model(self, cell: Cell) -> Hashable:
        part = part_of(cell, self.pooled)
        return None if part is None else (part.whole, cell.run_key, *cell.of_run.items())

    def _swapped(self, cell: Cell, facts: Facts) -> Finding | None:
        """Return that predictions fit another dataset of as many rows."""
        others = self._as_many(facts.judgements.rows, cell.dataset_entry.path)
        scores = scores_of(cell.run_entry.path) if others else None
        if scores is None:
            return None
        return swapped_fold(place_of_row(cell.run_entry, 0), facts.run.fit, scores, others)

    def _as_many(self, n_rows: int, path: str) -> dict[str, GradedRows]:
        """Return the rows of other datasets that have as many, by their names and files."""
        found = {}
        for other, one in self.datasets.items():
            if other != path and one.facts.rows == n_rows:
                name = one.cell.dataset
                rows = self._rows_of(one.cell)
                if rows is not None:
                    found[other if other == name else f"{name} ({short(other)})"] = rows
        return found

    def _rows_of(self, cell: Cell) -> GradedRows | None:
        path = cell.dataset_entry.path
        if path not in self._rows:
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
                    if found.place.file == cell.dataset_entry.path:  # which only this run needs
                        what = f"{short(found.place)}: {found.what}"
                        found = replace(found, place=Place(cell.run_entry.path), what=what)
                    yield Placed(found, cell.dataset_key, place)

    def _cause(self, cell: Cell, rules: Sequence[str]) -> Finding | None:
        path, run = cell.dataset_entry.path, cell.run_entry
        if rules == ["no-common-query"]:
            qids = {path: one.qids for path, one in self.datasets.items()}
            return explain_no_common_query(cell, qrels_of(cell), qids)
        scores = scores_of(run.path) if rules == ["row-count"] else None
        if scores is None or (rows := self._rows_of(cell)) is None:
            return None
        return wrong_count(run, cell.dataset, rows, scores, self._as_many(scores.size, path))

    def _of_files(self) -> Iterator[Placed]:
        """Yield files of the same bytes or the same ranking, and files with several names."""
        every = {place: one.cell for place, one in self.seen.items()}
        every |= {place: cell for place, (cell, _) in self.failed.items()}
        for found in _named_twice(every[place] for place in sorted(every)):
            yield Placed(found)
        rows = {path: one.facts.rows for path, one in self.datasets.items()}
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
        for same in grouped_by(paths, self.digests.__getitem__).values():
            n, data = len(same) - 1, [self.datasets[one] for one in same if one in self.datasets]
            pairs = combinations(data, 2)
            if n and (n >= len(data) or any(are_apart(*pair, self.pooled) for pair in pairs)):
                what = f"{n:,} other {'file has' if n == 1 else 'files have'} the same bytes"
                yield Placed(finding("same-file-twice", same[0], what, n, same[1:]))
        for first, *others in map(dict.values, rankings.values()):
            if n := len(others):
                what = f"{n:,} other {'run has' if n == 1 else 'runs have'} the same rankings"
                yield Placed(finding("same-file-twice", first, what, n, others))

    def _of_queries(self) -> Iterator[Placed]:
        """Yield the queries that datasets have in common."""
        datasets = [*self.datasets.values()]
        yield from map(Placed, of_folds(datasets, self.pooled))
        cells = [one.cell for one in self.seen.values()]
        if self.select is not None:
            yield from map(Placed, of_validation(cells, self.datasets, self.select))
        yield from map(Placed, of_features(datasets, self.pooled))


def _named_twice(cells: Iterable[Cell]) -> Iterator[Finding]:
    """Yield each file that is several runs on one dataset and read in one way, with their names."""
    same: dict[tuple[str, str, str], dict[str, None]] = {}
    for cell in cells:
        options = cell.run_entry.options().items()
        read_by = repr(sorted((name, one) for name, one in options if name != "format"))
        own = (f" {name}={value}" for name, value in cell.of_run.items() if name in cell.columns)
        key = cell.dataset, cell.run_entry.path, read_by
        same.setdefault(key, {})[cell.run + "".join(own)] = None
    for path, names in {(path, tuple(names)): None for (_, path, _), names in same.items()}:
        if len(names) > 1:
            what = f"{len(names):,} run names for this one file"
            yield finding("same-file-twice", path, what, len(names), names)


def accepted_rules(config: Config, policy: Policy) -> tuple[str, ...]:
    """Return the rules whose findings a config accepts: by name, or by a choice that it makes."""
    chosen = {
        "empty-queries": policy.empty_queries != "zero" or config.convention is not None,
        "missing-queries": policy.missing_queries == "skip",
        "score-ties": config.is_given("policy", "ties"),
    }
    return (*config.guard.accept, *(rule for rule, is_chosen in chosen.items() if is_chosen))


@dataclass(frozen=True, eq=False)
class Guarded:
    """What the guard found in a run."""

    findings: list[Finding]
    """Errors first. Notes of one rule and one entry of the config's datasets are one."""
    marks: dict[int, tuple[str, ...]]
    """The rules of the warnings about each cell, by position."""
    failed: dict[int, HarnessError]
    """Cells that a finding makes fail, by position."""
    shown: tuple[Finding, ...]
    """Those to warn of; findings of one rule and one entry of the config's datasets are one."""


def guard(
    seen: dict[int, Visit], digests: dict[str, str],
    failed: dict[int, tuple[Cell, HarnessError]], *, accept: Sequence[str] = (),
    pooled: Sequence[str] = (), only_warns: bool = False,
) -> Guarded:  # fmt: skip
    """Return what the guard finds in the cells of a run; `digests` are by path.

    Findings of rules in `accept` become notes, and `pooled` is for `Sweep`. It raises InputError if
    a dataset, or the sweep as a whole, has an error that is not accepted; its `findings` are
    those to warn of. With `only_warns` errors are warnings, if there is no config that could
    accept them.
    """
    by_path: dict[str, Dataset] = {}
    for one in seen.values():
        path, facts = one.cell.dataset_entry.path, one.facts
        if facts is not None and path not in by_path:
            of, hashes = facts.judgements, np.array(facts.judgements.marks, np.uint64)
            by_path[path] = Dataset(one.cell, of, one.qids, hashes, digests.get(path, path))
    sweep = Sweep(seen, by_path, failed, digests, pooled=pooled)
    found = sweep.examine()
    kept = {*without_effects([one.finding for one in found], accept)}
    found = [one.accepted(accept, only_warns) for one in found if one.finding in kept]
    # a warning of a reader never makes a cell fail
    errors = [one for one in found if one.finding.severity == "error" and not one.by_reader]
    shown = tuple(
        each
        for each in grouped(one for one in found if one not in errors)
        if each.severity != "note" and not RULES[each.rule].in_table
    )
    if wrong := [one.finding for one in errors if one.cell is None]:
        error = InputError([one.problem for one in dict.fromkeys(wrong)])
        error.findings = shown
        raise error
    stopped: dict[int, HarnessError] = {
        at: GuardError([one.finding.problem for one in some])
        for at, some in grouped_by(errors, lambda one: one.cell).items()
        if at is not None and (at in seen or at in sweep.causes)
    }
    notes = [one for one in found if one.finding.severity == "note"]
    others = [one for one in found if one.finding.severity != "note"]
    findings = in_order([*(one.finding for one in others), *grouped(notes)])
    return Guarded(findings, _marks(found, seen), stopped, shown)


def _marks(found: Iterable[Placed], seen: Mapping[int, Visit]) -> dict[int, tuple[str, ...]]:
    """Return the rules of the warnings that a leaderboard marks, by cell."""
    rules: dict[int, dict[str, None]] = {}
    by_path = grouped_by(seen, lambda at: seen[at].cell.run_entry.path)
    for placed in found:
        one = placed.finding
        if one.severity == "warning" and not RULES[one.rule].in_table:
            files = {one.place.file, *(one.examples if one.rule == "same-file-twice" else ())}
            at_cell = None if placed.by_reader else placed.cell  # a reader's may be of the qrels
            of_files = (at for file in files for at in by_path.get(file, ()))
            for at in of_files if at_cell is None else [at_cell]:
                rules.setdefault(at, {})[one.rule] = None
    return {at: (*some,) for at, some in rules.items()}


def _of_column(cell: Cell, one: Finding) -> Finding:
    """Return a finding about a run, with its file and the column of scores that a config names."""
    one = replace(one, place=one.place.within(cell.run_entry.path))
    column = (cell.run_entry.options().get("columns") or {}).get("score")
    return one if column is None else replace(one, what=f"column '{column}': {one.what}")


def grouped(findings: Iterable[Placed]) -> list[Finding]:
    """Return findings, those of one rule and one dataset's entry as one with the other places."""

    def alike(one: Placed) -> object:
        found = one.finding
        return found if found.rule in APART else (one.key, found.rule, found.severity)

    merged = []
    for some in grouped_by(findings, alike).values():
        first, *others = dict.fromkeys(one.finding for one in some)
        places = tuple(one.place for one in others[:SHOWN])
        merged.append(replace(first, n_others=len(others), others=places))
    return merged


def findings_of_rows(visits: Iterable[Visit]) -> Iterator[Finding]:
    """Yield runs whose scores seem to belong to other rows of their dataset."""
    sweep = Sweep(dict(enumerate(visits)))
    for one in without_effects([one.finding for one in sweep.examine()]):
        if one.rule in {*RULES_OF_ROWS, "guard-failed"} and one.severity != "note":
            yield one
