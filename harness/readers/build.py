"""Columns to tables, and errors and warnings with the line of each row."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
import pyarrow as pa

from ..core.arrow import cast
from ..core.policy import Duplicates
from ..core.ragged import Array, Ints
from ..core.tables import NOTHING, DuplicateRows, Odd, Qrels, T, Table
from ..errors import SHOWN, HarnessWarning, InputError, Problem
from .blocks import lines_of
from .format import IsDataLine
from .source import Source

MOST_WRONG_LINES = 1_000
"""Wrong lines after which the rest is not looked at: to tell why a line is wrong takes 10 us."""
TEXT = 1 << 16
"""Bytes of a wrong line that are kept, to be shown."""
_LIMIT = 2**31 - 1


def readable(text: bytes) -> str:
    """Return text for a message, whatever its bytes."""
    return text[:TEXT].decode("utf-8", "replace")


@dataclass
class WrongLines:
    """What is wrong with some lines.

    Attributes
    ----------
    problems : list of Problem
        Of the first ones, with their places and texts.
    total : int
        How many lines are wrong, as far as they were looked at.
    last : int
        Number of the last line that was looked at.
    """

    problems: list[Problem] = field(default_factory=list)
    total: int = 0
    last: int = 0

    def error(self) -> InputError:
        """Return the error that lists them."""
        return InputError(self.problems, total=self.total, at_least=self.total == MOST_WRONG_LINES)


def wrong_lines(
    source: Source,
    lines: Iterable[tuple[int, bytes]],
    check: Callable[[bytes], Problem | None],
) -> WrongLines:
    """Return what `check` finds wrong, up to :data:`MOST_WRONG_LINES` wrong lines.

    Parameters
    ----------
    lines : iterable of (int, bytes)
        Those to look at, with their numbers.
    check : callable
        Returns what is wrong with a line, without its place, or None.
    """
    found = WrongLines()
    for number, line in lines:
        found.last = number
        if wrong := check(line):
            found.total += 1
            if len(found.problems) < SHOWN:
                where = f"{source.name}:{number}"
                found.problems.append(replace(wrong, where=where, found=readable(line)))
            if found.total == MOST_WRONG_LINES:
                break
    return found


def doubtful_lines(source: Source, reads: Callable[[bytes], bool]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that include all wrong ones, with their numbers from 1.

    Of a block that `reads` can read, only the last line is yielded: a large file with a wrong line
    at its end is searched as fast as it is read.
    """
    number = 1
    for block in source.blocks():
        lines = lines_of(block)
        if reads(block):
            yield number + len(lines) - 1, lines[-1]
        else:
            yield from enumerate(lines, number)
        number += len(lines)


_MAY_BEGIN_OTHERS = np.frombuffer(b"\n\r \t\v\f#", np.uint8)
"""First characters of lines that may be no rows."""


class _Rows:
    """The lines of a block that are rows; usually all below the first ones, which is cheap."""

    def __init__(self, block: bytes, number: int, is_data: IsDataLine) -> None:
        data = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        ends = ends if block.endswith(b"\n") else np.append(ends, len(block))
        self.n_lines = ends.size
        self.block, self.begins, self.ends = block, np.append(0, ends[:-1] + 1), ends
        self.at = np.arange(ends.size)
        lines = ((at, self.line(at)) for at in range(ends.size))
        first = next((at for at, line in lines if is_data(number + at, line)), ends.size)
        self.at = self.at[first:]
        if np.isin(data[self.begins[self.at]], _MAY_BEGIN_OTHERS).any():
            kept = [is_data(number + at, self.line(at)) for at in self.at.tolist()]
            self.at = self.at[np.array(kept, dtype=bool)]

    def line(self, at: int) -> bytes:
        """Return a line by its position in the block."""
        return self.block[self.begins[at] : self.ends[at]]


def find_texts(
    source: Source, wanted: Mapping[int, Sequence[str]], is_data: IsDataLine, *, whole: bool
) -> dict[int, tuple[int, str]]:
    """Return the line number and the text of each row that is found.

    Parameters
    ----------
    wanted : mapping of int to sequence of str
        Words on the line of the row at each position, from 0: a line without them is another one,
        and is not returned.
    whole : bool
        Whether the file is read as far as the last of these rows, or its first block only.
    """
    found: dict[int, tuple[int, str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)  # as when it was read
        reader = Source(source.file)
    left, first, number = sorted(wanted, reverse=True), 0, 1
    for block in reader.blocks() if whole else islice(reader.blocks(), 1):
        rows = _Rows(block, number, is_data)
        while left and left[-1] < first + rows.at.size:
            row = left.pop()
            at = int(rows.at[row - first])
            line = rows.line(at)
            if all(word.encode() in line for word in wanted[row]):
                found[row] = number + at, readable(line).strip()
        if not left:
            break
        first, number = first + rows.at.size, number + rows.n_lines
    return found


def find_lines(
    source: Source, wanted: Mapping[int, Sequence[str]], is_data: IsDataLine, *, whole: bool
) -> dict[int, int]:
    """Return the line number of each row that :func:`find_texts` finds."""
    found = find_texts(source, wanted, is_data, whole=whole)
    return {row: number for row, (number, _) in found.items()}


def lines_of_rows(source: Source, rows: Ints, is_data: IsDataLine) -> dict[int, tuple[int, str]]:
    """Return the line number and the text of these rows, counted from 0."""
    found = find_texts(source, dict.fromkeys(rows.tolist(), ()), is_data, whole=True)
    # Arrow ends lines at a carriage return alone, too
    return {row: found.get(row, (row + 1, "")) for row in rows.tolist()}


def row_names(source: Source, is_data: IsDataLine | None) -> Callable[[int], str]:
    """Return ``row(position)``: ``path:line`` for lines of text, ``path: row n`` otherwise."""

    def row(position: int) -> str:
        if is_data is None:
            return f"{source.name}: row {position + 1}"
        found = lines_of_rows(source, np.array([position]), is_data)
        return f"{source.name}:{found[position][0]}"

    return row


def first_line(
    source: Source, matches: Callable[[Sequence[bytes]], bool]
) -> tuple[int, tuple[str, ...]]:
    """Return the number and the text of the first row whose fields match.

    The first block is looked at, and all if the file may be read again; 0 if there is none.
    """
    for number, line in source.lines_at_hand():
        if number > source.n_comments and matches(line.split()):
            return number, (readable(line).strip(),)
    return 0, ()


def column(chunks: pa.ChunkedArray) -> pa.Array:
    """Return strings in one piece, with wide offsets if they need them."""
    if chunks.num_chunks == 1:
        return chunks.chunk(0)
    if chunks.nbytes > _LIMIT:
        chunks = cast(chunks, pa.large_string())
    combined = chunks.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def gathered(tables: Iterable[pa.Table]) -> pa.Table:
    """Return tables of the same columns as one, each column in one piece."""
    return pa.concat_tables(tables).combine_chunks()


def build(
    kind: type[T],
    source: Source,
    table: pa.Table,
    numbers: Array,
    is_data: IsDataLine,
    *,
    duplicates: Duplicates,
    name: str,
    before: int = 0,
) -> T:
    """Group the qids and docnos of a table, with numbers; errors name lines.

    Parameters
    ----------
    is_data : callable
        ``is_data(number, line)``: whether a line of `source` is a row.
    before : int
        Rows of the source that precede these.
    """
    try:
        qids, docnos = column(table["qid"]), column(table["docno"])
        return kind.from_columns(qids, docnos, numbers, name=name, duplicates=duplicates)
    except DuplicateRows as error:
        raise repeated(source, kind, error, is_data, before) from None


def keep_one(of: type[Table]) -> str:
    """Return what to do about rows that repeat a docno: in a config, and on the command line."""
    entries = "datasets" if issubclass(of, Qrels) else "runs"
    return (
        f"keep one, in a config with {entries}: {{NAME: {{path: ..., duplicates: last}}}} (or "
        "first), on the command line with --duplicates last"
    )


def repeated(
    source: Source, of: type[Table], error: DuplicateRows, is_data: IsDataLine, before: int = 0
) -> InputError:
    """Return the error for docnos that a query names twice, with the lines of both."""
    rows, first = (of.astype(np.int64) + before for of in (error.rows, error.first))
    found = lines_of_rows(source, np.concatenate([rows, first]), is_data)
    problems = [
        Problem(
            f"{source.name}:{found[later][0]}",
            f"expected each docno once in a query, got that of line {found[earlier][0]}",
            found[later][1],
            keep_one(of),
            "duplicates",
        )
        for later, earlier in zip(rows.tolist(), first.tolist(), strict=True)
    ]
    return InputError(problems, total=error.total)


def warn(
    source: Source | str,
    what: str,
    rule: str = "",
    count: int = 1,
    line: int = 0,
    examples: tuple[str, ...] = (),
    at_least: bool = False,
) -> None:
    """Warn of something in `source` that changes what the numbers mean.

    The other parameters are those of :class:`~harness.errors.HarnessWarning`.
    """
    name = source if isinstance(source, str) else source.name
    text = HarnessWarning(f"{name}: {what}", rule, count, line, examples, at_least)
    warnings.warn(text, stacklevel=2)


def warn_moved(
    source: Source, table: Table, duplicates: Duplicates, is_data: IsDataLine | None = None
) -> None:
    """Warn of rows of a table that were gathered by qid, or dropped."""
    warn_scattered(source, table.scattered, is_data)
    warn_dropped(source, table.dropped or NOTHING, duplicates, is_data)


def warn_scattered(source: Source, found: Odd, is_data: IsDataLine | None = None) -> None:
    """Warn of queries that came back after another had begun; `is_data` as in :func:`build`."""
    if n := found.queries:
        what = f"queries that come back after another began: {n:,}; their rows are gathered by qid"
        warn(source, what, "scattered-queries", n, *_first(source, found, is_data))


def warn_dropped(
    where: Source | str, found: Odd, duplicates: Duplicates, is_data: IsDataLine | None = None
) -> None:
    """Warn of rows that repeated a docno and were left out."""
    if n := found.rows:
        what = f"rows with a docno that their query has twice: {n:,}; the {duplicates} one is kept"
        warn(where, what, "dropped-rows", n, *_first(where, found, is_data))


def _first(
    source: Source | str, found: Odd, is_data: IsDataLine | None
) -> tuple[int, tuple[str, ...]]:
    """Return the line of the first row, and its text or its names."""
    if found.row < 0:
        return 0, ()
    if is_data is not None and isinstance(source, Source):
        lines = find_texts(source, {found.row: found.words}, is_data, whole=source.again)
        if found.row in lines:
            return lines[found.row][0], (lines[found.row][1],)
    names = "query " + ", document ".join(found.words)
    return 0, (names if is_data else f"row {found.row + 1}: {names}",)


def last_line(source: Source) -> int:
    """Return the number of the last line, which has no end; the file is read again for it."""
    return 1 + sum(block.count(b"\n") for block in Source(source.file).blocks())


def last_lines(source: Source, n_before: int) -> list[bytes]:
    """Return `n_before` lines and the last one; nothing if that has an end or they are fewer."""
    lines = source.last_lines[-1 - n_before :] if source.unfinished else []
    return lines if len(lines) > n_before else []


def warn_cut_line(source: Source, why: str) -> None:
    """Warn that the last line may be cut."""
    what = f"the last line may be cut: it has no line end, and {why}"
    last = readable(source.unfinished).strip()
    warn(source, what, "cut-line", line=last_line(source), examples=(last,))
