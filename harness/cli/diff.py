"""``harness diff``."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import click

from ..audit.leaderboard_diff import changes, names_of
from ..audit.leaderboard_diff_report import render
from ..stats.comparison import Plan
from . import options
from .printing import show, terminal_width

_TOLERANCE = "Treat differences up to this as equal."
_TESTS = [name for name in options.PLAN if name != "baselines"]


@options.command()
@click.argument("old", metavar="OLD", help="A results folder, or a table as CSV or Markdown.")
@click.argument("new", metavar="NEW", help="What to compare with it, in either form.")
@options.metrics("A metric, by default all of both")
@click.option("--dataset", metavar="DATASET", help="One dataset of both.")
@click.option("--tolerance", metavar="DIFFERENCE", type=click.FloatRange(0), help=_TOLERANCE)
@options.flag("--any-change", "Exit 1 if anything has changed, better or worse.")
@options.many("--name", "names", metavar="OLD=NEW", help="A name in OLD, and what NEW calls it")
@options.many("--key", "keys", metavar="COLUMN", help="A column of a table that identifies rows")
@options.many("--lower", metavar="METRIC", help="A metric of a table for which lower is better")
@options.persistence
@options.flag("--reproduction", "Also measure how well NEW reproduces OLD.")
@options.plan("Measure effects over this run, too")
@options.keys
@options.format_option("text", "csv", "jsonl", "markdown")
def command(old: str, new: str, any_change: bool, format: str, **settings: Any) -> None:
    """Compare two leaderboards: what has changed, and why.

    Prints the values and ranks that moved. Of two results folders it also prints the queries
    behind them with a paired test, and changes of inputs, config and versions. A table is a CSV
    or Markdown file of any tool, or of 'harness table'; a heading may name a dataset too.

    Exits 1 if a value is worse. The tolerance is 0 for folders and half of the last printed
    digit for tables. --set takes the keys family, interval, draws and seed of 'compare:'.

    \b
    Examples:
      harness diff results/before results/after --tolerance 0.001
      harness diff results/paper paper.md --any-change
    """
    if os.path.isdir(old) and os.path.isdir(new):
        options.refuse(("keys", "lower"), "results folders")
    else:
        options.refuse((*_TESTS, "overrides"), "tables, which have no values of queries")
    keys = options.sections(settings.pop("overrides"), compare=Plan)
    plan = options.pop_plan(settings, keys["compare"])
    options.check_correction(plan.test, keys["compare"])
    names_known = partial(names_of, old, new, settings["keys"])
    settings["names"] = options.pairs("--name", settings["names"], names_known)
    differences = changes(old, new, plan=plan, **settings)
    show(render(differences, format, **terminal_width(format)))
    if differences.has_regression or (any_change and differences.has_change):
        raise click.exceptions.Exit(1)
