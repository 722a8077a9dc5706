"""Every rule of the guard by name: how bad it is, what it looks for, what it does to the numbers.

docs/check.md lists them; ``guard: {accept: [...]}`` in a config names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .file_rules import FILE_RULES, PLACED, REFUSED
from .finding import SHOWN, Finding, Severity
from .rule import Rule
from .said import Said

POOLED = Rule(
    "pooled-queries", "error",
    "Folds that 'summary: {pool: ...}' takes together have queries in common: no more is "
    "evaluated then.",
    "such queries would count several times in one mean",
    "mend the folds, or 'average' them in place of 'pool'; harness check looks at all of them",
)  # fmt: skip
RUN_RULES = (
    Rule(
        "no-relevant-documents", "error", "No query of the dataset has a relevant document.",
        "every metric of relevance is 0, or what the policy puts there",
        "check that the right column was written as the grade; 1 and more means relevant",
    ),
    Rule(
        "empty-queries", "warning",
        "Queries have no relevant document: a warning from a tenth of the queries on.",
        "tools disagree on them: 0 here unless the policy or the convention says otherwise, 1 for "
        "LightGBM, left out by others",
        "say beside the numbers how they count; 'policy: {empty_queries: skip}' leaves them out",
        True,
    ),
    Rule(
        "one-document-queries", "warning",
        "Queries of a learning-to-rank file have one document alone: a warning from a tenth on.",
        "every order of one document is the best one, so their values say nothing of the model "
        "and draw the means of all models together",
        "leave such queries out of the test file, or say how many there are",
    ),
    Rule(
        "grades-above-4", "note", "The highest grade is above 4.",
        "with an exponential gain, 2^grade - 1, the highest grades outweigh all others",
        "check the scale, and name the gain beside the numbers: gain=exp or gain=linear",
    ),
    Rule(
        "grades-above-30", "warning", "The highest grade is above 30.",
        "an exponential gain of it is beyond what LightGBM takes, and one document decides a query",
        "check that it is a grade and no identifier, rank or count",
    ),
    Rule(
        "fractional-grades", "note", "Some grades are no whole numbers.",
        "only some conventions take them; trec_eval cuts them to whole numbers",
        "name the convention beside the numbers",
    ),
    Rule(
        "negative-grades", "note", "Some grades are below 0, which means not judged.",
        "those documents count as if they were in no judgement",
        "nothing, where -1 or -2 marks junk as in TREC's web track",
    ),
    Rule(
        "other-collection", "error", "Qids agree, and no docno of the run is in any judgement.",
        "every metric of relevance is 0, whatever the system did",
        "give the judgements of the collection that was searched, or write docnos alike in both",
    ),
    Rule(
        "other-topics", "error",
        "Docnos are judged, but for other queries than they answer: a warning where a few are for "
        "their own, no more than by chance, or where those of many queries are for another one "
        "each; a note where no query's are, and a document is judged for two queries and more on "
        "average, as a random baseline does so there.",
        "every metric of relevance is 0, whatever the system did",
        "check that both files number the topics alike",
    ),
    Rule(
        "nothing-judged", "warning", "None of the documents that a run retrieved is judged.",
        "every metric of relevance is 0",
        "check that these are the judgements of that collection, with docnos written alike",
    ),
    Rule(
        "docno-spelling", "error",
        "Docnos would be judged, were they written as in the judgements: another Unicode "
        "normalisation, or, of a tenth of those found and more, another case, quotes, leading "
        "zeros, a prefix or an ending: a warning where other documents are judged.",
        "they count as documents that nobody judged, which is not relevant",
        "write docnos alike in both files",
    ),
    Rule(
        "qid-spelling", "warning",
        "Queries that are not judged would be ones that are not answered, were they written as in "
        "the judgements.",
        "what they answer counts for nothing, and the judged ones count 0 or are left out",
        "write qids alike in both files",
    ),
    Rule(
        "missing-queries", "warning",
        "Judged queries are not answered by the run: a note under 'policy: {missing_queries: "
        "skip}'.",
        "each counts as 0 for metrics where higher is better; under 'policy: {missing_queries: "
        "skip}' it is left out, and the mean is over fewer queries",
        "complete the run, or say how many queries it answers", True,
    ),
    Rule(
        "extra-queries", "note", "Queries of the run are not judged.",
        "they count for nothing",
        "nothing, where only some topics were judged",
    ),
    Rule(
        "depth", "note", "Queries of a run have different numbers of documents.",
        "a query with fewer documents than a cut-off, or than policy.depth, has no others there",
        "nothing, where the system found no more",
    ),
    Rule(
        "cut-last-query", "warning",
        "Every query has the same number of documents, but for the last of the file, which has "
        "fewer.",
        "where the file was cut, that query's values are too low",
        "compare the size of the file with its source's, or copy it again",
    ),
    Rule(
        "unjudged-at-10", "note",
        "A tenth and more of the documents at rank 10 or before are not judged, or have a grade "
        "below 0, which says so.",
        "they count as not relevant, so that values are lower bounds",
        "report judged@10 beside the numbers",
    ),
    Rule(
        "unjudged-unlike-others", "warning",
        "A run has many more unjudged documents at rank 10 or before than the dataset's other "
        "runs.",
        "they count as not relevant: part of its distance to the other runs may be that nobody "
        "looked",
        "report judged@10 beside the numbers, or compare with policy.judged_only",
    ),
    Rule(
        "unknown-docnos", "note", "Docnos of the run are in no query's judgements.",
        "they can only count as not relevant",
        "nothing, where judgements cover a part of the collection",
    ),
    Rule(
        "constant-scores", "warning",
        "All scores of a query are equal: a warning from a tenth of the queries on.",
        "there the policy for ties decides the order, and not the system",
        "check what was written as the score; a config accepts a system without an order of its "
        "own by 'guard: {accept: [constant-scores]}'",
        fix_of_note="nothing, where no order is meant; else check what was written as the score",
    ),
    Rule(
        "nearly-constant-scores", "warning",
        "Nine tenths of a query's documents share one score: a warning from a tenth of the "
        "queries on.",
        "there the policy for ties decides most of the order, and not the system",
        "write the scores with more digits; a config accepts that they have few by "
        "'guard: {accept: [nearly-constant-scores]}'",
        fix_of_note="nothing, where scores have few digits; else write them with more",
    ),
    Rule(
        "score-ties", "warning",
        "Documents of one query share a score: a warning from a tenth of all pairs on, unless the "
        "config has policy.ties.",
        "the policy for ties decides their order; tools differ in it",
        "say which order it is: in a config 'policy: {ties: trec_eval}' or another, and this is a "
        "note; --ties of harness evaluate; 'bounds' in its place shows how much hangs on it",
        True,
        "nothing, where the order is said beside the numbers; 'policy: {ties: bounds}', or --ties "
        "bounds of harness evaluate, shows how much hangs on it",
    ),
    Rule(
        "single-precision", "warning",
        "Scores that differ are equal in single precision, in which trec_eval compares them: a "
        "warning from a hundredth of the rows on.",
        "their docnos decide the order, and not the system",
        "write scores whose differences survive (no large constant, no tiny scale), or have them "
        "compared in double precision, as trec_eval 10 does, by 'policy: {ties: trec_eval10}', and "
        "say so",
    ),
    Rule(
        "overflow", "warning", "Scores are beyond the largest number of single precision.",
        "trec_eval 9, and 'policy: {ties: trec_eval}', take them all for infinite, and so for "
        "equal",
        "scale the scores, or have them compared in double precision, as trec_eval 10 does, by "
        "'policy: {ties: trec_eval10}', and say so",
    ),
    Rule(
        "labels-as-scores", "error",
        "Scores follow the grades exactly: their correlation is 1, each of three grades and more "
        "has one score of its own, or every query of many is in the order of its grades: a warning "
        "where they only separate grades of some value and more from all others.",
        "where labels were saved as scores, the values are the labels' own; where a model orders "
        "a fold perfectly, it may be its training data",
        "save what the model predicts for test data, and not the labels; a config accepts an "
        "oracle run by 'guard: {accept: [labels-as-scores]}'",
        fix_of_note="nothing, where it is an oracle; else save what the model predicts",
    ),
    Rule(
        "score-range", "warning",
        "A fold's scores lie for the most part outside what the same model gave on all of its "
        "other folds, two at least, or a query's are five times as wide, or as narrow.",
        "nothing, if the model is another one; a file of another model, or of another scale, if "
        "it is not",
        "check which model wrote the file",
    ),
    Rule(
        "same-file-twice", "warning",
        "Two names stand for files of the same bytes, or two names of runs for one file.",
        "one system's values stand under two names, and seeds or folds seem to spread less",
        "check which file was meant to be the other one",
    ),
    Rule(
        "shared-queries", "warning", "Folds of one dataset have queries in common.",
        "such queries count once a fold; and where they were in a fold's training data too, "
        "values are too high",
        "check which file is which fold's test part",
    ),
    POOLED,
)  # fmt: skip
"""Those that ``harness run`` looks at too, beside those of rows and columns."""

RULES: dict[str, Rule] = {rule.name: rule for rule in (*RUN_RULES, *PLACED, *FILE_RULES)}
"""Every rule by its name."""

ACCEPTABLE = tuple(
    name for name in RULES if RULES[name] not in (*REFUSED, POOLED) and name != "config"
)
"""Those that a config can accept: what cannot be read, or pooled, stays an error."""


def finding(
    name: str,
    place: str,
    what: str,
    count: int = 1,
    examples: Sequence[str] = (),
    severity: Severity | None = None,
    effect: str = "",
    fix: str = "",
) -> Finding:
    """Return what a rule found, with the rule's own words for its effect and how to mend it.

    Parameters
    ----------
    severity : {"error", "warning", "note"}, optional
        Where it is milder than the rule's.
    effect, fix : str
        Where more is known than the rule says.
    """
    rule = RULES[name]
    severity = severity or rule.severity
    return Finding(
        name, severity, place, what, count, tuple(examples[:SHOWN]), effect or rule.effect,
        fix or _advice(rule, severity),
    )  # fmt: skip


def _advice(rule: Rule, severity: Severity) -> str:
    """Return how to mend what a rule found, which may be a note already."""
    return rule.fix_of_note if severity == "note" and rule.fix_of_note else rule.fix


_OF_JUDGEMENTS = {
    "dropped-rows": (
        "the grade that is kept decides", "remove the duplicates where the judgements are made"
    ),
}  # fmt: skip
"""Effect and fix of what readers warn of, of rules that say something else of judgements."""


def of_reader(
    said: Said, place: str, severity: Severity | None = None, *, judged: bool = False
) -> Finding:
    """Return the finding for what a reader warned of.

    Parameters
    ----------
    place : str
        The file, or ``""``.
    judged : bool
        Whether it holds judgements.
    """
    what = said.text.removeprefix(f"{place}: ")
    at = f"{place}:{said.line}" if place and said.line else place
    effect, fix = _OF_JUDGEMENTS.get(said.rule, ("", "")) if judged else ("", "")
    found = finding(said.rule, at, what, said.n, said.examples, severity, effect, fix)
    return replace(found, at_least=said.at_least)


def accepted(findings: Iterable[Finding], names: Iterable[str]) -> list[Finding]:
    """Return findings, those of the rules named made notes."""
    known = {*names}
    return [_as_note(one) if one.rule in known else one for one in findings]


def _as_note(one: Finding) -> Finding:
    rule = RULES[one.rule]
    fix = _advice(rule, "note") if one.fix == rule.fix else one.fix
    return replace(one, severity="note", fix=fix)
