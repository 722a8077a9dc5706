"""``harness audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from ..audit.convention_audit import audit
from ..audit.convention_audit_report import grids, page, records
from . import options
from .printing import show, show_grids


@click.command()
@click.argument(
    "source", metavar="RESULTS|CONFIG", type=Path,
    help="A folder that 'harness run' wrote, or a YAML config.",
)  # fmt: skip
@options.metrics("Audit this metric instead of the config's")
@options.many(
    "--convention", "conventions", metavar="TOOL", help="Compare with this convention only"
)
@options.overrides
@options.format_option("text", "csv", "html", help="How to print it; html is a page of its own.")
@options.flag("--details", "Print every table, as with --convention.")
def command(
    source: Path, conventions: tuple[str, ...], format: Literal["text", "csv", "html"],
    details: bool, **settings: Any,
) -> None:  # fmt: skip
    """Compute the leaderboard under every convention: what changes with the tool, and why.

    Prints a line for each dataset and metric: the single choice (gain, ties, empty queries...)
    that changes a value most, the largest range of a system, and how many conventions change the
    order of systems or the best one. Systems are the rows of the leaderboard: 'summary:' takes
    folds and seeds together here too.

    \b
    Examples:
      harness audit configs/quickstart.yaml
      harness audit configs/quickstart.yaml -m ndcg@10 --convention lightgbm
      harness audit results/quickstart -m ndcg@10 --format html > audit.html
    """
    found = audit(source, conventions=conventions, **settings)
    if format == "html":
        show(page(found))
        return
    tables = grids(found, details or bool(conventions))
    show_grids(tables, format, records(found), piped_width=100)
