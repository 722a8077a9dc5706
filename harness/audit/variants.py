"""A metric as others compute it: under each convention, and with one choice changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.choices import choices_of
from ..core.convention import CONVENTIONS, WHOLE_LIST
from ..core.metric import Metric
from ..core.names import parse
from ..core.policy import Policy
from ..core.settings import PARAMETERS
from ..errors import UnknownNameError

IDENTITY = ("p", "form", "beta", "levels", "coefficients", "documents")
"""Parameters that say what is measured, and not how a tool goes about it: they are carried over
from the base to every convention, and are no choice."""
_THRESHOLD = {"rel", "above", "top", "target"}
_EMPTY = {"zero": "zero", "one": "one", "skip": "nan", "error": "zero"}


@dataclass(frozen=True)
class Variant:
    """A metric computed in another way.

    Parameters
    ----------
    name : str
        The convention, or the value of the choice.
    metric : Metric, optional
        None where the tool has nothing of the kind.
    refused : str
        Why there is none.
    own : bool
        Whether it was asked for by name, beside the base.
    convention : bool
        Whether it is a convention's.
    """

    name: str
    metric: Metric | None
    refused: str = ""
    own: bool = False
    convention: bool = True


def has_conventions(metric: Metric) -> bool:
    """Return whether any convention has the metric, and it can be better or worse."""
    known = any(metric.definition.name in each.metrics for each in CONVENTIONS.values())
    return known and metric.definition.direction is not None


def under_conventions(
    metric: Metric, policy: Policy, only: Collection[str] = ()
) -> tuple[Variant, ...]:
    """Return a metric under every convention whose tool has it, at its own cutoff.

    What was written beside it is the base's own and left behind, but for what says which metric
    it is: :data:`IDENTITY`, and the smallest relevant grade ``rel`` where the tool does not
    itself say what is relevant.

    Parameters
    ----------
    metric : Metric
    policy : Policy
        Of the config; it holds where a convention leaves something open.
    only : collection of str
        Names of conventions; all where there are none.

    Examples
    --------
    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> found = under_conventions(parse("P(rel=2)@5")[0], Policy())
    >>> [str(each.metric) for each in found][:4]
    ['P(convention=trec_eval9,rel=2)@5', 'P(convention=trec_eval10,rel=2)@5', \
'P(convention=letor)@5', 'P(convention=mslr)@5']
    """
    name, found = metric.definition.name, []
    for convention, known in CONVENTIONS.items():
        if name not in known.metrics or (only and convention not in only):
            continue
        try:
            own = _as(metric, convention)
            policy.with_settings(own.settings)
        except UnknownNameError as error:
            found.append(Variant(convention, None, _reason(error, name)))
        else:
            found.append(Variant(convention, own))
    return tuple(found)


def _reason(error: UnknownNameError, name: str) -> str:
    """Return what is wrong, without the metric's name before it."""
    text = str(error)
    return text.partition(": ")[2] if text.startswith(f"{name}(") else text


def _as(metric: Metric, convention: str) -> Metric:
    """Return the metric of a tool, at the same cutoff."""
    definition, usual = metric.definition, CONVENTIONS[convention].of(metric.definition.name)
    given, known = dict(metric.params), definition.parameters
    kept = [name for name in IDENTITY if name in given]
    if given.get("rel", 1) != 1 and not _THRESHOLD & {*usual}:
        kept.append("rel")
    said = [f"{name}={known[name].text(given[name])}" for name in kept]
    text = f"{definition.name}({','.join([f'convention={convention}', *said])})"
    whole = metric.cutoff is None and usual.get("cutoff") == WHOLE_LIST
    if definition.cutoff is not None and not whole:
        # A bare name stands for a cutoff of the tool's own, so one is written and taken away.
        cutoff = definition.cutoff.text(1 if metric.cutoff is None else metric.cutoff)
        text += f"@{cutoff}"
    return replace(parse(text)[0], cutoff=metric.cutoff)


def with_choices(
    metric: Metric, policy: Policy, toward: Sequence[Metric] | None = None
) -> dict[str, tuple[str, tuple[Variant, ...]]]:
    """Return the metric with one choice changed at a time: the base's value, and the others.

    Parameters
    ----------
    metric : Metric
    policy : Policy
        Of the config: what holds where the metric says nothing.
    toward : sequence of Metric, optional
        Only values that one of these has; all where it is left out.

    Examples
    --------
    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> own, others = with_choices(parse("ndcg@10")[0], Policy())["gain"]
    >>> own, [each.name for each in others]
    ('linear', ['exp', 'letor', 'mslr', 'exp-int32'])
    """
    found = {}
    holds = in_force(metric, policy)
    for name, values in choices_of(metric.definition).items():
        if name in IDENTITY:
            continue
        parameter = {**PARAMETERS, **metric.definition.parameters}[name]
        own = holds[name] if name in holds else _given(metric, name, parameter.default)
        wanted = [
            (in_force(each, policy) | dict(each.params)).get(name, parameter.default)
            for each in toward or ()
        ]
        others = []
        for value in dict.fromkeys(values):
            if value == own or value == "error" or (value is None and name in holds):
                continue
            if toward is not None and value not in wanted:
                continue
            if name == "ties" and value == "average" and metric.definition.expected is None:
                continue  # a hundred random orders, for an estimate
            changed = _changed(metric, name, value, holds)
            if changed is not None:
                others.append(Variant(value_text(parameter, value), changed))
        if others:
            found[name] = (value_text(parameter, own), tuple(others))
    return found


def in_force(metric: Metric, policy: Policy) -> dict[str, Any]:
    """Return the settings that hold for the base, its policy's included."""
    own, under = metric.settings, policy.with_settings(metric.settings)
    return {
        "ties": under.ties,
        "scores": under.score_type,
        "empty": own.empty or _EMPTY[policy.empty_queries],
        "undefined": own.undefined or "skip",
        "judged_only": under.judged_only,
    }


def _changed(metric: Metric, name: str, value: Any, holds: Mapping[str, Any]) -> Metric | None:
    """Return the metric with one choice changed; None where that goes with nothing else."""
    if name not in holds:
        order = metric.definition.parameters
        params = {**dict(metric.params), name: value}
        kept = tuple((each, params[each]) for each in order if each in params)
        return replace(metric, params=kept)
    given = {name: value}
    if name == "ties":  # which would bring a type of scores with it
        given["scores"] = holds["scores"]
    try:
        return replace(metric, settings=replace(metric.settings, **given))
    except UnknownNameError:
        return None


def _given(metric: Metric, name: str, default: Any) -> Any:
    return dict(metric.params).get(name, default)


def value_text(parameter: Any, value: Any) -> str:
    """Return a value as it is written."""
    return "none" if value is None else parameter.text(value)


def plain(metric: Metric) -> Metric:
    """Return the metric without its name: what it computes.

    Two metrics are equal then where they compute the same in the same way, whatever convention
    that was taken from.
    """
    return replace(metric, convention=None, given=(), label=None)
