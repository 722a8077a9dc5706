"""Columns of a TREC file that have changed places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from ..core.arrow import cast, equal, to_numpy
from ..core.tables import Qrels
from ..guard.finding import Finding
from ..guard.rank_scores import RankScores
from ..guard.registry import finding
from ..readers import Source, trec
from ..readers.columns import Refused, numbers_of, read_block

_WITH_RANKS = replace(trec.RUN, also=("rank",))
FIRST = 20
"""Lines of a run whose scores are looked at first: few systems' are whole numbers."""


def findings(source: Source, qrels: Qrels | None) -> Iterator[Finding]:
    """Yield what is wrong with the columns of a run, after it has been read.

    Parameters
    ----------
    source : Source
        A TREC run, whose pieces were kept while it was read.
    qrels : Qrels, optional
    """
    try:
        rows = read_block(b"".join(source.sample.pieces), _WITH_RANKS)
    except Refused:
        return
    yield from _rank_scores(rows, source.sample.whole).findings(source.name)
    if qrels is not None:
        yield from _qid_and_docno(source, rows, qrels)


def rank_scores(source: Source) -> RankScores | None:
    """Return how many scores of a run that was read are ranks; None where they are not.

    Looks at its first lines, and at all that was kept where their scores are whole numbers.
    """
    pieces = source.sample.pieces
    if not pieces or not _are_whole(pieces[0].split(b"\n", FIRST)[:FIRST]):
        return None
    try:
        found = _rank_scores(read_block(b"".join(pieces), _WITH_RANKS), source.sample.whole)
    except Refused:
        return None
    return found if found.are_ranks else None


def _are_whole(lines: list[bytes]) -> bool:
    """Whether all scores of some lines are whole numbers, as ranks are: read in no time."""
    try:
        return all(float(line.split()[4]).is_integer() for line in lines if line.strip())
    except (ValueError, IndexError):
        return False


def _rank_scores(rows: pa.Table, whole: bool) -> RankScores:
    qids = rows["qid"].combine_chunks()
    try:
        rank = to_numpy(cast(rows["rank"], pa.int64()))
    except pa.ArrowInvalid:  # the score may stand in its place
        rank = None
    return RankScores.of(numbers_of(rows, "score"), rank, equal(qids[1:], qids[:-1]), whole)


def _qid_and_docno(source: Source, rows: pa.Table, qrels: Qrels) -> Iterator[Finding]:
    qids, docnos = (rows[name].combine_chunks().unique() for name in ("qid", "docno"))
    if (qrels.place(qids) >= 0).any():
        return
    known = docnos.filter(pa.array(qrels.place(docnos) >= 0))
    if len(known) and 2 * len(known) >= min(len(docnos), qrels.n_queries):
        what = (
            f"the docnos are qids of {qrels.name}, and the qids are none of them: in one of the "
            "two files qid and docno have changed places"
        )
        yield finding(
            "swapped-columns", source.name, what, len(known), known.slice(0, 3).to_pylist()
        )
