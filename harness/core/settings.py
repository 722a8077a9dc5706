"""The settings that every metric takes, and the conventions of tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, get_args

from ..errors import Problem, UnknownNameError, unknown
from .arguments import Parameter, Range, parameters_of
from .policy import Few, GradeRule, Order, Policy, ScoreType, check_ties

EmptyValue = Literal["zero", "one", "nan"]
Undefined = Literal["skip", "zero", "nan"]


@dataclass(frozen=True)
class MetricSettings:
    """Settings in which a metric differs from its run's policy; None for the same.

    `ties`, `scores`, `depth`, `judged_only` and `drop_identical_ids` are as in
    `harness.core.policy.Policy`.
    `grades` is a convention's rule; `labels` and `few` change its `act` and `few`. `empty` is the
    value of a query without relevant documents; `undefined` says whether an undefined value is
    left out of the mean, counts as 0, or makes the mean undefined.
    """

    ties: str | None = None
    scores: ScoreType | None = None
    depth: Annotated[int, Range(1, None)] | None = None
    judged_only: bool | None = None
    drop_identical_ids: bool | None = None
    grades: GradeRule | None = None
    labels: Literal["error", "clip"] | None = None
    empty: EmptyValue | None = None
    undefined: Undefined | None = None
    few: Few | None = None

    def __post_init__(self) -> None:
        if self.ties is not None:
            check_ties(self.ties)
        if self.scores == "none" and self.ties not in (None, *get_args(Order)):
            message = f"ties={self.ties} ignores the run: scores=none ties all documents of a query"
            raise UnknownNameError(message, fix="write ties=stable for the file's order")

    def with_values(self, values: Mapping[str, Any]) -> MetricSettings:
        """Return the settings with other values; `labels` and `few` change `grades`."""
        rule: GradeRule = values.get("grades") or self.grades or GradeRule()
        changes = {}
        if (labels := values.get("labels")) is not None:
            if rule.low is None and rule.high is None:
                message = f"labels={labels} needs a convention with bounds for grades"
                fix = "add one from 'harness metrics --conventions', or leave out labels"
                raise UnknownNameError(message, fix=fix)
            changes["act"] = labels
        if (few_policy := values.get("few")) is not None:
            if rule.documents < 2:
                message = (
                    f"few={few_policy} needs a convention that rejects queries with few documents"
                )
                fix = "add convention=sklearn or another such one, or leave out few"
                raise UnknownNameError(message, fix=fix)
            changes["few"] = few_policy
        rules = {"grades": replace(rule, **changes)} if changes else {}
        return replace(self, **{**values, **rules})


PARAMETERS: Mapping[str, Parameter] = {
    "convention": Parameter("convention", str, None),
    **{
        name: replace(parameter, optional=False)
        for name, parameter in parameters_of(MetricSettings).items()
        if name != "grades"
    },
}
"""The settings that can be written into a metric's name, with ``convention`` first."""


def texts_of(settings: MetricSettings) -> list[tuple[str, str]]:
    """Return the settings that are not None, as they are written; without a rule for grades."""
    return [
        (name, parameter.text(value))
        for name, parameter in PARAMETERS.items()
        if (value := getattr(settings, name, None)) is not None
    ]


NEEDED, WHOLE_LIST = "needed", "whole list"


@dataclass(frozen=True)
class Convention:
    """Settings that reproduce one tool, as data.

    `tool` has the version that the settings were checked against, `source` the place in its code.
    `common` are settings of all its metrics: fields of `MetricSettings`.
    `metrics` has, for each metric of the tool by our name, parameters and settings of its own;
    its ``cutoff`` is that of the bare name: a number, several, `NEEDED` if the bare name
    means nothing, or `WHOLE_LIST`. `variants` are further changes if a setting is written by hand,
    with one value or with any: ``{"ndcg(gain=linear)": {...}, "map(rel)": {...}}``. `note` is what
    no rule reproduces, `cite` the papers, as of `harness.core.metric.metric`.
    """

    name: str
    tool: str
    source: str
    common: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    note: str = ""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    cite: tuple[str, ...] = ()

    def of(self, metric: str) -> dict[str, Any]:
        """Return the settings and parameters of one metric."""
        if metric not in self.metrics:
            able = [
                convention.name
                for convention in CONVENTIONS.values()
                if metric in convention.metrics
            ]
            names = ", ".join(self.metrics)
            message = f"the convention {self.name} ({self.tool}) has no {metric}  (it has: {names})"
            fix = f"choose a convention that has it: {', '.join(able) or 'none'}"
            raise UnknownNameError(message, fix=fix)
        return {**self.common, **self.metrics[metric]}


CONVENTIONS: dict[str, Convention] = {}
"""Every convention by its name; `harness.metrics.conventions` fills it."""


def contradiction(convention: str | None, policy: Policy) -> Problem | None:
    """Return the problem of a policy that a convention for all metrics overrules, and its field.

    None if there is none; defaults and bounds of ties never contradict.
    """
    if convention in (None, "none"):
        return None
    for field_name, setting in (("ties", "ties"), ("empty_queries", "empty")):
        value = getattr(policy, field_name)
        if value != getattr(Policy(), field_name):
            message = (
                f"'{value}' has no effect: convention {convention} decides it for every metric"
            )
            fix = f"leave it out, or write ndcg(convention={convention},{setting}=...)"
            return Problem(field_name, message, fix=fix)
    return None


def find_convention(name: str, place: str = "") -> Convention:
    """Return a convention by its name, in capitals or not."""
    name = next(
        (known_name for known_name in CONVENTIONS if known_name.lower() == name.lower()), name
    )
    if name not in CONVENTIONS:
        raise unknown("convention", name, CONVENTIONS, place)
    return CONVENTIONS[name]
