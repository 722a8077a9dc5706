"""All cells of a config: looked up in the cache, evaluated if they are not there, and kept.

Those that could not be evaluated are reported together if they have one cause.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import chain, groupby

from ..config.cells import Cell
from ..config.model import Config
from ..core.entries import Entry, Failed, grouped_by
from ..core.leaderboard import Leaderboard
from ..errors import (
    AlignmentError,
    HarnessError,
    InputError,
    Problem,
    ShortageError,
    and_more,
)
from ..guard.datasets import (
    Grouping,
    attach_groups,
    attach_weights,
    load_groupings,
    load_weights,
)
from ..guard.findings import accept_findings, findings_of_error
from ..guard.leaks import findings_of_leaks, training_files
from ..guard.sweep import accepted_rules, guard
from ..guard.visits import Visit
from ..progress import is_shown, progress
from ..readers.files import is_file
from ..readers.query_weights import QueryWeights
from . import manifest as manifests
from .cache import Cache, Input, Keys, Notes, Record
from .results import Results
from .workers import (
    WORKER_TIMEOUT,
    ChangedInputError,
    Cluster,
    Job,
    JobResult,
    Processes,
    changed_input,
    each,
    evaluated_jobs,
    last_dataset,
)

PIECES = 4
"""Jobs for each process at least, so that all end together."""
MOST = 8
"""Cells of a job at most: those that are lost if its worker dies."""
MOST_SHOWN = 4
"""Workers that the progress bar shows, those with most cells."""


def executor(
    jobs: int = 1, scheduler: str | None = None, worker_timeout: int | None = None
) -> contextlib.AbstractContextManager[Executor | None]:
    """Return the executor for a number of processes or a Dask scheduler; None is this process.

    HarnessError for an option that it cannot use.
    """
    if scheduler is not None:
        if jobs != 1:
            message = "expected --scheduler or --jobs, got both"
            fix = "leave out --jobs: the cluster's workers evaluate"
            raise HarnessError(Problem("--jobs", message, fix=fix))
        return Cluster(scheduler, WORKER_TIMEOUT if worker_timeout is None else worker_timeout)
    if worker_timeout is not None:
        message, fix = "expected --scheduler with it, got none", "leave out --worker-timeout"
        raise HarnessError(Problem("--worker-timeout", message, fix=fix))
    return contextlib.nullcontext() if jobs == 1 else Processes(jobs)


def evaluate_all(
    config: Config, cells: Sequence[Cell], cache: Cache, pool: Executor | None = None
) -> Results:
    """Evaluate the cells of a config, in this process or by a pool; the results are the same.

    They have the board of all cells, the findings, and the parts of the manifest about cells and
    inputs. Records are taken from the cache and kept in it as soon as they are computed.
    VerificationError if the cross-check finds a difference; InputError if the guard finds an error
    that is not one run's alone. Errors have the findings to warn of.
    """
    has_groups = any(cell.dataset_entry.groups for cell in cells)
    groups = load_groupings(cells) if has_groups else {}
    has_weights = any(cell.dataset_entry.weights for cell in cells)
    weights = load_weights(cells) if has_weights else {}
    run = _Run(config, tuple(cells), cache)
    # without records no file is hashed
    pending = [n for n in range(len(cells)) if cache.is_empty or not run.look_up(n)]
    run.cached = len(cells) - len(pending)
    jobs = _jobs(run, pending, getattr(pool, "workers", 1))
    outcomes: Iterator[JobResult] = chain.from_iterable(map(each, jobs))
    if pool is not None:
        outcomes = evaluated_jobs(pool, jobs)
    cluster = pool if isinstance(pool, Cluster) else None
    if cluster and jobs and cluster.dashboard:
        print(f"dashboard: {cluster.dashboard}", file=sys.stderr)
    with progress(len(cells), "cell", run.cached) as begin:
        names = (str(cells[n].key) for n in (pending if is_shown() else ()))
        begin(next(names, ""))
        for place, outcome in outcomes:
            run.take(place, outcome)
            state = [f"{len(run.failed)} failed"] if run.failed else []
            workers = cluster.cells.most_common(MOST_SHOWN) if cluster else []
            state += [f"{worker} {n:,}" for worker, n in workers]
            begin(", ".join(filter(None, [next(names, ""), *state])))
    if cluster and jobs:
        by_worker = (f"{name} {n:,}" for name, n in sorted(cluster.cells.items()))
        print(f"cells by worker: {', '.join(by_worker)}", file=sys.stderr)
    last_dataset.clear()
    cache.save()
    return run.results(groups, weights)


class _Run:
    """The state of one call: records and failures of its cells by place, hashes of files read."""

    def __init__(self, config: Config, cells: tuple[Cell, ...], cache: Cache) -> None:
        self.config, self.cells, self.cache = config, cells, cache
        self.metrics, self.policy = config.parsed_metrics(), config.policy.for_runs()
        self.keys = Keys(config, cells)
        self.records: dict[int, Record] = {}
        self.failed: dict[int, HarnessError] = {}
        self.inputs: dict[str, Input] = {}
        self.cached = 0

    def look_up(self, place: int) -> bool:
        """Whether a cell is in the cache; if so, its record stays in memory."""
        try:
            inputs = {
                path: self.inputs.get(path) or self.cache.hashed(path)
                for path in self.keys.paths(self.cells[place])
            }
        except InputError:
            return False
        record = self.cache.get(self.keys.key(self.cells[place], inputs))
        if record is None:
            return False
        self.records[place] = record
        self.inputs |= inputs
        return True

    def take(self, place: int, outcome: Record | HarnessError) -> None:
        """Keep a cell's record in memory and in the cache, or its error."""
        if isinstance(outcome, HarnessError):
            self.failed[place] = outcome
            return
        for path, read in outcome.inputs.items():
            if self.inputs.setdefault(path, read).digest != read.digest:
                self.failed[place] = changed_input(path)
                return
        self.cache.remember(outcome.inputs)
        self.records[place] = outcome
        self.cache.put(self.keys.key(self.cells[place], self.inputs), outcome)

    def results(
        self, groups: Mapping[str, Grouping], weights: Mapping[str, QueryWeights]
    ) -> Results:
        """Return all results in the order of the config, after the checks of the guard.

        `groups` and `weights` name the groups and weights of the queries of datasets.
        """
        config, cells = self.config, self.cells
        plugins = [str(config.base / name) for name in config.plugins if name.endswith(".py")]
        of_failed = [path for place in self.failed for path in self.keys.paths(cells[place])]
        of_queries = [(one.dataset_entry.groups, one.dataset_entry.weights) for one in cells]
        tables = dict.fromkeys(one.path for pair in of_queries for one in pair if one and one.path)
        has_leaks = any(cell.dataset_entry.leaks for cell in cells)
        train = training_files(cells) if has_leaks else []
        for path in (*of_failed, *plugins, *tables, *dict(train)):
            if path not in self.inputs and is_file(path):
                with contextlib.suppress(InputError):
                    self.inputs[path] = self.cache.hashed(path)
        visits = {}
        for place, record in sorted(self.records.items()):
            cell, notes_of = cells[place], record.notes
            findings_of = record.findings(cell) if notes_of.findings else ()
            visits[place] = Visit(cell, record.qids, None, notes_of.facts, findings_of)
        failed = {place: (cells[place], error) for place, error in self.failed.items()}
        accept = accepted_rules(config, self.policy)
        guarded = guard(
            visits,
            {path: read.digest for path, read in self.inputs.items()},
            failed,
            accept=accept,
            pooled=config.pooled,
            known=findings_of_leaks(train) if train else (),
        )
        causes = {place: _by_rule(error) for place, error in self.failed.items()} | guarded.failed
        self.failed |= guarded.failed
        findings, shown = [*guarded.findings], [*guarded.shown]
        entries, notes = list[Entry](), list[Notes]()
        for place in sorted(self.records.keys() - self.failed):
            record = self.records.pop(place)  # the entry has the values now
            entry = record.entry(self.metrics, self.policy, cells[place])
            entries.append(replace(entry, warned=guarded.marks.get(place, ())))
            notes.append(record.notes)
        if groups:
            entries, of_groups = attach_groups(entries, groups)
            of_groups = accept_findings(of_groups, config.guard.accept)
            findings += of_groups
            shown += [one for one in of_groups if one.severity == "warning"]
        if weights:
            entries, of_weights = attach_weights(entries, weights)
            findings += of_weights
        of_lost = [path for place in self.failed for path in self.keys.paths(cells[place])]
        paths = manifests.Paths({*self.inputs, *of_lost}, config.base)
        rows = tuple(
            _failed(cells[place], paths.placed(str(error)), causes[place])
            for place, error in sorted(self.failed.items())
        )
        board = Leaderboard(tuple(entries), rows, config.summary)
        inputs = manifests.input_records(self.inputs, visits.values(), paths)
        manifest = manifests.made_manifest(config, board, notes, inputs)
        results = Results(board, config=config, folder=config.output_folder, manifest=manifest)
        placed = tuple(map(paths.placed_finding, findings))
        return replace(results, cached=self.cached, findings=placed, shown=tuple(shown))


def _failed(cell: Cell, text: str, cause: HarnessError) -> Failed:
    """Return the row of a cell that could not be evaluated."""
    pattern = cell.dataset_key if cell.of_dataset else ""
    problem = cause.problems[0]
    brief = str(Problem(problem.where, problem.what.partition("\n")[0]))
    return Failed(cell.dataset, cell.run, cell.columns, text, pattern, brief, cause)


def _by_rule(error: HarnessError) -> HarnessError:
    """Return a reader's error as ``harness check`` has it: one problem for each rule of a file."""
    of_files = isinstance(error, (InputError, AlignmentError))
    if not of_files or isinstance(error, (ShortageError, ChangedInputError)):
        return error
    problems = [finding.problem for finding in findings_of_error("", error)]
    return type(error)(problems, at_least=error.at_least)


def _jobs(run: _Run, pending: Sequence[int], workers: int) -> list[Job]:
    """Return the work in pieces of one dataset each, in the config's order."""
    size = min(MOST, max(1, len(pending) // (workers * PIECES))) if workers > 1 else len(pending)
    entries = {place: run.cells[place].dataset_entry.model_dump_json() for place in pending}
    compares = any(metric.reference for metric in run.metrics)
    jobs = []
    for _, group in groupby(pending, key=entries.__getitem__):
        places = [*group]
        needed = places
        if compares:  # with the run of another cell
            file = run.cells[places[0]].dataset_entry.path
            needed = [n for n, cell in enumerate(run.cells) if cell.dataset_entry.path == file]
        cells = {place: run.cells[place] for place in needed}
        for start in range(0, len(places), size):
            some = places[start : start + size]
            some_cells = cells if compares else {place: cells[place] for place in some}
            jobs.append(Job(run.config, some, some_cells, len(run.cells)))
    return jobs


def as_one(failed: Sequence[Failed]) -> HarnessError:
    """Return the error of several cells: each cause once, with the first cell."""
    merged, total = list[Problem](), 0
    errors = [(one, one.cause) for one in failed if one.cause is not None]
    causes = grouped_by(errors, lambda pair: (type(pair[1]), *pair[1].problems))
    for (first, error), *repeated in causes.values():
        total += error.total
        cells = " ".join([f"{first.run} on {first.dataset}", *and_more(len(repeated))])
        merged += [
            replace(one, what=f"{one.what} ({cells})") if one.where else replace(one, where=cells)
            for one in error.problems
        ]
    at_least = any(error.at_least for _, error in errors)
    return type(errors[0][1])(merged, total=total, at_least=at_least)
