"""Policies: ties, missing and empty queries, depth, and accepted grades."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Annotated, Any, Literal, get_args

import numpy as np
from annotated_types import Le

from ..errors import ArgumentError, Problem, UnknownNameError, fix_of_name, unknown
from .arguments import MOST, Flag, Positive, check_settings, checked_init, describe, wrong
from .ragged import Array, Bools

ScoreOrder = Literal["descending", "ascending"]
"""The best scores: the highest, or the lowest, which a reader negates."""
Few = Literal["error", "zero", "one", "nan"]


@dataclass(frozen=True)
class GradeRule:
    """The grades that a tool accepts; `harness.core.policy_views.view` applies it.

    Grades lie between `low` and `high`, and are whole unless `whole` is False; `truncate` cuts
    fractions off first, as trec_eval does. `act` says whether grades outside are an error or become
    the nearer bound. A query with fewer than `documents` retrieved ones is an error, or has the
    value `few`. With `positive_scores`, documents scored 0 or below are not relevant
    (torchmetrics). With `relevant_from`, grades from it on become 1 and all others 0.
    """

    low: int | None = None
    high: int | None = None
    whole: bool = True
    truncate: bool = False
    documents: int = 1
    few: Few = "error"
    act: Literal["error", "clip"] = "error"
    positive_scores: bool = False
    relevant_from: int | None = None

    @property
    def fractions(self) -> bool:
        """Whether a grade may be a fraction, which is taken as it is or cut off."""
        return self.truncate or not self.whole

    @property
    def text(self) -> str:
        """Return the accepted grades in words."""
        kind = "grades" if self.fractions else "whole grades"
        return f"{kind} {self.bounds or 'of any size'}"

    @property
    def bounds(self) -> str:
        """The smallest and the largest grade in words, such as ``0 to 4``; nothing without any."""
        if self.low is None:
            return "" if self.high is None else f"up to {self.high}"
        return f"from {self.low}" if self.high is None else f"{self.low} to {self.high}"


def refused(rule: GradeRule, grades: Array) -> Bools:
    """Mask of grades that are an error, ``(n,)`` bool."""
    wrong = np.zeros(grades.shape, dtype=bool)
    if grades.dtype.kind == "f" and not rule.fractions:
        wrong |= grades != np.trunc(grades)
    is_bounded = rule.low is not None or rule.high is not None
    if is_bounded and rule.act == "error" and rule.relevant_from is None:
        wrong |= _outside(rule, _cut(rule, grades))
    return wrong


def applied(rule: GradeRule, grades: Array) -> Array:
    """Return accepted grades as the tool sees them; themselves if nothing changes."""
    mapped = _cut(rule, grades)
    if rule.relevant_from is not None:
        return (mapped >= rule.relevant_from).astype(np.int64)
    if rule.act == "clip" and _outside(rule, mapped).any():
        return np.clip(mapped, rule.low, rule.high)
    return mapped


def _cut(rule: GradeRule, grades: Array) -> Array:
    """Cut fractions off if the tool sees whole numbers only."""
    if rule.whole and grades.dtype.kind == "f":
        return np.trunc(grades).astype(np.int64)
    return grades


def _outside(rule: GradeRule, grades: Array) -> Bools:
    outside = np.zeros(grades.shape, dtype=bool)
    if rule.low is not None:
        outside |= grades < rule.low
    if rule.high is not None:
        outside |= grades > rule.high
    return outside


Order = Literal["trec_eval", "trec_eval10", "docno+", "stable", "reverse"]
"""Policies for ties that look at the rows: at docnos, or at the order of the input."""
TIES = (*get_args(Order), "average", "best", "worst", "random(SEED)")
"""Every policy for ties; the last four follow from the groups of tied documents alone."""
ScoreType = Literal["float32", "float64", "none"]
Missing = Literal["zero", "skip", "error"]
Empty = Literal["zero", "one", "skip", "error"]
QrelsDuplicates = Literal["error", "first", "last"]
"""Row to keep if a query of the qrels has a docno twice."""
RunDuplicates = Literal["error", "first", "last", "best"]
"""The same for runs; the best row has the highest score, or the lowest distance."""
Duplicates = Literal["error", "first", "last", "best", "lowest"]
"""The same for rows; the best one has the highest number."""
_RANDOM = re.compile(r"random\((\d{1,18})\)")


@dataclass(frozen=True)
class Choices:
    """Policies for ties, missing and empty queries, and grades."""

    ties: str = "trec_eval"
    """Order of documents with the same score. `trec_eval` (9.0.7) compares scores as float32 and
    puts the larger docno first, by bytes. `trec_eval10` (9.0.8 of 2023, 10.0) does so with float64,
    as do all that follow. `docno+`: the smaller docno first. `stable`: the order of the input.
    `reverse`: its reverse. `random(7)`: an order drawn with that seed. `average`: the expected
    value over all orders. `best`, `worst`: the highest grades of a tied group first, or last."""
    missing_queries: Missing = "zero"
    """Judged queries that the run does not answer. `zero`: they count with the metric's value for a
    missing answer (0 if higher is better; NaN, which is left out of the mean, if 0 is the best
    value, as of `mse`). `skip`: they are left out. `error`: stop."""
    empty_queries: Empty = "zero"
    """Queries without relevant documents. `zero`: the documented value of the metric, 0 for all of
    trec_eval's. `one`: 1 for metrics of 0 to 1. `skip`: NaN, so that the mean leaves them out;
    counts, and metrics that do not use relevance (`judged`, `mse`), keep them. `error`: stop."""
    depth: Annotated[Positive, Le(MOST)] | None = None
    """Documents of each query that are evaluated, from the top (trec_eval -M)."""
    judged_only: Flag = False
    """Remove unjudged documents from the ranking (trec_eval -J), after `depth` cuts it."""
    drop_identical_ids: Flag = False
    """First remove documents with the qid as docno from the run, as BEIR and MTEB do if queries are
    documents of the collection. The qrels keep theirs."""


@checked_init
@dataclass(frozen=True)
class Policy(Choices):
    """Treatment of ties, missing and empty queries, and depth; recorded with the values.

    Parameters
    ----------
    ties : str
        Order of documents with the same score. ``trec_eval`` compares scores in single precision,
        all others in double precision:

        * ``trec_eval``, ``trec_eval10``: descending docno;
        * ``docno+``: ascending docno;
        * ``stable``, ``reverse``: the order of the input, or its reverse;
        * ``random(7)``: an order drawn with the seed 7;
        * ``average``: the expected value over all orders;
        * ``best``, ``worst``: the highest grades first, or last;
        * ``bounds``, in ``policy={"ties": "bounds"}`` only: ``trec_eval``, and the smallest,
          expected and largest value of each metric over all orders.
    missing_queries : {"zero", "skip", "error"}
        ``zero`` counts a judged query without an answer as 0, or leaves it out if 0 is the best
        value of a metric. ``skip`` leaves it out, ``error`` stops.
    empty_queries : {"zero", "one", "skip", "error"}
        ``zero`` and ``one`` count a query without relevant documents as 0 or 1. ``skip`` leaves it
        out, ``error`` stops.
    depth : int, optional
        Evaluate only the first `depth` documents of each query; all by default.
    judged_only : bool
        Remove unjudged documents from the ranking.
    drop_identical_ids : bool
        Remove documents with the qid as docno.
    scores : str, optional
        Compare scores as ``float32`` or ``float64``, or tie all documents of a query (``none``).
        The default depends on `ties`.
    grades : GradeRule
        Grades that are accepted; any number by default.

    Notes
    -----
    The keys of a config's ``policy:`` have the same names and defaults.
    """

    scores: ScoreType | None = None
    """Type in which scores are compared; by default that of `ties`. `none` ties all documents of a
    query."""
    grades: GradeRule = GradeRule(whole=False)
    """Accepted grades, and the treatment of others; by default numbers of any size, and whole ones
    for metrics that accept no fractions."""

    def __post_init__(self) -> None:
        check_settings(self)
        check_ties(self.ties)

    @cached_property
    def of_rows(self) -> bool:
        """Whether the order of ties follows from the rows, and not from the groups alone."""
        return self.ties in get_args(Order)

    @cached_property
    def seed(self) -> int | None:
        """The seed of ``random(seed)``."""
        match = _RANDOM.fullmatch(self.ties)
        return int(match[1]) if match else None

    @cached_property
    def score_type(self) -> ScoreType:
        """The type that scores are compared in."""
        return self.scores or ("float32" if self.ties == "trec_eval" else "float64")

    @cached_property
    def alignment(self) -> Policy:
        """The policy that the rows are aligned under, the same for many policies."""
        depth = self.depth if self.of_rows else None
        # The first documents are those of an order that is made later; unjudged ones go then.
        judged_only = self.judged_only and (self.of_rows or self.depth is None)
        # Other orders start from that of docnos, whatever the order of the rows.
        ties = self.ties if self.of_rows and self.ties != "trec_eval10" else "trec_eval"
        order: dict[str, Any] = {"ties": ties, "scores": self.score_type, "depth": depth}
        order["judged_only"] = judged_only
        return replace(self, **order, empty_queries="zero", grades=Policy.grades)

    def with_settings(self, settings: object) -> Policy:
        """Replace each field for which `settings` has an attribute that is not None."""
        values: dict[str, Any] = {
            name: value
            for name, value in vars(settings).items()
            if value is not None and name in _FIELDS
        }
        if "ties" in values and "scores" not in values:
            values["scores"] = None
        return replace(self, **values) if values else self


_FIELDS = [item.name for item in fields(Policy)]


def policy_of(policy: Policy | Mapping[str, Any] | None) -> Policy:
    """Return the policy that a Python caller gives, as an object or as a mapping."""
    if policy is None:
        return USUAL
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, Mapping):
        raise wrong("policy", "a Policy or a mapping", policy, "write {'ties': 'stable'}")
    for key in policy:
        if key not in _FIELDS:
            fix = fix_of_name(str(key), _FIELDS)
            raise ArgumentError(Problem("policy", f"unknown key {describe(key)}", fix=fix))
    try:
        return Policy(**policy)
    except ArgumentError as error:
        (problem,) = error.problems
        raise ArgumentError(replace(problem, where=f"policy.{problem.where}")) from None


def check_ties(ties: str) -> str:
    """Return the name of a policy for ties."""
    if ties == "bounds":
        message = "expected the order of one metric, got bounds, which apply to a whole run"
        fix = "set policy.ties or --ties; for one metric write map_min, P@10_max"
        raise UnknownNameError(Problem("ties", message, fix=fix))
    if ties not in TIES[:-1] and not _RANDOM.fullmatch(ties):
        raise unknown("ties policy", ties, (*TIES, "bounds"), "ties")
    return ties


USUAL = Policy()
"""The policy of whoever gives none."""
