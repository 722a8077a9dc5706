"""The arguments of ``harness init``; what it does is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init_command(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER",
            help="Judgements and runs, at any depth; the current folder by default.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it into this file."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file.")] = False,
) -> None:
    """Write a config for folders of judgements and runs.

    Finds out what the files hold, which run belongs to which judgements, and what names have in
    common: folds, seeds, models. What it cannot tell stands in comments. Without --output the
    config is printed, with paths as seen from the current folder.

    \b
    Examples:
      harness init runs/trec > trec.yaml
      harness init runs/letor --output configs/letor.yaml
      harness init data predictions
    """
    from .. import init
    from ..output import show

    given = folders or [Path(".")]
    if output is None:
        show(init.propose_config(given, Path.cwd()))
        return
    init.save(given, output, force=force)
    show(f"written: {output}; see its cells with: harness run {output} --dry-run\n")
