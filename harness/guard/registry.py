"""Every rule of the guard by name: how bad it is, what it looks for, what it does to the numbers.

docs/check.md lists them; ``guard: {accept: [...]}`` in a config names them.

What readers refuse and warn of, in one rule for each kind; what is wrong with a config; and what
is told by comparing the files of a sweep with each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..errors import Finding, HarnessError, HarnessWarning, Problem, Severity

SHOWN = 3
"""Examples of a finding, at most."""
ORDER: tuple[Severity, ...] = ("error", "warning", "note")
MANY = 0.1
"""Share of the queries (or of the pairs) from which on a finding is a warning: what a tenth of
them does moves a mean by more than systems usually differ."""
APART = ("reader", "unreadable", "config")
"""Rules whose findings are about anything, and are not taken together."""
Kind = Literal["judgements", "rows", ""]
"""What a file holds: judgements, predictions that follow the rows of a dataset, or a run."""


@dataclass(frozen=True)
class Rule:
    """What the guard looks for.

    Parameters
    ----------
    name : str
    severity : {"error", "warning", "note"}
        Of its findings; a milder one where little is touched.
    about : str
        One line for the list of rules.
    effect : str
        What it does to the numbers.
    fix : str
        How to mend it.
    in_table : bool
        Whether a leaderboard says it below its rows, so that ``harness run`` need not say it again.
    fix_of_note : str
        How to mend it where it is a note already; as `fix` where empty.
    """

    name: str
    severity: Severity
    about: str
    effect: str
    fix: str
    in_table: bool = False
    fix_of_note: str = ""


_NONE = "it gives no values"
REFUSED = (
    Rule(
        "missing-file", "error", "A file that is not there, or is a folder.", _NONE,
        "correct the path",
    ),
    Rule(
        "truncated", "error",
        "A file that ends within a line, or compressed data that end too early.",
        "what came after is lost: queries are missing or short, and count less or 0",
        "get the whole file again",
    ),
    Rule(
        "damaged", "error", "Compressed data that cannot be unpacked.", _NONE,
        "get the whole file again",
    ),
    Rule(
        "unpacks-too-far", "error", "A file that takes more bytes than the free memory has.", _NONE,
        "free memory, or split the file",
    ),
    Rule(
        "empty-file", "error", "A file without rows.", _NONE,
        "check how it was written or downloaded",
    ),
    Rule(
        "not-finite", "error", "A score or grade that is NaN or infinite.",
        "it has no place in an order; trec_eval ranks it without a word",
        "repair the system's output",
    ),
    Rule(
        "duplicates", "error", "A document twice in one query.",
        "it counts twice, and measures exceed 1",
        "keep one: 'duplicates: last' in the file's entry of the config, --duplicates last here",
    ),
    Rule(
        "header-line", "error", "A line of names before the numbers.",
        "read as a row, it would be of a query that there is not", "delete the header line",
    ),
    Rule(
        "row-count", "error",
        "A number of predictions other than the rows of the dataset: says which may be too many, "
        "which rows lack one, or of which other dataset of the config they are.",
        "predictions belong to other rows than their own",
        "predict every row of that file, in its order, and nothing else",
    ),
    Rule(
        "group-sizes", "error",
        "Sizes of groups that do not add up to the rows, or contradict the qids.",
        "rows belong to other queries than their own", "name the file of sizes that belongs to it",
    ),
    Rule(
        "grade-values", "error",
        "A grade that is no whole number, where no metric takes fractions.",
        "metrics that count grades have no value", "scale or round the grades, or choose a "
        "convention that takes fractions",
    ),
    Rule(
        "swapped-files", "error", "Judgements where a run is expected, or the other way round.",
        _NONE, "swap the two files",
    ),
    Rule(
        "columns", "error",
        "A line with too few columns, too many, or other ones.",
        _NONE, "write the columns that the format has",
    ),
    Rule(
        "no-common-query", "error",
        "A run and judgements that share no query: says which other dataset of the config has its "
        "queries.",
        "nothing is evaluated, or every query counts 0", "name the judgements of its own topics",
    ),
    Rule(
        "unreadable", "error", "Anything else that a reader refuses.", _NONE, "repair the file"
    ),
)  # fmt: skip
WARNED = (
    Rule(
        "scattered-queries", "warning",
        "Rows of a query that come back after another query began (qid contiguity): group sizes, "
        "as LightGBM and XGBoost take them, would make several queries of it.",
        "they are gathered here by qid; tools that take rows as they come see several queries",
        "sort the file by qid",
    ),
    Rule(
        "dropped-rows", "warning", "Rows left out under 'duplicates: first' or 'last'.",
        "the score that is kept decides", "remove the duplicates where the run is made",
    ),
    Rule(
        "other-compression", "warning", "A name that says another compression than the bytes have.",
        "none here; other tools may fail", "rename the file",
    ),
    Rule(
        "empty-groups", "warning", "Sizes of groups that are 0.",
        "they are no queries here; LightGBM counts each as 1 in its mean NDCG, which is higher",
        "leave them out of the file of sizes; where a query lacks its rows, write those",
    ),
    Rule(
        "repeated-rows", "warning", "Learning-to-rank rows that name a document twice.",
        "all rows count; they are named d0, d1, ... by position", "remove the repeated rows",
    ),
    Rule(
        "cut-line", "warning",
        "A last line that has no end, with a piece of the tag before it, of the rank, or of a "
        "prediction; or fewer features than each line before it.",
        "rows after it may be missing, and the last query is short", "get the whole file again",
    ),
    Rule(
        "extra-fields", "warning", "Lines of a TREC run with more than six fields.",
        "the first six are read, as in trec_eval: where a docno holds a blank, its rank is taken "
        "for its score",
        "write docnos without blanks, and nothing after the tag",
    ),
    Rule(
        "unused-columns", "note",
        "Columns of a table that are not read, if their names may be those of identifiers or "
        "labels.",
        "if one of them names the documents or has the grades, the values are of other columns",
        "name the right columns in the config: columns: {docno: ...}",
    ),
    Rule(
        "several-tags", "warning", "A TREC run with several tags in its last column.",
        "it may be several systems' output in one file",
        "split it, where it is; or write one tag",
    ),
    Rule(
        "ranks-against-scores", "warning",
        "Rows of a TREC run whose score is higher than that of the row ranked before.",
        "the scores decide the order, as in trec_eval; tools that go by rank give other values",
        "write ranks and scores that agree",
    ),
    Rule(
        "unusable-judgements", "warning", "Queries whose grades are all below 0: not judged.",
        "trec_eval drops them or counts them 0, silently", "leave them out of the qrels",
    ),
    Rule(
        "reader", "warning", "Anything else that a reader warns of.",
        "as the warning says", "look at the file there; it is read as the warning says",
    ),
)  # fmt: skip
PLACED = (
    Rule(
        "shifted", "warning",
        "As many predictions as rows, which correlate with the grades clearly better some rows "
        "further on: all of them, or those of one stretch of rows.",
        "each document has the score of a neighbour",
        "find what was inserted or lost (a header line, a first row), and predict again",
    ),
    Rule(
        "swapped-fold", "warning",
        "Predictions that correlate with the grades of another dataset of as many rows, and not "
        "with those of their own.",
        "each document has the score of a document elsewhere", "give the predictions of this fold",
    ),
    Rule(
        "upside-down", "warning",
        "Predictions that fall as the grades rise; or a run whose relevant documents come after "
        "the others.",
        "the worst documents come first", "negate them, if they are ranks, distances or losses",
    ),
    Rule(
        "unrelated", "note",
        "Predictions that correlate with the grades no more than chance does, as those of a random "
        "baseline do: a warning where the same model's do clearly on another fold, and where files "
        "are named in place of a config.",
        "the order is a random one; so it is where rows were shuffled",
        "if it is no random baseline: predict in the order of the dataset's rows",
    ),
    Rule(
        "swapped-columns", "error",
        "Grades that are a model's scores, beside predictions that are whole grades; or a TREC "
        "file whose qids and docnos, or whose ranks and scores, have changed places.",
        "the judgements are taken for the system, and the system for the judgements",
        "put each column in its place",
    ),
    Rule(
        "rank-as-score", "error",
        "A TREC run whose scores are its ranks: a warning where both fall down the file.",
        "the order is upside down: the last document comes first",
        "write a score that falls with the rank, such as its negative",
    ),
    Rule(
        "same-queries", "warning",
        "Queries of two datasets that hold the same rows, by their features: a note where all are "
        "the same but for their grades.",
        "they count twice where folds are pooled, and a model may have been trained on them",
        "make the folds anew from distinct queries",
    ),
    Rule(
        "same-rows", "warning",
        "Other rows of two datasets with the same features: a warning from a hundredth on.",
        "they count twice where folds are pooled, and a model may have been trained on them",
        "nothing, where features are few and coarse; else make the folds anew",
    ),
)  # fmt: skip
"""Rows and columns that are not where they belong, and rows that are there twice: which every run
looks for too."""
FOUND = (
    Rule(
        "config", "error", "Something wrong in the config.", "nothing runs",
        "correct it at that place; docs/config.md lists what there can be",
    ),
    Rule(
        "gaps", "warning", "Cells that a grid of folds, seeds and models lacks.",
        "means are over different cells for different systems",
        "make them, leave them out with 'where:', or say 'complete: true' to be stopped by them",
    ),
    Rule(
        "no-line-end", "note", "A last line without an end.",
        "none by itself; a cut file often ends so",
        "compare the size of the file with its source's; end the line where nothing is lacking",
    ),
)  # fmt: skip
FILE_RULES = (*REFUSED, *WARNED, *FOUND)


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
    Rule(
        "guard-failed", "warning", "The guard itself failed: a mistake in harness.",
        "none on the values; some findings may be missing",
        "report it, with what 'harness --debug check' prints",
    ),
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


_OTHER_EFFECTS: Mapping[tuple[Kind, str], str] = {
    ("judgements", "duplicates"): (
        "one document is judged twice, and counts twice in the best ranking"
    ),
    ("judgements", "not-finite"): "it does not say whether the document is relevant",
    ("judgements", "header-line"): (
        "read as a row, it would be a judgement for a query that there is not"
    ),
    ("judgements", "dropped-rows"): "the grade that is kept decides",
    ("rows", "header-line"): "read as a row, it would shift every prediction by one",
}
"""What rules of readers do to the numbers, if a file holds something else than a run."""


def of_warning(
    warning: Warning | str, files: Iterable[str] = (), judged: Container[str] = ()
) -> Finding:
    """Return the finding for what a reader warned of.

    Parameters
    ----------
    warning : Warning or str
        A :class:`~harness.errors.HarnessWarning`, whose text begins with its file.
    files : iterable of str
        Those that it may be of.
    judged : container of str
        Those of them that hold judgements.

    >>> found = of_warning(HarnessWarning("a.run: 2 tags", "several-tags", 2, 7), ["a.run"])
    >>> found.rule, found.place, found.what
    ('several-tags', 'a.run:7', '2 tags')
    """
    text = str(warning)
    if not isinstance(warning, HarnessWarning):
        return finding("reader", "", text)
    file = next((one for one in files if text.startswith(f"{one}: ")), "")
    rule, kind = warning.rule or "reader", _JUDGED if file in judged else ""
    fix = "remove the duplicates where the judgements are made"
    found = finding(
        rule, f"{file}:{warning.line}" if file and warning.line else file,
        text.removeprefix(f"{file}: "), warning.count, warning.examples,
        effect=_OTHER_EFFECTS.get((kind, rule), ""),
        fix=fix if (kind, rule) == (_JUDGED, "dropped-rows") else "",
    )  # fmt: skip
    return replace(found, at_least=warning.at_least)


def accepted(findings: Iterable[Finding], names: Iterable[str]) -> list[Finding]:
    """Return findings, those of the rules named made notes."""
    known = {*names}
    return [_as_note(one) if one.rule in known else one for one in findings]


def _as_note(one: Finding) -> Finding:
    rule = RULES[one.rule]
    fix = _advice(rule, "note") if one.fix == rule.fix else one.fix
    return replace(one, severity="note", fix=fix)


_LINE = re.compile(r":(\d+)$")
_JUDGED: Kind = "judgements"
_LINE_SHOWN, _QUOTED = 120, 40
"""Characters of a line that are shown by itself; that are quoted beside its number."""


def refused(place: str, error: HarnessError, kind: Kind = "") -> Iterator[Finding]:
    """Yield what an error says, by rule.

    Parameters
    ----------
    place : str
        The file, if a problem does not say where it is.
    error : HarnessError
    kind : {"judgements", "rows", ""}
        What the file holds.
    """
    names = Counter(rule_of(problem) for problem in error.problems)
    more = error.total - len(error.problems)
    for name, n in names.items():
        some = [one for one in error.problems if rule_of(one) == name]
        one = finding(
            name, some[0].where or place, some[0].what, n + more, _examples(some),
            effect=_OTHER_EFFECTS.get((kind, name), ""), fix=some[0].fix,
        )  # fmt: skip
        more = 0
        yield replace(one, at_least=error.at_least)


def _examples(problems: list[Problem]) -> list[str]:
    """Return the lines that are wrong, each with its number where there are several."""
    if len(problems) == 1:
        return [one] if (one := _cut_refused(problems[0].found, _LINE_SHOWN)) else []
    lines = ((_LINE.search(one.where), one) for one in problems)
    return [
        f"line {at[1]} {_cut_refused(one.found, _QUOTED)!r}" if at else one.found or one.what
        for at, one in lines
    ]


def _cut_refused(line: str, width: int) -> str:
    """Return a line as it stands, but for its ends and what is beyond `width`: data, not text."""
    line = line.strip()
    return line if len(line) <= width else f"{line[: width - 3]}..."


def warned(found: Iterable[tuple[str, str]]) -> str:
    """Return how many warnings there are, and of which rules; nothing where there is none.

    Parameters
    ----------
    found : iterable of (str, str)
        The rule and the severity of each finding. What every leaderboard shows is left out.

    Examples
    --------
    >>> warned([("upside-down", "warning"), ("swapped-fold", "warning"), ("depth", "note")])
    '2 warnings (swapped-fold, upside-down)'
    >>> warned([("score-ties", "warning")])
    ''
    """
    rules = [
        rule
        for rule, severity in found
        if severity == "warning" and not (rule in RULES and RULES[rule].in_table)
    ]
    if not rules:
        return ""
    return f"{len(rules):,} warning{'s' * (len(rules) != 1)} ({', '.join(sorted({*rules}))})"


FOLLOWS: Mapping[str, Collection[str]] = {
    "labels-as-scores": {
        "score-ties", "constant-scores", "nearly-constant-scores", "ranks-against-scores",
        "upside-down", "unrelated",
    },
    "overflow": {"score-range", "single-precision"},
    "rank-as-score": {"ranks-against-scores", "upside-down"},
    "upside-down": {"ranks-against-scores"},
    "other-collection": {"nothing-judged"},
    "other-topics": {"nothing-judged", "unjudged-at-10", "unjudged-unlike-others"},
    "unjudged-unlike-others": {"unjudged-at-10"},
    "docno-spelling": {"unjudged-unlike-others", "nothing-judged", "other-collection"},
    "swapped-columns": {"no-common-query", "ranks-against-scores", "upside-down"},
}  # fmt: skip
"""By the rule of a cause, those that find nothing new beside it."""
_PLACE_LINE = re.compile(r"(:|: row )\d+$")


def caused_by(rule: str) -> Collection[str]:
    """Return the rules whose findings follow from one of this rule.

    >>> caused_by("upside-down")
    {'ranks-against-scores'}
    """
    return FOLLOWS.get(rule, ())


def without_effects(findings: Iterable[Finding], accept: Collection[str] = ()) -> list[Finding]:
    """Return findings without those that follow from another one of the same file.

    An error that follows from what is accepted stays, as what is accepted becomes a note.
    """
    every = [*findings]
    causes: dict[str, set[str]] = {}
    for one in every:
        if one.rule in FOLLOWS:
            causes.setdefault(file_of(one), set()).add(one.rule)

    def follows(one: Finding) -> bool:
        known = causes.get(file_of(one), set())
        if one.severity == "error":
            known = known.difference(accept)
        return any(one.rule in FOLLOWS[cause] for cause in known)

    return [one for one in every if not follows(one)]


def file_of(one: Finding) -> str:
    """Return the file that a finding is of, without the line."""
    return _PLACE_LINE.sub("", one.place)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings once each, errors first."""
    return sorted(dict.fromkeys(findings), key=lambda one: ORDER.index(one.severity))


def rule_of(problem: Problem) -> str:
    """Return the name of the rule of a reader's error."""
    return problem.rule or "unreadable"


def without_folders(places: Iterable[str], files: Iterable[str]) -> list[str]:
    """Return places in some files for examples: without folders, where names tell files apart.

    A folder would take most of the characters that an example has.

    >>> without_folders(["d/a.txt:7"], ["d/a.txt", "d/b.txt"])
    ['a.txt:7']
    >>> without_folders(["1/a.txt:7"], ["1/a.txt", "2/a.txt"])
    ['1/a.txt:7']
    """
    names = [path.rpartition("/")[2] for path in files]
    apart = len({*names}) == len(names)
    return [place.rpartition("/")[2] if apart else place for place in places]


def by_share(part: int, whole: int, many: float = MANY) -> Severity:
    """Return how bad something is that is true of a part: a warning from `many` of all on."""
    return "warning" if part >= many * whole else "note"


def percent(part: int, whole: int) -> str:
    """Return a share as people read it.

    >>> percent(1, 3), percent(1, 2000)
    ('33 %', '0.05 %')
    """
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 10 else f"{share:.2g} %"


def plural(n: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "query"), plural(1200, "query"), plural(2, "row")
    ('1 query', '1,200 queries', '2 rows')
    """
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else several}"
