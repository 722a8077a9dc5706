"""Whether code from outside may be loaded in this process: ``--no-plugins`` says not."""

from __future__ import annotations

NO_PLUGINS = "--no-plugins"
"""The option of every command that says so."""
_allowed = True


def allow_plugins(allowed: bool) -> None:
    """Say whether plugins may be loaded, where a config or an option names them."""
    global _allowed
    _allowed = allowed


def plugins_allowed() -> bool:
    """Return whether plugins may be loaded.

    >>> plugins_allowed()
    True
    """
    return _allowed
