"""Settings in words, and paragraphs."""

from __future__ import annotations

import textwrap
from typing import Any

from ..core.convention import NEEDED, WHOLE_LIST
from ..core.grade_rule import GradeRule
from ..core.metric import Definition
from ..core.settings import PARAMETERS

WIDTH = 98


def wrapped(text: str, indent: int, hanging: int = 0) -> list[str]:
    """Return a paragraph's lines, further lines `hanging` columns further in."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + hanging),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def kind(rule: GradeRule) -> str:
    """Return which grades a rule accepts, in few words.

    >>> kind(GradeRule(0, 30)), kind(GradeRule(whole=False)), kind(GradeRule(0, truncate=True))
    ('whole grades 0 to 30', 'takes fractions', 'cuts fractions off, grades from 0')
    """
    text = "whole grades"
    if rule.fractions:
        text = "cuts fractions off" if rule.truncate else "takes fractions"
    if rule.low is None and rule.high is None:
        return text
    if rule.low is None or rule.high is None:
        bounds = f"from {rule.low}" if rule.high is None else f"up to {rule.high}"
    else:
        bounds = f"{rule.low} to {rule.high}"
    return f"{text}, grades {bounds}" if rule.fractions else f"{text} {bounds}"


def accepted(rule: GradeRule) -> str:
    """Return which grades a rule accepts, and what it makes of others.

    >>> accepted(GradeRule(0, 1, act="clip", documents=2))
    'whole grades 0 to 1, others clipped, queries of fewer than 2 documents: error'
    """
    said = [kind(rule)]
    if rule.act == "clip":
        said.append("others clipped")
    if rule.relevant_from is not None:
        said.append(f"{rule.relevant_from} and above become 1, others 0")
    if rule.positive_scores:
        said.append("documents scored 0 or below are not relevant")
    if rule.documents > 1:
        said.append(f"queries of fewer than {rule.documents} documents: {rule.few}")
    return ", ".join(said)


def cutoffs(value: Any) -> str:
    """Return what the bare name stands for.

    >>> cutoffs((1, 2, 3)), cutoffs(20), cutoffs("needed")
    ('@1,2,3', '@20', 'none: write one')
    """
    if value == NEEDED:
        return "none: write one"
    if value is None or value == WHOLE_LIST:
        return "whole list" if value is None else "whole list only"
    return "@" + ",".join(map(str, value if isinstance(value, tuple) else (value,)))


def in_words(definition: Definition, name: str, value: Any) -> str:
    """Return a parameter's or setting's value."""
    if isinstance(value, GradeRule):
        return accepted(value)
    if name == "cutoff":
        return cutoffs(value)
    if value is None or value == ():
        return "none"
    return {**definition.parameters, **PARAMETERS}[name].text(value)
