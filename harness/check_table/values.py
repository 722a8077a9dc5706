"""The cells of a table beside what the results hold for them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..core.study import Study
from ..errors import shorten
from ..tables.rows import mean
from .findings import Finding, Kind
from .grid import Cell
from .match import Heading, Line, Match
from .printed import Printed, printed
from .rounding import is_percent


@dataclass(frozen=True, eq=False)
class Entered:
    """One number of a table.

    Parameters
    ----------
    line : Line
    heading : Heading
    place : int
        Its column.
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
    place: int
    printed: Printed
    value: float
    dataset: str | None
    known: bool
    percent: bool = False

    @property
    def metric(self) -> Metric | None:
        """The metric of its column."""
        return None if self.heading.column is None else self.heading.column.metric


def columns_of(match: Match, study: Study) -> Iterator[list[Entered]]:
    """Yield the numbers of each column of values."""
    datasets = _datasets(match)
    for place, heading in enumerate(match.headings):
        if heading.column is None or heading.column.kind != "metric":
            continue
        found = []
        for line in match.lines:
            number = printed(line.cells[place])
            if number is not None:
                value, dataset, known = _value(line, heading, study, datasets)
                found.append(Entered(line, heading, place, number, value, dataset, known))
        yield list(_scaled(found))


def unreadable(match: Match) -> Iterator[str]:
    """Yield what stands where a number of the results belongs, and cannot be read as one."""
    for place, heading in enumerate(match.headings):
        for line in match.lines:
            text = line.cells[place].whole
            is_value = heading.column is not None and heading.column.kind == "metric"
            has_digit = any(sign.isdigit() for sign in text)
            is_read = printed(line.cells[place]) is not None or is_partial(line.cells[place])
            if is_value and line.run and has_digit and not is_read:
                yield f"{line.text}, {heading.text}: cannot read '{shorten(text, 60)}' as a number"


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


def _datasets(match: Match) -> list[str]:
    columns = [one.column for one in match.headings if one.column is not None]
    found = [column.dataset for column in columns if column.dataset is not None]
    return list(dict.fromkeys(found))


def _value(
    line: Line, heading: Heading, study: Study, datasets: Sequence[str]
) -> tuple[float, str | None, bool]:
    """Return a cell's value, its dataset, and whether it is known whose value it is."""
    metric = None if heading.column is None else heading.column.metric
    if line.run is None or metric is None:
        return math.nan, None, False
    if heading.has_dataset and heading.column is not None and heading.column.dataset is None:
        over = datasets or list(study.datasets)
        return mean(study, line.run, metric, over), None, True
    dataset = dataset_of(line, heading, study)
    if dataset is None:
        return math.nan, None, False
    system = study.system(dataset, line.run)
    if system is None:
        return math.nan, dataset, True
    if not line.where:
        return system.value(metric), dataset, True
    entries = [one for one in system.entries if _is_at(one, line.where)]
    values = [one.summary.get(str(metric), math.nan) for one in entries]
    return math.fsum(values) / len(values) if values else math.nan, dataset, bool(values)


def _is_at(entry: Entry, where: Iterable[tuple[str, str]]) -> bool:
    return all(entry.columns.get(name, text) == text for name, text in where)


def _scaled(cells: Sequence[Entered]) -> Iterator[Entered]:
    percent = is_percent([(one.printed.number, one.value) for one in cells if one.known])
    for one in cells:
        yield replace(one, percent=percent)


def finding(one: Entered, kind: Kind, found: str, right: str, why: str) -> Finding:
    """Return a finding at a number's place."""
    line = one.line.cells[one.place].line
    return Finding(kind, line, one.line.text, one.heading.text, found, right, why)


def as_text(number: Decimal) -> str:
    """Return a number as papers print it.

    >>> as_text(Decimal("0.424")), as_text(Decimal("42.4"))
    ('.424', '42.4')
    """
    text = f"{number:f}"
    sign = "-" * text.startswith("-")
    rest = text.removeprefix("-")
    return sign + (rest[1:] if rest.startswith("0.") else rest)
