"""``harness cache``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from ..experiment import cache_upkeep as upkeep
from ..readers.files import remove_abandoned
from . import options
from .printing import show, terminal_width

OPTIONS = {"list": ["format"], "prune": ["keep", "days", "delete"], "verify": ["recompute"]}


@click.command()
@click.argument(
    "action", metavar="list|prune|verify", type=options.NearestChoice(["list", "prune", "verify"]),
    help="What to do, as above.",
)  # fmt: skip
@click.argument(
    "place", metavar="RESULTS|CONFIG|FOLDER", type=Path,
    help="Results, a config, or a shared cache itself.",
)  # fmt: skip
@options.path(
    "--keep", metavar="CONFIG|RESULTS", multiple=True,
    help="prune: keep the records of these; repeatable.",
)  # fmt: skip
@options.whole("--days", least=0, help="prune: only what is older than N days.")
@options.flag("--delete", "prune: delete the records, not just list them.")
@options.whole("--recompute", least=0, default=0, help="verify: evaluate one in N cells again.")
@options.format_option("text", "json", help="list: how to print it.")
def command(
    action: Literal["list", "prune", "verify"], place: Path, keep: tuple[Path, ...],
    days: int | None, delete: bool, recompute: int, format: Literal["text", "json"],
) -> None:  # fmt: skip
    """List, prune or verify cached cells.

    \b
    list    the cell, size and age of each record (--format)
    prune   list the records that RESULTS or CONFIG and those of --keep no longer
            need; --delete deletes them, in the folder of results alone: to prune
            a shared cache, name the cache (--keep, --days, --delete)
    verify  check that each record can be read and holds what was written;
            exits 1 if one does not (--recompute)

    You can delete a cache at any time: missing cells are computed again.

    \b
    Examples:
      harness cache list results/quickstart
      harness cache prune results/quickstart --days 30
      harness cache verify configs/quickstart.yaml --recompute 5
    """
    for other, names in OPTIONS.items():
        if other != action:
            options.refuse(names, f"cache {action}")
    folder, width = upkeep.folder_of(place), terminal_width(format)
    if action == "prune":
        if delete:
            upkeep.check_deletable(folder, place)
        own = [] if folder.resolve() == place.resolve() else [place]
        places = [*own, *keep]
        gone, total = upkeep.unneeded(folder, places, days)
        show(upkeep.table(gone, **width) if gone else "")
        if delete:
            remove_abandoned(folder)
            for one in gone:
                one.path.unlink(missing_ok=True)
        done = "deleted" if delete else "can go; --delete deletes them"
        show(f"{folder}: {len(gone):,} of {total:,} records {done}\n")
        return
    found = list(upkeep.records(folder))
    if action == "list":
        show(upkeep.as_json(found) if format == "json" else upkeep.table(found, **width))
        return
    again = list(upkeep.recomputed(place, found, recompute)) if recompute else None
    show(upkeep.checked(found, again))
    if any(one.error for one in (*found, *(again or ()))):
        raise click.exceptions.Exit(1)
