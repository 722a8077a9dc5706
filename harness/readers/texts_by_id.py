"""Texts of queries or documents by identifier: lines with a tab, tables, JSON, TREC topics."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import orjson

from ..errors import InputError, Place, Problem, first_of, shorten
from .column_roles import NAMES, fold
from .json_files import load_lines
from .source import Source, no_rows
from .text import BOM

_TEXTS = "text", "query", "question", "contents", "content", "body", "passage", "description"
_TOPIC = re.compile(
    r"(?:<topic\b[^>]*\bnumber=[\"']([^\"']+)|<num>\s*(?:Number:)?\s*([^\s<]+))"
    r"(?:(?!<num>|<topic\b).)*?(?:<(?:title|query)>\s*(?:Topic:)?\s*([^<]*)|(?=<num>|<topic\b|\Z))",
    re.DOTALL,
)
_FIX = "write lines of {}, a tab and a text, or name columns such as {} and text"


def read_texts(source: Source, role: Literal["qid", "docno"]) -> dict[str, str]:
    """Return the text of each identifier; empty if the file has identifiers alone.

    A line is an identifier, and perhaps a tab and a text. CSV and TSV with names of columns, JSON
    lines as BEIR has them, one JSON value, and TREC topics are read too.
    """
    source.check_text()
    content = source.read().decode("utf-8-sig", "replace")
    lines = [line for line in content.splitlines() if line.strip()]
    if not lines:
        raise no_rows(source.name)
    first = lines[0].lstrip()
    if first[0] in "{[":
        return _of_json(source, role)
    if first[0] == "<":
        topics = _TOPIC.findall(content)
        if topics:
            return {number or name: " ".join(title.split()) for number, name, title in topics}
        raise _unreadable(source, role, first)
    between = "\t" if "\t" in first else ","
    header = next(csv.reader([first], delimiter=between))
    if _columns(header, role):
        return _of_rows(csv.DictReader(lines, delimiter=between), source, role)
    texts = dict[str, str]()
    for name, _, text in (line.partition("\t") for line in lines):
        texts.setdefault(next(iter(name.split()), ""), text)
    if role == "qid" and any("," in qid for qid in texts):
        raise _unreadable(source, role, first)
    return texts


def _of_json(source: Source, role: str) -> dict[str, str]:
    try:
        value = orjson.loads(source.read().removeprefix(BOM))
    except ValueError:
        value = load_lines(source.read(), source)
    is_mapping = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    if value and is_mapping and not _columns(value, role):
        return dict(value)
    rows = value if isinstance(value, list) else [value]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise _unreadable(source, role, first_of(map(str, rows), 1))
    return _of_rows(rows, source, role)


def _of_rows(rows: Iterable[Mapping[str, Any]], source: Source, role: str) -> dict[str, str]:
    texts = {}
    for number, row in enumerate(rows, 1):
        values = [row[name] for name in _columns(row, role)] or [""]
        identifier, *parts = ["" if value is None else str(value).strip() for value in values]
        if not identifier:
            raise _unreadable(source, role, first_of([*row]), Place(source.name, row=number))
        texts[identifier] = " ".join(filter(None, parts))
    return texts


def _columns(names: Iterable[str | None], role: str) -> list[str]:
    """Return the columns of identifier, title and text; empty without identifier or text."""
    folded = {fold(name): name for name in names if name}
    identifiers = ["id", *map(fold, NAMES[role])]
    identifier = next((folded[name] for name in identifiers if name in folded), None)
    body = [folded[name] for name in _TEXTS if name in folded and folded[name] != identifier]
    texts = [folded["title"], *body[:1]] if "title" in folded else body[:1]
    return [identifier, *texts] if identifier is not None and texts else []


def _unreadable(source: Source, role: str, got: str, place: str = "") -> InputError:
    message = f"expected {role}s and texts, got '{shorten(got, 60)}'"
    return InputError(Problem(place or source.name, message, fix=_FIX.format(f"a {role}", role)))
