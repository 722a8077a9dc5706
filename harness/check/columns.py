"""Columns of a TREC file that have changed places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, equal, to_numpy
from ..core.tables import Qrels
from ..guard.finding import Finding
from ..guard.registry import finding
from ..readers import Source, trec
from ..readers.columns import Refused, numbers_of, read_block

_WITH_RANKS = replace(trec.RUN, also=("rank",))
NEARLY_ALL = 0.99
"""Share of the rows whose score is their rank, from which on it is none of its own."""
AT_LEAST = 20
"""Rows below which the scores 1, 2, 3 may be a system's own."""


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
    yield from _rank_as_score(source, rows)
    if qrels is not None:
        yield from _qid_and_docno(source, rows, qrels)


def _rank_as_score(source: Source, rows: pa.Table) -> Iterator[Finding]:
    score = numbers_of(rows, "score")
    whole = "" if source.sample.whole else " looked at"
    qids = rows["qid"].combine_chunks()
    next_ones = equal(qids[1:], qids[:-1])
    step = np.diff(score)
    falls = 2 * (next_ones & (step < 0)).sum() > next_ones.sum()
    try:
        rank = to_numpy(cast(rows["rank"], pa.int64()))
    except pa.ArrowInvalid:  # the score may stand in its place
        n, same = int(next_ones.sum()), int((next_ones & (step == 1)).sum())
        what = f"the scores are 1, 2, 3, ... in {same:,} of {n:,} rows{whole} after the first"
    else:
        n, same = rank.size, int((score == rank).sum())
        what = f"the score is the rank in {same:,} of {n:,} rows{whole}"
    if n < AT_LEAST or same < NEARLY_ALL * n or score.min() == score.max():
        return
    if falls:  # n, ..., 2, 1: it may be the scores that are right, and the ranks that are not
        yield finding(
            "rank-as-score", source.name, f"{what}, and falls down the file", same,
            severity="warning", effect="where rank 1 is the best, the order is upside down",
            fix="number the ranks from 1 for the best; where they are so, write a score that falls "
            "with the rank",
        )  # fmt: skip
    else:
        yield finding("rank-as-score", source.name, what, same)


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
