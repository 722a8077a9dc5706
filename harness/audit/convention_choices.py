"""Ways to compute a metric: under each convention, with one choice changed, and step by step."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, get_args

from ..core.metric import Definition, Metric
from ..core.names import parse
from ..core.policy import GradeRule, Policy
from ..core.settings import (
    CONVENTIONS,
    PARAMETERS,
    WHOLE_LIST,
    EmptyValue,
    MetricSettings,
    Undefined,
)
from ..errors import UnknownNameError
from ..reports.catalogue import in_force

IDENTITY = ("p", "form", "beta", "levels", "coefficients", "documents")
"""Parameters of the quantity itself, which every convention takes from the base."""
_THRESHOLD = {"rel", "above", "top", "target"}
_SETTINGS = {field.name for field in fields(MetricSettings)}
_FIRST = (("gain",), ("discount",), ("ties", "scores"), ("empty",), ("undefined",))
"""Settings that most tools differ in, in the order they are changed in; those in one tuple change
together. Thresholds and denominators follow, then short lists."""
_LAST = ("short",)


_NO_CHOICE = {"cutoff", "grades", "gains", "reference", "depth", "labels", "convention"}
_COMMON: dict[str, tuple[Any, ...]] = {
    "ties": ("trec_eval", "docno+", "stable", "reverse", "average", "best", "worst"),
    "scores": ("float32", "float64"),
    "empty": (None, *get_args(EmptyValue)),
    "undefined": (None, *get_args(Undefined)[1:]),
    "judged_only": (None, True),
}


def choices_of(definition: Definition) -> dict[str, tuple[Any, ...]]:
    """Return each choice about a metric with its values, the metric's own default first.

    For a parameter with a few named choices they are all of them; for a number, those that some
    convention has.
    """
    used = [
        {**tool.common, **tool.metrics[definition.name]}
        for tool in CONVENTIONS.values()
        if definition.name in tool.metrics
    ]
    known: dict[str, tuple[Any, ...]] = {
        name: (option.default, *option.choices, *((False, True) if option.type is bool else ()))
        for name, option in definition.parameters.items()
        if name not in _NO_CHOICE
    }
    for name, values in {**known, **_COMMON}.items():
        own = [settings[name] for settings in used if name in settings]
        known[name] = tuple(dict.fromkeys([*values, *own]))
    return {name: values for name, values in known.items() if len(values) > 1}


class Variant(NamedTuple):
    """A metric computed in another way, by the name of the convention or the choice's value.

    `metric` is None if it cannot be computed that way; `refused` is the reason, if it is a tool's.
    """

    name: str
    metric: Metric | None
    refused: str = ""


def under_conventions(metric: Metric, policy: Policy, only: Collection[str]) -> tuple[Variant, ...]:
    """Return a metric under every convention whose tool has it, at its own cutoff.

    Of the base's own parameters, a convention keeps `IDENTITY`, and the smallest relevant
    grade ``rel`` if the tool does not set it. The config's `policy` holds for settings that a
    convention leaves open; `only` names the conventions, all if it is empty.
    """
    name, variants = metric.definition.name, []
    for convention, known in CONVENTIONS.items():
        if name not in known.metrics or (only and convention not in only):
            continue
        try:
            own = _as(metric, convention)
            policy.with_settings(own.settings)
        except UnknownNameError as error:
            variants.append(Variant(convention, None, error.problems[0].what))
        else:
            variants.append(Variant(convention, own))
    return tuple(variants)


def _as(metric: Metric, convention: str) -> Metric:
    """Return the metric of a tool, at the same cutoff."""
    definition, usual = metric.definition, CONVENTIONS[convention].of(metric.definition.name)
    given, known = dict(metric.params), definition.parameters
    names = [name for name in IDENTITY if name in given]
    if given.get("rel", 1) != 1 and not _THRESHOLD & {*usual}:
        names.append("rel")
    inside = [f"convention={convention}", *(f"{n}={known[n].text(given[n])}" for n in names)]
    text = f"{definition.name}({','.join(inside)})"
    whole = metric.cutoff is None and usual.get("cutoff") == WHOLE_LIST
    if definition.cutoff is not None and not whole:
        # a bare name means the tool's own cutoff, so one is written and taken away
        cutoff = definition.cutoff.text(1 if metric.cutoff is None else metric.cutoff)
        text += f"@{cutoff}"
    return replace(parse(text)[0], cutoff=metric.cutoff)


def plain(metric: Metric) -> Metric:
    """Return the metric without its name, so that metrics that compute the same are equal."""
    return replace(metric, convention=None, given=(), label=None)


def _changed(metric: Metric, changes: Mapping[str, Any]) -> Metric:
    """Return the metric with parameters (None: the default) and settings changed.

    Raises UnknownNameError if they do not go together.
    """
    settings = {name: value for name, value in changes.items() if name in _SETTINGS}
    given = {**dict(metric.params), **changes}
    names = [name for name in metric.definition.parameters if given.get(name) is not None]
    own = tuple((name, given[name]) for name in names if name not in settings)
    return replace(metric, params=own, settings=replace(metric.settings, **settings))


def _text(metric: Metric, name: str, value: Any) -> str:
    parameter = {**PARAMETERS, **metric.definition.parameters}[name]
    return "none" if value is None else parameter.text(value)


def with_choices(
    metric: Metric, policy: Policy, toward: Sequence[Metric] | None
) -> dict[str, tuple[str, tuple[Variant, ...]]]:
    """Return the metric with one choice changed at a time: the base's value, and the others.

    With `toward`, only values that one of these metrics has.
    """
    by_choice, base = {}, in_force(metric, policy)
    wanted = [in_force(target, policy) for target in toward or ()]
    for name, values in choices_of(metric.definition).items():
        others, skipped = [], [base[name], "error", *([None] if name in _SETTINGS else [])]
        if name == "ties" and metric.definition.expected is None:
            skipped.append("average")  # a hundred random orders, for an estimate
        if name == "grades":
            skipped += [GradeRule(), Policy.grades]  # what is refused changes no value
        able = values if toward is None else [settings[name] for settings in wanted]
        for value in dict.fromkeys(values):
            if name in IDENTITY or value in skipped or value not in able:
                continue
            scores = {"scores": base["scores"]} if name == "ties" else {}  # not the tie's own
            with contextlib.suppress(UnknownNameError):
                changed = _changed(metric, {name: value, **scores})
                others.append(Variant(_text(metric, name, value), changed))
        if others:
            by_choice[name] = (_text(metric, name, base[name]), tuple(others))
    return by_choice


def steps(base: Metric, target: Metric, policy: Policy) -> tuple[Variant, ...]:
    """Return the way from one metric to another of its definition; the last step is the target."""
    own, others = in_force(base, policy), in_force(target, policy)
    differing = [name for name in own if own[name] != others[name]]
    early = {name for group in _FIRST for name in group}
    middle = [(name,) for name in differing if name not in early and name not in _LAST]
    theirs = {**dict(target.params), **vars(target.settings)}
    way, current = [], plain(base)
    for group in (*_FIRST, *middle, _LAST):
        names = [name for name in group if name in differing]
        if not names:
            continue
        text = ", ".join(
            "range of grades" if name == "grades" else f"{name}={_text(target, name, others[name])}"
            for name in names
        )
        try:
            current = _changed(current, {name: theirs.get(name) for name in names})
            way.append(Variant(text, current))
        except UnknownNameError:
            way.append(Variant(text, None))
    if way:
        way[-1] = way[-1]._replace(metric=plain(target))
    return tuple(way)
