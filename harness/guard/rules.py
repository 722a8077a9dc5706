"""What the facts of one dataset, and of one run on it, say: pure functions to findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from . import labels, predictions
from .ahead import Ahead
from .causes import said_by
from .facts import LARGEST_GRADE, USUAL_GRADE, Facts, JudgementFacts, RunFacts
from .finding import Finding, Severity
from .first import First
from .judged import BELOW_0
from .judged import MANY as MANY_UNJUDGED
from .labels import are_labels, are_of_grades
from .rank_scores import RankScores
from .registry import RULES, finding
from .said import Said
from .ties import SOME as SOME_TIED
from .topics import Topics

MANY = 0.1
"""Share of the queries (or of the pairs) from which on a finding is a warning: what a tenth of
them does moves a mean by more than systems usually differ."""
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
SHARED = 2.0
"""Queries that a document is judged for on average, from which on a random order finds as many
judged documents as a system that answers other topics: on a small closed collection."""
MANY_ROWS = 0.01
"""Share of rows that are equal in single precision alone, from which on that is a warning."""
UNKNOWN = 0.01
"""Share of docnos in no judgements from which on it is said."""

SEEN = (
    "they count as not relevant, so that values are lower bounds, but for documents that somebody "
    "saw and marked as junk"
)


def of_dataset(facts: JudgementFacts, place: str) -> Iterator[Finding]:
    """Yield what the judgements say by themselves; `place` is their file."""
    found, queries, rows = _at(place, facts.first), facts.queries, facts.rows
    if queries and facts.empty == queries:
        what = f"none of the {_n(queries, 'query')} has a relevant document"
        yield found("no-relevant-documents", what, queries)
    elif facts.empty:
        what = f"no relevant document in {facts.empty:,} of {_n(queries, 'query')}"
        yield found("empty-queries", what, facts.empty, _by_share(facts.empty, queries))
    if facts.beyond:
        what = _above(facts, facts.beyond, LARGEST_GRADE)
        yield found("grades-above-30", what, facts.beyond)
    elif facts.unusual:
        what = _above(facts, facts.unusual, USUAL_GRADE)
        yield found("grades-above-4", what, facts.unusual)
    if facts.fractional:
        low, high = _number(facts.lowest), _number(facts.highest)
        verb = "is no whole number" if facts.fractional == 1 else "are no whole numbers"
        grades = f"{facts.fractional:,} of {_n(rows, 'grade')}"
        what = f"{grades}, which are from {low} to {high}, {verb}"
        yield found("fractional-grades", what, facts.fractional)
    if facts.negative:
        are = "is" if facts.negative == 1 else "are"
        what = f"{facts.negative:,} of {_n(rows, 'grade')} {are} below 0"
        yield found("negative-grades", what, facts.negative)


def _above(facts: JudgementFacts, n: int, limit: int) -> str:
    are = "is" if n == 1 else "are"
    return f"{n:,} of {_n(facts.rows, 'grade')} {are} above {limit}, up to {_number(facts.highest)}"


def of_rows(facts: Facts, place: str) -> Iterator[Finding]:
    """Yield what a learning-to-rank file says, told that it is one; `place` is its file."""
    judged = facts.judgements
    if facts.run.follows and judged.single:
        what = f"one document alone in {judged.single:,} of {_n(judged.queries, 'query')}"
        yield _at(place, judged.first)(
            "one-document-queries", what, judged.single, _by_share(judged.single, judged.queries)
        )


def _at(place: str, first: Mapping[str, First]) -> Callable[..., Finding]:
    """Return what makes findings in the file at `place`, with the first of what they are about."""

    def found(
        rule: str, what: str, count: int, severity: Severity | None = None, effect: str = "",
        fix: str = "",
    ) -> Finding:  # fmt: skip
        some = first.get(rule, First())
        return finding(rule, some.at(place), what, count, some.names, severity, effect, fix)

    return found


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
    turned = [*_of_order(facts, place)]
    yield from turned
    if not facts.run.follows:
        documents = [*_of_documents(facts, place, in_order=not turned)]
        yield from documents
        yield from _of_queries(facts, place, renumbered=any(map(_are_others, documents)))


def _are_others(one: Finding) -> bool:
    """Whether a finding says that the topics are other ones, and is no random baseline's."""
    return one.rule in ("other-topics", "other-collection") and one.severity != "note"


def _of_order(facts: Facts, place: str) -> Iterator[Finding]:
    """Yield that the order is upside down, or the scores are ranks."""
    run = facts.run
    if run.rank_scores:
        ranks = RankScores(*run.rank_scores)
        yield from ranks.findings(place, run.first.get(ranks.rule, First()))
    elif run.ahead and not (are_labels(run) or are_of_grades(run)):
        yield from Ahead(*run.ahead).findings(place, run.first.get("upside-down", First()))


def _of_scores(facts: Facts, place: str) -> Iterator[Finding]:
    run, found = facts.run, _at(place, facts.run.first)
    yield from labels.findings(run, place)
    if run.constant:
        what = f"all scores are equal in {run.constant:,} of {_n(run.several, 'query')}"
        yield found("constant-scores", what, run.constant, _by_share(run.constant, run.several))
    if run.nearly:
        # looked for where the run is joined to the judgements
        of, noun = (
            (run.queries - run.extra, "judged query") if run.extra else (run.several, "query")
        )
        what = f"nearly all documents share one score in {run.nearly:,} of {_n(of, noun)}"
        severity = _by_share(run.nearly, of)
        yield found("nearly-constant-scores", what, run.nearly, severity)
    whole = run.tied_whole if run.constant else 0
    beyond = run.single and 2 * run.overflow >= run.rows > 0  # most are tied as infinite
    if run.tied - whole > SOME_TIED * run.pairs and not beyond:
        single = ", in single precision, as trec_eval compares" if run.single else ""
        what = (
            f"{_percent(run.tied, run.pairs)} of the pairs of documents that a "
            f"{'judged ' * bool(run.extra)}query retrieved share a score{single}"
        )
        yield found("score-ties", what, run.tied, _by_share(run.tied, run.pairs))
    if run.merged:
        what = (
            f"{run.merged:,} of {_n(run.rows, 'row')} have the score of the one ranked before "
            "in single precision alone"
        )
        severity = _by_share(run.merged, run.rows, MANY_ROWS)
        yield found("single-precision", what, run.merged, severity)
    if run.overflow and run.single:
        what = f"{run.overflow:,} of {_n(run.rows, 'score')} are beyond 3.4e38"
        yield found("overflow", what, run.overflow)


def _of_documents(facts: Facts, place: str, in_order: bool) -> Iterator[Finding]:
    run, found = facts.run, _at(place, facts.run.first)
    unknown, respelled = run.looked_at - run.known, 0
    if run.respelled:
        way, respelled = run.respelled
        are = "is that of a judged document" if respelled == 1 else "are those of judged documents"
        what = f"{respelled:,} of {run.looked_at:,} docnos looked at{_sample(run)} {are}"
        one = found(
            "docno-spelling", f"{what} but for {way}", respelled, "warning" if run.judged else None
        )
        yield replace(one, at_least=run.looked_at < run.rows)
    if 2 * respelled > unknown:
        return  # that is why most are not judged
    if run.rows and not run.judged:
        none = f"none of the {run.rows:,} documents retrieved is judged"
        enough = run.queries - run.extra >= ENOUGH_QUERIES and run.looked_at >= ENOUGH_ROWS
        enough = enough and facts.judgements.rows >= ENOUGH_ROWS
        if enough and not run.known:
            what = f"{none}, and of {run.looked_at:,} docnos looked at none is, for any query"
            yield found("other-collection", what, run.rows)
        elif enough and run.known >= SOME_KNOWN * run.looked_at:
            what = (
                f"{none} for its query; of {run.looked_at:,} docnos looked at {run.known:,} are "
                "judged for others"
            )
            fix = f"{RULES['other-topics'].fix}, and that they are of one fold"
            yield found("other-topics", what, run.rows, fix=fix)
        else:
            yield found("nothing-judged", none, run.rows)
    elif run.topics and (topics := Topics(*run.topics)).are_others:
        what = (
            f"in {topics.elsewhere:,} of {_n(topics.looked_at, 'query')} looked at, more documents "
            "at rank 10 or before are judged for one other query than for any else, its own too"
        )
        effect = "the values are those of answers to other topics"
        yield found("other-topics", what, topics.elsewhere, "warning", effect)
    elif in_order and _answers_others(facts):
        what = (
            f"{_percent(run.judged_shown, run.shown)} of the documents at rank 10 or before are "
            "judged for their query, no more than by chance, and "
            f"{_percent(run.known, run.looked_at)} of all documents for some query"
        )
        shared = facts.judgements.rows >= SHARED * facts.judgements.documents
        yield found(
            "other-topics", what, run.shown - run.judged_shown, "note" if shared else "warning",
            "the values say no more than those of a random order",
            f"if it is no random baseline: {RULES['other-topics'].fix}",
        )  # fmt: skip
    elif unknown > UNKNOWN * run.looked_at:
        what = (
            f"{unknown:,} of {run.looked_at:,} docnos looked at{_sample(run)} are judged for no "
            "query"
        )
        yield replace(found("unknown-docnos", what, unknown), at_least=run.looked_at < run.rows)
    unjudged = run.shown - run.judged_shown
    if run.judged and unjudged >= MANY_UNJUDGED * run.shown:
        share = _percent(unjudged, run.shown)
        what = f"{share} of the documents at rank 10 or before are not judged"
        seen = facts.judgements.negative > 0
        yield found("unjudged-at-10", what + BELOW_0 * seen, unjudged, effect=SEEN * seen)


def _sample(run: RunFacts) -> str:
    return f", a sample of {run.rows:,}," if run.looked_at < run.rows else ""


def _answers_others(facts: Facts) -> bool:
    """Whether documents are judged for their own query no more often than for any other."""
    run, judged = facts.run, facts.judgements
    enough = run.queries - run.extra >= ENOUGH_QUERIES and run.looked_at >= ENOUGH_ROWS
    if not (enough and run.shown >= ENOUGH_ROWS and judged.documents):
        return False
    known = run.known / run.looked_at
    chance = known * judged.rows / (judged.documents * judged.queries)
    own, answered = run.judged_shown / run.shown, run.rows * (1 - run.extra / run.queries)
    few = own <= min(OWN * known, LIFT * chance) and run.judged <= LIFT * chance * answered
    return known >= SOME_KNOWN and few


def _of_queries(facts: Facts, place: str, renumbered: bool) -> Iterator[Finding]:
    run, judged = facts.run, facts.judgements
    found = _at(place, run.first)
    follow = renumbered and run.missing > 0 and run.extra > 0  # what moved out, and what moved in
    respelled = 0
    if run.respelled_qids:
        way, respelled = run.respelled_qids
        are = "is that of a query that is" if respelled == 1 else "are those of queries that are"
        what = f"{respelled:,} of {_n(run.extra, 'qid')} without judgements {are} not answered"
        yield found("qid-spelling", f"{what} but for {way}", respelled)
    if run.missing > respelled and not follow:
        what = f"no answer to {run.missing:,} of {_n(judged.queries, 'judged query')}"
        yield found("missing-queries", what, run.missing)
    if run.extra > respelled and not follow:
        what = f"no judgement of {run.extra:,} of {_n(run.queries, 'query')}"
        yield found("extra-queries", what, run.extra)
    if run.shallowest == run.deepest:
        return
    whole = run.queries >= ENOUGH_QUERIES and run.at_deepest == run.queries - 1
    if whole and run.last_depth < run.deepest:
        what = (
            f"the last query has {run.last_depth:,} documents, every other one {run.deepest:,.0f}"
        )
        yield found("cut-last-query", what, 1)
    else:
        what = (
            f"queries have {run.shallowest:,.0f} to {run.deepest:,.0f} documents, "
            f"{run.median_depth:,g} in the middle"
        )
        yield found("depth", what, run.queries - run.at_deepest)


def beyond(warnings: Iterable[Said], findings: Iterable[Finding]) -> list[Said]:
    """Return the warnings of one cell that say what none of its findings says."""
    said = {rule for one in findings for rule in said_by(one.rule)}
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


def _number(grade: float) -> str:
    """Return a grade with all of its digits.

    >>> _number(2147483647.0), _number(0.5), _number(1e300)
    ('2,147,483,647', '0.5', '1e+300')
    """
    return f"{grade:,.15g}"


def _n(n: int, noun: str) -> str:
    """Return a count with its noun.

    >>> _n(1, "query"), _n(1200, "query"), _n(2, "row")
    ('1 query', '1,200 queries', '2 rows')
    """
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else several}"
