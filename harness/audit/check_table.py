"""``harness check-table``: each number of a paper's tables against the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import (
    HarnessError,
    InputError,
    Problem,
    UnknownNameError,
    check_known,
    counted,
    did_you_mean,
)
from ..experiment import folder as stored
from ..experiment.folder import Results, with_comparisons
from ..reports.grid import Grid, finding
from ..reports.select import metric_spellings
from ..reports.study import Study
from ..stats.comparison import Plan
from . import latex_tables, printed_tables
from .printed_tables import PrintedTable
from .table_checks import TableCheck
from .table_names import Known, Match, match

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
    read = stored.read(results)
    if dataset is not None:
        check_known("dataset", dataset, read.datasets)
    matches = []
    for name, table in printed_tables:
        known = Known.of(read, _names(read, names, (name, paper.stem)))
        matches.append((name, with_dataset(match(table, known), read, dataset)))
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


def with_dataset(match: Match, study: Study, dataset: str | None) -> Match:
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
            yield finding(place, found=one.found, right=right)
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
