"""The metrics, one file per family: importing this folder registers all of them.

To add one, add a file here with a function marked ``@metric``; nothing else lists it.
"""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
