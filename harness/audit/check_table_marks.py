"""Bold and underlined values of a paper's table, and its marks of significance."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from typing import Literal

from ..core.study import Study
from ..core.systems import UNLIKE
from ..reports.numbers import fixed
from ..reports.paper_table.build import over_same_queries
from ..reports.paper_table.marks import FEWEST_FOR_SECOND, Signs, best_and_second, dagger
from .check_table_match import Line, Match
from .check_table_values import Entered, Finding, Verdict
from .table_grid import SYMBOLS

What = Literal["bold", "underline"]
Columns = Sequence[Sequence[Entered]]
_NAMES: Mapping[What, tuple[str, str]] = {
    "bold": ("bold", "best"), "underline": ("underlined", "second best"),
}  # fmt: skip
_UNKNOWN = (None, 3, 4, 2, 1, 0, 5, 6)
"""Decimals that marks may have been set at where numbers stand in full, the likeliest first.

None: by all of them.
"""
_NO_SYSTEM = re.compile(
    r"\W*(?:[Δ∆#%]|(?:delta|diff|differences?|(?:rel\w*\.?|abs\w*\.?)?\s*improvements?|gain|lift"
    r"|change|queries|topics|number of|std|sd|stdev|standard (?:dev|err)\w*|average|avg|mean"
    r"|(?:adj\w*\.? )?p\W?values?|significance|t\W?test|effect(?: size)?)\b|[npt]\W*$)",
    re.IGNORECASE,
)
"""How the name of a row begins that is no system."""


def check_best(columns: Columns, study: Study, verdict: Verdict) -> None:
    """Check bold and underlined, over all rows or by group: whichever the table is nearer to.

    None is right or wrong in a column whose values are not over the same queries, which is noted.

    Each is checked where the table has any of it. Rows that are no runs take part where they can
    be systems of others, and do not put every best value in the wrong.
    """
    used: set[What] = {
        what for what in _NAMES for column in columns for one in column if _has(one, what)
    }
    columns = [one for one in columns if used and _is_fair(one, study, verdict)]
    for what in sorted(used):
        n = sum(_has(one, what) for column in columns for one in column if one.known)
        verdict.verified[f"{_NAMES[what][1]} values"] += n
    columns = _of_systems(columns, used, verdict)
    whole = [found for column in columns for found in _wrong_marks(column, used)]
    parts = [
        found
        for column in columns
        for part in _grouped(column, lambda one: one.line.group)
        if len(part) > 1
        for found in _wrong_marks(part, used)
    ]
    verdict.findings += parts if len(parts) < len(whole) else whole
    if len(parts) < len(whole):
        verdict.notes.append("best values: checked within each group of rows")


def _has(one: Entered, what: What) -> bool:
    return one.printed.bold if what == "bold" else one.printed.underlined


def _grouped(cells: Sequence[Entered], key: Callable[[Entered], object]) -> list[list[Entered]]:
    found: dict[object, list[Entered]] = {}
    for one in cells:
        found.setdefault(key(one), []).append(one)
    return list(found.values())


def _is_fair(column: Sequence[Entered], study: Study, verdict: Verdict) -> bool:
    """Whether the values of a column are over the same queries; if not, that is noted."""
    known = [one for one in column if one.known and one.line.run is not None]
    metric = known[0].metric if known else None
    if metric is None or metric.definition.direction is None:
        return True
    for some in _grouped(known, lambda one: one.dataset):
        name, runs = some[0].dataset, [str(one.line.run) for one in some]
        if not over_same_queries(study, runs, metric, study.datasets if name is None else [name]):
            text = column[0].heading.text
            verdict.notes.append(f"column '{text}': {UNLIKE}; its marks are not checked")
            return False
    return True


def _of_systems(columns: Columns, used: Set[What], verdict: Verdict) -> Columns:
    """Return the columns without the rows that are no systems, which are noted."""
    cells = [one for column in columns for one in column]
    strangers = list(dict.fromkeys(one.line for one in cells if one.line.run is None))
    left = []
    for line in strangers:
        why = _why_no_system(line, [one for one in cells if one.line is line])
        alone = _without(columns, [other for other in strangers if other is not line])
        if not why and _overturns(line, alone, used):
            why = "with it all of them would be wrong"
        if why:
            left.append(line)
            verdict.notes.append(f"row '{line.text}' takes no part in the best values: {why}")
    return _without(columns, left)


def _without(columns: Columns, left: Sequence[Line]) -> Columns:
    found = [[one for one in column if one.line not in left] for column in columns]
    return [column for column in found if column]


def _why_no_system(line: Line, cells: Sequence[Entered]) -> str:
    """Return why the numbers of a row cannot be a system's; nothing where they can be."""
    if _NO_SYSTEM.match(line.text):
        return "by its name it is no system"
    for one in cells:
        if one.metric is None:
            continue
        where = f"{one.cell.whole} in {one.heading.text}"
        low, high = one.metric.definition.bounds
        if one.cell.text.startswith("+"):
            return f"{where} has a sign, as differences have"
        if one.printed.is_percent and not one.percent:
            return f"{where} is in percent, as the other rows are not"
        if not low <= float(one.printed.number) / (100 if one.percent else 1) <= high:
            return f"{where} is no value of {one.metric}"
    return ""


def _overturns(line: Line, columns: Columns, used: Set[What]) -> bool:
    """Whether a row, not marked itself, makes the best value of each column wrong."""
    marked = [column for column in columns if any(map(_is_marked, column))]
    own = [one for column in marked for one in column if one.line is line]
    if not own or len(own) < len(marked) or any(map(_is_marked, own)):
        return False
    return all(
        len(list(_wrong_marks(column, used))) > len(list(_wrong_marks(rest, used)))
        for column, rest in zip(marked, _without(marked, [line]), strict=True)
    )


def _is_marked(one: Entered) -> bool:
    return one.printed.bold or one.printed.underlined


def _wrong_marks(column: Sequence[Entered], used: Set[What]) -> Iterator[Finding]:
    """Yield what is wrong in one column; each dataset in it has a best value of its own."""

    def dataset(one: Entered) -> str | None:
        own = None if one.heading.column is None else one.heading.column.dataset
        return one.dataset or own or one.line.dataset

    for cells in _grouped(column, dataset):
        known = [one for one in cells if one.known and one.printed.digits]
        digits: Sequence[int | None] = _UNKNOWN
        if not known or any(one.printed.number != Decimal(repr(one.value)) for one in known):
            digits = [Counter(one.printed.digits for one in cells).most_common(1)[0][0]]
        found = [list(_at_digits(cells, used, n)) for n in digits]
        yield from min(found, key=bool)  # the first that has none, or else the first


def _at_digits(cells: Sequence[Entered], used: Set[What], digits: int | None) -> Iterator[Finding]:
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
        say, name = _NAMES[what]
        for at, one in enumerate(cells):
            if not one.known or (at in chosen) == (at in marked):
                continue
            if at in marked:
                others = ", ".join(cells[other].line.text for other in sorted(chosen))
                why = f"the {name}: {others}" if others else f"it is not {name}"
                yield one.finding(what, f"{one.printed.text} {say}", f"not {say}", why)
            else:
                alike = [cells[other] for other in sorted(chosen & marked)]
                why = _why_marked(one, alike, name, texts[at])
                yield one.finding(what, f"{one.printed.text} not {say}", say, why)


def _text(one: Entered, digits: int | None) -> str:
    if not one.known:
        return str(one.printed.number)
    if digits is None:
        return str(Decimal(repr(one.value)))
    return fixed(one.value, digits, percent=one.percent, leading_zero=True)


def _why_marked(one: Entered, alike: Sequence[Entered], name: str, text: str) -> str:
    """Return why a value is best; if others equal it as printed, which of them is in full."""
    if not alike:
        return f"it is {name} ({text})"
    others = ", ".join(other.line.text for other in alike)
    why = f"as printed equal to {others}, which is {name} ({text})"
    if name != "best" or one.metric is None or not all(other.known for other in alike):
        return why
    best = min if one.metric.definition.direction == "lower" else max
    winner = best((one, *alike), key=lambda each: each.value)
    return f"{why}; by the full value {winner.line.text} is best"


def check_significance(match: Match, columns: Columns, study: Study, verdict: Verdict) -> None:
    """Check letters and daggers against the comparisons of the study."""
    cells = [one for column in columns for one in column]
    used = [mark for one in cells for mark in (*one.printed.marks, *one.printed.lowered)]
    if not used:
        return
    if study.comparisons is None:
        verdict.notes.append(
            f"{len(used)} marks of significance not checked: the config of the results compares "
            "nothing (compare:)"
        )
        return
    signs = _signs(match, used, study, verdict)
    if signs is None:
        return
    lowers = any(one.printed.lowered for one in cells)
    is_long = any(len(sign) > 1 for sign in signs.of.values())
    by_commas = is_long and any("," in one.printed.raised for one in cells)
    if is_long and not by_commas and any(len(one.printed.raised) > 1 for one in cells):
        verdict.notes.append(
            "signs of several characters stand without commas: each cell is read as what would "
            "be right, where it can be"
        )
    for one in cells:
        if one.known and one.line.run is not None and not one.line.where:
            verdict.verified["marks"] += len(one.printed.marks) + len(one.printed.lowered)
            better: tuple[str, ...] = ()
            worse: tuple[str, ...] = ()
            if one.dataset is not None:
                better, worse = signs.beside(one.dataset, str(one.metric), one.line.run)
            above = one.printed.marks
            if by_commas:
                above = tuple(filter(None, one.printed.raised.split(",")))
            elif one.printed.raised.replace(",", "") == "".join(better):
                above = better
            verdict.findings += _differing(one, above, better, worse, signs)
            if lowers:
                below = one.printed.lowered
                verdict.findings += _differing(one, below, worse, better, signs, "worse", "better")


def _signs(match: Match, used: Sequence[str], study: Study, verdict: Verdict) -> Signs | None:
    """Return which system each mark stands for: as the rows say, or else baselines or rows."""
    known = study.comparisons
    if known is None:
        return None
    of = {one.run: one.sign for one in match.lines if one.run is not None and one.sign}
    order = [dagger(place) for place in range(5)]
    symbols = sorted(
        {mark for mark in used if mark[0] in SYMBOLS},
        key=lambda sign: (order.index(sign) if sign in order else len(order), sign),
    )
    letters = sorted({mark for mark in used if mark[0] not in SYMBOLS})
    unsaid = "not checked: the rows do not say which systems they stand for"
    if not set(symbols) <= set(of.values()):
        baselines = [run for run in known.plan.baselines if run not in of]
        are_levels = any(len(sign) > 1 and len(set(sign)) == 1 for sign in symbols)  # ** or ***
        if are_levels or len(symbols) > len(baselines):
            n = f"there are {len(baselines)} baselines"
            verdict.notes.append(f"marks {' '.join(symbols)} {unsaid}, and {n}")
            return None
        taken = dict(zip(baselines, symbols, strict=False))
        of |= taken
        pairs = ", ".join(f"{sign} = {run}" for run, sign in taken.items())
        verdict.notes.append(f"marks taken as: {pairs}")
    elif letters and not set("".join(letters)) <= set("".join(of.values())):
        verdict.notes.append(f"marks {' '.join(letters)} {unsaid}")
        return None
    return Signs("daggers" if symbols else "letters", of, known)


def _differing(
    one: Entered, found: Sequence[str], right: Sequence[str], opposite: Sequence[str],
    signs: Signs, how: str = "better", other: str = "worse",
) -> Iterator[Finding]:  # fmt: skip
    """Yield the marks that are too many or too few; `opposite` are right for the `other` way."""
    of = {sign: run for run, sign in signs.of.items()}
    text = one.printed.text
    for mark in dict.fromkeys((*found, *right)):
        run = of.get(mark, mark)
        if mark in found and mark not in right:
            why = f"not significantly {how} than {run}"
            if mark in opposite:
                why = f"significantly {other} than {run}"
            yield one.finding("marker", f"{text} with {mark}", f"without {mark}", why)
        elif mark in right and mark not in found:
            why = f"significantly {how} than {run}"
            yield one.finding("marker", f"{text} without {mark}", f"with {mark}", why)
