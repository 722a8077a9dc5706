"""A plugin's metric as plain data, and back: all that reports need of it, without its code."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import HarnessError, Problem
from .metric import Definition, Metric
from .parameter import Parameter
from .settings import PARAMETERS, Settings, texts_of

_PLAIN = (bool, int, float, str)


@dataclass(frozen=True, eq=False)
class RecordedDefinition(Definition):
    """A definition whose facts are known and whose function is not loaded."""

    recorded_title: str = ""
    recorded_parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters by name, with their defaults."""
        return self.recorded_parameters

    @property
    def title(self) -> str:
        """The first sentence of the function's docstring."""
        return self.recorded_title


def as_plain_data(metric: Metric) -> dict[str, Any]:
    """Return what a manifest records of a plugin's metric."""
    definition = metric.definition
    return {
        "name": str(metric),
        "definition": definition.name,
        "title": definition.title,
        "direction": definition.direction,
        "bounds": [_plain(float(one)) for one in definition.bounds],
        "source": definition.source,
        "unit": definition.unit,
        "summary": definition.summary,
        "empty": _plain(definition.empty),
        "missing": _plain(definition.missing),
        "weighted": definition.weight is not None,
        "reference": definition.reference,
        "bounded": metric.bounded,
        "cutoff": metric.cutoff,
        "parameters": {
            name: None if one.default is inspect.Parameter.empty else _plain(one.default, one)
            for name, one in definition.parameters.items()
        },
        "given": {
            name: _plain(value, definition.parameters[name]) for name, value in metric.params
        },
        "settings": dict(texts_of(metric.settings)),
    }


def from_plain_data(found: Mapping[str, Any]) -> Metric:
    """Return the metric that :func:`as_plain_data` recorded; it has no code and computes nothing.

    Raises
    ------
    UnknownNameError
        If a setting has a value that no metric takes.
    """
    name = found["name"]

    def not_loaded(*_: Any, **__: Any) -> Any:
        what = "expected the plugin that defines it, got its recorded values only"
        raise HarnessError(Problem(f"metric {name}", what, fix="evaluate it from its config"))

    not_loaded.__module__ = "plugin"  # so that it does not count as built in
    low, high = map(float, found["bounds"])
    definition = RecordedDefinition(
        found["definition"], not_loaded, found["direction"], (low, high), found["source"],
        found["unit"], found["summary"], _number(found["empty"]), _number(found["missing"]),
        weight=not_loaded if found["weighted"] else None, reference=found["reference"],
        bounded=found["bounded"], recorded_title=found["title"],
        recorded_parameters={
            name: Parameter(name, str if default is None else type(default), default)
            for name, default in found["parameters"].items()
        },
    )  # fmt: skip
    settings = Settings().with_values(
        {one: PARAMETERS[one].parse(text, name) for one, text in found["settings"].items()}
    )
    given = tuple(found["given"].items())
    return Metric(definition, found["cutoff"], given, settings, label=name)


def _plain(value: Any, parameter: Parameter | None = None) -> Any:
    """Return a value that JSON can hold: infinity, NaN and lists of numbers become text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, _PLAIN):
        return value
    return str(value) if parameter is None else parameter.text(value)


def _number(value: float | str | None) -> float | None:
    return None if value is None else float(value)
