"""Columns to tables, with errors and warnings that name the line of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import pyarrow as pa

from ..core.aligned import Aligned
from ..core.arrow import as_bytes, cast, take
from ..core.policy import Duplicates
from ..core.ragged import Array, Ints
from ..core.rules import finding
from ..core.tables import NOTHING, DuplicateRows, Odd, Qrels, QueryRows, Run, T
from ..errors import SHOWN, InputError, Place, Problem, first_of, notice
from .format import IsDataLine
from .source import Source
from .text import decoded

MOST_WRONG_LINES = 1_000
"""Wrong lines after which the rest is not looked at: to tell why a line is wrong takes 10 us."""
MANY_TAGS = 1000
"""How many tags of a part are kept; a tag for each row would take ten times the file."""
NEARLY_ALL = 0.9  # Share of the queries from which on constant scores are warned about
NEARLY_THE_SAME, AT_LEAST = 0.99, 20
"""Share of the judged documents that equal their grades, and their number, to warn about it."""
_LIMIT = 2**31 - 1


def wrong_lines(
    source: Source, lines: Iterable[tuple[int, bytes]], check: Callable[[bytes], Problem | None]
) -> tuple[list[Problem], int]:
    """Return what `check` finds wrong with the first lines, and the number of all."""
    problems: list[Problem] = []
    total = 0
    for number, line in lines:
        if wrong := check(line):
            total += 1
            if len(problems) < SHOWN:
                where = Place(source.name, number)
                problems.append(replace(wrong, where=where, found=decoded(line)))
            if total == MOST_WRONG_LINES:
                break
    return problems, total


def find_lines(
    source: Source, wanted: Mapping[int, Sequence[str]], is_data: IsDataLine, *, whole: bool
) -> dict[int, tuple[int, str]]:
    """Return the number and the text of the line of each wanted row, counted from 0.

    A line without the words of its row belongs to another row, and is not returned. Only the
    first block is searched unless `whole`.
    """
    found = {}
    lines = source.lines(first_block=not whole)
    rows = ((number, line) for number, line in lines if is_data(number, line))
    for row, (number, line) in enumerate(islice(rows, max(wanted, default=-1) + 1)):
        if row in wanted and all(word.encode() in line for word in wanted[row]):
            found[row] = number, decoded(line).strip()
    return found


def lines_of_rows(source: Source, rows: Ints, is_data: IsDataLine) -> dict[int, tuple[int, str]]:
    """Return the line number and the text of these rows, counted from 0."""
    found = find_lines(source, dict.fromkeys(rows.tolist(), ()), is_data, whole=True)
    # Arrow ends lines at a carriage return alone, too
    return {row: found.get(row, (row + 1, "")) for row in rows.tolist()}


def first_line(
    source: Source, matches: Callable[[Sequence[bytes]], bool]
) -> tuple[int, tuple[str, ...]]:
    """Return the number and the text of the first row whose fields match; 0 if there is none."""
    for number, line in source.lines(first_block=not source.may_reread):
        if number > source.n_comments and matches(line.split()):
            return number, (decoded(line).strip(),)
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
    """Return qrels or a run of the qids and docnos of a table; `before` rows precede them."""
    try:
        qids, docnos = column(table["qid"]), column(table["docno"])
        return kind.from_columns(qids, docnos, numbers, name=name, duplicates=duplicates)
    except DuplicateRows as error:
        raise repeated(source, kind, error, is_data, before) from None


def keep_one(of: type[QueryRows]) -> str:
    """Return what to do about rows that repeat a docno: in a config, and on the command line."""
    subtopics = "; for subtopics: format diversity" if issubclass(of, Qrels) else ""
    return f"keep one, or read it with duplicates: last (--duplicates last){subtopics}"


def repeated(
    where: Source | str,
    of: type[QueryRows],
    error: DuplicateRows,
    is_data: IsDataLine | None,
    before: int = 0,
) -> InputError:
    """Return the error for docnos that a query has twice, with the lines or rows of both."""
    rows, first = (of.astype(np.int64) + before for of in (error.rows, error.first))
    every = np.concatenate([rows, first])
    name, word = where if isinstance(where, str) else where.name, "row"
    found = {row: (row + 1, "") for row in every.tolist()}
    if is_data is not None and isinstance(where, Source):
        found, word = lines_of_rows(where, every, is_data), "line"
    swapped = found[rows[0]][1].split()[2:3] == ["Q0"]  # then every row has the docno Q0
    fix = "write Q0 in column 2 and the docno in column 3" if swapped else keep_one(of)
    problems = [
        Problem(
            Place(name, **{word: found[later][0]}),
            f"expected each docno once in a query, got {word} {found[earlier][0]}'s again",
            found[later][1],
            fix,
            "duplicates",
        )
        for later, earlier in zip(rows.tolist(), first.tolist(), strict=True)
    ]
    return InputError(problems, total=error.total)


def warn(
    source: Source | str,
    what: str,
    rule: str = "reader",
    count: int = 1,
    line: int = 0,
    examples: tuple[str, ...] = (),
    at_least: bool = False,
) -> None:
    """Warn of something in `source` that changes what the numbers mean."""
    name = source if isinstance(source, str) else source.name
    notice(finding(rule, Place(name, line), what, count, examples, at_least=at_least), 2)


def warn_moved(
    source: Source, table: QueryRows, duplicates: Duplicates, is_data: IsDataLine | None = None,
    scattered: str = "gathered-queries",
) -> None:  # fmt: skip
    """Warn of rows of a table that were gathered by qid, or dropped."""
    warn_scattered(source, table.scattered, is_data, scattered)
    warn_dropped(source, table.dropped or NOTHING, duplicates, is_data)


def warn_scattered(
    source: Source, found: Odd, is_data: IsDataLine | None = None, rule: str = "gathered-queries"
) -> None:
    """Warn of queries that came back after another had begun."""
    if n := found.queries:
        what = f"rows of {n:,} queries are not next to each other; they are gathered by qid"
        warn(source, what, rule, n, *_first(source, found, is_data))


def warn_dropped(
    where: Source | str, found: Odd, duplicates: Duplicates, is_data: IsDataLine | None = None
) -> None:
    """Warn of rows that repeated a docno and were left out."""
    if n := found.rows:
        what = (
            f"dropped rows that repeat a docno of their query: {n:,}; the {duplicates} one is kept"
        )
        warn(where, what, "dropped-rows", n, *_first(where, found, is_data))


def _first(
    source: Source | str, found: Odd, is_data: IsDataLine | None
) -> tuple[int, tuple[str, ...]]:
    """Return the line of the first row, and its text or its names."""
    if found.row < 0:
        return 0, ()
    if is_data is not None and isinstance(source, Source):
        lines = find_lines(source, {found.row: found.words}, is_data, whole=source.may_reread)
        if found.row in lines:
            return lines[found.row][0], (lines[found.row][1],)
    names = "query " + ", document ".join(found.words)
    return 0, (names if is_data else f"row {found.row + 1}: {names}",)


def last_line(source: Source) -> int:
    """Return the number of the last line, which has no end; the file is read again for it."""
    return max(number for number, _ in source.lines())


def warn_cut_line(source: Source, why: str) -> None:
    """Warn that the last line may be cut."""
    what = f"the last line may be cut: it has no line end, and {why}"
    last = decoded(source.unfinished).strip()
    warn(source, what, "cut-line", line=last_line(source), examples=(last,))


def warn_unusable(source: Source, qrels: Qrels, is_data: IsDataLine | None) -> None:
    """Warn of queries whose grades are all negative: trec_eval drops them, or gives them 0."""
    judged = np.flatnonzero(np.diff(qrels.offsets))
    if not judged.size:
        return
    unusable = judged[np.maximum.reduceat(qrels.numbers, qrels.offsets[judged]) < 0]
    if not unusable.size:
        return
    names = tuple(map(decoded, as_bytes(take(qrels.qids, unusable[:3]))))
    row, line = int(qrels.offsets[unusable[0]]), 0
    row = row if qrels.order is None else int(qrels.order[row])
    if is_data is not None:
        found = find_lines(source, {row: names[:1]}, is_data, whole=source.may_reread)
        line, _ = found.get(row, (0, ""))
    what = f"queries without a usable judgement: {unusable.size:,}; all their grades are below 0"
    warn(source, what, "unusable-judgements", unusable.size, line, names)


class Checks:
    """Counts over the parts of one run, and warns at its end.

    `follows` says that the parts follow the rows of the dataset, if they do not share its docnos.
    """

    def __init__(self, source: Source, dataset: Qrels | None = None, follows: bool = False) -> None:
        self.source, self.dataset, self.follows = source, dataset, follows
        self.n_rows, self.are_grades = 0, dataset is not None
        self.constant = self.several = 0
        self.tags: dict[str, None] = {}

    def add(self, run: Run) -> Run:
        """Count one part, and return it."""
        if len(self.tags) < MANY_TAGS:
            self.tags.update(dict.fromkeys(run.tags))
        low, high = run.extremes
        lengths = np.diff(run.offsets)
        several = lengths[lengths > 0] > 1
        self.constant += int(((low == high) & several).sum())
        self.several += int(several.sum())
        if self.are_grades and self.dataset is not None:
            follows = self.follows or run.docnos is self.dataset.docnos
            first, self.n_rows = self.n_rows, self.n_rows + run.n_rows
            grades = self.dataset.numbers[first : self.n_rows]
            self.are_grades = follows and np.array_equal(run.scores, grades)
        return run

    def warn(self) -> None:
        """Warn of what was counted."""
        if len(self.tags) > 1:
            self._warn_tags()
        if self.several and self.constant >= NEARLY_ALL * self.several:
            what = (
                f"all scores are equal in {self.constant} of {self.several} queries; the policy "
                "for ties decides their order"
            )
            warn(self.source, what, "constant-scores", self.constant)
        elif self.are_grades:
            what = "scores equal the grades, row by row; check which column was saved"
            warn(self.source, what, "labels-as-scores")

    def _warn_tags(self) -> None:
        tag, second, *others = self.tags
        line, text = first_line(self.source, lambda fields: fields[5:6] == [second.encode()])
        last = decoded(self.source.unfinished).strip()
        is_cut = last.split()[5:6] == [second] and tag.startswith(second)
        if is_cut and not others and text in ((), (last,)):
            return  # what the end of a cut file left of the only tag
        what = f"expected one tag, got {first_of([*self.tags])}; it may be several systems' output"
        warn(self.source, what, "several-tags", len(self.tags) - 1, line, text)


def warn_judgements(source: Source, aligned: Aligned) -> None:
    """Warn if the scores of a run with docnos are their grades."""
    same = aligned.grade[aligned.score == aligned.grade]
    enough = aligned.grade.size >= AT_LEAST and same.size >= NEARLY_THE_SAME * aligned.grade.size
    if enough and same.min() < same.max():
        what = "scores equal the grades; check that these are scores of a system, not grades"
        warn(source, what, "labels-as-scores")
