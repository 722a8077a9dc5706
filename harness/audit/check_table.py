"""``harness check-table``: each number, spread and mark of a paper's tables against the results."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import Any, Literal

from ..core.entries import grouped_by
from ..core.metric import Metric
from ..core.names import NOT_COMPARABLE
from ..errors import (
    HarnessError,
    InputError,
    Problem,
    UnknownNameError,
    check_known,
    counted,
    did_you_mean,
    shorten,
)
from ..experiment.results import Results, read_results, with_comparisons
from ..reports.grid import Grid, facts_at
from ..reports.leaderboard import Study
from ..reports.paper_table.build import TableDraft, mean, over_same_queries
from ..reports.paper_table.model import (
    FEWEST_FOR_SECOND,
    PaperColumn,
    Signs,
    best_and_second,
    dagger,
)
from ..reports.paper_table.settings import TableSettings
from ..reports.phrases import fixed
from ..reports.select import metric_spellings
from ..stats.comparison import Plan
from . import latex_tables, printed_tables
from .printed_tables import SYMBOLS, Printed, PrintedCell, PrintedTable, decimals, marks_of, printed
from .table_names import Heading, Known, Match, TableLine, match

FindingKind = Literal["digits", "rounding", "spread", "bold", "underline", "marker", "other"]
Mark = Literal["bold", "underline"]
_MARKS: dict[Mark, tuple[str, str]] = {
    "bold": ("bold", "best"), "underline": ("underlined", "second best"),
}  # fmt: skip
_DIGITS = (None, 3, 4, 2, 1, 0, 5, 6)
"""Decimals that best values of unrounded numbers may follow from; None for all."""
_NO_SYSTEM = re.compile(
    r"\W*(?:[Δ∆#%]|(?:delta|diff|differences?|(?:rel|abs)?\w*\.?\s*improvements?|gain|change|queries"
    r"|number of|std|sd|average|avg|mean|(?:adj\w*\.? )?p\W?values?|t\W?test|effect)\b|[npt]\W*$)",
    re.IGNORECASE,
)
"""How the name of a row begins that holds differences or counts, not a system."""
_NO_MEAN = re.compile(r"[–—-]{1,3}\s*\(\d+/\d+\)")
"""A mean over datasets that is missing: ``– (1/2)``."""
_EXACT = Context(prec=1100)


@dataclass(frozen=True)
class PrintedMistake:
    """One mistake at a line of the file: the printed text (`found`) and the right one."""

    kind: FindingKind
    line: int
    row: str
    column: str
    found: str
    right: str
    why: str = ""


@dataclass(frozen=True, eq=False)
class Number:
    """One number of a table, and its `value` in the results; NaN if there is none.

    `known` is whether its run and dataset are known; `dataset` is None for the mean over several.
    `percent` is whether the column is x 100.
    """

    line: TableLine
    heading: Heading
    cell: PrintedCell
    printed: Printed
    metric: Metric | None
    value: float
    dataset: str | None
    known: bool
    percent: bool = False

    def has(self, mark: Mark) -> bool:
        """Whether the number is bold or underlined."""
        return self.cell.bold if mark == "bold" else self.cell.underlined

    def finding(self, kind: FindingKind, found: str, right: str, why: str) -> PrintedMistake:
        """Return a finding at its place."""
        where = self.cell.line, self.line.text, self.heading.text
        return PrintedMistake(kind, *where, found, right, why)


@dataclass(eq=False)
class TableCheck:
    """The check of one table against results.

    `verified` counts numbers, spreads, best values and marks; `unknown` lists rows and columns
    that match no run and no metric, `notes` the assumptions and what was not checked.
    """

    match: Match
    study: Study
    name: str
    findings: list[PrintedMistake] = field(default_factory=list)
    verified: Counter[str] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def line(self) -> int:
        """The line of the file that the table begins on."""
        return self.match.grid.line

    def run(self) -> TableCheck:
        """Check everything that the results know, and return the check."""
        self.unknown += self.match.unknown
        columns = self._numbers()
        for column in columns:
            rows = {one.line.text for one in column if not one.known and one.line.run is not None}
            if rows:
                what = f"its dataset is not known (rows {', '.join(sorted(rows))}); give --dataset"
                self.unknown.append(f"column '{column[0].heading.text}': {what}")
        known = [one for column in columns for one in column if one.known]
        self.verified["numbers"] += len(known)
        for one in known:
            self.findings += _check_number(one)
            self._check_spread(one)
        if n := sum(bool(one.printed.remark) for one in known):
            self.notes.append(f"{counted(n, 'remark')} in brackets not checked")
        if n := sum(bool(one.printed.spread) for one in known) - self.verified["spreads"]:
            why = "the results have no deviation or interval there"
            self.notes.append(f"{counted(n, 'spread')} not checked: {why}")
        self._check_extras()
        self._check_best(columns)
        self._check_significance(columns)
        self.findings.sort(key=lambda one: one.line)
        return self

    def _numbers(self) -> list[list[Number]]:
        """Return the numbers of each column of values; columns without numbers are left out.

        Cells with digits that cannot be read as a number are unknown to this check.
        """
        named = dict.fromkeys(one.column.dataset for one in self.match.headings if one.column)
        datasets = [name for name in named if name is not None] or self.study.datasets
        columns = []
        for place, heading in enumerate(self.match.headings):
            numbers, column = [], heading.column
            for line in self.match.lines if heading.has_values else ():
                cell = line.cells[place]
                has_digit = re.search(r"\d", cell.whole) and not _NO_MEAN.fullmatch(cell.whole)
                if column is not None and (number := printed(cell)) is not None:
                    value = self._value(line, heading, datasets)
                    numbers.append(Number(line, heading, cell, number, column.metric, *value))
                elif line.run and has_digit:
                    what = f"cannot read '{shorten(cell.whole, 60)}' as a number"
                    self.unknown.append(f"{line.text}, {heading.text}: {what}")
            large = [
                abs(float(one.printed.number) / one.value) > 10
                for one in numbers
                if one.known and one.value and one.printed.number and not math.isnan(one.value)
            ]
            percent = 2 * sum(large) > len(large)  # most printed numbers are their values x 100
            columns.append([replace(one, percent=percent) for one in numbers])
        return [column for column in columns if column]

    def _dataset(self, line: TableLine, heading: Heading) -> str | None:
        """Return the dataset of a cell: its column's, its row's, or the only one of its run."""
        if heading.column is not None and heading.column.dataset is not None:
            return heading.column.dataset
        if line.dataset is not None:
            return line.dataset
        run = line.run or ""
        has = [name for name in self.study.datasets if self.study.system(name, run)]
        return has[0] if len(has) == 1 else None

    def _value(
        self, line: TableLine, heading: Heading, datasets: Sequence[str]
    ) -> tuple[float, str | None, bool]:
        """Return a cell's value, its dataset, and whether its run and dataset are known."""
        column = heading.column
        if line.run is None or column is None or column.metric is None:
            return math.nan, None, False
        if heading.has_dataset and column.dataset is None:
            return mean(self.study, line.run, column.metric, datasets), None, True
        dataset = self._dataset(line, heading)
        system = None if dataset is None else self.study.system(dataset, line.run)
        if system is None:
            return math.nan, dataset, dataset is not None
        return system.value(column.metric), dataset, True

    def _check_spread(self, one: Number) -> None:
        """Check the deviation or interval next to a number, if the results have one."""
        spread, run = one.printed.spread, one.line.run
        if not spread or one.metric is None or run is None:
            return
        at = PaperColumn("", "metric", "", one.dataset, one.metric)
        datasets = self.study.datasets if one.dataset is None else []
        columns = [at, *(replace(at, dataset=name) for name in datasets)]
        deviation, interval = (
            TableDraft(self.study, TableSettings(spread=how), columns, [run]).column(at)[0].ends
            for how in ("deviation", "interval")
        )
        ways = {"the interval over queries": interval}
        if len(spread) == 1:
            half = ((interval[1] - interval[0]) / 2,) if interval else ()
            ways = {"the deviation over repetitions": deviation, "half of the interval": half}
        pairs = {name: [*zip(spread, ends, strict=True)] for name, ends in ways.items() if ends}
        self.verified["spreads"] += bool(pairs)
        if not pairs or any(
            all(is_rounded(n, decimals(n), end, percent=one.percent) for n, end in some)
            for some in pairs.values()
        ):
            return
        name = next(iter(pairs))
        rounded = [Decimal(fixed(end, decimals(n), percent=one.percent)) for n, end in pairs[name]]
        texts = [", ".join(map(_as_text, some)) for some in (spread, rounded)]
        found, right = (f"± {text}" if len(spread) == 1 else f"[{text}]" for text in texts)
        self.findings.append(one.finding("spread", found, right, name))

    def _check_extras(self) -> None:
        """Check the columns of n, ranks, tiers and coverage."""

        def flat(text: str) -> str:
            return re.sub(r"\s+", "", re.sub("--|–|−", "-", text))

        columns = [one.column for one in self.match.headings if one.column is not None]
        metrics = [replace(one, dataset=None) for one in columns if one.kind == "metric"]
        for place, heading in enumerate(self.match.headings):
            for line in self.match.lines:
                cell, column = line.cells[place], heading.column
                dataset = self._dataset(line, heading)
                if column is None or heading.has_values or dataset is None or line.run is None:
                    continue
                at = replace(column, dataset=dataset)
                shown = [*(replace(one, dataset=dataset) for one in metrics), at]
                (right,) = TableDraft(self.study, TableSettings(), shown, [line.run]).column(at)
                self.verified["others"] += 1
                texts = right.text, f"{right.text} {right.spread}".strip()
                if flat(cell.whole) not in map(flat, texts):
                    place_and_texts = cell.line, line.text, heading.text, flat(cell.whole), texts[1]
                    self.findings.append(PrintedMistake("other", *place_and_texts))

    def _check_best(self, columns: Sequence[list[Number]]) -> None:
        """Check bold and underlined, over all rows or by group: whichever has fewer mistakes.

        Each is checked if the table has any of it. Columns over different queries are not checked.
        Rows of other systems take part; rows that are not systems do not.
        """
        used = [mark for mark in _MARKS if any(one.has(mark) for some in columns for one in some)]
        columns = [one for one in columns if used and self._is_fair(one)]
        for mark in used:
            n = sum(one.has(mark) for column in columns for one in column if one.known)
            self.verified[f"{_MARKS[mark][1]} values"] += n
        columns = [list(filter(_can_be_best, column)) for column in columns]
        whole = [finding for column in columns for finding in _wrong_marks(column, used)]
        parts = [
            finding
            for column in columns
            for part in grouped_by(column, lambda one: one.line.group).values()
            if len(part) > 1
            for finding in _wrong_marks(part, used)
        ]
        self.findings += parts if len(parts) < len(whole) else whole
        if len(parts) < len(whole):
            self.notes.append("best values: checked within each group of rows")

    def _is_fair(self, column: Sequence[Number]) -> bool:
        """Whether the values of a column are over the same queries; a note if not."""
        known = [one for one in column if one.known and one.line.run is not None]
        metric = known[0].metric if known else None
        if metric is None or metric.definition.direction is None:
            return True
        for some in grouped_by(known, _dataset_shown).values():
            datasets = self.study.datasets if some[0].dataset is None else [some[0].dataset]
            runs = [str(one.line.run) for one in some]
            if not over_same_queries(self.study, runs, metric, datasets):
                text = column[0].heading.text
                self.notes.append(f"column '{text}': {NOT_COMPARABLE}; its marks are not checked")
                return False
        return True

    def _check_significance(self, columns: Sequence[Sequence[Number]]) -> None:
        """Check letters and daggers against the comparisons of the study."""
        whole = any(len(one.sign) > 1 for one in self.match.lines)
        printed_marks = [
            (one, marks_of(one.printed.above, whole), marks_of(one.printed.below, whole))
            for column in columns
            for one in column
        ]
        used = [mark for _, above, below in printed_marks for mark in (*above, *below)]
        if used and self.study.comparisons is None:
            why = "the config of the results compares nothing (compare:)"
            self.notes.append(f"{len(used)} marks of significance not checked: {why}")
        signs = self._signs(used) if used and self.study.comparisons else None
        if signs is None:
            return
        run_of = {sign: run for run, sign in signs.of.items()}
        has_lowered = any(below for *_, below in printed_marks)
        for one, above, below in printed_marks:
            if not one.known or one.line.run is None:
                continue
            self.verified["marks"] += len(above) + len(below)
            better: tuple[str, ...] = ()
            worse: tuple[str, ...] = ()
            if one.dataset is not None:
                better, worse = signs.better_and_worse(one.dataset, str(one.metric), one.line.run)
            ways = [
                (above, better, worse, "better", "worse"),
                (below, worse, better, "worse", "better"),
            ]
            for marks, right, opposite, how, other in ways if has_lowered else ways[:1]:
                for mark in dict.fromkeys((*marks, *right)):
                    if (mark in marks) == (mark in right):
                        continue
                    run, text = run_of.get(mark, mark), one.printed.text
                    found, wanted, way = "with", "without", f"not significantly {how}"
                    if mark in right:
                        found, wanted, way = "without", "with", f"significantly {how}"
                    elif mark in opposite:
                        way = f"significantly {other}"
                    texts = f"{text} {found} {mark}", f"{wanted} {mark}", f"{way} than {run}"
                    self.findings.append(one.finding("marker", *texts))

    def _signs(self, used: Sequence[str]) -> Signs | None:
        """Return the system of each mark: as rows say, or else the baselines in order."""
        assert self.study.comparisons is not None
        of = {one.run: one.sign for one in self.match.lines if one.run is not None and one.sign}
        order = [dagger(place) for place in range(5)]
        symbols = sorted(
            {mark for mark in used if mark[0] in SYMBOLS},
            key=lambda sign: (order.index(sign) if sign in order else len(order), sign),
        )
        letters = sorted({mark for mark in used if mark[0] not in SYMBOLS})
        why = "not checked: no row says which system each is"
        if not set(symbols) <= set(of.values()):
            baselines = [run for run in self.study.comparisons.plan.baselines if run not in of]
            are_levels = any(len(sign) > 1 and len(set(sign)) == 1 for sign in symbols)  # ** or ***
            if are_levels or len(symbols) > len(baselines):
                n = f"the number of baselines is {len(baselines)}"
                self.notes.append(f"marks {' '.join(symbols)} {why}, and {n}")
                return None
            taken = dict(zip(baselines, symbols, strict=False))
            of |= taken
            pairs = ", ".join(f"{sign} = {run}" for run, sign in taken.items())
            self.notes.append(f"marks taken as: {pairs}")
        elif letters and not set("".join(letters)) <= set("".join(of.values())):
            self.notes.append(f"marks {' '.join(letters)} {why}")
            return None
        return Signs("daggers" if symbols else "letters", of, self.study.comparisons)


def is_rounded(number: Decimal, digits: int, value: float, *, percent: bool = False) -> bool:
    """Whether a number is a value rounded to `digits` decimals, or the value itself.

    If the value's shortest decimal form lies in the middle, both neighbours are right.

    >>> is_rounded(Decimal(".424"), 3, 0.4237), is_rounded(Decimal(".423"), 3, 0.4237)
    (True, False)
    >>> is_rounded(Decimal(".13"), 2, 0.125), is_rounded(Decimal(".12"), 2, 0.125)
    (True, True)
    """
    if math.isnan(value):
        return False
    exact, even = _exact(value, percent), Decimal(fixed(value, digits, percent=percent))
    up = exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _EXACT)
    return number in (even, exact, up)


def _exact(value: float, percent: bool) -> Decimal:
    return Decimal(repr(value)).scaleb(2 if percent else 0)


def _as_text(number: Decimal) -> str:
    """Return a number as papers print it, without a zero before the point."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{number:f}")


def _check_number(one: Number) -> Iterator[PrintedMistake]:
    """Yield the finding on a wrong number; one less than a digit off is wrongly rounded."""
    shown = one.printed
    if math.isnan(one.value):
        yield one.finding("digits", shown.text, "none", "the results have no value there")
    elif not is_rounded(shown.number, shown.digits, one.value, percent=one.percent):
        right = Decimal(fixed(one.value, shown.digits, percent=one.percent))
        text = f"{right:f}" if shown.text.lstrip("+-").startswith("0") else _as_text(right)
        computed = f"computed: {one.value * (100 if one.percent else 1):.8g}"
        distance = abs(shown.number - _exact(one.value, one.percent))
        is_near = distance < Decimal(1).scaleb(-shown.digits)
        yield one.finding("rounding" if is_near else "digits", shown.text, text, computed)


def _dataset_shown(one: Number) -> str | None:
    column = one.heading.column
    return one.dataset or (column and column.dataset) or one.line.dataset


def _can_be_best(one: Number) -> bool:
    """Whether a number is a system's, as far as its row's name and the number itself tell."""
    if one.line.run is not None or one.metric is None:
        return True
    low, high = one.metric.definition.bounds
    return (
        not _NO_SYSTEM.match(one.line.text)
        and not one.cell.text.startswith("+")
        and one.printed.is_percent <= one.percent
        and low <= float(one.printed.number) / (100 if one.percent else 1) <= high
    )


def _wrong_marks(column: Sequence[Number], used: Sequence[Mark]) -> Iterator[PrintedMistake]:
    """Yield the mistakes of one column; each dataset in it has a best value of its own."""
    for numbers in grouped_by(column, _dataset_shown).values():
        known = [one for one in numbers if one.known and one.printed.digits]
        digits: Sequence[int | None] = _DIGITS
        if not known or any(one.printed.number != Decimal(repr(one.value)) for one in known):
            digits = [Counter(one.printed.digits for one in numbers).most_common(1)[0][0]]
        ways = [list(_at_digits(numbers, used, n)) for n in digits]
        yield from min(ways, key=bool)  # the first without mistakes, or else the first


def _at_digits(
    numbers: Sequence[Number], used: Sequence[Mark], digits: int | None
) -> Iterator[PrintedMistake]:
    """Yield the wrong marks if the best values follow from `digits` decimals; None for all."""
    metric = numbers[0].metric
    if metric is None:
        return

    def text(one: Number) -> str:
        if digits is None or not one.known:
            return str(Decimal(repr(one.value)) if one.known else one.printed.number)
        return fixed(one.value, digits, percent=one.percent, leading_zero=True)

    texts = list(map(text, numbers))
    best, second = best_and_second(texts, metric.definition.direction)
    for mark in used:
        word, name = _MARKS[mark]
        right, optional = best if mark == "bold" else second, set[int]()
        if mark == "underline" and len(numbers) < FEWEST_FOR_SECOND:
            right, optional = set(), set(range(len(numbers))) - best
        elif mark == "underline" and len(best) > 1:  # two share the best value
            right, optional = set(), second
        marked = {at for at, one in enumerate(numbers) if one.has(mark)}
        for at in sorted((marked ^ right) - optional):
            one = numbers[at]
            if not one.known:
                continue
            shown = one.printed.text
            if at in marked:
                others = ", ".join(numbers[other].line.text for other in sorted(right))
                why = f"the {name}: {others}" if others else f"it is not {name}"
                yield one.finding(mark, f"{shown} {word}", f"not {word}", why)
            else:
                alike = ", ".join(numbers[other].line.text for other in sorted(right & marked))
                why = f"equal to {alike} as printed" if alike else f"it is {name}"
                yield one.finding(mark, f"{shown} not {word}", word, f"{why} ({texts[at]})")


FORMATS: Mapping[str, Callable[[str], list[PrintedTable]]] = {
    **dict.fromkeys((".tex", ".ltx"), latex_tables.grids),
    **dict.fromkeys((".md", ".markdown"), printed_tables.markdown_grids),
    **dict.fromkeys((".csv", ".tsv"), printed_tables.csv_grids),
    **dict.fromkeys((".html", ".htm"), printed_tables.html_grids),
}
"""The reader of a file, by the end of its name."""
SIZE = 4 << 20
"""Characters of the largest paper that is read."""
Pairs = Sequence[tuple[str, str]]
_KINDS = {
    "digits": "another number", "rounding": "rounding", "spread": "spread", "bold": "bold",
    "underline": "underline", "marker": "mark", "other": "column",
}  # fmt: skip


@dataclass(frozen=True)
class CheckedPaper:
    """The tables of a file that have values of the results, and which others were `skipped`."""

    path: Path
    tables: tuple[TableCheck, ...]
    skipped: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether no mistake was found."""
        return not any(one.findings for one in self.tables)


def check_table(
    paper: Path,
    results: Path,
    *,
    tables: Sequence[str] = (),
    names: Pairs = (),
    dataset: str | None = None,
    compared: Mapping[str, Any] | None = None,
) -> CheckedPaper:
    """Check the tables of a file against results.

    `tables` are labels or numbers (from 1) of those to check, `names` are pairs of own and shown,
    `dataset` is for tables that name none, `compared` are parts of a plan of comparisons in
    place of the config's. Raises InputError, UnknownNameError, or HarnessError if no table has
    runs and metrics of the results.
    """
    printed_tables = _chosen(paper, _read(paper), tables)
    read = read_results(results)
    if dataset is not None:
        check_known("dataset", dataset, read.datasets)
    matches = []
    for name, table in printed_tables:
        known = Known.of(read, _names(read, names, (name, paper.stem)))
        matches.append((name, with_dataset(match(table, known), dataset)))
    if not any(one.is_any for _, one in matches):
        raise HarnessError(_nothing(paper, printed_tables[0][1], read))
    plan = None
    if compared:
        plan = replace(Plan() if read.config.compare is None else read.config.compare, **compared)
    study = with_comparisons(read, plan)
    verdicts = [TableCheck(one, study, name).run() for name, one in matches if one.is_any]
    if not any(one.verified["numbers"] for one in verdicts):
        why = "; ".join(what for one in verdicts for what in one.unknown)
        raise HarnessError(Problem(str(paper), "no number is a value of the results", found=why))
    skipped = [
        f"table {name} (line {one.grid.line}): no row is a run, or no column a metric"
        for name, one in matches
        if not one.is_any
    ]
    return CheckedPaper(paper, tuple(verdicts), tuple(skipped))


def _read(paper: Path) -> list[PrintedTable]:
    """Return the tables of a file; InputError with file and line if it cannot be read."""
    reader = FORMATS.get(paper.suffix.lower())
    if reader is None:
        what = f"expected a name that ends in {', '.join(FORMATS)}, got '{paper.suffix}'"
        raise InputError(Problem(str(paper), what))
    text = printed_tables.read_text(paper)
    fix = "give a file with just the tables to check"
    if len(text) > SIZE:
        what = f"expected at most {SIZE:,} characters, got {len(text):,}"
        raise InputError(Problem(str(paper), what, fix=fix))
    try:
        grids = reader(text)
    except InputError as error:
        problems = [replace(one, where=f"{paper}{one.where}") for one in error.problems]
        raise InputError(problems, total=error.total) from None
    except RecursionError:
        raise InputError(Problem(str(paper), "braces are nested too deep", fix=fix)) from None
    if not grids:
        fix = "give the file that holds it: files that \\input includes are not read"
        raise InputError(Problem(str(paper), "expected a table, got none", fix=fix))
    return grids


def _chosen(
    paper: Path, grids: Sequence[PrintedTable], tables: Sequence[str]
) -> list[tuple[str, PrintedTable]]:
    named = [(grid.name or str(place), grid) for place, grid in enumerate(grids, 1)]
    chosen = []
    for wanted in tables:
        some = [
            pair for place, pair in enumerate(named, 1)
            if wanted in (pair[0], str(place), pair[0].removeprefix("tab:"))
        ]  # fmt: skip
        if not some:
            check_known("table", wanted, [name for name, _ in named], str(paper))
        chosen += some
    return chosen if tables else named


def _names(study: Results, options: Pairs, tables: Sequence[str]) -> list[tuple[str, str]]:
    """Return own names and those shown: by --name, then by the config's table, then by the config.

    `tables` are the names the table may have in the config; without any, all of them count.
    """
    config, metrics = study.config, [str(metric) for metric in study.board.metrics]
    own_tables = (config.tables.get(one.removeprefix("tab:")) for one in tables)
    table = next((one for one in own_tables if one is not None), None)
    pairs: dict[str, str] = {}
    ours = {*study.runs, *study.datasets, *metrics}
    for own, shown in options:
        if own not in ours and not list(metric_spellings(metrics)(own)):
            what = f"the results have no run, dataset or metric '{own}'{did_you_mean(own, ours)}"
            fix = f"write --name '{shown}={own}'" if shown in ours else ""
            raise UnknownNameError(Problem(f"--name {own}={shown}", what, fix=fix))
        pairs[own] = shown
    some = config.tables.values() if table is None else [table]
    given = [*(pair for one in some for pair in one.names.items()), *config.names.items()]
    return [*pairs.items(), *(pair for pair in given if pair[0] not in pairs)]


def _nothing(paper: Path, grid: PrintedTable, study: Study) -> Problem:
    rows = ", ".join(dict.fromkeys(row[0].text for row in grid.body if row[0].text))
    heads = [" ".join(grid.headings(at)) for at in range(len(grid.rows[0]))]
    return Problem(
        str(paper),
        "no table has a run of the results as a row and a metric as a column"
        f"  (runs: {', '.join(study.runs)}; metrics: {', '.join(map(str, study.board.metrics))})",
        found=f"rows {rows}; columns {', '.join(filter(None, heads))}",
        fix=f"name them as the paper does, as in --name '{study.runs[0]}=Ours'",
    )


def with_dataset(match: Match, dataset: str | None) -> Match:
    """Return a table with the dataset for its rows, if it names none."""
    if dataset is None or any(heading.has_dataset for heading in match.headings):
        return match
    lines = (one if one.dataset else replace(one, dataset=dataset) for one in match.lines)
    return replace(match, lines=tuple(lines))


def grids(checked: CheckedPaper) -> Iterator[Grid]:
    """Yield what ``harness check-table`` prints: mistakes, what was not checked, how much was."""
    for table in checked.tables:
        for one in table.findings:
            place = f"{checked.path}:{one.line}: {_KINDS[one.kind]}: {one.row}, {one.column}"
            right = one.right + (f"  ({one.why})" if one.why else "")
            yield facts_at(place, found=one.found, right=right)
        notes = (*table.notes, *(f"not checked: {what}" for what in table.unknown))
        if notes:
            yield Grid(title=f"{checked.path}:{table.line}: table {table.name}", notes=notes)
    if checked.skipped:
        yield Grid(title="not checked", notes=checked.skipped)
    total = sum((one.verified for one in checked.tables), Counter[str]())
    done = ", ".join(counted(n, name.removesuffix("s")) for name, n in total.items()) or "nothing"
    n = sum(len(one.findings) for one in checked.tables)
    found = counted(n, "finding") if n else "no findings"
    has_caption = any(one.match.grid.caption.strip() for one in checked.tables)
    end = "; claims in captions are not" if has_caption else ""
    yield Grid(title=f"{checked.path}: {found}; checked: {done}{end}")


def records(checked: CheckedPaper) -> Iterator[dict[str, Any]]:
    """Yield a record for each finding, one for each table, and one for each skipped table."""
    for one in checked.tables:
        table = {"file": str(checked.path), "table": one.name}
        yield from ({**table, **asdict(mistake)} for mistake in one.findings)
        yield {
            **table, "line": one.line, "kind": "checked", "findings": len(one.findings),
            "verified": dict(one.verified), "unknown": one.unknown, "notes": one.notes,
        }  # fmt: skip
    for what in checked.skipped:
        yield {"file": str(checked.path), "kind": "skipped", "what": what}
