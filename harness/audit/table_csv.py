"""CSV files of anyone: rows and lines; and the table of one as a paper's table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import SHOWN, InputError, Problem, from_csv, shorten
from .table_grid import Cell, Grid, Piece, Style, grid_of
from .table_markup import markdown_pieces

DELIMITERS = ",;\t|"
OWN = ("group", "run", "name", "sign")
"""The headings that a table of the harness begins with."""
_PARTS = (" deviation", " low", " high", " marks", " repetitions")
_FIX = "give each row as many fields as the header; quote fields with a separator"


class Row(NamedTuple):
    """The fields of a row, and the line of the file that it ends on."""

    fields: list[str]
    line: int


def read_text(path: Path) -> str:
    """Return the text of a file; raise InputError if it cannot be read or is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError(Problem(str(path), what)) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        fix = "save it as UTF-8"
        raise InputError(Problem(f"{path}:{line}", "is not UTF-8", fix=fix)) from None


def read_rows(text: str, path: str = "") -> tuple[str, list[Row]]:
    """Return the comments above the header of a CSV, and its rows, the header first.

    The delimiter is that of ``, ; | `` and tab which the header has most of. Rows without text are
    left out.
    """
    lines = text.splitlines(keepends=True)
    first = next((at for at, line in enumerate(lines) if not _is_comment(line)), len(lines))
    bare = re.sub(r'"[^"]*"', "", "".join(lines[first : first + 1]))
    delimiter = max(DELIMITERS, key=bare.count)
    body = io.StringIO("".join(lines[first:]), newline="")
    reader = csv.reader(body, delimiter=delimiter, strict=True)
    rows = []
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                line = first + reader.line_num
                rows.append(Row([from_csv(field.strip()) for field in fields], line))
    except csv.Error as error:
        where = f"{path}:{first + reader.line_num}"
        raise InputError(Problem(where, f"cannot be read as CSV: {error}")) from None
    problems = [
        Problem(
            f"{path}:{row.line}",
            f"expected {len(rows[0].fields)} fields as in the header, got {len(row.fields)}",
            shorten(", ".join(row.fields)),
            _FIX,
        )
        for row in rows
        if len(row.fields) != len(rows[0].fields)
    ]
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))
    return "".join(lines[:first]), rows


def _is_comment(line: str) -> bool:
    return not line.strip() or (line.startswith("#") and line[1:2] not in tuple(DELIMITERS))


def grids(text: str) -> list[Grid]:
    """Return the table of a CSV file: one, or none if it is empty.

    Cells may have the marks of Markdown, except in a table of the harness.
    """
    comments, rows = read_rows(text)
    if rows and tuple(rows[0].fields[: len(OWN)]) == OWN:
        cells = list(_own_cells(rows))
    else:
        cells = [[Cell(markdown_pieces(one), row.line) for one in row.fields] for row in rows]
    grid = grid_of(cells, 1, 1, before=comments)
    return [grid] if grid else []


def _own_cells(rows: list[Row]) -> Iterator[list[Cell]]:
    """Yield the rows of a table of the harness, each number, its spread and marks in one cell."""
    header = rows[0].fields
    columns = [name for name in header[len(OWN) :] if not name.endswith(_PARTS)]
    yield [Cell((Piece(name),), rows[0].line) for name in ("run", *columns)]
    for row in rows[1:]:
        given = dict(zip(header, row.fields, strict=True))
        name = Piece(given["run"]), Piece(given["sign"], Style(raised=True))
        yield [
            Cell(name, row.line),
            *(Cell(tuple(_pieces(column, given)), row.line) for column in columns),
        ]


def _pieces(column: str, given: dict[str, str]) -> Iterator[Piece]:
    marks = given.get(f"{column} marks", "").split()
    yield Piece(given[column], Style(bold="best" in marks, underlined="second" in marks))
    low, high = given.get(f"{column} low", ""), given.get(f"{column} high", "")
    if deviation := given.get(f"{column} deviation", ""):
        yield Piece(f" ± {deviation}")
    elif low and high:
        yield Piece(f" [{low}, {high}]")
    signs = [mark for mark in marks if mark not in ("best", "second")]
    yield Piece(",".join(sign for sign in signs if sign[0] != "_"), Style(raised=True))
    yield Piece(",".join(sign[1:] for sign in signs if sign[0] == "_"), Style(lowered=True))
