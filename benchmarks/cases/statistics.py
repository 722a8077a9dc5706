"""Significance tests."""

from __future__ import annotations

from .case import Case, Command, Setup, Target, module

N_QUERIES = 6980
COMPARISONS = 49 * 5


def randomization(setup: Setup) -> Case:
    """50 runs and five metrics against one baseline."""
    n_queries = str(setup.queries(N_QUERIES))
    two, one, whole = (
        Command(label, module(name, n_queries, workers), reported=True, digits=digits)
        for label, name, workers, digits in (
            ("harness: the tests, two workers", "ours.randomization", "2", 15),
            ("the tests, one worker", "ours.randomization", "1", 15),
            ("harness.stats.compare, two workers", "ours.comparison", "2", 0),
        )
    )
    scipy = Command(
        "scipy.stats.permutation_test: one comparison, time x 245",
        module("peers.scipy_permutation", n_queries), repeats=3, scale=COMPARISONS, reported=True,
    )  # fmt: skip
    return Case(
        "Randomisation tests of 49 runs against one, 6,980 queries, five metrics, 10,000 draws",
        "From values in memory to 245 p-values; `compare` adds intervals, effects, power, the "
        "correction, and each run's tier and interval of ranks. P@10 lies on a grid on which p is "
        "exact; the other metrics are drawn. The summaries are the 245 p-values.",
        (two, one, whole, scipy),
        (
            Target(two, 10),
            Target(two, 1000, by="memory"),
            Target(whole, 10),
            Target(whole, 1000, by="memory"),
            Target(two, 1 / 10, scipy),
        ),
    )
