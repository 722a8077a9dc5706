"""Text with Markdown's and HTML's marks of style."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import groupby

from .grid import Piece, Style

_TOKEN = re.compile(
    r"(?P<escaped>\\[!-/:-@\[-`{-~])"
    r"|(?P<comment><!--.*?-->)"
    r"|<(?P<tag>/?[A-Za-z]+)[^>]*>"
    r"|\[(?P<linked>[^\]\[]*[^\]\[\d.,;\s–-][^\]\[]*)\]\([^)]*\)"
    r"|(?P<bold>\*\*|__)"
    r"|(?P<code>`+)"
    r"|(?P<sup>\^(?=[^\s^]+\^))|(?P<end>\^)"
    r"|(?P<plain>.)",
    re.S,
)
_BOLD = {"b", "strong"}
_UNDERLINED = {"u", "ins"}


def pieces(text: str) -> tuple[Piece, ...]:
    """Return what a cell of Markdown says, and how each part is set.

    >>> [(one.text, one.style.bold) for one in pieces("**.42**<sup>ab</sup>")]
    [('.42', True), ('ab', False)]
    >>> [(one.text, one.style.underlined) for one in pieces("<u>0.41</u> \\\\*")]
    [('0.41', True), (' *', False)]
    """
    found = groupby(_pieces(text.strip()), key=lambda one: one.style)
    return tuple(Piece("".join(one.text for one in some), how) for how, some in found)


def _pieces(text: str) -> Iterator[Piece]:
    bold, open_tags, raised = False, dict.fromkeys(("b", "u", "sup", "sub"), 0), False
    for match in _TOKEN.finditer(text):
        style = Style(
            bold or open_tags["b"] > 0, open_tags["u"] > 0,
            raised or open_tags["sup"] > 0, open_tags["sub"] > 0,
        )  # fmt: skip
        if match["tag"] is not None:
            name = match["tag"].lower()
            kind = name.removeprefix("/")
            kind = "b" if kind in _BOLD else "u" if kind in _UNDERLINED else kind
            if kind in open_tags:
                open_tags[kind] += -1 if name.startswith("/") else 1
            elif kind == "br":
                yield Piece(" ", style)
        elif match["escaped"] is not None:
            yield Piece(match["escaped"][1:], style)
        elif match["linked"] is not None:
            yield Piece(match["linked"], style)
        elif match["bold"] is not None and _is_style(text, match, bold):
            bold = not bold
        elif match["sup"] is not None:
            raised = True
        elif match["end"] is not None:
            raised = False
        elif match["code"] is None and match["comment"] is None:
            yield Piece(match[0], style)


def _is_style(text: str, match: re.Match[str], bold: bool) -> bool:
    """Whether two asterisks begin or end bold text, and are no mark of significance."""
    return bold or match[0] in text[match.end() :]


def unescaped(text: str) -> str:
    """Return a text with its entities replaced."""
    return html.unescape(text)
