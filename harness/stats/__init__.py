"""Statistics for paired comparisons: tests, intervals, effects, corrections, power. Pure.

Every function takes plain arrays. A *test* is a function marked with
`harness.stats.registry.paired_test` or `harness.stats.registry.all_pairs_test`;
its file in this folder is all that is needed for it to be found.
"""
