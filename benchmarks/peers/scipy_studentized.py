"""p-values of Tukey's test by SciPy's distribution: ``N_SYSTEMS N_QUERIES PAIRS``."""

import sys
import time

import numpy as np


def values_of(n_systems: int, n_queries: int, seed: int) -> np.ndarray:
    """Return values ``(n_systems, n_queries)`` of systems from bad to good."""
    rng = np.random.default_rng(20261123 + seed)
    hard = rng.beta(0.6, 1.2, n_queries)
    good = np.linspace(-0.4, 0.1, n_systems)[:, None]
    return np.clip(hard + good + rng.normal(0, 0.15, (n_systems, n_queries)), 0, 1)


def main(n_systems: int, n_queries: int, n_pairs: int) -> None:
    from scipy.stats import studentized_range

    values = values_of(n_systems, n_queries, 0)
    means = values.mean(axis=1, keepdims=True)
    left = values - means - values.mean(axis=0) + values.mean()
    freedom = (n_systems - 1) * (n_queries - 1)
    scale = (left**2).sum() / freedom / n_queries
    pairs = np.random.default_rng(0).integers(0, n_systems, (n_pairs, 2))
    wall, cpu = time.perf_counter(), time.process_time()
    q = np.abs(means[pairs[:, 0], 0] - means[pairs[:, 1], 0]) / scale**0.5
    found = studentized_range.sf(q, n_systems, freedom)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print("p of the first pair", repr(float(found[0])))
    print("seconds", wall, cpu)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
