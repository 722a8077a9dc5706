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
    """Recompute all numbers of a results folder, and compare them.

    The command hashes each input, evaluates each run from its files without the cache, and compares
    summaries, comparisons and tables with those of the folder. It prints the first difference of
    each file, and its cause: an input, a version or an edit. It exits with 1 if an input or value
    differs, and with 0 if only versions do. Results of a config with plugins need --plugins, which
    runs their code.

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
