"""``harness metrics``."""

from __future__ import annotations

import click

from .. import files as output
from ..audit import catalogue
from . import options


@click.command(cls=options.Command)
@click.argument(
    "name",
    metavar="[NAME]",
    required=False,
    help="A metric or a convention, such as ndcg or lightgbm.",
)
@click.option("--conventions", is_flag=True, help="The settings that reproduce each tool.")
def command(name: str | None, conventions: bool) -> None:
    """List the metrics, or define one: formula, parameters, settings, source.

    \b
    Examples:
      harness metrics ndcg                             its definition
      harness metrics "ndcg(convention=lightgbm)@10"   every setting of this spelling
      harness metrics ndcg --conventions               the tools that have it, side by side
      harness metrics lightgbm                         what one tool does
    """
    output.show(catalogue.show(name, conventions))
