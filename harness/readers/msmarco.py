"""MS MARCO: runs of three columns, ``qid docno rank``, without scores. Its qrels are TREC's."""

from __future__ import annotations

import pyarrow as pa

from ..core.arrow import to_arrow
from ..core.policy import Duplicates
from ..core.tables import Qrels, Run
from . import trec
from .build import build, dropped, held, scattered, warn, warn_dropped, warn_scattered
from .columns import Layout, numbers_of, read_columns
from .format import Format, Head, Kind
from .gathered import gathered
from .lines import last_line
from .source import Source

RUN = Layout(("qid", "docno", "rank"), ("qid", "docno"), number="rank", whole=True)


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read a ranking; the score of rank r is -r."""
    table = gathered(map(_scored, read_columns(source, RUN)))
    _warn_cut(source, table)
    columns = held(table, numbers_of(table, "score"))
    del table  # as large as what is made of it
    read = build(Run, source, columns, RUN.is_data, duplicates=duplicates, name=name)
    warn_scattered(source, scattered(read), RUN.is_data)
    warn_dropped(source, dropped(read), duplicates, RUN.is_data)
    return read


def _scored(table: pa.Table) -> pa.Table:
    """Return rows with scores in place of ranks; those of all would be there beside the ranks."""
    scores = to_arrow(-numbers_of(table, "rank"))
    return pa.table({"qid": table["qid"], "docno": table["docno"], "score": scores})


def _warn_cut(source: Source, table: pa.Table) -> None:
    """Warn where the last line has no end and its rank does not follow the one before."""
    qids, ranks = table["qid"][-2:].to_pylist(), (-numbers_of(table, "score")[-2:]).tolist()
    expected = ranks[0] + 1 if qids[0] == qids[-1] else 1
    if source.unfinished and len(ranks) == 2 and ranks[1] < expected:
        warn(
            source,
            f"the last line may be cut: it has no line end, and rank {ranks[1]:.0f} stands where "
            f"{expected:.0f} belongs",
            "cut-line",
            line=last_line(source),
            examples=(source.unfinished.decode("utf-8", "replace"),),
        )


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
    is_data=lambda source: RUN.is_data,
)
