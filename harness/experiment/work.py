"""What a worker does: read a dataset, evaluate some of its runs, return what they gave."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from .. import errors as internal_errors
from .. import readers as readers
from ..config import plugins as plugins
from ..config.cells import Cell, reference
from ..config.model import Config
from ..core.metric import Metric
from ..core.tables import Qrels, Run
from ..core.views import check_grades, policies_of, takes_fractions
from ..errors import (
    Finding,
    HarnessError,
    HarnessWarning,
    InputError,
    Problem,
    ShortageError,
    VerificationError,
    shortage,
)
from ..guard.facts import JudgementFacts, Watch, facts_of, judgement_facts
from ..guard.registry import collecting
from ..readers import ir_metadata as ir_metadata
from ..readers.files import state_of
from ..readers.source import HashedSource
from .cache import Input, Record, group_sizes_of, without_names
from .crosscheck import Crosscheck, Peer
from .evaluate import evaluate_one


@dataclass(frozen=True, eq=False)
class Job:
    """Some cells of one dataset."""

    config: Config
    cells: Mapping[int, Cell]
    """Cells to evaluate, by their places among all; all of their dataset, if a metric compares
    with the run of another."""
    metrics: Mapping[int, tuple[str, ...]]
    """What to compute of each cell to evaluate, by canonical name."""
    n_cells: int
    """Number of cells of the config."""

    @classmethod
    def of(
        cls, config: Config, cells: Sequence[Cell], metrics: Mapping[int, tuple[str, ...]]
    ) -> Job:
        """Return the job of computing `metrics` of cells of one dataset, by their places."""
        places: Iterable[int] = metrics
        if any(metric.reference for metric in config.parsed_metrics()):
            files = {cells[place].dataset_entry.path for place in metrics}
            places = [at for at, cell in enumerate(cells) if cell.dataset_entry.path in files]
        return cls(config, {place: cells[place] for place in places}, dict(metrics), len(cells))


@dataclass(frozen=True, eq=False)
class Done:
    """Outcome of one cell."""

    place: int
    record: Record | None = None
    """The record; None if the cell failed."""
    error: HarnessError | None = None
    """The error, if the cell failed."""
    inputs: Mapping[str, Input] = field(default_factory=dict)
    """The files read, by path."""
    by: str = ""
    """What computed it, if not this machine; see :mod:`harness.experiment.executors`."""


def work(job: Job) -> list[Done]:
    """Evaluate the cells of a job, one after the other."""
    return list(each(job))


def each(job: Job) -> Iterator[Done]:
    """Yield what became of each cell of a job; VerificationError stops all of them."""
    _load_plugins(job.config)
    known = {str(metric): metric for metric in job.config.parsed_metrics()}
    fractions = takes_fractions(tuple(known.values()), job.config.to_policy())
    for place, names in job.metrics.items():
        try:
            yield _evaluate(job, place, [known[name] for name in names], fractions)
        except VerificationError:
            raise
        except HarnessError as error:  # its frames hold judgements; no worker sends them
            yield Done(place, error=error.with_traceback(None))
        except Exception as error:
            found = shortage(error)
            failed = HarnessError(internal_errors.problem(error))
            yield Done(place, error=failed if found is None else ShortageError(found))


def _evaluate(job: Job, place: int, metrics: Sequence[Metric], fractions: bool) -> Done:
    """Return the record of a cell, from reading its files to the cross-check."""
    config, cell = job.config, job.cells[place]
    policy, run = config.to_policy(), cell.run_entry
    dataset = _dataset(cell, fractions)
    check_grades(dataset.qrels, metrics, policy)
    file, inputs = _File(run.path), dict(dataset.inputs)
    peer = dataset.peers.get(key := (tuple(metrics), policy))
    if peer is None:
        peer = dataset.peers[key] = Peer(dataset.qrels, metrics, policy)
    check = Crosscheck(peer, config.crosscheck, place, job.n_cells)
    guard = Watch(dataset.qrels, policy, run.path)

    def watch(part: Run, begins: bool = False) -> None:
        check.watch(part, begins)
        guard.run(part, begins)

    def read() -> Run:
        whole = readers.read_run(file, dataset=dataset.qrels, name=cell.run, **run.options())
        watch(whole)
        return whole

    def read_reference(name: str) -> Run:
        other = reference(tuple(job.cells.values()), cell, name).run_entry
        opened = _File(other.path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HarnessWarning)  # the other run's own cell has them
            found = readers.read_run(
                opened, dataset=dataset.qrels, name=cell.run, **other.options()
            )
        inputs[other.path] = opened.as_read()
        return found

    found = [*dataset.warnings]
    with collecting(found, run.path, cell.dataset_entry.path):
        evaluation = evaluate_one(
            dataset.qrels, metrics, policy,
            stream=partial(
                readers.align_run, dataset.qrels, file, policy, policies_of(metrics, policy),
                name=cell.run, watch=watch, **run.options(),
            ),
            read=read, reference=read_reference,
            seen=guard.aligned, run=cell.run, dataset=cell.dataset,
        )  # fmt: skip
        facts = facts_of(dataset.facts, guard, file, run.format)
        audit = check.compare(evaluation)
        header = ir_metadata.header_of(file)
    inputs[run.path] = file.as_read()
    found += [*dataset.failures, *guard.failures]
    record = Record.of(evaluation, audit, without_names(found, cell), header, facts)
    return Done(place, record, None, inputs)


class _File(HashedSource):
    """A file that is hashed while it is read."""

    def __init__(self, path: str) -> None:
        self.path, self.state = path, state_of(path)
        super().__init__(path)

    def as_read(self) -> Input:
        """Return its state and hash; ChangedInputError if the state differs from before."""
        digest = self.sha256()
        if os.path.isfile(self.path):  # a pipe changes as it is read
            size, modified, _, inode = state_of(self.path)
            if (size, modified, inode) != (self.state[0], self.state[1], self.state[3]):
                raise ChangedInputError(self.path)
        return Input(self.state, digest)


class ChangedInputError(InputError):
    """A file changed while a cell, or several cells, read it."""

    def __init__(self, path: str) -> None:
        what = "the file changed during the run"
        fix = "run again when nothing writes to it; finished cells come from the cache"
        self.path = path
        super().__init__(Problem(path, what, fix=fix))

    def __reduce__(self) -> tuple[Any, ...]:
        return ChangedInputError, (self.path,)


@dataclass(frozen=True, eq=False)
class _Dataset:
    """Judgements, and the warnings of reading them; no facts if the guard failed."""

    qrels: Qrels
    facts: JudgementFacts | None
    inputs: Mapping[str, Input]
    warnings: Sequence[Finding]
    failures: Sequence[Finding] = ()
    peers: dict[Any, Peer] = field(default_factory=dict)
    """What the cross-check shares between cells, by metrics and policy."""


last_dataset: dict[Any, _Dataset] = {}
"""The dataset that this process read last: its cells come one after the other."""


def _dataset(cell: Cell, fractions: bool) -> _Dataset:
    entry = cell.dataset_entry
    files = [_File(path) for path in (entry.path, group_sizes_of(entry)) if path]
    key = (entry.model_dump_json(), fractions, *(file.state for file in files))
    if key not in last_dataset:
        last_dataset.clear()
        source = files[0]
        warned = list[Finding]()
        with collecting(warned, cell.run_entry.path, entry.path):
            qrels = readers.read_qrels(
                source, name=cell.dataset, fractions=fractions, **entry.options()
            )
        failures = list[Finding]()
        facts = judgement_facts(qrels, source, failures, entry.format)
        inputs = {file.path: file.as_read() for file in files}
        last_dataset[key] = _Dataset(qrels, facts, inputs, warned, failures)
    return last_dataset[key]


_loaded: set[tuple[Path, tuple[str, ...]]] = set()


def _load_plugins(config: Config) -> None:
    """Import the config's plugins, in a process that did not read the config itself."""
    key = (config.base, config.plugins)
    if key not in _loaded:
        for name in config.plugins:
            plugins.load(name, config.base)
    _loaded.add(key)
