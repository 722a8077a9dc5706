"""Alignments of queries given as dicts, or as lists in the order of the ranks."""

from collections.abc import Iterable
from typing import Any

from harness.core.align import align, as_reference
from harness.core.aligned import Aligned
from harness.core.policy import Policy
from harness.core.qrels_and_runs import Qrels, Run

Case = dict[str, tuple[dict[str, int], dict[str, float]]]
"""The judgements and the scores of each query."""


def tables(case: Case) -> tuple[Qrels, Run]:
    run = {qid: scores for qid, (_, scores) in case.items()}
    return Qrels.from_dict({qid: grades for qid, (grades, _) in case.items()}), Run.from_dict(run)


def aligned_of(case: Case, policy: Policy | None = None) -> Aligned:
    return align(*tables(case), policy)


def named(values: Iterable[Any]) -> dict[str, Any]:
    """Name documents by their place."""
    return {f"d{place:03}": value for place, value in enumerate(values)}


def ranked(*lists: list[int]) -> Aligned:
    """Align lists of grades in ranked order: a query each, everything judged and retrieved."""
    scores = [named(-float(rank) for rank in range(len(grades))) for grades in lists]
    pairs = zip(map(named, lists), scores, strict=True)
    return aligned_of({f"q{number}": pair for number, pair in enumerate(pairs)})


Groups = list[list[str]]
"""A ranking as groups of tied documents."""


def run_of(*rankings: Groups) -> Run:
    """One ranking a query."""
    return Run.from_dict(
        {
            f"q{number}": {d: -float(at) for at, group in enumerate(groups) for d in group}
            for number, groups in enumerate(rankings)
        }
    )


def compared_each(pairs: list[tuple[Groups, Groups]]) -> Aligned:
    """Align the first ranking of a query with its second one as the reference."""
    run = run_of(*(first for first, _ in pairs))
    return align(as_reference(run_of(*(second for _, second in pairs)), run.qids), run)


def compared(first: Groups, second: Groups) -> Aligned:
    return compared_each([(first, second)])
