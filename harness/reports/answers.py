"""First lines of a comparison: who is better, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..core.entries import grouped_by
from ..core.metric import Metric
from ..core.names import spelled
from ..core.ragged import Floats
from ..errors import counted
from ..stats.comparison import REFERENCE_RUNS, Comparison, Comparisons
from .grid import Answer, Tone, not_shown
from .notes import NAMED, share_in_words
from .phrases import confidence, fixed, in_sentence, listed, signed, span
from .sentences import (
    APART,
    BETTER,
    DIGITS,
    SAME,
    UNTESTED,
    WORSE,
    Scores,
    as_text,
    relation,
    relations,
    verb,
)

MOST = 8
"""Sentences above the tables."""
_TONES: dict[str, Tone] = {BETTER: "good", WORSE: "bad"}
_COUNTED = {
    BETTER: ("is significantly better", "are significantly better"),
    WORSE: ("is significantly worse", "are significantly worse"),
    APART: ("does not differ significantly", "do not differ significantly"),
    SAME: ("has the same values", "have the same values"),
    UNTESTED: ("was not tested", "were not tested"),
}


def answers(comparisons: Comparisons, everything: str = "") -> list[Answer]:
    """Return a sentence for each metric, dataset and baseline; slices follow whole datasets.

    The metrics of a single pair of runs share sentences if there are many. `everything` has the
    comparisons of sentences that are not shown.
    """
    rows = comparisons.rows
    metrics = [*dict.fromkeys(row.metric for row in rows)]
    labels = {metric: in_sentence(spelled(metric)) for metric in metrics}
    is_pair = len({(row.run, row.baseline) for row in rows}) == 1 and len(metrics) > NAMED
    tables = grouped_by(rows, lambda row: (row.dataset, is_pair or str(row.metric))).values()
    has_several = len({row.dataset for row in rows}) > 1
    answers_of = _of_metrics if is_pair else _of_table
    sentences = [
        answer._replace(text=f"{table[0].dataset}: {answer.text}") if has_several else answer
        for table in sorted(tables, key=lambda table: table[0].group != "")
        for answer in answers_of(comparisons, table, labels)
    ]
    rest = not_shown(len(sentences) - MOST, "result", f"see {everything or 'the tables'}")
    return [*sentences[:MOST], *map(Answer, rest)]


def _of_metrics(
    comparisons: Comparisons, rows: Sequence[Comparison], labels: Mapping[Metric, str]
) -> Iterator[Answer]:
    results = grouped_by(rows, lambda row: relation(comparisons, row, row.n))
    for letter in filter(results.__contains__, _COUNTED):
        tests = results[letter]
        names = [labels[test.metric] for test in tests]
        if letter in (BETTER, WORSE):
            names = [f"{labels[test.metric]} ({_by(test)})" for test in tests]
        words = f"has the same {listed(names)} on every query as"
        if letter != SAME:
            words = as_text(verb(letter, ""), ())
        sentence = f"{tests[0].run} {words} {_name(tests[0].baseline)}"
        sentence += "" if letter == SAME else f" on {listed(names)}"
        n = span(test.n for test in tests)
        queries = "query" if n == "1" else "queries"
        yield Answer(f"{sentence} ({n} {queries})", _TONES.get(letter, "mixed"))


def _by(test: Comparison) -> str:
    aside = ["lower is better"] if test.metric.sign < 0 else []
    return ", ".join([signed(test.difference, DIGITS), *aside])


def _of_table(
    comparisons: Comparisons, rows: Sequence[Comparison], labels: Mapping[Metric, str]
) -> Iterator[Answer]:
    label = labels[rows[0].metric]
    if not comparisons.plan.baselines and len(rows) > 1:
        yield _leader(comparisons, rows, label)
        return
    for tests in grouped_by(rows, lambda row: row.baseline).values():
        if len(tests) == 1:
            yield _pair(comparisons, tests[0], label)
        else:
            yield _counts(comparisons, tests, label)


def _pair(comparisons: Comparisons, test: Comparison, label: str) -> Answer:
    letter = relation(comparisons, test, test.n)
    words = as_text(verb(letter, label), ())
    sentence = f"{test.run} {words} {_name(test.baseline)}"
    facts = _facts(comparisons, [test])
    if letter != SAME:
        sentence += f" on {label}"
        if not math.isnan(test.p_adjusted):
            facts.insert(0, _p_in_words(comparisons, test.p_adjusted))
        if not math.isnan(test.difference):
            facts.insert(0, signed(test.difference, DIGITS))
    return Answer(f"{sentence} ({', '.join(facts)})", _TONES.get(letter, "mixed"))


def _counts(comparisons: Comparisons, tests: Sequence[Comparison], label: str) -> Answer:
    """Count the runs that are better and worse than a baseline, and name the best."""
    by: dict[str, list[Comparison]] = {letter: [] for letter in _COUNTED}
    for test in sorted(tests, key=lambda test: -test.metric.sign * test.difference):
        by[relation(comparisons, test, test.n)].append(test)
    n = len(tests)
    head = next((letter for letter in (WORSE, APART) if len(by[letter]) == n), BETTER)
    k, name = len(by[head]), f"{_name(tests[0].baseline)} on {label}"
    every, none = (
        ("Both runs", "Neither run") if n == 2 else (f"All {n:,} runs", f"None of {n:,} runs")
    )
    if head == APART:
        sentence = f"{none} differs significantly from {name}"
    else:
        subject = every if k == n else f"{k:,} of {n:,} runs" if k else none
        sentence = f"{subject} {_COUNTED[head][k > 1]} than {name}"
    if head != APART and k:
        names = [f"{test.run} ({signed(test.difference, DIGITS)})" for test in by[head]]
        names[NAMED:] = [f"{len(names) - NAMED:,} more"] if len(names) > NAMED else []
        sentence += f": {listed(names)}"
    parts = [
        f"{_runs(by[letter])} {words[len(by[letter]) > 1]}"
        for letter, words in _COUNTED.items()
        if letter != head and by[letter]
    ]
    facts = ", ".join(_facts(comparisons, tests))
    facts = f" ({facts})" if facts else ""
    return Answer("; ".join([sentence, *parts]) + facts, _TONES.get(head if k else "", "mixed"))


def _runs(tests: Sequence[Comparison]) -> str:
    names = [test.run for test in tests]
    return listed(names) if len(names) <= NAMED else f"{len(names):,}"


def _leader(comparisons: Comparisons, rows: Sequence[Comparison], label: str) -> Answer:
    """Return the sentences on the first run, as the report page has them."""
    runs = dict.fromkeys(name for row in rows for name in (row.baseline, row.run))
    places = {run: place for place, run in enumerate(runs)}
    head, n = rows[0], len(runs)
    standings = [comparisons.standing(head.dataset, str(head.metric), run) for run in runs]

    def numbers(name: str) -> Floats:
        return np.array([getattr(standing, name, math.nan) for standing in standings], float)

    n_queries = numbers("n")
    scores = Scores(
        label=label, sign=head.metric.sign, digits=4,
        confidence=confidence(comparisons.plan.level), over="", systems=range(n),
        values=numbers("value"), low=numbers("low"), high=numbers("high"), n=n_queries,
        rank=numbers("rank"), rank_low=numbers("rank_low"), rank_high=numbers("rank_high"),
        relations=relations(comparisons, rows, places, int(n_queries.max())), baselines=[],
        is_fair=len({*n_queries.tolist()}) == 1,
    )  # fmt: skip
    first, *others = scores.order
    leads = bool(others) and all(scores.relations[first, row] == BETTER for row in others)
    shares = ", ".join(_shares(comparisons, rows))
    text = as_text(scores.lede(), [*runs]) + (f" ({shares})" if shares else "")
    return Answer(text, "good" if leads else "mixed")


def _name(baseline: str) -> str:
    return REFERENCE_RUNS.get(baseline, baseline).removesuffix(" on each query")


def _facts(comparisons: Comparisons, tests: Sequence[Comparison]) -> list[str]:
    """Return the direction if lower is better, the number of queries, missing repetitions."""
    sizes = {test.n for test in tests}
    facts = ["lower is better"] if tests[0].metric.sign < 0 else []
    facts += [counted(n, "query", "queries") for n in sizes if len(sizes) == 1]
    return facts + _shares(comparisons, tests)


def _shares(comparisons: Comparisons, tests: Sequence[Comparison]) -> list[str]:
    """Return the share of its repetitions that each incomplete run has."""
    runs = {name for test in tests for name in (test.run, test.baseline)}
    gaps = [gap for gap in comparisons.lost if gap.dataset == tests[0].dataset and gap.run in runs]
    texts = [f"{share_in_words(gap)} of {gap.run}" for gap in gaps[:NAMED]]
    return texts + [f"{len(gaps) - NAMED:,} more incomplete"] * (len(gaps) > NAMED)


def _p_in_words(comparisons: Comparisons, p: float) -> str:
    is_adjusted = comparisons.kind == "all-pairs" or comparisons.plan.correction != "none"
    text = "p < .0001" if p < 0.0001 else f"p = {fixed(p, 4)}"
    return f"adjusted {text}" if is_adjusted else text
