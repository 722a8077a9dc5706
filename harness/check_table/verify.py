"""One table of a paper against a study: every number that can be matched, derived again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np

from ..core.study import Study
from ..stats.intervals import t_interval
from ..tables.cells import Cells
from ..tables.model import Column
from ..tables.settings import Settings
from ..tables.signs import Signs
from .best import check_best
from .findings import Finding, Verdict
from .marking import check_marks
from .match import Heading, Line, Match
from .numbers import number
from .printed import decimals
from .rounding import expected, is_rounded
from .values import Entered, as_text, columns_of, dataset_of, finding, is_partial, unreadable

_LEVEL = 0.05


def verify(match: Match, study: Study, name: str) -> Verdict:
    """Return what is wrong in a table, and how much of it was checked.

    Parameters
    ----------
    match : Match
        The table, its rows and columns recognised.
    study : Study
        With its comparisons, where it has any.
    name : str
        What the table is called.
    """
    verdict = Verdict(name, match.grid.line, unknown=[*match.unknown, *unreadable(match)])
    verdict.notes += match.notes
    verdict.has_caption = bool(match.grid.caption.strip())
    _trace(match, study, verdict)
    columns = [column for column in columns_of(match, study) if column]
    for column in columns:
        unsaid = {one.line.text for one in column if not one.known and one.line.run is not None}
        if unsaid:
            names = ", ".join(sorted(unsaid))
            verdict.unknown.append(
                f"column '{column[0].heading.text}': its dataset is not said (rows {names}); "
                "--dataset says it"
            )
        for one in column:
            if one.known:
                verdict.verified["numbers"] += 1
                verdict.findings += number(one, columns, study)
                verdict.findings += _spread(one, study, verdict)
    _note_unchecked([one for column in columns for one in column if one.known], verdict)
    verdict.findings += _arrows(match)
    verdict.findings += _extras(match, study, verdict)
    check_best(columns, study, verdict)
    check_marks(match, columns, study, verdict)
    verdict.findings.sort(key=lambda one: one.line)
    return verdict


def _note_unchecked(cells: Sequence[Entered], verdict: Verdict) -> None:
    """Note what stands beside numbers and was not checked."""
    remarks = [one for one in cells if one.printed.remark]
    if remarks:
        first = remarks[0]
        verdict.notes.append(
            f"{len(remarks)} in brackets not checked: {first.printed.remark} beside "
            f"{first.printed.text} of {first.line.text}, {first.heading.text}..."
        )
    n = sum(bool(one.printed.beside) for one in cells) - verdict.verified["spreads"]
    if n:
        verdict.notes.append(
            f"{n} not checked of what stands beside numbers: the results have no deviation or "
            "interval there"
        )


def _trace(match: Match, study: Study, verdict: Verdict) -> None:
    trace = match.grid.trace
    if trace and study.trace and trace != study.trace:
        verdict.notes.append(
            f"the table was made from other results: its manifest is {trace[:12]}..., that of "
            f"these is {study.trace[:12]}..."
        )


def _spread(one: Entered, study: Study, verdict: Verdict) -> Iterator[Finding]:
    beside = one.printed.beside
    if not beside or one.line.run is None or any(one.line.where):
        return
    known = dict(_spreads(one, study, len(beside)))
    if not known:
        return
    verdict.verified["spreads"] += 1
    for name, ends in known.items():
        if _agree(beside, ends, one.percent):
            if name in _MEANT:
                return
            usual, right = next(iter(known.items()))
            yield finding(
                one,
                "spread",
                _shown(beside),
                _ends(beside, right, one),
                f"it is {name}, not {usual}",
            )
            return
    name, ends = next(iter(known.items()))
    yield finding(one, "spread", _shown(beside), _ends(beside, ends, one), f"{name} is right")


_MEANT = (
    "the deviation over repetitions", "half of the interval over queries",
    "the interval over queries",
)  # fmt: skip


def _spreads(one: Entered, study: Study, n: int) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield what may stand beside a value: what papers mean first, then what they mistake."""
    column = one.heading.column
    if column is None or column.metric is None or one.line.run is None:
        return
    metric, run = column.metric, one.line.run
    at = Column("", "metric", "", one.dataset, metric)
    columns = [at]
    if one.dataset is None:
        columns += [Column("", "metric", "", name, metric) for name in study.datasets]
    deviation, interval = (
        Cells(study, Settings(spread=how), Signs(), columns).column(at, [run])[0].ends
        for how in ("deviation", "interval")
    )
    if n == 2:
        if len(interval) == 2:
            yield "the interval over queries", interval
        return
    if deviation:
        yield "the deviation over repetitions", deviation
    if len(interval) == 2:
        yield "half of the interval over queries", ((interval[1] - interval[0]) / 2,)
    system = study.system(one.dataset, run) if one.dataset is not None else None
    if system is None:
        return
    values = [entry.summary.get(str(metric), math.nan) for entry in system.entries]
    if len(values) > 1:
        yield "the deviation with n in place of n - 1", (float(np.std(values)),)
        yield "the standard error over repetitions", (deviation[0] / math.sqrt(len(values)),)
    queries = system.values(metric)
    queries = queries[~np.isnan(queries)]
    if queries.size > 1:
        own = float(np.std(queries, ddof=1))
        yield "the deviation over queries", (own,)
        yield "the standard error over queries", (own / math.sqrt(queries.size),)
        low, high = t_interval(queries, _LEVEL)
        yield "half of the t interval", ((high - low) / 2,)


def _agree(beside: Sequence[Decimal], ends: Sequence[float], percent: bool) -> bool:
    return len(beside) == len(ends) and all(
        is_rounded(number, decimals(number), value, percent=percent)
        for number, value in zip(beside, ends, strict=True)
    )


def _shown(beside: Sequence[Decimal]) -> str:
    texts = [as_text(number) for number in beside]
    return f"± {texts[0]}" if len(texts) == 1 else f"[{', '.join(texts)}]"


def _ends(beside: Sequence[Decimal], ends: Sequence[float], one: Entered) -> str:
    return _shown(
        [
            expected(value, decimals(number), percent=one.percent)
            for number, value in zip(beside, ends, strict=True)
        ]
    )


def _arrows(match: Match) -> Iterator[Finding]:
    """Yield the arrows of headings that point where it is worse."""
    arrows = {"higher": "↑", "lower": "↓"}
    for heading in match.headings:
        metric = None if heading.column is None else heading.column.metric
        right = arrows.get((metric and metric.definition.direction) or "")
        found = [arrow for arrow in arrows.values() if arrow in heading.text]
        if metric is not None and right and found and right not in found:
            line = max(cell.line for row in match.grid.rows[: match.grid.header] for cell in row)
            why = f"{metric.definition.direction} is better"
            yield Finding("other", line, "heading", heading.text, found[0], right, why)


def _extras(match: Match, study: Study, verdict: Verdict) -> Iterator[Finding]:
    """Yield what is wrong with n, ranks, tiers, coverage, and means of too few datasets."""
    for place, heading in enumerate(match.headings):
        column = heading.column
        if column is None:
            continue
        for line in match.lines:
            text = _flat(line.cells[place].whole)
            is_value = column.kind == "metric" and not is_partial(line.cells[place])
            if is_value or line.run is None or not text or any(line.where):
                continue
            right = _extra(match, study, heading, line)
            if right is None:
                continue
            verdict.verified["others"] += 1
            if text not in (_flat(right), _flat(right.partition(" ")[0])):
                yield Finding("other", line.cells[place].line, line.text, heading.text, text, right)


def _extra(match: Match, study: Study, heading: Heading, line: Line) -> str | None:
    column, dataset = heading.column, dataset_of(line, heading, study)
    if column is not None and column.kind == "metric" and line.run is not None:
        of = {one.column.dataset for one in match.headings if one.column is not None} - {None}
        columns = [replace(column, dataset=name) for name in of or study.datasets]
        cell = Cells(study, Settings(), Signs(), columns).column(column, [line.run])[0]
        return f"{cell.text} ({cell.note})" if cell.note else cell.text
    if column is None or dataset is None or line.run is None:
        return None
    system = study.system(dataset, line.run)
    if system is not None and column.kind == "n" and column.metric is not None:
        return str(system.n(column.metric))
    at = Column("", column.kind, "", dataset, column.metric)
    others = [one.column for one in match.headings if one.column is not None]
    beside = [
        Column("", "metric", "", dataset, one.metric)
        for one in others
        if one.kind == "metric" and one.dataset in (dataset, None)
    ]
    cell = Cells(study, Settings(), Signs(), [*beside, at]).column(at, [line.run])[0]
    return f"{cell.text} {cell.spread}".strip()


def _flat(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("--", "-").replace("–", "-").replace("−", "-"))
