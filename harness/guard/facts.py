"""What the rules look at of one run on one dataset, taken while it is read and aligned."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import TypeAdapter

from .. import files as system
from ..core.aligned import Aligned
from ..core.arrow import as_bytes
from ..core.hashing import string_views
from ..core.policy import Policy
from ..core.tables import Qrels, Run
from ..errors import Finding, HarnessError, describe
from . import columns, documents, labels, queries, row_order, scores
from .columns import RankFacts
from .documents import DocumentFacts, Documents
from .judgements import JudgementFacts as JudgementFacts
from .labels import LabelFacts, Labels
from .parts import First, Firsts, Part, placing
from .queries import Queries, QueryFacts
from .registry import finding
from .row_order import Following, OrderFacts
from .scores import Ahead, Order, ScoreFacts, Scores

FAMILIES = (labels, columns, scores, row_order, documents, queries)
"""Modules whose ``findings(facts, found)`` yields what their rules find in a run."""


@dataclass(frozen=True)
class RunFacts:
    """Of one run, and of how it fits its judgements: one record for each family of rules.

    Parameters
    ----------
    follows : bool
        Whether its scores follow the rows of the dataset, as predictions do.
    single : bool
        Whether scores are compared in single precision, as trec_eval 9 does.
    ranks : RankFacts, optional
        Of a TREC run whose scores are ranks.
    unused : tuple of str
        Columns of a table that were not read.
    columns : dict of str to str
        Those that were read, by what they hold.
    first : dict of str to First
        By rule, the first examples; some are kept that are too few for their rule.
    """

    follows: bool = False
    single: bool = True
    queries: QueryFacts = field(default_factory=QueryFacts)
    scores: ScoreFacts = field(default_factory=ScoreFacts)
    labels: LabelFacts = field(default_factory=LabelFacts)
    documents: DocumentFacts = field(default_factory=DocumentFacts)
    order: OrderFacts = field(default_factory=OrderFacts)
    ahead: Ahead = field(default_factory=Ahead)
    ranks: RankFacts | None = None
    unused: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
    first: dict[str, First] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """All that the rules of one cell look at."""

    judgements: JudgementFacts
    run: RunFacts

    def findings(self, place: str) -> Iterator[Finding]:
        """Yield what the rules find in the run, whose file is `place`."""
        found = placing(place, self.run.first)
        for family in FAMILIES:
            yield from family.findings(self, found)

    def as_dict(self) -> dict[str, Any]:
        """Return them as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Facts:
        """Return the facts that :meth:`as_dict` gave, written to JSON or not.

        Raises
        ------
        ValueError
            If they are other facts.
        """
        return _reader().validate_python(plain)


@functools.cache
def _reader() -> TypeAdapter[Facts]:
    return TypeAdapter(Facts)


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
        if system.shortage(error) is not None:
            raise
        failures.append(finding("guard-failed", place, f"the guard failed: {describe(error)}"))


class Watch:
    """Sums up what the rules look at of one run, part by part.

    Parameters
    ----------
    qrels : Qrels
    policy : Policy
        Under which the run is aligned.
    place : str
        The run's file.

    Attributes
    ----------
    failures : list of Finding
        The exception that ended the watch, if there was one.
    """

    def __init__(self, qrels: Qrels, policy: Policy, place: str = "") -> None:
        self.qrels, self.policy, self.place = qrels, policy, place
        self.failures: list[Finding] = []
        with observing(self.failures, place):
            self._begin()

    def _begin(self) -> None:
        self.first_part: Part | None = None
        self.last_part: Part | None = None
        self.first_qid = b""
        self.first = first = Firsts()
        self.queries = Queries(self.qrels, first)
        self.scores = Scores(self.policy, self.queries, first)
        self.labels = Labels(first)
        self.documents = Documents(self.qrels, self.policy, first)
        self.following = Following(self.qrels, first)
        self.order = Order(self.queries, first)

    def run(self, run: Run) -> None:
        """Look at a run, or at a part of one, as it was read.

        A part that begins with the very first query starts again: a run whose queries are
        scattered is read a second time, whole.
        """
        if not run.n_rows or self.failures:
            return
        with observing(self.failures, self.place):
            begins = as_bytes(run.qids[:1])[0]
            if begins == self.first_qid:
                self._begin()
            self.first_qid = self.first_qid or begins
            follows = shares(run.qids, self.qrels.qids)
            before = self.queries.rows if follows else self.queries.rows_in_file
            part = Part(run, self.qrels, follows, before)
            self.first_part, self.last_part = self.first_part or part, part
            self.queries.run(part)
            self.scores.run(part)
            if follows:
                self.following.add(run.scores)
            else:
                self.documents.run(part)

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


def shares(qids: pa.Array, others: pa.Array) -> bool:
    """Whether qids are a part of others in memory, as those of predictions for rows are.

    >>> qids = pa.array(["a", "b"])
    >>> shares(qids.slice(1), qids), shares(pa.array(["a", "b"]), qids)
    (True, False)
    """
    mine, theirs = string_views(qids)[1], string_views(others)[1]
    return bool(np.shares_memory(mine, theirs))
