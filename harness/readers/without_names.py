"""Rows of a CSV or TSV that have the columns of qrels or a run, without their names above."""

from __future__ import annotations

from functools import partial

from ..errors import InputError, Problem
from . import trec
from .format import Head, Kind
from .number_text import is_like_number
from .source import Source


def without_names(head: Head, kind: Kind) -> tuple[str, str] | None:
    """Return what is wrong with a file that begins like this, and what to do; None for others.

    >>> without_names(Head("", b"q1,d1,0.5\\n"), "run")[0]
    'it looks like a table of qid, docno, score without a line of names'
    >>> without_names(Head("", b"number,text,value\\nq1,d1,0.5\\nq1,d2,0.25\\n"), "run")[0]
    'it looks like a table of qid, docno, score with other names above'
    """
    number = "grade" if kind == "qrels" else "score"
    for names in (("qid", "docno", number), (trec.QRELS if kind == "qrels" else trec.RUN).fields):
        is_row = partial(_is_row, at=names.index(number))
        for between in ",\t":
            lines = (line.decode("utf-8", "replace").strip().split(between) for line in head.lines)
            rows = [line if len(line) == len(names) else [] for line in lines]
            if head.mostly(rows, is_row):
                looks = f"it looks like a table of {', '.join(names)}"
                if is_row(rows[0]):
                    return f"{looks} without a line of names", _put_above(names, number, between)
                return (f"{looks} with other names above", _rename(number)) if rows[0] else None
    return None


def _put_above(names: tuple[str, ...], number: str, between: str) -> str:
    tabs = " (tabs between)" * (between == "\t")
    above = (", " if tabs else between).join(names) + tabs
    columns = ", ".join(f"{role}: {names.index(role) + 1}" for role in ("qid", "docno", number))
    return (
        f"put a first line above it: {above}; or in a config format: table, columns: {{{columns}}}"
    )


def _rename(number: str) -> str:
    columns = f"{{qid: NAME, docno: NAME, {number}: NAME}}"
    return (
        f"call the columns so, or say in a config which is which: format: table, columns: {columns}"
    )


def check_names(source: Source, header: list[str], kind: str) -> None:
    """Raise where rows of known columns stand where the names of the columns belong."""
    head = Head(source.suffix, source.head)
    found = without_names(head, "qrels" if kind == "qrels" else "run")
    if found is None and len(header) == 1 and len(header[0].split()) > 1:
        number = "grade" if kind == "qrels" else "score"
        fix = f"put commas or tabs there, and the names of the columns above: qid,docno,{number}"
        found = "neither commas nor tabs between the columns of a table", fix
    if found is not None:
        first = head.lines[0].decode("utf-8", "replace")
        raise InputError(
            Problem(f"{source.name}:{head.first}", found[0], first, found[1], "columns")
        )


def _is_row(fields: list[str], at: int) -> bool:
    """Whether a number stands there, and before it what may be identifiers."""
    decimals = ("." in field and is_like_number(field) for field in fields[:at])
    return bool(fields) and is_like_number(fields[at].strip()) and not any(decimals)
