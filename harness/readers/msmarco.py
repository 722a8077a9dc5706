"""MS MARCO: runs of three columns, ``qid docno rank``, without scores. Its qrels are TREC's."""

from __future__ import annotations

from ..core.policy import Duplicates
from ..core.tables import Qrels, Run
from . import trec as trec
from .build import build, gathered, warn_cut_line, warn_moved
from .columns import Layout, numbers_of, read_columns
from .format import Format, Head, Kind
from .source import Source

RUN = Layout(("qid", "docno", "rank"), ("qid", "docno"), number="rank", whole=True)


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read a ranking; the score of rank r is -r."""
    table = gathered(read_columns(source, RUN))
    qids, ranks = table["qid"][-2:].to_pylist(), numbers_of(table, "rank")[-2:].tolist()
    expected = ranks[0] + 1 if qids[0] == qids[-1] else 1
    if source.unfinished and len(ranks) == 2 and ranks[1] < expected:
        warn_cut_line(source, f"expected rank {expected:.0f}, got {ranks[1]:.0f}")
    is_data, scores = RUN.of(source).is_data, -numbers_of(table, "rank")
    run = build(Run, source, table, scores, is_data, duplicates=duplicates, name=name)
    warn_moved(source, run, duplicates, is_data)
    return run


def looks(head: Head, kind: Kind) -> bool:
    """Whether there are three columns, the last of them a rank that counts from 1."""
    fields = head.fields
    if kind == "qrels" or not head.mostly(fields, lambda f: len(f) == 3 and f[2].isdigit()):
        return False
    return [f[2:3] for f in fields[:2]] == [[str(rank)] for rank in (1, 2)[: len(fields)]]


FORMAT = Format(
    name="msmarco",
    about="MS MARCO: run of qid docno rank (score = -rank); qrels as TREC's",
    suffixes=(".tsv", ".txt"),
    looks=looks,
    qrels=trec.read_qrels,
    run=read_run,
    is_data=lambda source: RUN.of(source).is_data,
)
