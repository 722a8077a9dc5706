"""The numbers of a paper's table against what the results hold for them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Literal

import numpy as np

from ..core.metric import Metric
from ..core.study import Study
from ..errors import shorten
from ..reports.numbers import fixed
from ..reports.paper_table.build import Cells, mean
from ..reports.paper_table.marks import Signs
from ..reports.paper_table.model import Column
from ..reports.paper_table.settings import Settings
from ..stats.intervals import t_interval
from .check_table_match import Heading, Line, Match
from .table_grid import Cell, Printed, decimals, printed

_EXACT = Context(prec=1100)
_LEVEL = 0.05


def is_rounded(number: Decimal, digits: int, value: float, *, percent: bool = False) -> bool:
    """Whether a number with so many decimals is a value rounded, or the value itself.

    Where the value's shortest decimal form lies in the middle, both neighbours are right.

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
    """Return how a number went wrong in its last digit; nothing where it is another value.

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


FindingKind = Literal["digits", "rounding", "spread", "bold", "underline", "marker", "other"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong in a table.

    Parameters
    ----------
    kind : str
        ``digits`` (another value), ``rounding`` (the last digit), ``spread``, ``bold``,
        ``underline``, ``marker``, or ``other`` (n, rank, tier).
    line : int
        Of the file.
    row, column : str
        As the table calls them.
    found, right : str
        What is printed, and what is right.
    why : str
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
    """All that was found in one table, and what was looked at.

    Parameters
    ----------
    name : str
        The table's label, or its number in the file.
    line : int
    findings : list of Finding
    verified : Counter of str
        How many numbers, spreads, best values, second best values, marks were derived again.
    unknown : list of str
        Rows and columns that are no run and no metric.
    notes : list of str
        What was assumed, or could not be checked.
    has_caption : bool
        Whether it has one, whose claims are not checked.
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
    """One number of a table.

    Parameters
    ----------
    line : Line
    heading : Heading
    cell : Cell
    printed : Printed
    value : float
        What the results have; NaN where they have nothing.
    dataset : str or None
        None for the mean over datasets, and where it is not known.
    known : bool
        Whether it is known whose value it is.
    percent : bool
        Whether the column is x 100.
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
        """Whether what is printed is a value, rounded."""
        shown = self.printed
        return is_rounded(shown.number, shown.digits, value, percent=self.percent)

    def finding(self, kind: FindingKind, found: str, right: str, why: str) -> Finding:
        """Return a finding at its place."""
        line = self.cell.line
        return Finding(kind, line, self.line.text, self.heading.text, found, right, why)


def columns_of(match: Match, study: Study) -> Iterator[list[Entered]]:
    """Yield the numbers of each column of values."""
    columns = [one.column for one in match.headings if one.column is not None]
    datasets = list(dict.fromkeys(one.dataset for one in columns if one.dataset is not None))
    for place, heading in enumerate(match.headings):
        if not _has_values(heading):
            continue
        found = []
        votes = 0  # whether printed numbers are their values x 100
        for line in match.lines:
            cell = line.cells[place]
            if (number := printed(cell)) is not None:
                value, dataset, known = _value(line, heading, study, datasets or study.datasets)
                found.append(Entered(line, heading, cell, number, value, dataset, known))
                if known and value and number.number and not math.isnan(value):
                    votes += 1 if abs(float(number.number) / value) > 10 else -1
        yield [replace(one, percent=votes > 0) for one in found]


def _has_values(heading: Heading) -> bool:
    return heading.column is not None and heading.column.kind == "metric"


def unreadable(match: Match) -> Iterator[str]:
    """Yield what stands where a number of the results belongs, and cannot be read as one."""
    for place, heading in enumerate(match.headings):
        for line in match.lines if _has_values(heading) else ():
            cell = line.cells[place]
            has_digit = any(sign.isdigit() for sign in cell.whole)
            if line.run and has_digit and printed(cell) is None and not is_partial(cell):
                text = shorten(cell.whole, 60)
                yield f"{line.text}, {heading.text}: cannot read '{text}' as a number"


def is_partial(cell: Cell) -> bool:
    """Whether a cell says of how many datasets a mean would be, in place of it: ``– (1/2)``."""
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
    """Return a cell's value, its dataset, and whether it is known whose value it is."""
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


def check_number(
    one: Entered, columns: Sequence[Sequence[Entered]], study: Study
) -> Iterator[Finding]:
    """Yield what is wrong with a number, and whose value it is in truth."""
    shown = one.printed
    if math.isnan(one.value):
        yield one.finding("digits", shown.text, "none", "the results have no value there")
        return
    if one.is_value(one.value):
        return
    right = expected(one.value, shown.digits, percent=one.percent)
    has_zero = shown.text.lstrip("+-").startswith("0")
    text = f"{right:f}" if has_zero else as_text(right)
    computed = f"computed: {one.value * (100 if one.percent else 1):.8g}"
    slip = wrong_by(shown.number, shown.digits, one.value, percent=one.percent)
    if slip:
        yield one.finding("rounding", shown.text, text, f"{slip}; {computed}")
    else:
        other = _elsewhere(one, columns) or _of_the_run(one, study)
        owner = f"; that is the value of {other}" if other else ""
        yield one.finding("digits", shown.text, text, computed + owner)


def _elsewhere(one: Entered, columns: Sequence[Sequence[Entered]]) -> str:
    """Return whose value a wrong number is, where the same row or column has it."""
    digits = one.printed.digits
    for other in (other for column in columns for other in column):
        near = other.line is one.line or other.heading is one.heading
        same = other.known and other is not one and near and not math.isnan(other.value)
        if same and one.printed.number == expected(other.value, digits, percent=other.percent):
            return f"{other.line.text}, {other.heading.text}"
    return ""


def _of_the_run(one: Entered, study: Study) -> str:
    """Return which other value of the run a wrong number is: of a metric, a dataset, a seed."""
    if one.line.run is None or one.metric is None:
        return ""
    if len(one.printed.number.as_tuple().digits) < 2:  # one digit is a rounding of anything
        return ""
    datasets = sorted(study.datasets, key=lambda name: name != one.dataset)
    metrics = sorted(study.board.metrics, key=lambda metric: metric != one.metric)
    systems = [study.system(name, one.line.run) for name in datasets]
    here = [system for system in systems if system is not None]
    for system in here:
        for metric in metrics:
            value = system.value(metric)
            if math.isfinite(value) and one.is_value(value):
                return f"{metric} on {system.dataset}"
    for system in here:
        for entry in system.entries if len(system.entries) > 1 else ():
            value = entry.summary.get(str(one.metric), math.nan)
            if math.isfinite(value) and one.is_value(value):
                which = ", ".join(f"{name} {entry.columns.get(name)}" for name in system.varying)
                return f"{which} on {system.dataset}"
    return ""


def check_spread(one: Entered, study: Study, verdict: Verdict) -> None:
    """Check the deviation or interval beside a number, where the results have one."""
    beside = one.printed.beside
    if not beside or any(one.line.where):
        return
    known = list(_spreads(one, study, len(beside)))
    if not known:
        return
    verdict.verified["spreads"] += 1
    name, right, _ = known[0]
    why = f"{name} is right"
    for other, ends, is_meant in known:
        if len(beside) == len(ends) and all(
            is_rounded(number, decimals(number), end, percent=one.percent)
            for number, end in zip(beside, ends, strict=True)
        ):
            if is_meant:
                return
            why = f"it is {other}, not {name}"
            break
    rounded = [
        expected(end, decimals(number), percent=one.percent)
        for number, end in zip(beside, right, strict=True)
    ]
    verdict.findings.append(one.finding("spread", _shown(beside), _shown(rounded), why))


def _shown(beside: Sequence[Decimal]) -> str:
    texts = [as_text(number) for number in beside]
    return f"± {texts[0]}" if len(texts) == 1 else f"[{', '.join(texts)}]"


def _spreads(one: Entered, study: Study, n: int) -> Iterator[tuple[str, tuple[float, ...], bool]]:
    """Yield what may stand beside a value, and whether papers mean it, or mistake it for that."""
    metric, run = one.metric, one.line.run
    if metric is None or run is None:
        return
    at = Column("", "metric", "", one.dataset, metric)
    others = [] if one.dataset is not None else study.datasets
    columns = [at, *(Column("", "metric", "", name, metric) for name in others)]
    deviation, interval = (
        Cells(study, Settings(spread=how), Signs(), columns).column(at, [run])[0].ends
        for how in ("deviation", "interval")
    )
    if n == 2:
        if len(interval) == 2:
            yield "the interval over queries", interval, True
        return
    if deviation:
        yield "the deviation over repetitions", deviation, True
    if len(interval) == 2:
        yield "half of the interval over queries", ((interval[1] - interval[0]) / 2,), True
    system = study.system(one.dataset, run) if one.dataset is not None else None
    if system is None:
        return
    values = [entry.summary.get(str(metric), math.nan) for entry in system.entries]
    if len(values) > 1:
        yield "the deviation with n in place of n - 1", (float(np.std(values)),), False
        error = deviation[0] / math.sqrt(len(values))
        yield "the standard error over repetitions", (error,), False
    queries = system.values(metric)
    queries = queries[~np.isnan(queries)]
    if queries.size > 1:
        own = float(np.std(queries, ddof=1))
        yield "the deviation over queries", (own,), False
        yield "the standard error over queries", (own / math.sqrt(queries.size),), False
        low, high = t_interval(queries, _LEVEL)
        yield "half of the t interval", ((high - low) / 2,), False


def check_arrows(match: Match) -> Iterator[Finding]:
    """Yield the arrows of headings that point where it is worse."""
    arrows = {"higher": "↑", "lower": "↓"}
    for heading in match.headings:
        metric = None if heading.column is None else heading.column.metric
        direction = (metric and metric.definition.direction) or ""
        found = [arrow for arrow in arrows.values() if arrow in heading.text]
        if direction and found and arrows[direction] not in found:
            line = max(cell.line for row in match.grid.rows[: match.grid.header] for cell in row)
            right, why = arrows[direction], f"{direction} is better"
            yield Finding("other", line, "heading", heading.text, found[0], right, why)


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
                verdict.findings.append(
                    Finding("other", cell.line, line.text, heading.text, text, right)
                )


def _extra(match: Match, study: Study, heading: Heading, line: Line) -> str | None:
    """Return what a cell that is no value should say; None where that is not known."""
    column, dataset = heading.column, dataset_of(line, heading, study)
    if column is None or line.run is None:
        return None
    others = [one.column for one in match.headings if one.column is not None]
    if column.kind == "metric":
        datasets = {one.dataset for one in others} - {None} or study.datasets
        beside = [replace(column, dataset=name) for name in datasets]
        cell = Cells(study, Settings(), Signs(), beside).column(column, [line.run])[0]
        return f"{cell.text} ({cell.note})" if cell.note else cell.text
    if dataset is None:
        return None
    system = study.system(dataset, line.run)
    if system is not None and column.kind == "n" and column.metric is not None:
        return str(system.n(column.metric))
    at = Column("", column.kind, "", dataset, column.metric)
    beside = [
        Column("", "metric", "", dataset, one.metric)
        for one in others
        if one.kind == "metric" and one.dataset in (dataset, None)
    ]
    cell = Cells(study, Settings(), Signs(), [*beside, at]).column(at, [line.run])[0]
    return f"{cell.text} {cell.spread}".strip()


def _flat(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("--", "-").replace("–", "-").replace("−", "-"))
