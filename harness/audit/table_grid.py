"""A table of a file as a grid of cells, and the numbers that they print."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ..reports.paper_table.marks import letter, place_of

GREEK = {sign: unicodedata.name(sign).split()[-1].lower() for sign in "αβγδεζηθικλμνξοπρστυφχψω"}
GREEK["λ"] = "lambda"  # which Unicode calls lamda
Piece = tuple[str, str]
"""Text and its style: any of ``b`` bold, ``u`` underlined, ``^`` raised, ``_`` lowered.

Empty text may be underlined: a line below what is next to it.
"""
_TRACE = re.compile(r"manifest sha256:\s*([0-9a-f]{64})")


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell, and how many columns and rows it spans; these hold the same object.

    `text` is without what is raised or lowered, `whole` all of it; `bold` and `underlined` are
    how its number is set.
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


Row = tuple[Cell, ...]
EMPTY = Cell()


def cell_of(pieces: Iterable[Piece], line: int, columns: int = 1, rows: int = 1) -> Cell:
    """Return a cell with the pieces of text.

    >>> cell = cell_of([(".423", "b"), ("ab", "^")], 1)
    >>> cell.text, cell.whole, cell.raised, cell.bold
    ('.423', '.423ab', 'ab', True)
    """
    pieces = list(pieces)
    plain = [one for one in pieces if "^" not in one[1] and "_" not in one[1]]
    number = next((style for text, style in plain if any(map(str.isdigit, text))), "")
    return Cell(
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
class Grid:
    """One table: rows of one length, the first `header` of them headings.

    `name` is its label, `trace` the SHA-256 of the manifest that it says it was made from, and
    `caption` the text above or below it.
    """

    rows: tuple[Row, ...]
    header: int
    line: int
    name: str = ""
    trace: str = ""
    caption: str = ""

    @property
    def body(self) -> tuple[Row, ...]:
        """The rows below the headings."""
        return self.rows[self.header :]

    def headings(self, column: int) -> list[str]:
        """Return the texts over a column, from top to bottom, each once."""
        cells = dict.fromkeys(row[column] for row in self.rows[: self.header])
        return [cell.whole for cell in cells if cell.whole]

    def transposed(self) -> Grid:
        """Return the table with rows and columns exchanged; columns of names are its headings."""
        stub = 1
        while stub < len(self.rows[0]) - 1 and not any(has_number(row[stub]) for row in self.body):
            stub += 1
        return replace(self, rows=tuple(zip(*self.rows, strict=True)), header=stub)


def grid_of(
    rows: Sequence[Sequence[Cell]],
    header: int | None,
    line: int,
    name: str = "",
    before: str = "",
    caption: str = "",
) -> list[Grid]:
    """Return a table of rows that may differ in length; nothing without rows.

    A cell that spans columns is there once; below one that spans rows are empty cells. A `header`
    of None is for the rows above the first fraction. `before` may have the manifest's hash.
    """
    full = [[cell for cell in row for _ in range(max(cell.columns, 1))] for row in rows if row]
    if not full:
        return []
    width = max(map(len, full))
    full = [row + [EMPTY] * (width - len(row)) for row in full]
    for at, row in enumerate(full):
        for column, cell in enumerate(row):
            if not at or full[at - 1][column] is not cell:  # else put there from above
                for below in full[at + 1 : at + cell.rows]:
                    if not below[column].whole:
                        below[column] = cell
    if header is None:
        header = next((at for at, row in enumerate(full) if any(map(has_number, row))), 1)
    traces = _TRACE.findall(before)
    trace = traces[-1] if traces else ""
    return [Grid(tuple(map(tuple, full)), max(header, 1), line, name, trace, caption)]


def has_number(cell: Cell) -> bool:
    """Whether a cell holds a number with decimals."""
    return bool(re.search(r"\d?[.,]\d", cell.text)) and not re.search(r"[^\W\d]{2}", cell.text)


SYMBOLS = "†‡§¶‖*△▲▽▼•°"
"""Marks of significance that are no letters."""
LONGEST = 400
"""Characters that a number may have, with what is next to it: a double has 309 digits."""
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


@dataclass(frozen=True)
class Printed:
    """A number as it is printed, with so many decimals (`digits`), and what follows it.

    `spread` is a deviation, or the two ends of an interval; `remark` what is in brackets and is
    not a deviation: ``(+5.9%)``, ``(17/20)``. `marks` and `lowered` are letters or daggers,
    `raised` the raised text as commas split it.
    """

    text: str
    number: Decimal
    digits: int
    is_percent: bool
    spread: tuple[Decimal, ...]
    marks: tuple[str, ...]
    lowered: tuple[str, ...]
    raised: tuple[str, ...]
    remark: str


def printed(cell: Cell) -> Printed | None:
    """Return the number that a cell prints; None if it prints none.

    >>> number = printed(cell_of([(".423", "b"), ("ab", "^")], 1))
    >>> number.number, number.digits, number.marks
    (Decimal('0.423'), 3, ('a', 'b'))
    """
    text = cell.text.translate(_MINUS)
    if len(text) > LONGEST:
        return None
    end = len(text.rstrip(SYMBOLS + " "))
    symbols, text = text[end:], text[:end].strip()
    while text[:1] and text[0] in SYMBOLS:
        symbols, text = symbols + text[0], text[1:].strip()
    if letters := re.search(r"(?<=[\d)\]])\s*([a-z](?:\s*,?\s*[a-z])*)$", text):
        text, symbols = text[: letters.start()], symbols + letters[1]
    match = _FULL.fullmatch(text)
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
        marks_of(cell.raised + symbols),
        marks_of(lowered),
        tuple(_parts(cell.raised + symbols)),
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
    """Return how many decimals a number has.

    >>> decimals(Decimal("0.420")), decimals(Decimal("12"))
    (3, 0)
    """
    exponent = number.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def marks_of(text: str) -> tuple[str, ...]:
    """Return the marks of a text: split by commas or spaces if there are any, else one by one.

    Letters and digits are marks each (``ab``, ``12``); a symbol that is repeated is one (``**``).

    >>> marks_of("ab"), marks_of("a, ab"), marks_of("†‡"), marks_of("**"), marks_of("a†")
    (('a', 'b'), ('a', 'ab'), ('†', '‡'), ('**',), ('a', '†'))
    """
    parts = _parts(text)
    marks: list[str] = []
    for run in (match[0] for part in parts for match in re.finditer(r"([^\w])\1*|\w+", part)):
        if (run.isalpha() or run.isdigit()) and len(parts) == 1:
            marks += run
        elif run.isalnum() or run[0] in SYMBOLS or not run.isascii():
            marks.append(run)
    return tuple(marks)


def _parts(text: str) -> list[str]:
    """Return the parts of a text between commas and spaces, each letter of a range a part.

    >>> _parts("y–ab"), _parts("ab"), _parts("a,c-a")
    (['y', 'z', 'aa', 'ab'], ['ab'], ['a', 'c-a'])
    """
    parts: list[str] = []
    for part in filter(None, re.split(r"[,;\s\u2009]+", text.strip("() "))):
        ends = re.fullmatch(r"([a-z]{1,2})[-–−]{1,2}([a-z]{1,2})", part)
        between = range(place_of(ends[1]), place_of(ends[2]) + 1) if ends else ()
        parts += [letter(place) for place in between] or [part]
    return parts
