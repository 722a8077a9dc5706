"""What a worker does: read a dataset, evaluate some of its runs, return what they gave."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from .. import readers, system
from ..config import Config, plugins
from ..config.cells import Cell
from ..core.grade_check import check_grades, takes_fractions
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.tables import Qrels, Run
from ..core.views import policies_of
from ..crosscheck import Crosscheck, Peer
from ..direct import evaluate_one
from ..errors import (
    HarnessError,
    HarnessWarning,
    ShortageError,
    UnknownNameError,
    VerificationError,
)
from ..guard.facts import Facts, JudgementFacts, RunFacts
from ..guard.said import Said
from ..guard.watch import Watch
from ..readers import Source, ir_metadata, row_marks
from ..readers.groups import beside
from ..readers.hashed import HashedSource
from ..store import state_of
from . import columns
from .as_read import Input, as_read, state_if_there
from .lines import add_lines
from .record import Record
from .said import without_names


@dataclass(frozen=True, eq=False)
class Job:
    """Some cells of one dataset.

    Parameters
    ----------
    config : Config
    cells : mapping of int to Cell
        Those to evaluate, by their places among all; all of their dataset, where a metric compares
        with the run of another.
    metrics : mapping of int to tuple of str
        What to compute of each cell to evaluate, by canonical name.
    n_cells : int
        How many the config has.
    """

    config: Config
    cells: Mapping[int, Cell]
    metrics: Mapping[int, tuple[str, ...]]
    n_cells: int

    @classmethod
    def of(
        cls, config: Config, cells: Sequence[Cell], metrics: Mapping[int, tuple[str, ...]]
    ) -> Job:
        """Return the job of computing `metrics` of cells of one dataset, by their places."""
        places: Iterable[int] = metrics
        if any(metric.reference for metric in config.parsed_metrics()):
            names = {cells[place].dataset for place in metrics}
            files = {cells[place].dataset_entry.path for place in metrics}
            places = [
                place
                for place, cell in enumerate(cells)
                if cell.dataset in names or cell.dataset_entry.path in files
            ]
        return cls(config, {place: cells[place] for place in places}, dict(metrics), len(cells))


@dataclass(frozen=True, eq=False)
class Done:
    """What became of one cell.

    Parameters
    ----------
    place : int
    record : Record, optional
        None where it failed.
    error : HarnessError, optional
        Why it failed.
    inputs : mapping of str to Input
        The files read, by path.
    rows : int
        Documents retrieved, for the progress bar.
    by : str
        What computed it, where that is not this machine; see :mod:`harness.cells.remote`.
    """

    place: int
    record: Record | None = None
    error: HarnessError | None = None
    inputs: Mapping[str, Input] = field(default_factory=dict)
    rows: int = 0
    by: str = ""


def work(job: Job) -> list[Done]:
    """Evaluate the cells of a job, one after the other."""
    return list(each(job))


def each(job: Job) -> Iterator[Done]:
    """Yield what became of each cell of a job.

    Raises
    ------
    VerificationError
        Where the cross-check finds a difference: that is no fault of the cell's files.
    """
    _load_plugins(job.config)
    known = {str(metric): metric for metric in job.config.parsed_metrics()}
    fractions = takes_fractions(tuple(known.values()), job.config.to_policy())
    for place, names in job.metrics.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HarnessWarning)
            try:
                done = _evaluate(job, place, [known[name] for name in names], fractions)
            except VerificationError:
                raise
            except Exception as error:
                yield Done(place, error=_as_ours(error))
                continue
        yield done(_said(caught))


def _as_ours(error: Exception) -> HarnessError:
    """Return the error of a cell that could not be evaluated; raises what is no fault of its."""
    if isinstance(error, ShortageError):
        return ShortageError([system.or_fewer_jobs(one) for one in error.problems])
    if isinstance(error, HarnessError):  # its frames hold judgements; no worker sends them
        return error.with_traceback(None)
    lacking = system.shortage(error)
    if lacking is None:
        raise error
    return ShortageError(system.or_fewer_jobs(lacking))


def _evaluate(
    job: Job, place: int, metrics: Sequence[Metric], fractions: bool
) -> Callable[[Sequence[Said]], Done]:
    config, cell = job.config, job.cells[place]
    policy = config.to_policy()
    also = policies_of(metrics, policy)
    dataset = _dataset(cell, fractions)
    check_grades(dataset.qrels, metrics, policy)
    before = state_of(cell.run_entry.path)
    source = HashedSource(cell.run_entry.path)
    check = Crosscheck(dataset.peer(metrics, policy), config.crosscheck, place, job.n_cells)
    guard = Watch(dataset.qrels, policy)

    def watch(part: Run) -> None:
        check.watch(part)
        guard.run(part)

    evaluation = evaluate_one(
        dataset.qrels, metrics, policy,
        stream=partial(
            readers.align_run, dataset.qrels, source, policy, also, name=cell.run,
            watch=watch, **cell.run_entry.options(),
        ),
        read=partial(_read_run, dataset.qrels, cell, source, watch),
        reference=partial(_read_reference, dataset.qrels, tuple(job.cells.values()), cell),
        seen=guard.aligned, run=cell.run, dataset=cell.dataset,
    )  # fmt: skip
    of_run = _with_ranks(guard.facts(), cell, source)
    add_lines(of_run.first, source, cell.run_entry)
    facts = Facts(dataset.facts, of_run)
    audit = check.compare(evaluation)
    header = ir_metadata.header_of(source)
    inputs = {
        cell.dataset_entry.path: dataset.input,
        cell.run_entry.path: as_read(cell.run_entry.path, before, source.sha256),
    }

    def done(said: Sequence[Said]) -> Done:
        kept = without_names([*dataset.warnings, *said], cell)
        record = Record.of(evaluation, audit, kept, header, facts)
        return Done(place, record, None, inputs, evaluation.counts.retrieved)

    return done


def _with_ranks(facts: RunFacts, cell: Cell, source: Source) -> RunFacts:
    """Return facts with those of a TREC run whose scores are its ranks."""
    if facts.follows or not columns.may_be_ranks(source):
        return facts
    form = cell.run_entry.format or readers.guess_format(source, "run")
    return columns.with_ranks(facts, source) if form == "trec" else facts


@dataclass(frozen=True, eq=False)
class _Dataset:
    """Judgements, with what was said while they were read."""

    qrels: Qrels
    facts: JudgementFacts
    input: Input
    warnings: tuple[Said, ...]
    _peers: dict[Any, Peer] = field(default_factory=dict)

    def peer(self, metrics: Sequence[Metric], policy: Policy) -> Peer:
        """Return what the cross-check shares between the cells of these metrics."""
        key = tuple(metrics), policy
        if key not in self._peers:
            self._peers[key] = Peer(self.qrels, metrics, policy)
        return self._peers[key]


_last: dict[Any, _Dataset] = {}
"""The dataset that this process read last: its cells come one after the other."""


def _dataset(cell: Cell, fractions: bool) -> _Dataset:
    entry = cell.dataset_entry
    state = state_of(entry.path)
    sizes = state_if_there(entry.group or beside(entry.path))
    key = (entry.model_dump_json(), fractions, state, sizes)
    if key not in _last:
        _last.clear()
        source = HashedSource(entry.path)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HarnessWarning)
            qrels = readers.read_qrels(
                source, name=cell.dataset, fractions=fractions, **entry.options()
            )
        facts = JudgementFacts.of(qrels)
        add_lines(facts.first, source, entry)
        if source.row_marks is not None:
            facts = replace(facts, marks=row_marks.kept(source.row_marks))
        read = as_read(entry.path, state, source.sha256)
        _last[key] = _Dataset(qrels, facts, read, tuple(_said(caught)))
    return _last[key]


def forget() -> None:
    """Let go of the judgements that this process read last, as no cell of theirs is to come."""
    _last.clear()


def _said(caught: Sequence[warnings.WarningMessage]) -> list[Said]:
    """Return our own warnings; others are given again to whoever listens outside."""
    for one in caught:
        if not issubclass(one.category, HarnessWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return [Said.of(one.message) for one in caught if issubclass(one.category, HarnessWarning)]


def _read_run(
    qrels: Qrels,
    cell: Cell,
    source: readers.Source | None = None,
    watch: Callable[[Run], None] | None = None,
) -> Run:
    entry = cell.run_entry
    ranking = readers.read_run(
        entry.path if source is None else source, dataset=qrels, name=cell.run, **entry.options()
    )
    if watch is not None:
        watch(ranking)
    return ranking


def _read_reference(qrels: Qrels, cells: Sequence[Cell], cell: Cell, name: str) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)  # said of it where it is a cell itself
        return _read_run(qrels, reference(cells, cell, name))


def reference(cells: Sequence[Cell], cell: Cell, name: str) -> Cell:
    """Return the cell of the run called `name` on this cell's dataset, of its own seed if many.

    Raises
    ------
    UnknownNameError
        Where there is none, or several.
    """
    here = [
        other for other in cells if other.run == name and other.dataset_entry == cell.dataset_entry
    ]
    same = [other for other in here if _beside_name(other) == _beside_name(cell)]
    if not here or (len(here) > 1 and not same):
        runs = sorted({other.run for other in cells if other.dataset == cell.dataset})
        what = f"has {len(here)} runs of that name" if here else f"has {', '.join(runs)}"
        raise UnknownNameError(
            f"reference={name}: no such run to compare {cell.run} to; dataset {cell.dataset} {what}"
        )
    return (same or here)[0]


def _beside_name(cell: Cell) -> dict[str, str]:
    """Return what was captured beside the run's name: its seed."""
    return {name: one for name, one in cell.of_run.items() if f"{{{name}}}" not in cell.run_key}


_loaded: set[tuple[Path, tuple[str, ...]]] = set()


def _load_plugins(config: Config) -> None:
    """Import the config's plugins, in a process that did not read the config itself."""
    key = (config.base, config.plugins)
    if key not in _loaded and config.plugins:
        for name in config.plugins:
            plugins.load(name, config.base)
    _loaded.add(key)
