"""Rows of CSV and Markdown tables, and the numbers that their cells print."""

from __future__ import annotations

import csv
import html
import io
import re
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError, Problem, shorten
from ..readers.files import read_file
from ..reports.formats import from_csv

SYMBOLS = "†‡§¶‖*△▲▽▼•°"
"""Marks of significance other than letters."""
LONGEST = 400
"""Characters that a number may have, with the text next to it: a double has 309 digits."""
_NUMBER = (
    r"[+\-]?(?:(?:[0-9][0-9,\u2009 ]*[0-9]|[0-9])(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+\-]?[0-9]{1,3})?"
)
_FULL = re.compile(
    rf"[(\[]?(?P<number>{_NUMBER})\s*(?P<percent>%?)\s*"
    rf"(?:(?:±|\+/-|\+-)\s*{_NUMBER}\s*%?"
    rf"|\((?:[+\-][\d.,]+\s*%?|[\d.,]+\s*%)\)|(?<=\s)\(\d+(?:/\d+)?\)"
    rf"|\((?:±\s*)?{_NUMBER}\s*%?\)"
    rf"|[\[(]\s*{_NUMBER}\s*[,;–]\s*{_NUMBER}\s*[\])])?"
    rf"(?:\s*\([+\-][\d.,]+\s*%?\))?"  # a change after a deviation or an interval
    rf"[)\]]?"
)
_MINUS = str.maketrans({"−": "-", "–": "-", "‐": "-", "\u00a0": " "})


class Printed(NamedTuple):
    """A number as it is printed, without the deviation, interval, remark or marks behind it."""

    number: Decimal
    is_percent: bool


def printed(text: str) -> Printed | None:
    """Return the number that a cell prints; None if it prints none.

    >>> printed(".420 ± .012†"), printed("47.31%"), printed("bm25")
    (Printed(number=Decimal('0.420'), is_percent=False), Printed(number=Decimal('47.31'), \
is_percent=True), None)
    """
    if len(text) > LONGEST:
        return None
    bare = text.translate(_MINUS).strip(SYMBOLS + " ")
    if letters := re.search(r"(?<=[\d)\]])\s*([a-z](?:\s*,?\s*[a-z])*)$", bare):
        bare = bare[: letters.start()]
    match = _FULL.fullmatch(bare)
    return match and Printed(decimal_of(match["number"]), bool(match["percent"]))


def decimal_of(text: str) -> Decimal:
    """Return a number as it is printed, without separators of thousands.

    >>> decimal_of("1,234.50"), decimal_of("-.3"), decimal_of("0,423")
    (Decimal('1234.50'), Decimal('-0.3'), Decimal('0.423'))
    """
    if re.fullmatch(r"[+\-]?(?:0?,\d+|\d+,(?:\d{1,2}|\d{4,}))", text):
        text = text.replace(",", ".")
    return Decimal(re.sub(r"[,\u2009 ]", "", text))


DELIMITERS = ",;\t|"
MARKDOWN = (".md", ".markdown")
"""Ends of the names of Markdown files."""


class TableRow(NamedTuple):
    """The fields of a row, and the line of the file that it ends on."""

    fields: list[str]
    line: int


def read_table(path: Path) -> list[TableRow]:
    """Return the rows of a table in CSV or Markdown, the heading first.

    Raises InputError if the file cannot be read, or has several tables.
    """
    text = read_text(path)
    is_markdown = path.suffix.lower() in MARKDOWN
    return markdown_rows(text, str(path)) if is_markdown else csv_rows(text, str(path))


def read_text(path: Path) -> str:
    """Return the text of a file; raise InputError if it cannot be read or is not UTF-8."""
    try:
        content = read_file(path)
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError(Problem(str(path), what, fix="correct the path")) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        what, fix = f"expected UTF-8, got byte {content[error.start]:#x}", "save it as UTF-8"
        raise InputError(Problem(f"{path}:{line}", what, fix=fix)) from None


def csv_rows(text: str, path: str = "") -> list[TableRow]:
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
                rows.append(TableRow(fields, first + reader.line_num))
    except csv.Error as error:
        where = f"{path}:{first + reader.line_num}"
        raise InputError(Problem(where, f"expected CSV, got: {error}")) from None
    _check_lengths(rows, path)
    return rows


def _check_lengths(rows: list[TableRow], path: str) -> None:
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


_DIVIDER = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_MARKS = (
    (re.compile(r"\\([!-/:-@\[-`{-~])"), lambda match: f"&#{ord(match[1])};"),
    (re.compile(r"<(su[bp])>.*?</\1>"), ""),
    (re.compile(r"<br\s*/?>"), " "),
    (re.compile(r"</?[A-Za-z][^>]*>"), ""),
    (re.compile(r"\[([^\]\[]*[^\]\[\d.,;\s–-][^\]\[]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"(\*\*|__)(.+?)\1"), r"\2"),
    (re.compile(r"`+|\^[^\s^]+\^"), ""),
)
"""Marks of Markdown, and their replacements."""


def markdown_rows(text: str, path: str = "") -> list[TableRow]:
    """Return the rows of the only table of a Markdown text, without rows of a title alone.

    >>> text = "|run|MAP|\\n|--|--|\\n|*Ours*||\\n|x|**.42**<sup>a</sup>|"
    >>> [row.fields for row in markdown_rows(text)]
    [['run', 'MAP'], ['x', '.42']]
    """
    lines = text.split("\n")
    tables = [
        at - 1
        for at in range(1, len(lines))
        if "|" in lines[at] and "|" in lines[at - 1] and _DIVIDER.fullmatch(lines[at])
    ]
    if len(tables) > 1:
        where = ", ".join(str(at + 1) for at in tables)
        what = f"expected one table, got {len(tables)} (lines {where})"
        raise InputError(Problem(path, what, fix="copy the table into a file of its own"))
    rows = []
    for at in range(tables[0], len(lines)) if tables else ():
        if "|" not in lines[at]:
            break
        inner = re.sub(r"(?<!\\)\|$", "", lines[at].strip().removeprefix("|"))
        parts = [part.strip() for part in re.split(r"(?<!\\)\|", inner)]
        is_title = re.fullmatch(r"\*[^*].*\*", parts[0]) and not any(parts[1:])
        if at != tables[0] + 1 and not is_title:
            rows.append(TableRow([plain_text(part) for part in parts], at + 1))
    _check_lengths(rows, path)
    return rows


def plain_text(cell: str) -> str:
    """Return the text of a cell of Markdown without its marks, raised and lowered text.

    >>> plain_text("<ins>.866</ins><sup>a</sup> ± .02"), plain_text("<u>0.41</u> \\\\*")
    ('.866 ± .02', '0.41 *')
    """
    for mark, rest in _MARKS:
        cell = mark.sub(rest, cell)
    return " ".join(html.unescape(cell).split())
