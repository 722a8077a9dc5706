"""Dicts in memory, one call of pytrec_eval for all queries: ``N_QUERIES DEPTH MEASURE...``."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pytrec_eval

from benchmarks.peers.pytrec_eval_calls import dicts


def main(kind: Any) -> None:
    """Time this kind of evaluator, and print the means."""
    qrels, run = dicts(int(sys.argv[1]), int(sys.argv[2]))
    evaluator = kind(qrels, set(sys.argv[3:]))
    first = next(iter(run))
    evaluator.evaluate({first: run[first]})
    wall, cpu = time.perf_counter(), time.process_time()
    values = evaluator.evaluate(run)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    for measure in sorted(values[first]):
        print(measure, repr(float(np.mean([row[measure] for row in values.values()]))))
    print("seconds", wall, cpu)


if __name__ == "__main__":
    main(pytrec_eval.RelevanceEvaluator)
