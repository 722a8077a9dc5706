"""The arguments of ``harness annotate``; what it does is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def annotate_command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="TREC runs, as they are.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="OUT", help="A file; a folder for several runs.")
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Such as actor.name=Me; repeatable."),
    ] = None,
    template: Annotated[
        Path | None, typer.Option("--from", metavar="YAML", help="A file with metadata.")
    ] = None,
    here: Annotated[
        bool,
        typer.Option("--here", help="The runs were made here: add platform and versions."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write OUT anew.")] = False,
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
    from .. import output
    from ..annotate import annotate
    from ..escaping import for_terminal, legible

    done = annotate(runs, out, settings=set_ or [], template=template, here=here, force=force)
    for path, content in done:
        said = f"{path}: {', '.join(content) or 'nothing known'}"
        output.show(f"{for_terminal(legible(said))}\n")
