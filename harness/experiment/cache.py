"""Evaluated cells, kept by what they follow from, and the hashes of the files that they read."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..config.cells import Cell
from ..core.arrow import to_arrow, to_numpy
from ..core.evaluate import level_of
from ..core.evaluation import Counts, Evaluation
from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.ragged import Floats
from ..errors import Finding, HarnessError, InputError, Problem
from ..files import check_room, sha256, state_of, write_all
from ..guard.facts import Facts
from .crosscheck import Audit

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
"""What reading a damaged record raises."""
_META = b"harness"
VALUES, WEIGHTS, ERRORS = "values", "weights", "errors"


@dataclass(frozen=True, eq=False)
class Record:
    """Values of one cell by metric, whichever metrics were asked for so far."""

    qids: pa.Array
    columns: Mapping[str, Floats]
    """By ``values:``, ``weights:`` or ``errors:`` and a metric's canonical name, as in an
    :class:`~harness.core.evaluation.Evaluation`; see
    :meth:`~harness.experiment.cache_key.Keys.names` for metrics that compare two runs."""
    counts: Counts
    """Those that depend on no metric; ``empty`` is 0."""
    empty: Mapping[int, int]
    """Queries without relevant documents, by the smallest grade that is relevant."""
    audit: Audit
    """The cross-check."""
    warnings: tuple[Finding, ...] = ()
    """Those of the evaluation; see :func:`without_names`."""
    header: Mapping[str, Any] | None = None
    """ir_metadata at the head of the run's file."""
    facts: Facts | None = None
    """What the guard's rules look at; None if the guard failed."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """For ``harness cache``: names of dataset, run and files, and what the key is the hash of."""
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

    def renamed(self, names: Mapping[str, str]) -> Record:
        """Return this record with other names for the metrics in `names`."""
        columns = {}
        for column, found in self.columns.items():
            kind, _, name = column.partition(":")
            columns[f"{kind}:{names.get(name, name)}"] = found
        return replace(self, columns=columns)

    def missing(self, metrics: Sequence[Metric], names: Mapping[str, str]) -> tuple[Metric, ...]:
        """Return the metrics that are still to be computed; `names` as in :meth:`renamed`.

        All of them, if queries without relevant documents were not counted at their level.
        """
        if _level(metrics) not in self.empty:
            return tuple(metrics)
        return tuple(
            metric for metric in metrics
            if f"{VALUES}:{names.get(str(metric), str(metric))}" not in self.columns
        )  # fmt: skip

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

    def entry(
        self, metrics: Sequence[Metric], policy: Policy, cell: Cell, names: Mapping[str, str]
    ) -> Entry:
        """Return the leaderboard's entry for these metrics; `names` as in :meth:`renamed`."""
        keys = [names.get(str(metric), str(metric)) for metric in metrics]
        values = np.empty((len(self.qids), len(keys)))
        for place, key in enumerate(keys):
            values[:, place] = self.columns[f"{VALUES}:{key}"]
        weights, errors = (
            {
                place: self.columns[f"{kind}:{key}"]
                for place, key in enumerate(keys) if f"{kind}:{key}" in self.columns
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
