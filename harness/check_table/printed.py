"""What a cell of a table prints: a number with its digits, spread, interval, marks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from ..tables.marks import letter, place_of
from .grid import NO_WIDTH, Cell, Piece

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
_MINUS = str.maketrans({"−": "-", "–": "-", "‐": "-", "\u2009": "\u2009", "\u00a0": " "})


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

    >>> from .grid import Piece, Style
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
