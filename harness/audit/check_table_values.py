"""The numbers of a paper's table, their spreads and marks, against the results."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Literal

import numpy as np

from ..core.metric import Metric
from ..core.study import Study
from ..core.systems import NOT_COMPARABLE, System
from ..errors import shorten
from ..reports.numbers import fixed
from ..reports.paper_table.build import Cells, mean, over_same_queries
from ..reports.paper_table.marks import FEWEST_FOR_SECOND, Signs, best_and_second, dagger
from ..reports.paper_table.model import Column
from ..reports.paper_table.settings import Settings
from ..stats.intervals import t_interval
from .check_table_match import Heading, Line, Match
from .table_grid import SYMBOLS, Cell, Printed, decimals, printed

_EXACT = Context(prec=1100)
_LEVEL = 0.05
FindingKind = Literal["digits", "rounding", "spread", "bold", "underline", "marker", "other"]


def is_rounded(number: Decimal, digits: int, value: float, *, percent: bool = False) -> bool:
    """Whether a number is a value rounded to so many decimals, or the value itself.

    If the value's shortest decimal form lies in the middle, both neighbours are right.

    >>> is_rounded(Decimal(".424"), 3, 0.4237), is_rounded(Decimal(".423"), 3, 0.4237)
    (True, False)
    >>> is_rounded(Decimal(".13"), 2, 0.125), is_rounded(Decimal(".12"), 2, 0.125)
    (True, True)
    """
    if math.isnan(value):
        return False
    exact = _exact(value, percent)
    return number in (expected(value, digits, percent=percent), exact, _half_up(exact, digits))


def expected(value: float, digits: int, *, percent: bool = False) -> Decimal:
    """Return a value with so many decimals."""
    return Decimal(fixed(value, digits, percent=percent))


def wrong_by(number: Decimal, digits: int, value: float, *, percent: bool = False) -> str:
    """Return how a number went wrong in its last digit; nothing if it is another value.

    >>> wrong_by(Decimal(".423"), 3, 0.4237), wrong_by(Decimal(".431"), 3, 0.4237)
    ('cut off, not rounded', '')
    >>> wrong_by(Decimal(".425"), 3, 0.42446)
    'rounded twice'
    """
    exact = _exact(value, percent)
    unit = Decimal(1).scaleb(-digits)
    if number == exact.quantize(unit, ROUND_DOWN, _EXACT):
        return "cut off, not rounded"
    if number in [_half_up(_half_up(exact, digits + more), digits) for more in (1, 2)]:
        return "rounded twice"
    return "the last digit is off by one" if abs(number - exact) < unit else ""


def _exact(value: float, percent: bool) -> Decimal:
    number = Decimal(repr(value))
    return number.scaleb(2) if percent else number


def _half_up(number: Decimal, digits: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _EXACT)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong in a table, at a line of the file: what is printed and what is right.

    `kind` is ``digits`` for another value, ``rounding`` for the last digit, ``other`` for n, rank
    and tier.
    """

    kind: FindingKind
    line: int
    row: str
    column: str
    found: str
    right: str
    why: str = ""


@dataclass
class Verdict:
    """What is wrong in one table, and what was checked.

    `verified` counts numbers, spreads, best values and marks; `unknown` lists rows and columns that
    are no run and no metric, `notes` what was assumed or not checked.
    """

    name: str
    line: int
    findings: list[Finding] = field(default_factory=list)
    verified: Counter[str] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    has_caption: bool = False


@dataclass(frozen=True, eq=False)
class Entered:
    """One number of a table, and its `value` in the results; NaN if there is none.

    `known` is whether its run and dataset are known; `dataset` is None for the mean over several.
    `percent` is whether the column is x 100.
    """

    line: Line
    heading: Heading
    cell: Cell
    printed: Printed
    value: float
    dataset: str | None
    known: bool
    percent: bool = False

    @property
    def metric(self) -> Metric | None:
        """The metric of its column."""
        return None if self.heading.column is None else self.heading.column.metric

    def is_value(self, value: float) -> bool:
        """Whether the number is a value, rounded."""
        shown = self.printed
        return is_rounded(shown.number, shown.digits, value, percent=self.percent)

    def expected(self, digits: int) -> Decimal:
        """Return the value with so many decimals."""
        return expected(self.value, digits, percent=self.percent)

    def finding(self, kind: FindingKind, found: str, right: str, why: str) -> Finding:
        """Return a finding at its place."""
        where = self.cell.line, self.line.text, self.heading.text
        return Finding(kind, *where, found, right, why)


Numbers = Sequence[Entered]
"""The numbers of one column."""


def columns_of(match: Match, study: Study) -> Iterator[list[Entered]]:
    """Yield the numbers of each column of values."""
    columns = [one.column for one in match.headings if one.column is not None]
    datasets = list(dict.fromkeys(one.dataset for one in columns if one.dataset is not None))
    for place, heading in enumerate(match.headings):
        if not _has_values(heading):
            continue
        numbers = []
        votes = 0  # whether printed numbers are their values x 100
        for line in match.lines:
            cell = line.cells[place]
            if (number := printed(cell)) is not None:
                value, dataset, known = _value(line, heading, study, datasets or study.datasets)
                numbers.append(Entered(line, heading, cell, number, value, dataset, known))
                if known and value and number.number and not math.isnan(value):
                    votes += 1 if abs(float(number.number) / value) > 10 else -1
        yield [replace(one, percent=votes > 0) for one in numbers]


def _has_values(heading: Heading) -> bool:
    return heading.column is not None and heading.column.kind == "metric"


def unreadable(match: Match) -> Iterator[str]:
    """Yield the cells with digits that should be numbers of the results, and are not."""
    for place, heading in enumerate(match.headings):
        for line in match.lines if _has_values(heading) else ():
            cell = line.cells[place]
            has_digit = any(map(str.isdigit, cell.whole))
            if line.run and has_digit and printed(cell) is None and not is_partial(cell):
                text = shorten(cell.whole, 60)
                yield f"{line.text}, {heading.text}: cannot read '{text}' as a number"


def is_partial(cell: Cell) -> bool:
    """Whether a cell has the number of datasets in place of their mean: ``– (1/2)``."""
    return re.fullmatch(r"[–—-]{1,3}\s*\(\d+/\d+\)", cell.whole) is not None


def dataset_of(line: Line, heading: Heading, study: Study) -> str | None:
    """Return the dataset of a cell: its column's, its row's, or the only one of its run."""
    if heading.column is not None and heading.column.dataset is not None:
        return heading.column.dataset
    if line.dataset is not None:
        return line.dataset
    has = [name for name in study.datasets if line.run and study.system(name, line.run)]
    return has[0] if len(has) == 1 else None


def _value(
    line: Line, heading: Heading, study: Study, datasets: Sequence[str]
) -> tuple[float, str | None, bool]:
    """Return a cell's value, its dataset, and whether its run and dataset are known."""
    column = heading.column
    if line.run is None or column is None or column.metric is None:
        return math.nan, None, False
    if heading.has_dataset and column.dataset is None:
        return mean(study, line.run, column.metric, datasets), None, True
    dataset = dataset_of(line, heading, study)
    if dataset is None:
        return math.nan, None, False
    system = study.system(dataset, line.run)
    if system is None:
        return math.nan, dataset, True
    if not line.where:
        return system.value(column.metric), dataset, True
    values = [
        one.summary.get(str(column.metric), math.nan)
        for one in system.entries
        if all(one.columns.get(name, text) == text for name, text in line.where)
    ]
    return math.fsum(values) / len(values) if values else math.nan, dataset, bool(values)


def as_text(number: Decimal) -> str:
    """Return a number as papers print it.

    >>> as_text(Decimal("0.424")), as_text(Decimal("42.4"))
    ('.424', '42.4')
    """
    return re.sub(r"^(-?)0\.", r"\1.", f"{number:f}")


def check_number(one: Entered, columns: Sequence[Numbers], study: Study) -> Iterator[Finding]:
    """Yield what is wrong with a number, and which other value it is."""
    shown = one.printed
    if math.isnan(one.value):
        yield one.finding("digits", shown.text, "none", "the results have no value there")
        return
    if one.is_value(one.value):
        return
    right = one.expected(shown.digits)
    text = f"{right:f}" if shown.text.lstrip("+-").startswith("0") else as_text(right)
    computed = f"computed: {one.value * (100 if one.percent else 1):.8g}"
    slip = wrong_by(shown.number, shown.digits, one.value, percent=one.percent)
    if slip:
        yield one.finding("rounding", shown.text, text, f"{slip}; {computed}")
    else:
        other = next(_owners(one, columns, study), "")
        owner = f"; that is the value of {other}" if other else ""
        yield one.finding("digits", shown.text, text, computed + owner)


def _owners(one: Entered, columns: Sequence[Numbers], study: Study) -> Iterator[str]:
    """Yield whose value a wrong number is: of its row or column, or of its run."""
    digits = one.printed.digits
    for other in (other for column in columns for other in column):
        is_near = other.line is one.line or other.heading is one.heading
        has_value = other.known and other is not one and not math.isnan(other.value)
        if is_near and has_value and one.printed.number == other.expected(digits):
            yield f"{other.line.text}, {other.heading.text}"
    if one.line.run is None or len(one.printed.number.as_tuple().digits) < 2:
        return  # one digit is a rounding of anything
    datasets = sorted(study.datasets, key=lambda name: name != one.dataset)
    metrics = sorted(study.board.metrics, key=lambda metric: metric != one.metric)
    systems = [system for name in datasets if (system := study.system(name, one.line.run))]
    for system in systems:
        for metric in metrics:
            if math.isfinite(value := system.value(metric)) and one.is_value(value):
                yield f"{metric} on {system.dataset}"
    for system in systems:
        for entry in system.entries if len(system.entries) > 1 else ():
            value = entry.summary.get(str(one.metric), math.nan)
            if math.isfinite(value) and one.is_value(value):
                which = ", ".join(f"{name} {entry.columns.get(name)}" for name in system.varying)
                yield f"{which} on {system.dataset}"


def check_spread(one: Entered, study: Study, verdict: Verdict) -> None:
    """Check the deviation or interval next to a number, if the results have one."""
    spread, metric, run = one.printed.spread, one.metric, one.line.run
    if not spread or any(one.line.where) or metric is None or run is None:
        return
    at = Column("", "metric", "", one.dataset, metric)
    others = [] if one.dataset is not None else study.datasets
    columns = [at, *(Column("", "metric", "", name, metric) for name in others)]
    deviation, interval = (
        Cells(study, Settings(spread=how), Signs(), columns).column(at, [run])[0].ends
        for how in ("deviation", "interval")
    )
    right: dict[str, tuple[float, ...]] = {}
    if len(spread) == 2:
        right = {"the interval over queries": interval} if len(interval) == 2 else {}
    else:
        right = {"the deviation over repetitions": deviation} if deviation else {}
        if len(interval) == 2:
            right["half of the interval over queries"] = ((interval[1] - interval[0]) / 2,)
    if not right:
        return
    verdict.verified["spreads"] += 1

    def is_shown(ends: tuple[float, ...]) -> bool:
        return len(spread) == len(ends) and all(
            is_rounded(number, decimals(number), end, percent=one.percent)
            for number, end in zip(spread, ends, strict=True)
        )

    if any(map(is_shown, right.values())):
        return
    system = study.system(one.dataset, run) if one.dataset is not None else None
    mistakes = _mistakes(system, metric) if system is not None and len(spread) == 1 else {}
    name, ends = next(iter(right.items()))
    other = next((other for other, value in mistakes.items() if is_shown((value,))), "")
    rounded = [
        expected(end, decimals(number), percent=one.percent)
        for number, end in zip(spread, ends, strict=True)
    ]
    why = f"it is {other}, not {name}" if other else f"{name} is right"
    verdict.findings.append(one.finding("spread", _shown(spread), _shown(rounded), why))


def _shown(spread: Sequence[Decimal]) -> str:
    texts = [as_text(number) for number in spread]
    return f"± {texts[0]}" if len(texts) == 1 else f"[{', '.join(texts)}]"


def _mistakes(system: System, metric: Metric) -> dict[str, float]:
    """Return what papers print in place of a deviation, by its name."""
    mistakes = {}
    values = [entry.summary.get(str(metric), math.nan) for entry in system.entries]
    if len(values) > 1:
        mistakes["the deviation with n in place of n - 1"] = float(np.std(values))
        error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
        mistakes["the standard error over repetitions"] = error
    queries = system.values(metric)
    queries = queries[~np.isnan(queries)]
    if queries.size > 1:
        own = float(np.std(queries, ddof=1))
        mistakes["the deviation over queries"] = own
        mistakes["the standard error over queries"] = own / math.sqrt(queries.size)
        low, high = t_interval(queries, _LEVEL)
        mistakes["half of the t interval"] = (high - low) / 2
    return mistakes


def check_arrows(match: Match) -> Iterator[Finding]:
    """Yield the arrows of headings that point where it is worse."""
    arrows = {"higher": "↑", "lower": "↓"}
    for heading in match.headings:
        metric = None if heading.column is None else heading.column.metric
        direction = (metric and metric.definition.direction) or ""
        shown = [arrow for arrow in arrows.values() if arrow in heading.text]
        if direction and shown and arrows[direction] not in shown:
            line = max(cell.line for row in match.grid.rows[: match.grid.header] for cell in row)
            right, why = arrows[direction], f"{direction} is better"
            yield Finding("other", line, "heading", heading.text, shown[0], right, why)


def check_extras(match: Match, study: Study, verdict: Verdict) -> None:
    """Check n, ranks, tiers, coverage, and means of too few datasets."""
    for place, heading in enumerate(match.headings):
        for line in match.lines:
            cell = line.cells[place]
            text = _flat(cell.whole)
            is_number = _has_values(heading) and not is_partial(cell)
            if is_number or not text or any(line.where):
                continue
            right = _extra(match, study, heading, line)
            if right is None:
                continue
            verdict.verified["others"] += 1
            if text not in (_flat(right), _flat(right.partition(" ")[0])):
                where = cell.line, line.text, heading.text
                verdict.findings.append(Finding("other", *where, text, right))


def _extra(match: Match, study: Study, heading: Heading, line: Line) -> str | None:
    """Return the right text of a cell that is not a value; None if that is not known."""
    column, dataset = heading.column, dataset_of(line, heading, study)
    if column is None or line.run is None:
        return None
    others = [one.column for one in match.headings if one.column is not None]
    if column.kind == "metric":
        datasets = {one.dataset for one in others} - {None} or study.datasets
        columns = [replace(column, dataset=name) for name in datasets]
        cell = Cells(study, Settings(), Signs(), columns).column(column, [line.run])[0]
        return f"{cell.text} ({cell.note})" if cell.note else cell.text
    if dataset is None:
        return None
    system = study.system(dataset, line.run)
    if system is not None and column.kind == "n" and column.metric is not None:
        return str(system.n(column.metric))
    at = Column("", column.kind, "", dataset, column.metric)
    columns = [
        Column("", "metric", "", dataset, one.metric)
        for one in others
        if one.kind == "metric" and one.dataset in (dataset, None)
    ]
    cell = Cells(study, Settings(), Signs(), [*columns, at]).column(at, [line.run])[0]
    return f"{cell.text} {cell.spread}".strip()


def _flat(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("--", "-").replace("–", "-").replace("−", "-"))


What = Literal["bold", "underline"]
_NAMES: dict[What, tuple[str, str]] = {
    "bold": ("bold", "best"), "underline": ("underlined", "second best"),
}  # fmt: skip
_DIGITS = (None, 3, 4, 2, 1, 0, 5, 6)
"""Decimals that the best values of unrounded numbers may go by, the likeliest first; None: all."""
_NO_SYSTEM = re.compile(
    r"\W*(?:[Δ∆#%]|(?:delta|diff|differences?|(?:rel\w*\.?|abs\w*\.?)?\s*improvements?|gain|lift"
    r"|change|queries|topics|number of|std|sd|stdev|standard (?:dev|err)\w*|average|avg|mean"
    r"|(?:adj\w*\.? )?p\W?values?|significance|t\W?test|effect(?: size)?)\b|[npt]\W*$)",
    re.IGNORECASE,
)
"""How the name of a row begins that is not a system."""


def check_best(columns: Sequence[Numbers], study: Study, verdict: Verdict) -> None:
    """Check bold and underlined, over all rows or by group: whichever has fewer mistakes.

    Each is checked if the table has any of it. Columns over different queries are not checked.
    Rows of other systems take part; rows that are no systems do not.
    """
    used = [what for what in _NAMES if any(_has(one, what) for some in columns for one in some)]
    columns = [one for one in columns if used and _is_fair(one, study, verdict)]
    for what in used:
        n = sum(_has(one, what) for column in columns for one in column if one.known)
        verdict.verified[f"{_NAMES[what][1]} values"] += n
    columns = _of_systems(columns, verdict) if used else []
    whole = [finding for column in columns for finding in _wrong_marks(column, used)]
    parts = [
        finding
        for column in columns
        for part in _grouped(column, lambda one: one.line.group)
        if len(part) > 1
        for finding in _wrong_marks(part, used)
    ]
    verdict.findings += parts if len(parts) < len(whole) else whole
    if len(parts) < len(whole):
        verdict.notes.append("best values: checked within each group of rows")


def _has(one: Entered, what: What) -> bool:
    return one.cell.bold if what == "bold" else one.cell.underlined


def _grouped(cells: Numbers, key: Callable[[Entered], object]) -> list[list[Entered]]:
    groups: dict[object, list[Entered]] = {}
    for one in cells:
        groups.setdefault(key(one), []).append(one)
    return list(groups.values())


def _is_fair(column: Numbers, study: Study, verdict: Verdict) -> bool:
    """Whether the values of a column are over the same queries; a note if not."""
    known = [one for one in column if one.known and one.line.run is not None]
    metric = known[0].metric if known else None
    if metric is None or metric.definition.direction is None:
        return True
    for some in _grouped(known, lambda one: one.dataset):
        name, runs = some[0].dataset, [str(one.line.run) for one in some]
        if not over_same_queries(study, runs, metric, study.datasets if name is None else [name]):
            text = column[0].heading.text
            verdict.notes.append(f"column '{text}': {NOT_COMPARABLE}; its marks are not checked")
            return False
    return True


def _of_systems(columns: Sequence[Numbers], verdict: Verdict) -> list[list[Entered]]:
    """Return the columns without the rows that are no systems, each with a note."""
    cells = [one for column in columns for one in column]
    skipped = []
    for line in dict.fromkeys(one.line for one in cells if one.line.run is None):
        if why := _why_no_system(line, [one for one in cells if one.line is line]):
            skipped.append(line)
            verdict.notes.append(f"row '{line.text}' takes no part in the best values: {why}")
    systems = [[one for one in column if one.line not in skipped] for column in columns]
    return [column for column in systems if column]


def _why_no_system(line: Line, cells: Numbers) -> str:
    """Return why the numbers of a row cannot be a system's; nothing if they can be."""
    if _NO_SYSTEM.match(line.text):
        return "by its name it is not a system"
    for one in cells:
        if one.metric is None:
            continue
        where = f"{one.cell.whole} in {one.heading.text}"
        low, high = one.metric.definition.bounds
        if one.cell.text.startswith("+"):
            return f"{where} has a sign, as differences have"
        if one.printed.is_percent and not one.percent:
            return f"{where} is in percent, unlike the other rows"
        if not low <= float(one.printed.number) / (100 if one.percent else 1) <= high:
            return f"{where} is not a value of {one.metric}"
    return ""


def _wrong_marks(column: Numbers, used: Sequence[What]) -> Iterator[Finding]:
    """Yield what is wrong in one column; each dataset in it has a best value of its own."""

    def dataset(one: Entered) -> str | None:
        own = None if one.heading.column is None else one.heading.column.dataset
        return one.dataset or own or one.line.dataset

    for cells in _grouped(column, dataset):
        known = [one for one in cells if one.known and one.printed.digits]
        digits: Sequence[int | None] = _DIGITS
        if not known or any(one.printed.number != Decimal(repr(one.value)) for one in known):
            digits = [Counter(one.printed.digits for one in cells).most_common(1)[0][0]]
        ways = [list(_at_digits(cells, used, n)) for n in digits]
        yield from min(ways, key=bool)  # the first without mistakes, or else the first


def _at_digits(cells: Numbers, used: Sequence[What], digits: int | None) -> Iterator[Finding]:
    metric = cells[0].metric
    if metric is None:
        return
    texts = [_text(one, digits) for one in cells]
    best, second = best_and_second(texts, metric.definition.direction)
    for what in used:
        chosen = best if what == "bold" else second
        marked = {at for at, one in enumerate(cells) if _has(one, what)}
        if what == "underline" and (len(cells) < FEWEST_FOR_SECOND or len(best) > 1):
            # Among two, and if two share the best value, a mark of the second best is optional.
            marked -= set(range(len(cells))) - best if len(cells) < FEWEST_FOR_SECOND else second
            chosen = set()
        word, name = _NAMES[what]
        for at, one in enumerate(cells):
            if not one.known or (at in chosen) == (at in marked):
                continue
            if at in marked:
                others = ", ".join(cells[other].line.text for other in sorted(chosen))
                why = f"the {name}: {others}" if others else f"it is not {name}"
                yield one.finding(what, f"{one.printed.text} {word}", f"not {word}", why)
            else:
                alike = [cells[other] for other in sorted(chosen & marked)]
                why = _why_marked(one, alike, name, texts[at])
                yield one.finding(what, f"{one.printed.text} not {word}", word, why)


def _text(one: Entered, digits: int | None) -> str:
    if not one.known:
        return str(one.printed.number)
    if digits is None:
        return str(Decimal(repr(one.value)))
    return fixed(one.value, digits, percent=one.percent, leading_zero=True)


def _why_marked(one: Entered, alike: Numbers, name: str, text: str) -> str:
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


def check_significance(
    match: Match, columns: Sequence[Numbers], study: Study, verdict: Verdict
) -> None:
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
    has_lowered = any(one.printed.lowered for one in cells)
    is_long = any(len(sign) > 1 for sign in signs.of.values())
    by_commas = is_long and any(len(one.printed.raised) > 1 for one in cells)
    for one in cells:
        if not one.known or one.line.run is None or one.line.where:
            continue
        above, below = one.printed.marks, one.printed.lowered
        verdict.verified["marks"] += len(above) + len(below)
        better: tuple[str, ...] = ()
        worse: tuple[str, ...] = ()
        if one.dataset is not None:
            better, worse = signs.beside(one.dataset, str(one.metric), one.line.run)
        if by_commas:  # such as a,b,aa
            above = one.printed.raised
        if "".join(one.printed.raised) == "".join(better):  # aa without commas
            above = better
        verdict.findings += _differing(one, above, better, worse, signs)
        if has_lowered:
            verdict.findings += _differing(one, below, worse, better, signs, "worse", "better")


def _signs(match: Match, used: Sequence[str], study: Study, verdict: Verdict) -> Signs | None:
    """Return which system each mark stands for: as rows say, or else the baselines in order."""
    comparisons = study.comparisons
    if comparisons is None:
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
        baselines = [run for run in comparisons.plan.baselines if run not in of]
        are_levels = any(len(sign) > 1 and len(set(sign)) == 1 for sign in symbols)  # ** or ***
        if are_levels or len(symbols) > len(baselines):
            n = f"the number of baselines is {len(baselines)}"
            verdict.notes.append(f"marks {' '.join(symbols)} {unsaid}, and {n}")
            return None
        taken = dict(zip(baselines, symbols, strict=False))
        of |= taken
        pairs = ", ".join(f"{sign} = {run}" for run, sign in taken.items())
        verdict.notes.append(f"marks taken as: {pairs}")
    elif letters and not set("".join(letters)) <= set("".join(of.values())):
        verdict.notes.append(f"marks {' '.join(letters)} {unsaid}")
        return None
    return Signs("daggers" if symbols else "letters", of, comparisons)


def _differing(
    one: Entered, marks: Sequence[str], right: Sequence[str], opposite: Sequence[str],
    signs: Signs, how: str = "better", other: str = "worse",
) -> Iterator[Finding]:  # fmt: skip
    """Yield the marks that are too many or too few; `opposite` are right for the `other` way."""
    of = {sign: run for run, sign in signs.of.items()}
    text = one.printed.text
    for mark in dict.fromkeys((*marks, *right)):
        run = of.get(mark, mark)
        if mark not in right:
            way = f"significantly {other}" if mark in opposite else f"not significantly {how}"
            yield one.finding(
                "marker", f"{text} with {mark}", f"without {mark}", f"{way} than {run}"
            )
        elif mark not in marks:
            why = f"significantly {how} than {run}"
            yield one.finding("marker", f"{text} without {mark}", f"with {mark}", why)
