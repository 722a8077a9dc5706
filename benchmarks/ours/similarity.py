"""RBO with ties and swaps of two runs with the harness: ``N_QUERIES LENGTH METRIC...``.

The runs of ``peers.similarity_literal``, aligned in memory.
"""

import sys
import time

import numpy as np
import pyarrow as pa

import harness.metrics  # noqa: F401 - fills the registry
from benchmarks.peers.similarity_literal import scores_of
from harness.core.align import align, as_reference
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.core.qrels_and_runs import Docnos, Run

n_queries, length = int(sys.argv[1]), int(sys.argv[2])
offsets = np.arange(n_queries + 1) * length
docnos = Docnos(pa.array([f"d{at}" for at in range(length)] * n_queries), offsets)
qids = pa.array([f"q{at}" for at in range(n_queries)])
one, other = (Run(qids, offsets, docnos, each.ravel()) for each in scores_of(n_queries, length))
policy = Policy(ties="stable")
aligned = align(as_reference(other, qids, policy), one, policy)
metrics = parse_all(sys.argv[3:])
wall, cpu = time.perf_counter(), time.process_time()
means = {str(metric): float(np.mean(metric(aligned))) for metric in metrics}
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for name, mean in means.items():
    print(name, repr(mean))
print("seconds", wall, cpu)
