"""ptranking: ``torch_*_at_ks`` on one query each, and the mean as its evaluator takes it."""

from collections.abc import Sequence

import numpy as np

from . import CUTOFFS, Column, Printed, Query, name

CONVENTIONS = ("ptranking",)
GRADES = ((0, 4), (0, 1))
SINGLE = True
SETTLED = 16
"""The longest list whose tied scores have an order that does not depend on the library."""
_METRICS = {
    "ndcg": "torch_nDCG_at_ks", "map": "torch_ap_at_ks", "nerr": "torch_nerr_at_ks",
    "P": "torch_precision_at_ks",
}  # fmt: skip


def _values(query: Query, metric: str) -> list[float]:
    import torch
    from ptranking.metric import adhoc_metric

    scores = torch.tensor([query.scores], dtype=torch.float32)
    grades = torch.tensor([query.grades], dtype=torch.float32)
    ideal = torch.sort(grades, dim=1, descending=True)[0]
    ranked = torch.gather(grades, 1, torch.sort(scores, dim=1, descending=True)[1])
    given = (ranked,) if metric == "P" else (ranked, ideal)
    values = getattr(adhoc_metric, _METRICS[metric])(*given, ks=list(CUTOFFS))
    return values[0].tolist()


def printed(queries: Sequence[Query]) -> Printed:
    found = {}
    settled = [len(q.grades) <= SETTLED or not q.tied(np.float32) for q in queries]
    for metric in _METRICS:
        table = np.array([_values(query, metric) for query in queries])
        for k, values in zip(CUTOFFS, table.T, strict=True):
            known = settled
            if metric == "nerr":  # 0 for a list shorter than k, which ours knows nothing of
                known = [ok and len(q.grades) >= k for ok, q in zip(settled, queries, strict=True)]
            found[name(metric, "ptranking", k)] = Column(
                [v if ok else None for v, ok in zip(values.tolist(), known, strict=True)],
                float(values.mean()) if all(known) else None,
            )
    return found
