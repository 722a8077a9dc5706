"""The second opinion: queries evaluated again by pytrec_eval, which must agree to the last bit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from .compat.measures import supported_measures
from .core.arrow import cast, index_in, string_column, take
from .core.evaluation import Evaluation
from .core.metric import Metric
from .core.policy import Policy
from .core.settings import Settings
from .core.tables import Qrels, Run
from .errors import Problem, VerificationError

Mode = Literal["sample", "all", "none"]
SAMPLE = 50
"""Queries of an experiment that are checked at least, and of one run at most, but for all."""
TOGETHER = 16
"""Queries in one call of pytrec_eval: each call reads the names of the measures anew (0.4 ms)."""
_AS_TEXT = {"runid", "relstring"}


@dataclass(frozen=True)
class Audit:
    """What was checked: queries, values, and the largest difference found (0, or it stops)."""

    mode: Mode
    queries: int = 0
    values: int = 0
    largest_difference: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the audit by name."""
        return asdict(self)

    def joined(self, more: Audit) -> Audit:
        """Return the audit of both: the same queries, by more metrics."""
        return Audit(
            more.mode,
            max(self.queries, more.queries),
            self.values + more.values,
            max(self.largest_difference, more.largest_difference),
        )


def sample_size(n_queries: int, cells: int) -> int:
    """Return how many queries of one run are checked.

    One in 50, from 1 to 50; and so many that those of all runs together are 50. So the check of
    a sweep of small runs takes a small part of its time, since pytrec_eval takes longer for a
    query than the harness does.

    >>> sample_size(6980, 1), sample_size(43, 1), sample_size(50, 5), sample_size(50, 100)
    (50, 43, 10, 1)
    """
    size = max(min(SAMPLE, max(1, n_queries // SAMPLE)), -(-SAMPLE // cells))
    return min(size, n_queries)


class Crosscheck:
    """Evaluates some queries of a run again while it is read, and compares.

    pytrec_eval is given the judgements and scores as they were read, so that ordering, ties and
    joining are checked along with the metrics. Left out are queries where the two differ on
    purpose: not answered, touched by ``empty_queries``, or all of whose judgements are below 0
    (undefined in trec_eval); metrics that pytrec_eval does not have; and all of a dataset whose
    grades are fractions, of which pytrec_eval takes none.

    Parameters
    ----------
    qrels : Qrels
    metrics : sequence of Metric
    policy : Policy
        Where ties are ordered otherwise than by trec_eval, pytrec_eval is given that order.
        Metrics whose ties are averaged, best, worst or random are left out.
    mode : {"sample", "all", "none"}
        ``sample`` takes some judged queries of the run, at least 50 of the whole experiment;
        see :func:`sample_size`.
    cell, cells : int
        Which of how many runs of the experiment it is. The choice follows from it, so that
        every run is checked on other queries, and on the same ones every time.
    """

    def __init__(
        self,
        qrels: Qrels,
        metrics: Sequence[Metric],
        policy: Policy,
        mode: Mode = "sample",
        cell: int = 0,
        cells: int = 1,
    ) -> None:
        self.qrels, self.policy, self.mode = qrels, policy, mode
        self.by_level: dict[tuple[int, Policy], dict[str, Metric]] = defaultdict(dict)
        fractions = qrels.numbers.dtype.kind == "f"
        for metric in metrics if mode != "none" and not fractions else ():
            level, under = dict(metric.params).get("rel", 1), policy.with_settings(metric.settings)
            measure = _measure(metric)
            if measure is not None and under.of_rows:
                self.by_level[level, under][measure] = metric
        judged = np.flatnonzero(np.diff(qrels.offsets))
        best = np.maximum.reduceat(qrels.numbers, qrels.offsets[judged])
        usable = judged[best >= 0]
        self.size = usable.size
        if mode == "sample":
            usable = np.random.default_rng((qrels.n_queries, cell)).permutation(usable)
            self.size = min(usable.size, sample_size(qrels.n_queries, cells))
        self.usable = usable
        self.names = take(qrels.qids, usable)
        self.reserve: list[tuple[int, Run]] = []
        self.expected: dict[str, dict[Metric, float]] = {}

    def watch(self, run: Run) -> None:
        """Evaluate the chosen queries of a run, or of a part of one.

        The first others that it answers are kept, to stand in for chosen ones that it does not.
        """
        if not self.by_level:
            return
        wanted = len(self.reserve) < self.size
        seen = self.usable.size if wanted else self.size
        at = index_in(cast(self.names.slice(0, seen), run.qids.type), run.qids)
        chosen = []
        for rank in np.flatnonzero(at >= 0).tolist():
            query, place = int(self.usable[rank]), int(at[rank])
            if rank < self.size:
                chosen.append((query, run.part(place, place + 1)))
            elif len(self.reserve) < self.size:
                self.reserve.append((query, run.part(place, place + 1)))
            else:
                break
        for start in range(0, len(chosen), TOGETHER):
            self._check(chosen[start : start + TOGETHER])

    def _check(self, chosen: Sequence[tuple[int, Run]]) -> None:
        import pytrec_eval

        judged: dict[str, dict[str, int]] = {}
        scores: dict[str, dict[str, float]] = {}
        for query, part in chosen:
            ((qid, grades),) = self.qrels.part(query, query + 1).to_dict().items()
            ((_, found),) = part.to_dict().items()
            if found:
                judged[qid] = {docno: int(grade) for docno, grade in grades.items()}
                scores[qid] = found
        for (level, policy), measures in self.by_level.items():
            all_of_them = policy.empty_queries == "zero"
            some = [qid for qid in scores if all_of_them or max(judged[qid].values()) >= level]
            evaluator = pytrec_eval.RelevanceEvaluator(
                {qid: judged[qid] for qid in some}, set(measures), level, policy.judged_only
            )
            seen = {qid: _as_seen(scores[qid], policy) for qid in some}
            for qid, values in evaluator.evaluate(seen).items():
                expected = self.expected.setdefault(qid, {})
                expected.update((metric, values[name]) for name, metric in measures.items())

    def compare(self, evaluation: Evaluation, dataset: str = "") -> Audit:
        """Return what was checked.

        Raises
        ------
        VerificationError
            Where a value is not equal, with query, metric and both values.
        """
        for query, part in self.reserve:
            if len(self.expected) >= self.size:
                break
            self._check([(query, part)])
        self.reserve.clear()
        names = list(self.expected)
        places = index_in(string_column(names), evaluation.qids)
        column_of = {metric: column for column, metric in enumerate(evaluation.metrics)}
        values = 0
        for name, place in zip(names, places.tolist(), strict=True):
            for metric, expected in self.expected[name].items():
                ours = float(evaluation.values[place, column_of[metric]])
                values += 1
                if ours != expected and not (np.isnan(ours) and np.isnan(expected)):
                    raise VerificationError(
                        Problem(
                            f"{evaluation.run} on {dataset or evaluation.dataset}",
                            f"query '{name}', {metric}: {ours!r} here, {expected!r} by pytrec_eval",
                            fix="this is a fault of the harness: please report it with the query's "
                            "lines; 'crosscheck: none' goes on without",
                        )
                    )
        return Audit(self.mode, len(names), values)


@lru_cache
def _measure(metric: Metric) -> str | None:
    """Return pytrec_eval's name for a metric; None where it has none that does the same."""
    plain = replace(metric, settings=Settings(), convention=None, given=())
    base = metric.definition.trec_name
    if base not in supported_measures - _AS_TEXT or {name for name, _ in metric.params} - {"rel"}:
        return None
    if replace(metric.settings, **_AS_RANKED) != Settings():
        return None
    if plain.cutoff is not None and plain.trec_name == str(plain):
        return None
    return plain.trec_name


_AS_RANKED: dict[str, Any] = {"ties": None, "scores": None, "depth": None, "judged_only": None}
"""Settings that pytrec_eval follows, since it is given the ranking that they make."""


def _as_seen(scores: dict[str, float], policy: Policy) -> dict[str, float]:
    """Return the scores that make pytrec_eval see the ranking that the policy asks for."""
    if policy == Policy(judged_only=policy.judged_only, missing_queries=policy.missing_queries):
        return scores
    compared = {
        "float32": lambda docno: float(np.float32(scores[docno])),
        "float64": scores.__getitem__,
        "none": lambda docno: 0.0,
    }[policy.score_type]
    names = list(scores)  # in the order of the input
    if policy.ties == "reverse":
        names.reverse()
    elif policy.ties != "stable":
        names.sort(key=str.encode, reverse=policy.ties != "docno+")
    with np.errstate(over="ignore"):
        names.sort(key=compared, reverse=True)  # keeps what stands before of two equal ones before
    return {docno: -float(rank) for rank, docno in enumerate(names[: policy.depth])}
