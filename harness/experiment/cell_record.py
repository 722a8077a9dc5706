"""What the evaluation of one cell gives, as it is kept in a file."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

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
from ..errors import Finding
from ..files import check_room
from ..guard.facts import Facts
from .crosscheck import Audit

_META = b"harness"
_KINDS = ("values", "weights", "errors")


@dataclass(frozen=True, eq=False)
class Record:
    """Values of one cell by metric, whichever metrics were asked for so far.

    Parameters
    ----------
    qids : pyarrow string array, shape (n_queries,)
    values, weights, errors : mapping of str to ndarray of float64, shape (n_queries,)
        By canonical name of the metric; as in :class:`~harness.core.evaluation.Evaluation`. A
        metric that compares with another run has the name that
        :func:`~harness.experiment.cache_key.known_as` gives it.
    counts : Counts
        Those that depend on no metric; ``empty`` is 0.
    empty : mapping of int to int
        Queries without relevant documents, by the smallest grade that is relevant.
    audit : Audit
        The cross-check.
    warnings : tuple of Finding
        Those of the evaluation; see :func:`without_names`.
    header : mapping, optional
        ir_metadata at the head of the run's file; see :mod:`harness.readers.ir_metadata`.
    facts : Facts, optional
        What the guard's rules look at; None if the guard failed.
    about : mapping
        For ``harness cache``: ``dataset``, ``run``, names of the ``files``, and what the key is
        the hash of (:meth:`harness.experiment.cache_key.Naming.follows_from`).
    """

    qids: pa.Array
    values: Mapping[str, Floats]
    counts: Counts
    empty: Mapping[int, int]
    audit: Audit
    warnings: tuple[Finding, ...] = ()
    weights: Mapping[str, Floats] = field(default_factory=dict)
    errors: Mapping[str, Floats] = field(default_factory=dict)
    header: Mapping[str, Any] | None = None
    facts: Facts | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, evaluation: Evaluation, audit: Audit, warnings: Iterable[Finding],
        header: Mapping[str, Any] | None = None, facts: Facts | None = None,
    ) -> Record:  # fmt: skip
        """Return the record of an evaluation."""
        names = evaluation.names
        return cls(
            qids=evaluation.qids,
            values=dict(zip(names, evaluation.values.T, strict=True)),
            counts=replace(evaluation.counts, empty=0),
            empty={_level(evaluation.metrics): evaluation.counts.empty},
            audit=audit,
            warnings=tuple(dict.fromkeys(warnings)),
            weights={names[place]: column for place, column in evaluation.weights.items()},
            errors={names[place]: column for place, column in evaluation.errors.items()},
            header=header,
            facts=facts,
        )

    def renamed(self, names: Mapping[str, str]) -> Record:
        """Return this record with other names for the metrics that `names` has."""
        if not names:
            return self
        columns: dict[str, Any] = {
            kind: {names.get(name, name): column for name, column in getattr(self, kind).items()}
            for kind in _KINDS
        }
        return replace(self, **columns)

    def lacking(self, metrics: Sequence[Metric], names: Mapping[str, str]) -> tuple[Metric, ...]:
        """Return the metrics that are still to be computed; `names` as in :meth:`renamed`.

        All of them, if queries without relevant documents were not counted at their level.
        """
        if _level(metrics) not in self.empty:
            return tuple(metrics)
        return tuple(
            metric for metric in metrics if names.get(str(metric), str(metric)) not in self.values
        )

    def joined(self, more: Record) -> Record:
        """Return this record with the metrics of another one of the same cell."""
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
        self, metrics: Sequence[Metric], policy: Policy, cell: Cell, names: Mapping[str, str]
    ) -> Entry:
        """Return the leaderboard's entry for these metrics; `names` as in :meth:`renamed`."""
        keys = [names.get(str(metric), str(metric)) for metric in metrics]
        values = np.empty((len(self.qids), len(keys)))
        for place, key in enumerate(keys):
            values[:, place] = self.values[key]
        evaluation = Evaluation(
            values, self.qids, tuple(metrics), policy,
            replace(self.counts, empty=self.empty[_level(metrics)]),
            {place: self.weights[key] for place, key in enumerate(keys) if key in self.weights},
            cell.run, cell.dataset,
            {place: self.errors[key] for place, key in enumerate(keys) if key in self.errors},
        )  # fmt: skip
        return Entry(evaluation, cell.columns, cell.dataset_key if cell.of_dataset else "")

    def to_parquet(self) -> bytes:
        """Return the record as a Parquet file."""
        numbers = self._numbers()
        plain: dict[str, Any] = {
            "counts": asdict(self.counts),
            "empty": {str(level): n for level, n in self.empty.items()},
            "audit": self.audit.as_dict(),
            "warnings": [asdict(one) for one in self.warnings],
            "header": self.header,
            "facts": None if self.facts is None else self.facts.as_dict(),
            "about": self.about,
        }
        plain["sha256"] = _digest(plain, self.qids, numbers)
        columns = {"qid": self.qids, **{name: to_arrow(one) for name, one in numbers.items()}}
        table = pa.table(columns).replace_schema_metadata({_META: json.dumps(plain)})
        sink = io.BytesIO()
        pq.write_table(table, sink, compression="none", use_dictionary=False)
        return sink.getvalue()

    @classmethod
    def from_parquet(cls, content: bytes) -> Record:
        """Return the record that a Parquet file holds.

        Raises
        ------
        ValueError, KeyError, TypeError, pyarrow.ArrowException
            If it holds none, or other values than were written.
        """
        check_room(len(content))
        # read_table would import pandas
        table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
        plain = json.loads(table.schema.metadata[_META])
        expected, qids = plain.pop("sha256"), table["qid"].combine_chunks()
        numbers = {name: to_numpy(table[name]) for name in table.column_names[1:]}
        if _digest(plain, qids, numbers) != expected:
            raise ValueError("other values than were written")
        columns: dict[str, dict[str, Floats]] = {kind: {} for kind in _KINDS}
        for column, found in numbers.items():
            kind, _, name = column.partition(":")
            columns[kind][name] = found
        return cls(
            qids=qids,
            counts=Counts(**plain["counts"]),
            empty={int(level): n for level, n in plain["empty"].items()},
            audit=Audit(**plain["audit"]),
            warnings=tuple(
                Finding(**{**one, "examples": tuple(one["examples"]), "others": ()})
                for one in plain["warnings"]
            ),
            header=plain["header"],
            facts=None if plain["facts"] is None else Facts.from_dict(plain["facts"]),
            about=plain["about"],
            **columns,
        )

    def _numbers(self) -> dict[str, Floats]:
        return {
            f"{kind}:{name}": column
            for kind in _KINDS
            for name, column in getattr(self, kind).items()
        }


def _level(metrics: Iterable[Metric]) -> int:
    """Return the smallest grade that counts as relevant for all of these metrics."""
    return max(map(level_of, metrics), default=1)


def _digest(plain: Mapping[str, Any], qids: pa.Array, numbers: Mapping[str, Floats]) -> str:
    """Return the SHA-256 of all that a record holds, which a damaged digit changes."""
    digest = hashlib.sha256(json.dumps([plain, qids.to_pylist()], sort_keys=True).encode())
    for name, column in numbers.items():
        digest.update(name.encode())
        digest.update(column.tobytes())
    return digest.hexdigest()


def without_names(warnings: Iterable[Finding], cell: Cell) -> list[Finding]:
    """Return warnings with a placeholder where they name the cell or a file of it at the start.

    Values follow from bytes, whatever a file or a run is called; so must what is kept with them.
    """
    names = sorted(_names(cell).items(), key=lambda one: -len(one[1]))
    return _renamed(warnings, [(name, f"{{{what}}}") for what, name in names])


def with_names(warnings: Iterable[Finding], cell: Cell) -> list[Finding]:
    """Return what :func:`without_names` made, with this cell's names."""
    return _renamed(warnings, [(f"{{{what}}}", name) for what, name in _names(cell).items()])


def _renamed(warnings: Iterable[Finding], pairs: Sequence[tuple[str, str]]) -> list[Finding]:
    return [
        replace(one, place=_begun_with(one.place, pairs), what=_begun_with(one.what, pairs))
        for one in warnings
    ]


def _names(cell: Cell) -> dict[str, str]:
    names = {
        "dataset": cell.dataset_entry.path,
        "run": cell.run_entry.path,
        "run on dataset": f"{cell.run} on {cell.dataset}",
        "group": cell.dataset_entry.group or "",
    }
    return {what: name for what, name in names.items() if name}


def _begun_with(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    for old, new in pairs:
        if f"{text}:".startswith(f"{old}:"):
            return new + text.removeprefix(old)
    return text
