"""``harness check-table``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .. import files as output
from ..audit.check_table import check_table
from . import options


@click.command(cls=options.Command)
@click.argument(
    "paper", metavar="PAPER", type=Path, help="LaTeX, Markdown, CSV or HTML, with a table."
)
@click.option(
    "--results", metavar="FOLDER", required=True, type=Path, help="What 'harness run' wrote."
)
@options.many("--table", "tables", metavar="TABLE", help="Its label or number, by default all")
@options.many(
    "--name", "names", metavar="OURS=THEIRS", help="A name in the results, and the paper's"
)
@click.option("--dataset", metavar="DATASET", help="The dataset of tables that name none.")
@options.comparison
@options.format_option("text", "jsonl")
def command(
    paper: Path, results: Path, baselines: tuple[str, ...], test: str | None,
    correction: str | None, **settings: Any,
) -> None:  # fmt: skip
    """Check the numbers and marks of a paper's table against your results.

    Finds numbers by the names of rows and columns. Reports wrong digits, roundings, deviations,
    bold and underlined values and significance marks, with file and line. Exits with 1 if
    anything is wrong.

    \b
    Examples:
      harness check-table paper.tex --results results/compare
      harness check-table README.md --results results/paper
    """
    plan = options.changed_plan(baselines, test, correction)
    text, is_right = check_table(paper, results, compared=plan, **settings)
    output.show(text)
    if not is_right:
        raise click.exceptions.Exit(1)
