"""What the tools do: one convention in words, and a metric's table of tools and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.convention import CONVENTIONS, Convention
from ..core.metric import REGISTRY, Definition
from ..errors import UnknownNameError
from ..reports.table import columns
from .resolved import COMMON
from .wording import WIDTH, in_words, kind, wrapped

_LABELS = {"cutoff": "bare name"}


def conventions(convention: Convention | None = None) -> str:
    """Return a convention with its settings, metrics of the same ones together; all of them."""
    if convention is not None:
        return _block(convention) + "\n"
    return "\n\n".join(map(_block, CONVENTIONS.values())) + "\n"


def _block(convention: Convention) -> str:
    together: dict[str, list[str]] = {}
    for name in convention.metrics:
        text = _settings(REGISTRY[name], convention.of(name))
        together.setdefault(text, []).append(name)
    lines = [f"{convention.name}: {convention.tool}", *wrapped(convention.note, 2)]
    for settings, names in together.items():
        lines += [*wrapped(", ".join(names), 4), *wrapped(settings, 8)]
    for spelling, changed in convention.variants.items():
        further = _settings(REGISTRY[spelling.split("(")[0]], changed)
        lines += [*wrapped(f"{spelling}, further", 4), *wrapped(further, 8)]
    return "\n".join([*lines, *wrapped(f"source: {convention.source}", 2)])


def _settings(definition: Definition, settings: Mapping[str, Any]) -> str:
    said = []
    for name, value in settings.items():
        text = in_words(definition, name, value)
        if name == "cutoff":
            said.append(text if text.startswith("whole") else f"bare name: {text}")
        else:
            said.append(f"grades: {text}" if name == "grades" else f"{name}={text}")
    return ", ".join(said)


def table(definition: Definition) -> str:
    """Return the tools that have a metric with the settings in which they differ.

    Raises
    ------
    UnknownNameError
        Where no convention has the metric.
    """
    having = [each for each in CONVENTIONS.values() if definition.name in each.metrics]
    if not having:
        raise UnknownNameError(
            f"no convention has the metric '{definition.name}'"
            "  (all: harness metrics --conventions)"
        )
    usual = {**COMMON, **{name: p.default for name, p in definition.parameters.items()}}
    if definition.cutoff is not None:
        usual["cutoff"] = definition.cutoffs or None
        if definition.needs_cutoff and not definition.cutoffs:
            usual["cutoff"] = "needed"
    rows = [usual, *({**usual, **each.of(definition.name)} for each in having)]
    differing = [name for name in usual if len({repr(row[name]) for row in rows}) > 1]
    ahead = [name for name in differing if name not in COMMON]
    names = [*ahead, *(name for name in differing if name in COMMON and name != "grades")]
    names += [name for name in differing if name == "grades"]  # the widest
    cells = [["convention", *(_LABELS.get(name, name) for name in names)]]
    for label, row in zip(["(none)", *(each.name for each in having)], rows, strict=True):
        cells.append([label, *(_cell(definition, name, row, usual) for name in names)])
    head = f"{definition.name}: {definition.title}\n\n"
    return (
        f"{head}{columns([_flush(row, cells) for row in cells], width=WIDTH)}\n\n"
        "'-': as without a convention. 'bare name': the cutoff where none is written.\n"
        "'harness metrics TOOL' has its notes and sources.\n"
    )


def _cell(definition: Definition, name: str, row: dict[str, Any], usual: dict[str, Any]) -> str:
    if row is not usual and repr(row[name]) == repr(usual[name]):
        return "-"
    if name == "grades":
        return kind(row[name]).replace("grades ", "")
    return "policy" if name == "empty" and row is usual else in_words(definition, name, row[name])


def _flush(row: list[str], rows: list[list[str]]) -> list[str]:
    """Return cells as wide as their columns, so that words stand flush left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
