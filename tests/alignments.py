"""Alignments of queries given as dicts, or as lists in the order of the ranks."""

from collections.abc import Iterable
from typing import Any

from harness.core.align import align
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
