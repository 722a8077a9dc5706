"""Moved to tables.py."""

from .tables import Docnos as Docnos
