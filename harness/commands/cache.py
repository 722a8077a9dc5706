"""The arguments of ``harness cache``; what it does is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


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

    list: what each record is of, its size and age. prune: what neither the config or results
    named, nor any other with --keep, needs; only listed unless --delete is given. verify: whether
    each record can be read, holds the values that were written and what its name says; exits 1
    where one does not. A cache is never needed: what is not there is computed again.

    \b
    Examples:
      harness cache list results/quickstart
      harness cache prune results/quickstart --days 30
      harness cache verify configs/quickstart.yaml --recompute 5
    """
    from .. import output, store
    from ..cells import keeping, text

    folder = keeping.folder_of(place)
    if action == "prune":
        own = [] if folder.resolve() == place.resolve() else [place]
        gone, total = keeping.unneeded(folder, [*own, *(keep or [])], days)
        output.show(text.table(gone) if gone else "")
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
    output.show(text.checked(found, again))
    if any(one.error for one in found) or any(one.error for one in again or ()):
        raise typer.Exit(1)
