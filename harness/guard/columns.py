"""Rules about swapped columns of a TREC run: ranks and scores, qids and docnos."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from ..config.cells import Cell
from ..core.arrow import cast, equal, index_in, select, string_column, to_numpy, unique
from ..core.hashing import hash_strings
from ..core.ragged import Array, Bools
from ..core.tables import Qrels
from ..errors import Finding, HarnessError
from ..readers import trec as trec
from ..readers.columns import Refused, numbers_of, read_block
from ..readers.source import Source
from .examples import Examples, MakeFinding, short, texts_at
from .registry import RULES, SHOWN, finding
from .spelling import of_qids, shown, spread

if TYPE_CHECKING:
    from .facts import Facts, RunFacts

_WITH_RANKS = replace(trec.RUN, also=("rank",))
FIRST = 20
"""Lines of a run that are checked first: few systems have whole numbers as scores."""
NEARLY_ALL = 0.99
"""Share of the rows whose score is their rank from which on scores are ranks."""
AT_LEAST = 20
"""Rows below which the scores 1, 2, 3 may be a system's own."""


class RankFacts(NamedTuple):
    """Of a run whose scores are ranks."""

    same: int
    """Rows whose score is their rank."""
    n: int
    """Rows looked at."""
    falls: bool = False
    """Whether most scores fall down the file."""
    swapped: bool = False
    """Whether ranks and scores are in each other's column."""


@np.errstate(over="ignore")
def rank_facts(score: Array, rank: Array | None, follows: Bools) -> RankFacts | None:
    """Return how many scores are ranks; None if they are a system's own.

    `rank` is None if some are not numbers; `follows`, ``(n - 1,)``, tells whether a row is of the
    same query as the one before.
    """
    steps, n = np.diff(score)[follows], int(follows.sum())
    if n < AT_LEAST or score.min() == score.max():
        return None
    same, falls = int((steps == 1).sum()), bool(2 * (steps < 0).sum() > n)
    if rank is not None:
        drops, are_whole = np.diff(rank)[follows], (rank == np.trunc(rank)).all()
        down = (drops <= 0).sum() >= NEARLY_ALL * n
        rather = 2 * (drops < 0).sum() > n and (drops != -1).any()
        if same >= NEARLY_ALL * n and down and (rather or not are_whole):
            return RankFacts(same, n, swapped=True)
        if are_whole:
            n, same = rank.size, int((score == rank).sum())
    return RankFacts(same, n, falls) if same >= NEARLY_ALL * n else None


def may_be_ranks(source: Source) -> bool:
    """Whether all scores of the first lines are whole numbers, if it is a TREC run."""
    pieces = source.sample.pieces
    lines = pieces[0].split(b"\n", FIRST)[:FIRST] if pieces else []
    try:
        whole = all(float(line.split()[4]).is_integer() for line in lines if line.strip())
    except (ValueError, IndexError):
        return False
    return bool(lines) and whole


def with_ranks(facts: RunFacts, source: Source) -> RunFacts:
    """Return facts with how many scores of a TREC run are ranks, by the pieces that were kept."""
    if not may_be_ranks(source):
        return facts
    try:
        rows = read_block(b"".join(source.sample.pieces), _WITH_RANKS)
    except Refused:
        return facts
    qids, score = rows["qid"].combine_chunks(), numbers_of(rows, "score")
    try:
        rank: Array | None = to_numpy(cast(cast(rows["rank"], pa.string()), pa.float64()))
    except pa.ArrowInvalid:
        rank = None
    finite = rank is not None and np.isfinite(rank).all()
    found = rank_facts(score, rank if finite else None, equal(qids[1:], qids[:-1]))
    if found is None:
        return facts
    some = np.arange(SHOWN)
    columns = [texts_at(rows[name].combine_chunks(), some) for name in ("qid", "docno", "rank")]
    names = tuple(
        f"query {qid}, document {docno}: rank {rank}, score {own:g}"
        for qid, docno, rank, own in zip(*columns, score[some].tolist(), strict=True)
    )
    rule = "swapped-columns" if found.swapped else "rank-as-score"
    first = {**facts.first, rule: Examples(names, 0, (columns[0][0], columns[1][0]))}
    return replace(facts, ranks=found, first=first)


def findings(facts: Facts, make: MakeFinding) -> Iterator[Finding]:
    """Yield that scores are ranks, or that columns are swapped."""
    ranks, order = facts.run.ranks, facts.run.order
    if order.whole_scores:
        listed = ", ".join(f"{one:g}" for one in order.whole_scores)
        what = (
            f"the predictions are whole numbers ({listed}); the grades have "
            f"{order.different_grades:,} different fractions"
        )
        yield make("swapped-columns", what, facts.run.queries.rows)
    if ranks is None:
        return
    what = f"the score equals the rank in {ranks.same:,} of {ranks.n:,} rows checked"
    if ranks.swapped:
        what = "the score is in column 4 and the rank in column 5"
        effect, fix = RULES["rank-as-score"].effect, "write qid Q0 docno rank score tag"
        yield make("swapped-columns", what, ranks.same, None, effect, fix)
    elif ranks.falls:  # n, ..., 2, 1: perhaps the ranks are wrong, and not the scores
        effect = "if rank 1 is the best, the order is upside down"
        fix = "number the ranks from 1 for the best, or write a score that falls with the rank"
        what += " and falls down the file"
        yield make("rank-as-score", what, ranks.same, "warning", effect, fix)
    else:
        yield make("rank-as-score", what, ranks.same)


def explain_no_common_query(
    cell: Cell, qrels: Qrels | None, datasets: Mapping[str, pa.Array]
) -> Finding | None:
    """Return why a TREC run shares no query with its qrels, as far as pieces of it show.

    Its qids and docnos are swapped, its qids are spelled otherwise, or it answers another one of
    the `datasets` (their qids by file).
    """
    place, name = cell.run_entry.path, cell.dataset
    try:
        source = Source(place)
        for _ in source.blocks():
            pass
        rows = read_block(b"".join(source.sample.pieces), trec.RUN)
    except (HarnessError, Refused):
        return None
    qids, docnos = (unique(rows[name].combine_chunks()) for name in ("qid", "docno"))
    alone = f"no query is in {short(name)}"
    if qrels is not None and not (qrels.place(qids) >= 0).any():
        as_qids = select(docnos, qrels.place(docnos) >= 0)
        as_docnos = select(qids, qrels.knows(hash_strings(cast(qids, pa.string()))))
        half = 2 * len(as_qids) >= len(docnos) or 2 * len(as_docnos) >= len(qids)
        if len(as_qids) and len(as_docnos) and half:
            what = (
                f"{len(as_qids):,} of {len(docnos):,} docnos are qids in {short(name)}, and "
                f"{len(as_docnos):,} of {len(qids):,} qids are docnos there"
            )
            effect, some = RULES["no-common-query"].effect, as_qids[:SHOWN].to_pylist()
            return finding("swapped-columns", place, what, len(as_qids), some, effect=effect)
        names = texts_at(qids, np.arange(len(qids)))
        known = of_qids(
            names, lambda some: qrels.place(string_column(some)) >= 0, qrels.n_queries,
            texts_at(qrels.qids, spread(qrels.n_queries)),
        )  # fmt: skip
        if known is not None:
            way, known_as = known
            examples = [shown(names[at], one) for at, one in [*known_as.items()][:SHOWN]]
            what = f"{alone}; {len(known_as):,} of {len(qids):,} differ only in {way}"
            fix = RULES["qid-spelling"].fix
            return finding("no-common-query", place, what, len(known_as), examples, fix=fix)
    wide = cast(qids, pa.large_string())
    for path, theirs in datasets.items():
        n = int((index_in(wide, cast(theirs, pa.large_string())) >= 0).sum())
        if path != cell.dataset_entry.path and 2 * n >= len(qids):
            what = f"{alone}; {n:,} of {len(qids):,} are in {short(path)}"
            return finding("no-common-query", place, what, n, fix=f"give the run of {name}")
    return None
