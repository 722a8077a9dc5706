"""Dicts in memory, a call of pytrec_eval a query: ``N_QUERIES DEPTH MEASURE...``.

The evaluator is made beforehand; what is timed is the loop.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pytrec_eval

SEED = 20240229
JUDGED = 50


def dicts(n_queries: int, depth: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return qrels of ``JUDGED`` documents a query, and a run of `depth` documents a query."""
    rng = np.random.default_rng(SEED)
    qrels, run = {}, {}
    for query in range(n_queries):
        docnos = [f"doc{number}" for number in rng.choice(10**6, depth, replace=False)]
        scores = np.sort(rng.normal(size=depth))[::-1].tolist()
        judged = rng.choice(docnos, min(JUDGED, depth), replace=False).tolist()
        grades = rng.integers(0, 3, len(judged)).tolist()
        run[f"q{query}"] = dict(zip(docnos, scores, strict=True))
        qrels[f"q{query}"] = dict(zip(judged, grades, strict=True))
    return qrels, run


def main(kind: Any, renew: bool = False) -> None:
    """Time this kind of evaluator, or with `renew` one for each query, and print the means."""
    qrels, run = dicts(int(sys.argv[1]), int(sys.argv[2]))
    measures = set(sys.argv[3:])
    evaluator = kind(qrels, measures)
    first = next(iter(run))
    evaluator.evaluate({first: run[first]})
    wall, cpu = time.perf_counter(), time.process_time()
    if renew:
        values = [
            kind({qid: qrels[qid]}, measures).evaluate({qid: row})[qid] for qid, row in run.items()
        ]
    else:
        values = [evaluator.evaluate({qid: row})[qid] for qid, row in run.items()]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    for measure in sorted(values[0]):
        print(measure, repr(float(np.mean([row[measure] for row in values]))))
    print("seconds", wall, cpu)


if __name__ == "__main__":
    main(pytrec_eval.RelevanceEvaluator)
