"""A cache of evaluated cells by the hash of everything that determines their values."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import platform
import re
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from ..config.cells import Cell, reference_cell
from ..config.model import Config, DatasetEntry
from ..core.arrow import to_arrow, to_numpy
from ..core.entries import Entry
from ..core.evaluation import Counts, Evaluation
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.ragged import Floats
from ..errors import Finding, HarnessError, InputError, Problem
from ..guard.visits import Visit
from ..guard.watch import Facts
from ..input_files import url_of
from ..readers.files import read_file, sha256, state_of, write_all
from ..readers.remote import names_in
from ..readers.source import next_to
from .crosscheck import Audit, mode_of

INDEX = "harness-inputs.json"
_RECORD = re.compile(r"[0-9a-f]{64}\.parquet")
_RECENT = 2_000_000_000
"""Nanoseconds: a file changed so shortly before it was read could change again unseen."""
LARGE = 1_000_000_000
"""Bytes from which on ``harness run`` prints the size of its cache."""
DAMAGED = (OSError, ValueError, KeyError, TypeError, pa.ArrowException)
"""Exceptions that reading a damaged record raises."""
_META = b"harness"
VALUES, WEIGHTS, ERRORS = "values", "weights", "errors"


class Input(NamedTuple):
    """A file as it was read: its state (size, times, inode) and the SHA-256 of its bytes."""

    state: tuple[int, ...]
    digest: str


@dataclass(frozen=True)
class Notes:
    """Everything in a record except numbers, which its Parquet file has as JSON."""

    counts: Counts
    audit: Audit
    """The cross-check."""
    findings: tuple[Finding, ...] = ()
    """Findings of the visit, with placeholders for names of the cell; see `_names`."""
    header: dict[str, Any] | None = None
    """ir_metadata at the head of the run's file."""
    facts: Facts | None = None
    """Facts for the rules of the guard; None if the guard failed."""
    unanswered: tuple[str, ...] = ()
    """Queries of the values that the run does not answer."""
    key: str = ""
    """The record's name: the hash of all that its values follow from."""


@dataclass(frozen=True, eq=False)
class Record:
    """An evaluated cell."""

    qids: pa.Array
    columns: Mapping[str, Floats]
    """Columns by ``values:``, ``weights:`` or ``errors:`` and a metric's canonical name, as in an
    `harness.core.evaluation.Evaluation`."""
    notes: Notes
    inputs: Mapping[str, Input] = field(default_factory=dict)
    """The files read, by path, if it was evaluated just now."""

    @classmethod
    def of(cls, visited: Visit, audit: Audit, inputs: Mapping[str, Input]) -> Record:
        """Return the record of a visit, or raise the error of the visit."""
        evaluation = visited.value()
        kinds = {
            VALUES: dict(enumerate(evaluation.values.T)),
            WEIGHTS: evaluation.weights,
            ERRORS: evaluation.errors,
        }
        columns = {
            f"{kind}:{evaluation.names[place]}": column
            for kind, columns_of_kind in kinds.items()
            for place, column in columns_of_kind.items()
        }
        marks = {name: mark for mark, name in _names(visited.cell).items()}
        unnamed = tuple(
            replace(finding, place=finding.place.among(marks))
            for finding in dict.fromkeys(visited.findings)
        )
        of_run = visited.header, visited.facts, evaluation.unanswered
        notes = Notes(evaluation.counts, audit, unnamed, *of_run)
        return cls(evaluation.qids, columns, notes, inputs)

    def findings(self, cell: Cell) -> tuple[Finding, ...]:
        """Return the findings about both files, with the names that they have for a cell."""
        names = _names(cell)
        return tuple(
            replace(finding, place=finding.place.among(names)) for finding in self.notes.findings
        )

    def entry(self, metrics: Sequence[Metric], policy: Policy, cell: Cell) -> Entry:
        """Return the leaderboard's entry."""
        values = np.empty((len(self.qids), len(metrics)))
        for place, metric in enumerate(metrics):
            values[:, place] = self.columns[f"{VALUES}:{metric}"]
        names = list(enumerate(map(str, metrics)))
        weights, errors = (
            {n: self.columns[key] for n, name in names if (key := f"{kind}:{name}") in self.columns}
            for kind in (WEIGHTS, ERRORS)
        )
        counts, unanswered = self.notes.counts, self.notes.unanswered
        of_cell = policy, counts, weights, cell.run, cell.dataset, errors, unanswered
        evaluation = Evaluation(values, self.qids, tuple(metrics), *of_cell)
        return Entry(evaluation, cell.columns, cell.dataset_key if cell.of_dataset else "")

    def to_parquet(self, key: str) -> bytes:
        """Return the record as a Parquet file with the name that it is kept under."""
        columns = {name: to_arrow(column) for name, column in self.columns.items()}
        notes = _notes().dump_python(replace(self.notes, key=key))
        table = pa.table({"qid": self.qids, **columns})
        sink = io.BytesIO()
        table = table.replace_schema_metadata({_META: json.dumps(notes)})
        pq.write_table(
            table, sink, compression="none", use_dictionary=False, write_page_checksum=True
        )
        return sink.getvalue()

    @classmethod
    def from_parquet(cls, content: bytes) -> Record:
        """Return the record in a Parquet file; an error of DAMAGED if its content was changed."""
        # read_table would import pandas
        file = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        table = file.read(use_threads=False)
        notes = _notes().validate_python(json.loads(table.schema.metadata[_META]))
        columns = {name: to_numpy(table[name]) for name in table.column_names[1:]}
        return cls(table["qid"].combine_chunks(), columns, notes)


@functools.cache
def _notes() -> TypeAdapter[Notes]:
    return TypeAdapter(Notes)


def _names(cell: Cell) -> dict[str, str]:
    """Return a cell's names and paths by the placeholders that records have for them."""
    names = {
        "{dataset}": cell.dataset_entry.path,
        "{run}": cell.run_entry.path,
        "{run on dataset}": f"{cell.run} on {cell.dataset}",
        "{group}": cell.dataset_entry.group or "",
    }
    return {mark: name for mark, name in names.items() if name}


class Cache:
    """A folder of records, and an index of the hashes of their input files; None keeps nothing.

    A record is written whole or not at all, and read only under the hash of all that it follows
    from, so a cache is never stale and can be shared, copied and deleted at any time.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        url = url_of(folder or "")
        self._root = os.path.abspath("" if url else folder or "")
        self._index: dict[str, Input] = {}
        """Files by their paths from the cache, which stay valid if both are moved together."""
        if folder:
            with contextlib.suppress(*DAMAGED, AttributeError, ArithmeticError, RecursionError):
                self._index = {
                    str(name): Input(tuple(map(int, state)), str(digest))
                    for name, (state, digest) in json.loads(read_file(folder / INDEX))[
                        "files"
                    ].items()
                }
        self.is_empty = not (names_in(url) if url else any(True for _ in self.records()))

    def hashed(self, path: str) -> Input:
        """Return a file's state and hash; InputError if it cannot be read."""
        state, entry = state_of(path), self._index.get(self._indexed(path))
        if entry is not None and entry.state == state:
            return entry
        try:
            read = Input(state, sha256(path))
        except OSError as error:
            raise InputError(Problem(path, f"cannot be read: {error.strerror}")) from error
        self.remember({path: read})
        return read

    def _indexed(self, path: str) -> str:
        return url_of(path) or os.path.relpath(path, self._root)

    def remember(self, inputs: Mapping[str, Input]) -> None:
        """Keep the hashes of files in the index, unless a state could stay as the bytes change."""
        for path, read in inputs.items():
            if time.time_ns() - max(read.state[1:3]) > _RECENT:
                self._index[self._indexed(path)] = read

    def get(self, key: str) -> Record | None:
        """Return the record of that name; None without one that can be read and has this name."""
        if self.folder is None:
            return None
        try:
            record = Record.from_parquet(read_file(self.folder / _name(key)))
        except DAMAGED:
            return None
        return record if record.notes.key == key else None

    def put(self, key: str, record: Record) -> None:
        """Keep a record."""
        if self.folder is not None:
            write_all(self.folder, {_name(key): record.to_parquet(key)}, flush=False)

    def save(self) -> None:
        """Write the index."""
        if self.folder is not None and self._index:
            text = json.dumps({"files": self._index}, indent=0)
            with contextlib.suppress(HarnessError):  # it can be computed again
                write_all(self.folder, {INDEX: text.encode()}, flush=False)

    def records(self) -> Iterator[Path]:
        """Yield the files of all records in order, but links; none of a folder at a URL."""
        for path in sorted(self.folder.glob("??/*.parquet")) if self.folder else ():
            is_named = _RECORD.fullmatch(path.name) and path.name[:2] == path.parent.name
            if is_named and not path.parent.is_symlink() and not path.is_symlink():
                yield path

    def size(self) -> int:
        """Return the bytes of all records."""
        sizes = 0
        for path in self.records():
            with contextlib.suppress(OSError):  # deleted just now
                sizes += path.stat().st_size
        return sizes


_name = "{0:.2}/{0}.parquet".format
"""Returns the file of the record with a key."""
_PACKAGE = Path(__file__).resolve().parents[1]


def computes_with() -> list[str]:
    """Return the packages, C library and machine, on which the last bit of values depends."""
    packages = [f"{package} {version(package)}" for package in ("numpy", "pyarrow")]
    return [*packages, *platform.libc_ver(), platform.system(), platform.machine()]


@functools.cache
def sources() -> str:
    """Return the hash of the whole package: names and contents of its files."""
    files = _PACKAGE.rglob("*.py")
    return _of_files({file.relative_to(_PACKAGE).as_posix(): file for file in files})


def _of_files(files: Mapping[str, Path]) -> str:
    """Return the hash of files and of their names."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{sha256(files[name])}\0".encode())
    return digest.hexdigest()


@functools.cache
def code() -> str:
    """Return the hash of the package and of its numerical libraries."""
    return hash_of([sources(), *computes_with()])


def hash_of(parts: Any) -> str:
    """Return the SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def user_code() -> list[str]:
    """Return the SHA-256 of each loaded plugin and of its imports, without installed packages."""
    prefixes = (*_installed(), f"{_PACKAGE}{os.sep}")
    files = {
        file for file in _loaded().values() if not file.startswith(prefixes) and file[-3:] == ".py"
    }
    return sorted(sha256(Path(file)) for file in files if Path(file).is_file())


def installed_code(metrics: Iterable[Metric]) -> dict[str, dict[str, str | None]]:
    """Return distribution, version and SHA-256 of the installed packages of metrics, by name."""
    plugged = (
        metric.definition.function for metric in metrics if not metric.definition.is_built_in
    )
    packages = {function.__module__.partition(".")[0] for function in plugged}
    code: dict[str, dict[str, str | None]] = {}
    for package in sorted(packages):
        files = {
            name: Path(file)
            for name, file in _loaded().items()
            if f"{name}.".startswith(f"{package}.") and file.startswith(_installed())
        }
        if files:
            names = packages_distributions().get(package, [])
            code[package] = {
                "distribution": names[0] if names else None,
                "version": version_of(names[0]) if names else None,
                "sha256": _of_files(files),
            }
    return code


def version_of(distribution: str) -> str | None:
    """Return the version of a distribution; None if it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _installed() -> tuple[str, ...]:
    """Return the folders of Python's own files and of installed packages."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(f"{path}{os.sep}" for path in paths)


def _loaded() -> dict[str, str]:
    """Return the file of each module that has a file."""
    files = {name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()]}
    return {name: file for name, file in files.items() if file}


def group_sizes_of(entry: DatasetEntry) -> str:
    """Return the file of group sizes that a dataset is read with, or ``""``."""
    if entry.group:
        return str(entry.group)
    return next_to(entry.path) if entry.format in (None, "letor") else ""


class Keys:
    """Keys of all inputs of the values of cells; metrics may compare one cell with another."""

    def __init__(self, config: Config, cells: Sequence[Cell]) -> None:
        self.cells, metrics = cells, config.parsed_metrics()
        self.references = dict.fromkeys(metric.reference for metric in metrics if metric.reference)
        self.code: list[Any] = [code()]
        if not all(metric.definition.is_built_in for metric in metrics):
            self.code += [user_code(), installed_code(metrics)]
        self.choices = {
            "metrics": sorted(map(str, metrics)),
            "policy": asdict(config.policy),
            "convention": config.convention,
            "crosscheck": mode_of(config.crosscheck),
        }

    def runs(self, cell: Cell) -> list[Cell]:
        """Return the cell and those of the runs that metrics compare it to."""
        return [cell, *(reference_cell(self.cells, cell, name) for name in self.references)]

    def paths(self, cell: Cell) -> list[str]:
        """Return all files that a cell's values follow from."""
        paths = [
            cell.dataset_entry.path,
            *(path for run in self.runs(cell) for path in run.run_files),
        ]
        sizes = group_sizes_of(cell.dataset_entry)
        return [*paths, sizes] if sizes else paths

    def key(self, cell: Cell, inputs: Mapping[str, Input]) -> str:
        """Return the hash of all that a cell's values follow from; `inputs` are its files."""
        dataset = {k: v for k, v in cell.dataset_entry.options().items() if k != "group"}
        runs = [run.run_entry.options() for run in self.runs(cell)]
        return hash_of(
            {
                "code": self.code,
                "inputs": [inputs[path].digest for path in self.paths(cell)],
                "choices": {**self.choices, "dataset": dataset, "runs": runs},
            }
        )
