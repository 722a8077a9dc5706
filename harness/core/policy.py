"""What is done where the data leave a choice: ties, missing queries, empty queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ..errors import UnknownNameError, did_you_mean

Ties = Literal["trec_eval", "trec_eval10", "stable"]
Missing = Literal["zero", "skip", "error"]
Empty = Literal["zero", "one", "skip", "error"]
Duplicates = Literal["error", "first", "last"]


@dataclass(frozen=True)
class Policy:
    """The choices in force for every metric of a run; recorded with the values.

    Parameters
    ----------
    ties : {"trec_eval", "trec_eval10", "stable"}
        Order of documents with one score. ``trec_eval`` (9.0.8): scores compared as float32,
        then docno descending by bytes. ``trec_eval10`` (10.0): the same, scores compared as
        float64. ``stable``: scores compared as float64, then the order of the input.
    missing_queries : {"zero", "skip", "error"}
        A query that is judged but not answered by the run. ``zero``: it counts, with the
        metric's value for a missing answer (0 for every metric where higher is better; NaN,
        and so left out of the mean, for an error measure such as ``mse``, where 0 would be a
        prize). ``skip``: it is left out. ``error``: stop.
    empty_queries : {"zero", "one", "skip", "error"}
        A query without relevant documents. ``zero``: the metric's own documented value, 0 for
        all of trec_eval's. ``one``: 1 for metrics that lie in [0, 1]. ``skip``: NaN, so that
        the mean leaves it out. ``error``: stop.
    depth : int, optional
        Only the first `depth` documents of each query are looked at (trec_eval -M).
    judged_only : bool
        Unjudged documents are taken out of the ranking first (trec_eval -J).
    """

    ties: Ties = "trec_eval"
    missing_queries: Missing = "zero"
    empty_queries: Empty = "zero"
    depth: int | None = None
    judged_only: bool = False

    def __post_init__(self) -> None:
        for field, allowed in (
            ("ties", get_args(Ties)),
            ("missing_queries", get_args(Missing)),
            ("empty_queries", get_args(Empty)),
        ):
            value = getattr(self, field)
            if value not in allowed:
                raise UnknownNameError(
                    f"unknown {field} policy '{value}'{did_you_mean(str(value), allowed)}"
                    f"  (all: {', '.join(allowed)})"
                )
        if self.depth is not None and self.depth < 1:
            raise UnknownNameError(f"depth must be at least 1, not {self.depth}")
