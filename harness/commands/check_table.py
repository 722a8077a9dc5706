"""The arguments of ``harness check-table``; what it does is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ..core.plan import Correction


def check_table_command(
    paper: Annotated[
        Path, typer.Argument(metavar="PAPER", help="LaTeX, Markdown, CSV or HTML, with a table.")
    ],
    results: Annotated[
        Path, typer.Option("--results", metavar="FOLDER", help="What 'harness run' wrote.")
    ],
    tables: Annotated[
        list[str] | None,
        typer.Option("--table", help="Its label or number; repeatable. All where left out."),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="OLD=NEW", help="What one is called there; repeatable."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Whose values a table holds that does not say it.")
    ] = None,
    baselines: Annotated[
        list[str] | None,
        typer.Option("--baseline", "-b", help="Compare anew, with this run; repeatable."),
    ] = None,
    test: Annotated[
        str | None, typer.Option("--test", "-t", help="Compare anew, by this test.")
    ] = None,
    correction: Annotated[
        Correction | None, typer.Option(help="Compare anew, with this correction.")
    ] = None,
    format: Annotated[
        Literal["text", "jsonl"], typer.Option("--format", "-f", help="How to print it.")
    ] = "text",
) -> None:
    """Check the table of a paper: derive each number again, and its marks.

    Finds numbers by the names of rows and columns, and says which digits, roundings, bold and
    underlined values, marks of significance and deviations are wrong, and where. Exits 1 where
    any is.

    \b
    Examples:
      harness check-table paper.tex --results results/compare
      harness check-table README.md --results results/paper
    """
    from .. import output
    from ..check_table import check_table

    plan = {"baselines": tuple(baselines or ()), "test": test, "correction": correction}
    compared = {key: value for key, value in plan.items() if value}
    text, is_right = check_table(
        paper,
        results,
        tables=tables or [],
        names=names or [],
        dataset=dataset,
        compared=compared,
        format=format,
    )
    output.show(text)
    if not is_right:
        raise typer.Exit(1)
