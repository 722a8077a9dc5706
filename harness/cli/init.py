"""``harness init``."""

from __future__ import annotations

from pathlib import Path

import click

from ..config import init
from ..errors import UnknownNameError, counted
from . import options
from .printing import show

_FOLDERS = "Folders of qrels and runs; by default this one."
_OUTPUT = "Write the config into this file; by default, harness.yaml."


@options.command()
@options.argument("folders", "[FOLDER]...", _FOLDERS, nargs=-1, type=Path)
@options.path("--output", "-o", metavar="FILE", help=_OUTPUT)
@click.option("--print", "prints", is_flag=True, help="Print the config instead of writing a file.")
@options.flag("--force", "Write over a file.")
def command(folders: tuple[Path, ...], output: Path | None, prints: bool, force: bool) -> None:
    """Write a config for folders of qrels and runs.

    The command detects the formats of the files, the qrels of each run, and the folds, seeds and
    models in file names. Comments in the config list guesses, and each unused file with the reason.
    Paths start at the folder of the config, or with --print at the current folder.

    \b
    Examples:
      harness init
      harness init runs/letor --output configs/letor.yaml
      harness init runs/trec --print
    """
    folders = folders or (Path("."),)
    if prints:
        options.refuse(("force",), "--print, which writes no file")
        if output is not None:
            message = f"expected --print or --output, got both (--output {output})"
            raise UnknownNameError(message, fix="leave one of them out")
        show(init.propose_config(folders, Path.cwd(), "harness.yaml")[0])
        return
    output = output or Path("harness.yaml")
    proposal = init.save_config(folders, output, force=force)
    show(f"written: {output}; see its cells with: harness run {output} --dry-run\n")
    n_guesses = sum(bool(entry.note) for entry in proposal.runs)
    notes = [counted(len(proposal.aside), "file") + " left out"] if proposal.aside else []
    notes += [counted(n_guesses, "guess", "guesses")] if n_guesses else []
    if notes:
        show(f"read its comments: {' and '.join(notes)}\n")
