"""Padded batches <-> pytrec_eval's dicts <-> tables.

A *batch* is what a learning-to-rank training loop holds: ``scores (B, L)``, ``relevance
(B, L)`` and ``n (B,)``, the number of documents of each query. What stands beyond ``n`` is
padding and is never read.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from . import metrics as _built_in
from .core.align import align
from .core.evaluation import Evaluation
from .core.evaluation import evaluate as evaluate_aligned
from .core.metric import Metric
from .core.names import parse_all
from .core.policy import Policy
from .core.ragged import Array, Ints, offsets_of
from .core.tables import Docnos, Qrels, Run
from .errors import HarnessError, InputError, Problem

del _built_in

FORMAT = "harness-batch-1"
"""What the entry ``format`` of a saved batch file says."""

_SHAPES = "give scores and relevance of shape (B, L) or (B, L, 1), and n of shape (B,)"


def from_batch(
    scores: Any, relevance: Any, n: Any, qids: Any = None, *, name: str = ""
) -> tuple[Qrels, Run]:
    """Return the tables of a padded batch; both share their rows, so no docno is looked up.

    Parameters
    ----------
    scores : array_like, shape (B, L) or (B, L, 1)
        The system's scores: lists, numpy of any numeric dtype, tensors (on any device, also
        requiring grad, also half precision), or anything with ``__array__`` or DLPack.
    relevance : array_like, shape (B, L) or (B, L, 1)
        Grades; floats where they are whole.
    n : array_like, shape (B,)
        Documents of each query, from 0 to L. What stands beyond is never read.
    qids : array_like, shape (B,), optional
        Distinct identifiers, whole numbers or strings; "0", "1", ... by default.
    name : str
        Name of the run.

    Returns
    -------
    Qrels, Run
        The documents of a query are d0, d1, ... by position.

    Raises
    ------
    InputError
        Where shapes do not fit, `n` lies outside 0..L, a score is not finite, a grade is not
        whole, or a qid comes twice.

    Examples
    --------
    >>> qrels, run = from_batch([[0.5, 2.0, 9.9]], [[1, 0, 7]], [2], qids=[31])
    >>> qrels.to_dict(), run.to_dict()
    ({'31': {'d0': 1, 'd1': 0}}, {'31': {'d0': 0.5, 'd1': 2.0}})
    """
    return _tables(scores, relevance, n, qids, name=name)


def to_pytrec_eval(
    scores: Any,
    relevance: Any,
    n: Any,
    qids: Any = None,
    qid_offset: int = 0,
    q_prefix: str = "q",
    d_prefix: str = "d",
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return the ``(qrel, run)`` dicts that pytrec_eval takes, from a padded batch.

    The same dicts as ``generate_pytrec_eval`` of PyTorchLTR, which takes tensors only and lets
    pass what is an error here: a NaN score, a grade that is not whole, a qid that comes twice.

    Parameters
    ----------
    scores, relevance, n, qids : array_like
        As :func:`from_batch` takes them.
    qid_offset : int
        Added to the row of a query for its qid, where `qids` are not given.
    q_prefix, d_prefix : str
        Put before each qid and before each document's position.

    Returns
    -------
    qrel : dict of dict of int
    run : dict of dict of float

    Raises
    ------
    InputError
        As :func:`from_batch`.

    Examples
    --------
    >>> to_pytrec_eval([[0.5, 2.0, 0.0]], [[1, 0, 0]], [2], qid_offset=4)
    ({'q4': {'d0': 1, 'd1': 0}}, {'q4': {'d0': 0.5, 'd1': 2.0}})
    """
    qrels, run = _tables(scores, relevance, n, qids, first=qid_offset)
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

    Queries and documents stand in the order of `qrel`. Both dicts must name the same ones: a
    batch has a score and a grade for every document, and neither is made up here.

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
    judged, ranked = Qrels.from_dict(qrel, name="qrel"), Run.from_dict(run, name="run")
    _check_shared(qrel, run)
    qids = judged.qids.to_pylist()
    n = np.diff(judged.offsets)
    inside = _inside(n, int(n.max(initial=0)))
    relevance = np.zeros(inside.shape, dtype=np.int64)
    relevance[inside] = judged.grades
    scores = np.zeros(inside.shape)
    if list(run) == qids and all(list(run[qid]) == list(qrel[qid]) for qid in qids):
        scores[inside] = ranked.scores
    else:
        scores[inside] = [run[qid][docno] for qid in qids for docno in qrel[qid]]
    return scores, relevance, n, qids


class BatchCollector:
    """Gathers the batches of an evaluation loop, to evaluate or save them together.

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

    def add(self, scores: Any, relevance: Any, n: Any, qids: Any = None) -> None:
        """Check a batch and keep a copy of what is in it.

        Parameters
        ----------
        scores, relevance, n, qids : array_like
            As :func:`from_batch` takes them. Without `qids` a query's is its number, counted
            on from the batches before.

        Raises
        ------
        InputError
            Where the batch is wrong or one of its qids came before; nothing of it is kept.
        """
        qrels, run = _tables(scores, relevance, n, qids, first=len(self))
        names = qrels.qids.to_pylist()
        again = next((qid for qid in names if qid in self._batch_of), None)
        if again is not None:
            raise InputError(
                Problem(
                    "qids",
                    f"query '{again}' was in batch {self._batch_of[again]} already, and is in "
                    f"batch {len(self._parts)} again",
                    fix="give each query a qid of its own, and evaluate each query once"
                    if qids is not None
                    else "give qids with every batch, or with none",
                )
            )
        self._batch_of.update(dict.fromkeys(names, len(self._parts)))
        self._parts.append((qrels, run))

    def to_tables(self) -> tuple[Qrels, Run]:
        """Return all batches as one pair of tables, as :func:`from_batch` does for one."""
        return self._joined("")

    def evaluate(
        self, metrics: Iterable[str | Metric], policy: Policy | None = None, name: str = ""
    ) -> Evaluation:
        """Evaluate all batches together.

        Parameters
        ----------
        metrics : iterable of str or Metric
            Names in any spelling; ``harness metrics`` lists them.
        policy : Policy, optional
            Ties, missing and empty queries, depth.
        name : str
            Name of the run, for reports.

        Raises
        ------
        InputError
            Where no query was added.
        UnknownNameError
            Where a metric does not exist.
        """
        wanted = parse_all(metrics)
        self._check_filled()
        qrels, run = self._joined(name)
        return evaluate_aligned(align(qrels, run, policy), wanted, run=name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all batches to an ``.npz`` file, whole or not at all.

        Its entries: ``format`` ("harness-batch-1"), ``qids`` and ``n`` of shape (n_queries,),
        ``scores`` (float64) and ``relevance`` (int64) of shape (n_items,), one query after
        another without padding. A config names it as ``format: batch``.

        Parameters
        ----------
        path : path
            Its folder is made where it does not exist.

        Raises
        ------
        InputError
            Where no query was added.
        HarnessError
            Where the file cannot be written.
        """
        self._check_filled()
        qrels, run = self.to_tables()
        _write_npz(
            Path(path),
            {
                "format": np.array(FORMAT),
                "qids": np.array(qrels.qids.to_pylist(), dtype=np.str_),
                "n": np.diff(qrels.offsets),
                "scores": run.scores,
                "relevance": qrels.grades,
            },
        )

    def __len__(self) -> int:
        """Number of queries so far."""
        return len(self._batch_of)

    def __repr__(self) -> str:
        documents = sum(qrels.n_rows for qrels, _ in self._parts)
        return f"<BatchCollector: {len(self)} queries, {documents} documents>"

    def _check_filled(self) -> None:
        if not self._batch_of:
            raise InputError(
                Problem(
                    "BatchCollector", "it holds no query", fix="add(scores, relevance, n) first"
                )
            )

    def _joined(self, name: str) -> tuple[Qrels, Run]:
        parts = self._parts
        offsets = offsets_of(_join([np.diff(qrels.offsets) for qrels, _ in parts]))
        qids, docnos = pa.array(self._batch_of, pa.string()), Docnos(None, offsets)
        grades = _join([qrels.grades for qrels, _ in parts])
        scores = _join([run.scores for _, run in parts])
        return Qrels(qids, offsets, docnos, grades), Run(qids, offsets, docnos, scores, name)


def _join(arrays: list[Array]) -> Array:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)


def _tables(
    scores: Any, relevance: Any, n: Any, qids: Any, *, first: int = 0, name: str = ""
) -> tuple[Qrels, Run]:
    padded_scores, padded_grades = _padded(scores, "scores"), _padded(relevance, "relevance")
    if padded_scores.shape != padded_grades.shape:
        raise InputError(
            Problem(
                "relevance",
                "scores and relevance differ in shape",
                f"{padded_scores.shape} and {padded_grades.shape}",
                _SHAPES,
            )
        )
    n_queries, width = padded_scores.shape
    lengths = _lengths(n, n_queries, width)
    offsets = offsets_of(lengths)
    names = _qids(qids, n_queries, first)
    inside = _inside(lengths, width)

    def place(item: int) -> tuple[str, str]:
        row = int(np.searchsorted(offsets, item, side="right")) - 1
        return f"[{row}, {item - int(offsets[row])}]", names[row].as_py()

    given = _numbers(padded_scores[inside], "scores")
    bad = np.flatnonzero(~np.isfinite(given))
    if bad.size:
        at, qid = place(int(bad[0]))
        raise InputError(
            Problem(
                f"scores{at}",
                f"score '{given[bad[0]]}' of query '{qid}' is not a finite number"
                + (f" ({bad.size} such scores in the batch)" if bad.size > 1 else ""),
                fix="look for the model's overflow; if it is padding, n is too large",
            )
        )
    grades = _numbers(padded_grades[inside], "relevance")
    if grades.dtype.kind == "f":
        bad = np.flatnonzero(~((np.trunc(grades) == grades) & (np.abs(grades) < 2.0**63)))
        if bad.size:
            at, qid = place(int(bad[0]))
            raise InputError(
                Problem(
                    f"relevance{at}",
                    f"grade '{grades[bad[0]]}' of query '{qid}' is not a whole number",
                    fix="judgements are integers; scale or round them before",
                )
            )
    qrels = Qrels(names, offsets, Docnos(None, offsets), grades.astype(np.int64))
    return qrels, Run.for_rows(qrels, given.astype(np.float64), name=name)


def _inside(n: Ints, width: int) -> Array:
    """Return which places of a padded batch hold a document, ``(B, L)`` bool."""
    inside: Array = np.arange(width) < n[:, None]
    return inside


def _array(given: Any, name: str) -> Array:
    """Return anything array-like as a numpy array; torch is never imported here."""
    try:
        if hasattr(given, "detach"):
            given = given.detach().cpu()
            # numpy has no bfloat16; float64 holds every narrower float as it is.
            return np.asarray((given.double() if given.is_floating_point() else given).numpy())
        if isinstance(given, (list, tuple)):
            parts = [_array(part, name) if hasattr(part, "detach") else part for part in given]
            return np.asarray(parts)
        if hasattr(given, "__array__") or not hasattr(given, "__dlpack__"):
            return np.asarray(given)
        return np.from_dlpack(given)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        reason = "its rows differ in length" if "inhomogeneous" in str(error) else str(error)
        raise InputError(
            Problem(
                name,
                f"a {type(given).__name__} that is no array: {reason}",
                fix="give numbers in a list, a numpy array or a tensor, all rows padded to one "
                "length",
            )
        ) from error


def _padded(given: Any, name: str) -> Array:
    array = _array(given, name)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim != 2:
        raise InputError(
            Problem(name, "not a padded batch of two dimensions", f"shape {array.shape}", _SHAPES)
        )
    return array


def _numbers(values: Array, name: str) -> Array:
    """Return the values inside the lists; padding is gone already, whatever it was."""
    if values.dtype.kind == "O":
        values = np.array(values.tolist())
    if values.size == 0:
        return np.zeros(0)
    if values.dtype.kind == "V" and "float" in values.dtype.name:  # bfloat16 outside torch
        return values.astype(np.float64)
    if values.dtype.kind not in "iufb":
        raise InputError(
            Problem(name, "not an array of numbers", f"dtype {values.dtype}", "convert it before")
        )
    return values


def _lengths(n: Any, n_queries: int, width: int) -> Ints:
    lengths = _array(n, "n")
    if lengths.shape != (n_queries,):
        raise InputError(
            Problem(
                "n",
                f"not one length for each of the {n_queries} queries",
                f"shape {lengths.shape}",
                _SHAPES,
            )
        )
    numbers = _numbers(lengths, "n")
    whole = numbers == np.trunc(numbers)
    bad = np.flatnonzero(~(whole & (numbers >= 0) & (numbers <= width)))
    if bad.size:
        raise InputError(
            Problem(
                f"n[{bad[0]}]",
                f"{numbers[bad[0]]} is no number of documents from 0 to {width}, the list size",
                fix="n counts the documents of each query, without padding",
            )
        )
    return numbers.astype(np.int64)


def _qids(qids: Any, n_queries: int, first: int) -> pa.Array:
    """Return the qids as an Arrow string column; `first`, `first` + 1, ... where not given."""
    if qids is None:
        return pa.array(np.arange(first, first + n_queries)).cast(pa.string())
    # numpy would make strings of all where a list mixes numbers and strings; take them as they are
    items = qids if isinstance(qids, (list, tuple)) else _array(qids, "qids")
    if isinstance(items, np.ndarray) and items.ndim != 1:
        raise InputError(_bad_qids(f"shape {items.shape}", n_queries))
    if len(items) != n_queries:
        raise InputError(_bad_qids(f"{len(items)} qids", n_queries))
    names = [_qid(item, row) for row, item in enumerate(_plain(items))]
    distinct = dict.fromkeys(names)
    if len(distinct) != n_queries:
        seen: dict[str, int] = {}
        row, again = next((r, q) for r, q in enumerate(names) if seen.setdefault(q, r) != r)
        raise InputError(
            Problem(
                "qids",
                f"query '{again}' twice in the batch, in rows {seen[again]} and {row}",
                fix="give each query a qid of its own",
            )
        )
    return pa.array(names, pa.string())


def _bad_qids(found: str, n_queries: int) -> Problem:
    fix = "give qids of shape (B,), or none"
    return Problem("qids", f"not one qid for each of the {n_queries} queries", found, fix)


def _plain(items: Any) -> list[Any]:
    """Return plain Python items; tensors and numpy scalars inside a list included."""
    if isinstance(items, np.ndarray):
        plain: list[Any] = items.tolist()
        return plain
    return [item.item() if hasattr(item, "item") else item for item in items]


def _qid(item: Any, row: int) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, bytes):
        return item.decode()
    if isinstance(item, int) and not isinstance(item, bool):
        return str(item)
    if isinstance(item, float) and item.is_integer():
        return str(int(item))
    raise InputError(
        Problem(
            f"qids[{row}]",
            f"{item!r} is neither a whole number nor a string",
            fix="give qids as integers or strings",
        )
    )


def _check_shared(
    qrel: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> None:
    """Check that both name the same queries and documents."""
    fix = "give both a number for the same documents; harness.evaluate takes dicts that differ"
    for here, there, one, other in ((qrel, run, "qrel", "run"), (run, qrel, "run", "qrel")):
        for qid, documents in here.items():
            if qid not in there:
                raise InputError(Problem(one, f"query '{qid}' is not in {other}", fix=fix))
            if documents.keys() <= there[qid].keys():
                continue
            docno = next(docno for docno in documents if docno not in there[qid])
            raise InputError(
                Problem(one, f"document '{docno}' of query '{qid}' is not in {other}", fix=fix)
            )


def _write_npz(path: Path, arrays: dict[str, Array]) -> None:
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("xb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise HarnessError(
            Problem(
                str(path),
                f"cannot write the batches: {error.strerror}",
                fix="free space or choose another folder; nothing was left half written",
            )
        ) from error
    finally:
        beside.unlink(missing_ok=True)
