"""Padded arrays in memory to dicts, in a loop, to pytrec_eval: ``N_QUERIES MEASURE...``."""

import sys
import time

import numpy as np
import pytrec_eval

from benchmarks.generate import batch

scores, relevance, n = batch(int(sys.argv[1]))
measures = set(sys.argv[2:])
wall, cpu = time.perf_counter(), time.process_time()
qrels, run = {}, {}
for query in range(scores.shape[0]):
    qid, length = f"q{query}", int(n[query])
    qrels[qid] = {f"d{at}": int(relevance[query, at]) for at in range(length)}
    run[qid] = {f"d{at}": float(scores[query, at]) for at in range(length)}
values = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
means = {
    measure: float(np.mean([row[measure] for row in values.values()]))
    for measure in sorted(next(iter(values.values())))
}
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for measure, mean in means.items():
    print(measure, repr(mean))
print("seconds", wall, cpu)
