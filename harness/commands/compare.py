"""The arguments of ``harness compare``; what it does is loaded when it is called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import output, plain
from ..core.plan import LEAST_DRAWS, Correction, Family, IntervalMethod, Plan
from ..core.policy import Policy
from ..errors import UnknownNameError
from . import options


def compare_command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN_A RUN_B...|OLD NEW",
            help="Run files; names, with --results; or two folders of results or CSV leaderboards.",
        ),
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
    draws: Annotated[
        int, typer.Option(min=LEAST_DRAWS, help="Random draws, where any are made.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0,
    format: Annotated[
        Literal["text", "csv", "jsonl", "markdown"],
        typer.Option("--format", "-f", help="How to print the comparisons."),
    ] = "text",
    tolerance: options.Tolerance = None,
    any_change: options.AnyChange = False,
    lower: options.Lower = None,
    key: options.Keys = None,
    name: options.Renamed = None,
    persistence: options.Persistence = None,
    reproduction: options.Reproduction = False,
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
    from .. import direct, versus
    from ..core.bounds import BOUNDS, without_bounds

    if all_pairs and baseline:
        raise UnknownNameError(
            "--all-pairs compares every run with every other, and --baseline all with one: "
            "leave one of them out"
        )
    if qrels is None and results is None and versus.are_boards(runs):
        plan = Plan(tuple(baseline or ()), test, correction, family, level, interval, draws, seed)
        _changes(
            runs, plan, format, any_change, metrics=metrics or (), dataset=dataset,
            tolerance=tolerance, lower=lower or (), keys=key or (), names=_pairs(name or ()),
            p=0.9 if persistence is None else persistence, reproduction=reproduction,
        )  # fmt: skip
        return
    for option, given in (
        ("--tolerance", tolerance is not None), ("--any-change", any_change), ("--lower", lower),
        ("--key", key), ("--name", name), ("--p", persistence is not None),
        ("--reproduction", reproduction),
    ):  # fmt: skip
        if given:
            raise UnknownNameError(
                f"{option} is for two folders of results or two CSV leaderboards"
            )
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


def _changes(runs: list[str], plan: Plan, format: str, any_change: bool, **asked: Any) -> None:
    """Compare two leaderboards, and exit 1 where the new one is worse."""
    from ..changes import changes, render

    found = changes(runs[0], runs[1], plan=plan, **asked)
    output.show(render(found, format, **plain.width(format)))
    if found.has_regression or (any_change and found.has_change):
        raise typer.Exit(1)


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return what was written as OLD=NEW."""
    found = []
    for name in names:
        both = re.fullmatch(r"((?:[^=()]|\([^()]*\))+)=(.+)", name)  # map(rel=2)=MAP
        if both is None:
            raise UnknownNameError(f"--name {name}: write it as OLD=NEW, such as BM25=bm25")
        found.append((both[1], both[2]))
    return found
