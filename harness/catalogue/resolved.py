"""What a metric's name stands for: every parameter and setting with its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.convention import CONVENTIONS
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.settings import Settings
from ..reports.table import columns
from .wording import in_words

COMMON: Mapping[str, Any] = {
    "ties": Policy().ties, "scores": Policy().score_type, "grades": Policy().grades,
    "empty": None, "undefined": "skip", "depth": None, "judged_only": False,
}  # fmt: skip
"""The settings of every metric, as they are where nothing is said."""


def resolved(metrics: Sequence[Metric], policy: Policy | None = None) -> str:
    """Return the parameters and settings of what one name stands for, and where each is from.

    Parameters
    ----------
    metrics : sequence of Metric
        Of one definition, with different cutoffs.
    policy : Policy, optional
        That of a run; the default one where left out.
    """
    metric = metrics[0]
    definition, convention = metric.definition, metric.convention
    lines = [str(each) for each in metrics]
    if convention is not None:
        lines.append(f"as {CONVENTIONS[convention].tool} computes it")
    usual = set() if convention is None else {*CONVENTIONS[convention].of(definition.name)}
    usual |= {name for name, value in vars(metric.settings).items() if value is not None}
    usual |= {name for name, _ in metric.params}
    written, params = dict(metric.given), dict(metric.params)
    rows = []
    for name, parameter in definition.parameters.items():
        if name != "cutoff":
            value = params.get(name, parameter.default)
            said = name in written or (convention is None and name in params)
            rows.append(
                [name, in_words(definition, name, value), _whence(name, said, usual, "default")]
            )
    otherwise = "the run's policy" + ", by default so" * (policy is None)
    for name, value in _common(metric, policy or Policy()).items():
        said = name in written or (name == "grades" and not {"labels", "few"}.isdisjoint(written))
        said = said or (convention is None and getattr(metric.settings, name) is not None)
        rows.append([name, value, _whence(name, said, usual, otherwise)])
    if definition.cutoff is not None:
        cutoffs = [each.cutoff for each in metrics if each.cutoff is not None]
        rows.append(["cutoff", ", ".join(f"{k:g}" for k in cutoffs) or "whole list", ""])
    table = columns([["  " + name, *rest] for name, *rest in rows], left=3)
    return "\n".join([*lines, "", table, ""])


def _whence(name: str, said: bool, usual: set[str], otherwise: str) -> str:
    return "written" if said else "the tool's" if name in usual else otherwise


def _common(metric: Metric, run: Policy) -> dict[str, str]:
    """Return the settings of every metric as they are in force under a run's policy."""
    definition, settings = metric.definition, metric.settings
    policy = run.with_settings(settings)
    usual = "no special case" if definition.empty is None else f"{definition.empty:g}"
    empty = settings.empty or (usual if run.empty_queries == "zero" else run.empty_queries)
    return {
        "ties": policy.ties,
        "scores": policy.score_type,
        "grades": in_words(definition, "grades", policy.grades),
        "empty": empty,
        "undefined": _or(settings, "undefined", "skip"),
        "depth": "whole list" if policy.depth is None else str(policy.depth),
        "judged_only": str(policy.judged_only).lower(),
    }


def _or(settings: Settings, name: str, otherwise: str) -> str:
    value = getattr(settings, name)
    return otherwise if value is None else str(value).lower()
