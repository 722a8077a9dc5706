"""The arguments of ``harness explain``; what it does is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def explain_command(
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="As it was printed: 0.4731, .473, 47.31%.")
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="QRELS RUN", help="Judgements and a run, as for 'evaluate'."),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="What the value may be, such as ndcg or map@10; repeatable. "
            "All that a convention has where left out.",
        ),
    ] = None,
    k: Annotated[
        list[int] | None,
        typer.Option("--k", "-k", min=1, help="The cutoff, where it is known; repeatable."),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            min=0,
            max=3,
            help="How many settings of a convention are changed at most: 2; 1 without --metric.",
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="FOLDER", help="Results of 'harness run', for a cell."),
    ] = None,
    run: Annotated[str | None, typer.Option("--run", help="The cell's run.")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="The cell's dataset.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="NAME=VALUE", help="The cell's column, such as seed=1."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="List every explanation, and all its alternatives.")
    ] = False,
    format: Annotated[
        Literal["text", "jsonl"], typer.Option("--format", "-f", help="How to print them.")
    ] = "text",
    qrels_format: Annotated[
        str | None, typer.Option(help="Format of QRELS, where it cannot be told.")
    ] = None,
    run_format: Annotated[
        str | None, typer.Option(help="Format of RUN, where it cannot be told.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="LightGBM's file of group sizes, for QRELS without qids.")
    ] = None,
) -> None:
    """Say which tool's settings give a published value.

    Tries every convention as it stands, then with one and two settings changed, at the usual
    cutoffs, and prints what rounds to the value, the simplest first. Exits 1 where nothing does,
    and prints what comes nearest.

    \b
    Examples:
      harness explain 0.4731 qrels.txt bm25.run -m ndcg -k 10
      harness explain 47.31% --results results/quickstart --run bm25 -m ndcg
    """
    from .. import output
    from . import command

    text, found = command.explain_files(
        value, files or [], metrics=metrics or [], k=k or [], depth=depth, results=results,
        run=run, dataset=dataset, where=where or [], everything=everything, format=format,
        qrels_format=qrels_format, run_format=run_format, group=group,
    )  # fmt: skip
    output.show(text)
    if not found:
        raise typer.Exit(1)
