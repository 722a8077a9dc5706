"""``harness compare``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..core.arguments import parameters_of
from ..core.entries import System
from ..core.systems import systems_of
from ..errors import InputError, Problem, UnknownNameError, warn
from ..experiment import compare as versus
from ..experiment.evaluate import short_names
from ..experiment.results import read_results
from ..input_files import url_of
from ..stats.comparison import Plan, too_many
from . import options
from .evaluate import evaluate
from .options import Texts
from .printing import show, terminal_width

AGAIN = "the same run"
"""Name of the second copy of a run that is compared with itself."""
TAKES = "give run files with --qrels QRELS and -m METRIC, or names of runs with --results FOLDER"
_OF_RESULTS = {"runs", "results", "metrics", "dataset", "all_pairs", "format", "overrides"}
"""The parameters for runs of a results folder, next to those of a plan."""


@options.command()
@options.several("runs", "RUN_A RUN_B...", "Run files with --qrels, or names with --results.")
@click.option("--qrels", metavar="QRELS", help="Qrels of the run files.")
@options.path("--results", metavar="FOLDER", help="Results of 'harness run' that contain the runs.")
@options.metrics("A metric (default with --results: all means)")
@click.option("--dataset", metavar="DATASET", help="Compare on this dataset of the results only.")
@options.flag("--all-pairs", "Every run with every other, and no baseline.")
@options.plan("The baseline; by default the first run")
@options.grouping
@options.format_option("text", "csv", "excel", "jsonl", "markdown", "plain-markdown")
@options.evaluation
def command(
    runs: Texts, qrels: str | None, results: Path | None, format: str, **settings: Any
) -> None:
    """Test whether runs differ significantly, query by query.

    The command prints differences with intervals, p-values, effect sizes and tiers. For two runs it
    also prints the queries with the largest differences; 'harness evaluate -q' prints all queries.
    'harness diff' compares two leaderboards.

    --test takes {tests}.

    --set takes the keys family, interval, draws and seed of 'compare:', such as
    compare.draws=99999. For run files, it also takes the keys of 'harness evaluate'.

    With --results, the test, baseline and correction come from 'compare:' in the config; the
    numbers are those of significance.csv. If the config does not compare these runs, or you change
    a setting, p-values are corrected over the comparisons shown, and the baseline is the first run
    named.

    \b
    Examples:
      harness compare bm25.run dense.run --qrels qrels.txt -m map -m ndcg@10
      harness compare bm25 tfidf --results results/trec -m map
      harness compare *.run --qrels qrels.txt -m ndcg@10 --all-pairs
      harness compare gbrt neural --results results/sweep -t randomization
    """
    of_files = options.KEYS_OF_EVALUATION if results is None else {}
    keys_of = {"compare": parameters_of(Plan), **of_files}
    keys = options.sections(settings.pop("overrides"), keys_of)
    plan = options.pop_plan(settings, keys["compare"])
    metrics, dataset, all_pairs = (settings.pop(key) for key in ("metrics", "dataset", "all_pairs"))
    if all_pairs and plan.baselines:
        message = "expected --all-pairs or --baseline, got both"
        raise UnknownNameError(message, fix="leave one of them out")
    _check_request(runs, qrels, results)
    if all_pairs and (text := too_many(plan, len(runs), 1, max(len(metrics), 1))):
        warn(text)
    found = None
    if results is not None:
        options.allow({*_OF_RESULTS, *options.PLAN}, "results, whose config has these settings")
        outcome = read_results(results)
        systems = tuple(versus.from_results(outcome, runs, dataset))
        if not (keys["compare"] or all_pairs or any(map(options.is_given, options.PLAN))):
            found = versus.of_config(outcome, systems, metrics)
        plan = options.with_defaults(plan, outcome.config.compare, keys["compare"])
        plan = replace(plan, metrics=metrics)
    else:
        options.refuse(("dataset",), "run files")
        versus.check_metrics(metrics)
        weighted = short_names([str(qrels)])[0] if settings["weights"] else ""
        versus.check_plan(plan, short_names(list(dict.fromkeys(runs))), weighted)
        systems = systems_of_files(str(qrels), runs, metrics, keys=keys, **settings)
    options.check_correction(plan.test, keys["compare"])
    width = terminal_width(format)
    show(versus.render(systems, plan, format, all_pairs, found, width=width))


def systems_of_files(
    qrels: str, runs: Sequence[str], metrics: Sequence[str], **settings: Any
) -> tuple[System, ...]:
    """Evaluate run files; the first one is also a second system if it is named twice."""
    systems = systems_of(evaluate(qrels, list(dict.fromkeys(runs)), metrics, **settings))
    if runs.count(runs[0]) > 1:
        first = [system for system in systems if system.run == systems[0].run]
        systems += tuple(System.of(system.entries, AGAIN) for system in first)
    return systems


def _check_request(runs: Sequence[str], qrels: str | None, results: Path | None) -> None:
    are_files = any(os.path.exists(run) or url_of(run) for run in runs)
    for run in runs:
        if run.endswith((".yaml", ".yml")) and os.path.isfile(run):
            fix = f"harness run {shlex.quote(run)}"
            raise InputError(Problem(run, "expected a run, got a config", fix=fix))
    if qrels is None and results is None and are_files:
        message = "expected run files with --qrels, or names of runs with --results"
        fix = "add --qrels QRELS; 'harness diff OLD NEW' compares two leaderboards"
        raise UnknownNameError(Problem(", ".join(runs), message, fix=fix))
    if (qrels is None) == (results is None):
        message = f"expected --qrels or --results, got {'both' if qrels else 'neither'}"
        fix = f"{TAKES}; 'harness diff' takes leaderboards"
        raise UnknownNameError(message, fix=fix)
    if len(runs) < 2:
        message = f"expected two runs or more, got {runs[0]} alone"
        raise UnknownNameError(message, fix="name the run to compare it with")
