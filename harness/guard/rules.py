"""What the facts of one dataset, and of one run on it, say: pure functions to findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import predictions
from .ahead import Ahead
from .facts import Facts, JudgementFacts
from .finding import Finding, Severity
from .rank_scores import RankScores
from .registry import finding
from .said import Said

MANY = 0.1
"""Share of the queries (or of the pairs) from which on a finding is a warning: what a tenth of
them does moves a mean by more than systems usually differ."""
USUAL_GRADE = 4
"""The largest grade of the usual scale of five."""
LARGEST_GRADE = 30
"""The largest for which LightGBM has a gain."""
ENOUGH_ROWS = 100
"""Docnos looked at, and judgements, below which it may be chance that none is known."""
ENOUGH_QUERIES = 5
"""Queries below which it may be chance."""
SOME_KNOWN = 0.01
"""Share of docnos that are judged for other queries, from which on topics may be numbered
otherwise."""
LIFT = 1.2
"""How many times as often as by chance documents at the top may be judged for the query that they
answer, where they are other queries': with less, a system is as good as a random one."""
OWN = 0.25
"""Share of the known documents that are judged for their own query, below which others' are more
than pools that overlap."""
ENOUGH_OF_EACH = 10
"""Documents with a grade above 0, and of others, below which a correlation of 1 may be chance."""
ORDERED = 30
"""Queries of ten judged documents and more, from which on no system puts all in order."""
EXACT = 1e-9
"""How far a correlation that is exactly 1 may be from it, by rounding."""
SOME = 0.001
"""Share below which ties are no more than chance in scores of a few digits."""
MANY_ROWS = 0.01
"""Share of rows that are equal in single precision alone, from which on that is a warning."""
UNKNOWN = 0.01
"""Share of docnos in no judgements from which on it is said."""


def of_dataset(facts: JudgementFacts, place: str) -> Iterator[Finding]:
    """Yield what the judgements say by themselves; `place` is their file."""
    queries = facts.queries
    if queries and facts.empty == queries:
        what = f"none of the {_n(queries, 'query')} has a relevant document"
        yield finding("no-relevant-documents", place, what, queries, facts.empty_first)
    elif facts.empty:
        what = f"no relevant document in {facts.empty:,} of {_n(queries, 'query')}"
        yield finding(
            "empty-queries", place, what, facts.empty, facts.empty_first,
            _by_share(facts.empty, queries),
        )  # fmt: skip
    if facts.highest > LARGEST_GRADE:
        what = f"the highest grade is {facts.highest:,g}"
        yield finding("grades-above-30", place, what)
    elif facts.highest > USUAL_GRADE:
        yield finding("grades-above-4", place, f"the highest grade is {facts.highest:g}")
    if facts.fractions:
        what = f"grades are no whole numbers, from {facts.lowest:g} to {facts.highest:g}"
        yield finding("fractional-grades", place, what)
    if facts.negative:
        what = f"{facts.negative:,} of {facts.rows:,} grades are below 0"
        yield finding("negative-grades", place, what, facts.negative)


def of_rows(facts: Facts, place: str) -> Iterator[Finding]:
    """Yield what a learning-to-rank file says, told that it is one; `place` is its file."""
    judged = facts.judgements
    if facts.run.follows and judged.single:
        what = f"one document alone in {judged.single:,} of {_n(judged.queries, 'query')}"
        yield finding(
            "one-document-queries", place, what, judged.single, judged.single_first,
            _by_share(judged.single, judged.queries),
        )  # fmt: skip


def of_run(facts: Facts, place: str, name: str = "the dataset") -> Iterator[Finding]:
    """Yield what a run says, and how it fits the judgements.

    Parameters
    ----------
    facts : Facts
    place : str
        Its file.
    name : str
        The dataset's.
    """
    yield from _of_scores(facts, place)
    if facts.run.own_fit or facts.run.whole_scores:
        yield from predictions.of_facts(facts.run, place, name)
    if facts.run.rank_scores:
        yield from RankScores(*facts.run.rank_scores).findings(place)
    elif facts.run.ahead:
        yield from Ahead(*facts.run.ahead).findings(place)
    if not facts.run.follows:
        yield from _of_documents(facts, place)
        yield from _of_queries(facts, place)


def _of_scores(facts: Facts, place: str) -> Iterator[Finding]:
    run = facts.run
    if _is_labels(facts):
        sign = "1" if run.moments.xy > 0 else "-1"
        what = (
            f"scores and grades have a correlation of exactly {sign}, over {run.moments.n:,} "
            "judged documents"
        )
        yield finding("labels-as-scores", place, what, run.moments.n)
    elif run.ordered >= ORDERED and run.moments.n >= ENOUGH_OF_EACH * run.ordered:
        what = (
            f"in all {run.ordered:,} queries of several grades, every judged document comes before "
            "those of a lower grade"
        )
        yield finding("labels-as-scores", place, what, run.ordered)
    if run.constant:
        what = f"all scores are equal in {run.constant:,} of {_n(run.several, 'query')}"
        yield finding(
            "constant-scores", place, what, run.constant, run.constant_first,
            _by_share(run.constant, run.several),
        )  # fmt: skip
    if run.nearly:
        what = (
            f"nearly all documents share one score in {run.nearly:,} of {_n(run.several, 'query')}"
        )
        severity = _by_share(run.nearly, run.several)
        yield finding("nearly-constant-scores", place, what, run.nearly, (), severity)
    if run.tied > SOME * run.pairs:
        what = (
            f"{_percent(run.tied, run.pairs)} of the pairs of documents that a query retrieved "
            "share a score"
        )
        severity = _by_share(run.tied, run.pairs)
        yield finding("score-ties", place, what, run.tied, (), severity)
    if run.merged:
        what = (
            f"{run.merged:,} of {_n(run.rows, 'row')} have the score of the one ranked before "
            "in single precision alone"
        )
        severity = _by_share(run.merged, run.rows, MANY_ROWS)
        yield finding("single-precision", place, what, run.merged, (), severity)
    if run.overflow and run.single:
        what = f"{run.overflow:,} of {_n(run.rows, 'score')} are beyond 3.4e38"
        yield finding("overflow", place, what, run.overflow)


def _is_labels(facts: Facts) -> bool:
    run = facts.run
    others = run.moments.n - run.positive
    enough = min(run.positive, others) >= ENOUGH_OF_EACH
    return enough and abs(run.moments.correlation) >= 1 - EXACT


def _of_documents(facts: Facts, place: str) -> Iterator[Finding]:
    run = facts.run
    unknown = run.looked_at - run.known
    if run.rows and not run.judged:
        none = f"none of the {run.rows:,} documents retrieved is judged"
        enough = run.queries - run.extra >= ENOUGH_QUERIES and run.looked_at >= ENOUGH_ROWS
        enough = enough and facts.judgements.rows >= ENOUGH_ROWS
        if enough and not run.known:
            what = f"{none}, and of {run.looked_at:,} docnos looked at none is, for any query"
            yield finding("other-collection", place, what, run.rows)
        elif enough and run.known >= SOME_KNOWN * run.looked_at:
            what = (
                f"{none} for its query; of {run.looked_at:,} docnos looked at {run.known:,} are "
                "judged for others"
            )
            yield finding("other-topics", place, what, run.rows)
        else:
            yield finding("nothing-judged", place, none, run.rows)
    elif _answers_others(facts):
        what = (
            f"{_percent(run.judged_shown, run.shown)} of the documents at rank 10 or before are "
            f"judged for their query, as by chance, and {_percent(run.known, run.looked_at)} of "
            "all documents for some query"
        )
        yield finding("other-topics", place, what, run.shown - run.judged_shown, (), "warning")
    elif unknown > UNKNOWN * run.looked_at:
        what = f"{unknown:,} of {run.looked_at:,} docnos looked at are judged for no query"
        yield finding("unknown-docnos", place, what, unknown, run.unknown_first)
    unjudged = run.shown - run.judged_shown
    if run.judged and unjudged >= MANY * run.shown:
        what = (
            f"{_percent(unjudged, run.shown)} of the documents at rank 10 or before are not judged"
        )
        yield finding("unjudged-at-10", place, what, unjudged)


def _answers_others(facts: Facts) -> bool:
    """Whether documents are judged for their own query no more often than for any other."""
    run, judged = facts.run, facts.judgements
    enough = run.queries - run.extra >= ENOUGH_QUERIES and run.looked_at >= ENOUGH_ROWS
    if not (enough and run.shown >= ENOUGH_ROWS and judged.documents):
        return False
    known = run.known / run.looked_at
    chance = known * judged.rows / (judged.documents * judged.queries)
    own = run.judged_shown / run.shown
    return known >= SOME_KNOWN and own <= min(OWN * known, LIFT * chance)


def _of_queries(facts: Facts, place: str) -> Iterator[Finding]:
    run, judged = facts.run, facts.judgements
    if run.missing:
        what = f"no answer to {run.missing:,} of {_n(judged.queries, 'judged query')}"
        yield finding("missing-queries", place, what, run.missing, run.missing_first)
    if run.extra:
        what = f"no judgement of {run.extra:,} of {_n(run.queries, 'query')}"
        yield finding("extra-queries", place, what, run.extra, run.extra_first)
    if run.shallowest == run.deepest:
        return
    whole = run.queries >= ENOUGH_QUERIES and run.at_deepest == run.queries - 1
    if whole and run.last_depth < run.deepest:
        what = (
            f"the last query, '{run.last_qid}', has {run.last_depth:,} documents, every other one "
            f"{run.deepest:,.0f}"
        )
        yield finding("cut-last-query", place, what)
    else:
        what = (
            f"queries have {run.shallowest:,.0f} to {run.deepest:,.0f} documents, "
            f"{run.median_depth:,g} in the middle"
        )
        yield finding("depth", place, what, run.queries - run.at_deepest)


_SAID = {
    "other-collection": "nothing-judged",
    "other-topics": "nothing-judged",
}
"""Rules whose findings say what warnings of another rule say."""


def beyond(warnings: Iterable[Said], findings: Iterable[Finding]) -> list[Said]:
    """Return the warnings of one cell that say what none of its findings says."""
    said = {_SAID.get(one.rule, one.rule) for one in findings}
    return [one for one in warnings if one.rule not in said]


def _by_share(part: int, whole: int, many: float = MANY) -> Severity:
    return "warning" if part >= many * whole else "note"


def _percent(part: int, whole: int) -> str:
    """Return a share as people read it.

    >>> _percent(1, 3), _percent(1, 2000)
    ('33 %', '0.05 %')
    """
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 10 else f"{share:.2g} %"


def _n(n: int, noun: str) -> str:
    """Return a count with its noun.

    >>> _n(1, "query"), _n(1200, "query"), _n(2, "row")
    ('1 query', '1,200 queries', '2 rows')
    """
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else several}"
