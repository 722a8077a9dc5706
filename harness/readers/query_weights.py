"""Weights of queries, such as their traffic: from a table by qid, or a mapping."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.evaluation import Evaluation
from ..errors import ArgumentError, InputError, Place, Problem, first_of
from ..input_files import name_of
from .groups import rows_by_qid

RULE = "query-weights"
SHOWN = 5
FORMS = "give {qid: number}, or a file such as traffic.csv:impressions"


@dataclass(frozen=True, eq=False)
class QueryWeights:
    """A weight for each query: not below 0, and relative to those of the others."""

    place: str
    """The file, or the argument, for messages."""
    by: str
    """Name of the column of query weights."""
    values: Mapping[str, float]

    def check(self, qids: Sequence[str], dataset: str) -> None:
        """Raise InputError if a query has no weight, or no query has one above 0."""
        where = f" of dataset '{dataset}'" if dataset else ""
        if missing := [qid for qid in qids if qid not in self.values]:
            got = f"got none for {len(missing):,} of {len(qids):,}: {first_of(missing, SHOWN)}"
            message = f"expected a weight for every query{where}, {got}"
            fix = "add these qids; weight 0 leaves a query out of the mean"
            raise InputError(Problem(self.place, message, fix=fix, rule=RULE))
        if qids and not any(self.values[qid] for qid in qids):
            message = f"expected a weight above 0 for some query{where}, got 0 for all"
            fix = "give the queries that count a weight above 0"
            raise InputError(Problem(self.place, message, fix=fix, rule=RULE))

    def weigh(self, evaluation: Evaluation) -> Evaluation:
        """Return the evaluation with these weights; InputError if a query has none."""
        qids = evaluation.qids.to_pylist()
        self.check(qids, evaluation.dataset)
        weights = np.array([self.values[qid] for qid in qids], dtype=np.float64)
        return evaluation.weighted(weights, self.by)


def read_weights(path: Path, qid: str = "qid", column: str | None = None) -> QueryWeights:
    """Return the weights of the queries of a CSV, TSV or Parquet file.

    By default `column` is the only column of numbers except the qids.

    Raises
    ------
    InputError
        If a qid occurs twice, a weight is not a number or is below 0, or several columns may have
        the weights.
    """
    file = name_of(path)
    rows = rows_by_qid(path, qid, [] if column is None else [column])
    others = [name for name in next(iter(rows.values()), (0, {}))[1] if name != qid]
    if column is None:
        numeric = [
            name
            for name in others
            if all(_number(row[name]) is not None for _, row in rows.values())
        ]
        column, *further = numeric or others or [""]
        if further or not column:
            got = first_of(numeric or others) if others else "none"
            message = f"expected one column of numbers next to '{qid}', got {got}"
            fix = f"name the column: --weights {path.name}:COLUMN, in a config 'column:'"
            raise InputError(Problem(Place(file, 1), message, fix=fix, rule=RULE))
    weights: dict[str, float] = {}
    is_table = path.suffix == ".parquet"
    for name, (line, row) in rows.items():
        number = _number(row[column])
        if number is None or number < 0:
            place = Place(file, row=line - 1) if is_table else Place(file, line)
            raise InputError(_problem(place, name, row[column] or "nothing", column))
        weights[name] = number
    return QueryWeights(file, column, weights)


def weights_of(weights: Any) -> QueryWeights:
    """Return the weights of a mapping of qids to numbers, or of a file ``FILE:COLUMN``."""
    if isinstance(weights, (str, os.PathLike)):
        return read_weights(*split_column(os.fspath(weights)))
    if not isinstance(weights, Mapping):
        message = f"expected qids with their weights, got {type(weights).__name__}"
        raise ArgumentError(Problem("weights", message, fix=FORMS))
    values: dict[str, float] = {}
    for qid, weight in weights.items():
        number = None if isinstance(weight, (str, bool)) else _number(weight)
        if number is None or number < 0:
            raise ArgumentError(_problem("weights", str(qid), repr(weight), ""))
        values[str(qid)] = number
    return QueryWeights("weights", "weight", values)


def split_column(text: str) -> tuple[Path, str, str | None]:
    """Return the file, the column of qids and that of weights of ``FILE`` or ``FILE:COLUMN``.

    >>> split_column("traffic.csv:impressions")
    (PosixPath('traffic.csv'), 'qid', 'impressions')
    """
    path, colon, column = text.rpartition(":")
    if not colon or os.path.exists(text) or "/" in column:
        return Path(text), "qid", None
    return Path(path), "qid", column


def _number(value: Any) -> float | None:
    """Return a finite number, or None if it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and "_" not in str(value) else None


def _problem(place: str, qid: str, got: str, column: str) -> Problem:
    of_column = f" in column '{column}'" if column else ""
    message = f"expected a weight of 0 or more for query '{qid}'{of_column}, got {got}"
    return Problem(place, message, fix="correct it; weight 0 leaves a query out", rule=RULE)
