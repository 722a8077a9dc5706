"""Bold and underlined values of a table against those that are best and second best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from typing import Literal

from ..core.same_queries import UNLIKE
from ..core.study import Study
from ..tables.marks import FEWEST_FOR_SECOND, best_and_second
from ..tables.numbers import fixed
from ..tables.rows import over_same_queries
from .findings import Finding, Verdict
from .match import Line
from .strangers import strangers, why_no_system, without
from .values import Entered, finding

What = Literal["bold", "underline"]
_NAMES: Mapping[What, tuple[str, str]] = {
    "bold": ("bold", "best"), "underline": ("underlined", "second best"),
}  # fmt: skip
_UNKNOWN = (None, 3, 4, 2, 1, 0, 5, 6)
"""Decimals that marks may have been set at where numbers stand in full, the likeliest first.

None: by all of them.
"""


def check_best(columns: Sequence[Sequence[Entered]], study: Study, verdict: Verdict) -> None:
    """Check bold and underlined, over all rows or by group: whichever the table is nearer to.

    None is right or wrong in a column whose values are not over the same queries, which is noted.

    Each is checked where the table has any of it. Rows that are no runs take part where they can
    be systems of others, and do not put every best value in the wrong.
    """
    cells = [one for column in columns for one in column]
    used = {what for what in _NAMES if any(_has(one, what) for one in cells)}
    if not used:
        return
    columns = [one for one in columns if _is_fair(one, study, verdict)]
    cells = [one for column in columns for one in column]
    columns = list(_of_systems(columns, used, verdict))
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


def _is_fair(column: Sequence[Entered], study: Study, verdict: Verdict) -> bool:
    known = [one for one in column if one.known and one.line.run is not None]
    if not known or known[0].metric is None or known[0].metric.definition.direction is None:
        return True
    datasets: dict[str | None, list[str]] = {}
    for one in known:
        datasets.setdefault(one.dataset, []).append(str(one.line.run))
    metric = known[0].metric
    if all(
        over_same_queries(study, runs, metric, study.datasets if name is None else [name])
        for name, runs in datasets.items()
    ):
        return True
    verdict.notes.append(f"column '{column[0].heading.text}': {UNLIKE}; its marks are not checked")
    return False


def _of_systems(
    columns: Sequence[Sequence[Entered]], used: Set[What], verdict: Verdict
) -> Iterable[list[Entered]]:
    """Return the columns without the rows that are no systems, which are noted."""
    others = strangers(columns)
    left: list[Line] = []
    for line in others:
        why = why_no_system(line, columns)
        alone = list(without(columns, [other for other in others if other is not line]))
        if not why and _overturns(line, alone, used):
            why = "with it all of them would be wrong"
        if why:
            left.append(line)
            verdict.notes.append(f"row '{line.text}' takes no part in the best values: {why}")
    return without(columns, left)


def _overturns(line: Line, columns: Sequence[Sequence[Entered]], used: Set[What]) -> bool:
    """Whether a row, not marked itself, makes the best value of each column wrong."""
    marked = [column for column in columns if any(map(_is_marked, column))]
    has = [column for column in marked if any(one.line is line for one in column)]
    if not has or len(has) < len(marked) or any(_is_marked(_at_line(one, line)) for one in has):
        return False
    wrong = [len(list(_column(column, used))) for column in has]
    right = [len(list(_column(column, used))) for column in without(has, [line])]
    return all(more > less for more, less in zip(wrong, right, strict=True))


def _at_line(column: Sequence[Entered], line: Line) -> Entered:
    return next(one for one in column if one.line is line)


def _is_marked(one: Entered) -> bool:
    return one.printed.bold or one.printed.underlined


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
            alike = [cells[other] for other in sorted(chosen & marked) if other != at]
            if alike:
                why = _tie(one, alike, name, texts[at])
            yield finding(one, what, f"{one.printed.text} not {say}", say, why)


def _tie(one: Entered, alike: Sequence[Entered], name: str, text: str) -> str:
    """Return that a value is equal to others as printed, and which of them is best in full."""
    others = ", ".join(other.line.text for other in alike)
    why = f"as printed equal to {others}, which is {name} ({text})"
    same = [other for other in (one, *alike) if other.known]
    if name != "best" or one.metric is None or len(same) <= len(alike):
        return why
    ways = {"higher": max, "lower": min}
    best = ways[one.metric.definition.direction or "higher"](same, key=lambda each: each.value)
    return f"{why}; by the full value {best.line.text} is best"


def _text(one: Entered, digits: int | None) -> str:
    if one.known and digits is None:
        return str(Decimal(repr(one.value)))
    if one.known and digits is not None:
        return fixed(one.value, digits, percent=one.percent, leading_zero=True)
    return str(one.printed.number)
