"""The arguments of ``harness compare``; what it does is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from .. import output, plain
from ..core.plan import Correction, Family, IntervalMethod, Plan
from ..core.policy import Policy
from . import options


def compare_command(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN_A RUN_B...", help="Run files; or names, with --results."),
    ],
    qrels: Annotated[
        str | None, typer.Option("--qrels", metavar="QRELS", help="Judgements, for run files.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="FOLDER", help="Results of 'harness run' with the runs."),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="A metric; repeatable. All of the results' by default."
        ),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Of the results, where not all are meant.")
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", "-b", help="By name; repeatable. The first run by default."),
    ] = None,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Every run with every other, and no baseline.")
    ] = False,
    test: Annotated[
        str,
        typer.Option(
            "--test",
            "-t",
            metavar="TEST",
            help="paired-t, randomization, bootstrap, bootstrap-t, wilcoxon, sign; tukey, "
            "randomized-tukey, friedman-nemenyi; or a plugin's.",
        ),
    ] = "paired-t",
    correction: Annotated[Correction, typer.Option(help="For several comparisons.")] = "holm",
    family: Annotated[
        Family, typer.Option(help="Which are corrected together: all, or each metric's, dataset's.")
    ] = "table",
    level: Annotated[
        float, typer.Option(help="An adjusted p-value up to this is significant.")
    ] = 0.05,
    interval: Annotated[
        IntervalMethod, typer.Option(help="How the interval of a difference is had.")
    ] = "t",
    draws: Annotated[int, typer.Option(min=99, help="Random draws, where any are made.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0,
    format: Annotated[
        Literal["text", "csv", "jsonl", "markdown"],
        typer.Option("--format", "-f", help="How to print the comparisons."),
    ] = "text",
    rel: options.Rel = None,
    depth: options.Depth = None,
    judged_only: options.JudgedOnly = False,
    ties: options.Ties = "trec_eval",
    convention: options.Convention = None,
    missing: options.MissingQueries = "zero",
    empty: options.EmptyQueries = "zero",
    duplicates: options.Twice = "error",
    qrels_format: options.QrelsFormat = None,
    run_format: options.RunFormat = None,
    group: options.Group = None,
    plugin: options.Plugins = None,
) -> None:
    """Compare runs with each other: difference, interval, p, effect size, tiers.

    Queries are paired. With two runs, also the queries where they differ most.

    \b
    Examples:
      harness compare bm25.run dense.run --qrels qrels.txt -m map -m ndcg@10
      harness compare bm25 lambdamart gbrt --results results/sweep --test randomization
    """
    from .. import direct, versus
    from ..core.bounds import BOUNDS, without_bounds

    versus.check_arguments(runs, qrels, results, metrics or [])
    if results is not None:
        board, named = versus.from_results(results, runs, dataset), tuple(metrics or ())
    else:
        versus.check_metrics(metrics or [])
        policy = Policy(
            ties=without_bounds(ties), missing_queries=missing, empty_queries=empty, depth=depth,
            judged_only=judged_only,
        )  # fmt: skip
        named = ()
        board = direct.evaluate_files(
            str(qrels), runs, metrics or [], policy=policy, bounds=ties == BOUNDS, rel=rel,
            convention=convention, duplicates=duplicates, qrels_format=qrels_format,
            run_format=run_format, group=group, plugins=plugin or [],
        )  # fmt: skip
    first = (board.entries[0].run,) if not all_pairs else ()
    plan = Plan(
        tuple(baseline or first), test, correction, family, level, interval, draws, seed, named
    )
    output.show(versus.render(board, plan, format, **plain.width(format)))
