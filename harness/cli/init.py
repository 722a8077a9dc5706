"""``harness init``."""

from __future__ import annotations

from pathlib import Path

import click

from ..config import init
from ..errors import Problem, UnknownNameError, counted
from . import options
from .printing import show


@options.command()
@click.argument(
    "folders", metavar="[FOLDER]...", nargs=-1, type=Path,
    help="Folders of qrels and runs; by default this one.",
)  # fmt: skip
@options.path(
    "--output", "-o", metavar="FILE",
    help="Write the config into this file; by default, harness.yaml.",
)  # fmt: skip
@click.option("--print", "prints", is_flag=True, help="Print the config; write no file.")
@options.flag("--force", "Write over a file.")
def command(folders: tuple[Path, ...], output: Path | None, prints: bool, force: bool) -> None:
    """Write a config for folders of qrels and runs.

    Finds out what the files hold, which run belongs to which qrels, and the folds, seeds and
    models in file names. Comments list its guesses, and every file that it does not use, with the
    reason. Paths start at the folder of the config, or at the current one with --print.

    \b
    Examples:
      harness init
      harness init runs/letor --output configs/letor.yaml
      harness init data predictions --print
    """
    folders = folders or (Path("."),)
    if prints:
        options.refuse(("force",), "--print, which writes no file")
        if output is not None:
            what = f"expected --print or --output, got both (--output {output})"
            raise UnknownNameError(Problem("", what, fix="leave one of them out"))
        show(init.propose_config(folders, Path.cwd(), "harness.yaml")[0])
        return
    output = output or Path("harness.yaml")
    made = init.save_config(folders, output, force=force)
    show(f"written: {output}; see its cells with: harness run {output} --dry-run\n")
    guesses = sum(bool(entry.note) for entry in made.runs)
    notes = [counted(len(made.aside), "file") + " left out"] if made.aside else []
    notes += [counted(guesses, "guess", "guesses")] if guesses else []
    if notes:
        show(f"read its comments: {' and '.join(notes)}\n")
