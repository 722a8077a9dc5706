"""The metrics as text: the list, and the definition of one."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from typing import Any

from . import metrics as _built_in
from .core.convention import CONVENTIONS
from .core.grade_rule import GradeRule
from .core.metric import REGISTRY, Definition
from .core.names import NICKNAMES, parse
from .reports.table import columns

_ARROWS = {"higher": "higher is better", "lower": "lower is better", None: "a count"}
_SUMMARIES = {
    "mean": "mean over queries",
    "sum": "sum over queries",
    "gm": "geometric mean over queries (values are logarithms)",
}
del _built_in


def spelling(definition: Definition) -> str:
    """Return how the metric is written, with its parameters' defaults.

    >>> from harness.core.metric import REGISTRY
    >>> spelling(REGISTRY["P"])
    'P(rel=1)@k'
    """
    inside = ",".join(
        f"{name}={p.text(p.default) if p.default is not None else '...'}"
        for name, p in definition.parameters.items()
        if name != "cutoff"
    )
    text = definition.name + (f"({inside})" if inside else "")
    if definition.cutoff is None:
        return text
    return f"{text}@k" if definition.needs_cutoff else f"{text}[@k]"


def listing() -> str:
    """Return all metrics, one a line, with direction and first sentence."""
    rows = [["metric", "better", "what it is"]]
    for name in sorted(REGISTRY, key=str.lower):
        definition = REGISTRY[name]
        rows.append([spelling(definition), definition.direction or "", definition.title])
    text = columns(rows, left=3)
    names = "\n".join(f"  {name}: {' '.join(members)}" for name, members in NICKNAMES.items())
    return (
        f"{text}\n\nSeveral at once (trec_eval's nicknames):\n{names}\n\n"
        "Other spellings are read too: ndcg_cut_10, P.5,10 (trec_eval); nDCG@10, AP(rel=2) "
        "(ir_measures).\n'harness metrics NAME' defines one.\n"
    )


def conventions() -> str:
    """Return every convention with its settings, one metric a line."""
    blocks = []
    for convention in CONVENTIONS.values():
        together: dict[str, list[str]] = {}
        for name in convention.metrics:
            together.setdefault(_settings(convention.of(name)), []).append(name)
        lines = [convention.name, *_wrapped(f"{convention.tool} ({convention.source})", 2)]
        lines += _wrapped(convention.note, 2)
        for settings, names in together.items():
            lines += [*_wrapped(", ".join(names), 4), *_wrapped(settings, 8)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text, 98, initial_indent=" " * indent, subsequent_indent=" " * indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _settings(values: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}: {value.text}" if isinstance(value, GradeRule) else f"{name}={value}"
        for name, value in values.items()
    )


def define(text: str) -> str:
    """Return a metric's definition: spelling, facts, docstring.

    Raises
    ------
    UnknownNameError
        Where there is no such metric.
    """
    definition = parse(text)[0].definition
    low, high = definition.bounds
    facts = [
        ("written", spelling(definition)),
        ("also read", ", ".join(definition.aliases)),
        ("trec_eval", definition.trec_name or ""),
        ("direction", _ARROWS[definition.direction]),
        ("bounds", f"{low:g} to {high:g} {definition.unit}".rstrip()),
        ("summary", _SUMMARIES[definition.summary]),
        ("no relevant", "no special case" if definition.empty is None else f"{definition.empty:g}"),
        ("source", definition.source),
    ]
    lines = [f"{name:<12} {value}" for name, value in facts if value]
    for name, parameter in definition.parameters.items():
        allowed = "|".join(parameter.choices) or parameter.type.__name__
        limits = f" in {parameter.range}" if parameter.range else ""
        default = (
            ""
            if parameter.default is inspect.Parameter.empty
            else (f", default {parameter.default}")
        )
        lines.append(f"{'parameter':<12} {name}: {allowed}{limits}{default}")
    document = inspect.getdoc(definition.function) or ""
    return "\n".join([*lines, "", document, ""])
