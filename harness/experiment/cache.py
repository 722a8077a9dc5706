"""Evaluated cells, kept by the hash of all that they follow from: equal hashes, equal values."""

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

from ..config.cells import Cell, reference
from ..config.model import Config, DatasetEntry, RunEntry
from ..core.arrow import to_arrow, to_numpy
from ..core.evaluation import Counts, Evaluation, level_of
from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.ragged import Floats
from ..errors import Finding, HarnessError, InputError, Problem
from ..guard.facts import Facts
from ..readers.files import check_room, sha256, state_of, write_all
from ..readers.source import next_to
from .crosscheck import Audit, mode_of

INDEX, MARKER = "inputs.json", "CACHEDIR.TAG"
_MARK = b"""Signature: 8a477f597d28d172789f06886806bc55
# This folder is a cache of ranking-harness: every file in it can be computed again.
# CACHEDIR.TAG is described at https://bford.info/cachedir/
"""
"""Content of the marker: backup programs know the first line, and the second one is ours."""
_RECORD = re.compile(r"[0-9a-f]{64}\.parquet")
_RECENT = 2_000_000_000
"""Nanoseconds: a file changed so shortly before it was read could change again unseen."""
DAMAGED = (OSError, ValueError, KeyError, TypeError, pa.ArrowException)
"""Exceptions that reading a damaged record raises."""
_META = b"harness"
VALUES, WEIGHTS, ERRORS = "values", "weights", "errors"


@dataclass(frozen=True, eq=False)
class Record:
    """Values of one cell by metric, whichever metrics were asked for so far."""

    qids: pa.Array
    columns: Mapping[str, Floats]
    """Columns by ``values:``, ``weights:`` or ``errors:`` and a metric's canonical name, as in an
    :class:`~harness.core.evaluation.Evaluation`."""
    counts: Counts
    """Counts that depend on no metric; ``empty`` is 0."""
    empty: Mapping[int, int]
    """Queries without relevant documents, by the smallest grade that is relevant."""
    audit: Audit
    """The cross-check."""
    warnings: tuple[Finding, ...] = ()
    """Warnings of the evaluation; see :func:`without_names`."""
    header: Mapping[str, Any] | None = None
    """ir_metadata at the head of the run's file."""
    facts: Facts | None = None
    """What the guard's rules look at; None if the guard failed."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Names of dataset, run and files, and what the key is the hash of, for ``harness cache``."""
    unanswered: tuple[str, ...] = ()
    """Queries of the values that the run does not answer."""

    @classmethod
    def of(
        cls, evaluation: Evaluation, audit: Audit, warnings: Iterable[Finding],
        header: Mapping[str, Any] | None = None, facts: Facts | None = None,
    ) -> Record:  # fmt: skip
        """Return the record of an evaluation."""
        kinds = {
            VALUES: dict(enumerate(evaluation.values.T)),
            WEIGHTS: evaluation.weights,
            ERRORS: evaluation.errors,
        }
        columns = {
            f"{kind}:{evaluation.names[place]}": column
            for kind, some in kinds.items()
            for place, column in some.items()
        }
        counts, empty = evaluation.counts, {_level(evaluation.metrics): evaluation.counts.empty}
        return cls(
            evaluation.qids, columns, replace(counts, empty=0), empty, audit,
            tuple(dict.fromkeys(warnings)), header, facts, unanswered=evaluation.unanswered,
        )  # fmt: skip

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics that it has values of."""
        kinds = (name.partition(":") for name in self.columns)
        return [name for kind, _, name in kinds if kind == VALUES]

    def missing(self, metrics: Sequence[Metric]) -> tuple[Metric, ...]:
        """Return the metrics that are still to be computed.

        All of them, if queries without relevant documents were not counted at their level.
        """
        if _level(metrics) not in self.empty:
            return tuple(metrics)
        return tuple(one for one in metrics if f"{VALUES}:{one}" not in self.columns)

    def joined(self, more: Record) -> Record:
        """Return this record with the metrics of another one of the same cell."""
        return replace(
            self,
            columns={**self.columns, **more.columns},
            empty={**self.empty, **more.empty},
            audit=self.audit.joined(more.audit),
            warnings=tuple(dict.fromkeys((*self.warnings, *more.warnings))),
            facts=more.facts or self.facts,
        )

    def entry(self, metrics: Sequence[Metric], policy: Policy, cell: Cell) -> Entry:
        """Return the leaderboard's entry for these metrics."""
        values = np.empty((len(self.qids), len(metrics)))
        for place, metric in enumerate(metrics):
            values[:, place] = self.columns[f"{VALUES}:{metric}"]
        weights, errors = (
            {
                place: self.columns[f"{kind}:{metric}"]
                for place, metric in enumerate(metrics) if f"{kind}:{metric}" in self.columns
            }
            for kind in (WEIGHTS, ERRORS)
        )  # fmt: skip
        evaluation = Evaluation(
            values, self.qids, tuple(metrics), policy,
            replace(self.counts, empty=self.empty[_level(metrics)]),
            weights, cell.run, cell.dataset, errors, self.unanswered,
        )  # fmt: skip
        return Entry(evaluation, cell.columns, cell.dataset_key if cell.of_dataset else "")

    def to_parquet(self) -> bytes:
        """Return the record as a Parquet file."""
        plain: dict[str, Any] = {
            "counts": asdict(self.counts),
            "empty": {str(level): n for level, n in self.empty.items()},
            "audit": asdict(self.audit),
            "warnings": [asdict(one) for one in self.warnings],
            "header": self.header,
            "facts": None if self.facts is None else self.facts.as_dict(),
            "about": self.about,
            "unanswered": self.unanswered,
        }
        plain["sha256"] = _digest(plain, self.qids, self.columns)
        columns = {name: to_arrow(one) for name, one in self.columns.items()}
        table = pa.table({"qid": self.qids, **columns})
        sink = io.BytesIO()
        pq.write_table(
            table.replace_schema_metadata({_META: json.dumps(plain)}), sink,
            compression="none", use_dictionary=False,
        )  # fmt: skip
        return sink.getvalue()

    @classmethod
    def from_parquet(cls, content: bytes) -> Record:
        """Return the record that a Parquet file holds; ValueError if other values were written."""
        check_room(len(content))
        # read_table would import pandas
        table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
        plain = json.loads(table.schema.metadata[_META])
        expected, qids = plain.pop("sha256"), table["qid"].combine_chunks()
        columns = {name: to_numpy(table[name]) for name in table.column_names[1:]}
        if _digest(plain, qids, columns) != expected:
            raise ValueError("other values than were written")
        return cls(
            qids,
            columns,
            Counts(**plain["counts"]),
            {int(level): n for level, n in plain["empty"].items()},
            Audit(**plain["audit"]),
            tuple(
                Finding(**{**one, "examples": tuple(one["examples"]), "others": ()})
                for one in plain["warnings"]
            ),
            plain["header"],
            None if plain["facts"] is None else Facts.from_dict(plain["facts"]),
            plain["about"],
            tuple(plain["unanswered"]),
        )


def _level(metrics: Iterable[Metric]) -> int:
    """Return the smallest grade that counts as relevant for all of these metrics."""
    return max(map(level_of, metrics), default=1)


def _digest(plain: Mapping[str, Any], qids: pa.Array, columns: Mapping[str, Floats]) -> str:
    """Return the SHA-256 of all that a record holds, which a damaged digit changes."""
    digest = hashlib.sha256(json.dumps([plain, qids.to_pylist()], sort_keys=True).encode())
    for name, column in columns.items():
        digest.update(name.encode())
        digest.update(column.tobytes())
    return digest.hexdigest()


def without_names(warnings: Iterable[Finding], cell: Cell) -> list[Finding]:
    """Return warnings with a placeholder in place of the cell or file that they begin with.

    Values follow from bytes, whatever a file or a run is called; so must what is kept with them.
    """
    names = sorted(_names(cell).items(), key=lambda one: -len(one[1]))
    return _renamed(warnings, {name: f"{{{what}}}" for what, name in names})


def with_names(warnings: Iterable[Finding], cell: Cell) -> list[Finding]:
    """Return what :func:`without_names` made, with this cell's names."""
    return _renamed(warnings, {f"{{{what}}}": name for what, name in _names(cell).items()})


def _names(cell: Cell) -> dict[str, str]:
    names = {
        "dataset": cell.dataset_entry.path,
        "run": cell.run_entry.path,
        "run on dataset": f"{cell.run} on {cell.dataset}",
        "group": cell.dataset_entry.group or "",
    }
    return {what: name for what, name in names.items() if name}


def _renamed(warnings: Iterable[Finding], names: Mapping[str, str]) -> list[Finding]:
    def put(text: str) -> str:
        for old, new in names.items():
            if f"{text}:".startswith(f"{old}:"):
                return new + text.removeprefix(old)
        return text

    return [replace(one, place=put(one.place), what=put(one.what)) for one in warnings]


class Input(NamedTuple):
    """A file as it was read: its state (size, times, inode) and the SHA-256 of its bytes.

    The state of a file that is not settled might stay the same when its bytes change.
    """

    state: tuple[int, ...]
    digest: str
    is_settled: bool = False

    @property
    def size(self) -> int:
        """Bytes."""
        return self.state[0]


class Cache:
    """A folder of records, and an index of the hashes of their input files; None keeps nothing.

    A record is written whole or not at all, and read only under the hash of all that it follows
    from, so a cache is never stale and can be shared, copied and deleted at any time.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._index = _read_index(folder / INDEX) if folder else {}
        self._has_records = any(True for _ in self.records())
        self._is_changed = False

    def known(self, path: str) -> Input | None:
        """Return a file's state and hash; None if no record can be of it, or it is unreadable."""
        with contextlib.suppress(InputError):
            return self.hashed(path) if self._has_records else None
        return None

    def hashed(self, path: str) -> Input:
        """Return a file's state and hash; InputError if it cannot be read."""
        state, known = state_of(path), self._index.get(self._key_of(path))
        if known is not None and known.is_settled and known.state == state:
            return known
        try:
            read = Input(state, sha256(Path(path)))
        except OSError as error:
            raise InputError(Problem(path, f"cannot be read: {error.strerror}")) from error
        self.remember(path, read)
        return read

    def remember(self, path: str, read: Input) -> None:
        """Keep a file's hash in the index."""
        is_settled = time.time_ns() - max(read.state[1:3]) > _RECENT
        self._index[self._key_of(path)] = read._replace(is_settled=is_settled)
        self._is_changed = True

    def get(self, key: str) -> Record | None:
        """Return the record of that name; None without one that can be read."""
        if self.folder is None:
            return None
        try:
            return Record.from_parquet((self.folder / _name(key)).read_bytes())
        except DAMAGED:
            return None

    def put(self, key: str, record: Record) -> None:
        """Keep a record."""
        if self.folder is not None:
            self._mark(self.folder)
            write_all(self.folder, {_name(key): record.to_parquet()}, flush=False)

    def save(self) -> None:
        """Write the index and the marker."""
        if self.folder is None or not self._is_changed:
            return
        text = json.dumps({"files": self._index}, indent=0)
        with contextlib.suppress(HarnessError):  # it can be computed again
            self._mark(self.folder)
            write_all(self.folder, {INDEX: text.encode()}, flush=False)

    @staticmethod
    def _mark(folder: Path) -> None:
        """Mark the folder as a cache; without the marker, nothing in it is ever deleted."""
        if not is_marked(folder):
            with contextlib.suppress(HarnessError):  # a cache for reading alone needs none
                write_all(folder, {MARKER: _MARK}, flush=False)

    def records(self) -> Iterator[Path]:
        """Yield the files of all records in order; links and other files are left out."""
        for path in sorted(self.folder.glob("??/*.parquet")) if self.folder else ():
            is_named = _RECORD.fullmatch(path.name) and path.name[:2] == path.parent.name
            if is_named and not path.parent.is_symlink() and not path.is_symlink():
                yield path

    def _key_of(self, path: str) -> str:
        """Return the path from the cache, which holds when both are moved together."""
        return os.path.relpath(os.path.abspath(path), os.path.abspath(self.folder or ""))


def _name(key: str) -> str:
    return f"{key[:2]}/{key}.parquet"


def is_marked(folder: Path) -> bool:
    """Return whether a folder holds the marker that :class:`Cache` writes."""
    marker = folder / MARKER
    try:
        return not marker.is_symlink() and marker.read_bytes() == _MARK
    except OSError:
        return False


def foreign(folder: Path) -> list[str]:
    """Return the files of other programs that a cache in this folder would write over."""
    if is_marked(folder):
        return []
    return [name for name in (MARKER, INDEX) if (folder / name).exists()]


def _read_index(path: Path) -> dict[str, Input]:
    """Return the files of an index; none if it cannot be read."""
    try:
        return {
            str(name): Input(tuple(map(int, state)), str(digest), bool(is_settled))
            for name, (state, digest, is_settled) in json.loads(path.read_bytes())["files"].items()
        }
    except (*DAMAGED, AttributeError, ArithmeticError, RecursionError):
        return {}


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
    """Return the hash of the package and of what it computes with."""
    return hash_of([sources(), *computes_with()])


def hash_of(parts: Any) -> str:
    """Return the SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def user_code() -> list[str]:
    """Return the SHA-256 of each loaded plugin and of what it imports, but installed packages."""
    others = (*_installed(), f"{_PACKAGE}{os.sep}")
    own = {one for one in _loaded().values() if not one.startswith(others) and one[-3:] == ".py"}
    return sorted(sha256(Path(file)) for file in own if Path(file).is_file())


def installed_code(metrics: Iterable[Metric]) -> dict[str, dict[str, str | None]]:
    """Return distribution, version and SHA-256 of the installed packages of metrics, by name."""
    plugged = (metric.definition.function for metric in metrics if not metric.is_built_in)
    packages = {function.__module__.partition(".")[0] for function in plugged}
    found: dict[str, dict[str, str | None]] = {}
    for package in sorted(packages):
        files = {
            name: Path(file)
            for name, file in _loaded().items()
            if f"{name}.".startswith(f"{package}.") and file.startswith(_installed())
        }
        if files:
            names = packages_distributions().get(package, [])
            found[package] = {
                "distribution": names[0] if names else None,
                "version": version_of(names[0]) if names else None,
                "sha256": _of_files(files),
            }
    return found


def version_of(distribution: str) -> str | None:
    """Return the version of a distribution; None if it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _installed() -> tuple[str, ...]:
    """Return what the path of a file of Python or of an installed package begins with."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(f"{path}{os.sep}" for path in paths)


def _loaded() -> dict[str, str]:
    """Return the file of each module that is loaded from one."""
    files = {name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()]}
    return {name: file for name, file in files.items() if file}


def group_sizes_of(entry: DatasetEntry) -> str:
    """Return the file of group sizes that a dataset is read with, or ``""``."""
    if entry.group:
        return str(entry.group)
    return next_to(entry.path) if entry.format in (None, "letor") else ""


class Keys:
    """What the values of a config's cells follow from; metrics may compare one cell to another."""

    def __init__(self, config: Config, cells: Sequence[Cell]) -> None:
        self.cells, metrics = cells, config.parsed_metrics()
        self.references = dict.fromkeys(one.reference for one in metrics if one.reference)
        plugged = any(not metric.is_built_in for metric in metrics)
        self.code = [code(), user_code() if plugged else [], installed_code(metrics)]
        self.choices = {
            "policy": asdict(config.policy),
            "convention": config.convention,
            "crosscheck": mode_of(config.crosscheck),
        }

    def files(self, cell: Cell) -> list[str]:
        """Return the files of a cell itself."""
        sizes = group_sizes_of(cell.dataset_entry)
        return [path for path in (cell.dataset_entry.path, cell.run_entry.path, sizes) if path]

    def others(self, cell: Cell) -> list[RunEntry]:
        """Return the runs that metrics compare a cell's to."""
        return [reference(self.cells, cell, name).run_entry for name in self.references]

    def paths(self, cell: Cell) -> list[str]:
        """Return all files that a cell's values follow from."""
        return [*self.files(cell), *(one.path for one in self.others(cell))]

    def parts(self, cell: Cell, digests: Mapping[str, str]) -> dict[str, Any]:
        """Return all that a cell's values follow from, as plain data."""
        dataset = {k: v for k, v in cell.dataset_entry.options().items() if k != "group"}
        runs = [one.options() for one in (cell.run_entry, *self.others(cell))]
        return {
            "code": self.code,
            "inputs": [digests[path] for path in self.paths(cell)],
            "choices": {
                **self.choices, "dataset": dataset, "runs": runs,
                "references": [*self.references],
            },
        }  # fmt: skip
