"""The way from the base to a convention, one setting at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..core.metric import Metric
from ..core.policy import Policy
from ..core.settings import PARAMETERS, Settings
from ..errors import UnknownNameError
from .spread import DIGITS, Row, Walk
from .variants import in_force, plain, value_text

_FIRST = (("gain",), ("discount",), ("ties", "scores"), ("empty",), ("undefined",))
"""Settings that most tools differ in, and the order they are changed in; what is changed together
hangs together. Thresholds and denominators follow, then what becomes of short lists."""
_LAST = ("short",)


@dataclass(frozen=True)
class Step:
    """One setting on the way.

    Parameters
    ----------
    name : str
        ``"gain=exp"``: what is changed, and to what.
    metric : Metric, optional
        The metric with this and all changes before; None where they do not go together, and the
        next step is needed too.
    """

    name: str
    metric: Metric | None


def steps(base: Metric, target: Metric, policy: Policy) -> tuple[Step, ...]:
    """Return the way from one metric to another; the last step is the other one.

    Parameters
    ----------
    base, target : Metric
        Of the same definition and cutoff.
    policy : Policy
        Of the config: what holds where a metric says nothing.

    Examples
    --------
    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> base, target = parse("ndcg@10")[0], parse("ndcg(convention=lightgbm)@10")[0]
    >>> [step.name for step in steps(base, target, policy=Policy())]
    ['gain=exp', 'ties=stable, scores=float64', 'empty=one', 'grades taken']
    """
    own, others = _values(base, policy), _values(target, policy)
    differing = [name for name in own if own[name] != others[name]]
    found, current = [], plain(base)
    for group in _groups(differing):
        changed = _with(current, target, group)
        text = ", ".join(_said(target, name, others[name]) for name in group)
        found.append(Step(text, changed))
        current = changed or current
    if found:
        found[-1] = replace(found[-1], metric=plain(target))
    return tuple(found)


def _values(metric: Metric, policy: Policy) -> dict[str, Any]:
    """Return all that a metric hangs on, as it holds under the policy."""
    given, under = dict(metric.params), policy.with_settings(metric.settings)
    values = {
        name: given.get(name, parameter.default)
        for name, parameter in metric.definition.parameters.items()
        if name != "cutoff"
    }
    return {**values, **in_force(metric, policy), "depth": under.depth, "grades": under.grades}


def _groups(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the names in the order they are changed in, together where they hang together."""
    early = {name for group in _FIRST for name in group}
    middle = [(name,) for name in names if name not in early and name not in _LAST]
    for group in (*_FIRST, *middle, _LAST):
        some = [name for name in group if name in names]
        if some:
            yield some


def _with(metric: Metric, target: Metric, names: Sequence[str]) -> Metric | None:
    """Return the metric with these as in the target; None where they do not go together."""
    settings = {each.name for each in fields(Settings)}
    theirs, given = dict(target.params), dict(metric.params)
    for name in names:
        if name not in settings:
            given.pop(name, None)
            given |= {name: theirs[name]} if name in theirs else {}
    kept = tuple((name, given[name]) for name in metric.definition.parameters if name in given)
    own = {name: getattr(target.settings, name) for name in names if name in settings}
    try:
        return replace(metric, params=kept, settings=replace(metric.settings, **own))
    except UnknownNameError:
        return None


def _said(metric: Metric, name: str, value: Any) -> str:
    if name == "grades":
        return "grades taken"
    return f"{name}={value_text({**PARAMETERS, **metric.definition.parameters}[name], value)}"


def walk(name: str, base: Row, way: Sequence[tuple[str, Row]]) -> Walk:
    """Return what each step adds; the steps add up to the whole difference.

    A step that leaves some system without a value is told together with the next. Systems that
    have no value at either end stay out.

    Parameters
    ----------
    name : str
        Of the convention.
    base : Row
    way : sequence of (str, Row)
        The steps, and the summaries after each; the last ones are the convention's.
    """
    end = way[-1][1].values if way else base.values
    known = ~np.isnan(base.values) & ~np.isnan(end)
    at, pending, changes, nothing = base.values, [], [], []
    for text, row in way:
        pending.append(text)
        if np.isnan(row.values[known]).any():
            continue
        change = np.where(known, row.values - at, np.nan)
        if (np.abs(change[known]).round(DIGITS) > 0).any():
            changes.append((", ".join(pending), change))
        else:
            nothing += pending
        at, pending = row.values, []
    return Walk(name, np.where(known, end, np.nan), tuple(changes), tuple(nothing))
