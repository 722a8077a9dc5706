"""Padded batches to pytrec_eval's dicts, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.arguments import MAPPING, TEXT, ArgumentKind, check_arguments, is_whole
from ..core.policy_views import check_whole
from ..core.qrels_and_runs import Qrels, Run
from ..core.ragged import Array, Ints
from ..errors import InputError, Problem
from ..readers.batches import from_batch, inside_of

_OFFSET = ArgumentKind("a whole number", lambda value: is_whole(value) and abs(value) <= 2**62)


def to_pytrec_eval(
    scores: Any,
    relevance: Any,
    n: Any = None,
    qids: Any = None,
    qid_offset: int = 0,
    q_prefix: str = "q",
    d_prefix: str = "d",
    *,
    mask: Any = None,
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Convert a padded batch to the ``(qrel, run)`` dicts of pytrec_eval.

    The dicts are those of ``generate_pytrec_eval`` of PyTorchLTR, which accepts only tensors, and
    does not reject NaN scores, fractional grades and repeated qids.

    Parameters
    ----------
    scores, relevance : array_like, shape (B, L) or (B, L, 1)
        Scores, and grades that are whole numbers: lists, arrays, tensors on any device, or any
        object with ``__array__`` or DLPack.
    n : array_like, shape (B,)
        Number of documents of each query, from 0 to L; the rest is padding, which is never read.
        For scores and grades of shape (n_rows,): the group sizes, as for LightGBM.
    qids : array_like, shape (B,), optional
        Distinct qids, whole numbers or strings; by default the row in the batch + `qid_offset`.
    qid_offset : int
        Qid of the first row of the batch, without `qids`.
    q_prefix : str
        Prefix of each qid.
    d_prefix : str
        Prefix of the position of each document in its docno.
    mask : array_like of bool, shape (B, L), optional
        In place of `n`: True for a document, False for padding, which may be anywhere.

    Returns
    -------
    qrel : dict of dict of int
    run : dict of dict of float

    Raises
    ------
    InputError
        If shapes do not fit, `n` is outside 0..L, a score is not finite, a grade is not whole, or
        a qid is repeated.

    Examples
    --------
    >>> to_pytrec_eval([[0.5, 2.0, 0.0]], [[1, 0, 0]], [2], qid_offset=4)
    ({'q4': {'d0': 1, 'd1': 0}}, {'q4': {'d0': 0.5, 'd1': 2.0}})
    """
    check_arguments(locals(), qid_offset=_OFFSET, q_prefix=TEXT, d_prefix=TEXT)
    qrels, run, _ = from_batch(
        scores, relevance, n, qids, mask=mask, first=qid_offset, keep_empty=True
    )
    check_whole(qrels)
    bounds = qrels.offsets.tolist()
    longest = int(np.diff(qrels.offsets).max(initial=0))
    docnos = [f"{d_prefix}{position}" for position in range(longest)]
    names = [f"{q_prefix}{qid}" for qid in qrels.qids.to_pylist()]

    def nested(numbers: list[Any]) -> dict[str, dict[str, Any]]:
        rows = zip(names, bounds[:-1], bounds[1:], strict=True)
        # The list of docnos is as long as the longest query: zip stops at the query's end.
        return {qid: dict(zip(docnos, numbers[i:j], strict=False)) for qid, i, j in rows}

    return nested(qrels.grades.tolist()), nested(run.scores.tolist())


def from_pytrec_eval(
    qrel: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> tuple[Array, Ints, Ints, list[str]]:
    """Convert the dicts of pytrec_eval to a padded batch; the inverse of `to_pytrec_eval`.

    Queries and documents keep the order of `qrel`. Both dicts must have the same queries and
    documents, because a batch has a score and a grade for every document.

    Parameters
    ----------
    qrel : mapping of str to mapping of str to int
    run : mapping of str to mapping of str to float
        Scores: ``{qid: {docno: score}}``.

    Returns
    -------
    scores : ndarray of float64, shape (B, L)
        Scores, 0 beyond `n`; L is the number of documents of the longest query.
    relevance : ndarray of int64, shape (B, L)
    n : ndarray of int64, shape (B,)
    qids : list of str

    Raises
    ------
    InputError
        If a query or document is in only one of the dicts.

    Examples
    --------
    >>> scores, relevance, n, qids = from_pytrec_eval(
    ...     {"q0": {"d0": 1, "d1": 0}, "q1": {"d0": 2}},
    ...     {"q0": {"d1": 2.0, "d0": 0.5}, "q1": {"d0": 1.5}},
    ... )
    >>> scores.tolist(), relevance.tolist(), n.tolist(), qids
    ([[0.5, 2.0], [1.5, 0.0]], [[1, 0], [2, 0]], [2, 1], ['q0', 'q1'])
    """
    check_arguments(locals(), qrel=MAPPING, run=MAPPING)
    judged = Qrels.from_dict(qrel, name="qrel")
    check_whole(judged)
    scored = Run.from_dict(run, name="run").to_dict()
    qrels = judged.to_dict()
    _check_shared(qrels, scored)
    qids = judged.qids.to_pylist()
    n = np.diff(judged.offsets)
    inside = inside_of(n, int(n.max(initial=0)))
    relevance = np.zeros(inside.shape, dtype=np.int64)
    relevance[inside] = judged.grades
    scores = np.zeros(inside.shape)
    scores[inside] = [scored[qid][docno] for qid in qids for docno in qrels[qid]]
    return scores, relevance, n, qids


def _check_shared(
    qrel: Mapping[str, Mapping[str, float]], run: Mapping[str, Mapping[str, float]]
) -> None:
    """Check that both name the same queries and documents."""
    fix = "give both a number for the same documents; harness.evaluate takes dicts that differ"
    for source, target, source_name, target_name in (
        (qrel, run, "qrel", "run"),
        (run, qrel, "run", "qrel"),
    ):
        for qid, documents in source.items():
            missing = "" if qid in target else f"query '{qid}'"
            if qid in target and not documents.keys() <= target[qid].keys():
                docno = next(docno for docno in documents if docno not in target[qid])
                missing = f"document '{docno}' of query '{qid}'"
            if missing:
                raise InputError(
                    Problem(source_name, f"{missing} is not in {target_name}", fix=fix)
                )
