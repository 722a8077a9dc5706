"""Bold and underlined values of a table against those that are best and second best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from typing import Literal

from ..tables.marks import FEWEST_FOR_SECOND, best_and_second
from ..tables.numbers import fixed
from .findings import Finding, Verdict
from .values import Entered, finding

What = Literal["bold", "underline"]
_NAMES: Mapping[What, tuple[str, str]] = {
    "bold": ("bold", "best"), "underline": ("underlined", "second best"),
}  # fmt: skip
_UNKNOWN = (None, 3, 4, 2, 1, 0, 5, 6)
"""Decimals that marks may have been set at where numbers stand in full, the likeliest first.

None: by all of them.
"""


def check_best(columns: Sequence[Sequence[Entered]], verdict: Verdict) -> None:
    """Check bold and underlined, over all rows or by group: whichever the table is nearer to.

    Each is checked where the table has any of it.
    """
    cells = [one for column in columns for one in column]
    used = {what for what in _NAMES if any(_has(one, what) for one in cells)}
    whole = [found for column in columns for found in _column(column, used)]
    parts = [
        found
        for column in columns
        for part in _by_group(column)
        if len(part) > 1
        for found in _column(part, used)
    ]
    by_group = len(parts) < len(whole)
    verdict.findings += parts if by_group else whole
    if by_group:
        verdict.notes.append("best values: checked within each group of rows")
    for what in sorted(used):
        name = f"{_NAMES[what][1]} values"
        verdict.verified[name] += sum(_has(one, what) for one in cells if one.known)


def _has(one: Entered, what: What) -> bool:
    return one.printed.bold if what == "bold" else one.printed.underlined


def _by_group(cells: Sequence[Entered]) -> Iterable[list[Entered]]:
    found: dict[int, list[Entered]] = {}
    for one in cells:
        found.setdefault(one.line.group, []).append(one)
    return found.values()


def _column(cells: Sequence[Entered], used: Set[What]) -> Iterator[Finding]:
    """Yield what is wrong in one column; each dataset in it has a best value of its own."""
    datasets: dict[str | None, list[Entered]] = {}
    for one in cells:
        column = one.heading.column
        own = None if column is None else column.dataset
        datasets.setdefault(one.dataset or own or one.line.dataset, []).append(one)
    for some in datasets.values():
        found = [list(_at(some, used, digits)) for digits in _digits(some)]
        yield from min(found, key=bool)  # the first that has none, or else the first


def _digits(cells: Sequence[Entered]) -> Sequence[int | None]:
    """Return the precision that marks were set at, or all that they may have been set at."""
    known = [one for one in cells if one.known and one.printed.digits]
    if known and all(_is_full(one) for one in known):
        return _UNKNOWN
    return [Counter(one.printed.digits for one in cells).most_common(1)[0][0]]


def _is_full(one: Entered) -> bool:
    return one.printed.number == Decimal(repr(one.value))


def _at(cells: Sequence[Entered], used: Set[What], digits: int | None) -> Iterator[Finding]:
    metric = cells[0].metric
    if metric is None:
        return
    texts = [_text(one, digits) for one in cells]
    best, second = best_and_second(texts, metric.definition.direction)
    for what in sorted(used):
        chosen = best if what == "bold" else second
        marked = {at for at, one in enumerate(cells) if _has(one, what)}
        if what == "underline" and (len(cells) < FEWEST_FOR_SECOND or len(best) > 1):
            # Of two, and where two share the best value, many mark no second best, and some do.
            marked -= set(range(len(cells))) - best if len(cells) < FEWEST_FOR_SECOND else second
            chosen = set()
        yield from _differing(cells, what, chosen, marked, texts)


def _differing(
    cells: Sequence[Entered], what: What, chosen: Set[int], marked: Set[int], texts: Sequence[str]
) -> Iterator[Finding]:
    say, name = _NAMES[what]
    for at, one in enumerate(cells):
        if not one.known or (at in chosen) == (at in marked):
            continue
        if at in marked:
            others = ", ".join(cells[other].line.text for other in sorted(chosen))
            why = f"the {name}: {others}" if others else f"it is not {name}"
            yield finding(one, what, f"{one.printed.text} {say}", f"not {say}", why)
        else:
            why = f"it is {name} ({texts[at]})"
            yield finding(one, what, f"{one.printed.text} not {say}", say, why)


def _text(one: Entered, digits: int | None) -> str:
    if one.known and digits is None:
        return str(Decimal(repr(one.value)))
    if one.known and digits is not None:
        return fixed(one.value, digits, percent=one.percent, leading_zero=True)
    return str(one.printed.number)
