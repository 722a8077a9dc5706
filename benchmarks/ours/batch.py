"""Padded arrays in memory to summaries with the harness: ``N_QUERIES METRIC...``."""

import sys
import time

import harness
from benchmarks.generate import batch

scores, relevance, n = batch(int(sys.argv[1]))
evaluate = harness.evaluate  # loaded here, as imports are not counted
wall, cpu = time.perf_counter(), time.process_time()
means = evaluate(relevance, scores, sys.argv[2:], n=n).summary()
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for metric, mean in means.items():
    print(metric, repr(mean))
print("seconds", wall, cpu)
