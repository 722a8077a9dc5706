"""Tables of an HTML file."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from .grid import Cell, Grid, Piece, Style, grid_of

_BOLD, _UNDERLINED = {"b", "strong"}, {"u", "ins"}


def grids(text: str) -> list[Grid]:
    """Return the tables of an HTML file, in order."""
    reader = _Reader(text)
    reader.feed(text)
    reader.close()
    return reader.found


class _Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.lines = text.split("\n")
        self.found: list[Grid] = []
        self.rows: list[list[Cell]] | None = None
        self.header = 0
        self.start = self.since = 1
        self.label = self.caption = ""
        self.is_caption = False
        self.styles: list[tuple[str, Style]] = []
        self.cell: list[Piece] | None = None
        self.span = (1, 1)
        self.line = 0
        self.is_heading = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.rows, self.header, self.start = [], 0, self.getpos()[0]
            self.label, self.caption = given.get("id", ""), ""
        elif self.rows is None:
            return
        elif tag == "caption":
            self.is_caption = True
        elif tag == "tr":
            self.rows.append([])
            self.is_heading = True
        elif tag in ("td", "th") and self.rows:
            self.cell, self.line = [], self.getpos()[0]
            self.span = tuple(_count(given.get(name, "")) for name in ("colspan", "rowspan"))  # type: ignore[assignment]
            self.styles = [(tag, _style(tag, given, Style()))]
            self.is_heading = self.is_heading and tag == "th"
        elif tag == "br" and self.cell is not None:
            self.cell.append(Piece(" ", self._now()))
        elif self.cell is not None:
            self.styles.append((tag, _style(tag, given, self._now())))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.cell is not None and self.rows:
            self.rows[-1].append(Cell(tuple(self.cell), self.line, *self.span))
            self.cell = None
        elif tag == "tr" and self.rows and self.is_heading and self.header == len(self.rows) - 1:
            self.header += 1
        elif tag == "caption":
            self.is_caption = False
        elif tag == "thead" and self.rows:
            self.header = len(self.rows)
        elif tag == "table" and self.rows is not None:
            end = self.getpos()[0]
            around = "\n".join(self.lines[self.since - 1 : end])
            grid = grid_of(
                _placed(self.rows), self.header or None, self.start, self.label, around,
                caption=self.caption, is_spread=True,
            )  # fmt: skip
            self.found += [grid] if grid else []
            self.rows, self.since = None, end
        elif self.cell is not None:
            for at in range(len(self.styles) - 1, 0, -1):
                if self.styles[at][0] == tag:
                    del self.styles[at:]
                    break

    def handle_data(self, data: str) -> None:
        if self.is_caption:
            self.caption += data
        elif self.cell is not None:
            self.cell.append(Piece(data, self._now()))

    def _now(self) -> Style:
        return self.styles[-1][1] if self.styles else Style()


def _placed(rows: list[list[Cell]]) -> list[list[Cell]]:
    """Return the rows with cells that span columns or rows in each place that they take."""
    found: list[list[Cell]] = []
    below: dict[int, tuple[Cell, int]] = {}
    for row in filter(None, rows):
        full: list[Cell] = []
        left = list(row)
        while left or below.keys() & {len(full)}:
            place = len(full)
            if place in below:
                cell, more = below.pop(place)
                full.append(cell)
                if more > 1:
                    below[place] = (cell, more - 1)
                continue
            cell = left.pop(0)
            for _ in range(cell.columns):
                if cell.rows > 1:
                    below[len(full)] = (cell, cell.rows - 1)
                full.append(cell)
        found.append(full)
    return found


def _count(text: str) -> int:
    return max(int(text), 1) if re.fullmatch(r"[0-9]{1,3}", text) else 1


def _style(tag: str, given: dict[str, str], old: Style) -> Style:
    css = given.get("style", "")
    return Style(
        old.bold or tag in _BOLD or re.search(r"font-weight:\s*(bold|[6-9]00)", css) is not None,
        old.underlined or tag in _UNDERLINED or "underline" in css,
        old.raised or tag == "sup",
        old.lowered or tag == "sub",
    )
