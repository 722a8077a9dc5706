"""Metrics as functions of padded batches."""

from .functions import *  # noqa: F403
from .functions import __all__


def __dir__() -> list[str]:
    return __all__
