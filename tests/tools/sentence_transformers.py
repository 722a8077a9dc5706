"""Sentence Transformers: InformationRetrievalEvaluator, given scores in place of a model."""

import math
from collections.abc import Sequence

import numpy as np

from . import CUTOFFS, Column, Printed, Query, name

CONVENTIONS = ("sentence-transformers",)
GRADES = ((0, 4), (0, 1), (0, 0))
_NAMES = {"success": "accuracy@k", "P": "precision@k", "recall": "recall@k", "recip_rank": "mrr@k",
          "ndcg": "ndcg@k", "map": "map@k"}  # fmt: skip


def _means(queries: Sequence[Query]) -> dict[str, dict[int, float]]:
    from sentence_transformers.evaluation import InformationRetrievalEvaluator

    ks = list(CUTOFFS)
    relevant = {
        f"q{place}": {d for d, g in zip(query.docnos, query.grades, strict=True) if g > 0}
        for place, query in enumerate(queries)
    }
    evaluator = InformationRetrievalEvaluator(
        dict.fromkeys(relevant, ""), {}, relevant, mrr_at_k=ks, ndcg_at_k=ks, accuracy_at_k=ks,
        precision_recall_at_k=ks, map_at_k=ks,
    )  # fmt: skip
    hits = [
        [
            {"corpus_id": docno, "score": float(np.float32(score))}
            for docno, score in zip(query.docnos, query.scores, strict=True)
        ]
        for query in queries
        if max(query.grades) > 0
    ]
    found: dict[str, dict[int, float]] = evaluator.compute_metrics(hits)
    return found


def printed(queries: Sequence[Query]) -> Printed:
    judged = [query for query in queries if max(query.grades) > 0]
    rows = [_means([query]) if max(query.grades) > 0 else None for query in queries]
    means = _means(judged) if judged else None
    return {
        name(ours, "sentence-transformers", k): Column(
            [float(row[theirs][k]) if row else math.nan for row in rows],
            float(means[theirs][k]) if means else None,
        )
        for ours, theirs in _NAMES.items()
        for k in CUTOFFS
    }
