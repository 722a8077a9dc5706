"""Moved to metric.py."""

from .metric import as_plain_data as as_plain_data
from .metric import from_plain_data as from_plain_data
