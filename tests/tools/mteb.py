"""MTEB: what its retrieval tasks compute from qrels and results."""

from collections.abc import Sequence

from . import CUTOFFS, Column, Printed, Query, dicts, name

CONVENTIONS = ("mteb",)
GRADES = ((0, 4), (0, 1), (0, 0))
_NAMES = {"ndcg": "ndcg_cut", "map": "map_cut", "recall": "recall", "P": "P", "success": "success"}


def printed(queries: Sequence[Query]) -> Printed:
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, mrr

    qrels, run = dicts(queries)
    table = calculate_retrieval_scores(run, qrels, CUTOFFS).all_scores
    found = {
        name(ours, "mteb", k): Column([table[qid][f"{theirs}_{k}"] for qid in qrels])
        for ours, theirs in _NAMES.items()
        for k in CUTOFFS
    }
    for key, values in mrr(qrels, run, CUTOFFS).items():
        mean = sum(values) / len(values)
        found[name("recip_rank", "mteb", int(key.split("@")[1]))] = Column(values, mean)
    return found
