"""Why a number is what it is: the path of one cell, and the ranking behind one query's value."""

from .account import Account, Step, why
from .row import Row

__all__ = ["Account", "Row", "Step", "why"]
