"""Conventions: named bundles of settings that each reproduce one tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import Problem, UnknownNameError, did_you_mean
from .policy import Policy

NEEDED, WHOLE_LIST = "needed", "whole list"


@dataclass(frozen=True)
class Convention:
    """What one tool does differently from others, as data.

    `tool` has the version that the settings were checked against, `source` the place in its code.
    `common` are settings of all its metrics: fields of :class:`~harness.core.settings.Settings`.
    `metrics` has, for each metric of the tool by our name, parameters and settings of its own;
    its ``cutoff`` is that of the bare name: a number, several, :data:`NEEDED` if the bare name
    means nothing, or :data:`WHOLE_LIST`. `variants` are further changes if a setting is written
    by hand: ``{"ndcg(gain=linear)": {...}}``. `note` is what no rule reproduces, `cite` the
    papers, as of :func:`~harness.core.metric.metric`.
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
            others = [each.name for each in CONVENTIONS.values() if metric in each.metrics]
            own = ", ".join(self.metrics)
            what = f"the convention {self.name} ({self.tool}) has no {metric}  (it has: {own})"
            fix = f"choose a convention that has it: {', '.join(others)}"
            fix = fix if others else f"leave out the convention: none has {metric}"
            raise UnknownNameError(Problem("", what, fix=fix))
        return {**self.common, **self.metrics[metric]}


CONVENTIONS: dict[str, Convention] = {}
"""Every convention by its name; :mod:`harness.metrics.conventions` fills it."""


def contradiction(convention: str | None, policy: Policy) -> Problem | None:
    """Return the problem of a policy that a convention for all metrics overrules, and its field.

    None if there is none; defaults and bounds of ties never contradict.
    """
    if convention in (None, "none"):
        return None
    for field_name, setting in (("ties", "ties"), ("empty_queries", "empty")):
        value = getattr(policy, field_name)
        if value != getattr(Policy(), field_name):
            what = f"'{value}' has no effect: convention {convention} decides it for every metric"
            fix = f"leave it out, or write ndcg(convention={convention},{setting}=...)"
            return Problem(field_name, what, fix=fix)
    return None


def find(name: str) -> Convention:
    """Return a convention by its name, in capitals or not."""
    name = next((known for known in CONVENTIONS if known.lower() == name.lower()), name)
    if name not in CONVENTIONS:
        raise UnknownNameError(
            f"unknown convention '{name}'{did_you_mean(name, CONVENTIONS)}"
            f"  (all: {', '.join(CONVENTIONS)})"
        )
    return CONVENTIONS[name]
