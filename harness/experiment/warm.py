"""Imports all that workers need, once, before they are forked."""

from __future__ import annotations

import gc
from importlib import import_module

gc.disable()  # what is imported is no garbage: looking for some takes a fifth of the time
for _name in ("harness.experiment.work", "numpy.random"):
    import_module(_name)
gc.freeze()  # so that workers share this memory
gc.enable()
