"""``harness trace``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..audit.trace import grids, trace
from . import options
from .printing import show_grids


@options.command()
@options.results
@click.option("--run", metavar="RUN", required=True, help="The run, as the leaderboard names it.")
@click.option(
    "--metric", "-m", metavar="METRIC", required=True, help="A metric of the leaderboard."
)
@click.option("--query", metavar="QID", help="Show the ranking behind this query's value.")
@click.option("--dataset", metavar="DATASET", help="The dataset, if there are several.")
@options.many("--where", metavar="NAME=VALUE", help="Select a cell by a column, such as seed=1")
@options.inputs
def command(results: Path, where: tuple[str, ...], **settings: Any) -> None:
    """Show where one number of a leaderboard comes from.

    Prints inputs and their hashes, how many queries count and what happened to the others, every
    setting of the metric, and versions. For a row of several cells, prints what each fold and seed
    adds. With --query, prints the ranking: grades, gains, discounts and the running value. Exits 1
    if the files give the query a different value than the results hold.

    \b
    Examples:
      harness trace results/quickstart --run bm25 --metric map
      harness trace results/quickstart --run bm25 --metric ndcg@10 --query 1
    """
    account = trace(results, where=dict(options.pairs("--where", where)), **settings)
    show_grids(grids(account))
    if not account.is_confirmed:
        raise click.exceptions.Exit(1)
