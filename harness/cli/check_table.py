"""``harness check-table``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..audit.check_table import check_table, grids, records
from ..stats.comparison import changed_plan
from . import options
from .printing import show_grids


@click.command()
@click.argument(
    "paper", metavar="PAPER", type=Path, help="LaTeX, Markdown, CSV or HTML, with a table."
)
@options.path(
    "--results", metavar="FOLDER", required=True, help="A folder that 'harness run' wrote."
)
@options.many(
    "--table", "tables", metavar="TABLE", help="Label or number of a table; by default all"
)
@options.many(
    "--name", "names", metavar="OURS=THEIRS", help="A name in the results, and the paper's"
)
@click.option(
    "--dataset", metavar="DATASET", help="The table's dataset, if the table does not name it."
)
@options.comparison
@options.format_option("text", "jsonl")
def command(
    paper: Path, results: Path, baselines: tuple[str, ...], test: str | None,
    correction: str | None, format: str, **settings: Any,
) -> None:  # fmt: skip
    """Check the table of a paper: derive each number again, and its marks.

    Finds numbers by the names of rows and columns. Reports wrong digits, roundings, bold and
    underlined values, marks of significance and deviations, with their lines. Exits 1 if any is
    wrong.

    \b
    Examples:
      harness check-table paper.tex --results results/compare
      harness check-table README.md --results results/paper
    """
    plan = changed_plan(baselines, test, correction)
    settings["names"] = options.pairs("--name", settings["names"])
    found = check_table(paper, results, compared=plan, **settings)
    show_grids(grids(found), format, list(records(found)))
    if not found.is_right:
        raise click.exceptions.Exit(1)
