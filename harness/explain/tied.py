"""How far the order of tied documents can move a value, for tools in which no rule gives it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..core.align import align
from ..core.bounds import bound
from ..core.evaluate import evaluate
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.tables import Qrels, Run
from ..core.views import policies_of
from ..errors import HarnessError
from .asked import Asked
from .space import Base, Space, familiar

NO_RULE = "torchmetrics but for nDCG, scikit-learn with ignore_ties, RankEval, and others"
_TOOLS = ("sklearn", "torchmetrics", "rankeval", "allrank", "ptranking", "ranx", "quickrank")
"""See "What no rule gives" in docs/conventions.md."""
_USUAL = 8
"""Of the usual cutoffs, how many are tried where none is asked for."""


@dataclass(frozen=True)
class Reach:
    """A metric's summaries under the worst and the best order of tied documents."""

    metric: Metric
    low: float
    high: float


def reaches(asked: Asked, qrels: Qrels, run: Run, spaces: Sequence[Space]) -> tuple[Reach, ...]:
    """Return the metrics between whose extreme values the published one lies.

    Parameters
    ----------
    asked : Asked
    qrels : Qrels
    run : Run
    spaces : sequence of Space
        The metrics; the default of each, and the tools whose order of ties follows no rule.
    """
    metrics = [metric for space in spaces for metric in _metrics(space) if metric.bounded]
    found = []
    for convention in dict.fromkeys(metric.convention for metric in metrics):
        some = [metric for metric in metrics if metric.convention == convention]
        try:
            found += _bounds(qrels, run, some)
        except HarnessError:  # grades that the tool does not take, which is said elsewhere
            for metric in some:
                try:
                    found += _bounds(qrels, run, [metric])
                except HarnessError:
                    continue
    inside = [reach for reach in found if _lies_inside(asked, reach)]
    return tuple(sorted(inside, key=lambda reach: familiar(reach.metric.cutoff)))


def _metrics(space: Space) -> Iterable[Metric]:
    for base in space.bases:
        if _is_ruled(base):
            continue
        cutoffs = base.cutoffs(space.asked)
        if space.asked is None:
            cutoffs = tuple(cutoff for cutoff in cutoffs if familiar(cutoff) < _USUAL)
        for cutoff in cutoffs:
            yield base.metric((), cutoff)


def _is_ruled(base: Base) -> bool:
    if base.convention is None:  # stands for whoever computes it so, with ties in any order
        return False
    name = base.convention.name
    return name not in _TOOLS or (name == "torchmetrics" and base.definition.name == "ndcg")


def _bounds(qrels: Qrels, run: Run, metrics: Sequence[Metric]) -> list[Reach]:
    wanted = [bound(metric, name) for metric in metrics for name in ("min", "max")]
    aligned = align(qrels, run, Policy(), policies_of(wanted, Policy()))
    values = evaluate(aligned, wanted).summary()
    return [Reach(metric, values[f"{metric}_min"], values[f"{metric}_max"]) for metric in metrics]


def _lies_inside(asked: Asked, reach: Reach) -> bool:
    windows = asked.windows(reach.metric.definition.bounds[1])
    return reach.low < reach.high and any(
        window.high >= reach.low and window.low <= reach.high for window in windows
    )
