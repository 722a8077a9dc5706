"""Two leaderboards compared: folders of results or CSV files, ours or anyone's."""

from .flow import Changes, changes
from .report import render

__all__ = ["Changes", "changes", "render"]
