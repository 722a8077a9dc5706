"""BEIR qrels: ``query-id corpus-id score`` under a header of these names; the score is a grade."""

from __future__ import annotations

from ..core.policy import Duplicates
from ..core.tables import Qrels
from .columns import Layout, read_judgements
from .format import Format, Head, Kind
from .source import Source

HEADER = ["query-id", "corpus-id", "score"]
QRELS = Layout(("qid", "docno", "grade"), ("qid", "docno"), number="grade", whole=True, header=1)


def read_qrels(
    source: Source, *, duplicates: Duplicates, name: str, fractions: bool = False
) -> Qrels:
    """Read judgements; the first line after comments is the header."""
    return read_judgements(source, QRELS, duplicates, name, fractions=fractions)


def looks(head: Head, kind: Kind) -> bool:
    """Whether the first line is BEIR's header."""
    return kind == "qrels" and head.fields[:1] == [HEADER]


FORMAT = Format(
    name="beir",
    about="BEIR qrels (query-id corpus-id score, tab-separated, with that header)",
    suffixes=(".tsv",),
    looks=looks,
    qrels=read_qrels,
    is_data=lambda source: QRELS.of(source).is_data,
)
