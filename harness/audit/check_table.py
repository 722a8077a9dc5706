"""``harness check-table``: each number of a paper's tables against the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..core.comparison import Plan
from ..core.study import Study
from ..errors import (
    HarnessError,
    InputError,
    Problem,
    UnknownNameError,
    did_you_mean,
    in_json,
    lines_of,
    near_names,
)
from ..experiment import folder as stored
from ..experiment.outcome import Outcome, with_comparisons
from ..reports.paper_table.select import metric_spellings, select
from ..reports.phrases import counted
from . import table_files, table_latex
from .check_table_match import Known, Match, match
from .check_table_values import (
    Entered,
    Verdict,
    check_arrows,
    check_best,
    check_extras,
    check_number,
    check_significance,
    check_spread,
    columns_of,
    dataset_of,
    unreadable,
)
from .table_grid import Grid

FORMATS: Mapping[str, Callable[[str], list[Grid]]] = {
    **dict.fromkeys((".tex", ".ltx"), table_latex.grids),
    **dict.fromkeys((".md", ".markdown"), table_files.markdown_grids),
    **dict.fromkeys((".csv", ".tsv"), table_files.csv_grids),
    **dict.fromkeys((".html", ".htm"), table_files.html_grids),
}
"""The reader of a file, by the end of its name."""
SIZE = 4 << 20
"""Characters of the largest paper that is read."""
_KINDS = {
    "digits": "another number", "rounding": "rounding", "spread": "spread", "bold": "bold",
    "underline": "underline", "marker": "mark", "other": "column",
}  # fmt: skip


def check_table(
    paper: Path,
    results: Path,
    *,
    tables: Sequence[str] = (),
    names: Sequence[str] = (),
    dataset: str | None = None,
    compared: Mapping[str, Any] | None = None,
    format: str = "text",
) -> tuple[str, bool]:
    """Return what is wrong in the tables of a file, and whether nothing is.

    Parameters
    ----------
    paper : Path
        LaTeX, Markdown, CSV or HTML.
    results : Path
        A folder that ``harness run`` wrote.
    tables : sequence of str
        Labels or numbers (from 1) of the tables to check; by default all.
    names : sequence of str
        ``OWN=SHOWN``: what a run, dataset or metric is called in the paper.
    dataset : str, optional
        The dataset of tables that name none; by default the one that fits best.
    compared : mapping, optional
        Parts of a plan of comparisons in place of the config's, such as ``baselines``.
    format : {"text", "jsonl"}

    Raises
    ------
    InputError
        If the file or the results cannot be read.
    UnknownNameError
        If the results have no such dataset.
    HarnessError
        If no table's rows and columns are runs and metrics of the results.
    """
    grids = _chosen(paper, _grids(paper), tables)
    read = stored.read(results)
    if dataset is not None:
        (dataset,) = select((dataset,), read.datasets, "dataset")
    matches = []  # two tables may have one name
    for name, grid in grids:
        known = Known.of(read, _names(read, names, (name, paper.stem)))
        matches.append((name, with_dataset(match(grid, known), read, dataset)))
    if not any(one.is_any for _, one in matches):
        raise HarnessError(_nothing(paper, grids[0][1], read))
    plan = None
    if compared:
        plan = replace(Plan() if read.config.compare is None else read.config.compare, **compared)
    study = with_comparisons(read, plan)
    verdicts = [verify(one, study, name) for name, one in matches if one.is_any]
    if not any(one.verified["numbers"] for one in verdicts):
        why = "; ".join(what for one in verdicts for what in one.unknown)
        raise HarnessError(Problem(str(paper), "no number is a value of the results", found=why))
    skipped = [
        f"table {name} (line {one.grid.line}): {_why_skipped(one)}"
        for name, one in matches
        if not one.is_any
    ]
    render = _jsonl if format == "jsonl" else _text
    return render(str(paper), verdicts, skipped), not any(one.findings for one in verdicts)


def _grids(paper: Path) -> list[Grid]:
    reader = FORMATS.get(paper.suffix.lower())
    if reader is None:
        what = f"expected a name that ends in {', '.join(FORMATS)}, got '{paper.suffix}'"
        raise InputError(Problem(str(paper), what))
    text = table_files.read_text(paper)
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
        fix = "give the file that holds it: what \\input includes is not read"
        is_latex = reader is table_latex.grids
        what = "expected a table, got none"
        raise InputError(Problem(str(paper), what, fix=fix if is_latex else ""))
    return grids


def _chosen(paper: Path, grids: Sequence[Grid], tables: Sequence[str]) -> list[tuple[str, Grid]]:
    named = [(grid.name or str(place), grid) for place, grid in enumerate(grids, 1)]
    chosen = []
    for wanted in tables:
        some = [
            (name, grid)
            for place, (name, grid) in enumerate(named, 1)
            if wanted in (name, str(place), name.removeprefix("tab:"))
        ]
        if not some:
            names = [name for name, _ in named]
            near = did_you_mean(wanted, names)
            what = f"there is no table '{wanted}'{near}  (there are: {near_names(wanted, names)})"
            raise InputError(Problem(str(paper), what))
        chosen += some
    return chosen if tables else named


def _names(study: Outcome, options: Sequence[str], tables: Sequence[str]) -> list[tuple[str, str]]:
    """Return own names and what they are shown as: by --name, then by the config.

    `tables` are what the table may be called there: all of the config's are meant if none is.
    """
    config, metrics = study.config, [str(metric) for metric in study.board.metrics]
    own_tables = (config.tables.get(one.removeprefix("tab:")) for one in tables)
    table = next((one for one in own_tables if one is not None), None)
    pairs: dict[str, str] = {}
    ours = {*study.runs, *study.datasets, *metrics}
    for text in options:
        own, equals, shown = text.rpartition("=")
        if not equals or not own.strip():
            raise InputError(Problem("", f"expected --name OURS=THEIRS, got '{text}'"))
        own, shown = own.strip(), shown.strip()
        if own not in ours and not list(metric_spellings(metrics)(own)):
            what = f"the results have no run, dataset or metric '{own}'{did_you_mean(own, ours)}"
            fix = f"write --name '{shown}={own}'" if shown in ours else ""
            raise UnknownNameError(Problem(f"--name {text}", what, fix=fix))
        pairs[own] = shown
    some = config.tables.values() if table is None else [table]
    given = [*(pair for one in some for pair in one.names.items()), *config.names.items()]
    return [*pairs.items(), *(pair for pair in given if pair[0] not in pairs)]


def _why_skipped(match: Match) -> str:
    runs = any(one.run for one in match.lines)
    metrics = any(one.column for one in match.headings)
    if runs == metrics:
        return "no row is a run and no column a metric of the results"
    return "no column is a metric of the results" if runs else "no row is a run of the results"


def _nothing(paper: Path, grid: Grid, study: Study) -> Problem:
    rows = ", ".join(dict.fromkeys(row[0].text for row in grid.body if row[0].text))
    heads = [" ".join(grid.headings(at)) for at in range(len(grid.rows[0]))]
    return Problem(
        str(paper),
        "no table has a run of the results as a row and a metric as a column"
        f"  (runs: {', '.join(study.runs)}; metrics: {', '.join(map(str, study.board.metrics))})",
        found=f"rows {rows}; columns {', '.join(filter(None, heads))}",
        fix=f"say what the paper calls them, as in --name '{study.runs[0]}=Ours'",
    )


def with_dataset(match: Match, study: Study, dataset: str | None) -> Match:
    """Return a table with a dataset for its rows, if it names none.

    Without `dataset`, it is the one with the most matching values, if these are at least half of
    the numbers; a note says which.
    """
    unsaid = [
        line
        for line in match.lines
        if line.run is not None
        and any(one.column and dataset_of(line, one, study) is None for one in match.headings)
    ]
    if not unsaid or any(heading.has_dataset for heading in match.headings):
        return match

    def on(name: str) -> Match:
        lines = (replace(one, dataset=name) if one in unsaid else one for one in match.lines)
        return replace(match, lines=tuple(lines))

    if dataset is not None:
        return on(dataset)
    cells = {id(line.cells) for line in unsaid}
    fits = {
        name: [
            one.is_value(one.value)
            for column in columns_of(on(name), study)
            for one in column
            if id(one.line.cells) in cells and one.known
        ]
        for name in study.datasets
    }
    best = max(fits, key=lambda name: sum(fits[name]))
    right, n = sum(fits[best]), len(fits[best])
    if 2 * right < n or not right or [sum(one) for one in fits.values()].count(right) > 1:
        return match
    note = f"it names no dataset: taken as {best}, which {right} of {n} numbers fit (--dataset)"
    return replace(on(best), notes=(*match.notes, note))


def verify(match: Match, study: Study, name: str) -> Verdict:
    """Return what is wrong in a table, and how much of it was checked."""
    verdict = Verdict(name, match.grid.line, unknown=[*match.unknown, *unreadable(match)])
    verdict.notes += match.notes
    verdict.has_caption = bool(match.grid.caption.strip())
    trace = match.grid.trace
    if trace and study.trace and trace != study.trace:
        verdict.notes.append(
            f"the table was made from other results: its manifest is {trace[:12]}..., that of "
            f"these is {study.trace[:12]}..."
        )
    columns = [column for column in columns_of(match, study) if column]
    for column in columns:
        unsaid = {one.line.text for one in column if not one.known and one.line.run is not None}
        if unsaid:
            what = f"its dataset is not known (rows {', '.join(sorted(unsaid))}); give --dataset"
            verdict.unknown.append(f"column '{column[0].heading.text}': {what}")
    known = [one for column in columns for one in column if one.known]
    verdict.verified["numbers"] += len(known)
    for one in known:
        verdict.findings += check_number(one, columns, study)
        check_spread(one, study, verdict)
    _note_unchecked(known, verdict)
    verdict.findings += check_arrows(match)
    check_extras(match, study, verdict)
    check_best(columns, study, verdict)
    check_significance(match, columns, study, verdict)
    verdict.findings.sort(key=lambda one: one.line)
    return verdict


def _note_unchecked(cells: Sequence[Entered], verdict: Verdict) -> None:
    """Add notes on what is next to numbers and was not checked."""
    remarks = [one for one in cells if one.printed.remark]
    if remarks:
        first = remarks[0]
        verdict.notes.append(
            f"{len(remarks)} in brackets not checked: {first.printed.remark} next to "
            f"{first.printed.text} of {first.line.text}, {first.heading.text}..."
        )
    n = sum(bool(one.printed.spread) for one in cells) - verdict.verified["spreads"]
    if n:
        verdict.notes.append(
            f"{counted(n, 'spread')} not checked: the results have no deviation or interval there"
        )


def _text(path: str, verdicts: Sequence[Verdict], skipped: Sequence[str]) -> str:
    lines = [line for one in verdicts for line in _lines(path, one)]
    lines += [f"not checked: {what}" for what in skipped]
    total = sum((one.verified for one in verdicts), Counter[str]())
    checked = ", ".join(counted(n, name.removesuffix("s")) for name, n in total.items())
    n = sum(len(one.findings) for one in verdicts)
    findings = counted(n, "finding") if n else "no findings"
    end = "; claims in captions are not" if any(one.has_caption for one in verdicts) else ""
    return lines_of([*lines, f"{path}: {findings}; checked: {checked or 'nothing'}{end}"])


def _lines(path: str, verdict: Verdict) -> Iterator[str]:
    for one in verdict.findings:
        yield f"{path}:{one.line}: {_KINDS[one.kind]}: {one.row}, {one.column}"
        yield f"  found: {one.found}"
        yield f"  right: {one.right}" + (f"  ({one.why})" if one.why else "")
    for what in (*verdict.notes, *(f"not checked: {what}" for what in verdict.unknown)):
        yield f"{path}:{verdict.line}: table {verdict.name}: {what}"


def _jsonl(path: str, verdicts: Sequence[Verdict], skipped: Sequence[str]) -> str:
    """Return a line for each finding, one for each table, and one for each skipped table."""
    rows: list[dict[str, object]] = []
    for one in verdicts:
        table = {"file": path, "table": one.name}
        rows += [{**table, **asdict(finding)} for finding in one.findings]
        rows.append(
            {
                **table, "line": one.line, "kind": "checked", "findings": len(one.findings),
                "verified": dict(one.verified), "unknown": one.unknown, "notes": one.notes,
            }
        )  # fmt: skip
    rows += [{"file": path, "kind": "skipped", "what": what} for what in skipped]
    return "".join(in_json(row) + "\n" for row in rows)
