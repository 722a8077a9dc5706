"""What the rules look at of one run on one dataset, taken while it is read and aligned."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from .. import readers as readers
from ..core.aligned import Aligned
from ..core.hashing import share_memory
from ..core.policy import Policy
from ..core.ragged import Bools, Ints, lengths_of, offsets_of, positions_of, rows_of
from ..core.tables import Docnos, Qrels, Run
from ..errors import Finding, HarnessError, HarnessWarning, describe, shortage
from ..readers.source import HashedSource, Source
from . import documents, row_order, scores
from .datasets import JudgementFacts as JudgementFacts
from .documents import DocumentFacts, Documents, Queries, QueryFacts
from .examples import (
    Examples,
    ExamplesByRule,
    add_lines,
    findings_at,
    of_documents,
    of_queries,
    texts_at,
)
from .registry import SHOWN, finding
from .row_order import CHANCE, ENOUGH, NO_FIT, Fit, Following, OrderFacts
from .scores import Ahead, LabelFacts, Labels, Order, RankFacts, ScoreFacts, Scores

FAMILIES = (scores, row_order, documents)
"""Modules whose ``findings(facts, make)`` yields what their rules find in a run."""
LOOKED_AT = 64
"""Queries at the beginning of a run that examples are taken from."""


@dataclass(frozen=True)
class RunFacts:
    """Facts about one run and how it fits its qrels: one record for each family of rules."""

    follows: bool = False
    """Whether its scores follow the rows of the dataset, as predictions do."""
    single: bool = True
    """Whether scores are compared in single precision, as trec_eval 9 does."""
    queries: QueryFacts = field(default_factory=QueryFacts)
    scores: ScoreFacts = field(default_factory=ScoreFacts)
    labels: LabelFacts = field(default_factory=LabelFacts)
    documents: DocumentFacts = field(default_factory=DocumentFacts)
    order: OrderFacts = field(default_factory=OrderFacts)
    ahead: Ahead = field(default_factory=Ahead)
    ranks: RankFacts | None = None
    """Facts about a TREC run whose scores are ranks."""
    unused: tuple[str, ...] = ()
    """Columns of a table that were not read."""
    columns: dict[str, str] = field(default_factory=dict)
    """Columns that were read, by what they hold."""
    first: dict[str, Examples] = field(default_factory=dict)
    """The first examples of each rule; some are kept that are too few for their rule."""


@dataclass(frozen=True)
class Facts:
    """All facts that the rules of one cell use."""

    judgements: JudgementFacts
    run: RunFacts

    def findings(self, place: str) -> Iterator[Finding]:
        """Yield what the rules find in the run, whose file is `place`."""
        make = findings_at(place, self.run.first)
        for family in FAMILIES:
            yield from family.findings(self, make)


@contextlib.contextmanager
def observing(failures: list[Finding], place: str = "") -> Iterator[None]:
    """Add an exception of the guard to `failures`; a shortage of memory or files is raised.

    >>> failures = []
    >>> with observing(failures, "a.run"):
    ...     raise KeyError("fold")
    >>> failures[0].rule, failures[0].place
    ('guard-failed', 'a.run')
    """
    try:
        yield
    except HarnessError:
        raise
    except Exception as error:
        if shortage(error) is not None:
            raise
        failures.append(finding("guard-failed", place, f"the guard failed: {describe(error)}"))


class Part:
    """Whole queries of a run; `rows_before` are the rows of the file before them."""

    def __init__(self, run: Run, qrels: Qrels, follows: bool, rows_before: int) -> None:
        self.run, self.qrels, self.follows = run, qrels, follows
        self.rows_before = rows_before

    @cached_property
    def lengths(self) -> Ints:
        """Rows of each query, ``(n_queries,)``."""
        return lengths_of(self.run.offsets)

    @cached_property
    def codes(self) -> Ints:
        """Which queries of the dataset the first ones are; -1 for other queries."""
        return self.qrels.place(self.run.qids.slice(0, LOOKED_AT))

    @property
    def n_source(self) -> int:
        """Rows that the part had in the file, dropped ones among them."""
        n = self.run.n_source
        return self.run.n_rows if n is None or self.follows else n

    def places(self, rows: Ints) -> Ints:
        """Return the positions of some rows in the file, from 0."""
        if self.follows and self.run.order is None:  # RankLib names the row of each score
            order = self.qrels.order
            return rows + self.rows_before if order is None else order[rows + self.rows_before]
        order = self.run.order
        found: Ints = (rows if order is None else order[rows]) + self.rows_before
        return found

    def query(self, rows: Ints) -> Ints:
        """Return the query of each of some rows, by its position in this part."""
        return np.searchsorted(self.run.offsets, rows, side="right") - 1

    def documents(self, rows: Ints, notes: Iterable[str] | None = None) -> Examples:
        """Return the documents of some rows, with a note on each."""
        rows = rows[:SHOWN]
        qids = texts_at(self.run.qids, self.query(rows))
        notes = [""] * rows.size if notes is None else notes
        found = of_documents(qids, self.run.docnos, rows, notes, self.places(rows))
        return found._replace(words=()) if self.follows else found

    def queries(self, which: Ints) -> Examples:
        """Return some queries, at the first row of the first."""
        which = which[:SHOWN]
        found = of_queries(self.run.qids, which, self.places(self.run.offsets[which]))
        return found._replace(words=()) if self.follows else found

    def head(self, depth: int) -> Ints:
        """Return the first rows of each of the first judged queries."""
        judged = np.flatnonzero(self.codes >= 0)
        offsets = offsets_of(np.minimum(self.lengths[judged], depth))
        found: Ints = self.run.offsets[judged][rows_of(offsets)] + positions_of(offsets)
        return found

    def own(self, rows: Ints) -> Bools:
        """Return which of a few rows of the first queries are judged for the query they answer."""
        docnos = Docnos(self.run.docnos.take(rows), np.array([0, rows.size]))
        found = np.zeros(rows.size, dtype=bool)
        found[self.qrels.find(self.codes[self.query(rows)], docnos)[0]] = True
        return found

    def known(self, rows: Ints) -> Bools:
        """Return which of some rows are judged for any query."""
        return self.qrels.knows(self.run.docnos.hashes[rows])


class Watch:
    """Sums up what the rules look at of one run, part by part.

    An exception of the guard ends the watch and is in `failures`.
    """

    def __init__(self, qrels: Qrels, policy: Policy, place: str = "") -> None:
        self.qrels, self.policy, self.place = qrels, policy, place
        self.failures: list[Finding] = []
        with observing(self.failures, place):
            self._begin()

    def _begin(self) -> None:
        self.first_part: Part | None = None
        self.last_part: Part | None = None
        self.first = first = ExamplesByRule()
        self.queries = Queries(self.qrels, first)
        self.scores = Scores(self.policy, first)
        self.labels = Labels(first)
        self.documents = Documents(self.qrels, first)
        self.following = Following(self.qrels, first)
        self.order = Order(self.queries, first)

    def run(self, run: Run, begins: bool = False) -> None:
        """Look at a run, or at a part of one, as it was read.

        A part that `begins` the file starts again: a run whose queries are scattered is read a
        second time, whole.
        """
        if not run.n_rows or self.failures:
            return
        with observing(self.failures, self.place):
            if begins:
                self._begin()
            follows = share_memory(run.qids, self.qrels.qids)
            before = self.queries.rows if follows else self.queries.rows_in_file
            part = Part(run, self.qrels, follows, before)
            self.first_part, self.last_part = self.first_part or part, part
            self.queries.run(part)
            self.scores.run(part)
            if follows:
                self.following.add(run.scores)
            else:
                self.documents.run(part)
                if self.qrels.docnos.positional:
                    self.following.add_named(run)

    def aligned(self, aligned: Aligned) -> Aligned:
        """Look at a run, or at a part of one, that was aligned; return it."""
        if self.failures:
            return aligned
        with observing(self.failures, self.place):
            self.queries.aligned(aligned)
            # rows of a dataset are aligned part by part, those of other runs when all are read
            part = self.last_part if self.queries.follows else self.first_part
            if part is not None:
                self.scores.aligned(aligned, part)
                self.labels.aligned(aligned)
                if not part.follows:
                    self.documents.aligned(aligned)
                    self.order.aligned(aligned)
        return aligned

    def facts(self) -> RunFacts | None:
        """Return the facts of all parts that were looked at; None if the watch failed."""
        if self.failures:
            return None
        with observing(self.failures, self.place):
            begin, follows = self.first_part, self.queries.follows
            if begin is not None and not follows:
                self.documents.end(begin)
            return RunFacts(
                follows=follows,
                single=self.policy.score_type == "float32",
                queries=self.queries.facts(),
                scores=self.scores.facts,
                labels=self.labels.facts(begin),
                documents=self.documents.facts,
                order=self.following.facts(),
                ahead=self.order.ahead,
                first=dict(self.first),
            )
        return None


class RowWatch:
    """Looks at scores that follow the rows of a dataset: whether they belong to other rows."""

    def __init__(self, qrels: Qrels, place: str) -> None:
        self.qrels, self.place = qrels, place
        self.failures: list[Finding] = []
        self._begin()

    def _begin(self) -> None:
        self.first = ExamplesByRule()
        self.following = Following(self.qrels, self.first)

    def run(self, run: Run, begins: bool = False) -> None:
        """Look at a run, or at a part of one, as it was read."""
        with observing(self.failures, self.place):
            if begins:
                self._begin()
            if share_memory(run.qids, self.qrels.qids):
                self.following.add(run.scores)

    def facts(self) -> RunFacts | None:
        """Return the facts of all parts; None if there are none, or the guard failed."""
        if self.following.n:
            with observing(self.failures, self.place):
                rows = QueryFacts(rows=self.following.n)
                order = self.following.facts()
                return RunFacts(follows=True, queries=rows, order=order, first=dict(self.first))
        return None


def warn_of(watches: Sequence[RowWatch], level: int) -> None:
    """Warn of runs whose scores seem to belong to other rows of their dataset.

    `level` is that of ``warnings.warn``.
    """
    every = [(watch, watch.facts()) for watch in watches]
    fits = {watch.place: facts.order.fit or NO_FIT for watch, facts in every if facts is not None}
    for watch, facts in every:
        found = [*watch.failures]
        if facts is not None:
            with observing(found, watch.place):
                make = findings_at(watch.place, facts.first)
                found += row_order.findings(Facts(JudgementFacts(), facts), make)
                found += _unrelated(watch.place, facts, fits)
        for one in found:
            if one.severity != "note":
                warnings.warn(HarnessWarning(one.message), stacklevel=level)


def _unrelated(place: str, facts: RunFacts, fits: Mapping[str, Fit]) -> Iterator[Finding]:
    """Yield that a run fits nothing, if it is like chance or another one fits."""
    own = fits[place]
    if row_order.fits_nothing(facts) and not row_order.is_random(place):
        others = {name: one for name, one in fits.items() if name != place}
        best = max(others, key=lambda name: others[name].z, default="")
        like_chance = own.n >= ENOUGH and own.z < CHANCE
        better = (best, others[best]) if best and like_chance else None
        found = row_order.unrelated(place, facts, better, wary=row_order.is_chance(facts))
        yield from filter(None, [found])


def judgement_facts(
    qrels: Qrels, source: Source, failures: list[Finding], format: str | None = None
) -> JudgementFacts | None:
    """Return the facts of qrels that were read from `source`; None if the guard failed."""
    with observing(failures, source.name):
        marks = source.row_marks if isinstance(source, HashedSource) else None
        facts = JudgementFacts.of(qrels, marks)
        add_lines(facts.first, source, "qrels", format)
        return replace(facts, unused=source.unused_columns, columns=source.columns)
    return None


def facts_of(
    judgements: JudgementFacts | None, watch: Watch, source: Source, format: str | None = None
) -> Facts | None:
    """Return what the rules look at, when a run was read from `source`; None if the guard failed.

    Exceptions are in the failures of `watch`.
    """
    of_run = watch.facts()
    if judgements is None or of_run is None:
        return None
    with observing(watch.failures, watch.place):
        may_be_ranks = not of_run.follows and scores.may_be_ranks(source)
        if may_be_ranks and (format or readers.guess_format(source, "run")) == "trec":
            of_run = scores.with_ranks(of_run, source)
        of_run = replace(of_run, unused=source.unused_columns, columns=source.columns)
        facts = Facts(judgements, of_run)
        found = facts.findings(watch.place)
        rules = {"unrelated", *(one.rule for one in found if one.severity != "note")}
        add_lines(of_run.first, source, "run", format, rules)
        return facts
    return None
