"""Tables and pictures for a paper, which `harness run` writes with the hash of the manifest."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from hashlib import sha256

from ..config.cells import Cell
from ..config.checks import names_of
from ..config.model import Config
from ..core.comparison import Comparisons
from ..core.leaderboard import Leaderboard
from ..core.systems import Study
from ..errors import HarnessWarning
from .plots import plot as plots

PLOTS = "plots"
"""Folder of the pictures."""
FOLDERS = ("tables", PLOTS)
"""Folders of all that is written next to results."""


def names(config: Config, cells: Sequence[Cell]) -> list[str]:
    """Return the paths of the tables and pictures that a config asks for."""
    found = []
    if config.tables:
        from .paper_table.rendering import names as of_tables

        found += of_tables({name: table.formats for name, table in config.tables.items()})
    if config.plots:
        datasets, _ = names_of(config, cells)
        some = plots.file_names(config.plots, datasets, config.parsed_metrics())
        found += [f"{PLOTS}/{name}" for name in some]
    return found


def files(
    config: Config, board: Leaderboard, comparisons: Comparisons | None, manifest: bytes
) -> dict[str, bytes]:
    """Return the tables and pictures that a config asks for, by path in the folder of results.

    They carry the hash of the manifest, so the manifest cannot hold theirs.
    """
    study = Study(board, comparisons, json.loads(manifest), sha256(manifest).hexdigest())
    found: dict[str, bytes] = {}
    if config.tables:
        from .paper_table.rendering import render_all  # which loads SciPy

        def warn(what: str) -> None:
            warnings.warn(what, HarnessWarning, stacklevel=4)

        found |= render_all(study, config.tables, warn)
    if config.plots:
        drawn = plots.render_all(study, config.plots)
        found |= {f"{PLOTS}/{name}": content for name, content in drawn.items()}
    return found
