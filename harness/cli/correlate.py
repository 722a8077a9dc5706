"""``harness correlate``."""

from __future__ import annotations

from pathlib import Path

import click

from ..experiment.results import read_results
from ..reports import rankings as report
from ..stats.metric_correlation import correlations
from . import options
from .printing import show_grids


@click.command()
@options.results
@options.metrics("Only this one")
@options.whole("--draws", least=1, default=1000, help="Number of bootstrap samples.")
@options.format_option(*report.FORMATS, help="How to print it.")
def command(results: Path, metrics: tuple[str, ...], draws: int, format: str) -> None:
    """Compare how metrics rank the systems.

    Prints tau-b and tau_ap of every pair of metrics with intervals; pairs that agree least first.

    \b
    Examples:
      harness correlate results/quickstart
    """
    found = correlations(read_results(results).systems, metrics, draws=draws)
    grids = report.correlation_grids(found)
    show_grids(grids, format, report.correlation_records(found))
