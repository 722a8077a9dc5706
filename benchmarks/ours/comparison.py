"""A whole comparison of 49 runs with one by randomisation tests: ``N_QUERIES WORKERS``.

Besides the tests of ``ours.randomization`` that is intervals, effects, power, correction, and each
run's tier and interval of ranks.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command has it

import sys
import time

import numpy as np
import pyarrow as pa

import harness.metrics
from benchmarks.peers.scipy_permutation import METRICS, N_RUNS, values_of
from harness.core.entries import Entry, System
from harness.core.evaluation import Evaluation
from harness.core.names import parse_all
from harness.stats.compare import compare
from harness.stats.comparison import Plan

assert harness.metrics  # importing it fills the registry
n_queries, workers = int(sys.argv[1]), int(sys.argv[2])
values = values_of(n_queries)
metrics = tuple(parse_all(METRICS))
qids = pa.array([f"q{at}" for at in range(n_queries)])
systems = []
for at in range(N_RUNS):
    rows = np.ascontiguousarray(values[:, at].T)
    evaluation = Evaluation(rows, qids, metrics, run=f"run{at}", dataset="passages")
    systems.append(System.of([Entry(evaluation)], f"run{at}"))
wall, cpu = time.perf_counter(), time.process_time()
found = compare(systems, Plan(baselines=("run0",), test="randomization"), workers)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for row in found.rows:
    print(row.metric, row.run, repr(row.p))
for standing in found.standings:
    print(standing.metric, standing.run, standing.rank_low, standing.rank_high)
print("seconds", wall, cpu)
