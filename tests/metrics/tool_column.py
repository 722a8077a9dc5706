"""A column of ../shared/golden/conventions.json in our settings: the type, and what many share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

ALL = 100_000
"""A cutoff beyond every list, for metrics that need one."""


@dataclass(frozen=True)
class Column:
    """One column: metric, parameters, and the settings that every metric has.

    Parameters
    ----------
    metric : str
        Our metric with its parameters; the cutoff is put behind it. Empty where there is none.
    ties : str
        Order of tied scores: a policy for ties. ``random``: at random in each call, so that
        only the expectation can be compared.
    scores : {"float32", "float64", "none"}
        The type that scores are compared in.
    empty : {"zero", "one", "nan", "own"}
        Value of a query without relevant documents; ``own``: what the metric gives it. A short
        list is looked at first: see `metric`'s ``short``.
    undefined : {"skip", "zero", "nan"}
        What an undefined value does to the mean.
    grades : mapping
        Grades that are accepted: ``low``, ``high``, ``whole`` (True where left out),
        ``truncate``, ``positive_scores``, ``documents``, as in ``GradeRule``.
    judged_only : bool
        Whether grades below 0 are padding and leave the list.
    uncut : mapping
        What differs where the tool is given no cutoff: ``cutoff``, ``metric``, or a setting.
    given : {"labels", "label > 0"}
        What the caller handed to the tool.
    digits : int, optional
        Decimals that are printed; all of them where left out.
    single : bool
        Whether the tool computes with float32, so that only 3e-6 can be asked for.
    settled : int, optional
        The longest list whose ties are ordered so. In longer ones their order hangs on the
        processor, the library or the rest of the batch; never where left out.
    but : mapping of str to str
        Lists that no setting reproduces, and why; ``short``: all with fewer than k documents.
    note : str
        Why it is so, or what else there is to know.
    """

    metric: str
    ties: str = "stable"
    scores: str = "float64"
    empty: str = "zero"
    undefined: str = "skip"
    grades: Mapping[str, Any] = field(default_factory=dict)
    judged_only: bool = False
    uncut: Mapping[str, Any] = field(default_factory=dict)
    given: str = "labels"
    digits: int | None = None
    single: bool = False
    settled: int | None = None
    but: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def at(self, cutoff: int | None) -> tuple[Column, str]:
        """Return the settings at a cutoff (None: the tool is given none), and the metric."""
        changes = dict(self.uncut) if cutoff is None else {}
        cutoff = changes.pop("cutoff", cutoff)
        column = replace(self, **changes, uncut={})
        return column, column.metric + (f"@{cutoff}" if cutoff else "")


FROM_0: Mapping[str, Any] = {"low": 0}
ANY: Mapping[str, Any] = {"whole": False}
TRUNCATED: Mapping[str, Any] = {"truncate": True}
BINARY: Mapping[str, Any] = {"low": 0, "high": 1}
WHOLE_LIST: Mapping[str, Any] = {"cutoff": ALL}
HIDDEN_32: Mapping[str, Any] = {"cutoff": 32}

NDCG: Mapping[str, Any] = {"metric": "ndcg"}
AP: Mapping[str, Any] = {"metric": "map"}
AP2: Mapping[str, Any] = {"metric": "map(rel=2)"}
RR: Mapping[str, Any] = {"metric": "recip_rank"}
P: Mapping[str, Any] = {"metric": "P"}
FRACTIONS_FROM_0: Mapping[str, Any] = {"low": 0, "whole": False}
NO_NEGATIVE: Mapping[str, str] = {
    "E01": "a grade below 0 is a probability below 0",
    "E02": "a grade below 0 is a probability below 0",
}


def columns(
    tool: str, usual: Column, metrics: Mapping[str, Mapping[str, Any]]
) -> dict[str, Column]:
    """Return the columns of a tool: what differs from `usual`, by the metric's name there."""
    return {f"{tool}.{name}": replace(usual, **own) for name, own in metrics.items()}
