"""The names of pytrec_eval 0.5, with its values to the last bit, computed by the harness's metrics.

``from harness.compat import RelevanceEvaluator, parse_qrel, parse_run`` replaces the same names of
pytrec_eval, and nothing else in a script changes. Unlike the rest of the harness, it drops a query
that is missing from the run silently, and calls metrics *measures*, as pytrec_eval does.

It raises if pytrec_eval would end the whole process or read foreign memory:

- ``ValueError``: a NaN score; a cutoff of 0 or one given twice; numbers or gains by grade after
  ``ndcg``, ``ndcg_rel``, ``Rndcg`` and ``G``; coefficients of ``utility`` if it does not read four.
- ``TypeError``: a relevance level below 0, an integer beyond 64 bits.

It also raises ``ValueError`` for a cutoff above 2147483647 and a recall level above 1000000000.
A fractional cutoff is cut to a whole number: ``P_5.7`` is ``P_5``, as in pytrec_eval.

``runid`` is 0 here. `harness.evaluate` takes gains and coefficients as trec_eval writes them.

Calls with few documents go to pytrec_eval's extension if it is installed, with the same values:
arrays for one short list take longer to set up than pytrec_eval needs for it, and many scripts call
an evaluator for each query. The extension is a separate module, so a script can replace the module
``pytrec_eval`` by this one.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, count, repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .. import metrics as _built_in
from ..core.align import align
from ..core.aligned import Aligned
from ..core.arrow import string_column
from ..core.metric import REGISTRY, TREC_CUT, Metric
from ..core.names import NICKNAMES, parse
from ..core.policy import Policy
from ..core.qrels_and_runs import Docnos, Qrels, Run
from ..core.ragged import Array, Ints, Ragged, offsets_of
from ..errors import UnknownNameError, shorten

try:
    from pytrec_eval_ext import RelevanceEvaluator as _Extension
except ImportError:
    _Extension = None

del _built_in

__version__ = "0.5.11"
"""The version of pytrec_eval-terrier with these names; some packages refuse a module without it."""
__all__ = [
    "RelevanceEvaluator",
    "__version__",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]


def __dir__() -> list[str]:
    return __all__


Judgements = Mapping[str, Mapping[str, int]]
QueryScores = Mapping[str, Mapping[str, float]]
Values = dict[str, dict[str, float]]

_ORDER = NICKNAMES["all_trec"]
_PREFERENCES = {
    "all_prefs": "num_q runid prefs_avgjg prefs_avgjg_Rnonrel prefs_avgjg_Rnonrel_ret"
    " prefs_avgjg_imp prefs_avgjg_ret prefs_num_prefs_ful prefs_num_prefs_ful_ret"
    " prefs_num_prefs_poss prefs_pair prefs_pair_imp prefs_pair_ret prefs_simp prefs_simp_imp"
    " prefs_simp_ret",
    "prefs": "num_q runid prefs_avgjg prefs_num_prefs_ful prefs_num_prefs_ful_ret"
    " prefs_num_prefs_poss prefs_pair prefs_simp",
    "qrels_jg": "num_q runid P_avgjg Rprec_mult_avgjg map_avgjg",
}
"""Nicknames that pytrec_eval lists and cannot compute: their measures are not supported."""
supported_measures: set[str] = set(_ORDER)
"""Names of the measures, without parameters."""
supported_nicknames: dict[str, set[str]] = {
    **{name: set(measures) for name, measures in NICKNAMES.items()},
    **{name: set(measures.split()) for name, measures in _PREFERENCES.items()},
}
"""The measures of each nickname."""

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_WITH_NUMBERS = re.compile(rf"({'|'.join(map(re.escape, _ORDER))})[._]({_NUMBER}(?:,{_NUMBER})*)")
_GAINS = {"ndcg", "ndcg_rel", "Rndcg", "G"}
"""Measures that take pairs grade=gain, which a name here cannot contain."""


def numbers_asked(measures: Iterable[str]) -> dict[str, set[str]]:
    """Return the numbers in the names of measures, none for defaults; ValueError if one is wrong.

    >>> {name: sorted(numbers) for name, numbers in numbers_asked(["P.5", "P_10", "map"]).items()}
    {'P': ['10', '5'], 'map': []}
    """
    asked: dict[str, set[str]] = {}
    for name in chain.from_iterable(supported_nicknames.get(name, (name,)) for name in measures):
        if name in supported_measures:
            asked.setdefault(name, set())
            continue
        match = _WITH_NUMBERS.match(name)
        if match is None:
            raise ValueError(f"unsupported measure {name}")
        if match[1] in _GAINS:
            raise ValueError(
                f"unsupported measure {name}: {match[1]} takes no number here; write ndcg_cut_10 "
                "for a cutoff; harness.evaluate takes gains by grade"
            )
        asked.setdefault(match[1], set()).update(match[2].split(","))
    return asked


def metrics_of(asked: Mapping[str, Collection[str]], level: int) -> list[Metric]:
    """Return the metrics of what `numbers_asked` returns, in trec_eval's order.

    ValueError if trec_eval rejects a number: a cutoff of 0, or the same one twice.
    """
    return [
        metric
        for name in _ORDER
        if name in asked
        for metric in _metrics(name, sorted(asked[name]), level)
    ]


def _metrics(name: str, numbers: list[str], level: int) -> list[Metric]:
    """Return the metrics of a measure with these numbers, cutoffs rising."""
    definition = REGISTRY[TREC_CUT.get(name, name)]
    has_cutoff = definition.needs_cutoff or name in TREC_CUT
    parameter = definition.parameters.get(
        "cutoff" if has_cutoff else definition.trec_parameter or ""
    )
    if parameter is None:
        numbers = []  # as for map_10, which is map to pytrec_eval
    elif parameter.type is int:
        numbers = [number.partition(".")[0] for number in numbers]
    if has_cutoff:
        numbers = sorted(numbers, key=float)
    elif parameter is not None and not parameter.many:
        numbers = numbers[:1]
    text = f"{name}.{','.join(numbers)}" if numbers else name
    try:
        metrics = parse(text, {"rel": level})
    except UnknownNameError as error:
        problem = error.problems[0]
        raise ValueError(f"unsupported measure {problem.what}") from None
    if len({*metrics}) != len(metrics):
        raise ValueError(f"unsupported measure {text}: a cutoff comes twice")
    return metrics


class _Measures(NamedTuple):
    """Measures of one evaluator: its metrics, and what pytrec_eval's extension takes for them."""

    metrics: list[Metric]
    names: list[str]
    texts: frozenset[str]
    has_runid: bool


@lru_cache(64)
def _read_measures(measures: tuple[str, ...], level: int) -> _Measures:
    asked = numbers_asked(measures)
    metrics = metrics_of(asked, level)
    names = [metric.trec_name for metric in metrics]
    return _Measures(metrics, names, extension_texts(asked), "runid" in asked)


def extension_texts(asked: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return ``P.10,5`` for P and its numbers, as pytrec_eval passes them to its extension."""
    return frozenset(
        f"{name}.{','.join(sorted(numbers))}" if numbers else name
        for name, numbers in asked.items()
    )


def pytrec_eval_evaluator(
    judgements: Judgements, texts: Collection[str], level: int, judged_only: bool
) -> Any:
    """Return the evaluator of pytrec_eval's extension, whatever the module ``pytrec_eval`` is.

    `texts` are those of `extension_texts`. ImportError if pytrec_eval is not installed.
    """
    if _Extension is None:
        raise ImportError("pytrec_eval is not installed")
    return _Extension(judgements, {*texts}, level, judged_only)


Number = TypeVar("Number", int, float)


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return ``{qid: {docno: score}}`` from the lines of a TREC run.

    Parameters
    ----------
    f_run : iterable of str
        Lines ``qid Q0 docno rank score tag``, such as an open file.

    Raises
    ------
    ValueError
        If a line has another number of fields, or its score is not a number.
    AssertionError
        If a query has a document twice.

    Examples
    --------
    >>> dict(parse_run(["q1 Q0 d1 1 0.5 bm25"]))
    {'q1': {'d1': 0.5}}
    """
    return _parse(f_run, "qid Q0 docno rank score tag", 4, float, "score")


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return ``{qid: {docno: grade}}`` from the lines of TREC qrels.

    Parameters
    ----------
    f_qrel : iterable of str
        Lines ``qid 0 docno grade``, such as an open file.

    Raises
    ------
    ValueError
        If a line has another number of fields, or its grade is not an integer.
    AssertionError
        If a query has a document twice.

    Examples
    --------
    >>> dict(parse_qrel(["q1 0 d1 2"]))
    {'q1': {'d1': 2}}
    """
    return _parse(f_qrel, "qid 0 docno grade", 3, int, "grade")


def _parse(
    lines: Iterable[str], form: str, column: int, read: Callable[[str], Number], what: str
) -> dict[str, dict[str, Number]]:
    rows: dict[str, dict[str, Number]] = defaultdict(dict)
    n_fields = len(form.split())
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) != n_fields:
            expected = f"expected the {n_fields} fields {form}"
            raise ValueError(f"line {number}: {expected}, got '{shorten(line)}'")
        qid, docno = fields[0], fields[2]
        documents = rows[qid]
        if docno in documents:
            raise AssertionError(f"line {number}: document '{docno}' of query '{qid}' comes twice")
        try:
            documents[docno] = read(fields[column])
        except ValueError:
            kind = "an integer" if read is int else "a number"
            raise ValueError(
                f"line {number}: the {what} '{fields[column]}' is not {kind}"
            ) from None
    return rows


DOCUMENTS, DOCUMENTS_A_MEASURE = 2000, 50
"""A call of this many documents, plus these for each value of a query, takes about the same time
either way. Its qids are counted with them."""
_LARGEST_GRADE = 100  # pytrec_eval's time grows with the square of the largest grade


class RelevanceEvaluator:
    """Evaluator of runs against judgements, in place of ``pytrec_eval.RelevanceEvaluator``.

    Parameters
    ----------
    query_relevance : mapping of str to dict of str to int
        Judgements ``{qid: {docno: grade}}``. Queries without documents are dropped.
    measures : iterable of str
        Names, nicknames, and names with numbers: ``P_5``, ``P.5,10``.
    relevance_level : int
        Smallest grade that counts as relevant.
    judged_docs_only_flag : bool
        Remove documents without a judgement from the ranking.

    Raises
    ------
    ValueError
        If a measure is not supported.
    TypeError
        If a qid or docno is not a string, or a grade is not an integer.

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
        level = _integer(relevance_level, "relevance_level")
        self._measures = _read_measures(tuple(measures), level)
        if level < 1:
            raise TypeError("Argument relevance_level should be positive.")
        self._level = level
        self._judged_only = bool(_integer(judged_docs_only_flag, "judged_docs_only_flag"))
        judged = {qid: row for qid, row in query_relevance.items() if len(row) > 0}
        self._judgements: Judgements = judged
        self._limit = DOCUMENTS + DOCUMENTS_A_MEASURE * len(self._measures.names)
        is_small = sum(map(len, judged.values())) <= self._limit
        if not is_small or self._pytrec_eval is None:
            _check(judged, (int,), "Expected relevance to be integer.")
            self._judged  # noqa: B018  # reports a grade beyond 64 bits
        self._judgements = {qid: {**row} for qid, row in judged.items()}  # the caller's may change

    def evaluate(self, scores: QueryScores) -> Values:
        """Return ``{qid: {measure: value}}`` for the queries that are judged and answered.

        Parameters
        ----------
        scores : dict of str to dict of str to float
            Scores ``{qid: {docno: score}}``. The result has its order of queries.

        Raises
        ------
        TypeError
            If `scores` has another type.
        ValueError
            If a score is NaN.
        """
        if not scores:
            return {}
        if not isinstance(scores, dict):
            raise TypeError("Argument object scores should be of type dictionary.")
        values = self._by_pytrec_eval(scores)
        return self._by_metrics(scores) if values is None else values

    def _by_pytrec_eval(self, scores: QueryScores) -> Values | None:
        """Return pytrec_eval's values; None if the call is large or it cannot be trusted with it.

        It ranks NaN scores anywhere, ends the process at half of a surrogate pair, and ends a name
        at NUL, so names outside ASCII are not for it.
        """
        try:
            names, total = [*scores], 0.0
            for row in scores.values():
                if len(names) + len(row) > self._limit:
                    return None
                names += row
                total += sum(row.values())  # NaN if one of them is
            evaluate = self._pytrec_eval
            if total != total or evaluate is None or not _is_plain("".join(names)):
                return None
            values = evaluate(scores)
        except (TypeError, ValueError, ArithmeticError, AttributeError, RuntimeWarning):
            return None  # our own path reports what is wrong; numpy's floats warn of inf - inf
        if self._measures.has_runid:
            for row in values.values():
                row["runid"] = 0.0
        return values

    @cached_property
    def _pytrec_eval(self) -> Callable[[Any], Values] | None:
        """pytrec_eval's function in C; None without it, or if it cannot take the judgements."""
        rows = self._judgements
        try:
            grades, names = [self._level], [*rows]
            for row in rows.values():
                grades += row.values()
                names += row
            least = min(grades)
            if (
                max(grades) > _LARGEST_GRADE
                or least < -_LARGEST_GRADE
                # of a query whose grades are all below 0 it would read another query's memory
                or (least < 0 and min(max(row.values()) for row in rows.values()) < 0)
                or not _is_plain("".join(names))
            ):
                return None
            of_call = self._measures.texts, self._level, self._judged_only
            evaluator = pytrec_eval_evaluator(rows, *of_call)
        except (ImportError, TypeError, ValueError, ArithmeticError, AttributeError):
            return None  # without it, or our own path reports what is wrong
        evaluate: Callable[[Any], Values] = evaluator.evaluate
        return evaluate

    @cached_property
    def _judged(self) -> dict[str, _Judged]:
        """The judgements of each query as arrays."""
        rows = self._judgements
        grades, offsets = _grades(rows), _offsets(rows)
        qrels = Qrels(string_column(rows), offsets, Docnos(None, offsets), grades)
        bounds, ideal = offsets.tolist(), qrels.ideal.values
        return {
            qid: _Judged(dict(zip(row, count(), strict=False)), grades[i:j], ideal[i:j])
            for (qid, row), i, j in zip(rows.items(), bounds, bounds[1:], strict=False)
        }

    def __getstate__(self) -> dict[str, Any]:
        """Leave out pytrec_eval's function, which cannot be pickled; it is made on demand."""
        return {name: value for name, value in vars(self).items() if name != "_pytrec_eval"}

    def _by_metrics(self, scores: QueryScores) -> Values:
        try:
            _check(scores, (float, int), "Expected matching score to be int, long or float.")
            shared = [qid for qid in scores if qid in self._judged]
            answers = scores if len(shared) == len(scores) else {q: scores[q] for q in shared}
            numbers = _flat(answers, np.float64)
        except (TypeError, OverflowError) as error:
            raise TypeError(f"Unable to extract query/object scores. {error}") from None
        if not shared:
            return {}
        if np.isnan(numbers).any():
            qid, docno = next(
                (qid, docno)
                for qid, row in answers.items()
                for docno in row
                if row[docno] != row[docno]
            )
            raise ValueError(f"the score of document '{docno}' in query '{qid}' is NaN")
        aligned = self._align(answers, numbers)
        columns = [metric(aligned).tolist() for metric in self._measures.metrics]
        rows = zip(*columns, strict=True) if columns else [()] * len(shared)
        return {
            qid: dict(zip(self._measures.names, row, strict=True))
            for qid, row in zip(shared, rows, strict=True)
        }

    def _align(self, answers: QueryScores, scores: Array) -> Aligned:
        """Join the answers, all of them to judged queries, by looking docnos up in dicts."""
        judged = [self._judged[qid] for qid in answers]
        offsets = offsets_of([len(row.places) for row in judged])
        docnos = _DictDocnos(answers)
        lookups = (
            map(row.places.get, answer, repeat(-1))
            for row, answer in zip(judged, answers.values(), strict=True)
        )
        judgement = np.fromiter(chain.from_iterable(lookups), np.int64, scores.size)
        hits = np.flatnonzero(judgement >= 0)
        pairs = hits, judgement[hits] + offsets[docnos.row[hits]]
        grades = np.concatenate([row.grades for row in judged])
        ideal = np.concatenate([row.ideal for row in judged])
        qids = string_column(answers)
        qrels = _Joined(qids, offsets, Docnos(None, offsets), grades, pairs=pairs, sorted=ideal)
        policy = Policy(missing_queries="skip", judged_only=self._judged_only)
        return align(qrels, Run(qids, docnos.offsets, docnos, scores), policy)


class _Judged(NamedTuple):
    """One query's judgements: the place of each docno, the grades, and these descending."""

    places: dict[str, int]
    grades: Ints
    ideal: Ints


class _DictDocnos(Docnos):
    """The docnos of nested dicts, as strings on demand: only ties need them."""

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        self.offsets = _offsets(rows)
        self._rows = rows

    def __getattr__(self, name: str) -> Any:
        if name != "strings":
            raise AttributeError(name)
        self.strings = string_column(chain.from_iterable(self._rows.values()))
        return self.strings


@dataclass(frozen=True, eq=False)
class _Joined(Qrels):
    """Judgements of the queries of one run, already joined and in ideal order."""

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
    """Summarise the values of all queries by their mean, sum or geometric mean.

    Parameters
    ----------
    measure : str
        Name of the measure: ``num_...`` means the sum, ``gm_...`` the geometric mean (of
        logarithms), any other name the mean.
    values : sequence of float
        Value of each query.

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


def _is_plain(names: str) -> bool:
    """Whether joined names have only ASCII characters, and no NUL."""
    return names.isascii() and "\0" not in names


def _offsets(rows: Mapping[str, Mapping[str, Any]]) -> Ints:
    return offsets_of([len(row) for row in rows.values()])


def _flat(rows: Mapping[str, Mapping[str, Any]], dtype: npt.DTypeLike) -> Array:
    """Return the numbers of nested dicts, in order."""
    size = sum(map(len, rows.values()))
    return np.fromiter(chain.from_iterable(row.values() for row in rows.values()), dtype, size)


def _grades(judged: Judgements) -> Array:
    try:
        return _flat(judged, np.int64)
    except OverflowError:
        raise TypeError("Expected relevance to be integer. One does not fit 64 bits.") from None


def _check(rows: Mapping[str, Mapping[str, Any]], numbers: tuple[type, ...], expected: str) -> None:
    """Check the types of nested dicts: all together, and one by one only to report a mistake."""
    types: set[type] = set()
    for qid, row in rows.items():
        if not isinstance(qid, str):
            raise TypeError(f"Expected string as key. Found {qid!r}.")
        if not isinstance(row, dict):
            raise TypeError(f"Expected dictionary as value. Query '{qid}' has {row!r}.")
        types.update(map(type, row.values()))
    if all(issubclass(kind, numbers) for kind in types) and all(map(_are_strings, rows.values())):
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


def _are_strings(docnos: Iterable[Any]) -> bool:
    try:
        "".join(docnos)  # twice as fast as asking each
    except TypeError:
        return False
    return True
