"""``harness page``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..errors import InputError, Problem, UnknownNameError, check_known
from ..experiment import page as report_page
from ..experiment.results import PAGE, read_results, with_comparisons
from ..input_files import check_outputs, name_of
from ..readers.files import check_own, is_file, read_file, write_all
from ..reports.page import PageSettings, check_link
from ..reports.select import sort_metric
from . import options
from .printing import show

_RESULTS = "A folder that 'harness run' wrote; or an old and a new one."
_RANKINGS = "Documents shown of each query and system."
_METRIC = "The metric that decides the ranks."


@options.command()
@options.several("results", "RESULTS [NEW]", _RESULTS, type=Path)
@options.path("--output", "-o", metavar="FILE", help="The page; RESULTS/page.html by default.")
@options.setting(PageSettings, "rankings", metavar="N", default=None, help=_RANKINGS)
@options.setting(PageSettings, "title", metavar="TEXT", default=None, help="Title of the page.")
@options.setting(PageSettings, "description", metavar="TEXT", default=None, help="One sentence.")
@options.setting(PageSettings, "organiser", metavar="TEXT", default=None, help="Who publishes it.")
@options.setting(PageSettings, "date", metavar="TEXT", default=None, help="Date of the results.")
@options.setting(PageSettings, "link", metavar="URL", default=None, help="Address of the task.")
@options.setting(PageSettings, "metric", "--metric", "-m", metavar="METRIC", help=_METRIC)
@click.option("--participant", metavar="RUN", help="Write the page of this run alone.")
@options.flag("--force", "Replace a file that exists.")
def command(
    results: tuple[Path, ...], output: Path | None, participant: str | None, **settings: Any
) -> None:
    """Write the report page: one HTML file that needs no network.

    It shows the leaderboard, each system, pairs of systems, queries, rankings, and where the
    numbers come from. With an old and a new folder it also shows what changed.

    With --participant, write the view of one run without other runs' names: its values among all,
    the queries where it is strong and weak. Its name is participant-RUN.html by default.

    \b
    Examples:
      harness page results/quickstart -o leaderboard.html
      harness page results/quickstart --title "Web track" --description "Nine systems." --force
      harness page results/quickstart --participant bm25
    """
    if len(results) == 2 and participant is not None:
        message = "expected one results folder with --participant, got two"
        raise UnknownNameError(Problem("", message, fix="leave the old one out"))
    if len(results) > 2:
        message = f"expected one results folder, or an old and a new one, got {len(results)}"
        raise UnknownNameError(Problem("", message, fix="name two folders at most"))
    outcome, default = read_results(results[-1]), PAGE
    if output is not None:
        check_outputs(output.parent, [output.name])
    force = settings.pop("force")
    if participant is not None:
        options.refuse(("rankings",), "--participant")
        names = dict.fromkeys(system.run for system in outcome.systems)
        check_known("run", participant, names, "--participant")
        default = f"participant-{participant.replace('/', '_')}.html"
    given = {name: value for name, value in settings.items() if value is not None}
    check_link(given.get("link", ""), "--link")
    sort_metric(outcome.board.metrics, given.get("metric"))
    page = replace(outcome.config.page, **given)
    config = outcome.config.model_copy(update={"page": page})
    outcome = with_comparisons(replace(outcome, config=config))
    if participant is not None:
        files = report_page.participant_files(outcome, participant)
    else:
        old = read_results(results[0]) if len(results) == 2 else None
        files = report_page.page_files(outcome, old)
    target = output or results[-1] / default
    files = {target.name: files.pop(PAGE), **files}
    folder = target.parent
    if target.is_file() and not _is_page(target):
        message, fix = "expected a page to replace, got another file", "name another file"
        raise InputError(Problem(str(target), message, fix=fix))
    same = [n for n in files if is_file(folder / n) and read_file(folder / n) == files[n]]
    check_own(folder, files, same, force=force)
    write_all(folder, files)
    size = sum(map(len, files.values()))
    show(f"written to {name_of(target)} ({size / 1e6:.1f} MB)\n")
    for line in report_page.advice(outcome) if participant is None else ():
        show(f"to add: {line}\n")


def _is_page(path: Path) -> bool:
    """Return whether a file is HTML, and so no config, input or table of results."""
    with path.open("rb") as file:
        return file.read(64).lstrip().lower().startswith(b"<!doctype html")
