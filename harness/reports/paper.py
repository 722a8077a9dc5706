"""Tables and pictures for a paper, which `harness run` writes with the hash of the manifest."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from hashlib import sha256

from ..config.cells import Cell
from ..config.checks import names_of
from ..config.model import Config
from ..core.leaderboard import Leaderboard
from ..errors import HarnessWarning
from ..stats.comparison import Comparisons, Study
from . import latex
from .paper_table.model import PaperTable, grid_of, is_long, render
from .paper_table.settings import Format, Settings
from .plots import plot as plots

PLOTS = "plots"
"""Folder of the pictures."""
FOLDERS = ("tables", PLOTS)
"""Folders of all that is written next to results."""
_SUFFIXES = {"latex": ".tex", "markdown": ".md", "html": ".html", "csv": ".csv", "text": ".txt"}


def names(config: Config, cells: Sequence[Cell]) -> list[str]:
    """Return the paths of the tables and pictures that a config asks for."""
    found = [path for name, table in config.tables.items() for path in _paths(name, table)]
    if config.plots:
        datasets, _ = names_of(config, cells)
        some = plots.file_names(config.plots, datasets, config.parsed_metrics())
        found += [f"{PLOTS}/{name}" for name in some]
    return found


def _paths(name: str, table: Settings) -> dict[str, Format]:
    """Return the path of a table in each of its formats: ``tables/main.tex``."""
    return {f"tables/{name}{_SUFFIXES[format]}": format for format in table.formats}


def files(
    config: Config, board: Leaderboard, comparisons: Comparisons | None, manifest: bytes
) -> dict[str, bytes]:
    """Return the tables and pictures that a config asks for, by path in the folder of results.

    They carry the hash of the manifest, so the manifest cannot hold theirs.
    """
    study = Study(board, comparisons, json.loads(manifest), sha256(manifest).hexdigest())
    found = tables(study, config.tables)
    if config.plots:
        drawn = plots.render_all(study, config.plots)
        found |= {f"{PLOTS}/{name}": content for name, content in drawn.items()}
    return found


def tables(study: Study, wanted: Mapping[str, Settings]) -> dict[str, bytes]:
    """Return every table in its formats by path; one that is too wide for LaTeX is a warning."""
    found = {}
    for name, settings in wanted.items():
        from .paper_table.build import build  # which loads SciPy

        table = build(study, settings, name)
        if "latex" in settings.formats and (wide := too_wide(table, settings)):
            warnings.warn(wide, HarnessWarning, stacklevel=4)
        for path, format in _paths(name, settings).items():
            found[path] = render(table, format, settings).encode()
    return found


def too_wide(table: PaperTable, settings: Settings) -> str | None:
    """Return a warning if the table is wider than its column or page in LaTeX."""
    room = "page" if is_long(table, settings) else settings.width
    has, width = latex.ROOM[room], latex.width(grid_of(table, "latex"))
    if width <= has:
        return None
    fits_page = width <= latex.ROOM["page"] and room == "column"
    page = "'width: page', " if fits_page else ""
    return (
        f"table '{table.name}' is about {width:.0f} pt wide in LaTeX, and a {room} has "
        f"about {has:.0f} pt; give it {page}fewer metrics, datasets or extras or shorter 'names'"
    )
