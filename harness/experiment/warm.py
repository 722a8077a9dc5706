"""What workers are forked from imports this: all that they need, once for all of them."""

from __future__ import annotations

import gc
from importlib import import_module

NEEDED = ("harness.experiment.work", "numpy.random")
"""The cross-check draws at random which queries it looks at."""

gc.disable()  # what is imported is no garbage: looking for some takes a fifth of the time
for _name in NEEDED:
    import_module(_name)
gc.freeze()  # nor in those that are forked, whose memory stays shared where it is not looked at
gc.enable()
