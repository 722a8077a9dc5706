"""``harness correlate``."""

from __future__ import annotations

from pathlib import Path

import click

from .. import files as output
from ..experiment import folder
from ..reports import similarity as report
from ..stats.metric_correlation import correlations
from . import options


@click.command(cls=options.Command)
@options.results
@options.many("--metric", "-m", "metrics", metavar="METRIC", help="Only this one")
@click.option("--draws", metavar="N", type=options.Whole(1), default=1000, help="Samples.")
@options.format_option(*report.FORMATS, help="How to print it.")
def command(results: Path, metrics: tuple[str, ...], draws: int, format: str) -> None:
    """Compare how metrics rank the systems.

    Prints tau-b and tau_ap of every pair of metrics with intervals; pairs that agree least first.

    \b
    Examples:
      harness correlate results/quickstart
    """
    found = correlations(folder.read(results).systems, metrics, draws=draws)
    grids = report.correlation_grids(found)
    output.show(report.render(grids, report.correlation_records(found), format))
