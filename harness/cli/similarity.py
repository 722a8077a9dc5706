"""``harness similarity``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..experiment.rankings import similarities
from ..experiment.results import read_results
from ..metrics.rank_similarity import Measure
from ..reports import rankings as report
from ..stats.metric_correlation import correlations
from . import options
from .printing import show_grids

_OF_RUNS = ("measure", "p", "depth", "near")
_NEAR = "List pairs with at least this similarity."
_OF_METRICS = ("metrics", "draws")


@options.command()
@options.results
@options.choice("--measure", Measure, default="rbo", help="Measure of similarity.")
@options.persistence
@options.whole("--depth", least=1, default=1000, help="Compare only the first N documents.")
@click.option("--near", metavar="X", type=float, default=0.95, help=_NEAR)
@options.many("--dataset", "datasets", metavar="DATASET", help="Use only this dataset")
@click.option("--metrics", "of_metrics", is_flag=True, help="Compare metrics instead of runs.")
@options.metrics("A metric to compare, with --metrics")
@options.whole("--draws", least=1, default=1000, help="Bootstrap samples, with --metrics.")
@options.format_option(*report.FORMATS, help="Format; csv and jsonl have every pair.")
def command(results: Path, near: float, of_metrics: bool, format: str, **settings: Any) -> None:
    """Find runs with similar rankings, or metrics that agree.

    The command compares the rankings of every pair of runs, query by query, by rank-biased overlap
    or the overlap of their first documents. It does not use qrels.

    With --metrics, it prints tau-b and tau_ap of the orders of systems by every pair of metrics,
    with intervals. Pairs that agree least come first.

    \b
    Examples:
      harness similarity results/quickstart
      harness similarity results/quickstart --measure overlap --depth 20
      harness similarity results/quickstart --metrics -m map -m ndcg@10
    """
    metrics, draws = settings.pop("metrics"), settings.pop("draws")
    if of_metrics:
        options.refuse(_OF_RUNS, "--metrics")
        systems = read_results(results).systems
        agreement = correlations(systems, metrics, settings["datasets"], draws=draws)
        show_grids(report.correlation_grids(agreement), format, [*map(vars, agreement)])
        return
    options.refuse(_OF_METRICS, "rankings of runs: it needs --metrics")
    pairs = similarities(read_results(results).config, **settings)
    show_grids(report.similarity_grids(pairs, near), format, report.similarity_records(pairs))
