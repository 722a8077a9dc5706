"""``harness init``."""

from __future__ import annotations

from pathlib import Path

import click

from ..config import init
from ..files import show
from . import options


@click.command(cls=options.Command)
@click.argument(
    "folders",
    metavar="[FOLDER]...",
    nargs=-1,
    type=Path,
    help="Folders of judgements and runs; by default this one.",
)
@click.option("--output", "-o", metavar="FILE", type=Path, help="Write it into this file.")
@click.option("--force", is_flag=True, help="Write over a file.")
def command(folders: tuple[Path, ...], output: Path | None, force: bool) -> None:
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
    folders = folders or (Path("."),)
    if output is None:
        show(init.propose_config(folders, Path.cwd()))
        return
    init.save(folders, output, force=force)
    show(f"written: {output}; see its cells with: harness run {output} --dry-run\n")
