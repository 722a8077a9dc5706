"""The arguments of ``harness cache``; what it does is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

_OF = {"--format": "list", "--recompute": "verify"}
"""Whose options they are; the others are prune's."""


def cache_command(
    action: Annotated[
        Literal["list", "prune", "verify"], typer.Argument(metavar="list|prune|verify")
    ],
    place: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS|CONFIG|FOLDER", help="Results, a config, or a shared cache itself."
        ),
    ],
    keep: Annotated[
        list[Path] | None,
        typer.Option(
            "--keep", metavar="CONFIG|RESULTS", help="prune: what others still need; repeatable."
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option("--days", metavar="N", min=0, help="prune: only what is older than N days."),
    ] = None,
    delete: Annotated[
        bool, typer.Option("--delete", help="prune: delete, where otherwise it is only listed.")
    ] = False,
    recompute: Annotated[
        int,
        typer.Option(
            "--recompute", metavar="N", min=0, help="verify: evaluate one in N cells anew."
        ),
    ] = 0,
    format: Annotated[
        Literal["text", "json"], typer.Option("--format", "-f", help="list: how to print it.")
    ] = "text",
) -> None:
    """List, prune or verify evaluated cells that were kept.

    \b
    list    what each record is of, its size and age
              --format
    prune   what neither the config or results named, nor any other with --keep,
            need; results need what they were made of, a config what its files
            give now; only listed unless --delete is given
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
    from .. import output, store
    from ..cells import keeping, text

    given = {
        "--keep": keep, "--days": days is not None, "--delete": delete, "--recompute": recompute,
        "--format": format != "text",
    }  # fmt: skip
    for name in (name for name, value in given.items() if value):
        if action != (owner := _OF.get(name, "prune")):
            raise typer.BadParameter(f"{name} is an option of cache {owner}, not of {action}")
    folder = keeping.folder_of(place)
    if action == "prune":
        own = [] if folder.resolve() == place.resolve() else [place]
        places = [*own, *(keep or [])]
        gone, total = keeping.unneeded(folder, places, days)
        why = keeping.strangers(places[0], gone) if gone and len(places) == 1 else {}
        output.show(text.table(gone, why) if gone else "")
        left = 0
        if delete:
            with store.shared(folder) as left:
                keeping.remove(gone)
        done = "deleted" if delete else "can go; --delete deletes them"
        files = "file" if left == 1 else "files"
        done += f", and {left:,} unfinished {files} of killed runs" if left else ""
        output.show(f"{folder}: {len(gone):,} of {total:,} records {done}\n")
        return
    found = list(keeping.kept(folder))
    if action == "list":
        output.show(text.as_json(found) if format == "json" else text.table(found))
        return
    again = list(keeping.recomputed(place, found, recompute)) if recompute else None
    others = keeping.strangers(place, found) if recompute else {}
    output.show(text.checked(found, again, others))
    if any(one.error for one in found) or any(one.error for one in again or ()):
        raise typer.Exit(1)
