"""Moved to tables.py."""

from .tables import NOTHING as NOTHING
from .tables import Odd as Odd
from .tables import are_distinct as are_distinct
