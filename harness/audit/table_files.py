"""Tables of CSV, Markdown and HTML files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from ..errors import SHOWN, InputError, Problem, shorten
from ..reports.csv import from_csv
from .table_grid import EMPTY, Cell, Grid, Piece, cell_of, grid_of

DELIMITERS = ",;\t|"
OWN = ["group", "run", "name", "sign"]
"""The headings that a table of the harness begins with."""
_PARTS = (" deviation", " low", " high", " marks", " repetitions")


class CsvRow(NamedTuple):
    """The fields of a row, and the line of the file that it ends on."""

    fields: list[str]
    line: int


def read_text(path: Path) -> str:
    """Return the text of a file; raise InputError if it cannot be read or is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror}")) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        what, fix = f"expected UTF-8, got byte {content[error.start]:#x}", "save it as UTF-8"
        raise InputError(Problem(f"{path}:{line}", what, fix=fix)) from None


def read_rows(text: str, path: str = "") -> tuple[str, list[CsvRow]]:
    """Return the comments above the header of a CSV, and its rows, the header first.

    The delimiter is that of ``, ; |`` and tab which the header has most of. Rows without text are
    skipped.
    """
    lines = text.splitlines(keepends=True)
    first = next((at for at, line in enumerate(lines) if not _is_comment(line)), len(lines))
    bare = re.sub(r'"[^"]*"', "", "".join(lines[first : first + 1]))
    body = io.StringIO("".join(lines[first:]), newline="")
    reader = csv.reader(body, delimiter=max(DELIMITERS, key=bare.count), strict=True)
    rows = []
    try:
        for fields in reader:
            if any(map(str.strip, fields)):
                fields = [from_csv(field.strip()) for field in fields]
                rows.append(CsvRow(fields, first + reader.line_num))
    except csv.Error as error:
        where = f"{path}:{first + reader.line_num}"
        raise InputError(Problem(where, f"expected CSV, got: {error}")) from None
    problems = [
        Problem(
            f"{path}:{row.line}",
            f"expected {len(rows[0].fields)} fields as in the header, got {len(row.fields)}",
            shorten(", ".join(row.fields)),
            "give each row as many fields as the header; quote fields with a separator",
        )
        for row in rows
        if len(row.fields) != len(rows[0].fields)
    ]
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))
    return "".join(lines[:first]), rows


def _is_comment(line: str) -> bool:
    return not line.strip() or (line.startswith("#") and line[1:2] not in tuple(DELIMITERS))


def csv_grids(text: str) -> list[Grid]:
    """Return the table of a CSV file: one, or none if it is empty.

    Cells may have the marks of Markdown, except in a table of the harness.
    """
    comments, rows = read_rows(text)
    if rows and rows[0].fields[: len(OWN)] == OWN:
        cells = list(_own_cells(rows))
    else:
        cells = [[cell_of(markdown_pieces(one), row.line) for one in row.fields] for row in rows]
    return grid_of(cells, 1, 1, before=comments)


def _own_cells(rows: Sequence[CsvRow]) -> Iterator[list[Cell]]:
    """Yield the rows of a table of the harness, each number with its spread and marks."""
    header, line = rows[0]
    columns = [name for name in header[len(OWN) :] if not name.endswith(_PARTS)]
    yield [cell_of([(name, "")], line) for name in ("run", *columns)]
    for fields, line in rows[1:]:
        row = dict(zip(header, fields, strict=True))
        name = [(row["run"], ""), (row["sign"], "^")]
        yield [cell_of(one, line) for one in (name, *(_pieces(name, row) for name in columns))]


def _pieces(column: str, row: dict[str, str]) -> list[Piece]:
    marks = row.get(f"{column} marks", "").split()
    signs = [mark for mark in marks if mark not in ("best", "second")]
    deviation, low, high = (row.get(f"{column} {n}", "") for n in ("deviation", "low", "high"))
    spread = f" ± {deviation}" if deviation else f" [{low}, {high}]" if low and high else ""
    return [
        (row[column], "b" * ("best" in marks) + "u" * ("second" in marks)),
        (spread, ""),
        (",".join(sign for sign in signs if sign[0] != "_"), "^"),
        (",".join(sign[1:] for sign in signs if sign[0] == "_"), "_"),
    ]


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
    grids, at, since = html_grids(text), 1, 0
    while at < len(lines):
        is_divider = "|" in lines[at] and _DIVIDER.fullmatch(lines[at]) is not None
        if not is_divider or "|" not in lines[at - 1]:
            at += 1
            continue
        start, end = at - 1, at + 1
        while end < len(lines) and "|" in lines[end] and lines[end].strip():
            end += 1
        rows = [
            [cell_of(markdown_pieces(part), place + 1) for part in _split(lines[place])]
            for place in (start, *range(at + 1, end))
        ]
        titles = re.findall(r"^\s*#+\s*(.*?)\s*#*\s*$", "\n".join(lines[since:start]), re.MULTILINE)
        grids += grid_of(
            rows, 1, start + 1, titles[-1] if titles else "", "\n".join(lines[since:end]),
            " ".join(lines[since:start]),
        )  # fmt: skip
        at = since = end
    return sorted(grids, key=lambda grid: grid.line)


def _split(line: str) -> list[str]:
    inner = re.sub(r"(?<!\\)\|$", "", line.strip().removeprefix("|"))
    return re.split(r"(?<!\\)\|", inner)


def markdown_pieces(text: str) -> list[Piece]:
    """Return the text of a cell of Markdown, and its styles.

    >>> markdown_pieces("**.42**<sup>ab</sup>"), markdown_pieces("<u>0.41</u> \\\\*")
    ([('.42', 'b'), ('ab', '^')], [('0.41', 'u'), (' *', '')])
    """
    for mark, markup in _MARKS:
        text = mark.sub(markup, text)
    return _Reader(f"<table><tr><td>{text.strip()}").pieces


def html_grids(text: str) -> list[Grid]:
    """Return the tables of an HTML file, in order."""
    return _Reader(text).grids


class _Reader(HTMLParser):
    """The tables of a text; `pieces` are those of the last cell begun."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.lines = text.split("\n")
        self.grids: list[Grid] = []
        self.rows: list[list[Cell]] | None = None
        self.header = 0
        self.start = self.since = self.line = 1
        self.label = self.caption = self.inside = ""
        self.styles: list[tuple[str, str]] = []
        self.pieces: list[Piece] = []
        self.span = (1, 1)
        self.is_heading = True
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.rows, self.header, self.start = [], 0, self.getpos()[0]
            self.label, self.caption, self.inside = values.get("id", ""), "", ""
        elif self.rows is None:
            return
        elif tag == "caption":
            self.inside = "caption"
        elif tag == "tr":
            self.rows.append([])
            self.is_heading = True
        elif tag in ("td", "th") and self.rows:
            self.pieces, self.line, self.inside = [], self.getpos()[0], "cell"
            self.span = (_count(values.get("colspan", "")), _count(values.get("rowspan", "")))
            self.styles = [(tag, _style(tag, values))]
            self.is_heading = self.is_heading and tag == "th"
        elif self.inside == "cell" and tag == "br":
            self.handle_data(" ")
        elif self.inside == "cell":
            self.styles.append((tag, self.styles[-1][1] + _style(tag, values)))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.inside == "cell" and self.rows:
            self.rows[-1].append(cell_of(self.pieces, self.line, *self.span))
            self.inside = ""
        elif tag == "tr" and self.rows and self.is_heading and self.header == len(self.rows) - 1:
            self.header += 1
        elif tag == "caption":
            self.inside = ""
        elif tag == "thead" and self.rows:
            self.header = len(self.rows)
        elif tag == "table" and self.rows is not None:
            end = self.getpos()[0]
            before = "\n".join(self.lines[self.since - 1 : end])
            self.grids += grid_of(
                _with_spanned(self.rows), self.header or None, self.start, self.label, before,
                self.caption,
            )  # fmt: skip
            self.rows, self.since = None, end
        elif self.inside == "cell":
            opened = [at for at in range(1, len(self.styles)) if self.styles[at][0] == tag]
            del self.styles[opened[-1] if opened else len(self.styles) :]

    def handle_data(self, data: str) -> None:
        if self.inside == "caption":
            self.caption += data
        elif self.inside == "cell":
            self.pieces.append((data, self.styles[-1][1]))


def _with_spanned(rows: Sequence[list[Cell]]) -> list[list[Cell]]:
    """Return the rows with an empty cell at each place that a cell of a row above takes."""
    result = []
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
        result.append(full)
    return result


def _count(text: str) -> int:
    return max(int(text), 1) if re.fullmatch(r"[0-9]{1,3}", text) else 1


_TAGS = {"b": "b", "strong": "b", "u": "u", "ins": "u", "sup": "^", "sub": "_"}


def _style(tag: str, attributes: dict[str, str]) -> str:
    css = attributes.get("style", "")
    bold = "b" if re.search(r"weight:\s*(bold|[6-9]00)", css) else ""
    return _TAGS.get(tag, "") + bold + ("u" if "underline" in css else "")
