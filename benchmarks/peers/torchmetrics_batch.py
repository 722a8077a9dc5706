"""Padded arrays in memory to summaries with torchmetrics: ``N_QUERIES MEASURE...``.

Its retrieval metrics take one column of scores, one of grades and one of query numbers. Only its
nDCG takes grades; it computes in single precision. Some of them leave out documents with a score of
0 or below, so all scores are raised beforehand.
"""

import sys
import time

import torch
from torchmetrics import retrieval

from benchmarks.generate import batch

KINDS = {
    "map": retrieval.RetrievalMAP,
    "ndcg": retrieval.RetrievalNormalizedDCG,
    "P": retrieval.RetrievalPrecision,
    "recall": retrieval.RetrievalRecall,
    "recip_rank": retrieval.RetrievalMRR,
    "Rprec": retrieval.RetrievalRPrecision,
    "success": retrieval.RetrievalHitRate,
}

scores, relevance, _ = batch(int(sys.argv[1]))
scores += 1 - scores.min()
wall, cpu = time.perf_counter(), time.process_time()
given, graded = torch.from_numpy(scores).flatten(), torch.from_numpy(relevance).flatten()
query = torch.arange(scores.shape[0]).repeat_interleave(scores.shape[1])
means = {}
for measure in sys.argv[2:]:
    base, _, cutoff = measure.replace("_cut_", "_").rpartition("_")
    name, options = (base, {"top_k": int(cutoff)}) if cutoff.isdigit() else (measure, {})
    target = graded if name == "ndcg" else (graded > 0)
    means[measure] = float(KINDS[name](**options)(given, target, indexes=query))
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for measure, mean in means.items():
    print(measure, repr(mean))
print("seconds", wall, cpu)
