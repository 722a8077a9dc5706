"""What is measured: one file a group of cases, each a function that makes a `Case`."""

from collections.abc import Callable

from . import arrays, conventions, letor, many_systems, small, statistics, sweep, trec
from .case import ROOT, Case, Command, Setup, Target

__all__ = ["ALL", "ON_REQUEST", "ROOT", "Case", "Command", "Setup", "Target"]

ALL: dict[str, Callable[[Setup], Case]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        trec.trec_large,
        trec.trec_gz,
        trec.trec_json,
        trec.trec_twice,
        trec.trec_ten,
        trec.trec_queries,
        trec.trec_shuffled,
        letor.letor,
        arrays.batch,
        arrays.compat_long,
        arrays.compat_short,
        arrays.compat_renewed,
        arrays.similarity,
        conventions.ties,
        conventions.conventions,
        small.imports,
        small.first_number,
        small.trec_small,
        small.trec_many,
        small.crosscheck,
        sweep.sweep,
        sweep.sweep_memory,
        sweep.hashing,
        conventions.match,
        statistics.randomization,
        many_systems.plots,
        many_systems.tukey,
        many_systems.pairs,
        many_systems.comparisons,
    )
}
"""Every case by name, in the order of the table."""

ON_REQUEST = ("trec-ten",)
"""Cases that take gigabytes: measured with ``--full``, or where they are named."""
