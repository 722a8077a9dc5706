"""Queries that a run does not answer, and that count all the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .systems import System


@dataclass(frozen=True)
class Unanswered:
    """What one run leaves unanswered on one dataset, under ``missing_queries: zero``.

    Parameters
    ----------
    dataset, run : str
    n : int
        Queries without an answer (of the repetition that leaves the most).
    n_queries : int
        All queries.
    qids : tuple of str
        Which they are, of any repetition; empty where that is not known, as of results that
        were read back.
    """

    dataset: str
    run: str
    n: int
    n_queries: int
    qids: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.run} answered {self.n_queries - self.n} of {self.n_queries} queries"


def unanswered_of(systems: Iterable[System]) -> Iterator[Unanswered]:
    """Yield what each system leaves unanswered, where it leaves anything.

    Queries that are left out (``missing_queries: skip``) are no queries of it.
    """
    for system in systems:
        evaluations = [entry.evaluation for entry in system.entries]
        answered, n_queries = system.coverage
        if answered < n_queries and evaluations[0].policy.missing_queries == "zero":
            qids = dict.fromkeys(qid for one in evaluations for qid in one.unanswered)
            yield Unanswered(
                system.dataset, system.run, n_queries - answered, n_queries, tuple(qids)
            )
