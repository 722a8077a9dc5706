"""Takes the facts of a run while it is read and aligned, part by part."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..core.aligned import Aligned
from ..core.arrow import as_bytes
from ..core.hashing import string_views
from ..core.policy import Policy
from ..core.tables import Qrels, Run
from .docnos import Docnos, strangers
from .facts import RunFacts
from .first import First
from .following import Following
from .judged import Judged
from .part import Part
from .queries import Queries
from .scores import Scores
from .ties import Ties
from .topics import Topics, topics

FEW = 0.5
"""Share of documents known to the judgements below which those that are judged for their own query
are few: then some are named, for the rules that say so."""


class Watch:
    """Sums up what the rules ask of one run.

    Parameters
    ----------
    qrels : Qrels
    policy : Policy
        Under which the run is aligned.
    """

    def __init__(self, qrels: Qrels, policy: Policy) -> None:
        self.qrels, self.policy = qrels, policy
        self._begin()

    def _begin(self) -> None:
        self.first_part: Part | None = None
        self.last_part: Part | None = None
        self.first_qid = b""
        self.queries, self.scores = Queries(self.qrels), Scores()
        self.docnos, self.following = Docnos(self.qrels), Following(self.qrels)
        self.ties = Ties(self.policy, self.queries)
        self.judged = Judged(self.policy, self.queries)

    def run(self, run: Run) -> None:
        """Look at a run, or at a part of one, as it was read.

        A part that begins with the first query of all begins anew: a run whose queries are
        scattered is read again, whole.
        """
        if not run.n_rows:
            return
        begins = as_bytes(run.qids[:1])[0]
        if begins == self.first_qid:
            self._begin()
        self.first_qid = self.first_qid or begins
        queries = self.queries
        follows = shares(run.qids, self.qrels.qids)
        before = queries.rows if follows else queries.rows_in_file
        part = Part(run, self.qrels, follows, before, queries.n_read)
        self.first_part, self.last_part = self.first_part or part, part
        queries.run(part)
        self.scores.run(part)
        self.docnos.run(part)
        self.ties.run(part)
        if follows:
            self.following.add(run.scores)

    def aligned(self, aligned: Aligned) -> Aligned:
        """Look at a run, or at a part of one, that was aligned; return it."""
        # rows of a dataset are aligned part by part, those of other runs when all are read
        part = self.last_part if self.queries.follows else self.first_part
        before = self.queries.n_aligned
        self.queries.aligned(aligned)
        if part is not None:
            self.ties.aligned(aligned, part, before)
            self.judged.aligned(aligned, part, before)
        return aligned

    def facts(self) -> RunFacts:
        """Return the facts of all parts that were looked at."""
        follows = self.queries.follows
        about_topics, of_topics = self._topics()
        found = {
            **self.queries.facts(),
            **self.scores.facts(),
            **self.docnos.facts(),
            **self.ties.facts(),
            **self.judged.facts(),
            **self.following.facts(),
            "topics": tuple(about_topics or ()),
        }
        if about_topics is not None and about_topics.are_others:
            first = {**self._first(), "other-topics": of_topics}
        else:
            first = self._first()
        return RunFacts(
            follows=follows,
            single=self.policy.score_type == "float32",
            first={rule: some for rule, some in first.items() if some.names},
            **found,
        )

    def _topics(self) -> tuple[Topics | None, First]:
        """Return for which queries the documents of the first part are judged, if not for its."""
        begin, judged = self.first_part, self.judged
        if begin is None or begin.follows or not judged.n:
            return None, First()
        if judged.shown_judged > FEW * judged.shown:
            return None, First()
        return topics(begin, self.policy)

    def _first(self) -> dict[str, First]:
        begin = self.first_part
        if begin is None:
            return {}
        found = {
            **self.queries.first(),
            **self.scores.first(),
            **self.docnos.first(),
            **self.ties.first(),
            **self.judged.first(begin),
            **(self.following.first() if begin.follows else {}),
        }
        judged, docnos = self.judged, self.docnos
        few = judged.shown_judged * docnos.looked_at <= FEW * docnos.known * judged.shown
        if not begin.follows and (few or not judged.n):
            found |= strangers(begin, self.policy, any_own=judged.n > 0)
        return found


def shares(qids: pa.Array, others: pa.Array) -> bool:
    """Whether qids are a part of others in memory, as those of predictions for rows are.

    >>> qids = pa.array(["a", "b"])
    >>> shares(qids.slice(1), qids), shares(pa.array(["a", "b"]), qids)
    (True, False)
    """
    mine, theirs = string_views(qids)[1], string_views(others)[1]
    return bool(np.shares_memory(mine, theirs))
