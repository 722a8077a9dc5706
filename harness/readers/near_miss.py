"""Files that are nearly of a format: what they lack, better said than "in no format known"."""

from __future__ import annotations

from ..errors import InputError, Problem
from . import trec
from .columns import too_many
from .format import Head, Kind, name_it
from .jsonl import first_object
from .lines import check_length
from .number_text import commas, is_like_number, is_meant_as_number
from .one_number import BELONGS, ONE_EACH, are_fractions, wrapped
from .source import BLOCK, HEAD, Source, no_rows
from .without_names import without_names


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
