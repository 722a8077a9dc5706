"""Formats of files: their names, how to detect one, and the function that reads it."""

from __future__ import annotations

import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Literal, TypeVar

from ..core.arguments import (
    ArgumentKind,
    check_arguments,
    is_whole,
)
from ..core.qrels_and_runs import Qrels, Run
from ..errors import InputError, Place, Problem, UnknownNameError, did_you_mean, unknown
from .column_roles import naming
from .source import HEAD, Source, no_rows, reading
from .text import (
    BETWEEN,
    LOOK,
    NUMBERS_IN_BRACKETS,
    ONE_EACH,
    IsDataLine,
    count_head,
    decoded,
    is_like_number,
    is_wrapped,
)

T = TypeVar("T")
Path = str | os.PathLike[str] | Source
Kind = Literal["qrels", "run"]
_KIND = {"qrels": "qrels", "run": "a run"}
COMMON = frozenset({"format", "duplicates", "order", "documents"})
"""Options of every format."""
FIELDS: Mapping[Kind, tuple[str, ...]] = {
    "qrels": ("qid", "iteration", "docno", "grade"),
    "run": ("qid", "Q0", "docno", "rank", "score", "tag"),
}
"""The columns of TREC files."""
OTHER_JSON = (
    "expected {qid: {docno: number}}, {qid: [docno, ...]} or rows, got other JSON, as of to_json",
    "write docnos in quotes; or use harness.save_predictions, to_parquet, "
    "or to_json(PATH, orient='records', lines=True)",
)
"""Mistake and fix for JSON in other forms, such as those of pandas."""


class ScatteredQueries(Exception):  # noqa: N818 - a signal, not an error of the file
    """A query came back in a later part; the run has to be read whole."""


def name_it(kind: Kind, names: str) -> str:
    """Return the fix that names a format."""
    return f"name it: format: {names} in the config, --{kind}-format {names} on the command line"


def mostly(items: Sequence[T], fits: Callable[[T], object]) -> bool:
    """Whether more than half of `items` fit: one bad line must not hide a format."""
    return 2 * sum(map(bool, map(fits, items))) > len(items)


@dataclass(frozen=True)
class Head:
    """The first unpacked bytes of a file and its suffix, such as ``.csv``; they tell the format."""

    suffix: str
    data: bytes

    @cached_property
    def lines(self) -> list[bytes]:
        """The first lines (at most 20) that are neither blank nor a comment at the head.

        The last line of `data` counts only if it is complete, or there is no other.
        """
        complete, end, rest = self.data.rpartition(b"\n")
        lines = complete.split(b"\n") if end else []
        is_all = not end or len(self.data) < HEAD
        start = count_head([*lines, rest] if is_all else lines)
        rows = list(islice(filter(bytes.strip, lines[start:]), 20))
        if not rows and is_all and rest.strip() and start <= len(lines):
            return [rest]
        return rows

    @property
    def first(self) -> int:
        """Number of the first of these lines."""
        return self.data.split(b"\n").index(self.lines[0]) + 1

    @property
    def first_text(self) -> str:
        """The first of these lines."""
        return decoded(self.lines[0])

    @cached_property
    def between(self) -> str:
        """Separator of the fields of a table; empty for white space of any length."""
        heading = self.first_text.strip()
        words = heading.split()
        able = [character for character in "\t,;" if character in heading]
        if len(words) > 1 and mostly(self.lines, lambda line: len(line.split()) == len(words)):
            able.append("")
        for between in able:  # a comma may be part of a docno
            if mostly(self._split(between), lambda row: any(map(is_like_number, row))):
                return between
        return able[0] if able else ","

    @cached_property
    def fields(self) -> list[list[str]]:
        """The fields of each of these lines, without quotes."""
        return self._split(self.between)

    def _split(self, between: str) -> list[list[str]]:
        return [
            [field.strip(' "\r') for field in decoded(line).split(between or None)]
            for line in self.lines
        ]

    @property
    def has_heading(self) -> bool:
        """Whether a line of names is above lines of numbers, as in ``,0`` and ``0,0.53``."""
        if len(self.lines) < 2 or len(self.lines[0]) > LOOK:
            return False
        names, *rows = self.fields
        is_index = len(names) > 1 and names[0] in ("", "Unnamed: 0")
        if not is_index and any(map(is_like_number, names)):
            return False
        if any(len(name.split()) != 1 or is_wrapped(name) for name in names[is_index:]):
            return False
        return mostly(
            rows,
            lambda row: len(row) == len(names) and all(not x or is_like_number(x) for x in row),
        )


@dataclass(frozen=True)
class Format:
    """One way to write qrels or runs to a file.

    A file is of this format if its bytes match `magic`, or its first two lines match `first` and
    more than half of its first lines match `rows`; and if `looks` then agrees.
    """

    name: str  # for the key format of a config
    about: str  # one line for lists of formats
    suffixes: tuple[str, ...]  # for lists of formats, not for deciding
    # qrels(source, *, duplicates, name, **options)
    qrels: Callable[..., Qrels] | None = None
    # run(source, *, dataset, duplicates, name, **options)
    run: Callable[..., Run] | None = None
    # as run, but yields parts that hold whole queries each, or raises ScatteredQueries
    stream: Callable[..., Iterator[Run]] | None = None
    needs_dataset: bool = False  # whether a run follows the rows of a dataset
    magic: re.Pattern[bytes] | None = None  # how files begin that are not text
    first: re.Pattern[bytes] | None = None
    rows: Mapping[Kind, re.Pattern[bytes]] = field(default_factory=dict)
    looks: Callable[[Head, Kind], bool] | None = None
    # is_data(source): which lines are rows, for files with one row a line, in order; or None
    is_data: Callable[[Source], IsDataLine | None] = lambda source: None
    has_rows: bool = False  # whether messages number the rows of a file, from 1

    def reader(self, kind: Kind) -> Callable[..., Any] | None:
        """Return the function that reads this kind of table, or None."""
        return self.qrels if kind == "qrels" else self.run

    def options(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of this format's own options."""
        reader = self.reader(kind)
        parameters = inspect.signature(reader).parameters.values() if reader is not None else ()
        names = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        return tuple(name for name in names if name not in ("dataset", "duplicates", "name"))

    def is_binary(self, head: Head) -> bool:
        """Whether a file has this format and is not text."""
        is_magic = self.magic is not None and self.magic.match(head.data) is not None
        return is_magic and (self.looks is None or self.looks(head, "run"))

    def fits(self, head: Head, kind: Kind) -> bool:
        """Whether a file with this head can contain qrels or a run in this format."""
        if self.reader(kind) is None:
            return False
        if self.is_binary(head):
            return True
        rows = self.rows.get(kind)
        if not head.lines or (rows is None and (self.rows or not self.first)):
            return False
        if self.first is not None and not self.first.match(b"\n".join(head.lines[:2])):
            return False
        if rows is not None and not mostly(head.lines, rows.match):
            return False
        return self.looks is None or self.looks(head, kind)


FORMATS: dict[str, Format] = {}
"""Every format by the name that ``format:`` in a config takes; in the order of names."""


def add_formats(*formats: Format) -> None:
    """Make formats known by their names."""
    extended = FORMATS | {format.name: format for format in formats}
    FORMATS.clear()
    FORMATS.update(sorted(extended.items()))


def able_formats(kind: Kind) -> list[Format]:
    """Return the formats that qrels or runs can have."""
    return [format for format in FORMATS.values() if format.reader(kind) is not None]


def guess_format(path: Path, kind: Kind) -> str:
    """Return the name of the only format that a file can be; InputError if none or several fit."""
    with reading(path) as source:
        head = Head(source.suffix, source.head)
        if not any(format.is_binary(head) for format in FORMATS.values()):
            source.check_text()
        if not head.lines:
            if len(source.head) < HEAD:
                raise no_rows(source.name)
            message = f"cannot detect the format: no row in the first {HEAD >> 10} KiB"
            raise source.error(message, name_it(kind, "NAME"))
        fitting = [format.name for format in FORMATS.values() if format.fits(head, kind)]
        if len(fitting) != 1:
            raise _format_error(source, head, kind, fitting)
        return fitting[0]


def _format_error(source: Source, head: Head, kind: Kind, fitting: list[str]) -> InputError:
    """Return the error for a file that fits no format, or several."""
    text, place = head.first_text, Place(source.name, head.first)
    shown_line = text if text.isprintable() or "\t" in text else ""
    if fitting:
        message = f"cannot detect the format: it could be {' or '.join(fitting)}"
        return InputError(Problem(source.name, message, shown_line, name_it(kind, "NAME")))
    source.check_length()
    if _CONFIG.search(source.head):
        message = f"expected {_KIND[kind]}, got a config"
        fix = f"harness run {shlex.quote(source.name)}"
        return InputError(Problem(source.name, message, fix=fix))
    if kind == "run" and is_wrapped(text):
        return InputError(Problem(place, NUMBERS_IN_BRACKETS, shown_line, ONE_EACH, "columns"))
    if text.lstrip().startswith(("{", "[")):
        message, fix = OTHER_JSON
        return InputError(Problem(place, message, shown_line, fix, "columns"))
    message, fix = f"the file is in no known format of {_KIND[kind]}", name_it(kind, "NAME")
    other_kind: Kind = "run" if kind == "qrels" else "qrels"
    words = fields_of(head.lines[0])
    if (
        kind == "run"
        and len(words) == 4
        and (words[1].upper() == "Q0" or _FRACTION.match(words[3]))
    ):
        return without_names(source, head, kind)
    fitting_names = [format.name for format in FORMATS.values() if format.fits(head, other_kind)]
    if fitting_names == ["pairs"]:  # may be any words
        fix = "if they are qids and docnos, write ranks next to them: qid docno rank"
        return InputError(Problem(place, message, shown_line, fix))
    # the ranks of MS MARCO may be grades as well
    if fitting_names and fitting_names != ["msmarco"]:
        message = f"expected {_KIND[kind]}, got {_KIND[other_kind]}"
        fix = "leave it out of the runs, or give it as the qrels"
        if kind == "qrels":
            fix = "give the qrels here, and this file as a run"
        elif len(words) == 4 and words[1] != "0":
            fix += f"; if the columns are qid docno rank score, {name_it(kind, 'ranking')}"
        return InputError(Problem(source.name, message, shown_line, fix, "swapped-files"))
    if mostly(head.lines, lambda line: any(map(is_like_number, fields_of(line)))):
        return without_names(source, head, kind)
    if kind == "qrels" and head.lines and head.lines[0].lstrip().lower().startswith(b"<top"):
        message += "; it looks like topics"
        fix = "give qrels; with topics alone, run harness check RUN... --topics FILE"
        return InputError(Problem(place, message, shown_line, fix))
    names = ", ".join(format.name for format in able_formats(kind))
    return InputError(Problem(place, message, shown_line, f"{fix}; one of {names}"))


def fields_of(line: bytes) -> list[str]:
    """Return the first fields of a line, with any separator."""
    return BETWEEN.split(decoded(line[:LOOK]).strip())


_BETWEEN = {",": "commas", ";": "semicolons", "\t": "tabs"}
_CONFIG = re.compile(rb"^(datasets|runs|metrics|extends):(?:\s|$)", re.MULTILINE)
_FRACTION = re.compile(r"[+-]?\d*\.\d*[1-9]")
_WHOLE_THIRD = re.compile(rb"\s*\S+\s+\S+\s+\d+\s*$")


def _columns_of(rows: Sequence[Sequence[str]], number: str) -> list[str]:
    """Return usual names for the columns of rows, by their number.

    Numbers are in the last column; if it has text, in the last one of fractions.
    """
    n = len(rows[0])
    columns = [[row[place] for row in rows if place < len(row)] for place in range(n)]
    numeric = [place for place in range(n) if mostly(columns[place], is_like_number)]
    fractions = [place for place in numeric if any(map(_FRACTION.match, columns[place]))]
    last = n - 1 if n - 1 in numeric else [n - 1, *numeric, *fractions][-1]
    names = ["qid", "docno", "rank"]
    if n > 4 or (n == 4 and rows[0][1].upper() in ("0", "Q0")):
        names = ["qid", "Q0", "docno", "rank", "tag"]
    names = [*names, *(f"column{place}" for place in range(len(names), n))][: n - 1]
    return [*names[:last], number, *names[last:]]


def without_names(source: Source, head: Head, kind: Kind) -> InputError:
    """Return the error for columns without names; its fix guesses their roles."""
    rows = head.fields
    number = "grade" if kind == "qrels" else "score"
    fields = f"{len(FIELDS[kind])} fields ({' '.join(FIELDS[kind])})"
    if kind == "run" and len(rows[0]) < 3:
        fields = f"one score a line, {fields}"
    message = f"expected {fields}, or names above the columns, got {len(rows[0])}"
    if len(rows[0]) == len(FIELDS[kind]):
        column = FIELDS[kind].index(number)
        message = f"expected a number in column {column + 1} ({number}), got '{rows[0][column]}'"
        if head.between:
            message = f"expected {fields} between blanks, or names above the columns, got "
            message += f"{_BETWEEN.get(head.between, repr(head.between))} between them"
    roles = _columns_of(rows, number)
    names = (head.between.replace("\t", " ") or " ").join(roles)
    place = roles.index(number)
    has_header = [is_like_number(row[place]) for row in rows[:2] if place < len(row)] == [0, 1]
    columns = rows[0] if has_header else range(1, len(roles) + 1)
    numbered: dict[str, str | int] = dict(zip(roles, columns, strict=True))
    asked = {role: numbered[role] for role in ("qid", "docno", number) if role in numbered}
    fix = f"{naming(kind, asked)}; or write names above the columns: {names}"
    if kind == "run" and len(roles) == 2 and all(_FRACTION.fullmatch(row[0]) for row in rows[:2]):
        fix = naming(kind, {number: 2})  # two columns of probabilities
    if kind == "run" and len(rows[0]) == 3 and mostly(head.lines, _WHOLE_THIRD.match):
        fix = f"if the third are ranks, {name_it(kind, 'msmarco')}; if they are scores, {fix}"
    if kind == "qrels" and len(rows[0]) == 2:
        fix = f"if the second are docnos, {name_it(kind, 'pairs')}; if they are grades, {fix}"
    where = Place(source.name, head.first)
    return InputError(Problem(where, message, head.first_text, fix, "columns"))


def format_of(source: Source, name: str | None, kind: Kind, options: dict[str, Any]) -> Format:
    """Return the named format; without a name, that of the options, or the guessed one."""
    if name is not None:
        return named_format(name, source.name)
    asked = able_formats(kind) if options else []
    able = [format for format in asked if {*options} <= {*format.options(kind)}]
    if not able:
        return FORMATS[guess_format(source, kind)]
    if len(able) > 1:  # of columns
        head = Head(source.suffix, source.head)
        if any(format.is_binary(head) for format in FORMATS.values()) or (
            FORMATS["json"].fits(head, kind)
        ):
            return FORMATS[guess_format(source, kind)]
        is_json = source.head.lstrip().startswith((b"{", b"["))
        able = [FORMATS["jsonl" if is_json else "table"]]
    return able[0]


def named_format(name: str, where: str) -> Format:
    """Return the format of this name; UnknownNameError if there is none."""
    if name not in FORMATS:
        raise unknown("format", name, FORMATS, where)
    return FORMATS[name]


def format_and_reader(
    source: Source, name: str | None, kind: Kind, options: dict[str, Any]
) -> tuple[Format, Callable[..., Any]]:
    """Return the format of a file, and the function that reads it with the options of a format."""
    check_arguments({"columns": None, **options}, columns=COLUMNS.or_none())
    file_format = format_of(source, name, kind, options)
    source.format = file_format.name
    return file_format, reader_of(source.name, file_format, kind, options)


def reader_of(where: str, file_format: Format, kind: Kind, options: Iterable[str]) -> Any:
    """Return the function that reads a kind of file; UnknownNameError for a wrong option."""
    reader = file_format.reader(kind)
    if reader is None:
        message = f"format {file_format.name} does not contain {_KIND[kind]}"
        able = ", ".join(format.name for format in able_formats(kind))
        raise InputError(Problem(where, message, fix=f"one of {able}"))
    allowed = file_format.options(kind) if options else ()
    if wrong := [option for option in options if option not in allowed]:
        near = did_you_mean(wrong[0], allowed)
        message = f"format {file_format.name} has no option '{wrong[0]}'{near}"
        fix = f"its options: {', '.join(allowed)}" if allowed else f"leave {wrong[0]} out"
        if names := [form.name for form in able_formats(kind) if wrong[0] in form.options(kind)]:
            fix += f", or name a format that has it: {', '.join(names)}"
        raise UnknownNameError(Problem(where, message, fix=fix))
    return reader


COLUMNS = ArgumentKind(
    "a mapping of qid, docno, ... to names or numbers of columns",
    lambda given: (
        isinstance(given, Mapping)
        and all(name is None or isinstance(name, str) or is_whole(name) for name in given.values())
    ),
)
