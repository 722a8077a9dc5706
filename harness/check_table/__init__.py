"""Tables of papers against results: numbers, rounding, bold, marks, each derived again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import results as stored
from ..config import Config
from ..core.plan import Plan
from ..core.study import Study
from ..errors import HarnessError, InputError, Problem, did_you_mean
from ..tables.select import select
from . import delimited, html, latex, limits, markdown, report
from .assumed import with_dataset
from .findings import Finding as Finding
from .findings import Verdict
from .grid import Grid
from .match import Known, match
from .verify import verify

FORMATS: Mapping[str, Callable[[str], list[Grid]]] = {
    ".tex": latex.grids, ".ltx": latex.grids, ".md": markdown.grids, ".markdown": markdown.grids,
    ".csv": delimited.grids, ".tsv": delimited.grids, ".html": html.grids, ".htm": html.grids,
}  # fmt: skip
"""What reads a file, by the end of its name."""


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
        Labels or numbers (from 1) of the tables to check; all where empty.
    names : sequence of str
        ``OWN=SHOWN``: what a run, dataset or metric is called in the paper.
    dataset : str, optional
        Whose values they are in a table that does not say it; else the one that fits best.
    compared : mapping, optional
        Parts of a plan of comparisons in place of the config's, such as ``baselines``.
    format : {"text", "jsonl"}

    Raises
    ------
    InputError
        Where the file or the results cannot be read.
    UnknownNameError
        Where the results have no such dataset.
    HarnessError
        Where no table's rows and columns are runs and metrics of the results.
    """
    found = _chosen(paper, _grids(paper), tables)
    read = stored.read(results)
    if dataset is not None:
        (dataset,) = select((dataset,), read.study.datasets, "dataset")
    matches = [
        (name, with_dataset(match(grid, known), read.study, dataset))
        for name, grid in found
        for known in (Known.of(read.study, _names(read.config, names, name)),)
    ]
    good = [(name, one) for name, one in matches if one.is_any]
    if not good:
        raise HarnessError(_nothing(paper, found, read.study))
    study = stored.with_comparisons(read, _plan(read.config, compared or {})).study
    verdicts: list[Verdict] = [verify(one, study, name) for name, one in good]
    if not any(one.verified["numbers"] for one in verdicts):
        why = "; ".join(what for one in verdicts for what in one.unknown)
        raise HarnessError(Problem(str(paper), "no number of it is one of the results", found=why))
    skipped = [
        f"table {name} (line {one.grid.line}): {_why(one.lines, one.headings)}"
        for name, one in matches
        if not one.is_any
    ]
    render = report.jsonl if format == "jsonl" else report.text
    text = render(str(paper), verdicts, skipped)
    return text, not any(one.findings for one in verdicts)


def _plan(config: Config, changes: Mapping[str, Any]) -> Plan | None:
    given = Plan() if config.compare is None else config.compare.to_core()
    return replace(given, **changes) if changes else None


def _grids(paper: Path) -> list[Grid]:
    reader = FORMATS.get(paper.suffix.lower())
    if reader is None:
        what = f"its ending says no format of a table  (there are: {', '.join(FORMATS)})"
        raise InputError(Problem(str(paper), what))
    try:
        with paper.open("rb") as file:
            text = file.read(4 * limits.SIZE + 4).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is not UTF-8"
        raise InputError(Problem(str(paper), what, fix="save the file as UTF-8")) from error
    except OSError as error:
        raise InputError(Problem(str(paper), f"cannot be read: {error.strerror}")) from error
    what = limits.beyond(text, paper.suffix.lower())
    try:
        if not what:
            return reader(text)
    except limits.BeyondError as error:
        what = str(error)
    fix = "give a file with just the tables to check"
    raise InputError(Problem(str(paper), what, fix=fix))


def _chosen(paper: Path, grids: Sequence[Grid], tables: Sequence[str]) -> list[tuple[str, Grid]]:
    if not grids:
        fix = "give the file that holds it: what \\input takes in is not followed"
        is_latex = FORMATS[paper.suffix.lower()] is latex.grids
        raise InputError(Problem(str(paper), "holds no table", fix=fix if is_latex else ""))
    found = [(grid.name or str(place), grid) for place, grid in enumerate(grids, 1)]
    if not tables:
        return found
    chosen = []
    for wanted in tables:
        some = [
            (name, grid)
            for place, (name, grid) in enumerate(found, 1)
            if wanted in (name, str(place), name.removeprefix("tab:"))
        ]
        if not some:
            near = did_you_mean(wanted, [name for name, _ in found])
            there = ", ".join(name for name, _ in found)
            what = f"there is no table '{wanted}'{near}  (there are: {there})"
            raise InputError(Problem(str(paper), what))
        chosen += some
    return chosen


def _names(config: Config, given: Sequence[str], name: str) -> list[tuple[str, str]]:
    """Return own names and what they are shown as: by the config's table of that name, or all.

    A name given stands over those of the config.
    """
    table = config.tables.get(name.removeprefix("tab:"))
    tables = config.tables.values() if table is None else [table]
    pairs: list[tuple[str, str]] = []
    for text in given:
        own, equals, shown = text.rpartition("=")
        if not equals or not own.strip():
            raise InputError(Problem("", f"--name takes OLD=NEW, and is '{text}'"))
        pairs.append((own.strip(), shown.strip()))
    said = {own for own, _ in pairs}
    pairs += [pair for one in tables for pair in one.names.items() if pair[0] not in said]
    return pairs


def _why(lines: Sequence[object], headings: Sequence[object]) -> str:
    runs = any(getattr(one, "run", None) for one in lines)
    metrics = any(getattr(one, "column", None) for one in headings)
    if runs == metrics:
        return "no row is a run and no column a metric of the results"
    return "no column is a metric of the results" if runs else "no row is a run of the results"


def _nothing(paper: Path, found: Sequence[tuple[str, Grid]], study: Study) -> Problem:
    grid = found[0][1]
    rows = ", ".join(dict.fromkeys(row[0].text for row in grid.body if row[0].text))
    heads = ", ".join(
        filter(None, (" ".join(grid.headings(at)) for at in range(len(grid.rows[0]))))
    )
    return Problem(
        str(paper),
        "no table has a run of the results as a row and a metric as a column"
        f"  (runs: {', '.join(study.runs)}; metrics: {', '.join(map(str, study.board.metrics))})",
        found=f"rows {rows}; columns {heads}",
        fix=f"say what the paper calls them, as in --name '{study.runs[0]}=Ours'",
    )
