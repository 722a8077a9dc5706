"""The formats of text read the slow way, line by line, by their description."""

import math
import re

NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
LIKE_NUMBER = re.compile(NUMBER.pattern + rb"|[+-]?(nan|inf(inity)?)", re.IGNORECASE)
BOM = b"\xef\xbb\xbf"
PACKED = re.compile(rb"\x1f\x8b|BZh[1-9](1AY&SY|\x17rE8P\x90)|\xfd7zXZ\x00|\x28\xb5\x2f\xfd")

Table = dict[str, dict[str, float]]


def is_text(data: bytes) -> bool:
    """Whether the first bytes are those of lines of text."""
    head = data[: 1 << 16].removeprefix(BOM)
    return bool(data) and not (
        PACKED.match(data)
        or head.startswith((b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04"))
        or b"\0" in head
        or (b"\r" in head and b"\n" not in head)
    )


def lines(data: bytes) -> list[bytes]:
    """The lines after a byte order mark."""
    return data.removeprefix(BOM).split(b"\n")


def after_comments(given: list[bytes]) -> list[bytes]:
    """The lines after the last comment that no row precedes; a ``#`` in a later line is text.

    A line such as ``#7 Q0 d 1 0.5 t`` is a row and no comment: a word right after the ``#``, then
    two fields or more, and a number among them. In an ir_metadata block every ``#`` is a comment.
    """
    stop, block = 0, False
    for at, line in enumerate(given):
        if not line.strip():
            continue
        if not line.startswith(b"#"):
            break
        mark = re.match(rb"#[ \t]*ir_metadata\.(start|end)[ \t\r]*$", line)
        if mark:
            block = mark.group(1) == b"start"
        elif not block:
            word = line.lstrip(b"#")[:1]
            others = re.sub(rb"[\s,]+", b" ", line).split()[1:16]
            numbers = [o for o in others if LIKE_NUMBER.fullmatch(o)]
            if word.strip() and numbers and len(others) > 1:
                break
        stop = at + 1
    return given[stop:]


def rows(data: bytes, n_fields: int, *, more: bool = False, header: int = 0) -> list[list[bytes]]:
    """The fields of each line after the head that is not blank. ValueError: to be refused.

    Columns that are not used may hold any bytes.
    """
    found = []
    for line in after_comments(lines(data))[header:]:
        if not line.strip():
            continue
        fields = line.split()
        if len(fields) < n_fields or (len(fields) > n_fields and not more):
            raise ValueError(fields)
        found.append(fields[:n_fields])
    if not found:
        raise ValueError("no rows")
    return found


def number(text: bytes, *, whole: bool = False) -> float:
    """A number as it is documented. ValueError: to be refused."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value) or (whole and value != int(value)):
        raise ValueError(text)
    return value


def grade(text: bytes) -> float:
    """A grade: whole, and no identifier."""
    value = number(text, whole=True)
    if abs(value) >= 2**31:
        raise ValueError(text)
    return value


def table(triples: list[tuple[bytes, bytes, float]]) -> Table:
    """``{qid: {docno: number}}``. ValueError where a query names a docno twice."""
    made: Table = {}
    for qid, docno, value in triples:
        row = made.setdefault(qid.decode(), {})
        if docno.decode() in row:
            raise ValueError(docno)
        row[docno.decode()] = value
    return made


def trec_qrels(data: bytes) -> Table:
    return table([(q, d, grade(g)) for q, _, d, g in rows(data, 4)])


def trec_run(data: bytes) -> Table:
    return table(
        [(q, d, number(s), t.decode())[:3] for q, _, d, _, s, t in rows(data, 6, more=True)]
    )


def beir(data: bytes) -> Table:
    return table([(q, d, grade(g)) for q, d, g in rows(data, 3, header=1)])


def msmarco(data: bytes) -> Table:
    return table([(q, d, -number(r, whole=True)) for q, d, r in rows(data, 3)])


def scores(data: bytes) -> list[float]:
    """Predictions; a blank line between them is not a row, and is refused."""
    given = after_comments(lines(data))
    while given and not given[-1].strip():
        given.pop()
    found = []
    for line in given:
        line.decode()
        (field,) = line.split()
        found.append(number(field))
    return found


# between the qid and the comment are features, which are not read
_LETOR = re.compile(rb"\s*([^\s#]+)\s+qid:([^\s#]+)(?=[\s#]|$)")


def letor(data: bytes) -> list[tuple[str, float]]:
    """Qid and grade of each row. ValueError: to be refused."""
    found = []
    for line in lines(data):
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        match = _LETOR.match(line)
        if match is None:
            raise ValueError(line)
        line.partition(b"#")[2].decode()
        found.append((match[2].decode(), grade(match[1])))
    if not found:
        raise ValueError("no rows")
    return found
