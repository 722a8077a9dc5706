"""Facts about one run on one dataset, collected for the rules while it is read and aligned."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..core.align import ranking_hash
from ..core.aligned import Aligned
from ..core.hashing import share_memory
from ..core.policy import Policy
from ..core.qrels_and_runs import Qrels, Run
from ..core.rules import finding
from ..errors import Finding, ShortageError, describe, shortage
from ..readers.source import Source
from . import scores
from .datasets import JudgementFacts as JudgementFacts
from .documents import Documents, Queries
from .findings import ExamplesByRule, RunPart, add_lines, place_findings
from .row_order import NO_FIT, Fit, Following
from .scores import Labels, Order, Scores
from .submissions import Submission, Terms


@dataclass(frozen=True)
class RunFacts:
    """Findings about one run, and its facts to compare with other runs.

    The places of findings have no file.
    """

    findings: tuple[Finding, ...] = ()
    rows: int = 0
    ranking: str = ""
    """`harness.core.align.ranking_hash` as text."""
    own_scores: bool = True
    """Whether scores are not the labels, and not all equal."""
    fit: Fit = NO_FIT
    """Correlation of predictions with the grades of their rows."""
    unrelated: Finding | None = None
    """Finding that predictions fit no rows of their dataset."""
    unused: tuple[str, ...] = ()
    """Columns of a table that were not read."""
    columns: dict[str, str] = field(default_factory=dict)
    """Columns that were read, by role."""
    tag: str = ""
    """The first tag of a submission."""


@dataclass(frozen=True)
class Facts:
    """All facts about one cell."""

    judgements: JudgementFacts
    run: RunFacts


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
    except ShortageError:
        raise
    except Exception as error:
        if shortage(error) is not None:
            raise
        failures.append(finding("guard-failed", place, f"the guard failed: {describe(error)}"))


class Watch:
    """Facts on one run that the rules need, collected part by part.

    An exception of the guard ends the watch and is in `failures`. With `rows_only`
    it looks only at scores for the rows of the dataset, and hashes no ranking.
    """

    def __init__(
        self, qrels: Qrels, policy: Policy, place: str = "", terms: Terms | None = None, *,
        rows_only: bool = False,
    ) -> None:  # fmt: skip
        self.qrels, self.policy, self.place, self.terms = qrels, policy, place, terms
        self.rows_only = rows_only
        self.failures: list[Finding] = []
        self.first_part: RunPart | None = None
        self.last_part: RunPart | None = None

    def _begin(self) -> None:
        self.first_part = self.last_part = None
        self.hash = 0
        self.examples = examples = ExamplesByRule()
        self.queries = Queries(self.qrels, examples)
        self.scores = Scores(self.policy, examples)
        self.labels = Labels(examples)
        self.documents = Documents(self.qrels, examples)
        self.following = Following(self.qrels, examples)
        self.order = Order(self.queries, examples)
        self.submission = None if self.terms is None else Submission(self.terms, examples)

    def run(self, run: Run, begins: bool = False) -> None:
        """Check a run, or a part of one, in the order of its file.

        A part that `begins` the file starts over: scattered queries are read a second time.
        """
        if not run.n_rows or self.failures:
            return
        with observing(self.failures, self.place):
            follows = share_memory(run.qids, self.qrels.qids)
            if self.rows_only and not follows:
                return
            if begins or self.first_part is None:
                self._begin()
            before = self.queries.rows if follows else self.queries.rows_in_file
            part = RunPart(run, self.qrels, follows, before)
            self.first_part, self.last_part = self.first_part or part, part
            self.queries.run(part)
            self.hash += 0 if self.rows_only else ranking_hash(run, self.policy)
            self.scores.run(part)
            if self.submission is not None:
                self.submission.run(part)
            if follows:
                self.following.add(run.scores)
            else:
                self.documents.run(part)
                if self.qrels.docnos.positional:
                    self.following.add_named(run)

    def aligned(self, aligned: Aligned) -> Aligned:
        """Look at a run, or at a part of one, that was aligned; return it."""
        if self.failures or self.first_part is None:
            return aligned
        with observing(self.failures, self.place):
            self.queries.aligned(aligned)
            # rows of a dataset are aligned part by part, those of other runs when all are read
            part = (self.last_part if self.queries.follows else None) or self.first_part
            self.scores.aligned(aligned, part)
            self.labels.aligned(aligned)
            if not part.follows:
                self.documents.aligned(aligned)
                self.order.aligned(aligned)
        return aligned

    def facts(
        self, judgements: JudgementFacts | None, source: Source | None, *, whole: bool = False
    ) -> Facts | None:  # fmt: skip
        """Return the facts of all parts that were checked; None if the guard failed.

        Examples have lines if the `source` is given from which the run was read. With `whole` notes
        have them too, and the file may be read again for them.
        """
        if self.failures or judgements is None:
            return None
        if (begin := self.first_part) is None:
            return Facts(judgements, RunFacts())
        with observing(self.failures, self.place):
            findings = [*self.labels.findings(begin)]
            has_labels = any(found.rule == "labels-as-scores" for found in findings)
            is_constant = 0 < self.scores.several == self.scores.constant
            if source is not None and not begin.follows:
                findings += scores.rank_findings(source, self.examples)
            findings += self.scores.findings(self.queries.rows)
            findings += self.order.findings()
            if begin.follows or self.qrels.docnos.positional:
                findings += self.following.findings()
            unrelated = None if has_labels else self.following.unrelated
            if not begin.follows:
                findings += self.queries.findings()
                findings += self.documents.findings(begin, self.queries)
            if self.submission is not None:
                findings += self.submission.findings()
            if source is not None and (findings or unrelated):
                rules = {found.rule for found in findings if whole or found.severity != "note"}
                add_lines(self.examples, source, {"unrelated", *rules}, whole=whole)
            of_run = RunFacts(
                tuple(findings and place_findings(findings, self.examples)),
                self.queries.rows,
                "" if self.rows_only else f"{self.hash % 2**64:016x}",
                not (has_labels or is_constant),
                self.following.fit,
                unrelated and place_findings([unrelated], self.examples)[0],
                tag="" if self.submission is None else self.submission.tag,
            )
            if source is not None:
                of_run = replace(of_run, unused=source.unused_columns, columns=source.columns)
            return Facts(judgements, of_run)
        return None


def judgement_facts(
    qrels: Qrels, source: Source, failures: list[Finding], *, whole: bool = False
) -> JudgementFacts | None:
    """Return the facts of qrels that were read from `source`; None if the guard failed.

    With `whole` the file may be read again for the lines of examples.
    """
    with observing(failures, source.name):
        return JudgementFacts.of(qrels, source, whole=whole)
    return None
