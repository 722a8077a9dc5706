"""torchmetrics: its functions on one query each, its classes for the means."""

from collections.abc import Sequence

import numpy as np

from . import ALL, CUTOFFS, Column, Printed, Query, flat, name, sizes

CONVENTIONS = ("torchmetrics",)
GRADES = ((0, 4), (0, 1), (0, 0))
SINGLE = True
REFUSED = (("map", 2), ("map", -1), ("recip_rank", 2), ("P", 2))
_METRICS = {
    "ndcg": ("normalized_dcg", "NormalizedDCG"),
    "map": ("average_precision", "MAP"),
    "recip_rank": ("reciprocal_rank", "MRR"),
    "P": ("precision", "Precision"),
    "success": ("hit_rate", "HitRate"),
}


def refuse(metric: str, query: Query) -> None:
    _value(metric, query, None, graded=True)


def _value(metric: str, query: Query, k: int | None, graded: bool) -> float:
    import torch
    from torchmetrics.functional import retrieval

    target = torch.tensor(query.grades)
    function = getattr(retrieval, f"retrieval_{_METRICS[metric][0]}")
    scores = torch.tensor(query.scores, dtype=torch.float32)
    return float(function(scores, target if graded else (target > 0).long(), top_k=k))


def _mean(metric: str, queries: Sequence[Query], k: int | None, graded: bool) -> float:
    import torch
    from torchmetrics import retrieval

    target = torch.tensor(flat(query.grades for query in queries), dtype=torch.int64)
    scores = torch.tensor(flat(query.scores for query in queries), dtype=torch.float32)
    indexes = torch.tensor(np.repeat(np.arange(len(queries)), sizes(queries)))
    computed = getattr(retrieval, f"Retrieval{_METRICS[metric][1]}")(top_k=k)
    computed.update(scores, target if graded else (target > 0).long(), indexes=indexes)
    return float(computed.compute())


def printed(queries: Sequence[Query]) -> Printed:
    found = {}
    clip = any(grade > 1 for query in queries for grade in query.grades)
    for metric in _METRICS:
        graded = metric == "ndcg"
        settled = [graded or not query.tied(np.float32) for query in queries]
        for cutoff in (*CUTOFFS, ALL):
            k = cutoff if cutoff < ALL else None
            settings = ("labels=clip",) if clip and not graded else ()
            if metric == "P" and k is None:
                settings += ("denominator=list",)
            found[name(metric, "torchmetrics", cutoff, *settings)] = Column(
                [
                    _value(metric, query, k, graded) if known else None
                    for query, known in zip(queries, settled, strict=True)
                ],
                _mean(metric, queries, k, graded) if all(settled) else None,
            )
    return found
