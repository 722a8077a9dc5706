"""Metrics of plugins in a manifest, which loads no code."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.arguments import Parameter
from ..core.metric import Definition, Metric
from ..core.settings import PARAMETERS, MetricSettings, texts_of
from ..errors import HarnessError, Problem

_RECORDED = ("direction", "source", "unit", "summary", "reference")
"""Facts of a definition that a manifest contains unchanged."""


def as_plain_data(metric: Metric) -> dict[str, Any]:
    """Record of a plugin's metric in a manifest: all that reports need of it."""
    definition = metric.definition
    title = definition.title if isinstance(definition.title, str) else definition.title.plain
    return {
        "name": str(metric),
        "definition": definition.name,
        "title": title,
        "bounds": [_plain(float(bound)) for bound in definition.bounds],
        **{fact: getattr(definition, fact) for fact in _RECORDED},
        "empty": _plain(definition.empty),
        "missing": _plain(definition.missing),
        "weighted": metric.is_weighted,
        "bounded": metric.definition.bounded,
        "unbounded_with": [*metric.definition.unbounded_with],
        "cutoff": metric.cutoff,
        "parameters": {
            name: None
            if parameter.default is inspect.Parameter.empty
            else _plain(parameter.default, parameter)
            for name, parameter in definition.parameters.items()
        },
        "given": {
            name: _plain(value, definition.parameters[name]) for name, value in metric.params
        },
        "settings": dict(texts_of(metric.settings)),
    }


def from_plain_data(recorded: Mapping[str, Any]) -> Metric:
    """Return the metric that `as_plain_data` recorded, which cannot compute anything."""
    name = recorded["name"]

    def not_loaded(*_: Any, **__: Any) -> Any:
        message = "expected the plugin that defines it, got its recorded values only"
        raise HarnessError(Problem(f"metric {name}", message, fix="evaluate it from its config"))

    not_loaded.__module__ = "plugin"  # so that it does not count as built in
    low, high = map(float, recorded["bounds"])
    facts = {fact: recorded[fact] for fact in (*_RECORDED, "title", "bounded")}
    facts["unbounded_with"] = tuple(recorded["unbounded_with"])
    for key in ("empty", "missing"):
        facts[key] = None if recorded[key] is None else float(recorded[key])
    parameters = {
        parameter: Parameter(parameter, str if default is None else type(default), default)
        for parameter, default in recorded["parameters"].items()
    }
    definition = Definition(
        name=recorded["definition"],
        function=not_loaded,
        bounds=(low, high),
        weight=(lambda aligned, **_: np.ones(aligned.n_queries)) if recorded["weighted"] else None,
        recorded=parameters,
        **facts,
    )
    settings = MetricSettings().with_values(
        {key: PARAMETERS[key].parse(text, name) for key, text in recorded["settings"].items()}
    )
    params = tuple(recorded["given"].items())
    return Metric(definition, recorded["cutoff"], params, settings, label=name)


def _plain(value: Any, parameter: Parameter | None = None) -> Any:
    """Return a value for JSON: infinity, NaN and lists of numbers become text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value) if parameter is None else parameter.text(value)
