"""The arguments of ``harness why``; what it does is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options


def why_command(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A folder that 'harness run' wrote.")
    ],
    run: Annotated[str, typer.Option("--run", help="The run, as the leaderboard names it.")],
    metric: Annotated[str, typer.Option("--metric", "-m", help="One of the leaderboard's.")],
    query: Annotated[
        str | None,
        typer.Option("--query", metavar="QID", help="Show the ranking behind this one's value."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="The dataset, where there are several.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="NAME=VALUE", help="A column, such as seed=1; repeatable."),
    ] = None,
    inputs: options.Inputs = None,
) -> None:
    """Say where one number of a leaderboard comes from.

    Inputs and their hashes, how many queries went in and what was done with the others, every
    setting of the metric, versions. Of a row of several cells, what each fold and seed adds to
    it. With --query, the ranking: grades, gains, discounts and the running value; of a row of
    several seeds, the value of each and their mean. Exits 1 where the files give the query another
    value than the results hold.

    \b
    Examples:
      harness why results/quickstart --run bm25 --metric map
      harness why results/quickstart --run bm25 --metric ndcg@10 --query 301
    """
    from .. import output
    from ..why import QueryRow, Row, query_row, row_text, text, why

    found = why(
        results, run, metric, dataset=dataset, where=where or [], query=query, inputs=inputs
    )
    if isinstance(found, Row):
        output.show(row_text.render(found, str(results)))
    elif isinstance(found, QueryRow):
        output.show(query_row.render(found, str(results)))
    else:
        output.show(text.render(found))
    if not found.is_confirmed:
        raise typer.Exit(1)
