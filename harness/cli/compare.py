"""``harness compare``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click

from ..audit.leaderboard_diff import changes
from ..audit.leaderboard_diff_report import render
from ..core.systems import systems_of
from ..errors import Problem, UnknownNameError
from ..experiment import compare as versus
from ..experiment.evaluate import short_names
from ..stats.comparison import Plan
from . import options
from .evaluate import evaluate
from .printing import show, terminal_width

TAKES = "give run files with --qrels QRELS and -m METRIC, or names of runs with --results FOLDER"
_PLAN = [one.name for one in fields(Plan) if one.name != "metrics"]
_BOARDS = ("tolerance", "lower", "keys", "p", "reproduction")
"""Options for two results folders or CSV leaderboards."""


@click.command()
@options.several(
    "runs", "RUN_A RUN_B...|OLD NEW", "Run files, names with --results, or two results folders."
)
@click.option("--qrels", metavar="QRELS", help="Qrels, for run files.")
@options.path("--results", metavar="FOLDER", help="Results of 'harness run' with the runs.")
@options.metrics("A metric, by default all of the results'")
@click.option("--dataset", metavar="DATASET", help="One dataset of the results.")
@options.many(
    "--baseline", "-b", "baselines", metavar="RUN", help="The baseline; by default the first run"
)
@options.flag("--all-pairs", "Every run with every other, and no baseline.")
@options.setting(
    Plan, "test", "--test", "-t", metavar="TEST", help="A test, such as randomization or tukey."
)
@options.setting(Plan, "correction", help="Correct p-values for several comparisons.")
@options.setting(Plan, "family", help="Correct all comparisons, or each metric or dataset.")
@options.setting(
    Plan, "level", metavar="ALPHA", help="An adjusted p-value up to this is significant."
)
@options.setting(Plan, "interval", help="How to compute intervals of differences.")
@options.setting(Plan, "draws", metavar="N", help="Random draws, if any are made.")
@options.setting(Plan, "seed", metavar="N", help="Seed of the random draws.")
@options.grouping
@options.format_option("text", "csv", "jsonl", "markdown", help="How to print the comparisons.")
@click.option(
    "--tolerance",
    metavar="DIFFERENCE",
    type=click.FloatRange(0),
    help="Treat differences up to this as equal.",
)
@options.flag("--any-change", "Exit 1 if anything has changed, better or worse.")
@options.many("--lower", metavar="METRIC", help="A metric of a CSV for which lower is better")
@options.many("--key", "keys", metavar="COLUMN", help="A CSV column that identifies rows")
@options.many("--name", "names", metavar="OLD=NEW", help="A name in OLD, and what NEW calls it")
@click.option(
    "--p", metavar="P", type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Persistence of RBO; 0.9 by default.",
)  # fmt: skip
@options.flag("--reproduction", "Also measure how well NEW reproduces OLD.")
@options.evaluation
def command(
    runs: tuple[str, ...], qrels: str | None, results: Path | None, metrics: tuple[str, ...],
    dataset: str | None, all_pairs: bool, any_change: bool, names: tuple[str, ...], format: str,
    **settings: Any,
) -> None:  # fmt: skip
    """Compare runs with each other, or two leaderboards: what has changed.

    For runs, prints the difference, interval, p, effect size and tiers over paired queries. Two
    runs also get the queries on which they differ most.

    For OLD NEW (results folders or CSV leaderboards), prints the values and ranks that moved, the
    queries behind them, and changes of inputs, config and versions. Exits 1 if a value is worse.

    Tests: paired-t, randomization, bootstrap, bootstrap-t, wilcoxon, sign; of all pairs tukey,
    randomized-tukey, friedman-nemenyi; or one of a plugin. The tolerance of two leaderboards is 0
    for folders and half of the last printed digit for a CSV.

    \b
    Examples:
      harness compare bm25.run dense.run --qrels qrels.txt -m map -m ndcg@10
      harness compare lambdamart gbrt neural --results results/sweep --test randomization
      harness compare results/before results/after --tolerance 0.001
    """
    plan = Plan(**{key: settings.pop(key) for key in _PLAN})
    boards = {key: settings.pop(key) for key in _BOARDS}
    if all_pairs and plan.baselines:
        what = "expected --all-pairs or --baseline, got both"
        raise UnknownNameError(Problem("", what, fix="leave one of them out"))
    width = terminal_width(format)
    if qrels is None and results is None and _are_leaderboards(runs):
        boards["p"] = 0.9 if boards["p"] is None else boards["p"]
        found = changes(
            *runs, plan=plan, metrics=metrics, dataset=dataset,
            names=options.pairs("--name", names), **boards,
        )  # fmt: skip
        show(render(found, format, **width))
        if found.has_regression or (any_change and found.has_change):
            raise click.exceptions.Exit(1)
        return
    options.refuse((*_BOARDS, "any_change", "names"), "runs")
    if results is not None:
        options.refuse(("groups",), "results, whose config names 'groups' under its dataset")
    _check_request(runs, qrels, results, metrics)
    if results is not None:
        systems = versus.from_results(results, runs, dataset)
        plan = replace(plan, metrics=metrics)
    else:
        versus.check_metrics(metrics)
        versus.check_plan(plan, short_names(runs))
        systems = [*systems_of(evaluate(str(qrels), runs, metrics, **settings))]
    if not all_pairs and not plan.baselines:
        plan = replace(plan, baselines=(systems[0].run,))
    show(versus.render(systems, plan, format, **width))


def _are_leaderboards(names: Sequence[str]) -> bool:
    """Return whether arguments are two leaderboards: a folder of results, or two CSV files."""
    return len(names) == 2 and (all(map(_is_table, names)) or any(map(os.path.isdir, names)))


def _is_table(name: str) -> bool:
    return name.lower().endswith((".csv", ".tsv"))


def _check_request(
    runs: Sequence[str], qrels: str | None, results: Path | None, metrics: Sequence[str]
) -> None:
    """Raise UnknownNameError if it is not clear what to compare."""
    for name in runs:
        if os.path.isdir(name) or (qrels is None and _is_table(name)):
            what = "expected two leaderboards, each a folder of results or a CSV file that exists"
            raise UnknownNameError(Problem(", ".join(runs), what, fix=f"for runs, {TAKES}"))
    if (qrels is None) == (results is None):
        what = f"expected --qrels or --results, got {'both' if qrels else 'neither'}"
        raise UnknownNameError(Problem("", what, fix=TAKES))
    if qrels is not None and not metrics:
        fix = "add one, such as -m map; 'harness metrics' lists them"
        raise UnknownNameError(Problem("", "expected a metric, got none", fix=fix))
    if len(runs) < 2:
        what = f"expected two runs or more, got {runs[0]} alone"
        raise UnknownNameError(Problem("", what, fix="name the run to compare it with"))
