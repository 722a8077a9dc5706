"""pytrec_eval's surface with its semantics, computed by the harness's own metrics.

``from harness.compat import RelevanceEvaluator, parse_qrel, parse_run`` takes the place of the
same names of pytrec_eval 0.5, and nothing else in a script changes: the same dicts, to the last
bit. Unlike the rest of the harness, it drops a query that is missing from the run without a
word, and calls metrics *measures*, as pytrec_eval does.

It differs where pytrec_eval ends the whole process or reads memory that is not its own: a
cutoff of 0 or one given twice (``ValueError``), a relevance level below 0, an integer beyond 64
bits (``TypeError``), ``runid`` (0 here); numbers or gains by grade after ``ndcg``, ``ndcg_rel``,
``Rndcg`` and ``G`` (``ndcg.1=3,2=9``: ``ValueError``). Coefficients of ``utility`` of which it does
not read four (it reads none below 0, and equal ones once) give 0 there and are a ``ValueError``
here. :func:`harness.evaluate` takes both as trec_eval writes them. A NaN score, which it ranks
anywhere, is a ``ValueError``.

Calls of few documents are handed to pytrec_eval, after checks for those differences: see
:mod:`harness.compat.small`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, count, repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..core.align import align
from ..core.aligned import Aligned
from ..core.arrow import string_column
from ..core.docnos import Docnos
from ..core.policy import Policy
from ..core.ragged import Array, Ints, Ragged, offsets_of
from ..core.tables import Qrels, Run
from .lines import parse_qrel, parse_run
from .measures import metrics_of, numbers_asked, supported_measures, supported_nicknames
from .small import SmallCalls

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

_BAD_SCORES = "Unable to extract query/object scores."

Judgements = Mapping[str, Mapping[str, int]]
Scores = Mapping[str, Mapping[str, float]]


class RelevanceEvaluator:
    """Evaluates runs against judgements, as ``pytrec_eval.RelevanceEvaluator`` does.

    Parameters
    ----------
    query_relevance : mapping of str to dict of str to int
        Grade of each document of each query. Queries without documents are dropped.
    measures : iterable of str
        Names, nicknames, and names with numbers: ``P_5``, ``P.5,10``.
    relevance_level : int
        Smallest grade that counts as relevant.
    judged_docs_only_flag : bool
        Whether documents without a judgement are taken out of the ranking first.

    Raises
    ------
    ValueError
        Where a measure is not supported.
    TypeError
        Where a qid or docno is not a string or a grade not an integer.

    Examples
    --------
    >>> evaluator = RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"map", "P_1"})
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 1.5}})
    {'q1': {'map': 0.5, 'P_1': 0.0}}
    """

    def __init__(
        self,
        query_relevance: Judgements,
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        measures = list(measures)
        asked = numbers_asked(measures)
        judged = {qid: row for qid, row in query_relevance.items() if len(row) > 0}
        level = _integer(relevance_level, "relevance_level")
        if level < 1:
            raise TypeError("Argument relevance_level should be positive.")
        judged_only = bool(_integer(judged_docs_only_flag, "judged_docs_only_flag"))
        self._policy = Policy(missing_queries="skip", judged_only=judged_only)
        self._metrics = metrics_of(asked, level)
        self._names = [metric.trec_name for metric in self._metrics]
        grades, offsets = _grades(judged), _offsets(judged)
        qrels = Qrels(string_column(judged), offsets, Docnos(None, offsets), grades)
        bounds, ideal = offsets.tolist(), qrels.ideal.values
        self._judged = {
            qid: _Judged(dict(zip(row, count(), strict=False)), grades[i:j], ideal[i:j])
            for (qid, row), i, j in zip(judged.items(), bounds, bounds[1:], strict=False)
        }
        self._small = SmallCalls(
            partial(_as_dicts, self._judged),
            measures,
            len(self._names),
            level,
            judged_only,
            "runid" in asked,
        )

    def evaluate(self, scores: Scores) -> dict[str, dict[str, float]]:
        """Return ``{qid: {measure: value}}`` for the queries that are judged and answered.

        Parameters
        ----------
        scores : dict of str to dict of str to float
            Score of each document of each query; its order is the result's.

        Raises
        ------
        TypeError
            Where it is not such a dict.
        ValueError
            Where a score is NaN.
        """
        if not scores:
            return {}
        if not isinstance(scores, dict):
            raise TypeError("Argument object scores should be of type dictionary.")
        values = self._small.evaluate(scores)
        return self._evaluate(scores) if values is None else values

    def _evaluate(self, scores: Scores) -> dict[str, dict[str, float]]:
        """Return the values by our own metrics."""
        try:
            _check(scores, (float, int), "Expected matching score to be int, long or float.")
            shared = [qid for qid in scores if qid in self._judged]
            answers = scores if len(shared) == len(scores) else {q: scores[q] for q in shared}
            numbers = _flat(answers, np.float64)
        except (TypeError, OverflowError) as error:
            raise TypeError(f"{_BAD_SCORES} {error}") from None
        if not shared:
            return {}
        if np.isnan(numbers).any():
            raise ValueError(_first_nan(answers))
        aligned = self._align(answers, numbers)
        columns = [metric(aligned).tolist() for metric in self._metrics]
        rows = zip(*columns, strict=True) if columns else [()] * len(shared)
        return {
            qid: dict(zip(self._names, row, strict=True))
            for qid, row in zip(shared, rows, strict=True)
        }

    def _align(self, answers: Scores, scores: Array) -> Aligned:
        """Join the answers, all of them to judged queries, by looking docnos up in dicts."""
        judged = [self._judged[qid] for qid in answers]
        offsets = offsets_of([len(row.places) for row in judged])
        docnos = _DictDocnos(answers)
        lookups = (
            map(row.places.get, answer, repeat(-1))
            for row, answer in zip(judged, answers.values(), strict=True)
        )
        judgement = np.fromiter(chain.from_iterable(lookups), np.int64, scores.size)
        found = np.flatnonzero(judgement >= 0)
        pairs = found, judgement[found] + offsets[docnos.row[found]]
        grades = np.concatenate([row.grades for row in judged])
        ideal = np.concatenate([row.ideal for row in judged])
        qids = string_column(answers)
        qrels = _Joined(qids, offsets, Docnos(None, offsets), grades, pairs=pairs, sorted=ideal)
        return align(qrels, Run(qids, docnos.offsets, docnos, scores), self._policy)


class _Judged(NamedTuple):
    """One query's judgements: the place of each docno, the grades, and these descending."""

    places: dict[str, int]
    grades: Ints
    ideal: Ints


def _as_dicts(judged: Mapping[str, _Judged]) -> Judgements:
    """Return the judgements as dicts again: the caller may have changed those given."""
    return {
        qid: dict(zip(row.places, row.grades.tolist(), strict=True)) for qid, row in judged.items()
    }


class _DictDocnos(Docnos):
    """The docnos of nested dicts, as strings once somebody asks: only ties do."""

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        self.offsets = _offsets(rows)
        self._keys = self._row = self._strings = None
        self._rows = rows

    @property
    def strings(self) -> pa.Array:  # type: ignore[override]
        if self._strings is None:
            self._strings = string_column(chain.from_iterable(self._rows.values()))
        return self._strings


@dataclass(frozen=True, eq=False)
class _Joined(Qrels):
    """Judgements of the queries of one run, whose judged rows and ideal order are known."""

    pairs: tuple[Ints, Ints] = field(kw_only=True)
    sorted: Ints = field(kw_only=True)

    @cached_property
    def ideal(self) -> Ragged:
        return Ragged(self.offsets, self.sorted)

    def place(self, qids: pa.Array) -> Ints:
        return np.arange(len(qids))

    def find(self, query: Ints, docnos: Docnos) -> tuple[Ints, Ints]:
        return self.pairs


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Return one number for the values of all queries.

    Parameters
    ----------
    measure : str
        Its name decides: the sum for ``num_...``, the geometric mean for ``gm_...`` (whose
        values are logarithms), the mean for all others.
    values : sequence of float
        One a query.

    Examples
    --------
    >>> compute_aggregated_measure("map", [0.5, 1.0])
    0.75
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))


def _integer(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"Argument {name} should be an integer.") from None


def _offsets(rows: Mapping[str, Mapping[str, Any]]) -> Ints:
    return offsets_of([len(row) for row in rows.values()])


def _flat(rows: Mapping[str, Mapping[str, Any]], dtype: npt.DTypeLike) -> Array:
    """Return the numbers of nested dicts, in the order they stand in."""
    count = sum(map(len, rows.values()))
    return np.fromiter(chain.from_iterable(row.values() for row in rows.values()), dtype, count)


def _grades(judged: dict[str, Mapping[str, int]]) -> Array:
    expected = "Expected relevance to be integer."
    _check(judged, (int,), expected)
    try:
        return _flat(judged, np.int64)
    except OverflowError:
        raise TypeError(f"{expected} One does not fit 64 bits.") from None


def _check(rows: Mapping[str, Mapping[str, Any]], numbers: tuple[type, ...], expected: str) -> None:
    """Check the types of nested dicts: all at once, one by one only to name what is wrong."""
    types: set[type] = set()
    for qid, row in rows.items():
        if not isinstance(qid, str):
            raise TypeError(f"Expected string as key. Found {qid!r}.")
        if not isinstance(row, dict):
            raise TypeError(f"Expected dictionary as value. Query '{qid}' has {row!r}.")
        types.update(map(type, row.values()))
    if all(issubclass(kind, numbers) for kind in types) and all(map(_strings, rows.values())):
        return
    for qid, row in rows.items():
        for docno, number in row.items():
            if not isinstance(docno, str):
                raise TypeError(
                    "Expected mapping of document id to query relevance or matching score. "
                    f"Query '{qid}' has the document id {docno!r}."
                )
            if not isinstance(number, numbers):
                raise TypeError(f"{expected} Document '{docno}' of query '{qid}' has {number!r}.")


def _strings(docnos: Iterable[Any]) -> bool:
    try:
        "".join(docnos)  # twice as fast as asking each
    except TypeError:
        return False
    return True


def _first_nan(rows: Scores) -> str:
    qid, docno = next(
        (qid, docno) for qid, row in rows.items() for docno, score in row.items() if score != score
    )
    return f"the score of document '{docno}' in query '{qid}' is NaN, and has no rank"
