"""``harness verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from ..audit.verify import as_json, grids, verify
from . import options
from .printing import show, show_grids


@options.command()
@options.results
@options.workers
@options.inputs
@options.flag("--plugins", "Run the plugins that the results' config names.")
@options.format_option("text", "json")
def command(results: Path, format: Literal["text", "json"], **settings: Any) -> None:
    """Compute every number of a results folder again and compare all digits.

    Hashes each input, evaluates each run from its files without the cache, makes summaries,
    comparisons and tables again, and compares them with those of the folder. Prints the first
    difference of each file, and whether an input, a version or the file itself changed. Exits
    with 1 if any input or value differs, with 0 if only versions do. Results of a config with
    plugins need --plugins, which runs their code.

    \b
    Example:
      harness verify results/quickstart
    """
    found = verify(results, **settings)
    if format == "json":
        show(as_json(found))
    else:
        show_grids(grids(found))
    if not found.is_verified:
        raise click.exceptions.Exit(1)
