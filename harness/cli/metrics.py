"""``harness metrics``."""

from __future__ import annotations

from ..reports import catalogue
from . import options
from .printing import show

_NAME = "A metric, a convention, or a name of another tool."


@options.command()
@options.argument("name", "[NAME]", _NAME, required=False)
@options.flag("--conventions", "The settings that reproduce each tool.")
def command(name: str | None, conventions: bool) -> None:
    """List the metrics, or explain one.

    \b
    Examples:
      harness metrics ndcg                    its definition
      harness metrics "ndcg(gain=exp)@10"     all settings of this metric
      harness metrics ndcg --conventions      the tools that have it, side by side
      harness metrics lightgbm                what one tool does
      harness metrics accuracy                other tools' names, and ours
    """
    show(catalogue.show(name, conventions))
