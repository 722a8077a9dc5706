"""A printed number against its value: rounded, slipped, or someone else's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal

from ..core.study import Study
from .findings import Finding
from .rounding import expected, is_rounded, wrong_by
from .values import Entered, as_text, finding


def number(one: Entered, columns: Sequence[Sequence[Entered]], study: Study) -> Iterator[Finding]:
    """Yield what is wrong with a number, and whose value it is in truth."""
    shown = one.printed
    if math.isnan(one.value):
        why = "the results have no value there"
        yield finding(one, "digits", shown.text, "none", why)
        return
    if is_rounded(shown.number, shown.digits, one.value, percent=one.percent):
        return
    right = expected(one.value, shown.digits, percent=one.percent)
    computed = f"computed: {one.value * (100 if one.percent else 1):.8g}"
    slip = wrong_by(shown.number, shown.digits, one.value, percent=one.percent)
    if slip:
        yield finding(one, "rounding", shown.text, _like(right, shown.text), f"{slip}; {computed}")
        return
    other = _elsewhere(one, columns) or _of_the_run(one, study)
    why = f"{computed}; {other}" if other else computed
    yield finding(one, "digits", shown.text, _like(right, shown.text), why)


def _elsewhere(one: Entered, columns: Sequence[Sequence[Entered]]) -> str:
    """Return whose value a wrong number is, where the same row or column has it."""
    for column in columns:
        for other in column:
            near = other.line is one.line or other.heading is one.heading
            same = other.known and other is not one and near and not math.isnan(other.value)
            if same and expected(
                other.value, one.printed.digits, percent=other.percent
            ) == one.printed.number:  # fmt: skip
                return f"that is the value of {other.line.text}, {other.heading.text}"
    return ""


def _of_the_run(one: Entered, study: Study) -> str:
    """Return which other value of the run a wrong number is: of a metric, a dataset, a seed."""
    if one.line.run is None or one.metric is None:
        return ""
    datasets = sorted(study.datasets, key=lambda name: name != one.dataset)
    metrics = sorted(study.board.metrics, key=lambda metric: metric != one.metric)
    systems = [study.system(name, one.line.run) for name in datasets]
    here = [system for system in systems if system is not None]
    for system in here:
        for metric in metrics:
            if _is(one, system.value(metric)):
                return f"that is the value of {metric} on {system.dataset}"
    for system in here:
        for entry in system.entries if len(system.entries) > 1 else ():
            if _is(one, entry.summary.get(str(one.metric), math.nan)):
                which = ", ".join(f"{name} {entry.columns.get(name)}" for name in system.varying)
                return f"that is the value of {which} on {system.dataset}"
    return ""


def _is(one: Entered, value: float) -> bool:
    """Whether a number of at least two significant digits is a value."""
    shown = one.printed
    if len(shown.number.as_tuple().digits) < 2 or not math.isfinite(value):
        return False
    return is_rounded(shown.number, shown.digits, value, percent=one.percent)


def _like(right: Decimal, printed: str) -> str:
    """Return a number with a leading zero where the printed one has it."""
    has_zero = printed.lstrip("+-").startswith("0")
    return f"{right:f}" if has_zero else as_text(right)
