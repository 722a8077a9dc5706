"""Padded batches <-> pytrec_eval's dicts <-> tables.

A *batch* is ``scores (B, L)``, ``relevance (B, L)`` and ``n (B,)``, the number of documents of
each query. Everything beyond ``n`` is padding and is never read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.arguments import MAPPING, TEXT, ArgumentKind, check_arguments, is_whole
from ..core.ragged import Array, Ints, offsets_of
from ..core.tables import Docnos, Qrels, Run
from ..errors import Finding, InputError, Problem, notice
from .arrays import documents_of, inside_of, numbers_of, qids_of

_OFFSET = ArgumentKind("a whole number", lambda value: is_whole(value) and abs(value) <= 2**62)


def from_batch(
    scores: Any,
    relevance: Any,
    n: Any = None,
    qids: Any = None,
    *,
    mask: Any = None,
    name: str = "",
    first: int = 0,
    fractions: bool = False,
    copy: bool = True,
) -> tuple[Qrels, Run]:
    """Return the tables of a padded batch; both share their rows, so no docno is looked up.

    The arrays are as :func:`to_pytrec_eval` takes them; qids count from `first` by default. Without
    `copy` the tables may share memory with the arrays.

    >>> qrels, run = from_batch([[0.5, 2.0, 9.9]], [[1, 0, 7]], [2], qids=[31])
    >>> qrels.to_dict(), run.to_dict()
    ({'31': {'d0': 1, 'd1': 0}}, {'31': {'d0': 0.5, 'd1': 2.0}})
    """
    given_scores, given_grades, lengths, inside = documents_of(scores, relevance, n, mask)
    offsets = offsets_of(lengths)
    names = qids_of(qids, lengths.size, first)

    def place(item: int) -> tuple[str, str]:
        row = int(np.searchsorted(offsets, item, side="right")) - 1
        if given_scores.ndim == 1:
            return f"[{item}]", names[row].as_py()
        column = item - int(offsets[row])
        column = column if inside is None else int(np.flatnonzero(inside[row])[column])
        return f"[{row}, {column}]", names[row].as_py()

    given = numbers_of(_unpadded(given_scores, inside, copy), "scores")
    bad = np.flatnonzero(~np.isfinite(given))
    if bad.size:
        at, qid = place(int(bad[0]))
        what = f"query '{qid}': expected a finite score, got '{given[bad[0]]}' ({bad.size} in all)"
        fix = "look for the model's overflow; if it is padding, n is too large"
        raise InputError(Problem(f"scores{at}", what, fix=fix, rule="not-finite"))
    grades = numbers_of(_unpadded(given_grades, inside, copy), "relevance")
    if grades.dtype.kind in "fu":
        wide = grades.astype(np.float64)
        sound = np.abs(wide) < 2**63
        bad = np.flatnonzero(~(sound if fractions else sound & (np.trunc(wide) == wide)))
        if bad.size:
            at, qid = place(int(bad[0]))
            kind = "finite" if fractions else "whole"
            what = f"query '{qid}': expected a {kind} grade, got '{grades[bad[0]]}'"
            fix = "round the grades, or exchange grades and scores if they are swapped"
            raise InputError(Problem(f"relevance{at}", what, fix=fix, rule="grade-values"))
    below = np.flatnonzero(grades < 0)
    if below.size:
        at, qid = place(int(below[0]))
        what = (
            f"query '{qid}': grades below 0: {below.size:,}; they count as unjudged; "
            "for padding, give mask=relevance >= 0"
        )
        found = Finding("negative-grades", "warning", f"relevance{at}", what, below.size)
        notice(found, 3)
    qrels = Qrels(names, offsets, Docnos(None, offsets), grades)
    return qrels, Run(names, offsets, qrels.docnos, given, name)


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
    """Return the ``(qrel, run)`` dicts that pytrec_eval takes, from a padded batch.

    The same dicts as ``generate_pytrec_eval`` of PyTorchLTR, which takes tensors only and accepts
    NaN scores, grades that are not whole, and qids that come twice.

    Parameters
    ----------
    scores, relevance : array_like, shape (B, L) or (B, L, 1)
        Scores and grades: lists, numpy, tensors on any device, or anything with ``__array__`` or
        DLPack. Grades are whole numbers.
    n : array_like, shape (B,)
        Documents of each query, from 0 to L; the rest is padding, which is never read. For scores
        and relevance of shape (rows,): the rows of each query, as LightGBM's `group`.
    qids : array_like, shape (B,), optional
        Distinct identifiers, whole numbers or strings; row + `qid_offset` by default.
    qid_offset : int
        Added to the row of a query for its qid, if `qids` are not given.
    q_prefix, d_prefix : str
        Put before each qid and before each document's position.
    mask : array_like of bool, shape (B, L), optional
        Instead of `n`: True for a document, False for padding, anywhere.

    Returns
    -------
    qrel : dict of dict of int
    run : dict of dict of float

    Raises
    ------
    InputError
        If shapes do not fit, `n` lies outside 0..L, a score is not finite, a grade is not
        whole, or a qid comes twice.

    Examples
    --------
    >>> to_pytrec_eval([[0.5, 2.0, 0.0]], [[1, 0, 0]], [2], qid_offset=4)
    ({'q4': {'d0': 1, 'd1': 0}}, {'q4': {'d0': 0.5, 'd1': 2.0}})
    """
    check_arguments(locals(), qid_offset=_OFFSET, q_prefix=TEXT, d_prefix=TEXT)
    qrels, run = from_batch(scores, relevance, n, qids, mask=mask, first=qid_offset)
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
    """Return a padded batch from pytrec_eval's dicts; the inverse of :func:`to_pytrec_eval`.

    Queries and documents are in the order of `qrel`. Both dicts must name the same ones, as a
    batch has a score and a grade for every document.

    Parameters
    ----------
    qrel : mapping of str to mapping of str to int
    run : mapping of str to mapping of str to float

    Returns
    -------
    scores : ndarray of float64, shape (B, L)
        0 beyond `n`; L is the number of documents of the longest query.
    relevance : ndarray of int64, shape (B, L)
    n : ndarray of int64, shape (B,)
    qids : list of str

    Raises
    ------
    InputError
        Naming the first query or document that only one of the two holds.

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
    Run.from_dict(run, name="run")  # it checks the scores
    _check_shared(qrel, run)
    qids = judged.qids.to_pylist()
    n = np.diff(judged.offsets)
    inside = inside_of(n, int(n.max(initial=0)))
    relevance = np.zeros(inside.shape, dtype=np.int64)
    relevance[inside] = judged.grades
    scores = np.zeros(inside.shape)
    scores[inside] = [run[qid][docno] for qid in qids for docno in qrel[qid]]
    return scores, relevance, n, qids


def _unpadded(batch: Array, inside: Array | None, copy: bool) -> Array:
    """Return the values outside the padding, row after row; all if `inside` is None."""
    if inside is not None:
        return batch[inside]
    return batch.flatten() if copy else batch.reshape(-1)


def _check_shared(
    qrel: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> None:
    """Check that both name the same queries and documents."""
    fix = "give both a number for the same documents; harness.evaluate takes dicts that differ"
    for here, there, one, other in ((qrel, run, "qrel", "run"), (run, qrel, "run", "qrel")):
        for qid, documents in here.items():
            missing = "" if qid in there else f"query '{qid}'"
            if qid in there and not documents.keys() <= there[qid].keys():
                docno = next(docno for docno in documents if docno not in there[qid])
                missing = f"document '{docno}' of query '{qid}'"
            if missing:
                raise InputError(Problem(one, f"{missing} is not in {other}", fix=fix))
