"""LaTeX's text: comments, macros, groups; what one cell says, and how it is set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import NamedTuple

from ..tables.latex_text import escape
from .grid import NO_WIDTH, Piece, Style
from .limits import EXPANDED

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_DEFINED = re.compile(
    r"\\(?:re|provide)?newcommand\*?\s*\{?\\([A-Za-z]+)\}?\s*(?:\[(\d)\])?(?:\[([^\]]*)\])?\s*(?=\{)"
    r"|\\def\s*\\([A-Za-z]+)\s*((?:#\d)*)\s*(?=\{)"
)
_SIGNS = {
    "dagger": "†", "dag": "†", "textdagger": "†", "ddagger": "‡", "ddag": "‡",
    "textdaggerdbl": "‡", "S": "§", "textsection": "§", "P": "¶", "textparagraph": "¶",
    "|": "‖", "Vert": "‖", "parallel": "‖", "ast": "*", "star": "*", "textasteriskcentered": "*",
    "pm": "±", "textpm": "±", "uparrow": "↑", "downarrow": "↓", "textuparrow": "↑",
    "textdownarrow": "↓", "triangle": "△", "blacktriangle": "▲", "blacktriangledown": "▼",
    "triangledown": "▽", "bullet": "•", "circ": "°", "%": "%", "&": "&", "_": "_", "#": "#",
    "$": "$", "{": "{", "}": "}", "textunderscore": "_", "textasciitilde": "~",
    "textasciicircum": "^", "textbackslash": "\\", "textendash": "–", "textemdash": "—",
    "textbar": "|", "textasciigrave": "`", "textquotedbl": '"', "lbrack": "[", "rbrack": "]",
    "slash": "/", "cdot": "·",
    "quad": " ", "qquad": " ", " ": " ", "\n": " ", "\\": " ", "tabularnewline": " ", "-": "",
    "ldots": "…", "dots": "…", "textless": "<", "textgreater": ">", "textquotesingle": "'",
    "le": "≤", "ge": "≥", "ne": "≠", "sim": "~", "varepsilon": "ε", "o": "ø",
}  # fmt: skip
_SIGNS = {
    **{
        match[1]: sign for sign in "→←↔×≤≥≠≈∞√∑αβγδεζηθικλμνξπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"
        if (match := re.fullmatch(r"\$\\([A-Za-z]+)\$", escape(sign))) is not None
    },
    **_SIGNS,
}  # fmt: skip
_CALLED = re.compile(r"\\([A-Za-z]+)")
_CODE = re.compile(r"\[U\+([0-9A-F]{4,6})\]")
"""What the harness's own LaTeX writes for a character that pdfLaTeX does not have."""
_THIN = {",", ";", ":", "thinspace", "enspace"}
_BOLD = {"textbf", "mathbf", "boldsymbol", "bm", "pmb", "symbf", "boldmath"}
_BOLD_FROM_HERE = {"bf", "bfseries", "boldmath", "fontseries"}
_UNDERLINE = {"underline", "uline", "ul", "uuline", "dashuline"}
_RAISED = {"textsuperscript", "tnote", "sym", "sup"}
_LOWERED = {"textsubscript", "sub"}
_DROPPED = {
    "phantom": 1, "hphantom": 1, "vphantom": 1, "hspace": 1, "vspace": 1, "label": 1, "ref": 1,
    "cite": 1, "citep": 1, "citet": 1, "citeyear": 1, "citealp": 1, "autoref": 1, "footnote": 1,
    "cellcolor": 1, "rowcolor": 1, "color": 1, "footnotemark": 0, "rule": 2, "fontsize": 2,
    "kern": 0, "textcolor": 1, "colorbox": 1, "rotatebox": 1, "scalebox": 1, "resizebox": 2,
    "raisebox": 1, "parbox": 1, "multirow": 2, "multicolumn": 2, "begin": 1, "end": 1,
    "href": 1, "hskip": 0, "setlength": 2,
}  # fmt: skip
"""How many arguments are no text; those after them are."""


def without_comments(text: str) -> str:
    r"""Return LaTeX without comments, all lines where they were.

    >>> without_comments("a % b\nc 5\\% d")
    'a \nc 5\\% d'
    """
    return _COMMENT.sub(r"\1", text)


def group(text: str, at: int) -> tuple[str, int]:
    """Return what stands in the braces that open at or after `at`, and where they have closed.

    >>> group("{a{b}c} d", 0), group(" x", 0)
    (('a{b}c', 7), ('x', 2))
    """
    while at < len(text) and text[at].isspace():
        at += 1
    if at >= len(text):
        return "", at
    if text[at] != "{":
        if text[at] == "\\":
            name = _name(text, at + 1)
            return text[at : at + 1 + len(name)], at + 1 + len(name)
        return text[at], at + 1
    depth, start = 0, at
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if not depth:
                return text[start + 1 : at], at + 1
        at += 1
    return text[start + 1 :], len(text)


def optional(text: str, at: int) -> tuple[str, int]:
    """Return an argument in brackets, and where it ends; nothing where there is none."""
    start = at
    while start < len(text) and text[start] in " \t":
        start += 1
    if start < len(text) and text[start] == "[":
        end = text.find("]", start)
        if end > 0:
            return text[start + 1 : end], end + 1
    return "", at


class Macro(NamedTuple):
    """A macro: how many arguments, what stands for the first where it may be left out, body."""

    arguments: int
    default: str | None
    body: str


def macros(text: str) -> dict[str, Macro]:
    r"""Return the macros that a text defines.

    >>> macros(r"\newcommand{\best}[1]{\textbf{#1}} \def\x{BM25}")["best"]
    Macro(arguments=1, default=None, body='\\textbf{#1}')
    """
    found = {}
    for match in _DEFINED.finditer(text):
        body, _ = group(text, match.end())
        if match[1]:
            found[match[1]] = Macro(int(match[2] or 0), match[3], body)
        else:
            found[match[4]] = Macro((match[5] or "").count("#"), None, body)
    return found


def expanded(text: str, known: Mapping[str, Macro], depth: int = 5) -> str:
    """Return a text with macros put in place, those within macros up to a depth.

    Raises
    ------
    OverflowError
        Where macros make more than :data:`EXPANDED` characters.
    """
    return _expanded(text, known, depth, [EXPANDED])


def _expanded(text: str, known: Mapping[str, Macro], depth: int, left: list[int]) -> str:
    if not known or not depth:
        return text
    parts, at, begin = [], 0, 0
    while (match := _CALLED.search(text, begin)) is not None:
        begin = match.end()
        if match[1] not in known:
            continue
        parts.append(text[at : match.start()])
        count, default, body = known[match[1]]
        at = match.end()
        for place in range(1, count + 1):
            if place == 1 and default is not None:
                given, end = optional(text, at)
                argument, at = (given, end) if end > at else (default, at)
            else:
                argument, at = group(text, at)
            if body.count(f"#{place}") * len(argument) > left[0]:
                raise OverflowError
            body = body.replace(f"#{place}", argument)
        if count == 0 and text[at : at + 2] == "{}":
            at += 2
        left[0] -= len(body) + 2
        if left[0] < 0:
            raise OverflowError
        parts.append(_expanded("{" + body + "}", known, depth - 1, left))
        begin = at
    return "".join(parts) + text[at:]


def _name(text: str, at: int) -> str:
    match = re.compile(r"[A-Za-z]+\*?").match(text, at)
    return match[0] if match else text[at : at + 1]


def pieces(text: str, style: Style | None = None) -> tuple[Piece, ...]:
    r"""Return what a cell says, and how each part is set.

    >>> [(one.text, one.style.bold) for one in pieces(r"$\mathbf{.42}^{ab}$")]
    [('.42', True), ('ab', False)]
    """
    found = groupby(_pieces(text, style or Style()), key=lambda one: one.style)
    return tuple(Piece(_decoded("".join(one.text for one in some)), how) for how, some in found)


def _decoded(text: str) -> str:
    """Return a text with the characters that stand as their codes.

    >>> _decoded("[U+4E2D][U+6587] [12]")
    '中文 [12]'
    """
    return _CODE.sub(lambda match: chr(min(int(match[1], 16), 0x10FFFF)), text)


def _pieces(text: str, style: Style) -> Iterator[Piece]:
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            name = _name(text, at + 1)
            at += 1 + len(name)
            if name.isalpha():
                while at < len(text) and text[at] in " \t\n":
                    at += 1
            name = name.rstrip("*") or name
            if name == "mdseries":
                style = replace(style, bold=False)
                continue
            if name in _BOLD_FROM_HERE and text[at : at + 1] != "{":
                style = replace(style, bold=True)
                continue
            found, at = _command(name, text, at, style)
            yield from found
        elif sign == "{":
            inner, at = group(text, at)
            yield from _pieces(inner, style)
        elif sign in "^_":
            inner, at = group(text, at + 1)
            up = sign == "^"
            yield from _pieces(inner, replace(style, raised=up, lowered=not up))
        else:
            at += 1
            if sign not in "$}":
                yield Piece(" " if sign in "~\n\t" else sign, style)


def _command(name: str, text: str, at: int, style: Style) -> tuple[Iterator[Piece], int]:
    """Return what a command with its arguments gives, and where it ends."""
    if name in _SIGNS:
        at += 2 * (text[at : at + 2] == "{}")
        return iter([Piece(_SIGNS[name], style)]), at
    if name in _THIN:
        return iter([Piece("\u2009", style)]), at
    _, at = optional(text, at)
    changed: Callable[[Style], Style] | None = None
    if name in _BOLD:
        changed = partial(replace, bold=True)
    elif name in _UNDERLINE:
        changed = partial(replace, underlined=True)
        if re.match(r"\s*\{\s*\\h?phantom", text[at:]):  # a line below what stands beside it
            return iter([Piece(NO_WIDTH, changed(style))]), group(text, at)[1]
    elif name in _RAISED:
        changed = partial(replace, raised=True)
    elif name in _LOWERED:
        changed = partial(replace, lowered=True)
    if changed is not None:
        inner, at = group(text, at)
        return _pieces(inner, changed(style)), at
    for _ in range(_DROPPED.get(name, 0)):
        _, at = group(text, at)
        _, at = optional(text, at)
    return iter(()), at
