"""Files for patterns to find."""

from __future__ import annotations

from pathlib import Path


def make(base: Path, *names: str) -> None:
    """Write files of one letter, with the folders that they are in."""
    for name in names:
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text("x")
