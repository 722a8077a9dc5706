"""The second opinion: pytrec_eval evaluates some queries too, and must agree to the last bit."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import repeat
from math import isnan
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..compat.pytrec_eval import (
    extension_texts,
    numbers_asked,
    pytrec_eval_evaluator,
    supported_measures,
)
from ..core.arrow import cast, index_in, take
from ..core.evaluation import Evaluation
from ..core.metric import Metric
from ..core.policy import USUAL, Policy
from ..core.qrels_and_runs import Qrels, Run
from ..core.settings import MetricSettings
from ..errors import InputError, Problem, VerificationError

Mode = Literal["sample", "all", "none"]
SAMPLE = 50
"""Queries of an experiment that are checked at least, and of one run at most, unless all are."""
TOGETHER = 16
"""Queries in one call of pytrec_eval."""


@dataclass(frozen=True)
class Audit:
    """Summary of the values that pytrec_eval recomputed."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "use_attribute_docstrings": True}

    mode: Mode | Literal["skipped"]
    """Choice of queries: sample, all or none; skipped if pytrec_eval is not installed."""
    queries: int = 0
    values: int = 0
    largest_difference: float = 0.0
    """Largest difference from its values; the run stops unless it is 0."""


def mode_of(asked: Mode) -> Mode | Literal["skipped"]:
    """Return `asked`, or ``"skipped"`` if it needs pytrec_eval, which is not installed."""
    return asked if asked == "none" or find_spec("pytrec_eval_ext") else "skipped"


def skipped(asked: Mode) -> str:
    """Return the warning before a run, or ``""``; InputError if `all` cannot be checked."""
    if mode_of(asked) == asked:
        return ""
    fix = "install pytrec-eval-terrier, or set 'crosscheck: none'"
    if asked == "all":
        what = "'crosscheck: all' needs pytrec_eval, which is not installed"
        raise InputError(what, fix=fix)
    what = "cross-check skipped: pytrec_eval is not installed"
    return str(Problem("", what, effect="no value is computed a second time", fix=fix))


def sample_size(n_queries: int, cells: int) -> int:
    """Return the number of queries of one run to check: one in 50, from 1 to 50, 50 of all runs.

    >>> sample_size(6980, 1), sample_size(43, 1), sample_size(50, 5), sample_size(50, 100)
    (50, 43, 10, 1)
    """
    size = max(min(SAMPLE, max(1, n_queries // SAMPLE)), -(-SAMPLE // cells))
    return min(size, n_queries)


class MeasureGroup(NamedTuple):
    """Measures that pytrec_eval computes together: one relevance level, one policy."""

    level: int
    policy: Policy
    columns: dict[str, int]
    """Position of each measure's metric, by pytrec_eval's name of the measure."""
    texts: frozenset[str]
    """The measures as its extension takes them."""
    least: int
    """Smallest highest grade that a query may have: no metric is defined below 0."""
    reorders: bool
    """Whether the policy ranks differently from trec_eval."""


class Peer:
    """Metrics of a dataset that pytrec_eval can compute.

    It ranks by scores, so metrics under ``ties: average`` and ``random(seed)`` are left out.
    """

    def __init__(self, qrels: Qrels, metrics: Sequence[Metric], policy: Policy) -> None:
        self.qrels = qrels
        groups: dict[tuple[int, Policy], dict[str, int]] = defaultdict(dict)
        fractions = qrels.numbers.dtype.kind == "f"
        for column, metric in enumerate(() if fractions else metrics):
            level, under = dict(metric.params).get("rel", 1), policy.with_settings(metric.settings)
            level = math.ceil(level)  # the same for whole grades
            measure = _measure(metric)
            if measure is not None and (under.of_rows or under.ties in ("best", "worst")):
                groups[level, under][measure] = column
        self.groups = []
        for (level, under), columns in groups.items():
            least = 0 if under.empty_queries == "zero" else max(level, 0)
            names = [field.name for field in fields(Policy)]
            others = {name for name in names if getattr(under, name) != getattr(USUAL, name)}
            reorders = not others <= {"judged_only", "missing_queries"}
            texts = extension_texts(numbers_asked(columns))
            self.groups.append(MeasureGroup(level, under, columns, texts, least, reorders))
        judged = np.flatnonzero(np.diff(qrels.offsets))
        self.best = np.full(qrels.n_queries, -1, np.int64)
        if not fractions:
            self.best[judged] = np.maximum.reduceat(qrels.numbers, qrels.offsets[judged])
        self.usable = np.flatnonzero(self.best >= 0)


class Crosscheck:
    """Recomputes some queries of a run with pytrec_eval during reading, and compares.

    pytrec_eval gets the judgements and scores as they were read, so the check includes ordering,
    ties and joining. It leaves out queries on which the two differ on purpose: unanswered ones,
    those under ``empty_queries``, and those without a grade of 0 or more. It also leaves out
    metrics that pytrec_eval does not have, and datasets with fractional grades.

    `cell`, the number of the run among all `cells`, seeds the choice of queries.
    """

    def __init__(self, peer: Peer, mode: Mode = "sample", cell: int = 0, cells: int = 1) -> None:
        self.peer, self.mode = peer, mode_of(mode)
        self.queries, n_queries = peer.usable, peer.qrels.n_queries
        self.size = peer.usable.size
        if mode == "sample":
            self.queries = np.random.default_rng((n_queries, cell)).permutation(peer.usable)
            self.size = min(self.size, sample_size(n_queries, cells))
        self.reserve: list[tuple[int, Run, int]] = []
        """Other queries, each with a run and its place there."""
        self.expected: dict[int, dict[int, float]] = {}

    def watch(self, run: Run, begins: bool = False) -> None:
        """Evaluate the chosen queries of a run, or of a part of one: the first of `queries`.

        The first others that it answers replace chosen ones that it does not. A part that `begins`
        the file starts over: a scattered run is read again, whole.
        """
        if self.mode in ("none", "skipped") or not self.peer.groups or not run.n_queries:
            return
        if begins:
            self.reserve.clear()
            self.expected.clear()
        room = self.size - len(self.reserve)
        wanted = self.queries if room else self.queries[: self.size]
        at = index_in(cast(take(self.peer.qrels.qids, wanted), run.qids.type), run.qids)
        answered = np.flatnonzero(at >= 0)
        n_chosen = int(np.searchsorted(answered, self.size))
        ranks = answered[: n_chosen + room]
        answers = [*zip(wanted[ranks].tolist(), repeat(run), at[ranks].tolist(), strict=False)]
        for start in range(0, n_chosen, TOGETHER):
            self._check(answers[start : min(start + TOGETHER, n_chosen)])
        self.reserve += answers[n_chosen:]

    def _check(self, answers: Sequence[tuple[int, Run, int]]) -> None:
        """Compute the values of some queries by pytrec_eval."""
        qrels, best = self.peer.qrels, self.peer.best
        queries = {qrels.qids[query].as_py(): query for query, _, _ in answers}
        grades: dict[str, Any] = {qid: qrels.of_query(query) for qid, query in queries.items()}
        scores = {
            qid: run.of_query(place) for qid, (_, run, place) in zip(queries, answers, strict=True)
        }
        for group in self.peer.groups:
            qids = [
                qid for qid, query in queries.items() if scores[qid] and best[query] >= group.least
            ]
            ranked = {
                qid: _reordered(qid, scores[qid], group.policy, grades[qid])
                if group.reorders
                else scores[qid]
                for qid in qids
            }
            judged = {qid: grades[qid] for qid in qids}
            evaluator = pytrec_eval_evaluator(
                judged, group.texts, group.level, group.policy.judged_only
            )
            for qid, values in evaluator.evaluate(ranked).items():
                expected = self.expected.setdefault(queries[qid], {})
                expected.update((column, values[name]) for name, column in group.columns.items())

    def compare(self, evaluation: Evaluation) -> Audit:
        """Return the number of compared values; VerificationError with the first difference."""
        for answer in self.reserve:
            if len(self.expected) >= self.size:
                break
            self._check([answer])
        self.reserve.clear()
        qids = take(self.peer.qrels.qids, np.array(list(self.expected), np.int64))
        rows = evaluation.values[index_in(qids, evaluation.qids)].tolist()
        for qid, expected, ours in zip(qids, self.expected.values(), rows, strict=True):
            for column, value in expected.items():
                if ours[column] != value and not (isnan(ours[column]) and isnan(value)):
                    metric = evaluation.metrics[column]
                    both = f"{ours[column]!r} here, {value!r} by pytrec_eval"
                    what = f"query '{qid}', {metric}: {both}"
                    fix = "report this bug with the query's lines; 'crosscheck: none' skips it"
                    where = f"{evaluation.run} on {evaluation.dataset}"
                    raise VerificationError(Problem(where, what, fix=fix))
        return Audit(self.mode, len(self.expected), sum(map(len, self.expected.values())))


@lru_cache
def _measure(metric: Metric) -> str | None:
    """Return pytrec_eval's name for a metric; None if it has none that does the same."""
    plain = replace(metric, settings=MetricSettings(), convention=None, given=(), label=None)
    definition = metric.definition
    if definition.trec_name not in supported_measures or definition.is_text:
        return None
    if {name for name, _ in metric.params} - {"rel"}:
        return None
    if replace(metric.settings, **_AS_RANKED) != MetricSettings():
        return None
    if plain.cutoff is not None and plain.trec_name == str(plain):
        return None
    if type(plain.cutoff) is float and plain.cutoff != float(f"{plain.cutoff:.2f}"[:8]):
        return None  # its name there is that of another level
    return plain.trec_name


_RANKING = ("ties", "scores", "depth", "judged_only", "drop_identical_ids")
_AS_RANKED: dict[str, Any] = dict.fromkeys(_RANKING)
"""Settings that pytrec_eval follows, since it gets the ranking that they make."""


def _reordered(
    qid: str, scores: dict[str, float], policy: Policy, grades: Mapping[str, float]
) -> dict[str, float]:
    """Return the scores by which pytrec_eval ranks as the policy says.

    `grades` are those of the query, which the best and the worst order of ties follow.
    """
    compared = {
        "float32": lambda docno: float(np.float32(scores[docno])),
        "float64": scores.__getitem__,
        "none": lambda docno: 0.0,
    }[policy.score_type]
    dropped = {qid} if policy.drop_identical_ids else set()
    names = [docno for docno in scores if docno not in dropped]  # in the order of the input
    if policy.ties == "reverse":
        names.reverse()
    elif policy.ties != "stable":
        names.sort(key=str.encode, reverse=policy.ties != "docno+")
    if policy.ties in ("best", "worst"):  # unjudged documents lie between grades 1 and 0
        names.sort(key=lambda docno: grades.get(docno, 0.5), reverse=policy.ties == "best")
    with np.errstate(over="ignore"):
        names.sort(key=compared, reverse=True)  # keeps the order of equal ones
    return {docno: -float(rank) for rank, docno in enumerate(names[: policy.depth])}
