"""Why a number is what it is: the path of one cell, and the ranking behind one query's value."""

from .account import Account, Step, why
from .query_row import QueryRow
from .row import Row

__all__ = ["Account", "QueryRow", "Row", "Step", "why"]
