"""One query's ranking and ideal order by a metric: grades, gains, discounts, the running value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.align import align
from ..core.aligned import Aligned
from ..core.evaluation import evaluate
from ..core.metric import Metric
from ..core.policy import GradeRule, Policy
from ..core.policy_views import policies_of, view
from ..core.ragged import Ints
from ..core.tables import Qrels, Run
from ..metrics.ndcg import Scale, scale_of
from ..reports.grid import Grid, filled, grid_of

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

    The ranking has ranks 1 to 10 and all documents with a grade above 0, up to the cutoff and 60
    rows; it is empty if the run does not answer the query. DCG and nDCG have an ideal order. The
    value is None without a ranking, and for a metric that compares to another run.
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
    cut = metric.cutoff is not None and metric.cutoff >= 1
    last = min(order.size, int(metric.cutoff or 0)) if cut else order.size
    relevant = {rank for rank, grade in grades.items() if grade > 0 and rank <= last}
    shown = sorted(relevant.union(range(1, min(last, FIRST) + 1), [last] if last else []))[:MOST]
    running = {}
    if own.ties != "average" and own.seed is None and metric.reference is None:
        for rank in shown:
            head = np.isin(np.arange(ranked.n_rows), order[:rank])
            top = replace(ranked.filter(head), order=None, n_source=None)
            running[rank] = _value(metric, whole, judged, top)
    scale, docnos = scale_of(metric), ranked.docnos.to_strings().to_pylist()
    ranking = []
    for rank in shown:
        row, grade, gain, discount = order[rank - 1], grades.get(rank), None, None
        if scale is not None:
            gain = 0.0 if grade is None else float(scale.gains(np.array([grade]))[0])
            discount = float(scale.discounts(np.array([rank]))[0])
        score, value = float(ranked.scores[row]), running.get(rank)
        ranking.append(Step(rank, docnos[row], score, grade, gain, discount, value))
    ideal = _ideal(metric, seen, scale) if scale and metric.definition.name == "ndcg" else ()
    value = None if metric.reference else _value(metric, whole, judged, ranked)
    return tuple(ranking), ideal, value


def _order(judged: Qrels, ranked: Run, policy: Policy) -> Ints:
    """Return the rows of a query's run in rank order, under the policy's order of ties."""
    every = Qrels(ranked.qids, ranked.offsets, ranked.docnos, np.arange(ranked.n_rows))
    ties = policy.ties
    if ties in ("best", "worst", "average") or policy.seed is not None:
        ties = "trec_eval"
    plain = replace(policy, depth=None, judged_only=False, grades=GradeRule(), ties=ties)
    found = view(align(every, ranked, plain, [plain]), plain)
    order: Ints = found.grade  # the "grade" of a document is its row
    grade_of = judged.to_dict()[judged.qids[0].as_py()]
    grade = np.array([grade_of.get(d, -1) for d in ranked.docnos.to_strings().to_pylist()])
    if policy.ties in ("best", "worst"):
        sign = -1 if policy.ties == "best" else 1
        order = order[np.lexsort((sign * grade[order], found.tie_first))]
    if policy.judged_only:
        order = order[grade[order] >= 0]
    return order if policy.depth is None else order[: policy.depth]


def _value(metric: Metric, policy: Policy, judged: Qrels, ranked: Run) -> float:
    aligned = align(judged, ranked, policy, policies_of([metric], policy))
    return float(evaluate(aligned, [metric]).values[0, 0])


def _ideal(metric: Metric, seen: Aligned, scale: Scale) -> tuple[Step, ...]:
    full = metric.arguments().get("ideal") == "full"
    _, at, rank = scale.ideal(seen, None if full or metric.cutoff is None else int(metric.cutoff))
    gains, discounts = scale.gains(seen.ideal.values[at]), scale.discounts(rank)
    sums = np.cumsum(gains / discounts)
    columns = rank, seen.ideal.values[at], gains, discounts, sums
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(Step(rank, "", math.nan, *rest) for rank, *rest in rows)


def ranking_grid(steps: Sequence[Step], running: str, title: str = "") -> Grid:
    """Return a ranking as a table, with the columns that have values; `running` heads the last."""

    def number(value: float | None) -> str:
        return "" if value is None or math.isnan(value) else f"{value:.6g}"

    rows = [
        {
            "rank": str(step.rank), "docno": step.docno, "score": number(step.score),
            "grade": "not judged" if step.grade is None else f"{step.grade:g}",
            "gain": number(step.gain), "/ discount": number(step.discount),
            "adds": number(step.added), running: number(step.running),
        }
        for step in steps
    ]  # fmt: skip
    shown: list[dict[str, str]] = []
    last = 0
    for step, row in zip(steps, filled(rows), strict=True):
        if step.rank > last + 1:
            shown.append({**dict.fromkeys(row, ""), "rank": f"({step.rank - last - 1} more)"})
        shown.append(row)
        last = step.rank
    return grid_of(shown, left=2 if "docno" in shown[0] else 1, title=title)
