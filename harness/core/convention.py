"""Conventions: named bundles of settings, each of which reproduces one tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import UnknownNameError, did_you_mean
from .policy import Policy

NEEDED, WHOLE_LIST = "needed", "whole list"


@dataclass(frozen=True)
class Convention:
    """What one tool does where others do otherwise, as data.

    Parameters
    ----------
    tool : str
        The tool, with the version that the settings were read from and checked against.
    source : str
        Where in its source the rules stand.
    common : mapping
        Settings of all its metrics: fields of :class:`~harness.core.settings.Settings`.
    metrics : mapping
        For each metric that the tool has, by our name: parameters of the metric and settings
        that differ from `common`; ``cutoff`` is the one that its bare name stands for, several
        of them, :data:`NEEDED` where the bare name means nothing, or :data:`WHOLE_LIST` where
        there is none.
    variants : mapping
        What changes further where a setting is given by hand: ``{"ndcg(gain=linear)": {...}}``.
    note : str
        What cannot be reproduced by any rule, and other things to know.
    cite : tuple of str
        The papers to cite, as of :func:`~harness.core.metric.metric`.
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
        """Return the settings and parameters of one metric.

        Raises
        ------
        UnknownNameError
            Where the tool does not have it.
        """
        if metric not in self.metrics:
            others = [each.name for each in CONVENTIONS.values() if metric in each.metrics]
            raise UnknownNameError(
                f"the convention {self.name} ({self.tool}) has no {metric}"
                f"  (it has: {', '.join(self.metrics)}; {metric} is in: "
                f"{', '.join(others) or 'no convention'})"
            )
        return {**self.common, **self.metrics[metric]}


CONVENTIONS: dict[str, Convention] = {}
"""Every convention by its name; :mod:`harness.metrics.conventions` fills it."""


def contradiction(convention: str | None, policy: Policy) -> tuple[str, str] | None:
    """Return the field of a policy that a convention for all metrics overrules, and what to say.

    None where there is none; the default is no contradiction, and neither are bounds of ties.
    """
    if convention in (None, "none"):
        return None
    for field_name, setting in (("ties", "ties"), ("empty_queries", "empty")):
        value = getattr(policy, field_name)
        if value != getattr(Policy(), field_name):
            return field_name, (
                f"convention {convention} decides it for every metric, so that '{value}' would do "
                f"nothing; leave it out, or write ndcg(convention={convention},{setting}=...)"
            )
    return None


def find(name: str) -> Convention:
    """Return a convention by its name, in capitals or not.

    Raises
    ------
    UnknownNameError
        Where there is none.
    """
    name = next((known for known in CONVENTIONS if known.lower() == name.lower()), name)
    if name not in CONVENTIONS:
        raise UnknownNameError(
            f"unknown convention '{name}'{did_you_mean(name, CONVENTIONS)}"
            f"  (all: {', '.join(CONVENTIONS)})"
        )
    return CONVENTIONS[name]
