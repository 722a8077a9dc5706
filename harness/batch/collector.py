"""Collected batches of an evaluation or training loop."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import metrics as _built_in
from ..core.align import align_parts
from ..core.arguments import PATH, TEXT, check_arguments, checked_init
from ..core.arrow import string_column
from ..core.evaluation import Evaluation
from ..core.evaluation import evaluate as evaluate_aligned
from ..core.metric import Metric
from ..core.names import parse_all
from ..core.policy import Policy, policy_of
from ..core.policy_views import check_grades, policies_of
from ..core.qrels_and_runs import Docnos, Qrels, Run
from ..core.ragged import Array, offsets_of
from ..errors import InputError, Problem
from ..readers.batches import from_batch
from ..readers.files import write_all
from ..readers.query_weights import weights_of

del _built_in

FORMAT = "harness-batch-1"
"""Entry ``format`` of a saved batch file."""


@checked_init
class BatchCollector:
    """Collect the batches of an evaluation loop, then evaluate or save them together.

    Examples
    --------
    >>> collector = BatchCollector()
    >>> collector.add([[0.5, 2.0, 0.0]], [[1, 0, 0]], [2])
    >>> collector.add([[3.0, 2.0], [1.0, 0.0]], [[1, 0], [0, 1]], [2, 1])
    >>> collector
    <BatchCollector: 3 queries, 5 documents>
    >>> collector.evaluate(["P@1"]).to_dict()
    {'0': {'P@1': 0.0}, '1': {'P@1': 1.0}, '2': {'P@1': 0.0}}
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Qrels, Run]] = []
        self._batch_of: dict[str, int] = {}
        self._n_rows, self._is_evaluated = 0, False

    def add(
        self, scores: Any, relevance: Any, n: Any = None, qids: Any = None, *, mask: Any = None
    ) -> None:
        """Check a batch and store a copy.

        Parameters
        ----------
        scores, relevance : array_like, shape (B, L) or (B, L, 1)
            Scores and grades: lists, arrays, or tensors on any device.
        n : array_like, shape (B,), optional
            Number of documents of each query; the rest is padding.
        qids : array_like, shape (B,), optional
            Distinct qids; by default 0, 1, ... over all batches.
        mask : array_like of bool, shape (B, L), optional
            In place of `n`: True for a document, False for padding.

        Raises
        ------
        InputError
            If the batch is wrong, an earlier batch has one of its qids, or the collector was
            evaluated without a `reset` since. The batch is not stored.
        """
        if self._is_evaluated:
            message = (
                "the collector was evaluated, and this batch would count with the earlier ones"
            )
            raise InputError(
                Problem("BatchCollector.add", message, fix="call reset() before the next epoch")
            )
        qrels, run, lengths = from_batch(scores, relevance, n, qids, mask=mask, first=self._n_rows)
        names = qrels.qids.to_pylist()
        if repeated := [qid for qid in names if qid in self._batch_of]:
            earlier = self._batch_of[repeated[0]]
            message = f"expected each query once, got '{repeated[0]}' in batches {earlier}"
            fix = "give qids with every batch, or with none"
            if qids is not None:
                fix = "give each query a different qid, and evaluate each query once"
            raise InputError(Problem("qids", f"{message} and {len(self._parts)}", fix=fix))
        self._batch_of.update(dict.fromkeys(names, len(self._parts)))
        self._parts.append((qrels, run))
        self._n_rows += lengths.size

    def reset(self) -> None:
        """Remove all batches, before the next epoch."""
        self._parts, self._batch_of = [], {}
        self._n_rows, self._is_evaluated = 0, False

    def to_tables(self, name: str = "") -> tuple[Qrels, Run]:
        """Return all batches as a pair of qrels and run, with documents d0, d1, ... by position."""
        check_arguments(locals(), name=TEXT)
        parts = self._parts
        offsets = offsets_of(_join([np.diff(qrels.offsets) for qrels, _ in parts]))
        qids, docnos = string_column(self._batch_of), Docnos(None, offsets)
        grades = _join([qrels.grades for qrels, _ in parts])
        scores = _join([run.scores for _, run in parts])
        return Qrels(qids, offsets, docnos, grades), Run(qids, offsets, docnos, scores, name)

    def evaluate(
        self,
        metrics: Iterable[str | Metric],
        policy: Policy | Mapping[str, Any] | None = None,
        name: str = "",
        weights: Any = None,
    ) -> Evaluation:
        """Evaluate all batches together.

        Parameters
        ----------
        metrics : iterable of str or Metric
            Names in any spelling; ``harness metrics`` lists them.
        policy : Policy or mapping, optional
            Treatment of ties, missing and empty queries, and depth.
        name : str
            Name of the run in reports.
        weights : mapping of str to number, or path, optional
            As `harness.evaluate` takes it.

        Raises
        ------
        InputError
            If no query was added, or a metric does not accept a grade.
        UnknownNameError
            If a metric does not exist.
        """
        check_arguments(locals(), name=TEXT)
        parsed, policy = parse_all(metrics), policy_of(policy)
        table = None if weights is None else weights_of(weights)
        self._check_filled()
        qrels, run = self.to_tables(name)
        check_grades(qrels, parsed, policy)
        parts = align_parts(qrels, run, policy, policies_of(parsed, policy))
        evaluation = evaluate_aligned(parts, parsed, run=name)
        self._is_evaluated = True
        return evaluation if table is None else table.weigh(evaluation)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all batches to an ``.npz`` file, for ``format: batch`` in a config.

        Its entries are ``format`` ("harness-batch-1"), ``qids`` and ``n`` of shape (n_queries,),
        and ``scores`` and ``relevance`` of shape (n_items,), query by query without padding.
        Scores are float64, grades int64 (float64 for fractions). The file has no docnos, so a run
        needs a score for every row of its queries.

        Parameters
        ----------
        path : path
            The file. Its folder is created if needed.

        Raises
        ------
        InputError
            If no query was added.
        HarnessError
            If the file cannot be written.
        """
        check_arguments(locals(), path=PATH)
        self._check_filled()
        qrels, run = self.to_tables()
        arrays: dict[str, Any] = {
            "format": np.array(FORMAT),
            "qids": np.array(qrels.qids.to_pylist(), dtype=np.str_),
            "n": np.diff(qrels.offsets),
            "scores": run.scores,
            "relevance": qrels.grades,
        }
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)
        path = Path(path)
        write_all(path.parent, {path.name: content.getvalue()})

    def __len__(self) -> int:
        """Number of collected queries."""
        return len(self._batch_of)

    def __repr__(self) -> str:
        documents = sum(qrels.n_rows for qrels, _ in self._parts)
        return f"<BatchCollector: {len(self)} queries, {documents} documents>"

    def _check_filled(self) -> None:
        if not self._batch_of:
            fix = "add(scores, relevance, n) first"
            raise InputError(Problem("BatchCollector", "it has no queries", fix=fix))


def _join(arrays: list[Array]) -> Array:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
