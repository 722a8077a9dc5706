"""Padded arrays in memory to values with the harness: ``N_QUERIES METRIC...``."""

import sys
import time

import harness.metrics  # noqa: F401 - fills the registry
from benchmarks.generate import batch
from harness.convert import from_batch
from harness.core.align import align_parts
from harness.core.evaluate import evaluate
from harness.core.names import parse_all

scores, relevance, n = batch(int(sys.argv[1]))
metrics = parse_all(sys.argv[2:])
wall, cpu = time.perf_counter(), time.process_time()
evaluation = evaluate(align_parts(*from_batch(scores, relevance, n)), metrics)
means = evaluation.summary()
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for metric, mean in means.items():
    print(metric, repr(mean))
print("seconds", wall, cpu)
