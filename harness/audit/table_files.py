"""Tables of CSV, Markdown and HTML files as grids of cells, and the numbers that cells print."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError, Problem, shorten
from ..reports.formats import from_csv

GREEK = {sign: unicodedata.name(sign).split()[-1].lower() for sign in "αβγδεζηθικλμνξοπρστυφχψω"}
GREEK["λ"] = "lambda"  # which Unicode calls lamda
Piece = tuple[str, str]
"""Text and its style: any of ``b`` bold, ``u`` underlined, ``^`` raised, ``_`` lowered.

Empty text may be underlined: a line below the text next to it.
"""


@dataclass(frozen=True, eq=False)
class PrintedCell:
    """One cell, and how many columns and rows it spans; these hold the same object.

    `text` is without raised and lowered text, `whole` all of it; `bold` and `underlined` are the
    style of its number.
    """

    text: str = ""
    whole: str = ""
    line: int = 0
    columns: int = 1
    rows: int = 1
    raised: str = ""
    lowered: str = ""
    bold: bool = False
    underlined: bool = False


Row = tuple[PrintedCell, ...]
EMPTY = PrintedCell()


def cell_of(pieces: Iterable[Piece], line: int, columns: int = 1, rows: int = 1) -> PrintedCell:
    """Return a cell with the pieces of text.

    >>> cell = cell_of([(".423", "b"), ("ab", "^")], 1)
    >>> cell.text, cell.whole, cell.raised, cell.bold
    ('.423', '.423ab', 'ab', True)
    """
    pieces = list(pieces)
    plain = [one for one in pieces if "^" not in one[1] and "_" not in one[1]]
    number = next((style for text, style in plain if any(map(str.isdigit, text))), "")
    return PrintedCell(
        " ".join("".join(text for text, _ in plain).split()),
        " ".join("".join(text for text, _ in pieces).split()),
        line,
        columns,
        rows,
        "".join(text for text, style in pieces if "^" in style),
        "".join(text for text, style in pieces if "_" in style),
        "b" in number,
        "u" in number or any("u" in style for text, style in pieces if not text),
    )


@dataclass(frozen=True, eq=False)
class PrintedTable:
    """One table: rows of one length, the first `header` of them headings.

    `name` is its label, `caption` the text above or below it.
    """

    rows: tuple[Row, ...]
    header: int
    line: int
    name: str = ""
    caption: str = ""

    @property
    def body(self) -> tuple[Row, ...]:
        """The rows below the headings."""
        return self.rows[self.header :]

    def headings(self, column: int) -> list[str]:
        """Return the texts over a column, from top to bottom, each once."""
        cells = dict.fromkeys(row[column] for row in self.rows[: self.header])
        return [cell.whole for cell in cells if cell.whole]

    def transposed(self) -> PrintedTable:
        """Return the table with rows and columns exchanged; columns of names are its headings."""
        stub = 1
        while stub < len(self.rows[0]) - 1 and not any(has_number(row[stub]) for row in self.body):
            stub += 1
        return replace(self, rows=tuple(zip(*self.rows, strict=True)), header=stub)


def grid_of(
    rows: Sequence[Sequence[PrintedCell]],
    header: int | None,
    line: int,
    name: str = "",
    caption: str = "",
    *,
    implied: bool = False,
) -> list[PrintedTable]:
    """Return a table of rows that may differ in length; nothing without rows.

    Below a cell that spans rows are empty cells, or none if that is `implied`, as in HTML. A
    `header` of None is for the rows above the first fraction.
    """
    rows = [row for row in rows if row]
    if not rows:
        return []
    taken: dict[tuple[int, int], PrintedCell] = {}
    for at, row in enumerate(rows):
        column = 0
        for cell in row:
            while implied and (at, column) in taken:
                column += 1
            for place in range(column, column + cell.columns):
                for down in range(at, min(at + cell.rows, len(rows))):
                    if cell.whole or (down, place) not in taken:
                        taken[down, place] = cell
            column += cell.columns
    width = max(column for _, column in taken) + 1
    full = tuple(
        tuple(taken.get((at, column), EMPTY) for column in range(width)) for at in range(len(rows))
    )
    if header is None:
        header = next((at for at, row in enumerate(full) if any(map(has_number, row))), 1)
    return [PrintedTable(full, max(header, 1), line, name, caption)]


def has_number(cell: PrintedCell) -> bool:
    """Whether a cell holds a number with decimals."""
    return bool(re.search(r"\d?[.,]\d", cell.text)) and not re.search(r"[^\W\d]{2}", cell.text)


SYMBOLS = "†‡§¶‖*△▲▽▼•°"
"""Marks of significance other than letters."""
LONGEST = 400
"""Characters that a number may have, with the text next to it: a double has 309 digits."""
_NUMBER = (
    r"[+\-]?(?:(?:[0-9][0-9,\u2009 ]*[0-9]|[0-9])(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+\-]?[0-9]{1,3})?"
)
_FULL = re.compile(
    rf"[(\[]?(?P<number>{_NUMBER})\s*(?P<percent>%?)\s*"
    rf"(?:(?:±|\+/-|\+-)\s*(?P<spread>{_NUMBER})\s*%?"
    rf"|(?P<remark>\((?:[+\-][\d.,]+\s*%?|[\d.,]+\s*%)\)|(?<=\s)\(\d+(?:/\d+)?\))"
    rf"|\((?:±\s*)?(?P<bracket>{_NUMBER})\s*%?\)"
    rf"|[\[(]\s*(?P<low>{_NUMBER})\s*[,;–]\s*(?P<high>{_NUMBER})\s*[\])])?"
    rf"[)\]]?"
)
_MINUS = str.maketrans({"−": "-", "–": "-", "‐": "-", "\u00a0": " "})


class Printed(NamedTuple):
    """A number as it is printed, with `digits` decimals, and the text behind it.

    `spread` is a deviation, or the two ends of an interval; `remark` text in brackets that is not a
    deviation: ``(+5.9%)``, ``(17/20)``. `above` and `below` are letters or daggers.
    """

    text: str
    number: Decimal
    digits: int
    is_percent: bool
    spread: tuple[Decimal, ...]
    above: str
    below: str
    remark: str


def printed(cell: PrintedCell) -> Printed | None:
    """Return the number that a cell prints; None if it prints none.

    >>> number = printed(cell_of([(".423", "b"), ("ab", "^")], 1))
    >>> number.number, number.digits, number.above
    (Decimal('0.423'), 3, 'ab')
    """
    text = cell.text.translate(_MINUS)
    if len(text) > LONGEST:
        return None
    bare = text.strip(SYMBOLS + " ")
    symbols = "".join(sign for sign in text.replace(bare, "", 1) if sign in SYMBOLS)
    if letters := re.search(r"(?<=[\d)\]])\s*([a-z](?:\s*,?\s*[a-z])*)$", bare):
        bare, symbols = bare[: letters.start()], symbols + letters[1]
    match = _FULL.fullmatch(bare)
    if match is None:
        return None
    spread = [match[name] for name in ("spread", "bracket", "low", "high") if match[name]]
    number = decimal_of(match["number"])
    if (last := match["bracket"] or "").isdigit() and match["number"].count(".") == 1:
        spread = [str(Decimal(last).scaleb(-decimals(number)))]  # 0.424(14): of the last digit
    lowered = cell.lowered
    if below := re.fullmatch(rf"\s*±\s*({_NUMBER})\s*", lowered):
        spread, lowered = [below[1]], ""
    return Printed(
        match["number"].strip(),
        number,
        decimals(number),
        bool(match["percent"]),
        tuple(map(decimal_of, spread)),
        cell.raised + symbols,
        lowered,
        match["remark"] or "",
    )


def decimal_of(text: str) -> Decimal:
    """Return a number as it is printed, without separators of thousands.

    >>> decimal_of("1,234.50"), decimal_of("-.3"), decimal_of("0,423")
    (Decimal('1234.50'), Decimal('-0.3'), Decimal('0.423'))
    """
    if re.fullmatch(r"[+\-]?(?:0?,\d+|\d+,(?:\d{1,2}|\d{4,}))", text):
        text = text.replace(",", ".")
    return Decimal(re.sub(r"[,\u2009 ]", "", text))


def decimals(number: Decimal) -> int:
    """Return how many decimals a number has: 3 for 0.420."""
    exponent = number.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def marks_of(text: str, whole: bool = False) -> list[str]:
    """Return the marks of a text: letters and digits one by one, or `whole` between commas.

    A symbol that is repeated is one mark.

    >>> marks_of("ab"), marks_of("a, ab"), marks_of("†‡"), marks_of("**"), marks_of("a†")
    (['a', 'b'], ['a', 'ab'], ['†', '‡'], ['**'], ['a', '†'])
    """
    parts = list(filter(None, re.split(r"[,;\s\u2009]+", text.strip("() "))))
    marks: list[str] = []
    for run in (match[0] for part in parts for match in re.finditer(r"([^\w])\1*|\w+", part)):
        if (run.isalpha() or run.isdigit()) and len(parts) == 1 and not whole:
            marks += run
        elif run.isalnum() or run[0] in SYMBOLS or not run.isascii():
            marks.append(run)
    return marks


DELIMITERS = ",;\t|"
OWN = ["group", "run", "name", "sign"]
"""The headings that a table of the harness begins with."""
_PARTS = (" deviation", " low", " high", " marks", " repetitions", " n", " tier", " rank",
          " answered")  # fmt: skip


class CsvRow(NamedTuple):
    """The fields of a row, and the line of the file that it ends on."""

    fields: list[str]
    line: int


def read_text(path: Path) -> str:
    """Return the text of a file; raise InputError if it cannot be read or is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError(Problem(str(path), what, fix="correct the path")) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        what, fix = f"expected UTF-8, got byte {content[error.start]:#x}", "save it as UTF-8"
        raise InputError(Problem(f"{path}:{line}", what, fix=fix)) from None


def read_rows(text: str, path: str = "") -> list[CsvRow]:
    """Return the rows of a CSV without the comments above them, the header first.

    The delimiter is the most frequent of ``, ; |`` and tab in the header. Rows without text are
    skipped.
    """
    lines = text.splitlines(keepends=True)
    comments = re.compile(rf"\s*$|#(?![{re.escape(DELIMITERS)}])")
    first = next((at for at, line in enumerate(lines) if not comments.match(line)), len(lines))
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
        raise InputError(problems)
    return rows


def csv_grids(text: str) -> list[PrintedTable]:
    """Return the table of a CSV file: one, or none if it is empty.

    Cells may have the marks of Markdown, except in a table of the harness.
    """
    rows = read_rows(text)
    if rows and rows[0].fields[: len(OWN)] == OWN:
        cells = list(_own_cells(rows))
    else:
        cells = [[cell_of(markdown_pieces(one), row.line) for one in row.fields] for row in rows]
    return grid_of(cells, 1, 1)


def _own_cells(rows: Sequence[CsvRow]) -> Iterator[list[PrintedCell]]:
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
    style = "".join(sign for mark, sign in (("best", "b"), ("second", "u")) if mark in marks)
    return [
        (row[column], style),
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


def markdown_grids(text: str) -> list[PrintedTable]:
    """Return the tables of a Markdown file, in order, with those in HTML."""
    lines = text.split("\n")
    grids, since, end = html_grids(text), 0, 0
    for at in range(1, len(lines)):
        is_divider = "|" in lines[at] and _DIVIDER.fullmatch(lines[at])
        if at < end or not is_divider or "|" not in lines[at - 1]:
            continue
        start, end = at - 1, at + 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        rows = []
        for place in (start, *range(at + 1, end)):
            inner = re.sub(r"(?<!\\)\|$", "", lines[place].strip().removeprefix("|"))
            parts = re.split(r"(?<!\\)\|", inner)
            rows.append([cell_of(markdown_pieces(part), place + 1) for part in parts])
        titles = re.findall(r"^\s*#+\s*(.*?)\s*#*\s*$", "\n".join(lines[since:start]), re.MULTILINE)
        above = " ".join(lines[since:start])
        grids += grid_of(rows, 1, start + 1, titles[-1] if titles else "", above)
        since = end
    return sorted(grids, key=lambda grid: grid.line)


def markdown_pieces(text: str) -> list[Piece]:
    """Return the text of a cell of Markdown, and its styles.

    >>> markdown_pieces("**.42**<sup>ab</sup>"), markdown_pieces("<u>0.41</u> \\\\*")
    ([('.42', 'b'), ('ab', '^')], [('0.41', 'u'), (' *', '')])
    """
    for mark, markup in _MARKS:
        text = mark.sub(markup, text)
    return _Reader(f"<table><tr><td>{text.strip()}").pieces


def html_grids(text: str) -> list[PrintedTable]:
    """Return the tables of an HTML file, in order."""
    return _Reader(text).grids


_TAGS = {"b": "b", "strong": "b", "u": "u", "ins": "u", "sup": "^", "sub": "_"}


class _Reader(HTMLParser):
    """The tables of a text; `pieces` are those of the last cell begun."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.grids: list[PrintedTable] = []
        self.rows: list[list[PrintedCell]] | None = None
        self.header = 0
        self.start = self.line = 1
        self.label = self.caption = self.inside = ""
        self.styles: list[tuple[str, str]] = []
        self.pieces: list[Piece] = []
        self.span = [1, 1]
        self.is_heading = True
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        css = values.get("style", "")
        style = _TAGS.get(tag, "") + ("u" if "underline" in css else "")
        style += "b" if re.search(r"weight:\s*(bold|[6-9]00)", css) else ""
        if tag == "table":
            self.rows, self.header, self.start = [], 0, self.getpos()[0]
            self.label, self.inside = values.get("id", ""), ""
        elif tag in ("caption", "figcaption"):
            self.caption, self.inside = "", "caption"
        elif self.rows is None:
            return
        elif tag == "tr":
            self.rows.append([])
            self.is_heading = True
        elif tag in ("td", "th") and self.rows:
            self.pieces, self.line, self.inside = [], self.getpos()[0], "cell"
            spans = (values.get(name, "") for name in ("colspan", "rowspan"))
            self.span = [max(int(n), 1) if re.fullmatch(r"[0-9]{1,3}", n) else 1 for n in spans]
            self.styles = [(tag, style)]
            self.is_heading = self.is_heading and tag == "th"
        elif self.inside == "cell" and tag == "br":
            self.handle_data(" ")
        elif self.inside == "cell":
            self.styles.append((tag, self.styles[-1][1] + style))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.inside == "cell" and self.rows:
            self.rows[-1].append(cell_of(self.pieces, self.line, *self.span))
            self.inside = ""
        elif tag == "tr" and self.rows and self.is_heading and self.header == len(self.rows) - 1:
            self.header += 1
        elif tag in ("caption", "figcaption"):
            self.inside = ""
        elif tag == "thead" and self.rows:
            self.header = len(self.rows)
        elif tag == "table" and self.rows is not None:
            self.grids += grid_of(
                self.rows, self.header or None, self.start, self.label, self.caption, implied=True
            )
            self.rows, self.caption = None, ""
        elif self.inside == "cell":
            opened = [at for at in range(1, len(self.styles)) if self.styles[at][0] == tag]
            del self.styles[opened[-1] if opened else len(self.styles) :]

    def handle_data(self, data: str) -> None:
        if self.inside == "caption":
            self.caption += data
        elif self.inside == "cell":
            self.pieces.append((data, self.styles[-1][1]))
