"""Columns to tables, and what goes wrong on the way, with the line of each row."""

from __future__ import annotations

import warnings
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ..core.arrow import cast
from ..core.policy import Duplicates
from ..core.ragged import Array, Ints
from ..core.tables import NOTHING, DuplicateRows, Odd, Qrels, Table
from ..errors import SHOWN, HarnessWarning, InputError, Problem
from .blocks import LONGEST, lines_of
from .source import FIX, HEAD, Source, binary

MOST_WRONG_LINES = 1_000
"""Wrong lines after which the rest is not looked at: to tell why a line is wrong takes 10 us."""
TEXT = 1 << 16
"""Bytes of a wrong line that are kept, to be shown."""


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
    """Return what `check` says of the lines, up to :data:`MOST_WRONG_LINES` wrong ones.

    Parameters
    ----------
    lines : iterable of (int, bytes)
        Those to look at, with their numbers.
    check : callable
        Returns what is wrong with a line, wherever it stands; None where nothing is.
    """
    found = WrongLines()
    for number, line in lines:
        found.last = number
        wrong = check(line)
        if wrong:
            found.total += 1
            if len(found.problems) < SHOWN:
                where, text = f"{source.name}:{number}", line[:TEXT].decode("utf-8", "replace")
                found.problems.append(replace(wrong, where=where, found=text))
            if found.total == MOST_WRONG_LINES:
                break
    return found


def doubtful_lines(source: Source, reads: Callable[[bytes], bool]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines among which all wrong ones are, with their numbers from 1.

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


IsDataLine = Callable[[int, bytes], bool]
"""``is_data(number, line)``: whether a line is a row."""


def find_lines(
    source: Source, wanted: Mapping[int, Sequence[str]], is_data: IsDataLine, *, whole: bool
) -> dict[int, int]:
    """Return the line of each row that is found.

    Parameters
    ----------
    wanted : mapping of int to sequence of str
        Words that the row of each position, from 0, has on its line: a line without them is
        another one, and is not returned.
    whole : bool
        Whether the file is read as far as the last of these rows. Else its first block is.
    """
    found = find_texts(source, wanted, is_data, whole=whole)
    return {row: number for row, (number, _) in found.items()}


def find_texts(
    source: Source, wanted: Mapping[int, Sequence[str]], is_data: IsDataLine, *, whole: bool
) -> dict[int, tuple[int, str]]:
    """Return the line of each row that is found, and its text; else as :func:`find_lines`."""
    found: dict[int, tuple[int, str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)  # as when it was read
        reader = Source(source.file)
        reader.again = whole
    data = (one for one in reader.lines_at_hand() if is_data(*one))
    for row, (number, line) in zip(range(max(wanted, default=-1) + 1), data, strict=False):
        if row in wanted and all(word.encode() in line for word in wanted[row]):
            found[row] = number, line[:TEXT].decode("utf-8", "replace").strip()
    return found


def check_length(source: Source) -> None:
    """Raise where the first line is longer than the lines of a text may be."""
    if len(source.head) > LONGEST and b"\n" not in source.head:
        raise InputError(source.too_long())


def check_binary(source: Source) -> None:
    """Raise where a file that was not understood begins as no text does."""
    if what := binary(source.read(HEAD)):  # a first line may have megabytes
        raise InputError(Problem(source.name, what, fix=FIX))


def last_line(source: Source) -> int:
    """Return the number of the last line, which has no end; the file is read again for it."""
    return 1 + sum(block.count(b"\n") for block in Source(source.file).blocks())


T = TypeVar("T", bound=Table)
_LIMIT = 2**31 - 1


def keep_one(of: type[Table]) -> str:
    """Return what to do about rows that repeat a docno: in a config, and on the command line."""
    entries = "datasets" if issubclass(of, Qrels) else "runs"
    return (
        "keep one: 'duplicates: last' (or first) in the file's own entry of a config, as in "
        f"{entries}: {{NAME: {{path: ..., duplicates: last}}}}; --duplicates last on the command "
        "line"
    )


def column(chunks: pa.ChunkedArray) -> pa.Array:
    """Return strings in one piece and plain, with wide offsets where they need them."""
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


def warn_moved(
    source: Source, table: Table, duplicates: Duplicates, is_data: IsDataLine | None = None
) -> None:
    """Warn of rows of a table that were gathered by qid, or dropped."""
    warn_scattered(source, table.scattered, is_data)
    warn_dropped(source, table.dropped or NOTHING, duplicates, is_data)


def warn_scattered(source: Source, found: Odd, is_data: IsDataLine | None = None) -> None:
    """Warn of queries that came back after another had begun; `is_data` as in :func:`build`."""
    if n := found.queries:
        which = "1 query comes" if n == 1 else f"{n:,} queries come"
        what = f"{which} back after another began; the rows were gathered by qid"
        warn(source, what, "scattered-queries", n, *_first(source, found, is_data))


def _first(
    source: Source | str, found: Odd, is_data: IsDataLine | None
) -> tuple[int, tuple[str, ...]]:
    """Return the line of the first row, and its text; its names where that is not at hand."""
    if found.row < 0:
        return 0, ()
    wanted = {found.row: found.words}
    if is_data is not None and isinstance(source, Source):
        held = find_texts(source, wanted, is_data, whole=source.again)
        if found.row in held:
            number, text = held[found.row]
            return number, (text,)
    names = ", document ".join(found.words)
    return 0, (f"query {names}" if is_data else f"row {found.row + 1}: query {names}",)


def warn_dropped(
    where: Source | str, found: Odd, duplicates: Duplicates, is_data: IsDataLine | None = None
) -> None:
    """Warn of rows that repeated a docno and were left out."""
    rows, queries = found.rows, found.queries
    if rows:
        n_rows = "1 row" if rows == 1 else f"{rows:,} rows"
        n_queries = "1 query" if queries == 1 else f"{queries:,} queries"
        repeated = "repeats a docno and was" if rows == 1 else "repeat a docno and were"
        what = f"{n_rows} of {n_queries} {repeated} dropped; the {duplicates} of each is kept"
        warn(where, what, "dropped-rows", rows, *_first(where, found, is_data))


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

    All else as :class:`~harness.errors.HarnessWarning` takes it.
    """
    name = source if isinstance(source, str) else source.name
    said = HarnessWarning(f"{name}: {what}", rule, count, line, examples, at_least)
    warnings.warn(said, stacklevel=2)


def repeated(
    source: Source, of: type[Table], error: DuplicateRows, is_data: IsDataLine, before: int = 0
) -> InputError:
    """Return the error for docnos that a query names twice, with the lines of both."""
    rows, first = (of.astype(np.int64) + before for of in (error.rows, error.first))
    found = lines_of_rows(source, np.concatenate([rows, first]), is_data)
    problems = []
    for later, earlier in zip(rows.tolist(), first.tolist(), strict=True):
        number, text = found[later]
        problems.append(
            Problem(
                f"{source.name}:{number}",
                f"the docno stands already on line {found[earlier][0]}, for the same query",
                text,
                keep_one(of),
                "duplicates",
            )
        )
    return InputError(problems, total=error.total)


def row_names(source: Source, is_data: IsDataLine | None) -> Callable[[int], str]:
    """Return ``row(position)``: ``path:line`` for lines of text, ``path: row n`` otherwise."""

    def row(position: int) -> str:
        if is_data is None:
            return f"{source.name}: row {position + 1}"
        found = lines_of_rows(source, np.array([position]), is_data)
        return f"{source.name}:{found[position][0]}"

    return row


def lines_of_rows(source: Source, rows: Ints, is_data: IsDataLine) -> dict[int, tuple[int, str]]:
    """Return the line number and the text of these rows, counted from 0."""
    wanted = dict.fromkeys(rows.tolist(), ())
    found = find_texts(source, wanted, is_data, whole=True)
    # Arrow ends lines at a carriage return alone, too
    return {row: found.get(row, (row + 1, "")) for row in wanted}


Looks = Callable[[Sequence[bytes]], bool]


def first_line(source: Source, is_it: Looks) -> tuple[int, tuple[str, ...]]:
    """Return the number and the text of the first line whose fields are what is looked for.

    The first block is looked at, and all if the file may be read again; 0 if there is none.
    """
    for number, line in source.lines_at_hand():
        if number > source.n_comments and (fields := line.split()) and is_it(fields):
            return number, (line.decode("utf-8", "replace").strip(),)
    return 0, ()


def other_tag() -> Looks:
    """Return what finds the first line of a TREC run with another tag than the line before."""
    last: list[bytes] = []

    def is_it(fields: Sequence[bytes]) -> bool:
        differs = bool(last) and fields[5:6] != last
        last[:] = fields[5:6]
        return differs

    return is_it


def against_rank() -> Looks:
    """Return what finds the first line whose rank and score are both above those of another.

    Or both below: of an earlier line of the same query.
    """
    by_rank: dict[bytes, list[tuple[int, float]]] = {}

    def is_it(fields: Sequence[bytes]) -> bool:
        if len(fields) < 6:
            return False
        try:
            row = int(fields[3]), float(fields[4])
        except ValueError:
            return False
        held = by_rank.setdefault(fields[0], [])  # until one is found, scores fall with the rank
        at = bisect(held, row)
        near = held[max(at - 1, 0) : at + 1]
        held.insert(at, row)
        return any((rank - row[0]) * (score - row[1]) > 0 for rank, score in near)

    return is_it


def last_lines(source: Source, n_before: int) -> list[bytes]:
    """Return so many lines and the last one after them, which has no end.

    Nothing where it has one, there are fewer lines, or it is too long to be held against them.
    """
    lines = source.last_lines[-1 - n_before :] if source.unfinished else []
    return lines if len(lines) > n_before else []


def warn_cut_line(source: Source, why: str) -> None:
    """Warn that the last line may be cut, as it has no end and lacks something."""
    warn(
        source,
        f"the last line may be cut: it has no line end, and {why}",
        "cut-line",
        line=last_line(source),
        examples=(source.unfinished.decode("utf-8", "replace").strip(),),
    )
