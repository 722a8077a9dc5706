"""What a metric is: formula, parameters, facts."""

from __future__ import annotations

import inspect
import math
import re

from ..core.metric import Definition
from ..core.parameter import Parameter
from ..core.policy import TIES
from ..core.settings import PARAMETERS
from .docstring import entries, sections
from .wording import wrapped

_ARROWS = {"higher": "higher is better", "lower": "lower is better", None: "a count"}
_SUMMARIES = {
    "mean": "mean over queries",
    "sum": "sum over queries",
    "gm": "geometric mean over queries (values are logarithms)",
}
_KINDS = {int: "whole number", float: "number", bool: "true or false", str: "name"}
_ABOUT = {
    "convention": "all settings of one tool; what is written beside it stands over them",
    "ties": f"order of tied documents: {', '.join(TIES)}",
    "scores": "type that scores are compared in; none: not looked at, all are tied",
    "depth": "only so many documents of each query are looked at",
    "judged_only": "unjudged documents are taken out first",
    "labels": "grades outside the convention's bounds: an error, or the nearer bound",
    "empty": "value of a query without relevant documents",
    "few": "value of a query with fewer documents than the convention takes",
    "undefined": "an undefined value in the mean: left out, 0, or the mean is undefined too",
}


def spelling(definition: Definition) -> str:
    """Return how the metric is written, with its parameters' defaults.

    >>> from harness.core.metric import REGISTRY
    >>> spelling(REGISTRY["rbp"])[:10]
    'rbp(p=0.8,'
    """
    inside = ",".join(
        f"{name}={p.text(p.default) if p.default not in (None, ()) else '...'}"
        for name, p in definition.parameters.items()
        if name != "cutoff"
    )
    text = definition.name + (f"({inside})" if inside else "")
    if definition.cutoff is None:
        return text
    return f"{text}@k" if definition.needs_cutoff else f"{text}[@k]"


def define(definition: Definition) -> str:
    """Return a metric's title, formula, parameters and facts."""
    said = sections(definition.function)
    title, _, formula = said[""].partition("\n")
    lines = [f"{definition.name}: {title}"]
    for paragraph in formula.strip().split("\n\n") if formula.strip() else ():
        lines += ["", *paragraph.split("\n")]
    lines += ["", f"written      {spelling(definition)}"]
    about = entries(said.get("Parameters", ""))
    if definition.parameters:
        lines += ["", "parameters"]
    for name, parameter in definition.parameters.items():
        lines += wrapped(f"{name}: {_values(parameter)}", 2, 4)
        text = about.get(name, "the run that the ranking is compared to; the ideal order without")
        lines += wrapped(text, 6)
    if "Notes" in said:
        lines += ["", said["Notes"]]
    low, high = definition.bounds
    values = re.sub(r"^ndarray[^\n]*\n?", "", said.get("Returns", "")).split()
    facts = [
        ("also read", ", ".join(definition.aliases)),
        ("trec_eval", definition.trec_name or ""),
        ("direction", _ARROWS[definition.direction]),
        ("bounds", f"{low:g} to {high:g} {definition.unit}".rstrip()),
        ("values", " ".join(values)),
        ("summary", _SUMMARIES[definition.summary]),
        ("no relevant", _empty(definition)),
        ("source", definition.source),
    ]
    lines.append("")
    for name, value in facts:
        if value:
            lines += wrapped(f"{name:<12} {value}", 0, 13)
    return "\n".join([*lines, ""])


def settings() -> str:
    """Return the settings that every metric takes beside its own parameters."""
    lines = ["settings of every metric, as the run's policy where they are not written"]
    for name, parameter in PARAMETERS.items():
        choices = f" ({', '.join(parameter.choices)})" if parameter.choices else ""
        lines += wrapped(f"{name}: {_ABOUT.get(name, parameter.type.__name__)}{choices}", 2, 4)
    return "\n".join([*lines, ""])


def _empty(definition: Definition) -> str:
    if definition.empty is None:
        return "no special case"
    return "undefined" if math.isnan(definition.empty) else f"{definition.empty:g}"


def _values(parameter: Parameter) -> str:
    """Return what a parameter can be, and its default."""
    if parameter.choices:
        kind = ", ".join(parameter.choices)
    elif parameter.pairs:
        kind = "grade:number;grade:number..."
    else:
        kind = _KINDS[parameter.type] + ("s, as 1:0" if parameter.many else "")
    limits = f" in {parameter.range}" if parameter.range else ""
    default = parameter.default
    if default is inspect.Parameter.empty:
        return f"{kind}{limits}; has to be given"
    if default in (None, ()):
        whole = "the whole list" if parameter.name == "cutoff" else "none"
        return f"{kind}{limits}; default {whole}"
    return f"{kind}{limits}; default {parameter.text(default)}"
