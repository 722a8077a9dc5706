"""CatBoost: ``catboost.utils.eval_metric``."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from . import ALL, CUTOFFS, Column, Printed, Query, flat, name, sizes

CONVENTIONS = ("catboost", "catboost-exp")
GRADES = ((0, 4), (0, 1), (0, 0), (-1, 4))
_METRICS = {
    "NDCG": "ndcg", "DCG": "dcg", "MAP": "map", "MRR": "recip_rank", "PrecisionAt": "P",
    "RecallAt": "recall",
    "ERR": "err", "PFound": "pfound",
}  # fmt: skip


def _value(queries: Sequence[Query], metric: str) -> float:
    from catboost.utils import eval_metric

    grades = flat(query.grades for query in queries)
    scores = flat(query.scores for query in queries)
    groups = np.repeat(np.arange(len(queries)), sizes(queries))
    (value,) = eval_metric(grades, scores, metric, group_id=groups, thread_count=1)
    return float(value)


def _column(queries: Sequence[Query], metric: str) -> Column:
    """Without NDCG if grades below 0 outweigh: CatBoost gives 1, we the quotient."""
    if metric.startswith("NDCG") and any(map(_outweighed, queries)):
        return Column(
            [None if _outweighed(query) else _value([query], metric) for query in queries]
        )
    return Column([_value([query], metric) for query in queries], _value(queries, metric))


def _outweighed(query: Query) -> bool:
    """Whether an ideal DCG could be 0 or less though a document is relevant."""
    return max(query.grades) > 0 and min(query.grades) < 0 and sum(query.grades) <= 0


def printed(queries: Sequence[Query]) -> Printed:
    column = partial(_column, queries)
    grades = {grade for query in queries for grade in query.grades}
    found = {}
    for cutoff in (*CUTOFFS, ALL):
        for metric, ours in _METRICS.items():
            if metric not in ("ERR", "PFound") or grades <= {0, 1}:  # grades are probabilities
                found[name(ours, "catboost", cutoff)] = column(f"{metric}:top={cutoff}")
                if metric not in ("NDCG", "DCG"):
                    exp = found[name(ours, "catboost", cutoff)]
                    found[name(ours, "catboost-exp", cutoff)] = exp
        for metric in ("NDCG", "DCG"):
            ours = name(metric.lower(), "catboost-exp", cutoff)
            found[ours] = column(f"{metric}:type=Exp;top={cutoff}")
        found[name("ndcg", "catboost-exp", cutoff, "discount=position")] = column(
            f"NDCG:type=Exp;denominator=Position;top={cutoff}"
        )
        found[name("map", "catboost", cutoff, "above=1.5")] = column(f"MAP:border=1.5;top={cutoff}")
    if not grades & {-1}:  # which is unjudged to our pairs
        found[name("opa", "catboost")] = column("QueryAUC:type=Ranking")
        found[name("opa", "catboost-exp")] = found[name("opa", "catboost")]
    return found
