"""BEIR: its functions for one query each, and for all queries for the means; 5 decimals."""

from collections.abc import Sequence

from . import CUTOFFS, Column, Printed, Query, dicts, name

CONVENTIONS = ("beir",)
GRADES = ((0, 4), (0, 1), (0, 0))
DIGITS = {"beir": 5}
_CUSTOM = {"recip_rank": ("mrr", "MRR"), "relative_P": ("recall_cap", "R_cap"),
           "success": ("accuracy", "Accuracy")}  # fmt: skip


def _means(queries: Sequence[Query]) -> dict[str, float]:
    from beir.retrieval.evaluation import EvaluateRetrieval

    ks = list(CUTOFFS)
    qrels, run = dicts(queries)
    tables = EvaluateRetrieval.evaluate(qrels, run, ks)
    found = {}
    for metric, table in zip(("ndcg", "map", "recall", "P"), tables, strict=True):
        for k, value in zip(ks, table.values(), strict=True):
            found[name(metric, "beir", k)] = value
    for metric, (theirs, _) in _CUSTOM.items():
        if metric == "relative_P" and any(max(query.grades) <= 0 for query in queries):
            continue  # divides by 0
        values = EvaluateRetrieval.evaluate_custom(qrels, run, ks, theirs).values()
        for k, value in zip(ks, values, strict=True):
            found[name(metric, "beir", k)] = value
    return found


def printed(queries: Sequence[Query]) -> Printed:
    rows, means = [_means([query]) for query in queries], _means(queries)
    names = [name(metric, "beir", k) for metric in ("ndcg", "map", "recall", "P", *_CUSTOM)
             for k in CUTOFFS]  # fmt: skip
    return {one: Column([row.get(one) for row in rows], means.get(one)) for one in names}
