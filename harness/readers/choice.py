"""Which format a file has, and which function reads it."""

from __future__ import annotations

import importlib
import os
import pkgutil
from typing import Any

from ..errors import InputError, Problem, UnknownNameError, did_you_mean
from .format import Format, Head, Kind, name_it, once
from .lines import check_binary
from .near_miss import after_blanks, check_first_line, near_miss, with_numbers
from .source import Source

Path = str | os.PathLike[str] | Source


def _find_formats() -> dict[str, Format]:
    names = sorted(module.name for module in pkgutil.iter_modules([os.path.dirname(__file__)]))
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    return {one.FORMAT.name: one.FORMAT for one in modules if hasattr(one, "FORMAT")}


FORMATS: dict[str, Format] = _find_formats()
"""Every format by the name that ``format:`` in a config takes, found by its file's being here."""


@once
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
    if name not in FORMATS:
        raise UnknownNameError(
            Problem(source.name, f"unknown format '{name}'{did_you_mean(name, FORMATS)}",
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
