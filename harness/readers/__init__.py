"""Readers of qrels and runs, one file for each format or family of formats.

To add a format, put a file that calls ``add_formats`` into this folder.
"""

import importlib
import pkgutil

from .format import FORMATS, Format, ScatteredQueries, guess_format, named_format
from .frame import from_frame
from .read import align_run, place_of_row, read_qrels, read_run
from .source import Source, check_there, missing, reading

__all__ = [
    "FORMATS", "Format", "ScatteredQueries", "Source", "align_run", "check_there", "from_frame",
    "guess_format", "missing", "named_format", "place_of_row", "read_qrels", "read_run",
    "reading",
]  # fmt: skip


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")  # it adds its formats
