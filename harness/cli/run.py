"""``harness run``."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path

import click

from ..experiment import run as experiment
from ..experiment.cache import LARGE, Cache
from ..experiment.results import render_comparisons
from ..experiment.workers import prepare
from ..guard.findings import warning_summary
from ..reports.leaderboard import find, names
from . import options
from .printing import file_list, show, terminal_width


@options.command()
@click.argument(
    "config", metavar="CONFIG", type=Path, help="A YAML config, such as configs/quickstart.yaml."
)
@options.overrides
@options.flag("--dry-run", "Print the cells that would be evaluated, and stop.")
@options.workers
@options.flag("--force", "Replace edited or foreign files in the output folder.")
@options.flag("--strict", "Exit 1 if the guard warns of anything.")
@options.sort
@options.format_option(*names(), default="table", help="How to print the values.")
def command(
    config: Path, overrides: tuple[str, ...], dry_run: bool, jobs: int, scheduler: str | None,
    worker_timeout: int | None, force: bool, strict: bool, sort: str | None, format: str,
) -> None:  # fmt: skip
    """Evaluate every run that a config names, and write the leaderboard.

    Prints the leaderboard and writes leaderboard.csv, per_query.parquet and manifest.json into
    the config's output folder. Evaluated cells are kept in its folder 'cells', so a stopped run
    continues where it was. Use --force to replace files that harness did not write, or that were
    edited since. Exits 2 if a run cannot be evaluated; the others are evaluated all the same.

    \b
    Example:
      harness run configs/quickstart.yaml --set policy.ties=stable
    """
    overrides = (*overrides, f"sort={sort}") if sort else overrides
    if dry_run:
        options.allow(("config", "overrides", "dry_run"), "--dry-run")
        show(experiment.plan(config, overrides=overrides))
        return
    if jobs > 1 and not scheduler:
        prepare()
    began = time.monotonic()
    results = experiment.run(
        config, overrides=overrides, jobs=jobs, scheduler=scheduler,
        worker_timeout=worker_timeout, force=force,
    )  # fmt: skip
    width = terminal_width(format)
    failed = tuple(replace(one, error=one.brief or one.error) for one in results.leaderboard.failed)
    board = replace(results.leaderboard, failed=failed)  # all of each error is printed below
    slices = {one.dataset for one in board.entries if one.evaluation.group}
    if format != "table":
        slices.clear()
    entries = tuple(one for one in board.entries if one.dataset not in slices)
    show(find(format).render(replace(board, entries=entries), **width))
    if slices:
        where = _relative(results.folder)
        table = f"harness table {shlex.quote(where)} --dataset '*[*'"
        has_page = "page.html" in results.files
        show(f"\nslices: {len(slices)}, see {f'{where}/page.html' if has_page else table}\n")
    if results.comparisons is not None:
        comparisons = render_comparisons(results.comparisons, format, **width)
        show(f"\n{comparisons}" if comparisons else "")
    written = f"\nwritten to {_relative(results.folder)}: {file_list(tuple(results.files))}\n"
    show(written, error=format != "table")
    cells = len(results.cells.entries) + len(results.board.failed)
    if results.board.columns and cells > 1:
        seconds = f"{time.monotonic() - began:,.0f} s"
        show(f"{cells:,} cells, {results.cached:,} from cache, {seconds}\n", error=True)
    cache = Cache(results.config.cache_folder)
    if (size := cache.size()) > LARGE:
        what = f"the cache has {size / 1e9:,.1f} GB; you can delete it at any time"
        show(f"{cache.folder}: {what}\n", error=True)
    for error in results.errors:
        show(f"error: {error}\n", error=True)
    if failed:
        raise click.exceptions.Exit(2)
    if strict and warning_summary((one.rule, one.severity) for one in results.findings):
        raise click.exceptions.Exit(1)


def _relative(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path.resolve())
