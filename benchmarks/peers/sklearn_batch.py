"""Padded arrays in memory to summaries with scikit-learn: ``N_QUERIES MEASURE...``.

It has ``map``, ``ndcg`` and ``ndcg_cut_k``. Its mean average precision leaves out no query: one
without relevant documents counts 1 there, and the data have none.
"""

import sys
import time

from sklearn.metrics import label_ranking_average_precision_score, ndcg_score

from benchmarks.generate import batch

scores, relevance, _ = batch(int(sys.argv[1]))
wall, cpu = time.perf_counter(), time.process_time()
means = {}
for measure in sys.argv[2:]:
    name, _, cutoff = measure.partition("_cut_")
    if name == "ndcg":
        means[measure] = ndcg_score(
            relevance, scores, k=int(cutoff) if cutoff else None, ignore_ties=True
        )
    elif measure == "map":
        means[measure] = label_ranking_average_precision_score(relevance > 0, scores)
    else:
        sys.exit(f"scikit-learn has no {measure}")
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for measure, mean in means.items():
    print(measure, repr(float(mean)))
print("seconds", wall, cpu)
