"""``harness explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from .. import readers
from ..audit.explain import explain, grids
from ..errors import Problem, UnknownNameError
from . import options
from .printing import show_grids


@click.command()
@click.argument("value", metavar="VALUE", help="As it was printed: 0.4731, .473, 47.31%.")
@click.argument(
    "files", metavar="[QRELS RUN]", nargs=-1, help="Qrels and a run, as for 'evaluate'."
)
@options.metrics("A metric to try, such as ndcg or map@10")
@click.option(
    "--k", "-k", metavar="K", type=options.Whole(1), multiple=True,
    help="The cutoff, if you know it; repeatable.",
)  # fmt: skip
@click.option(
    "--depth", metavar="N", type=options.Whole(0, 3),
    help="Change at most this many settings of a convention.",
)  # fmt: skip
@options.path("--results", metavar="FOLDER", help="Results of 'harness run', for a cell.")
@click.option("--run", metavar="RUN", help="The cell's run.")
@click.option("--dataset", metavar="DATASET", help="The cell's dataset.")
@options.many("--where", metavar="NAME=VALUE", help="Select the cell by a column, such as seed=1")
@click.option(
    "--all", "everything", is_flag=True, help="List every explanation, and all its alternatives."
)
@options.format_option("text", "jsonl", help="How to print them.")
@options.file_formats
def command(
    value: str, files: tuple[str, ...], metrics: tuple[str, ...], k: tuple[int, ...],
    depth: int | None, results: Path | None, run: str | None, dataset: str | None,
    where: tuple[str, ...], everything: bool, format: Literal["text", "jsonl"],
    qrels_format: str | None, run_format: str | None, group: str | None,
) -> None:  # fmt: skip
    """Find the tool's settings that give a published value.

    Tries every convention unchanged, then with one and two settings changed, at the usual
    cutoffs, and prints what rounds to the value, the simplest first. If nothing fits, prints the
    nearest miss and exits with 1.

    \b
    Examples:
      harness explain 0.4731 qrels.txt bm25.run -m ndcg -k 10
      harness explain 47.31% --results results/quickstart --run bm25 -m ndcg
    """
    if results is None:
        if len(files) != 2 or run is not None or dataset is not None or where:
            what = f"expected QRELS and RUN alone, got {len(files)} of them"
            fix = "give both; --run, --dataset and --where need --results FOLDER"
            raise UnknownNameError(Problem("", what, fix=fix))
        reading: dict[str, Any] = {"group": group} if group else {}
        qrels = readers.read_qrels(files[0], format=qrels_format, **reading)
        scores = readers.read_run(files[1], dataset=qrels, format=run_format)
        found = explain(value, qrels, scores, metrics, k=k, depth=depth)
        found.subject = f"{Path(files[1]).name} on {Path(files[0]).name}"
    else:
        if files or run is None:
            what = "expected --run NAME, and no files"
            fix = "add --run NAME and leave QRELS and RUN out"
            raise UnknownNameError(Problem("--results", what, fix=fix))
        found = explain(
            value, None, run, metrics, k=k, depth=depth, results=results, dataset=dataset,
            where=dict(options.pairs("--where", where)),
        )  # fmt: skip
    show_grids(grids(found, everything), format, found.rows)
    if not found.explanations:
        raise click.exceptions.Exit(1)
