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
:mod:`harness.compat`.

Arrays for one short list cost more to set up than pytrec_eval takes to be done with it, and many
scripts call an evaluator once a query. Only what is the same there comes here: the rest is left
to the harness's metrics, which give the same values.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, count, repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytrec_eval

from ..core.align import align
from ..core.aligned import Aligned
from ..core.arrow import string_column
from ..core.docnos import Docnos
from ..core.policy import Policy
from ..core.ragged import Array, Ints, Ragged, offsets_of
from ..core.tables import Qrels, Run
from ..errors import shorten
from .measures import metrics_of, numbers_asked, supported_measures, supported_nicknames


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return ``{qid: {docno: score}}`` from the lines of a TREC run.

    Parameters
    ----------
    f_run : iterable of str
        Lines ``qid Q0 docno rank score tag``: an open file, say.

    Raises
    ------
    ValueError
        Where a line has another number of fields or its score is not a number.
    AssertionError
        Where a query names a document twice.

    Examples
    --------
    >>> dict(parse_run(["q1 Q0 d1 1 0.5 bm25"]))
    {'q1': {'d1': 0.5}}
    """
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for number, line in enumerate(f_run, 1):
        fields = line.split()
        if len(fields) != 6:
            raise ValueError(_bad_line(number, line, "the 6 fields qid Q0 docno rank score tag"))
        qid, _, docno, _, score, _ = fields
        documents = run[qid]
        if docno in documents:
            raise AssertionError(f"line {number}: document '{docno}' of query '{qid}' comes twice")
        try:
            documents[docno] = float(score)
        except ValueError:
            raise ValueError(f"line {number}: the score '{score}' is not a number") from None
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return ``{qid: {docno: grade}}`` from the lines of TREC qrels.

    Parameters
    ----------
    f_qrel : iterable of str
        Lines ``qid 0 docno grade``: an open file, say.

    Raises
    ------
    ValueError
        Where a line has another number of fields or its grade is not an integer.
    AssertionError
        Where a query names a document twice.

    Examples
    --------
    >>> dict(parse_qrel(["q1 0 d1 2"]))
    {'q1': {'d1': 2}}
    """
    qrel: dict[str, dict[str, int]] = defaultdict(dict)
    for number, line in enumerate(f_qrel, 1):
        fields = line.split()
        if len(fields) != 4:
            raise ValueError(_bad_line(number, line, "the 4 fields qid 0 docno grade"))
        qid, _, docno, grade = fields
        documents = qrel[qid]
        if docno in documents:
            raise AssertionError(f"line {number}: document '{docno}' of query '{qid}' comes twice")
        try:
            documents[docno] = int(grade)
        except ValueError:
            raise ValueError(f"line {number}: the grade '{grade}' is not an integer") from None
    return qrel


def _bad_line(number: int, line: str, expected: str) -> str:
    return f"line {number}: expected {expected}, found '{shorten(line)}'"


DOCUMENTS, DOCUMENTS_A_MEASURE = 2000, 50
"""A call of this many documents, and so many more for each value of a query, costs about the same
either way. Its qids are counted with them."""
_LARGEST_GRADE = 100  # pytrec_eval's time grows with the square of the largest grade

SmallJudgements = Mapping[str, Mapping[str, int]]
Values = dict[str, dict[str, float]]


class SmallCalls:
    """pytrec_eval's evaluator, for the calls that it may and should answer.

    Parameters
    ----------
    judgements : callable
        Returns the judgements; called once, at the first small call.
    measures : list of str
        Names, all of them supported.
    n_values : int
        Values of one query, of all measures.
    level : int
        Smallest grade that counts as relevant.
    judged_only : bool
        Whether documents without a judgement are taken out of the ranking first.
    with_runid : bool
        Whether ``runid`` is asked for, whose value pytrec_eval reads from stray memory.
    """

    def __init__(
        self,
        judgements: Callable[[], SmallJudgements],
        measures: list[str],
        n_values: int,
        level: int,
        judged_only: bool,
        with_runid: bool,
    ) -> None:
        self._judgements, self._arguments = judgements, (measures, level, judged_only)
        self._with_runid = with_runid
        self._limit = DOCUMENTS + DOCUMENTS_A_MEASURE * n_values

    def evaluate(self, scores: Mapping[str, Any]) -> Values | None:
        """Return pytrec_eval's values for some queries; None where the call is large, odd or wrong.

        Odd are NaN scores, which it ranks anywhere, and names outside ASCII: at half of a
        surrogate pair it ends the process, and at NUL it ends the name.
        """
        try:
            size, names, total = len(scores), "", 0.0
            for row in scores.values():
                size += len(row)
                if size > self._limit:
                    return None
                names += "".join(row)
                total += sum(row.values(), 0.0)  # NaN where one of them is
            evaluate = self._evaluate
            if total != total or not _plain(names + "".join(scores)) or evaluate is None:
                return None
            values = evaluate(scores)
        except (TypeError, ValueError, ArithmeticError, AttributeError, RuntimeWarning):
            return None  # the caller names what is wrong; numpy's floats warn of inf - inf
        if self._with_runid:
            for row in values.values():
                row["runid"] = 0.0
        return values

    def __getstate__(self) -> dict[str, Any]:
        """Leave out pytrec_eval's evaluator, which no other process can take; it is made again."""
        return {name: value for name, value in vars(self).items() if name != "_evaluate"}

    @cached_property
    def _evaluate(self) -> Callable[[Any], Values] | None:
        """pytrec_eval's function, or None where the judgements or the level do not suit it.

        It is the one in C: the one in Python around it only asks whether there are scores.
        """
        judgements = self._judgements()
        measures, level, judged_only = self._arguments
        grades = {level, *chain.from_iterable(row.values() for row in judgements.values())}
        largest = [max(row.values()) for row in judgements.values()]
        if (
            max(grades) > _LARGEST_GRADE
            or min(grades) < -_LARGEST_GRADE
            or min(largest, default=0) < 0  # it would read another query's memory
            or not _plain("".join(chain(judgements, chain.from_iterable(judgements.values()))))
        ):
            return None
        evaluator = pytrec_eval.RelevanceEvaluator(judgements, measures, level, judged_only)
        evaluate: Callable[[Any], Values] = super(
            pytrec_eval.RelevanceEvaluator, evaluator
        ).evaluate
        return evaluate


def _plain(names: str) -> bool:
    """Whether names, joined, are of ASCII characters without NUL."""
    return names.isascii() and "\0" not in names


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
