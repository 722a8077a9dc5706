"""``harness page``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..core.entries import grouped_by
from ..errors import InputError, Problem, UnknownNameError, counted, fix_of_name
from ..experiment import page as report_page
from ..experiment.results import PAGE, add_files, read_results, with_comparisons
from ..input_files import check_outputs, name_of
from ..readers.files import check_own, is_file, read_file, write_all
from ..readers.groups import teams_of
from ..reports.page import PageSettings, check_link
from ..reports.select import sort_metric
from . import options
from .printing import show

_RESULTS = "A folder that 'harness run' wrote; or an old and a new one."
_RANKINGS = "Documents shown of each query and system."
ALL = "all"
_METRIC = "The metric that decides the ranks."


@options.command()
@options.several("results", "RESULTS [NEW]", _RESULTS, type=Path)
@options.path("--output", "-o", metavar="FILE", help="The page; RESULTS/page.html by default.")
@options.setting(PageSettings, "rankings", metavar="N", default=None, help=_RANKINGS)
@options.setting(PageSettings, "title", metavar="TEXT", default=None, help="Title of the page.")
@options.setting(
    PageSettings, "description", metavar="TEXT", default=None, help="One sentence below the title."
)
@options.setting(
    PageSettings, "organiser", metavar="TEXT", default=None, help="Publisher of the page."
)
@options.setting(PageSettings, "date", metavar="TEXT", default=None, help="Date of the results.")
@options.setting(PageSettings, "link", metavar="URL", default=None, help="Address of the task.")
@options.setting(PageSettings, "metric", "--metric", "-m", metavar="METRIC", help=_METRIC)
@click.option("--participant", metavar="RUN|TEAM|all", help="Write the view of this run or team.")
@options.text("--teams", "FILE|RE", "Pages by team: CSV of run and team, or a pattern.")
@options.flag("--force", "Replace a file that harness did not write.")
def command(
    results: tuple[Path, ...], output: Path | None, participant: str | None, teams: str,
    **settings: Any,
) -> None:  # fmt: skip
    """Write the report page: one HTML file that needs no network.

    The page shows the leaderboard, each system, pairs of systems, queries, rankings, and the origin
    of the numbers. With an old and a new folder it also shows the changes.

    With --participant, the command writes the view of one run without the names of others: its
    rank, a test against the median system or the config's baselines, and the queries on which it is
    strong or weak. The default file is participant-RUN.html. '--participant all' writes one page
    for each run into a folder, by default RESULTS/participants. With --teams, a page shows all runs
    of a team.

    \b
    Examples:
      harness page results/quickstart -o leaderboard.html
      harness page results/quickstart --title "Web track"
      harness page results/quickstart --participant bm25
      harness page results/quickstart --participant all --teams teams.csv
    """
    if len(results) == 2 and participant is not None:
        message = "expected one results folder with --participant, got two"
        raise UnknownNameError(message, fix="leave the old one out")
    if len(results) > 2:
        message = f"expected one results folder, or an old and a new one, got {len(results)}"
        raise UnknownNameError(message, fix="name two folders at most")
    outcome, default = read_results(results[-1]), PAGE
    sheets = dict[str, list[str]]()
    if participant is not None:
        options.refuse(("rankings",), "--participant")
        sheets = _sheets(list(dict.fromkeys(one.run for one in outcome.systems)), teams)
        if participant != ALL or ALL in sheets:
            if participant not in sheets:
                kind, more = ("team", "") if teams else ("run", "; for a team, add --teams")
                fix = fix_of_name(participant, sheets) + more
                message = f"no {kind} '{participant}'"
                raise UnknownNameError(Problem("--participant", message, fix=fix))
            sheets = {participant: sheets[participant]}
            default = f"participant-{_file_of(participant)}"
    elif teams:
        options.refuse(("teams",), "the page of all runs")
    is_folder = participant == ALL and ALL not in sheets
    target = output or results[-1] / ("participants" if is_folder else default)
    folder = target if is_folder else target.parent
    if output is not None:
        check_outputs(folder, [] if is_folder else [target.name])
    force = settings.pop("force")
    given = {name: value for name, value in settings.items() if value is not None}
    check_link(given.get("link", ""), "--link")
    sort_metric(outcome.board.metrics, given.get("metric"), "--metric")
    page = replace(outcome.config.page, **given)
    config = outcome.config.model_copy(update={"page": page})
    compare = with_comparisons if participant is None else report_page.compared_with_median
    outcome = compare(replace(outcome, config=config))
    files: dict[str, bytes] = {}
    if participant is not None:
        named = {_file_of(name) if is_folder else target.name: sheets[name] for name in sheets}
        for of_sheet in report_page.participant_files(outcome, named):
            files |= of_sheet
    else:
        old = read_results(results[0]) if len(results) == 2 else None
        files = report_page.page_files(outcome, old, target.name)
    pages = files if is_folder else [target.name]
    for path in (folder / name for name in pages if not name.endswith(".js")):
        check_replaced(path)
    if output is None:
        added = {f"{target.name}/{n}" if is_folder else n: files[n] for n in files}
        add_files(results[-1], added, force=force)
    else:
        same = [n for n in files if is_file(folder / n) and read_file(folder / n) == files[n]]
        check_own(folder, files, same, force=force)
        write_all(folder, files)
    number = f"{counted(len(sheets), 'page')}, " if is_folder else ""
    size = sum(map(len, files.values()))
    show(f"written to {name_of(target)} ({number}{size / 1e6:.1f} MB)\n")
    for line in report_page.advice(outcome) if participant is None else ():
        show(f"to add: {line}\n")


def _sheets(runs: list[str], teams: str) -> dict[str, list[str]]:
    if not teams:
        return {run: [run] for run in runs}
    team = dict(zip(runs, teams_of([(run,) for run in runs], teams), strict=True))
    return grouped_by(runs, team.__getitem__)


def _file_of(sheet: str) -> str:
    return sheet.replace("/", "_") + ".html"


def check_replaced(path: Path) -> None:
    """Raise InputError if a file is not HTML, such as a config, an input or a table of results."""
    if path.is_file():
        with path.open("rb") as file:
            is_page = file.read(64).lstrip().lower().startswith(b"<!doctype html")
        if not is_page:
            message, fix = "expected a page to replace, got another file", "name another file"
            raise InputError(Problem(str(path), message, fix=fix))
