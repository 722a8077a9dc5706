"""Warnings about sound files whose content is odd: constant scores, labels as scores, tags."""

from __future__ import annotations

import numpy as np

from ..core.aligned import Aligned
from ..core.arrow import as_bytes, take
from ..core.tables import Qrels, Run, rows_in_file
from ..errors import first_of
from .rows import Rows, first_line, warn
from .source import Source
from .text import decoded

MANY_TAGS = 1000
"""How many tags of a part are kept; a tag for each row would take ten times the file."""
NEARLY_ALL = 0.9  # Share of the queries from which on constant scores are warned about
NEARLY_THE_SAME, AT_LEAST = 0.99, 20
"""Share of the judged documents that equal their grades, and their number, to warn about it."""


def warn_unusable(rows: Rows, qrels: Qrels) -> None:
    """Warn of queries whose grades are all negative: trec_eval drops them, or gives them 0."""
    judged = np.flatnonzero(np.diff(qrels.offsets))
    if not judged.size:
        return
    unusable = judged[np.maximum.reduceat(qrels.numbers, qrels.offsets[judged]) < 0]
    if not unusable.size:
        return
    names = tuple(map(decoded, as_bytes(take(qrels.qids, unusable[:3]))))
    row = int(rows_in_file(qrels, qrels.offsets[unusable[:1]])[0])
    line, _ = rows.find({row: names[:1]}).get(row, (0, ""))
    what = f"queries without a usable judgement: {unusable.size:,}; all their grades are below 0"
    warn(rows.where, what, "unusable-judgements", unusable.size, line, names)


class Checks:
    """Counts over the parts of one run, and warns at its end.

    `follows` says that the parts follow the rows of the dataset, if they do not share its docnos.
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
        """Warn of what was counted."""
        if len(self.tags) > 1:
            self._warn_tags()
        if self.several and self.constant >= NEARLY_ALL * self.several:
            what = (
                f"all scores are equal in {self.constant} of {self.several} queries; the policy "
                "for ties decides their order"
            )
            warn(self.source, what, "constant-scores", self.constant)
        elif self.are_grades:
            what = "scores equal the grades, row by row; check which column was saved"
            warn(self.source, what, "labels-as-scores")

    def _warn_tags(self) -> None:
        tag, second, *others = self.tags
        line, text = first_line(self.source, lambda fields: fields[5:6] == [second.encode()])
        last = decoded(self.source.unfinished).strip()
        is_cut = last.split()[5:6] == [second] and tag.startswith(second)
        if is_cut and not others and text in ((), (last,)):
            return  # what the end of a cut file left of the only tag
        what = f"expected one tag, got {first_of([*self.tags])}; it may be several systems' output"
        warn(self.source, what, "several-tags", len(self.tags) - 1, line, text)


def warn_judgements(source: Source, aligned: Aligned) -> None:
    """Warn if the scores of a run with docnos are their grades."""
    same = aligned.grade[aligned.score == aligned.grade]
    enough = aligned.grade.size >= AT_LEAST and same.size >= NEARLY_THE_SAME * aligned.grade.size
    if enough and same.min() < same.max():
        what = "scores equal the grades; check that these are scores of a system, not grades"
        warn(source, what, "labels-as-scores")
