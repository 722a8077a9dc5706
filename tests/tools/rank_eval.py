"""_rank_eval of Elasticsearch and OpenSearch, written again from its Java classes.

A server is not started here. Hits are at most k, in the engine's order.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from . import CUTOFFS, Column, Printed, Query, name

CONVENTIONS = ("elasticsearch", "opensearch")
GRADES = ((0, 4), (0, 1), (0, 0))


def _dcg(ratings: Sequence[int]) -> float:
    return sum((2**g - 1) / (math.log(rank + 1) / math.log(2)) for rank, g in enumerate(ratings, 1))


def _ndcg(hits: Sequence[int], rated: Sequence[int]) -> float:
    ideal = _dcg(sorted(rated, reverse=True)[: min(len(hits), len(rated))])
    return _dcg(hits) / ideal if ideal != 0 else 0.0


def _err(hits: Sequence[int], rated: Sequence[int]) -> float:
    looking, err = 1.0, 0.0
    for rank, rating in enumerate(hits, 1):
        stops = (2**rating - 1) / 2**4
        err += looking * stops / rank
        looking *= 1 - stops
    return err


def _recall(hits: Sequence[int], rated: Sequence[int]) -> float:
    relevant = sum(rating >= 1 for rating in rated)
    return sum(rating >= 1 for rating in hits) / relevant if relevant else 0.0


_METRICS: dict[str, Callable[[Sequence[int], Sequence[int]], float]] = {
    "dcg": lambda hits, rated: _dcg(hits),
    "ndcg": _ndcg,
    "P": lambda hits, rated: sum(rating >= 1 for rating in hits) / len(hits),
    "recall": _recall,
    "recip_rank": lambda hits, rated: next(
        (1 / rank for rank, rating in enumerate(hits, 1) if rating >= 1), 0.0
    ),
    "err": _err,
}


def printed(queries: Sequence[Query]) -> Printed:
    found: Printed = {}
    for metric, function in _METRICS.items():
        for k in CUTOFFS:
            values = []
            for query in queries:
                order = np.argsort(-np.asarray(query.scores, np.float32), kind="stable")[:k]
                hits = [query.grades[at] for at in order]
                values.append(function(hits, query.grades))
            for convention in CONVENTIONS:
                mean = sum(values) / len(values)
                found[name(metric, convention, k)] = Column(values, mean)
    return found
