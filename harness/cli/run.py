"""``harness run``."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..errors import counted
from ..experiment import run as experiment
from ..experiment.cache import LARGE, Cache
from ..experiment.results import PAGE, Results, render_comparisons
from ..experiment.workers import prepare
from ..guard.findings import warning_summary
from ..input_files import url_of
from ..reports.comparisons import SHOWN
from ..reports.leaderboard import REPORTS, render_leaderboard
from ..stats.comparison import REFERENCE_RUNS
from . import options
from .printing import file_list, show, terminal_width, with_short_errors, wrapped

_CONFIG = "A YAML config, such as configs/quickstart.yaml."


@options.command()
@options.argument("config", "CONFIG", _CONFIG, type=Path)
@options.overrides
@options.flag("--dry-run", "Print the cells that would be evaluated, and stop.")
@options.workers
@options.flag("--force", "Replace edited or foreign files in the output folder.")
@options.flag("--strict", "Exit 1 if the guard warns of anything.")
@options.sort
@options.format_option(*REPORTS, default="table", help="Format of the output.")
def command(
    config: Path, dry_run: bool, strict: bool, sort: str | None, format: str, **settings: Any
) -> None:
    """Evaluate every run of a config, and write a leaderboard.

    The command prints the leaderboard, and writes leaderboard.csv, per_query.parquet and
    manifest.json into the output folder of the config. Results are cached in its subfolder 'cells':
    if a run stops, start it again, and it continues. --set replaces a key of the config, as in
    metrics=map or output=FOLDER. --force replaces files that harness did not write, or that were
    edited since. If a run cannot be evaluated, the command evaluates the others and exits with 2.

    \b
    Examples:
      harness run configs/quickstart.yaml --set "metrics=[map, ndcg@10]"
      harness run configs/quickstart.yaml --set policy.ties=stable --jobs 2
    """
    settings["overrides"] += (f"--sort={sort}",) if sort else ()
    if dry_run:
        options.allow(("config", "overrides", "dry_run"), "--dry-run")
        show(experiment.plan(config, overrides=settings["overrides"]))
        return
    if settings["jobs"] > 1 and not settings["scheduler"]:
        prepare()
    began = time.monotonic()
    results = experiment.run(config, **settings)
    width = terminal_width(format)
    board = with_short_errors(results.leaderboard, format)
    slices = {entry.dataset for entry in board.entries if entry.evaluation.group}
    if format != "table":
        slices.clear()
    entries = tuple(entry for entry in board.entries if entry.dataset not in slices)
    board = replace(board, entries=entries)
    show(render_leaderboard(board, format, has_answers=results.comparisons is None, width=width))
    if results.comparisons is not None:
        comparisons = render_comparisons(results.comparisons, format, width=width)
        show(f"\n{comparisons}" if comparisons else "")
    show("\n", error=format != "table")
    written = f"written to {_relative(results.folder)}: {file_list(tuple(results.files))}"
    show("".join(f"{line}\n" for line in wrapped(written)), error=format != "table")
    cells = len(results.cells.entries) + len(results.board.failed)
    if results.board.columns and cells > 1:
        seconds = f"{time.monotonic() - began:,.0f} s"
        show(f"{cells:,} cells, {results.cached:,} from cache, {seconds}\n", error=True)
    cache = Cache(results.config.cache_folder)
    if (size := cache.size()) > LARGE:
        advice = f"the cache has {size / 1e9:,.1f} GB; you can delete it at any time"
        show(f"{cache.folder}: {advice}\n", error=True)
    for error in results.errors:
        show(f"error: {error}\n", error=True)
    overrides = [word for word in settings["overrides"] if not word.startswith("--")]
    steps = _next_steps(results, config, overrides, len(slices))
    show("\n" + "\n".join(steps) + "\n", error=format != "table")
    if board.failed:
        raise click.exceptions.Exit(2)
    if strict and warning_summary((x.rule, x.severity) for x in results.findings):
        raise click.exceptions.Exit(1)


NAMED = 10
"""Runs that a command to run next names, at most."""


def _next_steps(
    results: Results, config: Path, overrides: Sequence[str], n_slices: int
) -> Iterator[str]:
    """Yield the page to open, and two commands that suit the results."""
    folder, board = shlex.quote(_relative(results.folder)), results.leaderboard
    slices = f"  # with {counted(n_slices, 'group')} of queries" if n_slices else ""
    if PAGE in results.files:
        yield f"open {folder}/{PAGE}{slices}"
    words = [str(config), *(part for override in overrides for part in ("--set", override))]
    first = board.entries[0].dataset if board.entries else ""
    runs = [*dict.fromkeys(entry.run for entry in board.entries if entry.dataset == first)][:2]
    commands = [f"check {shlex.join(words)}"] if board.failed else []
    if slices and PAGE not in results.files:
        commands.append(f"table {folder} --dataset '*[*'{slices}")
    if board.entries and PAGE not in results.files:
        commands.append(f"page {folder}")
    if results.comparisons is None and len(runs) == 2:
        commands.append(f"compare {shlex.join(runs)} --results {folder}")
    rows = [] if results.comparisons is None else results.comparisons.rows
    names = dict.fromkeys(name for row in rows for name in (row.baseline, row.run))
    if len(rows) > SHOWN and len(names) <= NAMED and not names.keys() & REFERENCE_RUNS.keys():
        command = f"compare {shlex.join(names)} --results {folder}"
        commands.insert(0, f"{command}  # all {len(rows):,} comparisons")
    if board.entries:
        commands += [f"table {folder} --format latex", f"verify {folder}"]
    for place, command in enumerate(commands[:2]):
        yield f"{'      ' if place else 'next: '}harness {command}"


def _relative(path: Path) -> str:
    if url := url_of(path):
        return url
    folder = path.resolve()
    return str(folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)
