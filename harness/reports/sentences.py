"""Sentences on a leaderboard: who is first, by how much, how sure, and what to know of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.entries import System, natural
from ..core.leaderboard import Leaderboard
from ..core.metric import Metric
from ..core.ragged import Bools, Floats
from ..errors import counted, first_of
from ..stats.comparison import REFERENCE_RUNS, Comparison, Comparisons
from . import notes
from .phrases import decimals, in_sentence, listed

Sentence = list[str | dict[str, Any]]
"""Text, ``{"bold": text}``, and links ``{"system": number}`` and ``{"query": qid}``."""
BETTER, WORSE, APART, SAME, UNTESTED = "+-~=."
"""Results of a test of two systems; `APART` is not significant."""
DIGITS = 3
"""Decimals of numbers in sentences."""


@dataclass(frozen=True)
class Scores:
    """Values of one metric on a board, by row, and test results of each pair.

    `sign` is 1, -1 if lower is better, 0 if neither. `relations` has the letters above, a row
    against a column. `over` says of which queries: "" or "with length: 70 or more". In `values` and
    `relations`, `references` follow the systems: baselines that are none.
    """

    label: str
    sign: int
    digits: int
    confidence: str
    over: str
    systems: Sequence[int]
    values: Floats
    low: Floats
    high: Floats
    n: Floats
    rank: Floats
    rank_low: Floats
    rank_high: Floats
    relations: Any
    baselines: Sequence[int]
    is_fair: bool = True
    references: Sequence[str] = ()
    shares: Mapping[int, str] = field(default_factory=dict)
    """Rows with missing repetitions: ``2 of 3 seeds``."""

    @cached_property
    def order(self) -> list[int]:
        """Rows with a value, best first."""
        rows = np.flatnonzero(~np.isnan(self.values[: len(self.systems)]))
        keys = self.values[rows] * -(self.sign or 1)
        return [int(row) for row in rows[np.argsort(keys, kind="stable")]]

    @cached_property
    def is_tested(self) -> bool:
        """Whether any pair was tested."""
        return bool((self.relations != UNTESTED).any()) and bool(self.sign)

    def number(self, value: float) -> str:
        """Return a value as sentences show it."""
        return shown(value, self.digits)

    def amount(self, row: int, other: int) -> str:
        """Return by how much two rows differ."""
        text = self.number(abs(self.values[row] - self.values[other]))
        return text if text.strip("0.,") else f"less than {10.0 ** -min(self.digits, DIGITS):g}"

    def link(self, row: int) -> dict[str, Any]:
        """Return a link to a row's system."""
        return {"system": self.systems[row]}

    def links(self, rows: Sequence[int]) -> Sentence:
        """Return links to rows, the first two and how many others."""
        if len(rows) > 3:
            return [self.link(rows[0]), f" and {len(rows) - 1} other systems"]
        parts: Sentence = [self.link(rows[0])]
        for row in rows[1:]:
            parts += [" and " if row == rows[-1] else ", ", self.link(row)]
        return parts

    def value(self, row: int) -> Sentence:
        """Return a row's value with its queries and interval."""
        over = counted(int(self.n[row]), "query", "queries") + f" {self.over}".rstrip()
        over += f" and {self.shares[row]}" if row in self.shares else ""
        ends = f"{self.number(self.low[row])} to {self.number(self.high[row])}"
        has_interval = not math.isnan(self.low[row])
        interval = f" ({self.confidence} interval {ends})" if has_interval else ""
        return [{"bold": self.number(self.values[row])}, f" over {over}{interval}"]

    def count(self, row: int, letter: str) -> int:
        """Count the systems to which a row has the relation of a letter."""
        return int((self.relations[row, : len(self.systems)] == letter).sum())

    # the leaderboard

    def lede(self) -> Sentence:
        """Return the sentences that open the leaderboard."""
        if not self.order:
            return [f"No system has a value of {self.label}{self._of_queries}."]
        first, *others = self.order
        if not others:
            only = f" is the only system with a value: its {self.label} is "
            return [self.link(first), only, *self.value(first), "."]
        if not self.sign:
            start = f"{self.label} has no better and no worse. It is "
            low, high = (self.number(self.values[row]) for row in (others[-1], first))
            least: Sentence = [f"{start}{low} (", self.link(others[-1])]
            return [*least, f") to {high} (", self.link(first), ")."]
        equal = np.isclose(self.values, self.values[first], rtol=1e-12, atol=1e-15)
        top = [row for row in self.order if equal[row]]
        extreme = "highest" if self.sign > 0 else "lowest"
        aside = "" if self.sign > 0 else " (lower is better)"
        n = f"{len(self.order):,} systems"
        if len(top) == len(self.order):
            every = "Both systems" if len(top) == 2 else f"All {n}"
            return [f"{every} have the same {self.label}: ", *self.value(first), "."]
        verb = "has" if len(top) == 1 else "have"
        start = f" {verb} the {extreme} {self.label} of {n}{aside}: "
        sentence = [*self.links(top), start, *self.value(first), ". "]
        if not self.is_fair:
            return [*sentence, "Systems were scored on different queries, so this is no ranking."]
        return [*sentence, *self._verdict(top)]

    @property
    def _of_queries(self) -> str:
        return f" on the queries {self.over}" if self.over else ""

    def _verdict(self, top: Sequence[int]) -> Sentence:
        first, after = top[0], self.order[len(top)]
        whose = "Its" if len(top) == 1 else "Their"
        lead: Sentence = [f"{whose} lead of {self.amount(first, after)} over ", self.link(after)]
        if not self.is_tested:
            few = ": one query is too few to test it."
            return [*lead, few if self.n[first] == 1 else " was not tested."]
        if self.baselines:
            return self._against_baselines(first)
        letter, others = self.relations[first, after], len(self.order) - len(top)
        subject: Sentence = ["It"] if len(top) == 1 else [self.link(first)]
        by = f", by {self.amount(first, after)}"
        rest_of = [row for row in self.order if row not in (*top, after)]
        near = [row for row in rest_of if self.relations[first, row] == APART]
        names = self.links(near) if 0 < len(near) < 3 else [f"{len(near):,} other systems"]
        are: Sentence = [*names, " is not" if len(near) == 1 else " are not"]
        if letter == APART and len(near) == len(rest_of):
            are = ["no other system is"]
        it: Sentence = ["it"] if len(top) == 1 else subject
        rest: Sentence = [", and ", *are, " significantly different from ", *it] if near else []
        if letter == BETTER:
            if self.count(first, BETTER) == others > 1:
                last = [" is significantly better than every other system; the next, "]
                return [*subject, *last, self.link(after), by.replace("by", "is") + " behind."]
            better = [*subject, " is significantly better than ", self.link(after), by]
            but: Sentence = [", but not significantly different from ", *names] if near else []
            return [*better, *but, "."]
        if letter == APART:
            return [*lead, " is ", {"bold": "not significant"}, *rest, "."]
        if letter == WORSE:
            return [self.link(after), " is significantly better on the queries that both have."]
        return [*lead, " has no test", *rest, "."]

    def _against_baselines(self, first: int) -> Sentence:
        rows = [row for row in self.baselines if not math.isnan(self.values[row])]
        if first in rows:
            worse, apart = self.count(first, BETTER), self.count(first, APART)
            parts = [f"{_are(worse)} significantly worse"]
            parts += [f"{_are(apart)} not significantly different"] if apart else []
            return [f"It is {'a' if len(rows) > 1 else 'the'} baseline: {listed(parts)}."]
        if not rows:
            return ["No baseline has a value to test it against."]
        if len(rows) > 1:
            better = sum(self.relations[first, row] == BETTER for row in rows)
            which = f"{_none(better)} of the {len(rows)}"
            if better == len(rows):
                which = "both" if better == 2 else f"all {better}"
            return [f"It is significantly better than {which} baselines."]
        (row,) = rows
        better, worse = self.count(row, WORSE), self.count(row, BETTER)
        sentence = self.against(first, row)
        if (others := sum(one != row for one in self.order)) > 1:
            total = f"{_are(better)} significantly better and {_are(worse)} significantly worse."
            than = " other than the baseline" if row < len(self.systems) else ""
            sentence.append(f" Of the {others:,} systems{than}, {total}")
        return sentence

    def against(self, row: int, baseline: int) -> Sentence:
        """Return the sentence on a row against a baseline."""
        letter, amount = self.relations[row, baseline], self.amount(row, baseline)
        by = {
            BETTER: f", by {amount}",
            WORSE: f", by {amount}",
            APART: f": they differ by {amount}",
        }
        name: Sentence
        if (place := baseline - len(self.systems)) < 0:
            name = [" the baseline ", self.link(baseline)]
        else:
            name = [f" {REFERENCE_RUNS[self.references[place]]}"]
        return ["It ", *verb(letter, self.label), *name, f"{by.get(letter, '')}."]

    # the view of a system

    def of_system(self, row: int) -> Sentence:
        """Return the sentences that open the view of a row's system."""
        if math.isnan(self.values[row]):
            return [f"It has no value of {self.label}{self._of_queries}."]
        if len(self.order) == 1:
            return [f"{self.label} ", *self.value(row), ". It is the only system."]
        value: Sentence = [f"{self.label} ", {"bold": self.number(self.values[row])}]
        if not self.sign or math.isnan(self.rank[row]):
            return [f"{self.label} ", *self.value(row), "."]
        text = f", rank {self.rank[row]:.0f} of {len(self.order):,}"
        if self.rank_high[row] > self.rank_low[row]:
            ends = f"{self.rank_low[row]:.0f} to {self.rank_high[row]:.0f}"
            text += f" ({self.confidence} interval of the rank {ends})"
        return [*value, f"{text}. ", *self._tested(row)]

    def _tested(self, row: int) -> Sentence:
        if not self.is_tested:
            return [f"Differences in {self.label} were not tested."]
        baselines = [one for one in self.baselines if one != row]
        if self.baselines and row not in self.baselines and len(baselines) == 1:
            return self.against(row, baselines[0])
        better, worse, apart = (self.count(row, letter) for letter in (WORSE, BETTER, APART))
        if self.baselines and row not in self.baselines:
            verdicts = [
                f"{text} {n}"
                for n, text in (
                    (worse, "is significantly better than"),
                    (better, "is significantly worse than"),
                    (apart, "is not significantly different from"),
                )
                if n
            ]
            rest = listed(verdicts) if verdicts else "was tested against none"
            return [f"Of the {len(baselines)} baselines, it {rest}."]
        head = "It is a baseline. " if self.baselines else ""
        same = np.flatnonzero(self.relations[row] == SAME).tolist()
        parts = [
            f"{head}{counted(better, 'system is', 'systems are') if better else 'No system is'} "
            "significantly better",
            f"{_are(worse)} significantly worse",
        ]
        parts += [f"{_are(apart)} not significantly different"] if apart else []
        if not same:
            return [f"{listed(parts)}."]
        has = "has" if len(same) == 1 else "have"
        also = f" {has} the same {self.label} on every query."
        return [f"{listed(parts)}. ", *self.links(same), also]

    # the queries

    def of_queries(self, qids: Sequence[str], queries: Queries) -> Sentence:
        """Return the sentences that open the queries."""
        defined = ~np.isnan(queries.median)
        if not defined.any():
            return [f"No query has a value of {self.label}{self._of_queries}."]
        several = len(self.order) > 1
        whose: Sentence = ["the median system"] if several else [self.link(self.order[0])]
        varied = defined & ~queries.constant
        if not varied.any():
            return [f"Each query has one {self.label} for all systems, so none tells them apart."]
        keys = np.where(varied, queries.median * (self.sign or 1), np.inf)
        lowest = np.flatnonzero(keys == keys.min())
        hardest = min(lowest.tolist(), key=lambda place: natural(qids[place]))
        reach = f" reaches {self.number(queries.median[hardest])} in {self.label}."
        query = {"query": qids[hardest]}
        if defined.sum() == 1:
            return [query, " is the only query: ", *whose, reach]
        word = "hardest query" if self.sign else "query with the lowest value"
        sentence: Sentence = [f"The {word} is ", query, ": ", *whose, reach]
        telling = np.where(np.isnan(queries.discrimination), -np.inf, queries.discrimination)
        if len(self.order) > 2 and np.isfinite(telling).any():
            best = {"query": qids[int(np.argmax(telling))]}
            sentence += [" Query ", best, " tells systems apart best."]
        if flat := int(queries.constant.sum()):
            has = counted(flat, "query has", "queries have")
            sentence.append(f" {has} one value for all systems.")
        return sentence


def verb(letter: str, label: str) -> Sentence:
    """Verb of a test of a system against another, whose name follows."""
    verbs: dict[str, Sentence] = {
        BETTER: ["is significantly better than"],
        WORSE: ["is significantly worse than"],
        APART: ["does ", {"bold": "not differ significantly"}, " from"],
        SAME: [f"has the same {label} on every query as"],
    }
    return verbs.get(letter, ["was not tested against"])


def relation(comparisons: Comparisons, test: Comparison, n_queries: int) -> str:
    """Return the letter of a test of a run against its baseline, among `n_queries` queries."""
    if test.note == "identical" and test.n == n_queries:
        return SAME
    if math.isnan(test.p_adjusted):
        return UNTESTED
    if not comparisons.is_significant(test):
        return APART
    return BETTER if test.is_better else WORSE


def relations(
    comparisons: Comparisons, tests: Iterable[Comparison], rows: Mapping[str, int], n_queries: int
) -> Any:
    """Return the letters of all pairs of runs, whose places are `rows`; ``(n_runs, n_runs)``."""
    letters = np.full((len(rows), len(rows)), UNTESTED)
    for test in tests:
        letter = relation(comparisons, test, n_queries)
        at = rows[test.run], rows[test.baseline]
        letters[at] = letter
        letters[at[::-1]] = {BETTER: WORSE, WORSE: BETTER}.get(letter, letter)
    return letters


def _none(n: int) -> str:
    return f"{n:,}" if n else "none"


def _are(n: int) -> str:
    return f"{n:,} are" if n > 1 else f"{_none(n)} is"


def as_text(sentence: Sentence, names: Sequence[str]) -> str:
    """Return a sentence as plain text, given the names of the page's systems."""
    parts = []
    for part in sentence:
        if isinstance(part, str):
            parts.append(part)
        else:
            ((kind, value),) = part.items()
            parts.append(names[value] if kind == "system" else f"{value}")
    return "".join(parts)


def group_label(group: str, columns: Sequence[str]) -> str:
    """Return a slice's column and label for readers.

    >>> group_label("length=70 or more", ["length"]), group_label("a=b=c", ["a=b"])
    ('length: 70 or more', 'a=b: c')
    """
    starts = [column for column in columns if group.startswith(f"{column}=")]
    column = max(starts, key=len, default="")
    return f"{column}: {group.removeprefix(column)[1:]}" if column else group


def reader_notes(
    board: Leaderboard,
    systems: Sequence[System],
    labels: Mapping[Metric, str],
    titles: Mapping[str, str],
) -> Iterator[str]:
    """Yield notes for readers on the numbers of a dataset, the most important first.

    `labels` are the page's names of metrics, and `titles` of runs.
    """
    name = systems[0].whole
    failed = dict.fromkeys(
        titles.get(row.run, row.run) for row in board.failed if row.dataset == name
    )
    if failed:
        yield f"{first_of([*failed])} could not be evaluated."
    policy = systems[0].evaluation.policy

    def label(metric: Metric) -> str:
        return in_sentence(labels[metric])

    ranked = [metric for metric in labels if metric.definition.direction]
    by_run = {titles.get(system.run, system.run): system for system in systems}
    coverages = {run: system.coverage for run, system in by_run.items()}
    yield from notes.unanswered(coverages, ranked, policy, label)
    yield from notes.missing_repetitions(
        (system.incomplete for system in systems),
        lambda gap: gap.called(titles.get(gap.run, gap.run), gap.dataset),
    )
    yield from notes.averaged(board, systems)
    yield from notes.weighted({name: systems[0].evaluation.weighted_by})
    names = {str(metric): text for metric, text in labels.items()}
    yield from notes.chosen(board, systems, lambda text: names.get(text, text))
    counts = [(system.dataset, system.evaluation.counts) for system in systems]
    yield from notes.treatment([*labels], policy, counts, label)
    yield from notes.undefined(notes.without_value(by_run, [*labels]), labels.__getitem__, label)


def changed(
    metric: Mapping[str, Any], then: str, systems: Sequence[int], old: Floats, new: Floats
) -> Sentence:
    """Describe changes of a metric since earlier results, by row of `old` and `new`."""
    fresh = int((np.isnan(old) & ~np.isnan(new)).sum())
    added = f"{counted(fresh, 'system is', 'systems are')} new. " if fresh else ""
    change = np.abs(new - old)
    if not (change > 0).any():
        return [f"{added}No value of {metric['label']} has changed since {then}."]
    row = int(np.nanargmax(change))
    of = counted(int((~np.isnan(change)).sum()), "system")
    text = f"{added}{metric['label']} differs from {then} for {int((change > 0).sum()):,} of {of}. "
    values = (decimals(value, metric["digits"]).replace("-", "−") for value in (old[row], new[row]))
    return [
        f"{text}The largest change is that of ",
        {"system": systems[row]},
        f": {' to '.join(values)}.",
    ]


def shown(value: float, digits: int) -> str:
    """Return a value as sentences show it.

    >>> shown(-0.25, 4), shown(-0.0001, 4), shown(12345.0, 0)
    ('−0.250', '0.000', '12,345')
    """
    text = f"{abs(value):,.{min(digits, DIGITS)}f}"
    return f"−{text}" if value < 0 and text.strip("0.,") else text


class Queries(NamedTuple):
    """Facts on the queries of a board, an entry for each query.

    `discrimination` is the correlation over systems of a query's values with the mean of the other
    queries, NaN without a spread. A query is `constant` if several systems have one value.
    """

    median: Floats
    discrimination: Floats
    constant: Bools

    @classmethod
    def of(cls, values: Floats) -> Queries:
        """Return those of values, ``(n_systems, n_queries)``."""
        has = ~np.isnan(values)
        n, filled = has.sum(axis=0), np.where(has, values, 0.0)
        median = np.full(len(n), np.nan)
        median[n > 0] = np.nanmedian(values[:, n > 0], axis=0)
        smallest = np.where(has, values, np.inf).min(axis=0)
        constant = (n > 1) & (smallest == np.where(has, values, -np.inf).max(axis=0))
        rest = filled.sum(axis=1, keepdims=True) - filled
        with np.errstate(invalid="ignore", divide="ignore"):
            rest = np.where(has, rest / (has.sum(axis=1, keepdims=True) - has), 0.0)
            own = np.where(has, values - filled.sum(axis=0) / n, 0.0)
            rest = np.where(has, rest - rest.sum(axis=0) / n, 0.0)
            correlation = (own * rest).sum(0) / np.sqrt((own**2).sum(0) * (rest**2).sum(0))
        telling = np.where(constant | (n < 2) | ~np.isfinite(correlation), np.nan, correlation)
        return cls(median, telling, constant)
