"""Rules about the scores of a run: tied, labels or ranks in their place, or upside down."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..core.align import Ties, by_score
from ..core.aligned import Aligned
from ..core.arrow import cast, equal, to_numpy
from ..core.policy import Policy, ScoreType
from ..core.qrels_and_runs import Run
from ..core.ragged import Array, Bools, Floats, Ints, lengths_of
from ..core.rules import RULES, SHOWN
from ..errors import Finding, counted
from ..readers import trec as trec
from ..readers.columns import Refused, read_block
from ..readers.source import Source
from .documents import Queries
from .findings import Examples, ExamplesByRule, RunPart, by_share, docnos_at, percent, texts_at

SOME = 0.001
"""Share of tied pairs that scores of a few digits reach by chance."""
MANY_ROWS = 0.01
"""Share of rows that are equal in single precision alone, from which on that is a warning."""
ENOUGH_QUERIES = 10
"""Queries below which their spread says little."""
CHANCE, BEHIND = 0.5, 0.4
"""Share of pairs in order by chance; share below which a run is upside down instead of bad."""
CLEAR, APART = 6.0, 5.0
"""Standard errors below chance within queries, and of what differs between queries."""
MOST = 32
"""Largest number of grades that may each have one score: any order maps distinct grades."""
OTHERS = 10
"""Documents that repeat a grade other than the commonest: with fewer, a map may be chance."""
NOISY = 0.97
"""Rank correlation from which on scores are labels with noise: real models reach 0.2 to 0.8."""
ENOUGH_ROWS = 200
"""Rows from which on that is no chance."""
CLASSES, ROWS_OF_CLASSES = 10, 100
"""Whole numbers that classes are, at most; rows from which on so few of them tell."""
RULES_OF_LABELS = ("labels-as-scores", "noisy-labels", "classes-as-scores")
"""Rules about labels or classes in place of scores."""
_WITH_RANKS = replace(trec.RUN, also=("rank",))
FIRST_LINES = 20
"""Lines of a run that are checked first: few systems have whole numbers as scores."""
NEARLY_ALL = 0.99
"""Smallest share of rows with their rank as score for which scores count as ranks."""
AT_LEAST = 20
"""Rows below which the scores 1, 2, 3 may be a system's own."""


class Scores:
    """Sums up the scores of a run, part by part."""

    def __init__(self, policy: Policy, examples: ExamplesByRule) -> None:
        self.policy, self.examples = policy, examples
        self.single = policy.score_type == "float32"
        self.several = self.constant = 0
        """Numbers of queries with two documents or more, and of these with equal scores."""
        self.pairs = self.tied = 0
        """Pairs of documents of one judged query, and of one score if others differ."""
        self.documents = self.n_tied = 0
        """Documents of judged queries, and of these with the score of another of their query."""
        self.merged = 0
        """Rows that single precision gives the score of their neighbour, though they differ."""
        self.classes: set[float] | None = set()
        """The scores of rows, as long as they are few whole numbers."""

    def run(self, part: RunPart) -> None:
        """Look at a part as it was read."""
        low, high = part.run.extremes
        answered = part.lengths > 0
        several = part.lengths[answered] > 1
        constant = (low == high) & several
        self.several += int(several.sum())
        self.constant += int(constant.sum())
        if constant.any() and self.examples.wants("constant-scores"):
            self.examples.add("constant-scores", part.queries(np.flatnonzero(answered)[constant]))
        if not part.follows and self.single:
            self.merged += self._name_ties(part)
        scores = part.run.scores
        is_few = self.classes is not None and part.follows and (scores == np.trunc(scores)).all()
        classes = (self.classes or set()) | {*np.unique(scores).tolist()} if is_few else set()
        self.classes = classes if 0 < len(classes) <= CLASSES else None

    def _name_ties(self, part: RunPart) -> int:
        """Keep examples of tied pairs; count those that only single precision ties."""
        kind: ScoreType = "float32" if self.single else "float64"
        order, ties = by_score(part.run, [kind])[kind]
        if not ties.starts.size:
            return 0
        rows, neighbours = equal_neighbours(part.run, order, ties)
        differ = part.run.scores[rows] != part.run.scores[neighbours]
        if self.examples.wants("score-ties"):
            self.examples.add("score-ties", _tied_pairs(part, rows, neighbours))
        if self.examples.wants("single-precision"):
            pairs = _tied_pairs(part, rows[differ], neighbours[differ])
            self.examples.add("single-precision", pairs)
        return int(differ.sum())

    def aligned(self, aligned: Aligned, part: RunPart) -> None:
        """Check an aligned part; `part` has its rows in the file, or the first of them."""
        n = aligned.n_retrieved
        self.pairs += int((n * (n - 1)).sum()) // 2
        self.documents += int(n.sum())
        self.n_tied += int(aligned.n_tied.sum())
        if self.policy.score_type == "none" or not aligned.n_tied.any():
            return
        if "score-ties" not in self.examples:
            self._name_ties(part)
        if aligned.groups is not None:
            offsets, ranks = aligned.groups.offsets, aligned.groups.values
            firsts, lasts = ranks[:, 0], ranks[:, 1]
            if (depth := self.policy.alignment.depth) is not None:
                lasts = np.minimum(lasts, depth)
        else:
            is_tied = aligned.tie_last > aligned.tie_first
            heads = np.flatnonzero(is_tied & (aligned.rank == aligned.tie_first))
            offsets = np.searchsorted(heads, aligned.offsets)
            firsts, lasts = aligned.tie_first[heads], aligned.tie_last[heads]
            if part.follows and self.single:
                rows = np.flatnonzero(aligned.rank > aligned.tie_first)
                self.merged += int((aligned.score[rows] != aligned.score[rows - 1]).sum())
        sizes = np.maximum(lasts - firsts + 1, 0)
        sizes = sizes[sizes < np.repeat(n, lengths_of(offsets))]
        self.tied += int((sizes * (sizes - 1)).sum()) // 2

    def findings(self, n_rows: int) -> Iterator[Finding]:
        """Yield findings about equal scores; the run has `n_rows`."""
        if n := self.constant:
            queries = counted(self.several, "query", "queries")
            message = f"all scores are equal in {n:,} of {queries}"
            yield self.examples.finding("constant-scores", message, n, by_share(n, self.several))
        n_classes = len(self.classes or ())
        if n_classes > 1 and n_rows >= max(ROWS_OF_CLASSES, 1 + n_classes * self.several):
            listed = ", ".join(f"{number:g}" for number in sorted(self.classes or ()))
            message = f"the scores are {n_classes} whole numbers: {listed}"
            yield self.examples.finding("classes-as-scores", message, n_rows)
        if self.tied > SOME * self.pairs:
            message = f"{self.n_tied:,} of {counted(self.documents, 'document')} share their score "
            message += f"with another of their query ({percent(self.tied, self.pairs)} of pairs"
            message += ", in single precision)" if self.single else ")"
            severity = by_share(self.tied, self.pairs)
            yield self.examples.finding("score-ties", message, self.tied, severity)
        if n := self.merged:
            message = f"{n:,} of {counted(n_rows, 'row')} equal the one ranked before in single "
            message += "precision"
            severity = by_share(n, n_rows, MANY_ROWS)
            yield self.examples.finding("single-precision", message, n, severity)


def equal_neighbours(run: Run, order: Ints | None, ties: Ties) -> tuple[Ints, Ints]:
    """Return neighbours in the ranking of a query with equal scores."""
    rows = ties.places if order is None else order[ties.places]
    group = np.repeat(np.arange(ties.starts.size), ties.sizes)
    rows = rows[np.lexsort((rows, -run.scores[rows], group))]
    follows = group[1:] == group[:-1]
    return rows[:-1][follows], rows[1:][follows]


def _tied_pairs(part: RunPart, rows: Ints, neighbours: Ints) -> Examples:
    """Return pairs of documents of one query, at the first of them, with their scores."""
    rows, neighbours = rows[:SHOWN], neighbours[:SHOWN]
    docnos = (docnos_at(part.run.docnos, positions) for positions in (rows, neighbours))
    scores = zip(part.run.scores[rows].tolist(), part.run.scores[neighbours].tolist(), strict=True)
    qids = texts_at(part.run.qids, part.query(rows))
    names = (
        f"query {qid}, documents {docno} and {neighbour}: "
        + " and ".join(map(repr, dict.fromkeys(two)))
        for qid, docno, neighbour, two in zip(qids, *docnos, scores, strict=True)
    )
    return part.documents(rows)._replace(names=tuple(names))


class Labels:
    """Sums up how scores follow grades, part by part."""

    def __init__(self, examples: ExamplesByRule) -> None:
        self.examples, self.judged = examples, 0
        self.counts: Counter[float] = Counter()
        self.scores: dict[float, float] | None = {}
        self.are_equal = True
        self.n_rows = self.n_queries = 0
        """Numbers of judged documents and queries for comparing orders by score and by grade."""
        self.both = self.squares = 0.0

    def aligned(self, aligned: Aligned) -> None:
        """Look at a part that was aligned."""
        judged = aligned.grade >= 0
        grade, score = aligned.grade[judged], aligned.score[judged]
        self.judged += grade.size
        if not grade.size:
            return
        self.are_equal = self.are_equal and np.array_equal(grade, score)
        # the first parts show that scores are no labels
        if self.n_rows < ENOUGH_ROWS or self.both >= NOISY * self.squares:
            self._order(aligned.row[judged], grade)
        if self.scores is None:  # a grade had several
            return
        levels, positions, code, counts = np.unique(
            grade, return_index=True, return_inverse=True, return_counts=True
        )
        score_by_grade = dict(
            zip(levels.astype(float).tolist(), score[positions].tolist(), strict=True)
        )
        scores = {**score_by_grade, **self.scores}
        fits = len(scores) <= MOST and {**scores, **score_by_grade} == scores
        self.scores = scores if fits and (score[positions][code] == score).all() else None
        self.counts.update(dict(zip(score_by_grade, counts.tolist(), strict=True)))

    def _order(self, row: Ints, grade: Array) -> None:
        """Compare grades in the order of scores with their best order, within queries.

        Queries need two documents above their lowest grade: models do rank a single one first.
        """
        starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
        lengths = np.diff(np.append(starts, row.size))
        query = np.repeat(np.arange(starts.size), lengths)
        above = np.add.reduceat(
            grade > np.minimum.reduceat(grade, starts)[query], starts, dtype=int
        )
        several = (above > 1)[query]
        less = grade - (np.add.reduceat(grade, starts) / lengths)[query]
        best = less[np.lexsort((-less, query))]
        self.n_queries += int((above > 1).sum())
        self.n_rows += int(several.sum())
        self.both += float((less * best)[several].sum())
        self.squares += float((less * less)[several].sum())

    def findings(self, begin: RunPart) -> Iterator[Finding]:
        """Yield a finding if scores are the grades, or map to them; `begin` has examples."""
        judged, scores = self.judged, self.scores or {}
        several = judged - max(self.counts.values(), default=0) - max(len(scores) - 2, 0)
        n_grades = len(scores) if len({*scores.values()}) > 1 and several >= OTHERS else 0
        if self.are_equal and self.scores is None and judged >= 2 * OTHERS:
            n_grades = judged
        is_noisy = self.n_rows >= ENOUGH_ROWS and self.n_queries >= ENOUGH_QUERIES
        if not n_grades and is_noisy and self.both >= NOISY * self.squares:
            message = "scores order documents almost as their grades do: rank correlation "
            message += f"{self.both / self.squares:.3f} over "
            message += counted(self.n_queries, "query", "queries")
            yield self.examples.finding("noisy-labels", message, self.n_rows)
        if not n_grades:
            return
        rows = np.flatnonzero(begin.run.scores != begin.run.scores.min())[:SHOWN]
        notes = [f"score {score:.9g}" for score in begin.run.scores[rows].tolist()]
        self.examples.add("labels-as-scores", begin.documents(rows, notes))
        message = f"the scores are the grades of all {judged:,} judged documents"
        if not self.are_equal:
            message = "the scores are the labels: documents of equal grade have equal scores, over "
            message += f"{judged:,} judged documents"
        yield self.examples.finding("labels-as-scores", message, judged)


def shares_ahead(part: Aligned) -> tuple[Ints, Floats, Floats]:
    """Return queries, the shares of their pairs in order, and the variances of these by chance.

    ``share = 1/2 - (S - r (n + 1) / 2) / (r (n - r))`` for the sum S of the ranks of r relevant
    documents among n; its variance by chance is ``(n + 1) / (12 r (n - r))`` (Mann and Whitney,
    1947). Queries are left out if most of their documents are tied.
    """
    relevant, ranks = part.found(), part.rank_of_relevant()
    r, n = relevant.lengths, part.n_retrieved
    query: Ints = np.flatnonzero((r > 0) & (r < n) & (2 * part.n_tied <= n))
    if not query.size:
        return query, np.zeros(0), np.zeros(0)
    sums = np.bincount(relevant.row, ranks, minlength=r.size)[query]
    r, n = r[query].astype(np.float64), n[query]
    share: Floats = CHANCE - (sums - r * (n + 1) / 2) / (r * (n - r))
    variance: Floats = (n + 1) / (12 * r * (n - r))
    return query, share, variance


class Order:
    """Sums up the shares of pairs in which the relevant document comes first, part by part.

    Of all pairs of a relevant document and another that the query retrieved: a half by chance.
    """

    def __init__(self, queries: Queries, examples: ExamplesByRule) -> None:
        self.queries, self.examples = queries, examples
        self.n = self.behind = 0
        self.shares = self.squares = self.variance = 0.0

    def aligned(self, aligned: Aligned) -> None:
        """Look at a part that was aligned."""
        query, share, variance = shares_ahead(aligned)
        self.n += query.size
        self.behind += int((share < CHANCE).sum())
        self.shares += float(share.sum())
        self.squares += float((share**2).sum())
        self.variance += float(variance.sum())
        behind = np.flatnonzero(share < CHANCE)[:SHOWN]
        if behind.size and self.examples.wants("upside-down"):
            examples = self.queries.start_of(texts_at(aligned.qids, query[behind]))
            shares = (100 * share[behind]).tolist()
            names = (
                f"{qid} ({percentage:.0f}%)"
                for qid, percentage in zip(examples.names, shares, strict=True)
            )
            self.examples.add("upside-down", examples._replace(names=tuple(names)))

    def findings(self) -> Iterator[Finding]:
        """Yield a finding if relevant documents rank below others by more than chance."""
        if self.n < ENOUGH_QUERIES:
            return
        mean = self.shares / self.n
        spread = math.sqrt(max(self.squares / self.n - mean * mean, 0.0) / (self.n - 1))
        clear = max(CLEAR * math.sqrt(self.variance) / self.n, APART * spread)
        if mean < BEHIND and CHANCE - mean > clear:
            message = (
                f"relevant documents come first in {100 * mean:.0f}% of pairs (chance: 50%), "
                f"below half in {self.behind:,} of {self.n:,} queries"
            )
            yield self.examples.finding("upside-down", message, self.behind)


@np.errstate(over="ignore")
def rows_like_ranks(
    score: Array, rank: Array | None, follows: Bools
) -> tuple[int, int, bool, bool]:
    """Count scores that equal their rank.

    Returns that count, the number of rows, whether most scores fall, and whether scores and
    ranks are swapped.

    `rank` is None if some are not numbers; `follows`, ``(n - 1,)``, tells whether a row is of the
    same query as the one before.
    """
    steps = np.diff(score)[follows]
    n, n_equal, falls = (
        steps.size,
        int((steps == 1).sum()),
        bool(2 * (steps < 0).sum() > steps.size),
    )
    if rank is not None:
        drops, are_whole = np.diff(rank)[follows], (rank == np.trunc(rank)).all()
        down = (drops <= 0).sum() >= NEARLY_ALL * n
        rather = 2 * (drops < 0).sum() > n and (drops != -1).any()
        if n_equal >= NEARLY_ALL * n and down and (rather or not are_whole):
            return n_equal, n, falls, True
        if are_whole:
            n, n_equal = rank.size, int((score == rank).sum())
    return n_equal, n, falls, False


def rank_findings(source: Source, examples: ExamplesByRule) -> Iterator[Finding]:
    """Yield a finding if the scores of a TREC run are its ranks, by a sample of its lines."""
    if source.format != "trec":
        return
    lines = [*filter(bytes.strip, source.report.sample.split(b"\n", FIRST_LINES)[:FIRST_LINES])]
    try:
        if not lines or not all(float(line.split()[4]).is_integer() for line in lines):
            return
    except (ValueError, IndexError):
        return
    try:
        rows, _ = read_block(source.report.sample, _WITH_RANKS)
    except Refused:
        return
    qids, score = rows["qid"].combine_chunks(), to_numpy(rows["score"])
    try:
        rank: Array | None = to_numpy(cast(cast(rows["rank"], pa.string()), pa.float64()))
    except pa.ArrowInvalid:
        rank = None
    finite, follows = rank is not None and np.isfinite(rank).all(), equal(qids[1:], qids[:-1])
    if follows.sum() < AT_LEAST or score.min() == score.max():
        return
    n_equal, n, falls, swapped = rows_like_ranks(score, rank if finite else None, follows)
    if n_equal < NEARLY_ALL * n:
        return
    indexes = np.arange(SHOWN)
    columns = [texts_at(rows[name].combine_chunks(), indexes) for name in ("qid", "docno", "rank")]
    names = tuple(
        f"query {qid}, document {docno}: rank {rank}, score {value:g}"
        for qid, docno, rank, value in zip(*columns, score[indexes].tolist(), strict=True)
    )
    rule = "swapped-columns" if swapped else "rank-as-score"
    examples[rule] = Examples(names, 0, (columns[0][0], columns[1][0]))
    message = f"the score equals the rank in {n_equal:,} of {n:,} rows checked"
    if swapped:
        message = "the score is in column 4 and the rank in column 5"
        effect, fix = RULES["rank-as-score"].effect, "write qid Q0 docno rank score tag"
        yield examples.finding(rule, message, n_equal, None, effect, fix)
    elif falls:  # n, ..., 2, 1: perhaps the ranks are wrong, and not the scores
        effect = "if rank 1 is the best, the order is upside down"
        fix = "number the ranks from 1 for the best, or write a score that falls with the rank"
        message += " and falls down the file"
        yield examples.finding(rule, message, n_equal, "warning", effect, fix)
    else:
        yield examples.finding(rule, message, n_equal)
