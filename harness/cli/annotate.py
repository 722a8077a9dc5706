"""``harness annotate``."""

from __future__ import annotations

from pathlib import Path

import click

from .. import files as output
from ..errors import for_terminal, legible
from ..experiment.annotate import annotate
from . import options


@click.command(cls=options.Command)
@click.argument(
    "runs", metavar="RUN...", nargs=-1, required=True, type=Path, help="TREC runs, as they are."
)
@click.option(
    "--out",
    "-o",
    metavar="OUT",
    required=True,
    type=Path,
    help="A file; a folder for several runs.",
)
@options.many("--set", "settings", metavar="KEY=VALUE", help="Such as actor.name=Me")
@click.option("--from", "template", metavar="YAML", type=Path, help="A file with metadata.")
@click.option("--here", is_flag=True, help="The runs were made here: add platform and versions.")
@click.option("--force", is_flag=True, help="Replace OUT.")
def command(
    runs: tuple[Path, ...],
    out: Path,
    settings: tuple[str, ...],
    template: Path | None,
    here: bool,
    force: bool,
) -> None:
    """Write runs with ir_metadata: who made them, how, on what, in comment lines at the head.

    The run itself is never changed, and its lines stay as they are. What its head says already
    stays too, unless --from or --set say otherwise; its tag is added. 'harness run' reads the
    metadata into manifest.json. trec_eval and pytrec_eval cannot read comment lines. An OUT that
    ends in .gz, .bz2, .xz or .zst is compressed; .zst has no checksum, by which damage is seen.

    \b
    Examples:
      harness annotate bm25.run --set "actor.name=A. Author" --here -o annotated/bm25.run
      harness annotate runs/*.run --from metadata.yaml -o annotated/
    """
    done = annotate(runs, out, settings=settings, template=template, here=here, force=force)
    for path, content in done:
        line = legible(f"{path}: {', '.join(content) or 'nothing known'}")
        output.show(f"{for_terminal(line)}\n")
