"""What is wrong or odd with the inputs of an experiment, found before any metric is computed."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from tqdm import tqdm

from .. import readers as readers
from ..config import load as configs
from ..config.cells import Cell, missing, name_of
from ..config.load import MOST_PROBLEMS
from ..config.model import DatasetEntry, RunEntry
from ..core.metric import Metric
from ..core.names import parse
from ..core.policy import Policy
from ..core.tables import Qrels
from ..core.views import takes_fractions
from ..errors import (
    ConfigError,
    Finding,
    HarnessError,
    HarnessWarning,
    Problem,
    UnknownNameError,
    legible,
)
from ..readers.build import last_line
from ..readers.source import NAMELESS, STDIN, HashedSource, Source
from . import columns as columns
from . import shared_rows as shared_rows
from .elsewhere import Elsewhere, Held
from .facts import Facts, JudgementFacts, RunFacts
from .guarding import as_meant, guarded_cell, places_in
from .judgements import of_dataset, of_rows
from .lines import BY_ROW, add_lines, format_of, qrels_of, reading_again
from .registry import (
    Kind,
    accepted,
    file_of,
    finding,
    in_order,
    of_warning,
    refused,
    without_effects,
)
from .row_order import Rows, is_odd, rows_of
from .rules import of_run
from .shared_rows import Marked, files_named_twice, part_of
from .sweep import GuardedCell, of_sweep
from .watch import Watch, observing

_SHOWN = 40
"""Characters of a file's name at the bar, at most: the last ones."""


class Progress:
    """A bar over the bytes of some files, on a terminal alone.

    Parameters
    ----------
    paths : iterable of str
        Files, each as often as it is read.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self.bar = tqdm(
            total=sum(map(_size, paths)), unit="B", unit_scale=True, disable=None, leave=False
        )

    @contextlib.contextmanager
    def file(self, path: str) -> Iterator[Callable[[int], None]]:
        """Give what counts the bytes of a file as they pass; at the end all of them are counted."""
        self.bar.set_postfix_str(legible(path[-_SHOWN:]), refresh=True)
        left = _size(path)

        def count(n: int) -> None:
            nonlocal left
            n = min(n, left)  # a file that is read again is not counted again
            left -= n
            self.bar.update(n)

        try:
            yield count
        finally:
            count(left)


def _size(path: str) -> int:
    """Return the size of a file; 0 if it is none, as a pipe or one that is not there."""
    with contextlib.suppress(OSError):
        return os.path.getsize(path)
    return 0


def shown(place: str) -> str:
    """Return a file, or a place in it, for messages: standard input as its reader calls it.

    >>> shown("-"), shown("-:7"), shown("-: row 2"), shown("a-:7")
    ('<stdin>', '<stdin>:7', '<stdin>: row 2', 'a-:7')
    """
    is_stdin = re.fullmatch(f"{STDIN}((:|: row )[0-9]+)?", place)
    return NAMELESS + place[len(STDIN) :] if is_stdin else place


class Reading:
    """Collects what is found while files are read, and goes on.

    Attributes
    ----------
    findings : list of Finding
    refused : set of str
        Rules by which the file that was read last was refused.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.refused: set[str] = set()

    def add(self, *found: Finding) -> None:
        """Add findings."""
        self.findings += (replace(one, place=shown(one.place)) for one in found)

    @contextlib.contextmanager
    def of(self, place: str, kind: Kind = "") -> Iterator[None]:
        """Read the file at `place`: its errors and warnings become findings."""
        self.refused = set()
        place = shown(place)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HarnessWarning)
            try:
                yield
            except HarnessError as error:
                found = [*refused(place, error, kind)]
                self.add(*found)
                self.refused = {one.rule for one in found}
        known = {one.rule for one in self.findings if file_of(one) == place}
        for one in caught:
            if not issubclass(one.category, HarnessWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
                continue
            warning = of_warning(one.message, [place], [place] if kind == "judgements" else [])
            if warning.rule not in known:
                self.add(replace(warning, place=warning.place or place))

    def replace(self, rule: str, better: Finding | None) -> None:
        """Replace the finding of a rule on the same file, if there is a better one."""
        if better is not None:
            better = replace(better, place=shown(better.place))
            self.findings = [
                better if (one.rule, file_of(one)) == (rule, file_of(better)) else one
                for one in self.findings
            ]

    def end(self, source: HashedSource) -> None:
        """Report that the last line of the file that was read last has no end."""
        cut = any(one.rule == "cut-line" and file_of(one) == source.name for one in self.findings)
        if source.unfinished and not self.refused and not cut:
            last = source.unfinished.decode("utf-8", "replace")
            place = f"{source.name}:{last_line(source)}"
            self.add(finding("no-line-end", place, "the last line has no end", 1, [last]))


@dataclass(frozen=True)
class Checked:
    """What was looked at, and what was found.

    Parameters
    ----------
    findings : tuple of Finding
        Errors first.
    cells : tuple of Cell
    rows : int
        Of all runs that could be read.
    alone : int
        Runs that were not held against their dataset, as that could not be read.
    """

    findings: tuple[Finding, ...]
    cells: tuple[Cell, ...]
    rows: int = 0
    alone: int = 0

    def count(self, severity: str) -> int:
        """Return how many findings are of a severity."""
        return sum(one.severity == severity for one in self.findings)


@dataclass(eq=False)
class _Dataset:
    """What is kept of a dataset until all are read."""

    cell: Cell
    rows: Rows | None
    facts: JudgementFacts
    digest: str
    qids: Any

    def held(self) -> Held:
        """Return it as predictions of other datasets are compared with it."""
        n_rows = -1 if self.rows is None else self.rows.grades.size
        return Held(self.cell.dataset, self.cell.dataset_entry.path, n_rows, lambda: self.rows)


class _Check:
    """Reads the files of cells one after the other, and keeps what is to be compared.

    Parameters
    ----------
    policy : Policy
    fractions : bool
        Whether grades may be fractions.
    pooled : sequence of str
        As :func:`check_cells` takes them.
    """

    def __init__(self, policy: Policy, fractions: bool, pooled: Sequence[str]) -> None:
        self.policy, self.fractions, self.pooled = policy, fractions, pooled
        self.reading = Reading()
        self.datasets: dict[str, _Dataset] = {}
        self.rows: list[shared_rows.Rows] = []
        self.odd: list[tuple[Cell, RunFacts]] = []
        self.miscounted: list[Cell] = []
        self.strangers: list[Cell] = []
        self.failed: dict[str, str] = {}
        self.guarded: list[GuardedCell] = []
        self.n_rows = self.alone = 0

    def read_dataset(self, cell: Cell, count: Callable[[int], None]) -> Qrels | None:
        """Read a dataset, and return it; None if it cannot be read."""
        entry, into, qrels, source = cell.dataset_entry, self.reading, None, None
        options = {"name": cell.dataset, **entry.options()}
        with into.of(entry.path, "judgements"):
            source = _source(entry.path, count)
            qrels = readers.read_qrels(source, fractions=self.fractions, **options)
        if "grade-values" in into.refused and not self.fractions:
            with reading_again():  # as fractions, which no metric takes, and the rules can look at
                qrels = readers.read_qrels(entry.path, fractions=True, **options)
        if qrels is None or source is None:
            return None
        into.end(source)
        facts = JudgementFacts.of(qrels)
        add_lines(facts.first, source, entry, tuple(facts.first))
        digest = source.sha256()
        self.datasets[entry.path] = _Dataset(cell, rows_of(qrels), facts, digest, qrels.qids)
        into.add(*of_dataset(facts, shown(entry.path)))
        if source.row_marks is not None:
            part = part_of(cell, self.pooled)
            about = Marked(entry.path, cell.dataset, digest, part, source.row_marks)
            rows = shared_rows.Rows.of(about, qrels)
            self.rows += [] if rows is None else [rows]
        return qrels

    def read_run(self, cell: Cell, qrels: Qrels | None, count: Callable[[int], None]) -> None:
        """Read a run, and look at how it fits its judgements."""
        entry, into = cell.run_entry, self.reading
        form = format_of(entry.path, entry.format, "run")
        follows = form in BY_ROW
        self.alone += qrels is None
        if qrels is None and follows:
            with into.of(entry.path):
                Source(entry.path)
            return
        source = None
        with into.of(entry.path, "rows" if follows else ""):
            source = _source(entry.path, count)
            options: dict[str, Any] = {"name": cell.run, **entry.options()}
            if qrels is None:
                self.n_rows += sum(part.n_rows for part in readers.stream_run(source, **options))
            else:
                watch = Watch(qrels, self.policy, source.name)
                parts = readers.align_run(qrels, source, self.policy, watch=watch.run, **options)
                for aligned in parts:
                    watch.aligned(aligned)
                run = watch.facts()
                into.add(*watch.failures)
                if run is not None:
                    run = columns.with_ranks(run, source) if form == "trec" else run
                    self._add_facts(cell, qrels, run, source)
        if source is None:
            return
        into.end(source)
        if form == "trec" and into.refused == {"no-common-query"}:
            self.strangers.append(cell)
        elif "row-count" in into.refused:
            self.failed[entry.path] = source.sha256()
            self.miscounted += [] if "not-finite" in into.refused else [cell]

    def _add_facts(self, cell: Cell, qrels: Qrels, run: RunFacts, source: HashedSource) -> None:
        """Add what the rules say of a run, and keep what is to be compared with others."""
        entry, into, dataset = cell.run_entry, self.reading, self.datasets[cell.dataset_entry.path]
        self.n_rows += run.queries.rows
        facts = Facts(dataset.facts, run)
        rules = {"upside-down", "unrelated", *(one.rule for one in of_run(facts, entry.path))}
        add_lines(run.first, source, entry, rules)
        if run.follows:
            into.add(*of_rows(dataset.facts, cell.dataset_entry.path))
        into.add(*of_run(facts, entry.path, cell.dataset))
        self.odd += [(cell, run)] if is_odd(run) else []
        digests = {cell.dataset_entry.path: dataset.digest, entry.path: source.sha256()}
        self.guarded.append(guarded_cell(cell, facts, qrels.qids, digests, self.pooled))

    def compare_rows(self) -> None:
        """Compare predictions that do not fit their rows with the other datasets."""
        elsewhere = Elsewhere(one.held() for one in self.datasets.values())
        self.reading.add(*(found for _, found in elsewhere.odd(self.odd, self.guarded)))
        for cell in self.miscounted:
            self.reading.replace("row-count", elsewhere.count(cell))

    def compare_queries(self) -> None:
        """Look for the queries that runs answer which share none with their judgements."""
        qids = {path: one.qids for path, one in self.datasets.items()}
        for cell in self.strangers:
            found = columns.stranger(cell, qrels_of(cell), qids)
            if found is not None and found.rule == "swapped-columns":
                self.reading.add(found)
            else:
                self.reading.replace("no-common-query", found)

    def compare_datasets(self) -> None:
        """Look for rows that several datasets hold."""
        for later, earlier in shared_rows.candidates(self.rows):
            self.reading.add(*shared_rows.findings(self.rows[later], self.rows[earlier]))


def _source(path: str, count: Callable[[int], None]) -> HashedSource:
    """Return a file that can be read again, whose bytes are counted."""
    source = HashedSource(path)
    source.tell, source.again = count, True
    return source


def check_cells(
    cells: Sequence[Cell], policy: Policy, *, fractions: bool = False,
    known: Sequence[Finding] = (), accept: Sequence[str] = (), pooled: Sequence[str] = (),
) -> Checked:  # fmt: skip
    """Read every file of these cells, and return all that is found.

    Parameters
    ----------
    cells : sequence of Cell
        Those of one dataset side by side.
    policy : Policy
        Under which runs are aligned.
    fractions : bool
        Whether grades may be fractions.
    known : sequence of Finding
        What was found before.
    accept : sequence of str
        Rules whose findings are as they should be: they become notes.
    pooled : sequence of str
        Placeholders whose values are parts of one dataset, besides those called so.
    """
    check, failures = _Check(policy, fractions, pooled), list[Finding]()
    groups = groupby(cells, key=lambda cell: (cell.dataset, cell.dataset_entry))
    datasets = [list(some) for _, some in groups]
    paths = [some[0].dataset_entry.path for some in datasets]
    progress = Progress([*paths, *(cell.run_entry.path for cell in cells)])
    with contextlib.closing(progress.bar):
        for some in datasets:
            path, qrels = some[0].dataset_entry.path, None
            with progress.file(path) as count, observing(failures, path):
                qrels = check.read_dataset(some[0], count)
            for cell in some:
                path = cell.run_entry.path
                with progress.file(path) as count, observing(failures, path):
                    check.read_run(cell, qrels, count)
        for compare in (check.compare_rows, check.compare_queries, check.compare_datasets):
            with observing(failures):
                compare()
        with observing(failures):
            check.reading.add(*files_named_twice(cells))
        with observing(failures):
            check.reading.add(*of_sweep(check.guarded, check.failed, places_in(cells)))
    check.reading.add(*failures)
    causes = without_effects([*known, *check.reading.findings], accept)
    found = tuple(in_order(accepted(causes, accept)))
    return Checked(found, tuple(cells), check.n_rows, check.alone)


_LINE = re.compile(r"line (\d+)(?:, column (\d+))?")

__all__ = ["Checked", "check_config", "check_files", "refused"]


def check_config(path: str | Path, overrides: Sequence[str] = ()) -> Checked:
    """Check a config and every file that it names.

    Parameters
    ----------
    path : path
        A YAML file.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the file's.

    Raises
    ------
    ConfigError
        Where it cannot be read as YAML. All else that is wrong is found.
    """
    cells, parts, problems = configs.examine(path, overrides)
    lacking = missing(cells)
    stopped = [one for one in problems if lacking and one.where.startswith("$.complete")]
    known = [_of_config(str(path), one) for one in problems if one not in stopped]
    if lacking:
        what = f"{len(lacking):,} of {len(lacking) + len(cells):,} cells of the grids are missing"
        names = [name_of(gap) for gap in lacking]
        one = finding("gaps", str(path), what, len(lacking), names)
        for problem in stopped:  # 'complete: true' is wanted, and not to be advised
            where = f"{path}: {problem.where}"
            one = finding("config", where, what, len(lacking), names, "error", fix=problem.fix)
        known.append(one)
    policy = parts.to_policy()
    defaults = parts.policy.metric_defaults(parts.convention)
    fractions = takes_fractions(_metrics(parts.metrics, defaults), policy)
    ties = parts.is_given("policy", "ties")
    accept = as_meant(parts.guard.accept, policy, parts.convention, ties)
    return check_cells(
        cells, policy, fractions=fractions, known=known, accept=accept, pooled=parts.summary.pool
    )


def check_files(
    qrels: str, runs: Sequence[str], *, of_qrels: Mapping[str, Any], of_runs: Mapping[str, Any]
) -> Checked:
    """Check judgements and runs, or a learning-to-rank file and its predictions.

    Parameters
    ----------
    qrels : str
        A file.
    runs : sequence of str
        Files; one that is named twice is checked once.
    of_qrels, of_runs : mapping
        How they are read, as in a config: ``{"format": "trec"}``.
    """
    dataset = DatasetEntry(path=qrels, **of_qrels)
    cells = [
        Cell(qrels, run, dataset, RunEntry(path=run, **of_runs), qrels, run, {}, {})
        for run in dict.fromkeys(runs)
    ]
    found = check_cells(cells, Policy(), fractions=True)
    # of one file that is asked about; in a sweep, one of many models may be a random baseline
    wary = [replace(one, severity="warning") if one.rule == "unrelated" else one
            for one in found.findings]  # fmt: skip
    return replace(found, findings=tuple(in_order(wary)))


def refused_config(path: str, error: HarnessError) -> Checked:
    """Return what was found where nothing could be looked at: a config that is none."""
    if isinstance(error, ConfigError):  # it may be that of a config which this one extends
        path = error.where
    return Checked(tuple(_of_config(path, one) for one in error.problems), ())


def _of_config(path: str, problem: Problem) -> Finding:
    place = path if problem.where in ("", path) else f"{path}: {problem.where}"
    what = problem.what
    if at := _LINE.fullmatch(problem.where):  # of YAML that is none, which has no keys
        place = f"{path}:{at[1]}"
        what = f"column {at[2]}: {what}" if at[2] else what
    if problem.rule == "missing-file" and not problem.where:  # of the config itself
        return finding(problem.rule, path, what, effect="nothing is checked", fix=problem.fix)
    examples = [problem.found] if problem.found else []
    return finding("config", place, what, 1, examples, fix=problem.fix)


def _metrics(names: Iterable[str], defaults: Mapping[str, Any]) -> list[Metric]:
    """Return the metrics that exist, but for what comes after a thousand that do not."""
    found: list[Metric] = []
    n_unknown = 0
    for name in names:
        try:
            found += parse(name, defaults)
        except UnknownNameError:
            n_unknown += 1
            if n_unknown == MOST_PROBLEMS:
                break
    return found
