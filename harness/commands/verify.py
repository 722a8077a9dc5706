"""The arguments of ``harness verify``; what it does is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import options


def verify_command(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A folder that 'harness run' wrote.")
    ],
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes that evaluate.")] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A Dask scheduler whose workers evaluate."),
    ] = None,
    inputs: options.Inputs = None,
    format: Annotated[
        Literal["text", "json"], typer.Option("--format", "-f", help="How to print it.")
    ] = "text",
) -> None:
    """Derive every number of a folder of results anew, and compare all digits.

    Hashes each input, evaluates each run from its files without the cache, makes summaries,
    comparisons and tables again, and compares them with what the folder holds. Names the first
    difference of each file and whether an input, a version or the file itself changed; of many
    inputs that changed, how many each dataset and run has. Exits 1 where any input or value
    differs; 0 where only versions do.

    \b
    Example:
      harness verify results/quickstart
    """
    from .. import output
    from ..verify import verify
    from ..verify.text import as_json, text

    found = verify(results, jobs=jobs, scheduler=scheduler, inputs=inputs)
    output.show(as_json(found) if format == "json" else text(found))
    if not found.is_verified:
        raise typer.Exit(1)
