"""``harness cache``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from .. import files as store
from ..experiment import cache_upkeep as upkeep
from . import options

_OF = {"--format": "list", "--recompute": "verify"}
"""Whose options they are; the others are prune's."""


@click.command(cls=options.Command)
@click.argument(
    "action",
    metavar="list|prune|verify",
    type=options.Choice(["list", "prune", "verify"]),
    help="What to do, as above.",
)
@click.argument(
    "place",
    metavar="RESULTS|CONFIG|FOLDER",
    type=Path,
    help="Results, a config, or a shared cache itself.",
)
@click.option(
    "--keep",
    metavar="CONFIG|RESULTS",
    multiple=True,
    type=Path,
    help="prune: what others still need; repeatable.",
)
@click.option(
    "--days", metavar="N", type=options.Whole(0), help="prune: only what is older than N days."
)
@click.option("--delete", is_flag=True, help="prune: delete, where otherwise it is only listed.")
@click.option(
    "--recompute",
    metavar="N",
    default=0,
    type=options.Whole(0),
    help="verify: evaluate one in N cells again.",
)
@options.format_option("text", "json", help="list: how to print it.")
def command(
    action: Literal["list", "prune", "verify"],
    place: Path,
    keep: tuple[Path, ...],
    days: int | None,
    delete: bool,
    recompute: int,
    format: Literal["text", "json"],
) -> None:
    """List, prune or verify cached cells.

    \b
    list    what each record is of, its size and age
              --format
    prune   what neither the config or results named, nor any other with --keep,
            need; results need what they were made of, a config what its files
            give now; only listed unless --delete is given, which deletes
            records in RESULTS alone; to prune a shared cache, name the cache
              --keep, --days, --delete
    verify  whether each record can be read, holds the values that were written
            and what its name says; exits 1 where one does not
              --recompute

    A cache is never needed: what is not there is computed again.

    \b
    Examples:
      harness cache list results/quickstart
      harness cache prune results/quickstart --days 30
      harness cache verify configs/quickstart.yaml --recompute 5
    """
    given = {
        "--keep": keep, "--days": days is not None, "--delete": delete, "--recompute": recompute,
        "--format": format != "text",
    }  # fmt: skip
    for name in (name for name, value in given.items() if value):
        if action != (owner := _OF.get(name, "prune")):
            raise click.BadParameter(f"{name} is an option of cache {owner}, not of {action}")
    folder = upkeep.folder_of(place)
    if action == "prune":
        if delete:
            upkeep.check_deletable(folder, place)
        own = [] if folder.resolve() == place.resolve() else [place]
        places = [*own, *keep]
        gone, total = upkeep.unneeded(folder, places, days)
        why = upkeep.strangers(places[0], gone) if gone and len(places) == 1 else {}
        store.show(upkeep.table(gone, why) if gone else "")
        left = 0
        if delete:
            with store.shared(folder) as left:
                for one in gone:
                    one.path.unlink(missing_ok=True)
        done = "deleted" if delete else "can go; --delete deletes them"
        files = "file" if left == 1 else "files"
        done += f", and {left:,} unfinished {files} of killed runs" if left else ""
        store.show(f"{folder}: {len(gone):,} of {total:,} records {done}\n")
        return
    found = list(upkeep.records(folder))
    if action == "list":
        store.show(upkeep.as_json(found) if format == "json" else upkeep.table(found))
        return
    again = list(upkeep.recomputed(place, found, recompute)) if recompute else None
    others = upkeep.strangers(place, found) if recompute else {}
    store.show(upkeep.checked(found, again, others))
    if any(one.error for one in found) or any(one.error for one in again or ()):
        raise click.exceptions.Exit(1)
