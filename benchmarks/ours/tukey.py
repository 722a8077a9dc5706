"""Tukey's test of all pairs: ``N_SYSTEMS N_QUERIES TURN``; the second turn is of another metric."""

import sys
import time

import scipy.optimize  # what the test loads when it is first used

from benchmarks.peers.scipy_studentized import values_of
from harness.stats.registry import Stream
from harness.stats.tukey import tukey

assert scipy.optimize
n_systems, n_queries, turn = map(int, sys.argv[1:])
for seed in range(turn):
    values = values_of(n_systems, n_queries, seed)
    wall, cpu = time.perf_counter(), time.process_time()
    found = tukey(values, Stream())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print("p of the first pair", repr(float(found.p[0, 1])))
print("seconds", wall, cpu)
