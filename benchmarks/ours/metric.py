"""One metric on a joined run, a third of whose documents are tied: ``N_QUERIES METRIC``."""

import sys
import time

import harness.metrics
from benchmarks.generate import batch
from harness.core.align import align_parts
from harness.core.evaluation import evaluate
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.core.policy_views import policies_of
from harness.readers.batches import from_batch

assert harness.metrics  # importing it fills the registry
scores, relevance, n = batch(int(sys.argv[1]))
scores = (scores / 0.021).round()  # few enough steps that a third of the documents are tied
qrels, run, _ = from_batch(scores, relevance, n)
metrics = parse_all(sys.argv[2:])
parts = list(align_parts(qrels, run, Policy(), policies_of(metrics, Policy())))
evaluate(parts[:1], metrics)  # what is made once for a process
wall, cpu = time.perf_counter(), time.process_time()
evaluation = evaluate(parts[1:], metrics)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for metric, mean in evaluation.summary().items():
    print(metric, repr(mean))
print("seconds", wall, cpu)
