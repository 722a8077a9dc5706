"""BEIR: its functions for one query each, and for all queries for the means; 5 decimals."""

from collections.abc import Sequence

from . import CUTOFFS, Column, Printed, Query, name

CONVENTIONS = ("beir",)
GRADES = ((0, 4), (0, 1), (0, 0))
DIGITS = {"beir": 5}
_CUSTOM = {"recip_rank": ("mrr", "MRR"), "relative_P": ("recall_cap", "R_cap"),
           "success": ("accuracy", "Accuracy")}  # fmt: skip


def _means(queries: Sequence[Query], places: Sequence[int]) -> dict[str, float]:
    from beir.retrieval.evaluation import EvaluateRetrieval

    ks = list(CUTOFFS)
    qrels, run = (
        {
            f"q{place}": dict(zip(queries[place].docnos, getattr(queries[place], of), strict=True))
            for place in places
        }
        for of in ("grades", "scores")
    )
    tables = EvaluateRetrieval.evaluate(qrels, run, ks)
    found = {}
    for metric, table in zip(("ndcg", "map", "recall", "P"), tables, strict=True):
        for k, value in zip(ks, table.values(), strict=True):
            found[name(metric, "beir", k)] = value
    for metric, (theirs, _) in _CUSTOM.items():
        if metric == "relative_P" and any(max(queries[place].grades) <= 0 for place in places):
            continue  # divides by 0
        values = EvaluateRetrieval.evaluate_custom(qrels, run, ks, theirs).values()
        for k, value in zip(ks, values, strict=True):
            found[name(metric, "beir", k)] = value
    return found


def printed(queries: Sequence[Query]) -> Printed:
    rows = [_means(queries, [place]) for place in range(len(queries))]
    means = _means(queries, range(len(queries)))
    names = [name(metric, "beir", k) for metric in ("ndcg", "map", "recall", "P", *_CUSTOM)
             for k in CUTOFFS]  # fmt: skip
    return {one: Column([row.get(one) for row in rows], means.get(one)) for one in names}
