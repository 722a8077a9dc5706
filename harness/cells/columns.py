"""Columns of a TREC file that have changed places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, equal, index_in, select, string_column, to_numpy, unique
from ..core.hashing import hash_strings
from ..core.ragged import Array
from ..core.tables import Qrels
from ..errors import HarnessError
from ..guard.facts import RunFacts
from ..guard.finding import Finding
from ..guard.first import EXAMPLES, First, texts, texts_at
from ..guard.rank_scores import FIELDS, RankScores
from ..guard.registry import RULES, finding
from ..guard.spelling import of_qids, shown, spread
from ..readers import Source, trec
from ..readers.columns import Refused, numbers_of, read_block

_WITH_RANKS = replace(trec.RUN, also=("rank",))
FIRST = 20
"""Lines of a run whose scores are looked at first: few systems' are whole numbers."""


def swapped(path: str, qrels: Qrels | None) -> Finding | None:
    """Return that qids and docnos have changed places, in a TREC run or in its judgements.

    Told of a run that shares no qid with the judgements, by pieces of it: some docnos are qids of
    the judgements, some qids are their docnos, and half of either at least.
    """
    rows = pieces_of(path)
    if qrels is None or rows is None:
        return None
    qids, docnos = (unique(rows[name].combine_chunks()) for name in ("qid", "docno"))
    if (qrels.place(qids) >= 0).any():
        return None
    as_qids = select(docnos, qrels.place(docnos) >= 0)
    as_docnos = select(qids, qrels.knows(hash_strings(cast(qids, pa.string()))))
    few = min(len(as_qids), len(as_docnos)) == 0
    if few or (2 * len(as_qids) < len(docnos) and 2 * len(as_docnos) < len(qids)):
        return None
    what = (
        f"of {len(docnos):,} docnos looked at {len(as_qids):,} are qids of {qrels.name}, and of "
        f"{len(qids):,} qids {len(as_docnos):,} are its docnos: in one of the two files qid and "
        "docno have changed places"
    )
    effect, names = RULES["no-common-query"].effect, as_qids[:EXAMPLES].to_pylist()
    return finding("swapped-columns", path, what, len(as_qids), names, effect=effect)


def respelled_qids(path: str, qrels: Qrels | None) -> Finding | None:
    """Return in what the qids of a TREC run, none of which is judged, differ from those that are.

    Told by pieces of it.
    """
    rows = pieces_of(path)
    if qrels is None or rows is None:
        return None
    qids = texts(unique(rows["qid"].combine_chunks()))
    found = of_qids(
        qids,
        lambda names: qrels.place(string_column(names)) >= 0,
        qrels.n_queries,
        texts_at(qrels.qids, spread(qrels.n_queries)),
    )
    if found is None:
        return None
    way, twins = found
    are = "is" if len(twins) == 1 else "are"
    what = (
        f"no query of it is one of {qrels.name}; of {len(qids):,} looked at {len(twins):,} {are} "
        f"but for {way}"
    )
    examples = [shown(qids[at], twin) for at, twin in [*twins.items()][:EXAMPLES]]
    fix = RULES["qid-spelling"].fix
    return finding("no-common-query", path, what, len(twins), examples, fix=fix)


def other_topics(path: str, name: str, datasets: Mapping[str, pa.Array]) -> Finding | None:
    """Return which dataset's queries a TREC run answers that shares none with its own.

    Parameters
    ----------
    path, name : str
        The run's file; what its dataset is called.
    datasets : mapping of str to pyarrow string array
        Queries of the other datasets, by their names and files.
    """
    rows = pieces_of(path)
    if rows is None or not datasets:
        return None
    qids = cast(unique(rows["qid"].combine_chunks()), pa.large_string())
    shared = {
        other: int((index_in(qids, cast(theirs, pa.large_string())) >= 0).sum())
        for other, theirs in datasets.items()
    }
    best = max(shared, key=lambda other: shared[other])
    if not shared[best] or 2 * shared[best] < len(qids):
        return None
    what = (
        f"no query of it is one of {name}; of {len(qids):,} looked at {shared[best]:,} are those "
        f"of {best}"
    )
    return finding("no-common-query", path, what, shared[best], fix=f"name the run for {name}")


def pieces_of(path: str) -> pa.Table | None:
    """Return rows of pieces of a TREC run; None where they cannot be read."""
    source = _read(path)
    try:
        return source and read_block(b"".join(source.sample.pieces), trec.RUN)
    except Refused:
        return None


def _read(path: str) -> Source | None:
    """Return a file of which a sample was kept; None where it cannot be read."""
    try:
        source = Source(path)
        for _ in source.blocks():
            pass
    except HarnessError:
        return None
    return source


def may_be_ranks(source: Source) -> bool:
    """Whether all scores of the first lines are whole numbers, as ranks are, if it is a TREC run.

    Told in no time, before its format is.
    """
    pieces = source.sample.pieces
    return bool(pieces) and _are_whole(pieces[0].split(b"\n", FIRST)[:FIRST])


def with_ranks(facts: RunFacts, source: Source) -> RunFacts:
    """Return facts with how many scores of a TREC run that was read are ranks, where they are.

    Looks at its first lines, and at all that was kept where their scores are whole numbers.
    """
    if not may_be_ranks(source):
        return facts
    try:
        rows = read_block(b"".join(source.sample.pieces), _WITH_RANKS)
    except Refused:
        return facts
    found = _beyond(source) or _rank_scores(rows, source.sample.whole)
    if not found.are_ranks:
        return facts
    first = {**facts.first, found.rule: _first(rows.slice(0, EXAMPLES))}
    return replace(facts, rank_scores=tuple(found), first=first)


def blank_docnos(path: str) -> Finding | None:
    """Return that the docnos of a TREC run hold blanks, told by pieces of it.

    Of a run that is refused as one document seems to stand in it twice.
    """
    source = _read(path)
    found = _beyond(source) if source is not None and may_be_ranks(source) else None
    return None if found is None else next(found.findings(path, First()))


def _beyond(source: Source) -> RankScores | None:
    """Return ranks that stand where the score belongs, as each docno holds blanks."""
    pieces = source.sample.pieces
    if len(pieces[0].partition(b"\n")[0].split()) <= FIELDS:
        return None
    lines = [line.split() for line in b"".join(pieces).splitlines() if line.strip()]
    return RankScores.beyond(lines, source.sample.whole)


def _first(rows: pa.Table) -> First:
    """Return the first rows of a file, with their ranks and scores."""
    qids, docnos, ranks = (texts(rows[name].combine_chunks()) for name in ("qid", "docno", "rank"))
    scores = numbers_of(rows, "score").tolist()
    names = tuple(
        f"query {qid}, document {docno}: rank {rank}, score {score:g}"
        for qid, docno, rank, score in zip(qids, docnos, ranks, scores, strict=True)
    )
    return First(names, 0, (qids[0], docnos[0]))


def _are_whole(lines: list[bytes]) -> bool:
    """Whether all scores of some lines are whole numbers."""
    try:
        return all(float(line.split()[4]).is_integer() for line in lines if line.strip())
    except (ValueError, IndexError):
        return False


def _rank_scores(rows: pa.Table, whole: bool) -> RankScores:
    qids = rows["qid"].combine_chunks()
    try:
        rank: Array | None = to_numpy(cast(cast(rows["rank"], pa.string()), pa.float64()))
    except pa.ArrowInvalid:
        rank = None
    if rank is not None and not np.isfinite(rank).all():
        rank = None
    return RankScores.of(numbers_of(rows, "score"), rank, equal(qids[1:], qids[:-1]), whole)
