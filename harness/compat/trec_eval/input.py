"""Judgements and runs as trec_eval reads them, and documents that a query has twice.

A usual block of a run goes through the harness's own reader. A block with an unusual line (a number
that only C reads, bytes that are not UTF-8, a comment) is read line by line, by trec_eval's rules.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ...core.align import rank_order
from ...core.arrow import as_bytes, to_arrow, to_numpy
from ...core.policy import Policy
from ...core.qrels_and_runs import Docnos, DuplicateRows, Qrels, QueryRows, RowCount, Run
from ...core.ragged import Array, Bools, offsets_of
from ...errors import InputError, warn_of
from ...readers.columns import Refused, column, gathered, read_block
from ...readers.rows import Checks, Rows, warn_scattered
from ...readers.source import Source, reading
from ...readers.text import ahead, each
from ...readers.trec import RUN, in_parts, tags_of, warn_cut, warn_ranks
from .arguments import FILES, Stop, atof, atol

Twice = dict[bytes, str]
"""The first docno by bytes that comes twice, by qid."""
T = TypeVar("T", bound=QueryRows)
_FIELDS = ("qid", "iteration", "docno", "grade")
_BOM = b"\xef\xbb\xbf"
_COMMENT = re.compile(rb"(?:^|\n)[ \t\r]*#")


def twice_in(table: QueryRows, inside: Bools | None = None) -> Twice:
    """Return the queries that have a docno twice, among the rows `inside` if given."""
    later, earlier = table.duplicate_rows()
    rows = np.union1d(later, earlier)
    rows = rows if inside is None else rows[inside[rows]]
    pairs: set[tuple[int, bytes]] = set()
    smallest: dict[int, bytes] = {}
    docnos = as_bytes(table.docnos.take(rows)) if rows.size else []
    for query, docno in zip(table.row[rows].tolist(), docnos, strict=True):
        if (query, docno) in pairs:
            smallest[query] = min(docno, smallest.get(query, docno))
        pairs.add((query, docno))
    qids = as_bytes(table.qids)
    return {qids[query]: docno.decode("utf-8", "replace") for query, docno in smallest.items()}


def twice_ranked(run: Run, policy: Policy) -> Twice:
    """Return the queries that rank a docno twice above the policy's depth, where trec_eval cuts."""
    inside = np.ones(run.n_rows, dtype=bool)
    if policy.depth is not None:
        rank = np.arange(run.n_rows) - run.offsets[:-1][run.row] + 1
        inside[rank_order(run, policy)] = rank <= policy.depth
    return twice_in(run, inside)


def read_qrels(path: str, version: int) -> Qrels:
    """Read judgements, with rows that a query has twice; Stop if a line is malformed."""
    try:
        with reading(path) as source:
            data = source.read()
    except InputError as error:
        raise Stop(FILES, f"the qrels cannot be read: {error}") from None
    lines = dict(enumerate(data.removesuffix(b"\n").split(b"\n"), 1))
    if version == 10 and b"#" in data:  # a line after a comment may be none
        is_comment = False
        for number, line in [*lines.items()]:
            is_comment = not is_comment and line.startswith(b"#")
            if is_comment:
                del lines[number]
        if not lines:
            message = f"{source.name}: expected qrels, got comments only"
            raise Stop(FILES, f"the qrels cannot be read: {message}")
    rows = [line.split() for line in lines.values()]
    if {*map(len, rows)} != {4}:
        index = next(index for index, row in enumerate(rows) if len(row) != 4)
        number, line = [*lines.items()][index]
        raise _malformed(source.name, number, line, len(rows[index]), _FIELDS)
    qids, _, docnos, grades = zip(*rows, strict=True)
    numbers = np.array([atol(grade.decode("latin-1")) for grade in grades], dtype=np.int64)
    return grouped(Qrels, strings(qids), strings(docnos), numbers, path)


def _malformed(name: str, number: int, line: bytes, n: int, fields: Sequence[str]) -> Stop:
    expected = f"expected {len(fields)} fields ({' '.join(fields)}), got {n}"
    content = line.decode("utf-8", "replace")
    return Stop(FILES, f"{name}:{number}: malformed: {expected}\n  found: {content}")


def grouped(kind: type[T], qids: pa.Array, docnos: pa.Array, numbers: Array, name: str) -> T:
    """Group columns by query, with duplicates."""
    encoded = qids.dictionary_encode()
    codes = to_numpy(encoded.indices).astype(np.int64)
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        docnos, numbers = docnos.take(to_arrow(order)), numbers[order]
    offsets = offsets_of(np.bincount(codes, minlength=len(encoded.dictionary)))
    return kind(encoded.dictionary, offsets, Docnos(docnos, offsets), numbers, name)


def strings(words: Sequence[bytes]) -> pa.Array:
    """Return bytes as strings, UTF-8 or not."""
    return pa.array(words, pa.binary()).view(pa.string())


class RunSource(Source):
    """A run's text with all that trec_eval sees: a byte order mark, and bytes that are not text."""

    def check_text(self) -> None:
        """Accept anything."""

    def blocks(self, size: int | None = None) -> Iterator[bytes]:
        """Yield the text in blocks of whole lines."""
        mark = _BOM if self.read(len(_BOM)) == _BOM else b""
        for block in super().blocks(size):
            yield mark + block
            mark = b""


class _Malformed(Exception):  # noqa: N818 - a signal that becomes a Stop
    """A line of a block has too few fields: its number from 1, its text, its number of fields."""


def read_rows(source: RunSource, version: int) -> Iterator[pa.Table]:
    """Yield the columns qid, docno, tag and score of each block; Stop for too few fields."""
    n_blocks = 0
    try:
        for table in each(partial(rows_of, version=version), ahead(source.blocks())):
            n_blocks += 1
            if table.num_rows:
                yield table
    except _Malformed as error:
        number, line, n_fields = error.args
        number += sum(block.count(b"\n") for block in islice(source.blocks(), n_blocks))
        raise _malformed(source.name, number, line, n_fields, RUN.fields) from None
    except InputError as error:
        raise Stop(FILES, f"the run cannot be read: {error}") from None


def rows_of(block: bytes, version: int) -> pa.Table:
    r"""Return the columns of some whole lines: by the harness's reader, or line by line.

    >>> rows_of(b"q1 Q0 a 1 inf tag\nq1 Q0 b 2 1,5 tag more\n", 9)["score"].to_pylist()
    [inf, 1.0]
    """
    if b"\0" in block:
        raise Stop(FILES, "the run cannot be read: expected text, got zero bytes")
    is_odd = b"\v" in block or b"\f" in block or block.startswith(_BOM)
    if not is_odd and not (version == 10 and b"#" in block and _COMMENT.search(block)):
        with contextlib.suppress(Refused):
            return read_block(block, RUN)[0]
    return by_lines(block, version)


def by_lines(block: bytes, version: int) -> pa.Table:
    """Return the columns of some whole lines, each read as C reads it."""
    n_fields, rows = len(RUN.fields), []
    for number, line in enumerate(block.split(b"\n"), 1):
        fields = line.split(None, n_fields)
        if not fields or (version == 10 and fields[0].startswith(b"#")):
            continue
        if len(fields) < n_fields:
            raise _Malformed(number, line, len(fields))
        rows.append(fields)
    columns = {name: [row[index] for row in rows] for index, name in enumerate(RUN.fields)}
    scores = [atof(text.decode("latin-1")) for text in columns[RUN.number]]
    return pa.table(
        {name: strings(columns[name]) for name in RUN.text}
        | {RUN.number: np.array(scores, dtype=np.float64)}
    )


class RunFile:
    """A run file, in parts of whole queries, or whole if its queries are scattered.

    `wanted` are the qids that may be evaluated. Once all is read, ``run_id`` is the tag of the last
    line, and ``twice`` has the queries that rank a document twice, see `twice_ranked`.
    """

    def __init__(self, path: str, version: int, policy: Policy, qids: Set[bytes]) -> None:
        self.path, self.version, self.policy, self.wanted = path, version, policy, qids
        self.run_id = ""
        self.twice: Twice = {}
        try:
            self._source = RunSource(path)
        except InputError as error:
            raise Stop(FILES, f"the run cannot be read: {error}") from None

    def forms(self) -> Iterator[Callable[[], Iterator[Run]]]:
        """Yield the two ways to read the file.

        The first raises `harness.readers.ScatteredQueries` if the second is needed.
        """
        yield lambda: self._checked(in_parts(self._source, self._rows(), self._part))
        yield self._whole

    def _whole(self) -> Iterator[Run]:
        self.twice.clear()
        table = gathered(self._rows())
        warn_cut(self._source, table)
        yield from self._checked([self._part(table)])

    def _rows(self) -> Iterator[pa.Table]:
        for table in read_rows(self._source, self.version):
            self.run_id = as_bytes(table["tag"].chunk(0)[-1:])[0].decode("latin-1")
            yield table

    def _checked(self, parts: Iterable[Run]) -> Iterator[Run]:
        """Yield the parts; warn at the end of what makes their values mean little."""
        checks, scattered = Checks(self._source), 0
        for part in parts:
            scattered += part.scattered.queries
            yield checks.add(part)
        if not self.run_id:
            yield Run.from_dict({})
            return
        warn_scattered(Rows(self._source), RowCount(scattered, scattered))
        warn_ranks(self._source, reverse="negate the scores")
        checks.warn()
        warn_of(self._source.findings)

    def _part(self, table: pa.Table) -> Run:
        qids, docnos = column(table["qid"]), column(table["docno"])
        scores = to_numpy(table["score"])
        try:
            run = Run.from_columns(qids, docnos, scores, name=self.path)
        except DuplicateRows:
            run = grouped(Run, qids, docnos, scores, self.path)
            self.twice |= twice_ranked(run, self.policy)
        return replace(self._without_nan(run), tags=tags_of(table))

    def _without_nan(self, run: Run) -> Run:
        """Return the run with 0 for NaN in queries that are not evaluated; Stop for others."""
        missing = np.isnan(run.scores)
        qids = as_bytes(run.qids) if missing.any() else []
        for row in np.flatnonzero(missing).tolist():
            if (qid := qids[run.row[row]]) in self.wanted:
                docno = as_bytes(run.docnos.take(np.array([row])))[0].decode("utf-8", "replace")
                message = f"expected numbers as scores, got NaN for document '{docno}' in query "
                raise Stop(FILES, f"{self.path}: {message}{qid.decode('utf-8', 'replace')}")
        return replace(run, numbers=np.where(missing, 0.0, run.scores)) if qids else run
