"""``harness check``: read every file of a config to its end, and report all findings."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from .. import readers
from ..config import load as configs
from ..config.cells import Cell, cell_of_files, missing_cells
from ..config.model import RunEntry
from ..core.arguments import (
    PATH,
    ArgumentKind,
    PathLike,
    check_arguments,
    check_choice,
    names_in,
)
from ..core.leaderboard import Select
from ..core.metric import Metric
from ..core.names import parse
from ..core.policy import Policy, RunDuplicates, ScoreOrder
from ..core.policy_views import check_grades
from ..core.qrels_and_runs import Qrels
from ..core.rules import finding
from ..errors import (
    ConfigError,
    Finding,
    HarnessError,
    InputError,
    Place,
    Problem,
    UnknownNameError,
)
from ..guard.check_report import Checked
from ..guard.datasets import (
    Dataset,
    load_groupings,
    load_weights,
    match_groups,
    match_weights,
    query_hashes,
)
from ..guard.documents import explain_no_common_query
from ..guard.findings import (
    BY_ROW,
    accept_findings,
    findings_of_error,
    rules_of_error,
    sort_findings,
    source_of,
    without_effects,
)
from ..guard.leaks import findings_of_leaks, has_features, training_files
from ..guard.submissions import Terms, findings_across_runs, findings_of_submissions, read_topics
from ..guard.sweep import Sweep, accepted_rules
from ..guard.watch import judgement_facts, observing
from ..input_files import url_of
from ..progress import progress
from ..readers.files import is_file
from ..readers.read import options_of_files
from ..readers.rows import last_line
from ..readers.source import Source, shown_name
from .evaluate import short_names
from .visit import LoadedDataset, visit

T = TypeVar("T")
_PATHS = (str, os.PathLike)
_FIRST = PATH._replace(fix="give the path of a file: df.to_csv(path) writes a data frame to one")
_FILES = ArgumentKind(
    "a path or a list of paths (harness.save_predictions writes arrays to one)",
    lambda given: (
        isinstance(given, _PATHS)
        or (isinstance(given, (list, tuple)) and all(isinstance(one, _PATHS) for one in given))
    ),
)


Read = tuple[T | None, Source | None, HarnessError | None]
"""Data that a reader returned, the file with its findings, and the error that stopped it."""


def _hashed(path: str) -> Source:
    return Source(path, hashed=True)


def _before_cut(path: str) -> Source:
    source = Source(path)
    source.ends_before_cut = True
    return source


def _read(path: str, reader: Callable[[Source], T]) -> Read[T]:
    """Read a file; its findings tell of a last line without an end, too."""
    given, source, ended = None, None, None
    try:
        source = _hashed(path)
        source.may_reread = True
        given = reader(source)
    except HarnessError as error:
        ended = error
    if source is not None:
        source.findings += _without_end(source, ended)
    return given, source, ended


def _without_end(source: Source, ended: HarnessError | None) -> Iterator[Finding]:
    """Yield a note if the last line of a file has no end, unless an error says that it is cut."""
    is_cut = any(finding.rule == "cut-line" for finding in source.findings)
    if source.report.unfinished and not (ended or is_cut):
        line = source.report.unfinished.decode("utf-8", "replace")
        place = Place(source.name, last_line(source))
        yield finding("no-line-end", place, "the last line has no end", 1, [line])


class _Check:
    """Reads the files of cells one after the other, and stores the facts for the sweep."""

    def __init__(
        self, sweep: Sweep, policy: Policy, metrics: Sequence[Metric], terms: Terms | None
    ) -> None:
        self.sweep, self.policy, self.metrics, self.terms = sweep, policy, metrics, terms
        self.findings: list[Finding] = []
        self.n_rows = self.alone = 0
        self.place: Callable[[int], Place] | None = None

    def read_dataset(self, cell: Cell) -> Qrels | None:
        """Read a dataset, and return it; None if it cannot be read."""
        entry = cell.dataset_entry

        def reader(source: Source) -> Qrels:
            if self.terms is not None and self.terms.topics:
                return read_topics(source)
            return cell.read_qrels(source)

        qrels, file, error = _read(entry.path, reader)
        self.findings += () if file is None else file.findings
        if error is not None:
            self.findings += findings_of_error(entry.path, error)
        if qrels is None or file is None:
            return None
        self._check_grades(qrels, file, entry.path)
        facts = judgement_facts(qrels, file, self.findings, whole=True)
        digest, hashes = file.sha256(), query_hashes(qrels, file.row_marks)
        self.sweep.digests[entry.path] = digest
        if facts is not None:
            self.sweep.datasets[entry.path] = Dataset(cell, facts, qrels.qids, hashes, digest)
        return qrels

    def _check_grades(self, qrels: Qrels, file: Source, path: str) -> None:
        """Add a finding for the grades that an evaluation would refuse."""
        if self.terms is not None:  # a submission is not evaluated
            return
        self.place = partial(readers.place_of_row, file)
        try:
            check_grades(qrels, self.metrics, self.policy, place=self.place)
        except InputError as error:
            self.findings += findings_of_error(path, error)

    def read_run(self, place: int, cell: Cell, qrels: Qrels | None) -> None:
        """Read a run, and look at how it fits its qrels, if these could be read."""
        if qrels is None:
            if not cell.is_fused:
                self._read_alone(cell.run_entry)
            return
        dataset_facts = self.sweep.datasets.get(cell.dataset_entry.path)
        facts = None if dataset_facts is None else dataset_facts.facts
        dataset = LoadedDataset(qrels, facts, place=self.place)
        visit_with = partial(visit, terms=self.terms, evaluates=False, whole=True)
        visited = visit_with(cell, dataset, self.metrics, self.policy, opens=_hashed)
        is_cut = visited.source is not None and visited.source.report.unfinished
        if visited.error and is_cut and rules_of_error(visited.error) == ["truncated"]:
            self.findings += findings_of_error(cell.run_entry.path, visited.error)
            visited = visit_with(cell, dataset, self.metrics, self.policy, opens=_before_cut)
        findings = [*visited.findings]
        if visited.source is not None:
            self.sweep.digests[cell.run_entry.path] = visited.source.sha256()
            findings += _without_end(visited.source, visited.error)
        if visited.facts is not None:
            self.n_rows += visited.facts.run.rows
        elif visited.source is not None:
            self.n_rows += visited.source.n_rows
        if visited.error is None and dataset_facts is not None:
            self.sweep.visits[place] = replace(visited, findings=tuple(findings))
            return
        self.findings += findings
        error, cause = visited.error, None
        if error is not None and not qrels.n_rows and rules_of_error(error) == ["no-common-query"]:
            cause = explain_no_common_query(cell, qrels, {})  # a list of queries
        if cause is not None:
            self.findings.append(cause)
        elif error is not None:
            self.sweep.failed[place] = cell, error

    def _read_alone(self, entry: RunEntry) -> None:
        """Read a run with an unreadable dataset."""

        def reader(source: Source) -> int:
            form = source_of(entry).format
            return 0 if form in BY_ROW else readers.read_run(source, **entry.options()).n_rows

        n_rows, source, error = _read(entry.path, reader)
        self.alone += 1
        self.n_rows += n_rows or 0
        self.findings += () if source is None else source.findings
        self.findings += () if error is None else findings_of_error(entry.path, error)


def check_cells(
    cells: Sequence[Cell], policy: Policy, *, metrics: Sequence[Metric] = (),
    known: Sequence[Finding] = (), accept: Sequence[str] = (), pooled: Sequence[str] = (),
    wary: bool = False, select: Select | None = None, terms: Terms | None = None,
    leaks: Sequence[tuple[str, Cell]] = (),
) -> Checked:  # fmt: skip
    """Read every file of these cells, and return all findings.

    Cells of one dataset are next to each other. `known` are earlier findings; those of rules in
    `accept` become notes. `pooled`, `wary` and `select` are for `Sweep`. With `terms` the runs are
    submissions to a shared task. A run without a path means a dataset alone. `leaks` are training
    files, each with a cell of the dataset to compare with it.
    """
    sweep, failures = Sweep(pooled=pooled, wary=wary, select=select), list[Finding]()
    check = _Check(sweep, policy, metrics, terms)
    groups = groupby(enumerate(cells), key=lambda pair: (pair[1].dataset, pair[1].dataset_entry))
    with progress(len(cells), "run") as begin:
        for (_, dataset), cells_of_dataset in groups:
            for number, (place, cell) in enumerate(cells_of_dataset):
                begin(cell.run_entry.path or cell.dataset_entry.path)
                if not number:
                    qrels = None
                    with observing(failures, dataset.path):
                        qrels = check.read_dataset(cell)
                if not cell.run_entry.path:
                    check.n_rows += 0 if qrels is None else qrels.n_rows
                    continue
                with observing(failures, cell.run_entry.path):
                    check.read_run(place, cell, qrels)
    findings = [*known, *check.findings, *(placed.finding for placed in sweep.examine()), *failures]
    qids = {
        known_dataset.cell.dataset: known_dataset.qids.to_pylist()
        for known_dataset in sweep.datasets.values()
    }
    for look in (
        lambda: match_groups(load_groupings(cells), qids)[1],
        lambda: match_weights(load_weights(cells), qids),
        lambda: findings_of_leaks([*training_files(cells), *leaks]),
    ):
        try:
            findings += look()
        except HarnessError as error:
            findings += findings_of_error("", error)
    if terms is not None:
        runs = {cell.run_entry.path: facts.run for _, cell, facts in sweep.facts}
        tags = {path: run.tag or path for path, run in runs.items()}
        rankings = {path: run.ranking for path, run in runs.items()}
        names = dict(zip(runs, short_names([*runs]), strict=True))
        findings = findings_of_submissions(
            findings, terms, findings_across_runs(terms, tags, rankings, names)
        )
    findings = [
        replace(finding, place=finding.place.within(shown_name(finding.place.file)))
        for finding in findings
    ]
    accepted = accept_findings(without_effects(findings, accept), accept)
    submitted = terms is not None
    return Checked(
        tuple(sort_findings(accepted)), tuple(cells), check.n_rows, check.alone, submitted
    )


def check(
    first: PathLike,
    runs: PathLike | Sequence[PathLike] = (),
    *,
    overrides: Sequence[str] = (),
    qrels_format: str | None = None,
    run_format: str | None = None,
    group: str | None = None,
    duplicates: RunDuplicates = "error",
    columns: Mapping[str, str | int | None] | None = None,
    qrels_columns: Mapping[str, str | int | None] | None = None,
    order: ScoreOrder = "descending",
    documents: str | Mapping[str, str] | None = None,
) -> Checked:
    """Find mistakes in files that would make numbers wrong, as ``harness check`` does.

    Parameters
    ----------
    first : path
        A config, qrels or a LETOR file.
    runs : path or sequence of paths
        Run files or predictions; or more files with features, such as test data after training
        data. Rows that an earlier file has too are reported, since they leak training data.
    overrides : sequence of str
        Values that replace those of the config, such as ``"policy.ties=stable"``.
    qrels_format, run_format : str, optional
        Formats of the qrels and of the runs; detected by default.
    group : path, optional
        File with the group sizes of a LETOR file.
    columns, qrels_columns, documents : see `harness.evaluate`
    order : see `harness.evaluate`
    duplicates : see `harness.evaluate`

    Returns
    -------
    Checked
        Each of the ``findings`` has ``severity``, ``rule``, ``place``, ``what``, ``effect`` and
        ``fix``. ``count("error")`` is the number of errors; ``to_pandas()`` returns a data frame.
    """
    check_arguments(locals(), first=_FIRST, runs=_FILES, group=PATH.or_none())
    for place, format in (("qrels_format", qrels_format), ("run_format", run_format)):
        if format is not None:
            check_choice(place, format, readers.FORMATS)
    paths = [os.fspath(path) for path in ([runs] if isinstance(runs, _PATHS) else runs)]
    return check_paths(
        os.fspath(first),
        paths,
        () if paths else names_in(overrides, "overrides"),
        qrels_format=qrels_format,
        run_format=run_format,
        group=group,
        duplicates=duplicates,
        columns=columns,
        qrels_columns=qrels_columns,
        order=order,
        documents=documents,
    )


def check_paths(
    first: str, runs: Sequence[str], overrides: Sequence[str], *, terms: Terms | None = None,
    **files: Any,
) -> Checked:  # fmt: skip
    """Check a config, or qrels and runs; a config that cannot be read is a finding.

    `files` are options of `options_of_files`.
    """
    is_config = first.endswith((".yaml", ".yml"))
    alone = [first, *runs]
    if (runs or not is_config) and terms is None and are_datasets(alone, **files):
        return check_datasets(alone, **files)
    if runs:
        of_qrels, of_runs = options_of_files(**files)
        return check_files(first, runs, of_qrels=of_qrels, of_runs=of_runs, terms=terms)
    wrong: HarnessError
    try:
        return check_config(first, overrides)
    except InputError as error:
        wrong = error
    except ConfigError as error:
        wrong = error
        if not is_config and (os.path.isfile(first) or url_of(first)):
            what = "expected a config, or a dataset, or qrels followed by runs"
            fix = "run harness check CONFIG, or harness check QRELS RUN...; without qrels, "
            fix += "harness check RUN... --topics FILE"
            wrong = InputError(Problem(first, what, fix=fix))
    return refused_config(first, wrong)


def are_datasets(paths: Sequence[str], **files: Any) -> bool:
    """Whether all of these files are datasets: rows with features, or qrels alone.

    The second file of two is a run unless it holds rows with features.
    """
    if len(paths) > 1:
        return files.get("run_format") is None and all(map(has_features, paths))
    try:
        of_qrels, _ = options_of_files(**files)
        return is_file(paths[0]) and bool(
            of_qrels.get("format") or readers.guess_format(paths[0], "qrels")
        )
    except InputError:
        return False


def check_datasets(paths: Sequence[str], **files: Any) -> Checked:
    """Check datasets without runs, each for rows of those before it, such as training data."""
    of_qrels, of_runs = options_of_files(**files)
    asked = of_runs.keys() - {"duplicates", "order"}
    asked |= {"order"} if of_runs.get("order") != "descending" else set()
    if asked:
        message = f"expected a run, as {sorted(asked)[0]} is about its file, got datasets alone"
        raise UnknownNameError(message, fix="leave it out, or name a run")
    if len(paths) > 1 and "group" in of_qrels:
        message = "expected one dataset with a file of group sizes, got several"
        fix = "write the sizes of each to FILE.query, which is read with it"
        raise UnknownNameError(message, fix=fix)
    cells = [cell_of_files(path, "", of_qrels, {}) for path in dict.fromkeys(paths)]
    leaks = [
        (train.dataset_entry.path, test)
        for place, test in enumerate(cells)
        for train in cells[:place]
    ]
    return check_cells(cells, Policy(), leaks=leaks)


def check_config(path: str | Path, overrides: Sequence[str] = ()) -> Checked:
    """Check a config (a YAML file) and every file in it.

    `overrides` such as ``"policy.ties=stable"`` replace values of the file. ConfigError if the file
    is not YAML; any other mistake is a finding.
    """
    cells, parts, problems = configs.examine_config(path, overrides)
    gaps = missing_cells(cells)
    known = [_of_config(str(path), problem) for problem in problems]
    if gaps and not parts.complete:
        message = f"{len(gaps):,} of {len(gaps) + len(cells):,} cells of the grids are missing"
        known.append(finding("gaps", str(path), message, len(gaps), gaps))
    policy = parts.policy.for_runs()
    defaults = parts.policy.metric_defaults(parts.convention)
    metrics: list[Metric] = []
    for name in parts.metrics:
        with contextlib.suppress(UnknownNameError):
            metrics += parse(name, defaults)
    return check_cells(
        cells,
        policy,
        metrics=metrics,
        known=known,
        accept=accepted_rules(parts, policy),
        pooled=parts.pooled,
        select=parts.select,
    )


def check_files(
    qrels: str,
    runs: Sequence[str],
    *,
    of_qrels: Mapping[str, Any],
    of_runs: Mapping[str, Any],
    terms: Terms | None = None,
) -> Checked:
    """Check a qrels file and runs, or a learning-to-rank file and its predictions.

    `of_qrels` and `of_runs` are settings of the readers, as in a config: ``{"format": "trec"}``.
    With `terms` the runs are submissions; if these have topics, `qrels` is the file of topics.
    """
    if terms is not None:  # report mistakes in the lists before any run's
        _ = terms.collection, terms.topics and read_topics(Source(terms.topics))
        of_runs = {"format": "trec", **of_runs}
    cells = [cell_of_files(qrels, run, of_qrels, of_runs) for run in dict.fromkeys(runs)]
    # only a warning in a sweep: one of many models may be a random baseline
    checked = check_cells(cells, Policy(), wary=True, terms=terms)
    # standard input as in findings
    cells_as_shown = (
        cell_of_files(shown_name(qrels), shown_name(run), of_qrels, of_runs, (qrels, run))
        for run in dict.fromkeys(runs)
    )
    return replace(checked, cells=tuple(cells_as_shown))


def refused_config(path: str, error: HarnessError) -> Checked:
    """Return the findings for a config that cannot be read."""
    if isinstance(error, ConfigError):  # it may be that of a config which this one extends
        path = error.where or path
    return Checked(tuple(_of_config(path, problem) for problem in error.problems), ())


def _of_config(path: str, problem: Problem) -> Finding:
    where, message = Place.of(problem.where), problem.what
    place = where.within(path)
    if where.file not in ("", path):  # not a file
        place = Place(f"{path}: {where.file}")
    if where.column:  # of a text that is not YAML and has no keys
        message = f"column {where.column}: {message}"
    if problem.rule == "missing-file" and not problem.where:  # of the config itself
        return finding(problem.rule, path, message, effect="nothing is checked", fix=problem.fix)
    examples = [problem.found] if problem.found else []
    return finding("config", place, message, 1, examples, fix=problem.fix)
