"""Takes the facts of a run while it is read and aligned, part by part."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from .. import errors as internal_errors
from .. import files as system
from ..core.aligned import Aligned
from ..core.arrow import as_bytes
from ..core.hashing import string_views
from ..core.policy import Policy
from ..core.tables import Qrels, Run
from ..errors import Finding, HarnessError
from .documents import DocumentFacts, Documents
from .facts import RunFacts
from .labels import Labels
from .parts import Firsts, Part
from .queries import Queries
from .registry import finding
from .row_order import Following
from .scores import Scores
from .ties import Ties
from .upside_down import Order


@contextlib.contextmanager
def observing(failures: list[Finding], place: str = "") -> Iterator[None]:
    """Add an exception of the guard to `failures`; a shortage of memory or files is raised.

    Parameters
    ----------
    failures : list of Finding
    place : str
        The file that the guard looks at.

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
        what = f"the guard failed: {internal_errors.describe(error)}"
        failures.append(finding("guard-failed", place, what))


class Watch:
    """Sums up what the rules ask of one run.

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
        self.queries, self.scores = Queries(self.qrels, first), Scores(first)
        self.ties = Ties(self.policy, self.queries, first)
        self.labels = Labels(first)
        self.documents = Documents(self.qrels, self.policy, first)
        self.following, self.order = Following(self.qrels, first), Order(self.queries, first)

    def run(self, run: Run) -> None:
        """Look at a run, or at a part of one, as it was read.

        A part that begins with the first query of all begins anew: a run whose queries are
        scattered is read again, whole.
        """
        if run.n_rows and not self.failures:
            with observing(self.failures, self.place):
                self._run(run)

    def _run(self, run: Run) -> None:
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
        self.ties.run(part)
        if follows:
            self.following.add(run.scores)
        else:
            self.documents.run(part)

    def aligned(self, aligned: Aligned) -> Aligned:
        """Look at a run, or at a part of one, that was aligned; return it."""
        if not self.failures:
            with observing(self.failures, self.place):
                self._aligned(aligned)
        return aligned

    def _aligned(self, aligned: Aligned) -> None:
        self.queries.aligned(aligned)
        # rows of a dataset are aligned part by part, those of other runs when all are read
        part = self.last_part if self.queries.follows else self.first_part
        if part is not None:
            self.ties.aligned(aligned, part)
            self.labels.aligned(aligned)
            if not part.follows:
                self.documents.aligned(aligned)
                self.order.aligned(aligned)

    def facts(self) -> RunFacts | None:
        """Return the facts of all parts that were looked at; None if the watch failed."""
        if not self.failures:
            with observing(self.failures, self.place):
                return self._facts()
        return None

    def _facts(self) -> RunFacts:
        begin, follows = self.first_part, self.queries.follows
        return RunFacts(
            follows=follows,
            single=self.policy.score_type == "float32",
            queries=self.queries.facts(),
            scores=self.scores.facts(),
            ties=self.ties.facts(),
            labels=self.labels.facts(begin),
            documents=DocumentFacts() if follows else self.documents.facts(begin),
            order=self.following.facts(),
            ahead=self.order.ahead,
            first=dict(self.first),
        )


def shares(qids: pa.Array, others: pa.Array) -> bool:
    """Whether qids are a part of others in memory, as those of predictions for rows are.

    >>> qids = pa.array(["a", "b"])
    >>> shares(qids.slice(1), qids), shares(pa.array(["a", "b"]), qids)
    (True, False)
    """
    mine, theirs = string_views(qids)[1], string_views(others)[1]
    return bool(np.shares_memory(mine, theirs))
