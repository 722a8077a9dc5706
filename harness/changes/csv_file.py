"""A leaderboard in a CSV file, ours or anyone's, as one side of a comparison."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import SHOWN, InputError, Problem, shorten
from ..escaping import from_csv

DELIMITERS = ",;\t|"
_FIX = "repair the file; the heading names as many columns as each row has fields"


@dataclass(frozen=True)
class Sheet:
    """The fields of a CSV file, with the line that each row ends on."""

    path: Path
    header: list[str]
    rows: list[list[str]]
    lines: list[int]

    def where(self, row: int) -> str:
        """Return file and line of a row."""
        return f"{self.path}:{self.lines[row]}"

    def column(self, place: int) -> list[str]:
        """Return the fields of one column."""
        return [row[place] for row in self.rows]


def read_sheet(path: Path) -> Sheet:
    """Read a CSV file, whatever separates its fields; comments above the heading are left out.

    Raises
    ------
    InputError
        With file and line, where it is no CSV with a heading and rows.
    """
    text = _text(path)
    lines = text.splitlines()
    first = next((n for n, one in enumerate(lines) if one.strip() and not _is_comment(one)), None)
    if first is None:
        raise InputError(Problem(str(path), "is empty", fix="give a leaderboard with a heading"))
    bare = re.sub(r'"[^"]*"', "", lines[first])
    delimiter = max(DELIMITERS, key=bare.count)
    body = "".join(text.splitlines(keepends=True)[first:])
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter, strict=True)
    rows, numbers = [], []
    try:
        for row in reader:
            if any(field.strip() for field in row):
                rows.append([from_csv(field.strip()) for field in row])
                numbers.append(first + reader.line_num)
    except csv.Error as error:
        where = f"{path}:{first + reader.line_num}"
        raise InputError(Problem(where, f"cannot be read as CSV: {error}")) from None
    sheet = Sheet(path, rows[0], rows[1:], numbers[1:])
    _check(sheet, numbers[0])
    return sheet


def _is_comment(line: str) -> bool:
    return line.startswith("#") and line[1:2] not in tuple(DELIMITERS)


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        fix = "give two folders of results, or two leaderboards as CSV"
        what = f"cannot be read: {error.strerror}"
        raise InputError(Problem(str(path), what, fix=fix)) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        what, fix = "is not UTF-8", "save it as UTF-8"
        raise InputError(Problem(f"{path}:{line}", what, fix=fix)) from None


def _check(sheet: Sheet, line: int) -> None:
    header, where = sheet.header, f"{sheet.path}:{line}"
    if len(header) < 2:
        what = "the heading has one column, and a leaderboard has a name and a metric"
        raise InputError(Problem(where, what, sheet.header[0]))
    twice = _twice([name for name in header if name])
    if twice is not None:
        what = f"two columns are called '{twice}'"
        raise InputError(Problem(where, what, fix="give each a name of its own"))
    if not sheet.rows:
        raise InputError(Problem(where, "a heading and no rows"))
    problems = [
        Problem(
            sheet.where(place),
            f"{len(row)} field{'s' * (len(row) != 1)} where the heading has {len(header)}",
            shorten(", ".join(row)),
            _FIX,
        )
        for place, row in enumerate(sheet.rows)
        if len(row) != len(header)
    ]
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))


def _twice(names: Sequence[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
