"""Lines of CSV and TSV: their names of columns; those that are no rows, why, and what to do."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from ..core.arrow import to_numpy
from ..errors import InputError, Problem, first_of
from .columns import NOT_UTF8, WHOLE_FILE
from .number_text import check_number
from .room import POOL
from .source import Source
from .wrong_lines import TEXT, doubtful_lines, wrong_lines

_REPAIR = "repair the line"
_LONG, _KEPT = 1 << 18, 1 << 12
"""Characters of a line from which on long fields lose their middle, as Python's reader takes eight
bytes for each character of one; and how many of them stay, which are more than are shown."""
_RUN = re.compile(rf"[^\",\t\r\0]{{{_KEPT},}}")


def names_in(line: bytes, delimiter: str, where: str) -> list[str]:
    r"""Return the names of columns that a line holds, up to the carriage return that ends it.

    They are those that Arrow finds, which takes 8 kB for each to tell the type of its column.

    Raises
    ------
    InputError
        Where a quote is not closed.

    >>> names_in(b'qid,"a ""b"", c",score\r', ",", "a.csv:1")
    ['qid', 'a "b", c', 'score']
    """
    text = line.strip(b"\r").decode("utf-8")
    if '"' not in text:
        return text.partition("\r")[0].split(delimiter)
    parts = (part[0] for part in re.finditer("[^\r]*\r?", text))  # the last one is empty
    names, *after = _split(parts, len(text), delimiter)
    if not after:
        what = "the line of names cannot be split into columns: a quote is not closed"
        raise InputError(Problem(where, what, text[:TEXT], _REPAIR))
    return names


def diagnose(
    source: Source,
    delimiter: str,
    header: Sequence[str],
    chosen: Mapping[str, str],
    above: int,
    fractions: bool,
    reason: str,
) -> InputError:
    """Return the error that lists the lines which are no rows.

    Parameters
    ----------
    header : sequence of str
        Names of all columns.
    chosen : mapping
        Which of them holds what, as :func:`~harness.readers.frame.choose` returns it.
    above : int
        Lines before the first row: 0 where the columns go by their numbers.
    fractions : bool
        Whether grades may be fractions.
    reason : str
        What the reader that failed said, for want of a wrong line.
    """

    def check(line: bytes) -> Problem | None:
        wrong = _check_line(line, delimiter, header, chosen, fractions)
        return wrong and replace(wrong, fix=wrong.fix or _REPAIR)

    reads = partial(_reads, delimiter=delimiter, header=header, chosen=chosen, fractions=fractions)
    found = wrong_lines(source, _rows(doubtful_lines(source, reads), above), check)
    if not found.problems:  # lines that can be read together and not one by one
        found = wrong_lines(source, _rows(source.lines(), above), check)
    problems = found.problems
    if not problems:
        return InputError(Problem(source.name, f"cannot be read as a table ({reason})"))
    last = problems[-1]
    if source.unfinished and last.where == f"{source.name}:{found.last}":
        what = f"the file ends in the middle of a line: {last.what}"
        problems[-1] = replace(last, what=what, fix=WHOLE_FILE, rule="truncated")
    elif not above and found.total == 1 and last.where == f"{source.name}:{_first(source)}":
        what = f"{last.what}; it looks like a header line"
        fix = "give the columns by their names, or delete the header line"
        problems[-1] = replace(last, what=what, fix=fix, rule="header-line")
    return found.error()


def _first(source: Source) -> int:
    """Return the number of the first line that is not empty."""
    return next(_rows(source.lines(), 0))[0]


def _reads(
    lines: bytes, delimiter: str, header: Sequence[str], chosen: Mapping[str, str], fractions: bool
) -> bool:
    """Return whether some whole lines are rows, all of them."""
    role = _role(chosen)
    types = {name: pa.float64() if name == chosen[role] else pa.string() for name in header}
    whole = arrow_csv.ReadOptions(use_threads=False, block_size=len(lines) + 1, column_names=header)
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(lines),
            whole,
            arrow_csv.ParseOptions(delimiter=delimiter),
            arrow_csv.ConvertOptions(
                column_types=types, include_columns=[*chosen.values()],
                null_values=[], strings_can_be_null=False,
            ),
            POOL,
        )  # fmt: skip
    except (pa.ArrowException, UnicodeDecodeError):
        return False
    numbers = to_numpy(table[chosen[role]])
    is_whole = fractions or role == "score" or not (numbers != np.trunc(numbers)).any()
    return bool(np.isfinite(numbers).all()) and is_whole


def _role(chosen: Mapping[str, str]) -> str:
    return next(role for role in ("grade", "score", "rank") if role in chosen)


def _rows(lines: Iterable[tuple[int, bytes]], above: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, after the header, with their numbers."""
    for number, line in lines:
        if number > above and line.rstrip(b"\r"):
            yield number, line


def _check_line(
    line: bytes,
    delimiter: str,
    header: Sequence[str],
    chosen: Mapping[str, str],
    fractions: bool,
) -> Problem | None:
    """Return what is wrong with a line, and what to do where it is special; None if nothing."""
    try:
        text = line.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError:
        return NOT_UTF8
    if len(text) > _LONG:
        text = _RUN.sub(_cut, text)
    try:
        fields = _fields(text, delimiter)
    except csv.Error as error:
        return Problem("", f"the line cannot be split into fields ({error})")
    if len(fields) != len(header):
        counted = f"{len(fields)} field{'s' * (len(fields) != 1)}"
        what = f"{counted} where {len(header)} belong ({first_of(header)})"
        return Problem("", what, rule="columns")
    role = _role(chosen)
    value = fields[header.index(chosen[role])].strip(" \t")
    return check_number(value, role, whole=not (fractions or role == "score"))


def _cut(run: re.Match[str]) -> str:
    """Return what a run begins and ends with."""
    half = _KEPT // 2
    return run.string[run.start() : run.start() + half] + run.string[run.end() - half : run.end()]


def _fields(text: str, delimiter: str) -> list[str]:
    """Return the fields of a line."""
    return next(iter(_split([text], len(text), delimiter)), [])


def _split(lines: Iterable[str], longest: int, delimiter: str) -> list[list[str]]:
    """Return the fields of the first two rows; Python has one limit for all that read CSV."""
    limit = csv.field_size_limit()
    csv.field_size_limit(max(limit, longest))
    try:
        return [*islice(csv.reader(lines, delimiter=delimiter), 2)]
    finally:
        csv.field_size_limit(limit)
