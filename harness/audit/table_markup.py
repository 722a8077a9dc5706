"""Tables of a Markdown or HTML file."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from .table_grid import EMPTY, Cell, Grid, Piece, Style, grid_of, merged

_DIVIDER = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_MARKS = (
    (re.compile(r"\\([!-/:-@\[-`{-~])"), lambda match: f"&#{ord(match[1])};"),
    (re.compile(r"<(?!/?[A-Za-z][^>]*>|!--)"), "&lt;"),
    (re.compile(r"\[([^\]\[]*[^\]\[\d.,;\s–-][^\]\[]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"(\*\*|__)(.+?)\1"), r"<b>\2</b>"),
    (re.compile(r"`+"), ""),
    (re.compile(r"\^([^\s^]+)\^"), r"<sup>\1</sup>"),
)
"""Marks of Markdown, and the HTML for them."""


def markdown_grids(text: str) -> list[Grid]:
    """Return the tables of a Markdown file, in order, with those in HTML."""
    lines = text.split("\n")
    found, at, since = [], 1, 0
    while at < len(lines):
        is_divider = "|" in lines[at] and _DIVIDER.fullmatch(lines[at]) is not None
        if not is_divider or "|" not in lines[at - 1]:
            at += 1
            continue
        start, end = at - 1, at + 1
        while end < len(lines) and "|" in lines[end] and lines[end].strip():
            end += 1
        rows = [_row(lines[place], place + 1) for place in (start, *range(at + 1, end))]
        titles = re.findall(r"^\s*#+\s*(.*?)\s*#*\s*$", "\n".join(lines[since:start]), re.MULTILINE)
        grid = grid_of(
            rows, 1, start + 1, titles[-1] if titles else "", "\n".join(lines[since:end]),
            caption=" ".join(lines[since:start]),
        )  # fmt: skip
        found += [grid] if grid else []
        at = since = end
    return sorted([*found, *html_grids(text)], key=lambda grid: grid.line)


def _row(line: str, number: int) -> list[Cell]:
    inner = re.sub(r"(?<!\\)\|$", "", line.strip().removeprefix("|"))
    return [Cell(markdown_pieces(part), number) for part in re.split(r"(?<!\\)\|", inner)]


def markdown_pieces(text: str) -> tuple[Piece, ...]:
    """Return what a cell of Markdown says, and how each part is set.

    >>> [(one.text, one.style.bold) for one in markdown_pieces("**.42**<sup>ab</sup>")]
    [('.42', True), ('ab', False)]
    >>> [(one.text, one.style.underlined) for one in markdown_pieces("<u>0.41</u> \\\\*")]
    [('0.41', True), (' *', False)]
    """
    for mark, markup in _MARKS:
        text = mark.sub(markup, text)
    reader = _Reader(f"<table><tr><td>{text.strip()}")
    return tuple(merged(reader.pieces))


def html_grids(text: str) -> list[Grid]:
    """Return the tables of an HTML file, in order."""
    return _Reader(text).grids


class _Reader(HTMLParser):
    """The tables of a text; `pieces` are of the last cell begun."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.lines = text.split("\n")
        self.grids: list[Grid] = []
        self.rows: list[list[Cell]] | None = None
        self.header = 0
        self.start = self.since = self.line = 1
        self.label = self.caption = self.inside = ""
        self.styles: list[tuple[str, Style]] = []
        self.pieces: list[Piece] = []
        self.span = (1, 1)
        self.is_heading = True
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.rows, self.header, self.start = [], 0, self.getpos()[0]
            self.label, self.caption, self.inside = given.get("id", ""), "", ""
        elif self.rows is None:
            return
        elif tag == "caption":
            self.inside = "caption"
        elif tag == "tr":
            self.rows.append([])
            self.is_heading = True
        elif tag in ("td", "th") and self.rows:
            self.pieces, self.line, self.inside = [], self.getpos()[0], "cell"
            self.span = (_count(given.get("colspan", "")), _count(given.get("rowspan", "")))
            self.styles = [(tag, _style(tag, given, Style()))]
            self.is_heading = self.is_heading and tag == "th"
        elif self.inside == "cell" and tag == "br":
            self.handle_data(" ")
        elif self.inside == "cell":
            self.styles.append((tag, _style(tag, given, self.styles[-1][1])))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.inside == "cell" and self.rows:
            self.rows[-1].append(Cell(tuple(self.pieces), self.line, *self.span))
            self.inside = ""
        elif tag == "tr" and self.rows and self.is_heading and self.header == len(self.rows) - 1:
            self.header += 1
        elif tag == "caption":
            self.inside = ""
        elif tag == "thead" and self.rows:
            self.header = len(self.rows)
        elif tag == "table" and self.rows is not None:
            end = self.getpos()[0]
            grid = grid_of(
                _with_spanned(self.rows), self.header or None, self.start, self.label,
                "\n".join(self.lines[self.since - 1 : end]), caption=self.caption,
            )  # fmt: skip
            self.grids += [grid] if grid else []
            self.rows, self.since = None, end
        elif self.inside == "cell":
            for at in range(len(self.styles) - 1, 0, -1):
                if self.styles[at][0] == tag:
                    del self.styles[at:]
                    break

    def handle_data(self, data: str) -> None:
        if self.inside == "caption":
            self.caption += data
        elif self.inside == "cell":
            self.pieces.append(Piece(data, self.styles[-1][1]))


def _with_spanned(rows: list[list[Cell]]) -> list[list[Cell]]:
    """Return the rows with an empty cell in each place that a cell of a row above takes."""
    found = []
    left: dict[int, int] = {}  # rows that the cell above still takes, by column
    for row in filter(None, rows):
        full: list[Cell] = []
        place, cells = 0, list(row)
        while cells or left.get(place):
            if left.get(place):
                left[place] -= 1
                full.append(EMPTY)
                place += 1
                continue
            cell = cells.pop(0)
            full.append(cell)
            for _ in range(cell.columns):
                left[place] = cell.rows - 1
                place += 1
        found.append(full)
    return found


def _count(text: str) -> int:
    return max(int(text), 1) if re.fullmatch(r"[0-9]{1,3}", text) else 1


def _style(tag: str, given: dict[str, str], outer: Style) -> Style:
    css = given.get("style", "")
    return Style(
        outer.bold or tag in ("b", "strong") or bool(re.search(r"weight:\s*(bold|[6-9]00)", css)),
        outer.underlined or tag in ("u", "ins") or "underline" in css,
        outer.raised or tag == "sup",
        outer.lowered or tag == "sub",
    )
