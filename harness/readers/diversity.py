"""Qrels with subtopics, as in the diversity task of the TREC Web track."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arrow import encode, take
from ..core.policy import Duplicates
from ..core.ragged import Bools, Ints, lengths_of, offsets_of
from ..core.tables import Docnos, Qrels, byte_ranks
from ..errors import SHOWN, InputError, Problem
from .build import column, gathered, lines_of_rows
from .columns import Layout, numbers_of, read_columns
from .format import Format, add_formats
from .source import Source

LAYOUT = Layout(
    ("qid", "subtopic", "docno", "grade"), ("qid", "subtopic", "docno"), number="grade", whole=True
)
MOST_SUBTOPICS = 62
"""Subtopics of one query at most: each is a bit of a 64-bit number."""


def read_qrels(source: Source, *, duplicates: Duplicates, name: str, **how: Any) -> Qrels:
    """Read judgements of documents by subtopic; a document's grade is its largest.

    Rows of a query come by falling docno, the order in which ndeval settles ties.
    """
    table = gathered(read_columns(source, LAYOUT))
    grades = Qrels.check_numbers(numbers_of(table, "grade"), source.name)
    (qids, query), (docnos, document), (_, subtopic) = (
        encode(column(table[part])) for part in ("qid", "docno", "subtopic")
    )
    kept = _distinct_rows(source, (query, document, subtopic), duplicates)
    order = kept[np.lexsort((-byte_ranks(docnos)[document[kept]], query[kept]))]
    query, document, subtopic, grades = (one[order] for one in (query, document, subtopic, grades))
    begins = np.ones(order.size, dtype=bool)
    begins[1:] = (query[1:] != query[:-1]) | (document[1:] != document[:-1])
    starts = np.flatnonzero(begins)
    bits = np.where(grades >= 1, 1 << _places(source, query, subtopic, grades >= 1), 0)
    offsets = offsets_of(np.bincount(query[starts], minlength=len(qids)))
    return Qrels(
        qids, offsets, Docnos(take(docnos, document[starts]), offsets),
        np.maximum.reduceat(grades, starts), name,
        subtopics=np.bitwise_or.reduceat(bits, starts),
    )  # fmt: skip


def _distinct_rows(source: Source, keys: tuple[Ints, ...], duplicates: Duplicates) -> Ints:
    """Return the rows to keep: each query, document and subtopic once."""
    order = np.lexsort(keys)
    if duplicates == "last":
        order = np.lexsort((-np.arange(order.size), *keys))
    same = np.ones(order.size - 1, dtype=bool)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    repeated = np.sort(order[1:][same])
    if repeated.size and duplicates == "error":
        lines = lines_of_rows(source, repeated[:SHOWN], LAYOUT.of(source).is_data)
        fix = "keep one of them, or read it with duplicates: last (--duplicates last)"
        what = "expected each docno once for a query and subtopic, got it again"
        problems = [
            Problem(f"{source.name}:{line}", what, text, fix, rule="duplicates")
            for line, text in lines.values()
        ]
        raise InputError(problems, total=repeated.size)
    return np.sort(order[np.append(True, ~same)])


def _places(source: Source, query: Ints, subtopic: Ints, is_relevant: Bools) -> Ints:
    """Return the number of each row's subtopic among those of its query with relevant documents."""
    keys = query * (int(subtopic.max(initial=0)) + 1) + subtopic
    known, place = np.unique(keys[is_relevant], return_inverse=True)
    of_query = known // (int(subtopic.max(initial=0)) + 1)
    offsets = offsets_of(np.bincount(of_query))
    numbers = np.arange(known.size) - offsets[of_query]
    if lengths_of(offsets).max(initial=0) > MOST_SUBTOPICS:
        what = f"expected at most {MOST_SUBTOPICS} subtopics of a query, got {numbers.max() + 1}"
        fix = "check the second column: it is the subtopic"
        raise InputError(Problem(source.name, what, fix=fix))
    places = np.zeros(query.size, dtype=np.int64)
    places[is_relevant] = numbers[place]
    return places


add_formats(
    Format(
        name="diversity",
        about="TREC diversity qrels (qid subtopic docno grade); name this format, it is not "
        "guessed",
        suffixes=(".txt", ".qrels"),
        qrels=read_qrels,
        is_data=lambda source: LAYOUT.of(source).is_data,
    ),
)
