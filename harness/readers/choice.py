"""Which format a file has, and which function reads it."""

from __future__ import annotations

import importlib
import os
import pkgutil
from typing import Any

from ..errors import InputError, Problem, UnknownNameError, did_you_mean
from . import trec as trec
from .format import Format, Head, Kind, name_it
from .json_files import DATA_FRAME, first_object, is_data_frame
from .source import HEAD, Source, is_torch, no_rows
from .table import without_names
from .text import LOOK, decoded, is_like_number, is_wrapped, not_one_number

Path = str | os.PathLike[str] | Source


def _find_formats() -> dict[str, Format]:
    names = [module.name for module in pkgutil.iter_modules([os.path.dirname(__file__)])]
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    found = [one.FORMAT for one in modules if hasattr(one, "FORMAT")]
    found += [one for module in modules for one in getattr(module, "FORMATS", ())]
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}


FORMATS: dict[str, Format] = _find_formats()
"""Every format by the name that ``format:`` in a config takes; found by its file in this folder."""
_KIND = {"qrels": "qrels", "run": "a run"}


def able_formats(kind: Kind) -> list[Format]:
    """Return the formats that qrels or runs can have."""
    return [one for one in FORMATS.values() if one.reader(kind) is not None]


def guess_format(path: Path, kind: Kind) -> str:
    """Return the name of the only format that a file can be.

    InputError if none or several fit; it lists the formats and how to name one.
    """
    source = Source.of(path)
    if kind not in source.formats:
        source.formats[kind] = _guessed(source, kind)
    return source.formats[kind]


def _guessed(source: Source, kind: Kind) -> str:
    head = Head(source.suffix, source.head)
    kinds: tuple[Kind, Kind] = ("qrels", "run")
    other = kinds[kind == "qrels"]
    if not any(
        one.magic and head.data.startswith(one.magic) and any(one.looks(head, k) for k in kinds)
        for one in FORMATS.values()
    ):
        source.check_text()
    if not head.lines:
        if len(source.head) < HEAD:
            raise no_rows(source.name)
        what = f"cannot detect the format: no row in the first {HEAD >> 10} KiB"
        raise source.error(what, name_it(kind, "NAME"))
    fitting = [one.name for one in able_formats(kind) if one.looks(head, kind)]
    if len(fitting) == 1:
        return fitting[0]
    first = head.first_text
    found = first if first.isprintable() or "\t" in first else ""
    if fitting:
        what, fix = (
            f"cannot detect the format: it could be {' or '.join(fitting)}",
            name_it(kind, "NAME"),
        )
        raise InputError(Problem(source.name, what, found, fix))
    source.check_length()
    if is_data_frame(first):
        raise source.error(*DATA_FRAME, "columns")
    if first.strip().startswith("{") and first.strip().endswith("}"):
        first_object(source)
    source.check_binary()
    place = f"{source.name}:{head.first}"
    if (near := near_miss(head, kind)) is not None:
        raise InputError(Problem(place, near[0], found, near[1], "columns"))
    names = ", ".join(one.name for one in able_formats(kind))
    what, fix = (
        f"the file is in no known format of {_KIND[kind]}",
        f"{name_it(kind, 'NAME')}; one of {names}",
    )
    if others := [one.name for one in able_formats(other) if one.looks(head, other)]:
        what += f"; it looks like {_KIND[other]} ({others[0]})"
        fix = f"swap the two files, or {fix}"
        raise InputError(Problem(source.name, what, found, fix, "swapped-files"))
    raise InputError(Problem(place, what, found, fix))


def near_miss(head: Head, kind: Kind) -> tuple[str, str] | None:
    """Return what is wrong with a file that is nearly of a format, and the fix; None if unknown."""
    fields = head.fields
    texts = [decoded(line[:LOOK]) for line in head.lines]
    if kind == "run":
        if is_wrapped(texts[0]):
            return not_one_number(texts[0])
        if head.mostly(fields, lambda f: len(f) == 5 and any(map(is_like_number, f[3:]))):
            return _too_few(5, trec.RUN.fields)
        if head.mostly([text.replace(",", " ").split() for text in texts], _are_columns):
            return not_one_number(texts[0])
    if (found := without_names(head, kind)) is not None:
        return found
    if head.mostly(fields, lambda f: len(f) == 3 and is_like_number(f[2])):
        return _too_few(3, (trec.QRELS if kind == "qrels" else trec.RUN).fields)
    return None


def _are_columns(words: list[str]) -> bool:
    """Whether there are several numbers: an index and a score, or fractions alone."""
    numbers = len(words) > 1 and all(map(is_like_number, words))
    return numbers and (len(words) == 2 or not any(map(str.isdigit, words)))


def _too_few(n: int, fields: tuple[str, ...]) -> tuple[str, str]:
    fix = "write the missing fields; iteration, Q0, rank and tag may be any word"
    return f"expected {len(fields)} fields ({' '.join(fields)}), got {n}", fix


def format_of(source: Source, name: str | None, kind: Kind, options: dict[str, Any]) -> Format:
    """Return the named format; without a name, that of the options, or the guessed one."""
    if name is not None:
        return named_format(name, source.name)
    able = {one.name for one in able_formats(kind) if {*options} <= {*one.options(kind)}}
    if options and {"table", "jsonl"} <= able:
        is_json = source.head.lstrip().startswith(b"{")
        return FORMATS["torch" if is_torch(source.head) else "jsonl" if is_json else "table"]
    if options and len(able) == 1:
        return FORMATS[able.pop()]
    return FORMATS[guess_format(source, kind)]


def named_format(name: str, where: str) -> Format:
    """Return the format of this name; UnknownNameError if there is none."""
    if name not in FORMATS:
        what = f"unknown format '{name}'{did_you_mean(name, FORMATS)}"
        raise UnknownNameError(Problem(where, what, fix=f"one of {', '.join(FORMATS)}"))
    return FORMATS[name]


def reader_of(source: Source, known: Format, kind: Kind, options: dict[str, Any]) -> Any:
    """Return the function that reads `source`; raise if it does not take the options."""
    reader = known.reader(kind)
    if reader is None:
        what = f"format {known.name} does not hold {_KIND[kind]}"
        able = ", ".join(one.name for one in able_formats(kind))
        raise InputError(Problem(source.name, what, fix=f"one of {able}"))
    allowed = known.options(kind)
    if wrong := [option for option in options if option not in allowed]:
        what = f"format {known.name} has no option '{wrong[0]}'{did_you_mean(wrong[0], allowed)}"
        fix = f"its options: {', '.join(allowed) or 'none'}"
        raise UnknownNameError(Problem(source.name, what, fix=fix))
    return reader
