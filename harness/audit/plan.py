"""What is to be computed: each metric once, and every way to compute it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..config import Config
from ..core.bounds import without_bounds
from ..core.convention import CONVENTIONS
from ..core.metric import Metric
from ..core.names import parse
from ..core.policy import Policy
from ..errors import UnknownNameError
from .steps import Step, steps
from .variants import IDENTITY, Variant, has_conventions, plain, under_conventions, with_choices


@dataclass(frozen=True, eq=False)
class Plan:
    """One metric, and every way that it is to be computed in.

    Parameters
    ----------
    metric : Metric
        The base.
    conventions : tuple of Variant
        Those of the conventions, and of the config's other metrics that are the same but for the
        way to compute them.
    choices : mapping of str to (str, tuple of Variant)
        For each choice the base's value, and the others.
    walks : mapping of str to tuple of Step
        For each convention that was asked for the way to it from the base.
    """

    metric: Metric
    conventions: tuple[Variant, ...]
    choices: Mapping[str, tuple[str, tuple[Variant, ...]]]
    walks: Mapping[str, tuple[Step, ...]]

    def every(self) -> Iterator[Metric]:
        """Yield every metric that is to be computed."""
        yield plain(self.metric)
        choices = (each for _, others in self.choices.values() for each in others)
        for variant in (*self.conventions, *choices):
            if variant.metric is not None:
                yield plain(variant.metric)
        yield from (step.metric for way in self.walks.values() for step in way if step.metric)


def plans(metrics: Sequence[Metric], policy: Policy, conventions: Sequence[str]) -> list[Plan]:
    """Return a plan for each metric; those that differ in the way to compute alone share one.

    Parameters
    ----------
    metrics : sequence of Metric
    policy : Policy
        Of the config.
    conventions : sequence of str
        Those to compare with; all where there are none.
    """
    together: dict[object, list[Metric]] = {}
    for metric in metrics:
        together.setdefault(_measured(metric, policy), []).append(metric)
    return [_plan(base, own, policy, conventions) for base, *own in together.values()]


def _measured(metric: Metric, policy: Policy) -> object:
    """Return what is measured, in whatever way."""
    given = dict(metric.params)
    identity = tuple((name, given[name]) for name in IDENTITY if name in given)
    variants = under_conventions(metric, policy)
    ways = tuple((each.name, each.metric and plain(each.metric)) for each in variants)
    return metric.definition.name, metric.cutoff, identity, ways


def _plan(base: Metric, own: Sequence[Metric], policy: Policy, conventions: Sequence[str]) -> Plan:
    variants = under_conventions(base, policy, conventions)
    asked = {each.name: each.metric for each in variants if conventions and each.metric}
    return Plan(
        base,
        _with_own(base, own, variants),
        with_choices(base, policy, toward=list(asked.values()) if conventions else None),
        {name: steps(base, target, policy) for name, target in asked.items()},
    )


def _with_own(
    base: Metric, own: Sequence[Metric], variants: Sequence[Variant]
) -> tuple[Variant, ...]:
    """Return the variants, those that were asked for by name marked, and what they lack."""
    wanted = {plain(metric): str(metric) for metric in reversed(own)}
    wanted.pop(plain(base), None)
    marked = [
        replace(each, own=each.metric is not None and plain(each.metric) in wanted)
        for each in variants
    ]
    there = {plain(each.metric) for each in variants if each.metric is not None}
    others = [
        Variant(str(metric), metric, own=True, convention=False)
        for metric in own
        if wanted.get(plain(metric)) == str(metric) and plain(metric) not in there
    ]
    return (*others, *marked)


def to_audit(
    config: Config, given: Sequence[str], conventions: Sequence[str]
) -> tuple[list[Metric], tuple[str, ...]]:
    """Return the metrics to audit, and the names of others.

    Parameters
    ----------
    config : Config
    given : sequence of str
        Metrics in place of the config's.
    conventions : sequence of str
        Those to compare with; all where there are none.

    Raises
    ------
    UnknownNameError
        Where none is left, or one that was given cannot be audited.
    """
    policy = config.policy.model_copy(update={"ties": without_bounds(config.policy.ties)})
    wished = {"metrics": tuple(given or config.metrics), "policy": policy}
    metrics = config.model_copy(update=wished).parsed_metrics()
    known = [metric for metric in metrics if has_conventions(metric)]
    if not known or (given and len(known) < len(metrics)):
        names = ", ".join(str(metric) for metric in metrics if metric not in known)
        raise UnknownNameError(
            f"{names}: no convention has it, so there is nothing to audit"
            "  (harness metrics --conventions lists what each tool has)"
        )
    wanted = [metric for metric in known if _compared(metric, conventions)]
    if not wanted or (given and len(wanted) < len(known)):
        _refuse([metric for metric in known if metric not in wanted], conventions)
    return wanted, tuple(str(metric) for metric in metrics if metric not in wanted)


def _compared(metric: Metric, conventions: Sequence[str]) -> bool:
    """Return whether one of the conventions has the metric."""
    name = metric.definition.name
    return not conventions or any(name in CONVENTIONS[each].metrics for each in conventions)


def _refuse(metrics: Sequence[Metric], conventions: Sequence[str]) -> None:
    """Raise as for the metric of a convention that lacks it, which says what there is."""
    problems = []
    for name in dict.fromkeys(metric.definition.name for metric in metrics):
        for convention in conventions:
            try:
                parse(f"{name}(convention={convention})")
            except UnknownNameError as error:
                problems += error.problems
    raise UnknownNameError(problems)
