"""BEIR qrels: ``query-id corpus-id score`` under a header of these names; the score is a grade."""

from __future__ import annotations

from dataclasses import replace

from ..core.policy import Duplicates
from ..core.tables import Qrels
from .build import build, dropped, held, scattered, warn_dropped, warn_scattered
from .columns import Layout, numbers_of, read_columns
from .format import Format, Head, Kind
from .gathered import gathered
from .source import Source

_HEADER = ["query-id", "corpus-id", "score"]
QRELS = Layout(("qid", "docno", "grade"), ("qid", "docno"), number="grade", whole=True, header=1)


def read_qrels(
    source: Source, *, duplicates: Duplicates, name: str, fractions: bool = False
) -> Qrels:
    """Read judgements; the first line is the header."""
    table = gathered(read_columns(source, replace(QRELS, whole=not fractions)))
    grades = Qrels.check_numbers(numbers_of(table, "grade"), source.name, fractions=fractions)
    columns = held(table, grades)
    del table, grades  # as large as what is made of them
    read = build(Qrels, source, columns, QRELS.is_data, duplicates=duplicates, name=name)
    warn_scattered(source, scattered(read), QRELS.is_data)
    warn_dropped(source, dropped(read), duplicates, QRELS.is_data)
    return read


def looks(head: Head, kind: Kind) -> bool:
    """Whether the first line is BEIR's header."""
    return kind == "qrels" and head.fields[:1] == [_HEADER]


FORMAT = Format(
    name="beir",
    about="BEIR qrels (query-id corpus-id score, tab-separated, with that header)",
    suffixes=(".tsv",),
    looks=looks,
    qrels=read_qrels,
    is_data=lambda source: QRELS.is_data,
)
