"""``harness run``, and its plain command lines read without Typer, as those of ``evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import output, plain
from .reports import names

FLAGS = {"--dry-run": "dry_run"}
LISTS = {"--set": "overrides"}
NUMBERS = {"--jobs": "jobs", "-j": "jobs"}
TEXTS = {"--scheduler": "scheduler", "--format": "format", "-f": "format"}


def arguments(words: Sequence[str]) -> dict[str, Any] | None:
    """Return what :func:`run` is asked to do, or None where Typer has to read the words.

    >>> arguments(["sweep.yaml", "-j", "2", "--set", "metrics=[map]"])
    {'jobs': 2, 'overrides': ['metrics=[map]'], 'config': 'sweep.yaml'}
    >>> arguments([]), arguments(["sweep.yaml", "--jobs=2"])
    (None, None)
    """
    read = plain.read_words(words, FLAGS, LISTS, NUMBERS, TEXTS, {"format": names()})
    if read is None or len(read[0]) != 1:
        return None
    files, given = read
    return {**given, "config": files[0]}


def run(
    config: str | Path, *, overrides: Sequence[str] = (), dry_run: bool = False, jobs: int = 1,
    scheduler: str | None = None, format: str = "table",
) -> bool:  # fmt: skip
    """Evaluate every run that a config names, write and print; return whether none failed."""
    if jobs > 1 and not (dry_run or scheduler):
        from .cells import processes

        processes.prepare(jobs)
    from . import experiment
    from .guard.in_one_line import warned

    if dry_run:
        from .config.patterns import hidden_folders
        from .errors import first_of
        from .escaping import legible

        with hidden_folders() as hidden:
            output.show(experiment.plan(config, overrides=overrides))
        left_out = first_of([*map(_relative, map(Path, hidden))])
        output.show(legible(f"left out, as hidden: {left_out}") + "\n" if hidden else "")
        return True
    results = experiment.run(config, overrides=overrides, jobs=jobs, scheduler=scheduler)
    board = results.leaderboard
    failed = tuple(replace(one, error=one.brief or one.error) for one in board.failed)
    plain.show(format, replace(board, failed=failed))  # all of each error is printed below
    if format == "table":
        said = warned((one.rule, one.severity) for one in results.findings)
        how = f"see manifest.json, or harness check {config}"
        output.show(f"guard: {said}; {how}\n" if said else "")
    if results.comparisons is not None:
        said = experiment.compared(results.comparisons, format, **plain.width(format))
        output.show(f"\n{said}" if said else "")
    listed = output.listed(results.files)
    written = f"\nwritten to {_relative(results.folder)}: {listed}\n"
    output.show(written, error=format != "table")
    for error in results.told:
        output.show(f"error: {error}\n", error=True)
    return not results.leaderboard.failed


def _relative(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path.resolve())
