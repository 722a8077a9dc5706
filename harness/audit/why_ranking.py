"""One query's ranking, document by document, with what each adds to a metric's value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.align import align
from ..core.aligned import Aligned
from ..core.evaluate import evaluate
from ..core.grades import GradeRule
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.ragged import Floats, Ints
from ..core.tables import Qrels, Run
from ..core.views import policies_of, view
from ..metrics.gains import Scale

FIRST, MOST = 10, 60
"""Ranks that are always shown, and how many are shown at most."""


@dataclass(frozen=True)
class Step:
    """One document of a ranking, or of the ideal order, which has no docno and no score.

    `grade` is None if it is not judged. For DCG and nDCG it adds `gain` / `discount`. `running` is
    the metric's value for the ranking cut here; in the ideal order its DCG up to here.
    """

    rank: int
    docno: str
    score: float
    grade: float | None = None
    gain: float | None = None
    discount: float | None = None
    running: float | None = None

    @property
    def added(self) -> float | None:
        """What the document adds: gain / discount."""
        return None if self.gain is None or self.discount is None else self.gain / self.discount


def steps(
    qrels: Qrels, run: Run, query: str, metric: Metric, policy: Policy
) -> tuple[tuple[Step, ...], tuple[Step, ...], float | None]:
    """Return a query's ranking and ideal order under a metric's settings, and its value.

    The ranking has ranks 1 to 10 and those of documents with a grade above 0, up to the cutoff, 60
    at most; it is empty if the run does not answer the query. The ideal order is that of DCG and
    nDCG. The value is None for a metric that compares to another run, and if there is no ranking.
    """
    if query not in run.qids.to_pylist():
        return (), (), None
    at, place = (each.qids.to_pylist().index(query) for each in (qrels, run))
    judged, ranked = qrels.part(at, at + 1), run.part(place, place + 1)
    whole = replace(policy, missing_queries="zero")
    own = whole.with_settings(metric.settings)
    order = _order(judged, ranked, own)
    seen = view(align(judged, ranked, whole, policies_of([metric], whole)), own)
    grades = dict(zip(seen.rank.tolist(), seen.grade.tolist(), strict=True))
    shown = _shown(order.size, grades, metric.cutoff)
    if own.ties == "average" or own.seed is not None or metric.reference is not None:
        running = {}
    else:
        running = {
            rank: _value(metric, whole, judged, _head(ranked, order[:rank])) for rank in shown
        }
    scale, docnos = _scale(metric), ranked.docnos.to_strings().to_pylist()
    ranking = tuple(
        Step(
            rank, docnos[order[rank - 1]], float(ranked.scores[order[rank - 1]]),
            grades.get(rank), *_parts(scale, grades.get(rank), rank), running.get(rank),
        )
        for rank in shown
    )  # fmt: skip
    value = None if metric.reference else _value(metric, whole, judged, ranked)
    return ranking, _ideal(metric, seen, scale), value


def _order(judged: Qrels, ranked: Run, policy: Policy) -> Ints:
    """Return the rows of a query's run in rank order, under the policy's order of ties."""
    rows = np.arange(ranked.n_rows)
    every = Qrels(ranked.qids, ranked.offsets, ranked.docnos, rows)
    by_grade = policy.ties in ("best", "worst")
    ties = "trec_eval" if by_grade or policy.ties == "average" or policy.seed is not None else None
    plain = replace(
        policy, depth=None, judged_only=False, grades=GradeRule(), ties=ties or policy.ties
    )
    found = view(align(every, ranked, plain, [plain]), plain)
    order: Ints = found.grade
    known = judged.to_dict()[judged.qids[0].as_py()]
    grade = np.array([known.get(d, -1) for d in ranked.docnos.to_strings().to_pylist()])
    if by_grade:
        sign = -1 if policy.ties == "best" else 1
        order = order[np.lexsort((sign * grade[order], found.tie_first))]
    if policy.judged_only:
        order = order[grade[order] >= 0]
    return order if policy.depth is None else order[: policy.depth]


def _shown(n: int, grades: Mapping[int, float], cutoff: float | None) -> list[int]:
    last = n if cutoff is None or cutoff < 1 else min(n, int(cutoff))
    wanted = {*range(1, min(last, FIRST) + 1), last}
    wanted |= {rank for rank, grade in grades.items() if grade > 0 and rank <= last}
    return [rank for rank in sorted(wanted) if rank > 0][:MOST]


def _head(ranked: Run, rows: Ints) -> Run:
    """Return the query's run with these rows alone, in the order of the file."""
    keep = np.zeros(ranked.n_rows, dtype=bool)
    keep[rows] = True
    return replace(ranked.filter(keep), order=None, n_source=None)


def _value(metric: Metric, policy: Policy, judged: Qrels, ranked: Run) -> float:
    aligned = align(judged, ranked, policy, policies_of([metric], policy))
    return float(evaluate(aligned, [metric]).values[0, 0])


def _scale(metric: Metric) -> Scale | None:
    """Return what gains and discounts a metric adds up; None where it is no DCG."""
    given: dict[str, Any] = metric.arguments()
    if metric.definition.name not in ("dcg", "ndcg") or given.get("gains"):
        return None
    return Scale(**{name: given[name] for name in Scale._fields if name in given})


def _parts(
    scale: Scale | None, grade: float | None, rank: int
) -> tuple[float | None, float | None]:
    if scale is None:
        return None, None
    gain = 0.0 if grade is None else float(scale.gains(np.array([grade]))[0])
    return gain, float(scale.discounts(np.array([rank]))[0])


def _ideal(metric: Metric, seen: Aligned, scale: Scale | None) -> tuple[Step, ...]:
    if scale is None or metric.definition.name != "ndcg":
        return ()
    full = dict(metric.arguments()).get("ideal") == "full"
    cutoff = None if full or metric.cutoff is None else int(metric.cutoff)
    _, at, rank = scale.ideal(seen, cutoff)
    gains, discounts = scale.gains(seen.ideal.values[at]), scale.discounts(rank)
    sums: Floats = np.cumsum(gains / discounts)
    rows = zip(
        rank.tolist(), seen.ideal.values[at].tolist(), gains.tolist(), discounts.tolist(),
        sums.tolist(), strict=True,
    )  # fmt: skip
    return tuple(Step(rank, "", math.nan, *rest) for rank, *rest in rows)
