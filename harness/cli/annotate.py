"""``harness annotate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..errors import lines_of
from ..experiment.annotate import annotate
from . import options
from .printing import show


@click.command()
@options.several("runs", "RUN...", "TREC runs, as they are.", type=Path)
@options.path(
    "--out", "-o", metavar="OUT", required=True, help="A file; a folder for several runs."
)
@options.many("--set", "settings", metavar="KEY=VALUE", help="Set one key, such as actor.name=Me")
@options.path("--from", "template", metavar="YAML", help="A file with metadata.")
@options.flag("--here", "The runs were made here: add platform and versions.")
@options.flag("--force", "Replace OUT.")
def command(runs: tuple[Path, ...], out: Path, **settings: Any) -> None:
    """Write runs with ir_metadata: who made them, how, on what, in comment lines at the head.

    OUT gets the lines of the run unchanged, and its tag. Metadata at its head stays too, unless
    --from or --set replace it. 'harness run' reads the metadata into manifest.json. trec_eval and
    pytrec_eval cannot read comment lines. An OUT that ends in .gz, .bz2, .xz or .zst is compressed;
    .zst has no checksum, so damage to it goes unseen.

    \b
    Examples:
      harness annotate bm25.run --set "actor.name=A. Author" --here -o annotated/bm25.run
      harness annotate runs/*.run --from metadata.yaml -o annotated/
    """
    for path, content in annotate(runs, out, **settings):
        show(lines_of([f"{path}: {', '.join(content) or 'no metadata'}"]))
