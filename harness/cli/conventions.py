"""``harness conventions``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

import click

from ..audit import convention_match, conventions_report
from ..audit.convention_match import Matches
from ..audit.conventions import conventions
from ..errors import UnknownNameError
from . import options
from .printing import show, show_grids

Format = Literal["text", "csv", "html"]
_RESULTS = "A folder that 'harness run' wrote, or a YAML config."


@options.command()
@options.argument("results", "RESULTS|CONFIG", _RESULTS, type=Path)
@options.metrics("Metric to use instead of the config's")
@options.many("--convention", "tools", metavar="TOOL", help="Compare with this convention only")
@click.option("--match", metavar="VALUE", help="Find the settings that give this published value.")
@options.many("--run", metavar="RUN", help="Use only this run")
@options.many("--dataset", metavar="DATASET", help="Use only this dataset")
@options.overrides
@options.format_option(*get_args(Format), help="Format of the output; html is a complete page.")
@options.flag("--details", "Print every table, or every setting that fits.")
def command(results: Path, format: Format, details: bool, **settings: Any) -> None:
    """Compute a leaderboard as each other tool would.

    The command prints a line for each dataset and metric: the choice (gain, ties, empty queries...)
    that changes a value most, the largest range of a system, and the number of conventions that
    change the order of systems or the best one. Systems are the rows of the leaderboard.
    Conventions without values for at least two systems are left out.

    With --match, the command prints the settings under which a system has a published value, such
    as 0.4731, .473 or 47.31%. It first tries the settings of each tool. If none fits, it also tries
    each with one setting changed. It tries a metric without a cutoff, such as ndcg, at the usual
    cutoffs. It exits with 1 if no setting fits.

    \b
    Examples:
      harness conventions configs/quickstart.yaml
      harness conventions results/quickstart -m ndcg@10 --convention lightgbm
      harness conventions results/quickstart --match 0.8712 -m ndcg
    """
    if settings["match"] is not None and format == "html":
        fix = "write --format text or --format csv"
        raise UnknownNameError("--format html is not for --match", fix=fix)
    compared = conventions(results, **settings)
    if isinstance(compared, Matches):
        show_grids(convention_match.grids(compared, details), format, compared.rows)
        if not compared.fits:
            raise click.exceptions.Exit(1)
    elif format == "html":
        show(conventions_report.page(compared))
    else:
        tables = conventions_report.grids(compared, details, bool(settings["tools"]))
        show_grids(tables, format, conventions_report.records(compared))
