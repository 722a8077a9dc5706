"""Padded arrays in memory to summaries with ranx: ``N_QUERIES MEASURE...``.

It takes arrays (query, document, 2) of numbers for documents and their scores, both sorted by
falling score. Its functions are compiled on a few queries beforehand; that is not timed.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import numpy.typing as npt
from ranx import evaluate

from benchmarks.generate import batch

Array = npt.NDArray[np.float64]
NAMES = {"P": "precision", "recip_rank": "mrr", "Rprec": "r-precision", "success": "hit_rate"}


def name_of(measure: str) -> str:
    """ranx's name of a measure of trec_eval."""
    base, _, cutoff = measure.replace("_cut_", "_").rpartition("_")
    if not cutoff.isdigit():
        return NAMES.get(measure, measure)
    return f"{NAMES.get(base, base)}@{cutoff}"


def means_of(scores: Array, relevance: Array, measures: list[str]) -> dict[str, float]:
    """Return the summary of each measure."""
    qrels, run = (_ranked(numbers) for numbers in (relevance, scores))
    names = {measure: name_of(measure) for measure in measures}
    values = evaluate(qrels, run, list(names.values()), return_mean=False)
    if len(measures) == 1:
        values = {names[measures[0]]: values}
    return {measure: float(np.mean(values[name])) for measure, name in names.items()}


def _ranked(numbers: Array) -> Array:
    order = np.argsort(-numbers, axis=1, kind="stable")
    return np.stack([order, np.take_along_axis(numbers, order, axis=1)], axis=2).astype(np.float64)


if __name__ == "__main__":
    given, graded, _ = batch(int(sys.argv[1]))
    means_of(given[:16], graded[:16], sys.argv[2:])
    wall, cpu = time.perf_counter(), time.process_time()
    means = means_of(given, graded, sys.argv[2:])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    for measure, mean in means.items():
        print(measure, repr(mean))
    print("seconds", wall, cpu)
