"""TREC qrels (4 columns) and runs (6 columns), as trec_eval reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ..core.arrow import as_bytes, cast, equal, take, to_numpy, unique
from ..core.grouped import Columns
from ..core.hashing import Seen, hash_strings
from ..core.heads import are_distinct
from ..core.policy import Duplicates
from ..core.ragged import Ints
from ..core.tables import Qrels, Run
from .build import (
    Odd,
    build,
    column,
    dropped,
    held,
    scattered,
    warn,
    warn_dropped,
    warn_scattered,
)
from .checks import MANY_TAGS
from .columns import Layout, Refused, numbers_of, read_block, read_columns
from .cut_line import warn_cut_line
from .extra_fields import warn_extra
from .firsts import against_rank, first_line
from .format import Format, Head, Kind, ScatteredQueries
from .gathered import Rows, gathered
from .number_text import is_like_number
from .source import Source

QRELS = Layout(("qid", "iteration", "docno", "grade"), ("qid", "docno"), number="grade", whole=True)
RUN = Layout(
    ("qid", "Q0", "docno", "rank", "score", "tag"),
    ("qid", "docno", "tag"),
    number="score",
    more=True,
    not_finite="repair the system's output, or delete the line",
)
_TAIL = 2048
"""Rows that are looked at first for the beginning of the last query, and at a time for tags."""
_LONG, _TEXT = 1 << 20, 1 << 14
"""Bytes of so many tags from which on some are long, and of these what is kept of each."""
_WITH_RANKS = replace(RUN, also=("rank",))
_RANKED = replace(_WITH_RANKS, text=("qid",))


def read_qrels(
    source: Source, *, duplicates: Duplicates, name: str, fractions: bool = False
) -> Qrels:
    """Read judgements: ``qid iteration docno grade``."""
    table = gathered(read_columns(source, replace(QRELS, whole=not fractions)))
    grades = Qrels.check_numbers(numbers_of(table, "grade"), source.name, fractions=fractions)
    columns = held(table, grades)
    del table, grades  # as large as what is made of them
    qrels = build(Qrels, source, columns, QRELS.is_data, duplicates=duplicates, name=name)
    warn_scattered(source, scattered(qrels), QRELS.is_data)
    warn_dropped(source, dropped(qrels), duplicates, QRELS.is_data)
    return qrels


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read a run: ``qid Q0 docno rank score tag``; only qid, docno, score and tag count."""
    table = gathered(read_columns(source, _layout(source)))
    warn_cut(source, table)
    against, part = contradictions(table), Part.of(table)
    del table  # as large as what is made of it
    run = part.run(source, 0, duplicates, name)
    warn_extra(source, len(RUN.fields))
    warn_scattered(source, scattered(run), RUN.is_data)
    warn_dropped(source, dropped(run), duplicates, RUN.is_data)
    warn_ranks(source, against)
    return run


def stream_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Iterator[Run]:
    """Yield a run in parts that hold whole queries each; see :func:`harness.readers.stream_run`."""
    before, back, gone = 0, Odd(), Odd()
    against = np.zeros(2, dtype=np.int64)

    def part(table: pa.Table) -> Run:
        nonlocal before, back, gone, against
        run = Part.of(table).run(source, before, duplicates, name)
        back = back.more(scattered(run, before))
        gone = gone.more(dropped(run, before))
        before += table.num_rows
        against = against + contradictions(table)
        return run

    yield from in_parts(source, read_columns(source, _layout(source)), part)
    warn_extra(source, len(RUN.fields))
    warn_scattered(source, back, RUN.is_data)
    warn_dropped(source, gone, duplicates, RUN.is_data)
    warn_ranks(source, against)


def in_parts(
    source: Source, tables: Iterable[pa.Table], part: Callable[[pa.Table], Run]
) -> Iterator[Run]:
    """Yield what `part` makes of the rows, cut anew so that each part holds whole queries.

    Raises
    ------
    ScatteredQueries
        Where a query comes back in a later part.
    """
    seen = Seen()

    def new(table: pa.Table) -> Run:
        run = part(table)
        if seen.any(hash_strings(run.qids)):
            raise ScatteredQueries(source.name)
        return run

    rows, last, qid = Rows(), None, b""
    for table in tables:
        if last is not None:
            start = _start_of_last_query(last["qid"].chunk(0))  # which may go on in this table
            before, qid = qid, _last(last["qid"])
            if start:
                rows.add(last.slice(0, start))
            if rows.n_rows and (start or before != qid):
                yield new(rows.table())
                rows = Rows()
            rows.add(last.slice(start))
        last = table
    if last is not None:
        rows.add(last)
        table = rows.table()
        warn_cut(source, table)
        yield new(table)


def _last(texts: pa.ChunkedArray) -> bytes:
    return as_bytes(texts.chunk(texts.num_chunks - 1)[-1:])[0]


class Part(NamedTuple):
    """Rows of a run, to be grouped by query."""

    columns: Columns
    tags: tuple[str, ...]

    @classmethod
    def of(cls, table: pa.Table) -> Part:
        """Return what matters of a table."""
        return cls(held(table, numbers_of(table, "score")), tags_of(table))

    def run(self, source: Source, before: int, duplicates: Duplicates, name: str) -> Run:
        """Take the columns out, and return the run; `before` as in :func:`~.build.build`."""
        run = build(
            Run, source, self.columns, RUN.is_data, duplicates=duplicates, name=name, before=before
        )
        return replace(run, tags=self.tags)


def tags_of(table: pa.Table) -> tuple[str, ...]:
    """Return the distinct tags, the first :data:`~.checks.MANY_TAGS` of them."""
    tags = table["tag"].chunk(0)
    values = tags.values if pa.types.is_run_end_encoded(tags.type) else tags
    found: dict[bytes, None] = {}
    for first in range(0, len(values), _TAIL):
        some = values[first : first + _TAIL]
        long = some.nbytes > _LONG
        found |= dict.fromkeys(_beginnings(some) if long else as_bytes(unique(some)))
        if len(found) >= MANY_TAGS:
            break
    return tuple(map(readable, [*found][:MANY_TAGS]))


def _beginnings(texts: pa.Array) -> Iterator[bytes]:
    """Yield what texts begin with, some of which are long."""
    for text in texts:
        yield text.as_buffer()[:_TEXT].to_pybytes()


def readable(text: bytes) -> str:
    """Return text for a message, whatever its bytes."""
    return text.decode("utf-8", "replace")


def _start_of_last_query(qids: pa.Array) -> int:
    for tail in (qids[-_TAIL:], qids):
        other = ~equal(tail, qids[-1])
        if other.any():
            return int(len(qids) - other[::-1].argmax())
    return 0


def warn_cut(source: Source, table: pa.Table) -> None:
    """Warn where the last line has no end and its tag is a piece of the tag before it."""
    tags = as_bytes(column(table["tag"][-2:])) if source.unfinished else []
    if len(tags) == 2 and tags[0] != tags[1] and tags[0].startswith(tags[1]):
        before, cut = map(readable, tags)
        why = f"its tag '{cut}' is the beginning of '{before}' on the line before"
        warn_cut_line(source, why)


def _layout(source: Source) -> Layout:
    """Return what to read of a run: its ranks too where it is small, so that they are free.

    Those of a large one would cost a quarter more; pieces of it are looked at in their place.
    """
    return _WITH_RANKS if source.one_block else RUN


def warn_ranks(source: Source, against: Ints | None = None) -> None:
    """Warn where ranks contradict scores: `against`, as :func:`contradictions` counts them.

    Of a run whose ranks were not read, those in the pieces of `source` that are kept.
    """
    whole = True
    if against is None or not source.one_block:
        against, whole = _in_pieces(source), source.sample.whole
    n_rows, n = against
    if n:
        have = "1 has" if n == 1 else f"{n:,} have"
        looked_at = "" if whole else " looked at, from all over the file"
        warn(
            source,
            f"of {n_rows:,} rows{looked_at}, {have} a higher score than the row ranked before; "
            "the scores decide the order, and the ranks are not used, as in trec_eval",
            "ranks-against-scores",
            int(n),
            *first_line(source, against_rank, against_rank(forget=True)),
            at_least=not whole,
        )


def _in_pieces(source: Source) -> Ints:
    try:
        return contradictions(read_block(b"".join(source.sample.pieces), _RANKED))
    except Refused:
        return np.zeros(2, np.int64)


def contradictions(table: pa.Table) -> Ints:
    """Return how many rows have a rank, and how many a higher score than the row ranked before."""
    none = np.zeros(2, np.int64)
    if "rank" not in table.column_names or not table.num_rows:
        return none
    try:
        rank = to_numpy(cast(table["rank"], pa.int64()))
    except pa.ArrowInvalid:
        return none
    qids, score = column(table["qid"]), numbers_of(table, "score")
    same = equal(qids[1:], qids[:-1])
    starts = np.append(0, np.flatnonzero(~same) + 1)
    is_scattered = not are_distinct(take(qids, starts))
    if is_scattered or (same & (rank[1:] < rank[:-1])).any():
        order = np.lexsort((rank, hash_strings(qids)))
        qids, rank, score = take(qids, order), rank[order], score[order]
        same = equal(qids[1:], qids[:-1])
    later = same & (rank[1:] > rank[:-1])
    return np.array([rank.size, (later & (score[1:] > score[:-1])).sum()])


def looks(head: Head, kind: Kind) -> bool:
    """Whether the lines have the columns, with something like a number where one belongs."""
    if kind == "qrels":
        return head.mostly(head.fields, lambda f: len(f) == 4 and is_like_number(f[3]))
    return head.mostly(head.fields, lambda f: len(f) >= 6 and is_like_number(f[4]))


FORMAT = Format(
    name="trec",
    about="TREC qrels (qid 0 docno grade) and runs (qid Q0 docno rank score tag)",
    suffixes=(".txt", ".qrels", ".qrel", ".run", ".trec", ".res"),
    looks=looks,
    qrels=read_qrels,
    run=read_run,
    stream=stream_run,
    is_data=lambda source: RUN.is_data,
)
