"""Printing to standard output and standard error, and the exit if that fails."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO, cast

import click

from ..errors import printable

if TYPE_CHECKING:
    from ..core.leaderboard import Leaderboard
    from ..reports.grid import Grid
    from ..reports.text import Span, Style

Rows = Sequence[Mapping[str, Any]]


Colour = Literal["auto", "always", "never"]
colour: Colour = "auto"
"""The option --color."""
_STYLES: dict[str, dict[str, Any]] = {
    "good": {"fg": "green"}, "mixed": {"fg": "yellow"}, "bad": {"fg": "red"},
    "best": {"bold": True}, "note": {"dim": True},
}  # fmt: skip
PIPED = 100
"""Characters of a line of text that goes to a file or another program."""
_MESSAGE = re.compile("(?m)^(?:(?P<mixed>warning)|(?P<bad>error))(?=: )")


def _has_colour(stream: TextIO) -> bool:
    """Whether a stream gets colours: by --color, NO_COLOR, FORCE_COLOR, or as it is a terminal."""
    if colour != "auto" or os.environ.get("NO_COLOR"):
        return colour == "always"
    is_forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
    return is_forced or (stream.isatty() and os.environ.get("TERM") != "dumb")


def _painted(text: str, spans: Iterable[Span]) -> str:
    """Return text with the codes of a terminal around its spans, which are in order."""
    parts, end = [], 0
    for start, stop, style in spans:
        parts += [text[end:start], click.style(text[start:stop], **_STYLES[style])]
        end = stop
    return "".join([*parts, text[end:]])


def show(text: str, *, error: bool = False) -> None:
    """Print text immediately; do nothing if standard error is closed or its reader gone.

    On a terminal and standard error no name can move the cursor; files and pipes get the text.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:
        return
    if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name == "ascii":
        stream.reconfigure(encoding="utf-8", errors="replace")  # as Click prints all the rest
    spans = [*getattr(text, "spans", ())]
    if error or stream.isatty():
        text = printable(text)
    if _has_colour(stream):
        matches = _MESSAGE.finditer(text) if error else ()
        spans += [(*match.span(), cast("Style", match.lastgroup)) for match in matches]
        text = _painted(text, spans)
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError:
        if not error:
            raise
        discard(stream)  # results do not depend on who reads standard error


def terminal_width(format: str) -> int | None:
    """Return the width of text: COLUMNS, that of the terminal, or 100 in a pipe; None of others."""
    return shutil.get_terminal_size((PIPED, 24)).columns if format in ("table", "text") else None


def with_short_errors(board: Leaderboard, format: str) -> Leaderboard:
    """Return a leaderboard without the errors of its runs, which a command prints below it.

    Formats for other programs keep the first line of each.
    """
    is_text = terminal_width(format) is not None
    failed = (replace(one, error="" if is_text else one.brief or one.error) for one in board.failed)
    return replace(board, failed=tuple(failed))


def wrapped(text: str) -> list[str]:
    """Return the lines of a sentence, as wide as those of a table."""
    from ..reports.text import wrapped as lines_of

    return lines_of(text, terminal_width("text") or PIPED, 0, 2)


def show_grids(
    grids: Iterable[Grid],
    format: str = "text",
    records: Rows = (),
) -> None:
    """Print tables in a format."""
    from ..reports import formats  # loaded by commands that print a table alone

    show(formats.render(grids, format, records, width=terminal_width(format)))


def file_list(files: Sequence[str]) -> str:
    """Return names of files; those of a folder with many together.

    >>> file_list(["a.csv", "plots/a.svg", "plots/b.svg", "plots/c.svg", "plots/d.svg", "t/a.tex"])
    'a.csv, plots/ (4 files), t/a.tex'
    """
    folders = Counter(name.rpartition("/")[0] for name in files if "/" in name)
    many = {folder: f"{folder}/ ({n} files)" for folder, n in folders.items() if n > 3}
    return ", ".join(dict.fromkeys(many.get(name.rpartition("/")[0], name) for name in files))


def discard(stream: TextIO) -> None:
    """Discard the rest of the buffer, so that the interpreter does not write it at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def end_unprintable(why: str, fix: str) -> NoReturn:
    """End the program, because standard output cannot print a character."""
    show(f"error: the output cannot be written ({why})\n  fix:   {fix}\n", error=True)
    sys.exit(2)
