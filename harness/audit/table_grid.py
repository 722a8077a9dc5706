"""A table as it was found in a file: cells with their style, and where they stand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby

from ..reports.paper_table.marks import letter, place_of

Row = tuple["Cell", ...]
GREEK = {sign: unicodedata.name(sign).split()[-1].lower() for sign in "αβγδεζηθικλμνξοπρστυφχψω"}
GREEK["λ"] = "lambda"  # which Unicode calls lamda
NO_WIDTH = "\u200b"
"""Stands where there is style, and no text of its own."""
_TRACE = re.compile(r"manifest sha256:\s*([0-9a-f]{64})")


@dataclass(frozen=True)
class Style:
    """How a piece of text is set."""

    bold: bool = False
    underlined: bool = False
    raised: bool = False
    lowered: bool = False


@dataclass(frozen=True)
class Piece:
    """Text of one style."""

    text: str
    style: Style = Style()


def merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces with neighbours of one style as one."""
    for style, some in groupby(pieces, key=lambda one: one.style):
        yield Piece("".join(one.text for one in some), style)


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell; two columns under one heading hold the same object.

    Parameters
    ----------
    pieces : tuple of Piece
    line : int
        Line of the file, from 1.
    columns, rows : int
        How many it spans.
    """

    pieces: tuple[Piece, ...] = ()
    line: int = 0
    columns: int = 1
    rows: int = 1

    @property
    def text(self) -> str:
        """What it says, without what is raised or lowered."""
        return self._joined(
            piece for piece in self.pieces if not piece.style.raised and not piece.style.lowered
        )

    @property
    def whole(self) -> str:
        """What it says, all of it."""
        return self._joined(self.pieces)

    @property
    def raised(self) -> str:
        """What is raised, or lowered."""
        return self._joined(
            piece for piece in self.pieces if piece.style.raised or piece.style.lowered
        )

    def _joined(self, pieces: Iterable[Piece]) -> str:
        return " ".join("".join(piece.text for piece in pieces).replace(NO_WIDTH, "").split())


EMPTY = Cell()


@dataclass(frozen=True, eq=False)
class Grid:
    """One table.

    Parameters
    ----------
    rows : tuple of tuple of Cell
        All of one length; the first `header` of them are headings.
    header : int
    line : int
        Where it begins.
    name : str
        Its label, where it has one.
    trace : str
        SHA-256 of the manifest that it says it was made from; empty where it does not say.
    caption : str
        What is said above or below it.
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
        """Return the table with rows and columns exchanged: its first column is the heading."""
        stub = 1
        while stub < len(self.rows[0]) - 1 and all(
            not has_number(row[stub]) for row in self.rows[self.header :]
        ):
            stub += 1
        rows = tuple(zip(*self.rows, strict=True))
        return replace(self, rows=rows, header=stub)


def grid_of(
    rows: Sequence[Sequence[Cell]],
    header: int | None,
    line: int,
    name: str = "",
    before: str = "",
    *,
    caption: str = "",
) -> Grid | None:
    """Return a table of rows that may be of different length; None where there are no rows.

    Parameters
    ----------
    rows : sequence of sequence of Cell
        A cell that spans columns stands once; below one that spans rows stand empty cells.
    header : int or None
        How many are headings; told from the first row with a fraction where None.
    line : int
    name : str
    before : str
        Text in which the manifest's hash may stand.
    caption : str
    """
    full = [[cell for cell in row for _ in range(max(cell.columns, 1))] for row in rows if row]
    if not full:
        return None
    width = max(map(len, full))
    full = [row + [EMPTY] * (width - len(row)) for row in full]
    _fill_down(full)
    if header is None:
        header = next((at for at, row in enumerate(full) if any(map(has_number, row))), 1)
    found = _TRACE.findall(before)
    return Grid(
        tuple(map(tuple, full)), max(header, 1), line, name, found[-1] if found else "", caption
    )


def has_number(cell: Cell) -> bool:
    """Whether a cell holds a number with decimals."""
    return re.search(r"\d?[.,]\d", cell.text) is not None and not re.search(
        r"[^\W\d]{2}", cell.text
    )


def _fill_down(rows: list[list[Cell]]) -> None:
    """Put cells that span rows into the empty cells below them."""
    for at, row in enumerate(rows):
        for column, cell in enumerate(row):
            if at and rows[at - 1][column] is cell:
                continue  # put there from above
            for below in rows[at + 1 : at + cell.rows]:
                if not below[column].whole:
                    below[column] = cell


SYMBOLS = "†‡§¶‖*△▲▽▼•°"
"""Marks of significance that are no letters."""
LONGEST = 400
"""Characters that a number may have, with what stands beside it: a double has 309 digits."""
_NUMBER = (
    r"[+\-]?(?:(?:[0-9][0-9,\u2009 ]*[0-9]|[0-9])(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+\-]?[0-9]{1,3})?"
)
_FULL = re.compile(
    rf"(?P<before>[(\[]?)(?P<number>{_NUMBER})\s*(?P<percent>%?)\s*"
    rf"(?:(?:±|\+/-|\+-)\s*(?P<spread>{_NUMBER})\s*%?"
    rf"|(?P<remark>\((?:[+\-][\d.,]+\s*%?|[\d.,]+\s*%)\)|(?<=\s)\(\d+(?:/\d+)?\))"
    rf"|\((?:±\s*)?(?P<beside>{_NUMBER})\s*%?\)"
    rf"|[\[(]\s*(?P<low>{_NUMBER})\s*[,;–]\s*(?P<high>{_NUMBER})\s*[\])])?"
    rf"(?P<after>[)\]]?)"
)
_MINUS = str.maketrans({"−": "-", "–": "-", "‐": "-", "\u00a0": " "})


@dataclass(frozen=True)
class Printed:
    """A number as it is printed.

    Parameters
    ----------
    text : str
        As it stands.
    number : Decimal
    digits : int
        Its decimals.
    is_percent : bool
        Whether a % stands behind it.
    beside : tuple of Decimal
        What stands beside it: a deviation, or the two ends of an interval.
    marks, lowered : tuple of str
        What is raised behind it, and what is lowered: letters, or daggers and the like.
    raised : str
        The same as it stands, parts with "," between them: with more than 26 letters ``aab``
        can be ``a ab`` or ``aa b``.
    remark : str
        What stands beside it in brackets and is no deviation: ``(+5.9%)``, ``(2)``, ``(17/20)``.
    bold, underlined : bool
    """

    text: str
    number: Decimal
    digits: int
    is_percent: bool = False
    beside: tuple[Decimal, ...] = ()
    marks: tuple[str, ...] = ()
    lowered: tuple[str, ...] = ()
    raised: str = ""
    remark: str = ""
    bold: bool = False
    underlined: bool = False


def printed(cell: Cell) -> Printed | None:
    """Return the number that a cell prints; None where it is no number.

    >>> found = printed(Cell((Piece(".423", Style(bold=True)), Piece("ab", Style(raised=True)))))
    >>> found.number, found.digits, found.marks, found.bold
    (Decimal('0.423'), 3, ('a', 'b'), True)
    """
    text = cell.text.translate(_MINUS)
    if len(text) > LONGEST:
        return None
    end = len(text.rstrip(SYMBOLS + " "))
    symbols, text = text[end:], text[:end].strip()
    while text[:1] and text[0] in SYMBOLS:
        symbols, text = symbols + text[0], text[1:].strip()
    letters = re.search(r"(?<=[\d)\]])\s*([a-z](?:\s*,?\s*[a-z])*)$", text)
    if letters:
        text = text[: letters.start()]
        symbols += letters[1]
    match = _FULL.fullmatch(text)
    if match is None:
        return None
    inside = [
        match[name] for name in ("spread", "beside", "low", "high") if match[name] is not None
    ]
    number = decimal_of(match["number"])
    if (last := match["beside"] or "").isdigit() and match["number"].count(".") == 1:
        # 0.424(14): in units of the last digit
        inside = [str(Decimal(last).scaleb(-decimals(number)))]
    lowered = "".join(one.text for one in cell.pieces if one.style.lowered)
    if (below := re.fullmatch(rf"\s*±\s*({_NUMBER})\s*", lowered)) is not None:
        inside, lowered = [below[1]], ""
    shown = [
        one for one in cell.pieces
        if any(sign.isdigit() for sign in one.text)
        and not one.style.raised and not one.style.lowered
    ]  # fmt: skip
    raised = "".join(one.text for one in cell.pieces if one.style.raised)
    return Printed(
        text=match["number"].strip(),
        number=number,
        digits=decimals(number),
        is_percent=bool(match["percent"]),
        beside=tuple(map(decimal_of, inside)),
        marks=marks_of(raised + symbols),
        lowered=marks_of(lowered),
        raised=",".join(_parts(raised + symbols)),
        remark=match["remark"] or "",
        bold=bool(shown) and shown[0].style.bold,
        underlined=any(one.style.underlined for one in (*shown[:1], *_blank(cell))),
    )  # fmt: skip


def _blank(cell: Cell) -> list[Piece]:
    return [piece for piece in cell.pieces if NO_WIDTH in piece.text]


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
    """Return the marks that stand together: by commas or spaces where there are, else one by one.

    Letters and digits are marks each (``ab``, ``12``); a symbol that is repeated is one (``**``).

    >>> marks_of("ab"), marks_of("a, ab"), marks_of("†‡"), marks_of("**"), marks_of("a†")
    (('a', 'b'), ('a', 'ab'), ('†', '‡'), ('**',), ('a', '†'))
    """
    found: list[str] = []
    parts = _parts(text)
    for part in parts:
        runs = [match[0] for match in re.finditer(r"([^\w])\1*|\w+", part)]
        for run in runs:
            if (run.isalpha() or run.isdigit()) and len(parts) == 1:
                found += list(run)
            elif run.isalnum() or run[0] in SYMBOLS or not run.isascii():
                found.append(run)
    return tuple(found)


def _parts(text: str) -> list[str]:
    parts = re.split(r"[,;\s\u2009]+", text.strip("() "))
    return [letter for part in parts if part for letter in _letters(part)]


def _letters(part: str) -> list[str]:
    """Return the letters of a range.

    >>> _letters("y–ab"), _letters("ab"), _letters("c-a")
    (['y', 'z', 'aa', 'ab'], ['ab'], ['c-a'])
    """
    ends = re.fullmatch(r"([a-z]{1,2})[-–−]{1,2}([a-z]{1,2})", part)
    between = range(place_of(ends[1]), place_of(ends[2]) + 1) if ends else ()
    return [letter(place) for place in between] or [part]
