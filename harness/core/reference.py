"""Moved to ranking.py."""

from .ranking import Reference as Reference
from .ranking import as_reference as as_reference
from .ranking import levels as levels
