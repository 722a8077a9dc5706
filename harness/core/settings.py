"""Settings that every metric takes beside its own parameters: how it is ranked and summed up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from ..errors import UnknownNameError
from .grades import Few, GradeRule
from .parameter import Parameter, Range
from .policy import Order, Scores, check_ties

EmptyValue = Literal["zero", "one", "nan"]
Undefined = Literal["skip", "zero", "nan"]


@dataclass(frozen=True)
class Settings:
    """What a metric does otherwise than the policy of its run; None where it does the same.

    Parameters
    ----------
    ties, scores, depth, judged_only
        As in :class:`~harness.core.policy.Policy`.
    grades : GradeRule, optional
        Which grades are accepted; a convention says so.
    labels : {"error", "clip"}, optional
        What becomes of a grade outside the convention's bounds.
    empty : {"zero", "one", "nan"}, optional
        Value of a query without relevant documents.
    undefined : {"skip", "zero", "nan"}, optional
        What an undefined value does to the mean: it is left out, counts as 0, or makes it NaN.
    few : {"error", "zero", "one", "nan"}, optional
        What becomes of a query with fewer documents than the convention takes.
    """

    ties: str | None = None
    scores: Scores | None = None
    depth: int | None = None
    judged_only: bool | None = None
    grades: GradeRule | None = None
    labels: Literal["error", "clip"] | None = None
    empty: EmptyValue | None = None
    undefined: Undefined | None = None
    few: Few | None = None

    def __post_init__(self) -> None:
        if self.ties is not None:
            check_ties(self.ties)
        if self.scores == "none" and self.ties not in (None, *get_args(Order)):
            raise UnknownNameError(
                f"scores=none ties all documents of a query; ties={self.ties} would then say "
                "nothing of the run. Write ties=stable for the order of the file"
            )

    def with_values(self, given: Mapping[str, Any]) -> Settings:
        """Return the settings with others put in place, `labels` worked into `grades`.

        >>> Settings(grades=GradeRule(0, 4)).with_values({"labels": "clip"}).grades.act
        'clip'
        """
        given = dict(given)
        labels = given.get("labels")
        if labels is not None:
            rule = given.get("grades") or self.grades
            if rule is None or (rule.low is None and rule.high is None):
                raise UnknownNameError(
                    f"labels={labels} says what becomes of grades that a convention does not "
                    "take; there are no bounds here (see harness metrics --conventions)"
                )
            given["grades"] = replace(rule, act=labels)
        few = given.get("few")
        if few is not None:
            rule = given.get("grades") or self.grades
            if rule is None or rule.documents < 2:
                raise UnknownNameError(
                    f"few={few} says what becomes of a query with fewer documents than a "
                    "convention takes; any number is taken here"
                )
            given["grades"] = replace(rule, few=few)
        return replace(self, **given)


PARAMETERS: Mapping[str, Parameter] = {
    "convention": Parameter("convention", str, None),
    "ties": Parameter("ties", str, None),
    "scores": Parameter("scores", str, None, get_args(Scores)),
    "depth": Parameter("depth", int, None, range=Range(1, None)),
    "judged_only": Parameter("judged_only", bool, None),
    "labels": Parameter("labels", str, None, ("error", "clip")),
    "empty": Parameter("empty", str, None, get_args(EmptyValue)),
    "undefined": Parameter("undefined", str, None, get_args(Undefined)),
    "few": Parameter("few", str, None, get_args(Few)),
}
"""The settings that can be written into a metric's name, with ``convention`` first."""


def texts_of(settings: Settings) -> list[tuple[str, str]]:
    """Return the settings that are not None, as they are written; a rule for grades is not."""
    found = []
    for name, parameter in PARAMETERS.items():
        value = getattr(settings, name, None)
        if value is not None:
            found.append((name, parameter.text(value)))
    return found
