"""The last line of a text, where it has no line end: it may be cut."""

from __future__ import annotations

from .build import warn
from .lines import last_line
from .sample import PIECE
from .source import Source


def last_lines(source: Source, n_before: int) -> list[bytes]:
    """Return so many lines and the last one after them, which has no end.

    Nothing where it has one, there are fewer lines, or it is too long to be held against them.
    """
    if not source.unfinished or len(source.unfinished) > PIECE:
        return []
    lines = source.sample.pieces[-1].splitlines()[-1 - n_before :]
    return lines if len(lines) > n_before else []


def warn_cut_line(source: Source, why: str) -> None:
    """Warn that the last line may be cut, as it has no end and lacks something."""
    warn(
        source,
        f"the last line may be cut: it has no line end, and {why}",
        "cut-line",
        line=last_line(source),
        examples=(source.unfinished.decode("utf-8", "replace").strip(),),
    )
