"""Columns of a TREC run that have changed places: ranks and scores, queries and documents."""

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
from ..errors import Finding, HarnessError, Severity
from ..readers import trec as trec
from ..readers.columns import Refused, numbers_of, read_block
from ..readers.source import Source
from .parts import EXAMPLES, First, texts, texts_at
from .registry import RULES, finding
from .spelling import of_qids, shown, spread

if TYPE_CHECKING:
    from .facts import RunFacts

_WITH_RANKS = replace(trec.RUN, also=("rank",))
FIRST = 20
"""Lines of a run whose scores are looked at first: few systems' are whole numbers."""
NEARLY_ALL = 0.99
"""Share of the rows whose score is their rank, from which on it is none of its own."""
MOSTLY = 0.5
"""Share of the rows in which numbers count 1, 2, 3, ..., next to others that fall, from which
on they are ranks, as tied documents may be in any order."""
AT_LEAST = 20
"""Rows below which the scores 1, 2, 3 may be a system's own."""


class RankScores(NamedTuple):
    """How many scores are ranks.

    `same` of `n` rows; `falls`: most scores fall down the file; `named`: compared with the rank
    written, and not with the place in the file; `whole`: all rows were looked at; `differ`:
    some scores do; `swapped`: ranks and scores are in each other's column.
    """

    same: int
    n: int
    falls: bool
    named: bool
    whole: bool
    differ: bool
    swapped: bool = False

    @classmethod
    @np.errstate(over="ignore")
    def of(cls, score: Array, rank: Array | None, follows: Bools, whole: bool) -> RankScores:
        """Return it of some rows.

        Parameters
        ----------
        score : ndarray of float64, shape (n,)
        rank : ndarray of float64, shape (n,), optional
            None if some are not numbers.
        follows : ndarray of bool, shape (n - 1,)
            Whether a row is of the same query as the one before.
        whole : bool

        >>> own = np.array([2.0, 1.0, 2.0, 1.0])
        >>> RankScores.of(own, own, np.array([True, False, True]), True).falls
        True
        """
        step = np.diff(score)
        n, same = int(follows.sum()), int((follows & (step == 1)).sum())
        falls = bool(2 * (follows & (step < 0)).sum() > n)
        differ = bool(score.min() < score.max())
        if rank is not None and _are_swapped(score, rank, follows):
            return cls(same, n, False, False, whole, differ, True)
        if rank is not None and (rank == np.trunc(rank)).all():
            n, same = rank.size, int((score == rank).sum())
            return cls(same, n, falls, True, whole, differ)
        return cls(same, n, falls, False, whole, differ)

    @property
    def are_ranks(self) -> bool:
        """Whether nearly all scores are ranks, or have changed places with them."""
        nearly_all = self.swapped or self.same >= NEARLY_ALL * self.n
        return self.n >= AT_LEAST and nearly_all and self.differ

    @property
    def rule(self) -> str:
        """The rule of its finding."""
        return "swapped-columns" if self.swapped else "rank-as-score"

    def findings(self, place: str, first: First) -> Iterator[Finding]:
        """Yield what is wrong with the run at `place`; `first` are rows whose score is the rank."""
        if not self.are_ranks:
            return
        part = "" if self.whole else " looked at"
        what = f"the score is the rank in {self.same:,} of {self.n:,} rows{part}"
        if not self.named:
            places = f"{self.same:,} of {self.n:,} rows{part}"
            what = f"the scores are 1, 2, 3, ... in {places} after the first"
        severity: Severity | None = None
        effect = fix = ""
        if self.swapped:
            what += (
                ", and the ranks are numbers that fall: the score stands in column 4 and the rank "
                "in column 5"
            )
            effect, fix = RULES["rank-as-score"].effect, "write qid Q0 docno rank score tag"
        elif self.falls:  # n, ..., 2, 1: it may be the scores that are right, and the ranks not
            what, severity = f"{what}, and falls down the file", "warning"
            effect = "where rank 1 is the best, the order is upside down"
            fix = (
                "number the ranks from 1 for the best; where they are so, write a score that "
                "falls with the rank"
            )
        found = finding(
            self.rule, first.at(place), what, self.same, first.names, severity, effect, fix
        )
        yield replace(found, at_least=not self.whole)


def _are_swapped(score: Array, rank: Array, follows: Bools) -> bool:
    """Whether ranks and scores stand in each other's columns.

    Scores count 1, 2, 3, ... and ranks fall beside them: mostly where these are fractions; nearly
    always, and not one by one, where they are whole.
    """
    n, steps, falls = int(follows.sum()), np.diff(score)[follows], np.diff(rank)[follows]
    if (score != np.trunc(score)).any() or not n:
        return False
    counts, down = (steps == 1).sum() / n, (falls <= 0).sum() / n
    if (rank != np.trunc(rank)).any():
        return bool(counts > MOSTLY and down >= NEARLY_ALL)
    rather = (falls < 0).sum() / n > MOSTLY and (falls != -1).any()
    return bool(min(counts, down) >= NEARLY_ALL and rather)


def may_be_ranks(source: Source) -> bool:
    """Whether all scores of the first lines are whole numbers, as ranks are, if it is a TREC run.

    Told in no time, before its format is.
    """
    pieces = source.sample.pieces
    lines = pieces[0].split(b"\n", FIRST)[:FIRST] if pieces else []
    try:
        whole = all(float(line.split()[4]).is_integer() for line in lines if line.strip())
    except (ValueError, IndexError):
        return False
    return bool(lines) and whole


def with_ranks(facts: RunFacts, source: Source) -> RunFacts:
    """Return facts with how many scores of a TREC run that was read are ranks, if they are.

    Looks at its first lines, and at all that was kept if their scores are whole numbers.
    """
    if not may_be_ranks(source):
        return facts
    try:
        rows = read_block(b"".join(source.sample.pieces), _WITH_RANKS)
    except Refused:
        return facts
    found = _rank_scores(rows, source.sample.whole)
    if not found.are_ranks:
        return facts
    first = {**facts.first, found.rule: _first(rows.slice(0, EXAMPLES))}
    return replace(facts, ranks=found, first=first)


def _first(rows: pa.Table) -> First:
    """Return the first rows of a file, with their ranks and scores."""
    qids, docnos, ranks = (texts(rows[name].combine_chunks()) for name in ("qid", "docno", "rank"))
    scores = numbers_of(rows, "score").tolist()
    names = tuple(
        f"query {qid}, document {docno}: rank {rank}, score {score:g}"
        for qid, docno, rank, score in zip(qids, docnos, ranks, scores, strict=True)
    )
    return First(names, 0, (qids[0], docnos[0]))


def _rank_scores(rows: pa.Table, whole: bool) -> RankScores:
    qids = rows["qid"].combine_chunks()
    try:
        rank: Array | None = to_numpy(cast(cast(rows["rank"], pa.string()), pa.float64()))
    except pa.ArrowInvalid:
        rank = None
    if rank is not None and not np.isfinite(rank).all():
        rank = None
    return RankScores.of(numbers_of(rows, "score"), rank, equal(qids[1:], qids[:-1]), whole)


def stranger(cell: Cell, qrels: Qrels | None, datasets: Mapping[str, pa.Array]) -> Finding | None:
    """Return why a TREC run shares no query with its judgements, if its columns or files tell it.

    Parameters
    ----------
    cell : Cell
    qrels : Qrels, optional
        Its judgements.
    datasets : mapping of str to pyarrow string array
        Queries of the datasets of the sweep, by their files.
    """
    run, own = cell.run_entry.path, cell.dataset_entry.path
    others = {path: qids for path, qids in datasets.items() if path != own}
    found = swapped(run, qrels) or respelled_qids(run, qrels)
    return found or other_topics(run, cell.dataset, others)


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
    """Return rows of pieces of a TREC run; None if they cannot be read."""
    try:
        source = Source(path)
        for _ in source.blocks():
            pass
        return read_block(b"".join(source.sample.pieces), trec.RUN)
    except (HarnessError, Refused):
        return None
