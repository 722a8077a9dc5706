"""What is not wrong in qrels or a run but makes their numbers mean little."""

from __future__ import annotations

import numpy as np

from ..core.aligned import Aligned
from ..core.arrow import as_bytes, take
from ..core.tables import Qrels, Run
from .build import IsDataLine, find_lines, first_line, other_tag, warn
from .source import Source

EXAMPLES = 3
"""How many queries are named."""
SHOWN = 5
"""How many tags are named."""
MANY_TAGS = 1000
"""How many tags of a part are kept; a tag a row would take ten times the file."""
NEARLY_ALL = 0.9
"""Share of the queries from which on constant scores are warned about."""

NEARLY_THE_SAME = 0.99
"""Share of the judged documents from which on scores that equal grades are warned about."""
AT_LEAST = 20
"""Judged documents below which scores may equal grades by chance."""


def warn_unusable(source: Source, qrels: Qrels, is_data: IsDataLine | None) -> None:
    """Warn of queries with no judgement that counts: trec_eval drops them, or says 0, silently.

    `is_data` tells the lines of `source` that are rows, where they are.
    """
    judged = np.flatnonzero(np.diff(qrels.offsets))
    if not judged.size:
        return
    unusable = judged[np.maximum.reduceat(qrels.numbers, qrels.offsets[judged]) < 0]
    n, some = unusable.size, unusable[:EXAMPLES]
    if n:
        row = int(qrels.offsets[some[0]])
        row = row if qrels.order is None else int(qrels.order[row])
        names = tuple(name.decode("utf-8", "replace") for name in as_bytes(take(qrels.qids, some)))
        wanted = {row: names[:1]}
        line = (
            0
            if is_data is None
            else find_lines(source, wanted, is_data, whole=source.again).get(row, 0)
        )
        have = "1 query has" if n == 1 else f"{n:,} queries have"
        warn(
            source,
            f"{have} no usable judgement: every grade is below 0, which means not judged",
            "unusable-judgements",
            n,
            line,
            names,
        )


class Checks:
    """Counts over the parts of one run, and warns at its end.

    Parameters
    ----------
    follows : bool
        Whether the parts follow the rows of the dataset; where they do not say so themselves.
    """

    def __init__(self, source: Source, dataset: Qrels | None = None, follows: bool = False) -> None:
        self.source, self.dataset, self.follows = source, dataset, follows
        self.n_rows, self.are_grades = 0, dataset is not None
        self.constant = self.several = 0
        self.tags: dict[str, None] = {}

    def add(self, run: Run) -> Run:
        """Count one part, and return it."""
        if len(self.tags) < MANY_TAGS:
            self.tags.update(dict.fromkeys(run.tags))
        low, high = run.extremes
        lengths = np.diff(run.offsets)
        several = lengths[lengths > 0] > 1
        self.constant += int(((low == high) & several).sum())
        self.several += int(several.sum())
        if self.are_grades and self.dataset is not None:
            follows = self.follows or run.docnos is self.dataset.docnos
            first, self.n_rows = self.n_rows, self.n_rows + run.n_rows
            grades = self.dataset.numbers[first : self.n_rows]
            self.are_grades = follows and np.array_equal(run.scores, grades)
        return run

    def warn(self) -> None:
        """Warn of what was found."""
        line, named = first_line(self.source, other_tag()) if len(self.tags) > 1 else (0, ())
        if len(self.tags) > 1 and not self._is_cut(named):
            some = ", ".join(f"'{tag}'" for tag in [*self.tags][:SHOWN])
            more = ", ..." if len(self.tags) > SHOWN else ""
            many = "at least " * (len(self.tags) >= MANY_TAGS)
            warn(
                self.source,
                f"{many}{len(self.tags):,} tags in one run: {some}{more}; it may be several "
                "systems' output",
                "several-tags",
                len(self.tags) - 1,
                line,
                named,
            )
        if self.several and self.constant >= NEARLY_ALL * self.several:
            warn(
                self.source,
                f"all scores are equal in {self.constant} of {self.several} queries; there the "
                "policy for ties decides the order",
                "constant-scores",
                self.constant,
            )
        elif self.are_grades:
            warn(
                self.source,
                "the scores equal the grades of the dataset, row by row; is it the column of "
                "grades that was saved?",
                "labels-as-scores",
            )

    def _is_cut(self, first: tuple[str, ...]) -> bool:
        """Whether the only other tag, first on this line, is what a cut file's end left of one."""
        tag, piece, *others = self.tags
        last = self.source.unfinished.decode("utf-8", "replace").strip()
        is_last = last.split()[5:6] == [piece] and first in ((), (last,))
        return is_last and not others and tag.startswith(piece)


def warn_judgements(source: Source, aligned: Aligned) -> None:
    """Warn where the scores of a run that names its documents are their grades."""
    same = aligned.grade[aligned.score == aligned.grade]
    enough = aligned.grade.size >= AT_LEAST and same.size >= NEARLY_THE_SAME * aligned.grade.size
    if enough and same.min() < same.max():
        warn(
            source,
            "scores equal the grades: are these judgements instead of a system's output?",
            "labels-as-scores",
        )
