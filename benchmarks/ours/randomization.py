"""Randomisation tests of 49 runs against one, five metrics, 10,000 draws: ``N_QUERIES WORKERS``."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.peers.scipy_permutation import METRICS, N_RUNS, values_of
from harness.stats.differences import differences
from harness.stats.registry import Stream, find, outcome_of

n_queries, workers = int(sys.argv[1]), int(sys.argv[2])
values = values_of(n_queries)  # (n_metrics, n_runs, n_queries)
pairs = [(metric, run) for metric in range(len(METRICS)) for run in range(1, N_RUNS)]
wall, cpu = time.perf_counter(), time.process_time()
test = find("randomization")


def p_of(pair: tuple[int, int]) -> float:
    metric, run = pair
    names = ("passages", METRICS[metric], "run0", f"run{run}")
    difference = differences(values[metric, run], values[metric, 0])
    return outcome_of(test, difference, Stream(names)).p


with ThreadPoolExecutor(workers) as pool:
    found = list(pool.map(p_of, pairs))
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
for (metric, run), p in zip(pairs, np.array(found).tolist(), strict=True):
    print(METRICS[metric], run, repr(p))
print("seconds", wall, cpu)
