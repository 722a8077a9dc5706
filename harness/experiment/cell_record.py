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
            tuple(dict.fromkeys(warnings)), header, facts,
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
            weights, cell.run, cell.dataset, errors,
        )  # fmt: skip
        return Entry(evaluation, cell.columns, cell.dataset_key if cell.of_dataset else "")

    def to_parquet(self) -> bytes:
        """Return the record as a Parquet file."""
        plain: dict[str, Any] = {
            "counts": asdict(self.counts),
            "empty": {str(level): n for level, n in self.empty.items()},
            "audit": self.audit.as_dict(),
            "warnings": [asdict(one) for one in self.warnings],
            "header": self.header,
            "facts": None if self.facts is None else self.facts.as_dict(),
            "about": self.about,
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
