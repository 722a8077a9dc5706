"""Moved to settings.py."""

from .settings import choices_of as choices_of
