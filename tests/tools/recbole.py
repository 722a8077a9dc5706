"""RecBole: its metric classes on the relevant documents of ranked lists."""

import math
from collections.abc import Sequence

import numpy as np

from . import CUTOFFS, Column, Printed, Query, name

CONVENTIONS = ("recbole",)
GRADES = ((0, 4), (0, 1), (0, 0))
_NAMES = {"success": "Hit", "recip_rank": "MRR", "map": "MAP", "recall": "Recall",
          "ndcg": "NDCG", "P": "Precision"}  # fmt: skip


def _values(metric: str, query: Query) -> list[float]:
    """Values at all cutoffs; a list of few documents goes on with others' items."""
    from recbole.evaluator import metrics

    order = np.argsort(-np.asarray(query.scores, np.float32), kind="stable")
    relevant = np.asarray(query.grades)[order] > 0
    ranked = np.zeros((1, max(CUTOFFS)), dtype=bool)
    ranked[0, : relevant.size] = relevant[: max(CUTOFFS)]
    theirs = getattr(metrics, _NAMES[metric])
    one = theirs({"topk": list(CUTOFFS), "metric_decimal_place": 12})
    n_relevant = np.array([relevant.sum()])
    takes_number = metric in ("map", "recall", "ndcg")
    found = one.metric_info(ranked, n_relevant) if takes_number else one.metric_info(ranked)
    return [float(found[0, k - 1]) for k in CUTOFFS]


def prepare() -> None:
    """Name what the package takes from numpy before 1.24."""
    if "float" not in vars(np):
        vars(np)["float"] = float


def printed(queries: Sequence[Query]) -> Printed:
    found: Printed = {}
    for metric in _NAMES:
        rows = [
            None if query.tied(np.float32) else _values(metric, query)
            if max(query.grades) > 0 else [math.nan] * len(CUTOFFS)
            for query in queries
        ]  # fmt: skip
        for at, k in enumerate(CUTOFFS):
            found[name(metric, "recbole", k)] = Column([row[at] if row else None for row in rows])
    return found
