"""Statistics for paired comparisons: tests, intervals, effects, corrections, power. Pure.

Every function takes plain arrays. A *test* is a function marked with
`harness.stats.registry.paired_test` or `harness.stats.registry.all_pairs_test`;
its file in this folder is all that is needed for it to be found.
"""

__all__: list[str] = []
"""Nothing here is public: names to use are in harness, harness.batch and harness.compat."""


def __dir__() -> list[str]:
    return __all__
