"""``harness diff``."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..audit.leaderboard_diff import changes, names_of
from ..audit.leaderboard_diff_report import render
from ..core.arguments import parameters_of
from ..errors import UnknownNameError
from ..experiment.history import history as over_folders
from ..input_files import check_outputs, name_of
from ..readers.files import write_all
from ..reports import history as report
from ..stats.comparison import Plan
from . import options
from .options import Texts
from .page import check_replaced
from .printing import show, show_grids, terminal_width

_TOLERANCE = "Treat differences up to this as equal."
_FILES = "Results folders, or two tables as CSV or Markdown."
_OF_HISTORY = ("metrics", "dataset", "tolerance", "level")
_OF_TWO = (
    *("any_change", "names", "keys", "lower", "p", "reproduction", "baselines", "test"),
    *("correction", "overrides"),
)
"""Options of two leaderboards that --history does not have."""
_TESTS = [name for name in options.PLAN if name != "baselines"]


@options.command()
@options.several("files", "OLD NEW|RESULTS...", _FILES)
@options.flag("--history", "Show a metric over dated results folders.")
@options.path("--output", "-o", metavar="FILE", help="Write the page of --history.")
@options.metrics("A metric (default: all metrics of both)")
@click.option("--dataset", metavar="DATASET", help="Compare this dataset only.")
@click.option("--tolerance", metavar="DIFFERENCE", type=options.Number(0), help=_TOLERANCE)
@options.flag("--any-change", "Exit 1 if anything has changed, better or worse.")
@options.many(
    "--name", "names", metavar="OLD=NEW", help="A name in OLD, and its counterpart in NEW"
)
@options.many("--key", "keys", metavar="COLUMN", help="Column of a table that identifies rows")
@options.many("--lower", metavar="METRIC", help="Metric of a table for which lower is better")
@options.persistence
@options.flag("--reproduction", "Also measure how well NEW reproduces OLD.")
@options.plan("Measure effects over this run, too")
@options.overrides
@options.format_option("text", "csv", "jsonl", "markdown")
def command(
    files: Texts, history: bool, output: Path | None, any_change: bool, format: str, **settings: Any
) -> None:
    """Show which values of two leaderboards differ, and why.

    The command prints the values and ranks that changed. For two results folders it also prints the
    queries behind the changes with a paired test, and changes of inputs, config and versions. A
    table is a CSV or Markdown file of any tool, or of 'harness table'. Column headings may contain
    names of datasets.

    The command exits with 1 if a value is worse. The tolerance is 0 for folders, and half of the
    last printed digit for tables. --set takes the keys family, interval, draws and seed of
    'compare:'.

    With --history, the command prints a metric over many results folders, and marks each folder
    where the metric changed by more than the tolerance, tested as in 'harness gate'. -o writes a
    page with a picture. The command exits with 1 if the last folder is worse.

    \b
    Examples:
      harness diff results/before results/after --tolerance 0.001
      harness diff results/paper paper.md --any-change
      harness diff --history nightly/* -m ndcg@10 -o history.html
    """
    if any(map(os.path.isfile, files)):
        options.refuse(("history",), "tables, which have no values of queries")
    if history:
        options.refuse(_OF_TWO, "--history")
        _show_history(files, output, format, **{name: settings[name] for name in _OF_HISTORY})
        return
    options.refuse(("output",), "OLD and NEW, whose changes have no page")
    if len(files) != 2:
        message = f"expected OLD and NEW, got {len(files)}"
        fix = "name two, or add --history for a series of results folders"
        raise UnknownNameError(message, fix=fix)
    old, new = files
    if os.path.isdir(old) and os.path.isdir(new):
        options.refuse(("keys", "lower"), "results folders")
    else:
        options.refuse((*_TESTS, "overrides"), "tables, which have no values of queries")
    keys = options.sections(settings.pop("overrides"), {"compare": parameters_of(Plan)})
    plan = options.pop_plan(settings, keys["compare"])
    options.check_correction(plan.test, keys["compare"])
    names_known = partial(names_of, old, new, settings["keys"])
    settings["names"] = options.pairs("--name", settings["names"], names_known)
    differences = changes(old, new, plan=plan, **settings)
    show(render(differences, format, width=terminal_width(format)))
    if differences.has_regression or (any_change and differences.has_change):
        raise click.exceptions.Exit(1)


def _show_history(files: Texts, output: Path | None, format: str, **settings: Any) -> None:
    tolerance = settings.pop("tolerance") or 0.0
    series = over_folders([Path(file) for file in files], tolerance=tolerance, **settings)
    if output is not None:
        check_outputs(output.parent, [output.name])
        check_replaced(output)
    show_grids(report.grids(series), format, report.records(series))
    if output is not None:
        write_all(output.parent, {output.name: report.page(series, "History")})
        show(f"written to {name_of(output)}\n", error=True)
    if series.is_worse:
        raise click.exceptions.Exit(1)
