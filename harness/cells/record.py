"""What the evaluation of one cell gives, as it is kept in a file."""

from __future__ import annotations

import functools
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..core.arrow import to_arrow, to_numpy
from ..core.evaluate import level_of
from ..core.evaluation import Counts, Evaluation
from ..core.hashing import string_views
from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.ragged import Floats
from ..crosscheck import Audit
from ..guard.facts import Facts
from ..guard.said import Said
from ..system import check_room

_META = b"harness"
_KINDS = ("values", "weights", "errors")


class Columns(Mapping[str, Floats]):
    """Columns of one array by name, which takes a third of the memory that each alone takes.

    Parameters
    ----------
    names : sequence of str
    array : ndarray of float64, shape (n_queries, n_names)
    """

    __slots__ = ("_places", "array")

    def __init__(self, names: Sequence[str], array: Floats) -> None:
        self.array, self._places = array, _places(tuple(names))

    def __getitem__(self, name: str) -> Floats:
        """Return a column, ``(n_queries,)``."""
        return self.array[:, self._places[name]]

    def __iter__(self) -> Iterator[str]:
        """Yield the names, in the order of the columns."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._places)


@functools.lru_cache(maxsize=8)
def _places(names: tuple[str, ...]) -> dict[str, int]:
    """Return the place of each name: one object for all cells, so that it is sent once."""
    return {name: place for place, name in enumerate(names)}


@dataclass(frozen=True, eq=False)
class Record:
    """Values of one cell by metric, whichever metrics were asked for so far.

    Parameters
    ----------
    qids : pyarrow string array, shape (n_queries,)
    values, weights, errors : mapping of str to ndarray of float64, shape (n_queries,)
        By canonical name of the metric; as in :class:`~harness.core.evaluation.Evaluation`. Of
        metrics that compare to another run by :func:`~harness.cells.key.known_as`.
    counts : Counts
        Those that hang on no metric; ``empty`` is 0.
    empty : mapping of int to int
        Queries without relevant documents, by the smallest grade that is relevant.
    audit : Audit
        The cross-check.
    warnings : tuple of Said
        What was said while the cell was evaluated; see :mod:`harness.cells.said`.
    header : mapping, optional
        What the run's file says of itself; see :mod:`harness.readers.ir_metadata`.
    facts : Facts, optional
        What the guard's rules look at.
    about : mapping
        What it follows from, for those who look at a cache: ``dataset``, ``run``, names of the
        ``files`` when it was evaluated, their ``sizes``, and the parts of its own name
        (:func:`harness.cells.key.follows_from`).
    """

    qids: pa.Array
    values: Mapping[str, Floats]
    counts: Counts
    empty: Mapping[int, int]
    audit: Audit
    warnings: tuple[Said, ...] = ()
    weights: Mapping[str, Floats] = field(default_factory=dict)
    errors: Mapping[str, Floats] = field(default_factory=dict)
    header: Mapping[str, Any] | None = None
    facts: Facts | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, evaluation: Evaluation, audit: Audit, warnings: Iterable[Said],
        header: Mapping[str, Any] | None = None, facts: Facts | None = None,
    ) -> Record:  # fmt: skip
        """Return the record of an evaluation."""
        names = evaluation.names
        level = max((level_of(metric) for metric in evaluation.metrics), default=1)
        return cls(
            qids=evaluation.qids,
            values=Columns(names, evaluation.values),
            counts=replace(evaluation.counts, empty=0),
            empty={level: evaluation.counts.empty},
            audit=audit,
            warnings=tuple(dict.fromkeys(warnings)),
            weights={names[place]: found for place, found in evaluation.weights.items()},
            errors={names[place]: found for place, found in evaluation.errors.items()},
            header=header,
            facts=facts,
        )

    def renamed(self, names: Mapping[str, str]) -> Record:
        """Return this record with other names of metrics, for those that `names` has."""

        def put(found: Mapping[str, Floats]) -> dict[str, Floats]:
            return {names.get(name, name): one for name, one in found.items()}

        if not names:
            return self
        return replace(
            self, values=put(self.values), weights=put(self.weights), errors=put(self.errors)
        )

    def lacking(
        self, metrics: Iterable[Metric], names: Mapping[str, str] | None = None
    ) -> tuple[Metric, ...]:
        """Return the metrics that have to be computed yet; `names` as in :meth:`renamed`.

        All of them, where the number of queries without relevant documents is not known for
        the level that they ask for together.
        """
        wanted = tuple(metrics)
        if max((level_of(metric) for metric in wanted), default=1) not in self.empty:
            return wanted
        known = names or {}
        return tuple(
            metric for metric in wanted if known.get(str(metric), str(metric)) not in self.values
        )

    def joined(self, more: Record) -> Record:
        """Return this record with what another of the same cell has beyond it."""
        return replace(
            self,
            values={**self.values, **more.values},
            weights={**self.weights, **more.weights},
            errors={**self.errors, **more.errors},
            empty={**self.empty, **more.empty},
            audit=self.audit.joined(more.audit),
            warnings=tuple(dict.fromkeys((*self.warnings, *more.warnings))),
            facts=more.facts or self.facts,
        )

    def entry(
        self, metrics: Sequence[Metric], policy: Policy, *, run: str, dataset: str,
        columns: Mapping[str, str], pattern: str = "", known_as: Mapping[str, str] | None = None,
    ) -> Entry:  # fmt: skip
        """Return the leaderboard's row for these metrics, all of which must be here.

        `known_as` as `names` in :meth:`renamed`.
        """
        names = [(known_as or {}).get(str(metric), str(metric)) for metric in metrics]
        level = max((level_of(metric) for metric in metrics), default=1)
        if isinstance(self.values, Columns) and [*self.values] == names:
            values = self.values.array
        else:
            values = np.empty((len(self.qids), len(names)))
            for place, name in enumerate(names):
                values[:, place] = self.values[name]
        evaluation = Evaluation(
            values, self.qids, tuple(metrics), policy,
            replace(self.counts, empty=self.empty[level]),
            {place: self.weights[name] for place, name in enumerate(names) if name in self.weights},
            run, dataset,
            {place: self.errors[name] for place, name in enumerate(names) if name in self.errors},
        )  # fmt: skip
        return Entry(evaluation, columns, pattern)

    def to_parquet(self) -> bytes:
        """Return the record as a Parquet file."""
        columns: dict[str, Any] = {"qid": self.qids}
        for kind in _KINDS:
            of_kind: Mapping[str, Floats] = getattr(self, kind)
            columns |= {f"{kind}:{name}": to_arrow(found) for name, found in of_kind.items()}
        said = self._said()
        said["sha256"] = self._digest(said)
        table = pa.table(columns).replace_schema_metadata({_META: json.dumps(said)})
        sink = io.BytesIO()
        pq.write_table(table, sink, compression="none", use_dictionary=False)
        return sink.getvalue()

    @classmethod
    def from_parquet(cls, content: bytes) -> Record:
        """Return the record that a Parquet file holds.

        Raises
        ------
        ValueError, KeyError, TypeError, pyarrow.ArrowException
            Where it holds none.
        """
        # read_table would import pandas
        check_room(len(content))
        table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
        said = json.loads(table.schema.metadata[_META])
        expected = said.pop("sha256")
        found: dict[str, dict[str, Floats]] = {kind: {} for kind in _KINDS}
        for column in table.column_names[1:]:
            kind, _, name = column.partition(":")
            found[kind][name] = to_numpy(table[column])
        record = cls(
            qids=table["qid"].combine_chunks(),
            counts=Counts(**said["counts"]),
            empty={int(level): n for level, n in said["empty"].items()},
            audit=Audit(**said["audit"]),
            warnings=tuple(Said(*one)._replace(examples=tuple(one[4])) for one in said["warnings"]),
            header=said["header"],
            facts=None if said["facts"] is None else Facts.from_dict(said["facts"]),
            about=said["about"],
            **found,
        )
        if record._digest(said) != expected:  # not made anew, which would take the most time
            raise ValueError("other values than were written")
        return record

    def _said(self) -> dict[str, Any]:
        """Return what is no column, as plain data."""
        return {
            "counts": asdict(self.counts),
            "empty": {str(level): n for level, n in self.empty.items()},
            "audit": self.audit.as_dict(),
            "warnings": list(self.warnings),
            "header": self.header,
            "facts": None if self.facts is None else self.facts.as_dict(),
            "about": self.about,
        }

    def _digest(self, said: Mapping[str, Any]) -> str:
        """Return the SHA-256 of all it holds, so that a damaged digit is not taken for one.

        `said` is what is no column, as it was written or read.
        """
        digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
        offsets, data = string_views(self.qids)
        digest.update(np.diff(offsets).astype(np.int64).tobytes())
        digest.update(data[offsets[0] : offsets[-1]].tobytes())
        for kind in _KINDS:
            of_kind: Mapping[str, Floats] = getattr(self, kind)
            for name, found in of_kind.items():
                digest.update(f"{kind}:{name}\0".encode())
                digest.update(np.ascontiguousarray(found).tobytes())
        return digest.hexdigest()


def sizes_of(path: Path) -> set[int]:
    """Return the sizes of the files that a kept record follows from; none where it cannot be read.

    No values are read. A record that says none is as if it were not there: its cell is computed
    again where no other has files of those sizes.
    """
    try:
        said = json.loads(pq.read_schema(path).metadata[_META])
        return {int(size) for size in said["about"]["sizes"]}
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return set()
