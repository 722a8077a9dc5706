"""One comparison by SciPy's permutation test of differences, 10,000 draws: ``N_QUERIES``."""

import sys
import time

import numpy as np

METRICS = ("ndcg_cut_10", "map", "recip_rank", "P_10", "recall_1000")
N_RUNS = 50


def values_of(n_queries: int) -> np.ndarray:
    """Return values of 50 runs by five metrics, ``(n_metrics, n_runs, n_queries)``.

    A run's value for a query is that of an easy or a hard query, and its own luck; reciprocal
    ranks, precisions and recalls are fractions as the metrics have them.
    """
    rng = np.random.default_rng(20240711)
    values = np.empty((len(METRICS), N_RUNS, n_queries))
    hard = rng.beta(0.6, 1.2, n_queries)
    relevant = rng.integers(1, 12, n_queries)
    for run in range(N_RUNS):
        good = np.clip(hard + rng.normal(0.0005 * run, 0.12, n_queries), 0, 1)
        values[0, run] = good
        values[1, run] = good**1.5
        rank = np.floor(1 / np.maximum(good, 1e-4))
        values[2, run] = np.where(rank <= 1000, 1 / rank, 0)
        values[3, run] = rng.binomial(10, good * 0.5) / 10
        values[4, run] = rng.binomial(relevant, np.sqrt(good)) / relevant
    return values


def main(n_queries: int) -> None:
    from scipy.stats import permutation_test

    values = values_of(n_queries)
    wall, cpu = time.perf_counter(), time.process_time()
    found = permutation_test(
        (values[0, 1] - values[0, 0],),
        np.mean,
        permutation_type="samples",
        n_resamples=10_000,
        batch=1000,
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(METRICS[0], 1, repr(float(found.pvalue)))
    print("seconds", wall, cpu)


if __name__ == "__main__":
    main(int(sys.argv[1]))
