"""The metrics that an audit computes: conventions, single choices, and the steps between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, NamedTuple

from ..core.metric import Metric
from ..core.names import parse
from ..core.policy import Policy
from ..core.settings import CONVENTIONS, PARAMETERS, WHOLE_LIST, Settings, choices_of
from ..errors import UnknownNameError

IDENTITY = ("p", "form", "beta", "levels", "coefficients", "documents")
"""Parameters of the quantity itself, which every convention takes from the base."""
_THRESHOLD = {"rel", "above", "top", "target"}
_EMPTY = {"zero": "zero", "one": "one", "skip": "nan", "error": "zero"}
_FIRST = (("gain",), ("discount",), ("ties", "scores"), ("empty",), ("undefined",))
"""Settings that most tools differ in, in the order they are changed in; those in one tuple change
together. Thresholds and denominators follow, then short lists."""
_LAST = ("short",)


class Variant(NamedTuple):
    """A metric computed in another way, by the name of the convention or the choice's value.

    `metric` is None if the tool does not have it, and `refused` is the reason. It is also None
    for a step that does not go together with those before it without the next one.
    `convention` is whether it is a convention's, not another metric of the config.
    """

    name: str
    metric: Metric | None
    refused: str = ""
    convention: bool = True


def has_conventions(metric: Metric) -> bool:
    """Return whether any convention has the metric, and it can be better or worse."""
    known = any(metric.definition.name in each.metrics for each in CONVENTIONS.values())
    return known and metric.definition.direction is not None


def under_conventions(
    metric: Metric, policy: Policy, only: Collection[str] = ()
) -> tuple[Variant, ...]:
    """Return a metric under every convention whose tool has it, at its own cutoff.

    Of the base's own parameters, a convention keeps :data:`IDENTITY`, and the smallest relevant
    grade ``rel`` if the tool does not set it. The config's `policy` holds for settings that a
    convention leaves open; `only` names the conventions, all if it is empty.

    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> [str(each.metric) for each in under_conventions(parse("P(rel=2)@5")[0], Policy())][:2]
    ['P(convention=trec_eval9,rel=2)@5', 'P(convention=trec_eval10,rel=2)@5']
    """
    name, found = metric.definition.name, []
    for convention, known in CONVENTIONS.items():
        if name not in known.metrics or (only and convention not in only):
            continue
        try:
            own = _as(metric, convention)
            policy.with_settings(own.settings)
        except UnknownNameError as error:
            text = error.problems[0].what
            reason = text.partition(": ")[2] if text.startswith(f"{name}(") else text
            found.append(Variant(convention, None, reason))
        else:
            found.append(Variant(convention, own))
    return tuple(found)


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


def in_force(metric: Metric, policy: Policy) -> dict[str, Any]:
    """Return every parameter and setting of a metric under a policy, except the cutoff."""
    own, under, given = metric.settings, policy.with_settings(metric.settings), dict(metric.params)
    return {
        **{
            name: given.get(name, parameter.default)
            for name, parameter in metric.definition.parameters.items()
            if name != "cutoff"
        },
        "ties": under.ties,
        "scores": under.score_type,
        "empty": own.empty or _EMPTY[policy.empty_queries],
        "undefined": own.undefined or "skip",
        "judged_only": under.judged_only,
        "drop_identical_ids": under.drop_identical_ids,
        "depth": under.depth,
        "grades": under.grades,
    }


def _changed(metric: Metric, params: Mapping[str, Any], settings: Mapping[str, Any]) -> Metric:
    """Return the metric with parameters (None: the default) and settings changed.

    Raises UnknownNameError if they do not go together.
    """
    given = {**dict(metric.params), **params}
    names = [name for name in metric.definition.parameters if given.get(name) is not None]
    own = tuple((name, given[name]) for name in names)
    return replace(metric, params=own, settings=replace(metric.settings, **settings))


def _text(metric: Metric, name: str, value: Any) -> str:
    parameter = {**PARAMETERS, **metric.definition.parameters}[name]
    return "none" if value is None else parameter.text(value)


def with_choices(
    metric: Metric, policy: Policy, toward: Sequence[Metric] | None = None
) -> dict[str, tuple[str, tuple[Variant, ...]]]:
    """Return the metric with one choice changed at a time: the base's value, and the others.

    With `toward`, only values that one of these metrics has.

    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> own, others = with_choices(parse("ndcg@10")[0], Policy())["gain"]
    >>> own, [each.name for each in others]
    ('linear', ['exp', 'letor', 'mslr', 'exp-int32'])
    """
    found, base = {}, in_force(metric, policy)
    wanted = [in_force(each, policy) for each in toward or ()]
    for name, values in choices_of(metric.definition).items():
        is_setting, others = name in PARAMETERS, []
        for value in dict.fromkeys(values):
            if name in IDENTITY or value == base[name] or value == "error":
                continue
            if value is None and is_setting:
                continue
            if toward is not None and value not in [each[name] for each in wanted]:
                continue
            if name == "ties" and value == "average" and metric.definition.expected is None:
                continue  # a hundred random orders, for an estimate
            scores = {"scores": base["scores"]} if name == "ties" else {}  # not the tie's own
            try:
                if is_setting:
                    changed = _changed(metric, {}, {name: value, **scores})
                else:
                    changed = _changed(metric, {name: value}, {})
            except UnknownNameError:
                continue
            others.append(Variant(_text(metric, name, value), changed))
        if others:
            found[name] = (_text(metric, name, base[name]), tuple(others))
    return found


def steps(base: Metric, target: Metric, policy: Policy) -> tuple[Variant, ...]:
    """Return the way from one metric to another of its definition; the last step is the target.

    >>> import harness.metrics
    >>> from harness.core.names import parse
    >>> base, target = parse("ndcg@10")[0], parse("ndcg(convention=lightgbm)@10")[0]
    >>> [step.name for step in steps(base, target, policy=Policy())]
    ['gain=exp', 'ties=stable, scores=float64', 'empty=one', 'grades taken']
    """
    own, others = in_force(base, policy), in_force(target, policy)
    differing = [name for name in own if own[name] != others[name]]
    early = {name for group in _FIRST for name in group}
    middle = [(name,) for name in differing if name not in early and name not in _LAST]
    settings = {each.name for each in fields(Settings)}
    theirs, found, current = dict(target.params), [], plain(base)
    for group in (*_FIRST, *middle, _LAST):
        names = [name for name in group if name in differing]
        if not names:
            continue
        text = ", ".join(
            "grades taken" if name == "grades" else f"{name}={_text(target, name, others[name])}"
            for name in names
        )
        params = {name: theirs.get(name) for name in names if name not in settings}
        changes = {name: getattr(target.settings, name) for name in names if name in settings}
        try:
            current = _changed(current, params, changes)
            found.append(Variant(text, current))
        except UnknownNameError:
            found.append(Variant(text, None))
    if found:
        found[-1] = found[-1]._replace(metric=plain(target))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Plan:
    """One metric (the base), and every way to compute it.

    `variants` are other metrics of the config and those under the conventions. `choices` has the
    base's value of each choice, and the others; `walks` the way to each convention asked for.
    """

    metric: Metric
    variants: tuple[Variant, ...]
    choices: Mapping[str, tuple[str, tuple[Variant, ...]]]
    walks: Mapping[str, tuple[Variant, ...]]

    def every(self) -> Iterator[Metric]:
        """Yield every metric that is to be computed."""
        yield plain(self.metric)
        choices = (others for _, others in self.choices.values())
        for one in chain(self.variants, *choices, *self.walks.values()):
            if one.metric is not None:
                yield plain(one.metric)


def plans(metrics: Sequence[Metric], policy: Policy, conventions: Sequence[str]) -> list[Plan]:
    """Return a plan for each metric; those that differ only in the way to compute share one.

    `conventions` are those to compare with, all if empty.
    """
    together: dict[object, list[Metric]] = {}
    for metric in metrics:
        identity = tuple(item for item in metric.params if item[0] in IDENTITY)
        ways = [(one.name, _way(one)) for one in under_conventions(metric, policy)]
        key = metric.definition.name, metric.cutoff, identity, tuple(ways)
        together.setdefault(key, []).append(metric)
    found = []
    for base, *own in together.values():
        variants = under_conventions(base, policy, conventions)
        known = {plain(base), *map(_way, variants)}
        named = {plain(one): one for one in reversed(own) if plain(one) not in known}
        others = (Variant(str(one), one, convention=False) for one in reversed(named.values()))
        asked = {each.name: each.metric for each in variants if conventions and each.metric}
        choices = with_choices(base, policy, [*asked.values()] if conventions else None)
        walks = {name: steps(base, target, policy) for name, target in asked.items()}
        found.append(Plan(base, (*others, *variants), choices, walks))
    return found


def _way(variant: Variant) -> Metric | None:
    return variant.metric and plain(variant.metric)
