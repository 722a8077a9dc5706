"""Which format a file has, and which function reads it."""

from __future__ import annotations

import importlib
import os
import pkgutil
from typing import Any

from ..errors import InputError, Problem, UnknownNameError, did_you_mean
from . import trec as trec
from .build import check_binary, check_length
from .columns import too_many
from .format import Format, Head, Kind, name_it
from .jsonl import first_object
from .number_text import (
    BELONGS,
    ONE_EACH,
    are_fractions,
    commas,
    is_like_number,
    is_meant_as_number,
    wrapped,
)
from .source import BLOCK, HEAD, Source, no_rows
from .table import without_names


def near_miss(head: Head, kind: Kind) -> tuple[str, str] | None:
    """Return what is wrong with a file that begins like this, and what to do; None if unknown.

    >>> near_miss(Head("", b"q1 d1 1\\n"), "qrels")[0]
    '3 fields where 4 belong (qid iteration docno grade)'
    """
    fields = head.fields
    if kind == "qrels":
        if (found := without_names(head, kind)) is not None:
            return found
        if head.mostly(fields, lambda f: len(f) == 3 and is_like_number(f[2])):
            return _too_few(3, trec.QRELS.fields), "write the missing field; the iteration may be 0"
        return None
    written = [line.decode("utf-8", "replace").strip() for line in head.lines]
    if (found := wrapped(written[0])) is not None:
        return found
    if head.mostly(fields, lambda f: len(f) == 5 and any(map(is_like_number, f[3:]))):
        fix = "write the missing field; Q0, the rank and the tag may be any word"
        return _too_few(5, trec.RUN.fields), fix
    # at C's white space alone
    split = (line.replace(b",", b" ").split(None, 2) for line in head.lines)
    columns = [[column.decode("utf-8", "replace") for column in line] for line in split]
    if head.mostly(columns, lambda c: len(c) == 2 and c[0].isdigit() and is_like_number(c[1])):
        return too_many(written[0], 2)
    if head.mostly(written, lambda text: bool(commas(text)[0])):
        return too_many(written[0], written[0].count(",") + 1)
    if head.mostly(written, are_fractions):
        return f"several columns {BELONGS}", ONE_EACH
    if (found := without_names(head, kind)) is not None:
        return found
    if head.mostly(fields, lambda f: len(f) == 3 and is_like_number(f[2])):
        what, fix = f"{_too_few(3, trec.RUN.fields)}; it looks like qid, docno, score", "write"
        return what, f"{fix} each line as QID Q0 DOCNO 0 SCORE TAG, of which TAG may be any word"
    return None


def after_blanks(source: Source, kind: Kind) -> str:
    """Return the format of a file without a row in its head, or raise."""
    with source.explained(), source.open() as stream:
        while (block := stream.read(BLOCK)) and not block.strip():
            pass
    if block.lstrip().startswith(b"{"):
        return "json"
    if block and len(source.head) >= HEAD:
        what = f"no row in its first {HEAD >> 10} KiB, by which its format is told"
        raise InputError(Problem(source.name, what, fix=name_it(kind, "NAME")))
    raise no_rows(source.name)


def check_first_line(source: Source, head: Head) -> None:
    """Raise where the first line is too long for every format, or an object that is not JSON."""
    check_length(source)
    if head.lines[0].strip().startswith(b"{") and head.lines[0].strip().endswith(b"}"):
        first_object(source)


def with_numbers(head: Head) -> Head:
    r"""Return a beginning with a number wherever one is meant, however it is spelled there.

    >>> with_numbers(Head("", b"q1 Q0 d1 1 0x1p3 t\n")).data
    b'q1 Q0 d1 1 1 t\n'
    >>> with_numbers(Head("", b"q1 Q0 d1 1 x t\n")).data
    b'q1 Q0 d1 1 1 t\n'
    """
    lines = (
        " ".join(
            "1" if _is_wrong(field) or at == _scored_at(fields) else field
            for at, field in enumerate(fields)
        )
        for fields in head.fields
    )
    return Head(head.suffix, "".join(f"{line}\n" for line in lines).encode())


def _scored_at(fields: list[str]) -> int:
    """Return where the score stands in a line of a TREC run, whatever stands there; -1 if none."""
    is_trec = len(fields) == 6 and fields[1].upper() == "Q0" and fields[3].isdigit()
    return 4 if is_trec else -1


def _is_wrong(field: str) -> bool:
    """Return whether a number is meant that is none."""
    return is_meant_as_number(field) and not is_like_number(field)


def _too_few(n: int, fields: tuple[str, ...]) -> str:
    return f"{n} fields where {len(fields)} belong ({' '.join(fields)})"


Path = str | os.PathLike[str] | Source


def _find_formats() -> dict[str, Format]:
    names = sorted(module.name for module in pkgutil.iter_modules([os.path.dirname(__file__)]))
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    return {one.FORMAT.name: one.FORMAT for one in modules if hasattr(one, "FORMAT")}


FORMATS: dict[str, Format] = _find_formats()
"""Every format by the name that ``format:`` in a config takes, found by its file's being here."""


def guess_format(path: Path, kind: Kind, *, bad_numbers: bool = False) -> str:
    """Return the name of the only format that a file can be.

    Parameters
    ----------
    kind : {"qrels", "run"}
        What the file is to be read as.
    bad_numbers : bool
        Whether a format fits too whose reader will refuse numbers for how they are spelled.

    Raises
    ------
    InputError
        Where none or several fit; it lists the formats and says how to name one.
    """
    source = Source.of(path)
    if kind not in source.formats:
        source.formats[kind] = _guessed(source, kind, bad_numbers)
    return source.formats[kind]


def _guessed(source: Source, kind: Kind, bad_numbers: bool) -> str:
    head = Head(source.suffix, source.head)
    if not any(known.magic and known.is_binary(head) for known in FORMATS.values()):
        source.check_text()
    if not head.lines:
        return after_blanks(source, kind)
    fitting = [
        known.name
        for known in FORMATS.values()
        if known.reader(kind) is not None and known.looks(head, kind)
    ]
    if len(fitting) == 1:
        return fitting[0]
    first = head.lines[0].decode("utf-8", "replace")
    found = first if first.isprintable() or "\t" in first else ""
    if fitting:
        what, fix = f"could be {' or '.join(fitting)}", name_it(kind, "NAME")
        raise InputError(Problem(source.name, what, found, fix))
    check_first_line(source, head)
    check_binary(source)
    other: Kind = "run" if kind == "qrels" else "qrels"
    others = [f for f in FORMATS.values() if f.reader(other) is not None and f.looks(head, other)]
    names = ", ".join(f.name for f in FORMATS.values() if f.reader(kind) is not None)
    what, fix = f"in no format of {_KIND[kind]} known", f"{name_it(kind, 'NAME')}; one of {names}"
    where, rule = source.name, ""
    near = near_miss(head, kind)
    if near is not None:
        (what, fix), rule = near, "columns"
        where = f"{where}:{head.first}"
    elif bad_numbers and not others:
        mended = with_numbers(head)
        able = [FORMATS[name] for name in _OF_ROWS if FORMATS[name].reader(kind) is not None]
        nearly = [known.name for known in able if known.looks(mended, kind)]
        if len(nearly) == 1:
            return nearly[0]
    if others:
        rule = "swapped-files"
        what += f"; it looks like {_KIND[other]} ({others[0].name})"
        fix = f"swap the two files, or {fix}"
    raise InputError(Problem(where, what, found, fix, rule))


_OF_ROWS = ("ranklib", "scores", "trec")
"""Formats told by a number in each row."""
_KIND = {"qrels": "qrels", "run": "a run"}


def format_of(source: Source, name: str | None, kind: Kind, options: dict[str, Any]) -> Format:
    """Return the format of this name; without one, that which options tell, or the file."""
    if name is None:
        implied = _implied(source, kind, options)
        return FORMATS[implied or guess_format(source, kind, bad_numbers=True)]
    return named_format(name, source.name)


def named_format(name: str, where: str) -> Format:
    """Return the format of this name; UnknownNameError if there is none."""
    if name not in FORMATS:
        raise UnknownNameError(
            Problem(where, f"unknown format '{name}'{did_you_mean(name, FORMATS)}",
                    fix=f"one of {', '.join(FORMATS)}")
        )  # fmt: skip
    return FORMATS[name]


def _implied(source: Source, kind: Kind, options: dict[str, Any]) -> str:
    """Return the format that the options given belong to, or ``""`` where they belong to none."""
    if not options:
        return ""
    able = [name for name, known in FORMATS.items() if {*options} <= {*known.options(kind)}]
    if not able:
        return ""
    if {*able} == {"table", "jsonl"}:
        return "jsonl" if source.head.lstrip().startswith(b"{") else "table"
    return able[0] if len(able) == 1 else ""


def reader_of(source: Source, name: str | None, kind: Kind, options: dict[str, Any]) -> Any:
    """Return the function that reads `source`, after a look at its options."""
    known = format_of(source, name, kind, options)
    reader = known.reader(kind)
    if reader is None:
        able = ", ".join(f.name for f in FORMATS.values() if f.reader(kind) is not None)
        raise InputError(
            Problem(source.name, f"format {known.name} does not hold {_KIND[kind]}",
                    fix=f"one of {able}")
        )  # fmt: skip
    allowed = known.options(kind) if options else ()
    for option in options:
        if option not in allowed:
            listed = ", ".join(allowed) or "none"
            raise UnknownNameError(
                Problem(source.name, f"format {known.name} has no option '{option}'"
                        f"{did_you_mean(option, allowed)}", fix=f"its options: {listed}")
            )  # fmt: skip
    return reader
