"""``harness compare``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from .. import files as output
from ..audit.changes import changes
from ..audit.changes_report import render
from ..core.comparison import LEAST_DRAWS, Correction, Family, IntervalMethod, Plan
from ..errors import UnknownNameError
from ..experiment import compare as versus
from ..experiment.evaluate import short_names
from . import options
from .evaluate import evaluate


@click.command(cls=options.Command)
@click.argument(
    "runs",
    metavar="RUN_A RUN_B...|OLD NEW",
    nargs=-1,
    required=True,
    help="Run files; names, with --results; or two folders of results or CSV leaderboards.",
)
@click.option("--qrels", metavar="QRELS", help="Judgements, for run files.")
@click.option(
    "--results", metavar="FOLDER", type=Path, help="Results of 'harness run' with the runs."
)
@options.many(
    "--metric", "-m", "metrics", metavar="METRIC", help="A metric, by default all of the results'"
)
@click.option("--dataset", metavar="DATASET", help="Of the results, where not all are meant.")
@options.many(
    "--baseline", "-b", "baselines", metavar="RUN", help="By name, by default the first run"
)
@click.option("--all-pairs", is_flag=True, help="Every run with every other, and no baseline.")
@click.option(
    "--test",
    "-t",
    metavar="TEST",
    default="paired-t",
    help="paired-t, randomization, bootstrap, bootstrap-t, wilcoxon, sign; tukey, "
    "randomized-tukey, friedman-nemenyi; or a plugin's.",
)
@options.choice("--correction", Correction, default="holm", help="For several comparisons.")
@options.choice(
    "--family",
    Family,
    default="table",
    help="Which are corrected together: all, or each metric's, dataset's.",
)
@click.option(
    "--level", metavar="ALPHA", default=0.05, help="An adjusted p-value up to this is significant."
)
@options.choice(
    "--interval", IntervalMethod, default="t", help="How the interval of a difference is had."
)
@click.option(
    "--draws",
    metavar="N",
    type=options.Whole(LEAST_DRAWS),
    default=10_000,
    help="Random draws, where any are made.",
)
@click.option(
    "--seed", metavar="N", default=0, type=options.Whole(0), help="Seed of what is drawn."
)
@options.format_option("text", "csv", "jsonl", "markdown", help="How to print the comparisons.")
@click.option(
    "--tolerance",
    metavar="DIFFERENCE",
    type=float,
    help="Largest difference that is none. By default half of the last digit that a CSV prints; "
    "0 for folders.",
)
@click.option(
    "--any-change", is_flag=True, help="Exit 1 where anything has changed, better or worse."
)
@options.many("--lower", metavar="METRIC", help="Lower is better by this one of a CSV")
@options.many(
    "--key",
    "keys",
    metavar="COLUMN",
    help="Of a CSV: the column of runs, then those that tell rows apart",
)
@options.many("--name", "names", metavar="OLD=NEW", help="What a run, dataset or metric is called")
@click.option("--p", metavar="P", type=float, help="Persistence of RBO; 0.9 by default.")
@click.option(
    "--reproduction",
    is_flag=True,
    help="NEW reproduces OLD: RMSE, t-tests; with --baseline effect ratio and DeltaRI.",
)
@options.evaluation
def command(
    runs: tuple[str, ...],
    qrels: str | None,
    results: Path | None,
    metrics: tuple[str, ...],
    dataset: str | None,
    baselines: tuple[str, ...],
    all_pairs: bool,
    test: str,
    correction: Correction,
    family: Family,
    level: float,
    interval: IntervalMethod,
    draws: int,
    seed: int,
    format: str,
    tolerance: float | None,
    any_change: bool,
    lower: tuple[str, ...],
    keys: tuple[str, ...],
    names: tuple[str, ...],
    p: float | None,
    reproduction: bool,
    **settings: Any,
) -> None:
    """Compare runs with each other, or two leaderboards: what has changed.

    Runs: difference, interval, p, effect size, tiers. Queries are paired. With two runs, also the
    queries where they differ most.

    OLD NEW, folders of results or CSV leaderboards of anyone: which values moved, the queries that
    did it, ranks and how alike they are, what differs in inputs, config and versions. Exits 1
    where a value is worse than it was.

    \b
    Examples:
      harness compare bm25.run dense.run --qrels qrels.txt -m map -m ndcg@10
      harness compare lambdamart gbrt neural --results results/sweep --test randomization
      harness compare results/before results/after --tolerance 0.001
    """
    if all_pairs and baselines:
        raise UnknownNameError(
            "--all-pairs compares every run with every other, and --baseline all with one: "
            "leave one of them out"
        )
    plan = Plan(baselines, test, correction, family, level, interval, draws, seed)
    width = options.terminal_width(format)
    if qrels is None and results is None and versus.are_boards(runs):
        found = changes(
            *runs, plan=plan, metrics=metrics, dataset=dataset, tolerance=tolerance, lower=lower,
            keys=keys, names=_pairs(names), p=0.9 if p is None else p, reproduction=reproduction,
        )  # fmt: skip
        output.show(render(found, format, **width))
        if found.has_regression or (any_change and found.has_change):
            raise click.exceptions.Exit(1)
        return
    for option, is_given in (
        ("--tolerance", tolerance is not None), ("--any-change", any_change), ("--lower", lower),
        ("--key", keys), ("--name", names), ("--p", p is not None),
        ("--reproduction", reproduction),
    ):  # fmt: skip
        if is_given:
            raise UnknownNameError(
                f"{option} is for two folders of results or two CSV leaderboards"
            )
    versus.check_request(runs, qrels, results, metrics)
    if results is not None:
        board = versus.from_results(results, runs, dataset)
        plan = replace(plan, metrics=metrics)
    else:
        versus.check_metrics(metrics)
        versus.check_plan(plan, short_names(runs))
        board = evaluate(str(qrels), runs, metrics, **settings)
    if not all_pairs and not baselines:
        plan = replace(plan, baselines=(board.entries[0].run,))
    output.show(versus.render(board, plan, format, **width))


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return what was written as OLD=NEW."""
    found = []
    for name in names:
        both = re.fullmatch(r"((?:[^=()]|\([^()]*\))+)=(.+)", name)  # map(rel=2)=MAP
        if both is None:
            raise UnknownNameError(f"--name {name}: write it as OLD=NEW, such as BM25=bm25")
        found.append((both[1], both[2]))
    return found
