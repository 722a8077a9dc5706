"""``harness trec_eval``."""

from __future__ import annotations

import click

from ..compat import trec_eval


class Verbatim(click.Command):
    """A command that gets its words unchanged: trec_eval reads them as getopt does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave every word to the command."""
        ctx.params["words"] = args
        return []


@click.command(cls=Verbatim, add_help_option=False)
@click.argument("words", metavar="QRELS RUN", nargs=-1)
def command(words: list[str]) -> None:
    """Replace trec_eval in a script, byte for byte.

    \b
    Examples:
      harness trec_eval -m map -m P.5,10 runs/trec/qrels.txt runs/trec/bm25.run
      harness trec_eval -q -c -m all_trec qrels.txt bm25.run
    """
    raise click.exceptions.Exit(trec_eval.main(words))
