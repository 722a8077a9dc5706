"""allRank: all queries as one padded batch, as its own evaluation does."""

from collections.abc import Sequence

import numpy as np

from . import ALL, CUTOFFS, Column, Printed, Query, name

CONVENTIONS = ("allrank",)
GRADES = ((0, 4), (0, 1))
SINGLE = True
SETTLED = 16
"""The widest batch whose tied scores have an order that does not depend on the library."""
_PADDING = -1


def printed(queries: Sequence[Query]) -> Printed:
    import torch
    from allrank.models import metrics

    width = max(len(query.grades) for query in queries)
    scores, grades = (
        torch.tensor([[*getattr(q, numbers)] + [fill] * (width - len(q.grades)) for q in queries])
        for numbers, fill in (("scores", 0.0), ("grades", _PADDING))
    )
    batch = (scores.to(torch.float32), grades.to(torch.float32))
    settled = [width <= SETTLED or not query.tied(np.float32) for query in queries]
    # A batch of zeros only has 0 for each list, ours is what a mixed batch has.
    mixed = any(grade > 0 for query in queries for grade in query.grades)
    found = {}
    for metric, function in (("ndcg", "ndcg"), ("dcg", "dcg"), ("recip_rank", "mrr")):
        if metric == "recip_rank" and not mixed:
            continue
        for k in (*CUTOFFS, ALL):
            values = getattr(metrics, function)(*batch, ats=[k])[:, 0]
            found[name(metric, "allrank", k)] = Column(
                [v if known else None for v, known in zip(values.tolist(), settled, strict=True)],
                float(values.mean()) if all(settled) else None,
            )
    return found
