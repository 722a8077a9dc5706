"""Rows of a file: their places, and warnings about valid files with unusual content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pyarrow as pa

from ..core.aligned import Aligned
from ..core.arrow import as_bytes, take
from ..core.policy import Duplicates, RunDuplicates, ScoreOrder
from ..core.qrels_and_runs import (
    NO_ROWS,
    DuplicateRows,
    Qrels,
    QueryRows,
    RowCount,
    Run,
    T,
    rows_in_file,
)
from ..core.ragged import Array, Ints
from ..core.rules import SHOWN, finding
from ..errors import Finding, InputError, Place, Problem, counted, first_of, warn_of
from .source import Source
from .text import IsDataLine, decoded

KEEP_ONE = "keep one, or read it with duplicates: last (--set dataset.duplicates=last)"
KEEP_BEST = "keep one, or read it with duplicates: best, the best score (--set run.duplicates=best)"


@dataclass(frozen=True)
class Rows:
    """Places of the rows of a table: lines of a text, or rows of a file or frame.

    `is_data` selects the lines of the text that are rows, in their order. If some have several
    documents, `of_documents` are the rows of these.
    """

    where: Source | str
    is_data: IsDataLine | None = None
    of_documents: Ints | None = None

    @property
    def name(self) -> str:
        """Path of the file, or name of the frame."""
        return self.where if isinstance(self.where, str) else self.where.name

    def find(
        self, wanted: Mapping[int, Sequence[str]], *, whole: bool = False
    ) -> dict[int, tuple[int, str]]:
        """Return the number and the text of the line of each wanted row, counted from 0.

        A line without the words of its row belongs to another row, and is not returned. Only the
        first block is searched, unless the `whole` file may be read again.
        """
        if self.is_data is None or isinstance(self.where, str):
            return {}
        lines = self.where.lines(first_block=not (whole or self.where.may_reread))
        rows = ((number, line) for number, line in lines if self.is_data(number, line))
        lines_found = {}
        for row, (number, line) in enumerate(islice(rows, max(wanted, default=-1) + 1)):
            if row in wanted and all(word.encode() in line for word in wanted[row]):
                lines_found[row] = number, decoded(line).strip()
        return lines_found

    def numbered(self, rows: Ints) -> dict[int, tuple[int, str]]:
        """Return the line number and the text of these rows; without lines, they count from 1."""
        held_by = rows if self.of_documents is None else self.of_documents[rows]
        lines = self.find(dict.fromkeys(held_by.tolist(), ()), whole=True)
        # Arrow ends lines at a carriage return alone, too
        pairs = zip(rows.tolist(), held_by.tolist(), strict=True)
        return {row: lines.get(line, (line + 1, "")) for row, line in pairs}

    def at(self, number: int) -> Place:
        """Return the place of a line, or of a row without lines, by its number."""
        return Place(self.name, number) if self.is_data else Place(self.name, row=number)

    def place(self, row: int) -> Place:
        """Return the place of a row, counted from 0."""
        return self.at(self.numbered(np.array([row]))[row][0])

    def first(self, count: RowCount) -> tuple[int, tuple[str, ...]]:
        """Return the line of the first of some rows, 0 if unknown, and its text or its names."""
        if count.row < 0:
            return 0, ()
        row = count.row if self.of_documents is None else int(self.of_documents[count.row])
        lines = self.find({row: count.words})
        if row in lines:
            return lines[row][0], (lines[row][1],)
        names = "query " + ", document ".join(count.words)
        return 0, (names if self.is_data else f"row {row + 1}: {names}",)


def first_line(
    source: Source, matches: Callable[[Sequence[bytes]], bool]
) -> tuple[int, tuple[str, ...]]:
    """Return the number and the text of the first row with matching fields; 0 without one."""
    for number, line in source.lines(first_block=not source.may_reread):
        if number > source.n_comments and matches(line.split()):
            return number, (decoded(line).strip(),)
    return 0, ()


def build(
    kind: type[T],
    rows: Rows,
    qids: pa.Array,
    docnos: pa.Array | None,
    numbers: Array,
    duplicates: Duplicates,
    name: str,
    fix: str = "",
    before: int = 0,
) -> T:
    """Return qrels or a run from columns; `before` rows precede them."""
    try:
        return kind.from_columns(qids, docnos, numbers, name=name, duplicates=duplicates)
    except DuplicateRows as error:
        pairs = np.stack([error.rows, error.first]).astype(np.int64) + before
        lines = rows.numbered(pairs.ravel())
        fix = fix or keep_one(kind, is_file=isinstance(rows.where, Source))
        number, text = lines[pairs[1, 0]]
        literal = "0" if issubclass(kind, Qrels) else "Q0"
        words = text.split()
        if words[2:3] == [literal] != words[1:2]:  # then every row has this docno
            what = f"expected docnos in column 3, got {literal} in many rows"
            fix = f"write {literal} in column 2 and the docno in column 3"
            raise InputError(Problem(rows.at(number), what, text, fix, "columns")) from None
        assert docnos is not None  # only names repeat
        unit, problems = "lines" if rows.is_data else "rows", []
        for row, earlier in pairs.T.tolist():
            number, text = lines[row]
            qid, docno = qids[row - before].as_py(), docnos[row - before].as_py()
            message = f"docno '{docno}' occurs twice in query '{qid}'"
            message += f" ({unit} {lines[earlier][0]} and {number})"
            problems.append(Problem(rows.at(number), message, text, fix, "duplicates"))
        raise InputError(problems, total=error.total) from None


def policy_of_rows(duplicates: RunDuplicates, order: ScoreOrder) -> Duplicates:
    """Policy for rows that repeat a docno, in terms of the scores as they are written."""
    return "lowest" if (duplicates, order) == ("best", "ascending") else duplicates


def best_first(run: T, where: Source | str, has_ranks: bool) -> T:
    """Return a run of distances with its highest score best; raise if these are ranks."""
    if has_ranks:
        message, fix = "expected scores to read in ascending order, got ranks", "leave 'order' out"
        message = f"{message}; the lowest rank is best already"
        raise InputError(Problem(Rows(where).name, message, fix=fix, rule="columns"))
    return replace(run, numbers=-run.numbers)


def keep_one(rows_type: type[QueryRows], *, is_file: bool = True) -> str:
    """Fix for rows that repeat a docno: in a config, and on the command line."""
    if issubclass(rows_type, Qrels):
        return f"{KEEP_ONE}; for subtopics: format diversity" if is_file else "drop all but one"
    return (
        KEEP_BEST if is_file else "keep the one with the highest score, or give duplicates='best'"
    )


def warn(
    where: Source | str,
    message: str,
    rule: str = "reader",
    count: int = 1,
    line: int = 0,
    examples: tuple[str, ...] = (),
    at_least: bool = False,
    fix: str = "",
) -> None:
    """Report a fact about a file or frame that changes the meaning of the numbers."""
    place = Place(Rows(where).name, line)
    report(where, finding(rule, place, message, count, examples, at_least=at_least, fix=fix))


def report(where: Source | str, finding: Finding) -> None:
    """Add a finding to those of its file; warn immediately of data in memory."""
    if isinstance(where, Source):
        where.findings.append(finding)
    else:
        warn_of([finding])


def warn_moved(
    rows: Rows, table: QueryRows, duplicates: Duplicates, rule: str = "gathered-queries"
) -> None:
    """Warn of rows of a table that were gathered by qid, or dropped."""
    warn_scattered(rows, table.scattered, rule)
    warn_dropped(rows, table.dropped or NO_ROWS, duplicates)


def warn_scattered(rows: Rows, count: RowCount, rule: str = "gathered-queries") -> None:
    """Warn of queries that came back after another had begun."""
    if n := count.queries:
        queries = counted(n, "query", "queries")
        message = f"rows of {queries} are not next to each other"
        warn(rows.where, message, rule, n, *rows.first(count))


def warn_dropped(rows: Rows, count: RowCount, duplicates: Duplicates) -> None:
    """Warn of rows that repeated a docno and were left out."""
    if n := count.rows:
        message = f"dropped {counted(n, 'row')} with a repeated docno; {kept_row(duplicates)}"
        warn(rows.where, message, "dropped-rows", n, *rows.first(count))


def kept_row(duplicates: Duplicates) -> str:
    """Words for the row that is read if a docno repeats."""
    names = {"best": "highest score", "lowest": "lowest score"}
    return f"the {names.get(duplicates, duplicates)} is kept"


def last_line(source: Source) -> int:
    """Return the number of the last line, which has no end; the file is read again for it."""
    return max(number for number, _ in source.lines())


def warn_cut_line(source: Source, why: str) -> None:
    """Warn that the last line may be cut."""
    message = f"the last line may be cut: it has no line end, and {why}"
    line = decoded(source.report.unfinished).strip()
    warn(source, message, "cut-line", line=last_line(source), examples=(line,))


MANY_TAGS = 1000
"""Largest number of tags of a part; a tag for each row would take ten times the file."""
NEARLY_ALL = 0.9  # Share of the queries from which on constant scores are warned about
NEARLY_THE_SAME, AT_LEAST = 0.99, 20
"""Share of the judged documents that equal their grades, and their number, to warn about it."""


def warn_unusable(rows: Rows, qrels: Qrels) -> None:
    """Warn of queries with only negative grades: trec_eval drops them, or gives them 0."""
    judged = np.flatnonzero(np.diff(qrels.offsets))
    if not judged.size:
        return
    unusable = judged[np.maximum.reduceat(qrels.numbers, qrels.offsets[judged]) < 0]
    if not unusable.size:
        return
    names = tuple(map(decoded, as_bytes(take(qrels.qids, unusable[:3]))))
    row = int(rows_in_file(qrels, qrels.offsets[unusable[:1]])[0])
    line, _ = rows.find({row: names[:1]}).get(row, (0, ""))
    message = f"all grades are below 0 in {counted(unusable.size, 'query', 'queries')}"
    warn(rows.where, message, "unusable-judgements", unusable.size, line, names)


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
            start, self.n_rows = self.n_rows, self.n_rows + run.n_rows
            grades = self.dataset.numbers[start : self.n_rows]
            self.are_grades = follows and np.array_equal(run.scores, grades)
        return run

    def warn(self) -> None:
        """Warn of the counted rows."""
        if len(self.tags) > 1:
            self._warn_tags()
        if self.several and self.constant >= NEARLY_ALL * self.several:
            queries = counted(self.several, "query", "queries")
            message = f"all scores are equal in {self.constant:,} of {queries}"
            warn(self.source, message, "constant-scores", self.constant)
        elif self.are_grades:
            message = "scores equal the grades, row by row; check which column was saved"
            warn(self.source, message, "labels-as-scores")

    def _warn_tags(self) -> None:
        tag, second, *more_tags = self.tags
        line, text = first_line(self.source, lambda fields: fields[5:6] == [second.encode()])
        last_text = decoded(self.source.report.unfinished).strip()
        is_cut = last_text.split()[5:6] == [second] and tag.startswith(second)
        if is_cut and not more_tags and text in ((), (last_text,)):
            return  # what the end of a cut file left of the only tag
        tags = first_of([*self.tags])
        message = f"expected one tag, got {tags}; it may be several systems' output"
        warn(self.source, message, "several-tags", len(self.tags) - 1, line, text)


def unscored_rows(aligned: Aligned, n_unscored: Ints, qrels: Qrels, place: str = "") -> Finding:
    """Return the finding that learning-to-rank rows have no score, `n_unscored` of each query."""
    query = np.flatnonzero(n_unscored)
    n, queries = int(n_unscored.sum()), query[:SHOWN]
    qids = map(decoded, as_bytes(take(aligned.qids, queries)))
    missing_of, rows_of = n_unscored[queries].tolist(), aligned.ideal.lengths[queries].tolist()
    counts = zip(qids, missing_of, rows_of, strict=True)
    verb = "has" if n == 1 else "have"
    message = f"{n:,} of {counted(qrels.n_rows, 'row')} of the dataset {verb} no score, in "
    message += counted(query.size, "query", "queries")
    examples = [f"query {qid}: {missing:,} of {rows:,}" for qid, missing, rows in counts]
    return finding("unscored-rows", place, message, n, examples)


def warn_judgements(source: Source, aligned: Aligned) -> None:
    """Warn if the scores of a run with docnos are their grades."""
    equal_grades = aligned.grade[aligned.score == aligned.grade]
    n, n_equal = aligned.grade.size, equal_grades.size
    if n >= AT_LEAST and n_equal >= NEARLY_THE_SAME * n and equal_grades.min() < equal_grades.max():
        message = "scores equal the grades; check that these are scores of a system, not grades"
        warn(source, message, "labels-as-scores")
