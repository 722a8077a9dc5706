"""Tables of a LaTeX file: rows, rules, spans, styles, and the file's own macros."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from ..reports.latex import SIGNS
from .printed_tables import GREEK, Piece, PrintedCell, PrintedTable, cell_of, grid_of

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_DEFINED = re.compile(
    r"\\(?:re|provide)?newcommand\*?\s*\{?\\([A-Za-z]+)\}?\s*(?:\[(\d)\])?(?:\[([^\]]*)\])?\s*(?=\{)"
    r"|\\def\s*\\([A-Za-z]+)\s*((?:#\d)*)\s*(?=\{)"
)
_SIGNS = {
    **SIGNS,
    **{name: sign for sign, name in GREEK.items()},
    **{name.title(): sign.upper() for sign, name in GREEK.items()},
    "varepsilon": "ε", "varsigma": "ς",
    "dag": "†", "textdagger": "†", "ddag": "‡", "textdaggerdbl": "‡", "textsection": "§",
    "textparagraph": "¶", "|": "‖", "parallel": "‖", "ast": "*", "star": "*",
    "textasteriskcentered": "*", "textpm": "±", "textuparrow": "↑", "textdownarrow": "↓",
    "triangle": "△", "blacktriangle": "▲", "blacktriangledown": "▼", "triangledown": "▽",
    "circ": "°", "textunderscore": "_", "textendash": "–", "textemdash": "—", "lbrack": "[",
    "rbrack": "]", "slash": "/", "quad": " ", "qquad": " ", " ": " ", "\n": " ", "\\": " ",
    "tabularnewline": " ", "-": "", "dots": "…", "textquotesingle": "'", "le": "≤", "ge": "≥",
    "ne": "≠", "sim": "~", "o": "ø",
    **dict.fromkeys((",", ";", ":", "thinspace", "enspace"), "\u2009"),
}  # fmt: skip
"""What commands print; further ones are dropped."""
_CODE = re.compile(r"\[U\+([0-9A-F]{4,5}|10[0-9A-F]{4})\]")
"""What ``harness table`` writes for a character that pdfLaTeX does not have."""
_STYLES = {
    **dict.fromkeys(("textbf", "mathbf", "boldsymbol", "bm", "pmb", "symbf"), "b"),
    **dict.fromkeys(("underline", "uline", "ul", "uuline", "dashuline"), "u"),
    **dict.fromkeys(("textsuperscript", "tnote", "sym", "sup"), "^"),
    **dict.fromkeys(("textsubscript", "sub"), "_"),
}
_SWITCHES = {"bf": True, "bfseries": True, "boldmath": True, "mdseries": False}
_DROPPED = {
    **dict.fromkeys((
        "phantom", "hphantom", "vphantom", "hspace", "vspace", "label", "ref", "cite", "citep",
        "citet", "citeyear", "citealp", "autoref", "footnote", "cellcolor", "rowcolor", "color",
        "textcolor", "colorbox", "rotatebox", "scalebox", "raisebox", "parbox", "begin", "end",
        "href", "fontseries", "cmidrule", "cline", "noalign", "hhline", "arrayrulecolor", "caption",
        "Xhline",
    ), 1),
    **dict.fromkeys(
        ("rule", "fontsize", "resizebox", "multirow", "multicolumn", "setlength"), 2
    ),
    "specialrule": 3,
}  # fmt: skip
"""How many arguments of a command are not text."""
_BEGIN = re.compile(r"\\begin\{(tabular\*|tabularx|tabulary|tabular|longtable|tblr)\}")
_RULE = re.compile(
    r"\s*\\(hline|toprule|midrule|bottomrule|addlinespace|specialrule|cmidrule|cline|endfirsthead|"
    r"endhead|endfoot|endlastfoot|noalign|rowcolor|morecmidrules|hhline|arrayrulecolor|caption|"
    r"label|Xhline|thickhline)(?![A-Za-z])\*?"
)
_TOKEN = re.compile(
    r"\\(?P<environment>begin|end)(?=\{)"
    r"|(?P<row>\\\\\*?(?:\s*\[[^\]\n]*\])?|\\tabularnewline(?![A-Za-z]))|\\.|[{}&]",
    re.DOTALL,
)


class Macro(NamedTuple):
    """A macro: how many arguments, the first one's default, body."""

    arguments: int
    default: str | None
    body: str


def grids(text: str) -> list[PrintedTable]:
    """Return the tables of a LaTeX file, in order; one within a cell is part of it."""
    source = _COMMENT.sub(r"\1", text)
    macros = macros_of(source)
    grids, at = [], 0
    while (begin := _BEGIN.search(source, at)) is not None:
        name, start = begin[1], begin.end()
        end = _end(source, start, name)
        if name in ("tabular*", "tabularx", "tabulary"):
            _, start = argument(source, start)
        _, start = optional(source, start)
        _, start = argument(source, start)
        floats = source.rfind("\\begin{table", at, begin.start())
        closed = max(source.find("\\end{table", end), end)
        if "\\begin{" in source[end:closed]:
            closed = end
        own = source[end:closed] + (source[floats : begin.start()] if floats >= 0 else "")
        own += source[start:end]
        label = re.search(r"\\label\{([^}]*)\}", own)
        header, rows = _rows(source[start:end], source.count("\n", 0, start) + 1, macros)
        line = source.count("\n", 0, begin.start()) + 1
        grids += grid_of(rows, header, line, label[1] if label else "", _caption(own))
        at = end
    return grids


def _end(source: str, at: int, name: str) -> int:
    """Return where an environment ends, past others of its name within it."""
    depth = 1
    for match in re.compile(r"\\(begin|end)\{" + re.escape(name) + r"\}").finditer(source, at):
        depth += 1 if match[1] == "begin" else -1
        if not depth:
            return match.start()
    return len(source)


def _caption(text: str) -> str:
    caption = re.search(r"\\caption\*?\s*", text)
    at = optional(text, caption.end())[1] if caption else len(text)
    return cell_of(pieces(argument(text, at)[0]), 0).whole


def _rows(
    body: str, line: int, macros: Mapping[str, Macro]
) -> tuple[int | None, list[list[PrintedCell]]]:
    """Return how many rows are headings, if rules show it, and the rows."""
    breaks = [match.start() for match in re.finditer("\n", body)]
    rows: list[list[PrintedCell]] = []
    header: int | None = None
    above_rule = 0
    for parts in _split(body):
        text, at = parts[0]
        while (rule := _RULE.match(text)) is not None:
            if rule[1] == "endfirsthead":
                header = len(rows)
            elif rule[1] == "endhead":
                header = len(rows) if header is None else header
                del rows[header:]
            elif rule[1] in ("endfoot", "endlastfoot"):
                del rows[header or 0 :]
            elif rule[1] in ("midrule", "hline", "specialrule"):
                above_rule = above_rule or len(rows)
            end = _after(text, rule.end(), rule[1])
            text, at = text[end:], at + end
        row = []
        for part, start in [(text, at), *parts[1:]]:
            start += len(part) - len(part.lstrip())
            row.append(_cell(expanded(part, macros), line + bisect(breaks, start - 1)))
        if len(row) > 1 or row[0].whole:
            rows.append(row)
    return header or above_rule or None, rows


def _split(body: str) -> Iterator[list[tuple[str, int]]]:
    """Yield the cells of each row with their offsets; rules precede the first."""
    row, start, depth = [], 0, 0
    for token in _TOKEN.finditer(body):
        if token["environment"]:
            depth += 1 if token["environment"] == "begin" else -1
        elif token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
        elif not depth and (token["row"] or token[0] == "&"):
            row.append((body[start : token.start()], start))
            start = token.end()
            if token["row"]:
                yield row
                row = []
    yield [*row, (body[start:], start)]


def _after(text: str, at: int, command: str) -> int:
    """Return where the arguments of a command end that are not text."""
    _, at = optional(text, at)
    for _ in range(_DROPPED.get(command, 0)):
        at = text.find(")", at) + 1 if text.startswith("(", at) else at
        _, at = argument(text, at)
        _, at = optional(text, at)
    return at


def _cell(text: str, line: int) -> PrintedCell:
    columns = rows = 1
    text = text.strip()
    while text.startswith("{") and argument(text, 0)[1] == len(text):
        text = text[1:-1].strip()
    if (across := re.match(r"\\multicolumn\s*", text)) is not None:
        count, at = argument(text, across.end())
        _, at = argument(text, at)
        inner, at = argument(text, at)
        columns = int(count) if re.fullmatch(r"\s*[1-9][0-9]{0,2}\s*", count) else 1
        text = inner + text[at:]
    if (down := re.search(r"\\multirow\s*", text)) is not None:
        _, at = optional(text, down.end())
        count, _ = argument(text, at)
        rows = abs(int(count)) if re.fullmatch(r"\s*-?[1-9][0-9]{0,2}\s*", count) else 1
    merged = groupby(pieces(text), key=itemgetter(1))
    texts = (("".join(one for one, _ in some), style) for style, some in merged)
    decoded = ((_CODE.sub(lambda code: chr(int(code[1], 16)), one), style) for one, style in texts)
    return cell_of(decoded, line, columns, rows)


def argument(text: str, at: int) -> tuple[str, int]:
    """Return the argument that begins at or after `at`, and its end.

    >>> argument("{a{b}c} d", 0), argument(" x", 0)
    (('a{b}c', 7), ('x', 2))
    """
    while at < len(text) and text[at].isspace():
        at += 1
    if not text.startswith("{", at):
        end = at + 1 + len(_name(text, at + 1)) if text.startswith("\\", at) else at + 1
        return text[at:end], min(end, len(text))
    depth = 0
    for token in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, at):
        depth += (token[0] == "{") - (token[0] == "}")
        if not depth and token[0] == "}":
            return text[at + 1 : token.start()], token.end()
    return text[at + 1 :], len(text)


def optional(text: str, at: int) -> tuple[str, int]:
    """Return an argument in brackets, which may be empty, and its end."""
    match = re.compile(r"[ \t]*\[([^\]]*)\]").match(text, at)
    return (match[1], match.end()) if match else ("", at)


def macros_of(text: str) -> dict[str, Macro]:
    r"""Return the macros that a text defines.

    >>> macros_of(r"\newcommand{\best}[1]{\textbf{#1}} \def\x{BM25}")["best"]
    Macro(arguments=1, default=None, body='\\textbf{#1}')
    """
    macros = {}
    for match in _DEFINED.finditer(text):
        body, _ = argument(text, match.end())
        if match[1]:
            macros[match[1]] = Macro(int(match[2] or 0), match[3], body)
        else:
            macros[match[4]] = Macro((match[5] or "").count("#"), None, body)
    return macros


def expanded(text: str, macros: Mapping[str, Macro], depth: int = 5) -> str:
    """Return a text with its macros replaced, and those within macros up to a depth."""
    if not macros or not depth:
        return text
    parts, at = [], 0
    for call in re.finditer(r"\\([A-Za-z]+)", text):
        if call[1] not in macros or call.start() < at:
            continue
        parts.append(text[at : call.start()])
        count, default, body = macros[call[1]]
        at = call.end()
        for place in range(1, count + 1):
            if place == 1 and default is not None:
                value, end = optional(text, at)
                value, at = (value, end) if end > at else (default, at)
            else:
                value, at = argument(text, at)
            body = body.replace(f"#{place}", value)
        if count == 0 and text.startswith("{}", at):
            at += 2
        parts.append(expanded("{" + body + "}", macros, depth - 1))
    return "".join(parts) + text[at:]


def _name(text: str, at: int) -> str:
    match = re.compile(r"[A-Za-z]+\*?").match(text, at)
    return match[0] if match else text[at : at + 1]


def pieces(text: str, style: str = "") -> Iterator[Piece]:
    r"""Yield the text of a cell, a character or sign each, with its styles.

    >>> cell_of(pieces(r"$\mathbf{.42}^{ab}$"), 1).raised
    'ab'
    """
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            name = _name(text, at + 1)
            at += 1 + len(name)
            if name.isalpha():
                at += len(text[at:]) - len(text[at:].lstrip(" \t\n"))
            name = name.rstrip("*") or name
            if name in _SWITCHES:
                style = style.replace("b", "") + "b" * _SWITCHES[name]
            elif name in _SIGNS:
                at += 2 * text.startswith("{}", at)
                yield _SIGNS[name], style
            elif name in _STYLES:
                _, at = optional(text, at)
                inner, at = argument(text, at)
                if name == "underline" and re.match(r"\s*\\h?phantom", inner):
                    yield "", style + "u"  # a line below the text next to it
                else:
                    yield from pieces(inner, style + _STYLES[name])
            else:
                at = _after(text, at, name)
        elif sign == "{" or sign in "^_":
            inner, at = argument(text, at + (sign != "{"))
            plain = style.replace("^", "").replace("_", "")
            yield from pieces(inner, style if sign == "{" else plain + sign)
        else:
            at += 1
            if sign not in "$}":
                yield (" " if sign in "~\n\t" else sign), style
