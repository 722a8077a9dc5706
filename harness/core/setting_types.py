"""Moved to arguments.py."""

from .arguments import *  # noqa: F403
