"""``harness trace``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..audit.trace import grids, trace
from ..errors import Problem, UnknownNameError, first_of
from ..experiment.results import read_results
from . import options
from .printing import show_grids


@options.command()
@options.results
@click.option("--run", metavar="RUN", help="Name of the run in the leaderboard; required.")
@click.option("--metric", "-m", metavar="METRIC", help="A metric of the leaderboard; required.")
@click.option("--query", metavar="QID", help="Show the ranking behind this query's value.")
@click.option("--dataset", metavar="DATASET", help="The dataset, if there are several.")
@options.many("--where", metavar="NAME=VALUE", help="Select a cell by a column, such as seed=1")
@options.inputs
@options.flag("--full", "Print every digit, hash and setting.")
def command(results: Path, where: tuple[str, ...], full: bool, **settings: Any) -> None:
    """Trace one number of a leaderboard to its files and settings.

    The command prints the inputs with their hashes, the numbers of queries, the settings of the
    metric that differ from the default, and versions. For a row of several cells, it prints the
    contribution of each fold and seed. With --query, it prints the ranking with grades, gains,
    discounts and the running value. It exits with 1 if the files now give another value.

    \b
    Examples:
      harness trace results/quickstart --run bm25 --metric map
      harness trace results/quickstart --run bm25 --metric ndcg@10 --query 1
    """
    if settings["run"] is None or settings["metric"] is None:
        outcome = read_results(results)
        known = {"run": outcome.runs, "metric": [*map(str, outcome.board.metrics)]}
        problems = [
            Problem("", f"missing option '--{name}'", fix=f"choose from {first_of(names)}")
            for name, names in known.items()
            if settings[name] is None
        ]
        raise UnknownNameError(problems)
    account = trace(results, where=dict(options.pairs("--where", where)), **settings)
    show_grids(grids(account, full))
    if not account.is_confirmed:
        raise click.exceptions.Exit(1)
