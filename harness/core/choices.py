"""What can be chosen about a metric: its settings, and the values that tools have for them."""

from __future__ import annotations

from typing import Any, get_args

from .convention import CONVENTIONS
from .metric import Definition
from .settings import EmptyValue, Undefined

_LEFT_OUT = {"cutoff", "grades", "gains", "reference", "depth", "labels", "convention"}
_COMMON: dict[str, tuple[Any, ...]] = {
    "ties": ("trec_eval", "docno+", "stable", "reverse", "average", "best", "worst"),
    "scores": ("float32", "float64"),
    "empty": (None, *get_args(EmptyValue)),
    "undefined": (None, *get_args(Undefined)[1:]),
    "judged_only": (None, True),
}


def choices_of(definition: Definition) -> dict[str, tuple[Any, ...]]:
    """Return each choice there is about a metric with its values, the metric's own default first.

    Values of a parameter with a few named choices are all of them; of a number, those that some
    convention has.

    Examples
    --------
    >>> import harness.metrics
    >>> from harness.core.metric import REGISTRY
    >>> choices = choices_of(REGISTRY["map"])
    >>> choices["denominator"], choices["rel"], choices["above"]
    (('relevant', 'cutoff', 'list', 'hits', 'grades'), (1, 2), (None, 0.0, 0.5))
    """
    used = [
        {**each.common, **each.metrics[definition.name]}
        for each in CONVENTIONS.values()
        if definition.name in each.metrics
    ]
    found: dict[str, tuple[Any, ...]] = {}
    for name, parameter in definition.parameters.items():
        if name in _LEFT_OUT:
            continue
        values = [parameter.default, *parameter.choices]
        if parameter.type is bool:
            values += [False, True]
        values += [settings[name] for settings in used if name in settings]
        found[name] = tuple(dict.fromkeys(values))
    for name, known in _COMMON.items():
        own = [settings[name] for settings in used if name in settings]
        found[name] = tuple(dict.fromkeys([*known, *own]))
    return {name: values for name, values in found.items() if len(values) > 1}
