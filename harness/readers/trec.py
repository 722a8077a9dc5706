"""TREC qrels (with subtopics too) and runs, as trec_eval reads them; MS MARCO's and BEIR's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import as_bytes, bytes_at, call, cast, encode, equal, take, to_numpy, unique
from ..core.hashing import SeenKeys, hash_strings
from ..core.policy import Duplicates
from ..core.qrels_and_runs import Docnos, Qrels, RowCount, Run, byte_ranks
from ..core.ragged import Bools, Ints, lengths_of, offsets_of
from ..errors import InputError, Problem, counted
from .column_roles import guess
from .columns import (
    Layout,
    Refused,
    build_table,
    column,
    gathered,
    read_block,
    read_columns,
    read_judgements,
)
from .format import FIELDS, Format, Head, Kind, ScatteredQueries, add_formats, fields_of, mostly
from .rows import (
    KEEP_ONE,
    MANY_TAGS,
    Rows,
    build,
    first_line,
    warn,
    warn_cut_line,
    warn_dropped,
    warn_scattered,
)
from .source import Source
from .text import LIKE_NUMBER, LOOK, decoded, is_like_number, without_first_lines

QRELS = Layout(FIELDS["qrels"], ("qid", "docno"), number="grade")
RUN = Layout(FIELDS["run"], ("qid", "docno", "tag"), number="score", more=True)
MSMARCO = Layout(("qid", "docno", "rank"), ("qid", "docno"), number="rank", whole=True)
RANKING = Layout(("qid", "docno", "rank", "score"), ("qid", "docno"), number="score")
BEIR = Layout(("qid", "docno", "grade"), ("qid", "docno"), number="grade", header=1)
PAIRS = Layout(("qid", "docno"), ("qid", "docno"), number="")
_SUBTOPICS = "qid", "subtopic", "docno"
DIVERSITY = Layout((*_SUBTOPICS, "grade"), _SUBTOPICS, number="grade", whole=True)
_NO_GRADE = 1000  # The least whole number that is a docno rather than a grade
_RANK = re.compile(rb"\d{1,9}")
MOST_SUBTOPICS = 62
"""Subtopics of one query at most: each is a bit of a 64-bit number."""
REVERSE = "write order: ascending (--lower-is-better)"
BEIR_NAMES = ["query-id", "corpus-id", "score"]


def read_run(source: Source, *, duplicates: Duplicates, name: str, **settings: Any) -> Run:
    """Read a run: ``qid Q0 docno rank score tag``; only qid, docno, score and tag count."""
    tables = [gathered(read_columns(source, RUN))]
    (run,) = stream_run(source, duplicates=duplicates, name=name, tables=tables)
    return run


def stream_run(
    source: Source, *, duplicates: Duplicates, name: str,
    tables: Iterable[pa.Table] | None = None, **settings: Any,
) -> Iterator[Run]:  # fmt: skip
    """Yield a run in parts of whole queries; warn at the end of mistakes in the file.

    `tables` are its columns; they are read block by block by default.
    """
    before, moved, gone = 0, RowCount(), RowCount()
    rows = Rows(source, RUN.is_data(source))

    def part(table: pa.Table) -> Run:
        nonlocal before, moved, gone
        qids, docnos = column(table["qid"]), column(table["docno"])
        scores = to_numpy(table["score"])
        run = build(Run, rows, qids, docnos, scores, duplicates, name, before=before)
        if run.scattered.rows:
            moved = moved.more(run.scattered.after(before))
        if run.dropped is not None:
            gone = gone.more(run.dropped.after(before))
        before += table.num_rows
        return replace(run, tags=tags_of(table))

    yield from in_parts(source, tables or read_columns(source, RUN), part)
    if source.has_extra_fields:
        _warn_extra(source)
    if moved.rows:
        warn_scattered(rows, moved)
    if gone.rows:
        warn_dropped(rows, gone, duplicates)
    warn_ranks(source)


def in_parts(
    source: Source, tables: Iterable[pa.Table], part: Callable[[pa.Table], Run]
) -> Iterator[Run]:
    """Yield `part` of the rows, cut into parts of whole queries.

    ScatteredQueries if a query comes back in a later part.
    """
    earlier_queries = SeenKeys()

    def new(run: Run) -> Run:
        if earlier_queries.any(hash_strings(run.qids)):
            raise ScatteredQueries(source.name)
        return run

    rows: list[pa.Table] = []  # of a query that may go on
    previous: pa.Table | None = None
    for table in tables:
        if previous is not None:
            start = _start_of_last_query(previous["qid"].chunk(0))
            first_qid = as_bytes(previous["qid"].chunk(0)[:1])
            goes_on = bool(rows) and as_bytes(rows[-1]["qid"].chunk(0)[-1:]) == first_qid
            if start or (rows and not goes_on):
                yield new(part(gathered([*rows, previous.slice(0, start)])))
                rows = []
            rows.append(previous.slice(start))
        previous = table
    if previous is not None:
        table = gathered([*rows, previous])
        if source.report.unfinished:
            warn_cut(source, table)
        yield new(part(table))


def tags_of(table: pa.Table) -> tuple[str, ...]:
    """Return the distinct tags, the first thousand of them."""
    return tuple(map(decoded, as_bytes(unique(column(table["tag"]))[:MANY_TAGS])))


def _start_of_last_query(qids: pa.Array) -> int:
    differs = ~equal(qids, qids[-1])
    return int(len(qids) - differs[::-1].argmax()) if differs.any() else 0


def _warn_extra(source: Source) -> None:
    """Warn of lines with fields after the tag; the file is read again for their number."""
    head = source.n_comments
    longer = (
        numbered
        for numbered in source.lines()
        if numbered[0] > head and len(numbered[1].split(None, 6)) > 6
    )
    line, text = next(longer, (0, b""))
    n = 1 + sum(1 for _ in longer)
    message = f"more than 6 fields in {counted(n, 'line')}"
    warn(source, message, "extra-fields", n, line, (decoded(text).strip(),))


def warn_cut(source: Source, table: pa.Table) -> None:
    """Warn if the last line has no end and its tag is a piece of the tag before it."""
    tags = as_bytes(column(table["tag"][-2:]))
    if len(tags) == 2 and tags[0] != tags[1] and tags[0].startswith(tags[1]):
        before, cut = map(decoded, tags)
        warn_cut_line(source, f"its tag is '{cut}' instead of '{before}'")


def warn_ranks(source: Source, layout: Layout = RUN, reverse: str = REVERSE) -> None:
    """Warn if ranks contradict scores in the pieces of a run that are kept.

    `reverse` is what to do if the lowest score is best.
    """
    text = source.report.sample
    if source.n_comments:
        text, _ = without_first_lines(text, source.n_comments)
    try:
        rows, _ = read_block(text, replace(layout, also=("rank",)))
        rank = to_numpy(cast(rows["rank"], pa.int64()))
    except (Refused, pa.ArrowInvalid):
        return
    qids, score = column(rows["qid"]), to_numpy(rows["score"])
    score = -score if source.ascending else score
    order = np.lexsort((rank, hash_strings(qids)))
    qids, rank, score = take(qids, order), rank[order], score[order]
    later = equal(qids[1:], qids[:-1]) & (rank[1:] > rank[:-1])
    higher = np.flatnonzero(later & (score[1:] > score[:-1]))
    if not higher.size:
        return
    first_row = np.maximum(order[higher], order[higher + 1]).min(keepdims=True)
    names = [*bytes_at(column(rows["qid"]), first_row), *bytes_at(column(rows["docno"]), first_row)]
    docno_at = layout.fields.index("docno")
    place = first_line(source, lambda fields: [*fields[0 : docno_at + 1 : docno_at]] == names)
    is_whole = source.report.is_whole
    message = (
        f"{higher.size:,} of {rank.size:,} rows{'' if is_whole else ' checked'} have a higher "
        "score than the rank before"
    )
    fix = ""
    if 2 * higher.size > np.count_nonzero(later):
        fix = "write ranks and scores that agree"
        fix += f"; if the lowest score is best, {reverse}"
        if source.ascending:
            fix = "take --lower-is-better out; in a config each run has its own order"
    warn(
        *(source, message, "ranks-against-scores", higher.size, *place),
        at_least=not is_whole,
        fix=fix,
    )


def read_msmarco(source: Source, *, duplicates: Duplicates, name: str, **settings: Any) -> Run:
    """Read a ranking of qid, docno and rank; the score of rank r is -r."""
    table = gathered(read_columns(source, MSMARCO))
    source.has_ranks = True
    return build_table(Run, source, MSMARCO, table, -to_numpy(table["rank"]), duplicates, name)


def read_ranking(source: Source, *, duplicates: Duplicates, name: str, **settings: Any) -> Run:
    """Read a ranking of qid, docno, rank and score; the scores decide."""
    table = gathered(read_columns(source, RANKING))
    run = build_table(Run, source, RANKING, table, to_numpy(table["score"]), duplicates, name)
    warn_ranks(source, RANKING)
    return run


def has_ranks(head: Head, kind: Kind) -> bool:
    """Whether the third column counts the rows of each query, from 0 or 1, below its docnos.

    Numbers from 0 may be grades if no query has three rows, and a constant second column is the
    iteration of qrels.
    """
    if not has_no_names(head, kind):
        return False
    fields = (line.split(None, 4) for line in head.lines)
    rows = [row[:3] for row in fields if len(row) > 2 and _RANK.fullmatch(row[2])]
    if not rows or (first_rank := int(rows[0][2])) > 1:
        return False
    pairs, docnos = [*pairwise(rows)], {docno.upper() for _, docno, _ in rows}
    if len(docnos) == 1 and (pairs or not docnos.isdisjoint({b"0", b"Q0"})):
        return False
    longest = 1 - first_rank + max(int(rank) for _, _, rank in rows)
    if longest < (3 if first_rank == 0 else min(len(rows), 2)) and len(head.lines[0].split()) == 3:
        return False
    return not pairs or mostly(pairs, lambda pair: int(pair[1][2]) == _next_rank(*pair, first_rank))


def _next_rank(before: list[bytes], row: list[bytes], first_rank: int) -> int:
    """Return the rank that a row should have after another."""
    return int(before[2]) + 1 if row[0] == before[0] else first_rank


def has_no_names(head: Head, kind: Kind) -> bool:
    """Whether a first line of names is absent, or one between blanks names TREC's own columns."""
    fields = fields_of(head.lines[0])
    roles = guess(fields, kind)
    number = "grade" if kind == "qrels" else "score"
    if not {"qid", "docno", number} <= roles.keys() or any(map(is_like_number, fields)):
        return True
    return not head.between and fields.index(roles["docno"]) == FIELDS[kind].index("docno")


def read_pairs(source: Source, *, duplicates: Duplicates, name: str) -> Qrels:
    """Read the relevant documents, a qid and a docno a line; their grade is 1."""
    head = Head(source.suffix, source.head)
    layout = replace(PAIRS, between=head.between if head.lines else "")
    return read_judgements(layout, source, duplicates=duplicates, name=name)


def has_pairs(head: Head, kind: Kind) -> bool:
    """Whether lines are a qid and a docno without names above; numbers may be grades as well."""
    if {"qid", "docno"} <= guess(head.fields[0], kind).keys():
        return False
    return mostly(head.fields, lambda pair: len(pair) == 2 and _is_docno(pair[1]))


def _is_docno(text: str) -> bool:
    if text.isascii() and text.isdigit():
        return int(text[:LOOK]) >= _NO_GRADE
    is_word = len(text.split()) == 1 and not text.startswith("qid:")
    return is_word and not is_like_number(text)


def read_diversity(source: Source, *, duplicates: Duplicates, name: str, **settings: Any) -> Qrels:
    """Read judgements of documents by subtopic; a document's grade is its largest.

    Rows of a query come by falling docno, the order in which ndeval settles ties.
    """
    table = gathered(read_columns(source, DIVERSITY))
    qids, docnos, subtopics = (column(table[name]) for name in ("qid", "docno", "subtopic"))
    grades = Qrels.check_numbers(to_numpy(table["grade"]), source.name)
    rows = Rows(source, DIVERSITY.is_data(source))
    names = call("binary_join_element_wise", [docnos, subtopics, " "])
    judged = build(Qrels, rows, qids, names, grades, duplicates, name, KEEP_ONE)
    judged_rows = np.arange(judged.n_rows) if judged.order is None else judged.order
    docnos, document = encode(take(docnos, judged_rows))
    _, subtopic = encode(take(subtopics, judged_rows))
    order = np.lexsort((-byte_ranks(docnos)[document], judged.row))
    columns = judged.row, document, subtopic, judged.grades
    query, document, subtopic, grades = (values[order] for values in columns)
    begins = np.ones(order.size, dtype=bool)
    begins[1:] = (query[1:] != query[:-1]) | (document[1:] != document[:-1])
    starts = np.flatnonzero(begins)
    bits = np.where(grades >= 1, 1 << _places(source, query, subtopic, grades >= 1), 0)
    offsets = offsets_of(np.bincount(query[starts], minlength=judged.n_queries))
    first_docnos = Docnos(take(docnos, document[starts]), offsets)
    best, found_in = np.maximum.reduceat(grades, starts), np.bitwise_or.reduceat(bits, starts)
    return Qrels(judged.qids, offsets, first_docnos, best, name, subtopics=found_in)


def _places(source: Source, query: Ints, subtopic: Ints, is_relevant: Bools) -> Ints:
    """Return the number of each row's subtopic among those of its query with relevant documents."""
    keys = query * (int(subtopic.max(initial=0)) + 1) + subtopic
    pairs, place = np.unique(keys[is_relevant], return_inverse=True)
    of_query = pairs // (int(subtopic.max(initial=0)) + 1)
    offsets = offsets_of(np.bincount(of_query))
    numbers = np.arange(pairs.size) - offsets[of_query]
    if lengths_of(offsets).max(initial=0) > MOST_SUBTOPICS:
        message = f"expected at most {MOST_SUBTOPICS} subtopics of a query, got {numbers.max() + 1}"
        fix = "check the second column: it is the subtopic"
        raise InputError(Problem(source.name, message, fix=fix))
    places = np.zeros(query.size, dtype=np.int64)
    places[is_relevant] = numbers[place]
    return places


add_formats(
    Format(
        name="trec",
        about="TREC qrels (qid 0 docno grade) and runs (qid Q0 docno rank score tag)",
        suffixes=(".txt", ".qrels", ".qrel", ".run", ".trec", ".res"),
        rows={
            "qrels": re.compile(rb"\s*(\S+\s+){3}%b\s*$" % LIKE_NUMBER),
            "run": re.compile(rb"\s*((\S+\s+){4}%b\s+\S|\S+\s+(?i:q0)(\s+\S+){4})" % LIKE_NUMBER),
        },
        looks=has_no_names,
        qrels=partial(read_judgements, QRELS),
        run=read_run,
        stream=stream_run,
        is_data=RUN.is_data,
    ),
    Format(
        name="msmarco",
        about="MS MARCO run (qid docno rank; the score is -rank), and TREC qrels",
        suffixes=(".tsv", ".txt"),
        looks=has_ranks,
        rows={"run": re.compile(rb"\s*\S+\s+\S+\s+\d+\s*$")},
        qrels=partial(read_judgements, QRELS),
        run=read_msmarco,
        is_data=MSMARCO.is_data,
    ),
    Format(
        name="ranking",
        about="ColBERT ranking (qid docno rank score)",
        suffixes=(".tsv",),
        looks=has_ranks,
        rows={"run": re.compile(rb"\s*\S+\s+\S+\s+\d+\s+%b\s*$" % LIKE_NUMBER)},
        run=read_ranking,
        is_data=RANKING.is_data,
    ),
    Format(
        name="beir",
        about="BEIR qrels, tab-separated below the header query-id, corpus-id, score",
        suffixes=(".tsv",),
        first=re.compile(rb"\s*" + rb"\s+".join(map(str.encode, BEIR_NAMES)) + rb"\s*(\n|$)"),
        qrels=partial(read_judgements, BEIR),
        is_data=BEIR.is_data,
    ),
    Format(
        name="pairs",
        about="relevant documents, one on each line (qid docno), all with grade 1",
        suffixes=(".tsv", ".txt", ".csv"),
        first=re.compile(rb"[^{[]"),
        looks=has_pairs,
        qrels=read_pairs,
        is_data=PAIRS.is_data,
    ),
    Format(
        name="diversity",
        about="TREC diversity qrels (qid subtopic docno grade). Always name this format: it is "
        "not detected",
        suffixes=(".txt", ".qrels"),
        qrels=read_diversity,
        is_data=DIVERSITY.is_data,
    ),
)
