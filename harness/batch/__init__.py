"""Padded batches: metrics as functions, a collector, and pytrec_eval's dicts."""

from .functions import *  # noqa: F403
from .functions import __all__


def __dir__() -> list[str]:
    return __all__
