"""Every rule of findings: its severity, what it finds, its effect on the numbers, its fix.

docs/reference/rules.md lists them, and ``guard: {accept: [...]}`` in a config names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import Finding, Place, Severity

SHOWN = 3
"""Examples of a finding, at most."""


@dataclass(frozen=True)
class Rule:
    """A rule; its findings are milder than `severity` if few queries or rows are affected."""

    name: str
    severity: Severity
    about: str
    effect: str
    fix: str
    in_table: bool = False
    """Whether a leaderboard shows it below its rows, so that ``harness run`` does not print it."""
    stops_run: bool = True
    """Whether an error of it ends the run of its cell; if not, it is a warning there."""


_NONE = "the file gives no values"
_TWICE = "they count twice if folds are pooled, and a model may have been trained on them"
_AGAIN = "get the whole file again"
SAVE = "write predictions in the order of the dataset's rows, or with harness.save_predictions"
REFUSED = (
    Rule("missing-file", "error",
         "A file that does not exist or is a folder.",
         _NONE,
         "correct the path"),
    Rule("truncated", "error",
         "A file that ends within a line, or compressed data cut short.",
         "queries after the cut are missing or short, and count less or 0",
         _AGAIN),
    Rule("damaged", "error",
         "Compressed data that cannot be unpacked.",
         _NONE,
         _AGAIN),
    Rule("unpacks-too-far", "error",
         "A file that takes more memory than is free.",
         _NONE,
         "free memory, or split the file"),
    Rule("empty-file", "error",
         "A file without rows.",
         _NONE,
         "check how it was written or downloaded"),
    Rule("not-finite", "error",
         "A score or grade that is NaN or infinite.",
         "it has no place in an order; trec_eval ranks it silently",
         "repair the system's output"),
    Rule("duplicates", "error",
         "A document twice in one query.",
         "it counts twice, and metrics exceed 1",
         "keep one: duplicates (--duplicates) best of a run, last of qrels"),
    Rule("header-line", "error",
         "A line of names before the numbers.",
         "read as a row, it would belong to no query, or shift all predictions",
         "delete the header line"),
    Rule("row-count", "error",
         "The number of predictions differs from the number of rows in the dataset.",
         "each prediction may belong to another row",
         "predict every row of that file, in its order, and nothing else"),
    Rule("other-rows", "error",
         "A table of predictions whose rows, qids or labels contradict the dataset's rows.",
         "each prediction may belong to another row",
         "write the scores in the dataset's row order, as harness.save_predictions does"),
    Rule("group-sizes", "error",
         "Group sizes that do not add up to the rows, or contradict qids.",
         "rows are counted for the wrong queries",
         "give the group sizes that belong to this file"),
    Rule("grade-values", "error",
         "A grade that a metric refuses, such as a fraction.",
         "the metric has no value",
         "scale or round the grades, or choose a convention that takes them"),
    Rule("swapped-files", "error",
         "Qrels in place of a run, or a run in place of qrels.",
         _NONE,
         "swap the two files"),
    Rule("columns", "error",
         "A line with too few, too many or other columns.",
         _NONE,
         "write the columns that the format has"),
    Rule("no-common-query", "error",
         "A run and qrels that share no query.",
         "nothing is evaluated, or every query counts 0",
         "give the qrels of the run's own queries"),
    Rule("refused-missing-queries", "error",
         "Judged queries that the run does not answer, under 'policy: {missing_queries: error}'.",
         "the run is not evaluated",
         "complete the run, or set missing_queries to zero or skip"),
    Rule("refused-empty-queries", "error",
         "Queries without relevant documents, under 'policy: {empty_queries: error}'.",
         "the run is not evaluated",
         "take them out of the dataset, or set empty_queries to zero, one or skip"),
    Rule("unnamed-rows", "error",
         "A run that names documents, for learning-to-rank rows without distinct docnos.",
         "no name can be matched with its row",
         "write one score for each row, in the order of the file"),
    Rule("unreadable", "error",
         "Anything else that a reader rejects.",
         _NONE,
         "repair the file"),
)  # fmt: skip
WARNED = (
    Rule("scattered-queries", "warning",
         "Learning-to-rank rows of one query that are not next to each other.",
         "they are gathered by qid here; LightGBM and XGBoost see several queries",
         "sort the file by qid"),
    Rule("gathered-queries", "note",
         "Rows of one query that are not next to each other, in a run or qrels.",
         "none on the values: rows are gathered by qid",
         "sort the file by qid if other tools need it"),
    Rule("dropped-rows", "warning",
         "Rows dropped under 'duplicates: first', 'last' or 'best'.",
         "the values depend on which score or grade is kept",
         "remove the duplicates when you write the file"),
    Rule("passages", "note",
         "Passages of which documents were made, under 'documents'.",
         "the values are of documents, each with one score of its passages",
         "say so next to the numbers; the table's caption and the methods text do"),
    Rule("other-compression", "warning",
         "A file name whose ending does not match the compression of its content.",
         "none here; other tools may fail",
         "rename the file"),
    Rule("empty-groups", "warning",
         "Queries without a document: sizes of 0, masks that are all False.",
         "they are left out; LightGBM counts each as 1 in its mean NDCG",
         "remove them, or add the missing rows"),
    Rule("repeated-rows", "warning",
         "Learning-to-rank rows that name a document twice.",
         "all rows count; they are named d0, d1, ... by position",
         "remove the repeated rows"),
    Rule("cut-line", "warning",
         "A last line without an end that is shorter than the lines before.",
         "rows after it may be missing, and the last query is short",
         _AGAIN),
    Rule("extra-fields", "warning",
         "Lines of a TREC run with more than six fields.",
         "the first six are read, as in trec_eval; a blank in a docno turns ranks into scores",
         "write docnos without blanks, and nothing after the tag"),
    Rule("unused-columns", "note",
         "Columns of a table that are not read, but may hold identifiers or labels.",
         "if one of them holds the docnos or the grades, the values use the wrong columns",
         "rename the right columns, or name them in the config: columns: {docno: ...}"),
    Rule("several-tags", "warning",
         "A TREC run with several tags in its last column.",
         "it may hold several systems' output",
         "split it if so, or write one tag"),
    Rule("ranks-against-scores", "warning",
         "Rows of a TREC run with a higher score than the row ranked before.",
         "scores decide the order, as in trec_eval; tools that use ranks give other values",
         "write ranks and scores that agree"),
    Rule("unusable-judgements", "warning",
         "Queries whose grades are all below 0.",
         "trec_eval drops them or counts them 0, silently",
         "leave them out of the qrels"),
    Rule("reader", "warning",
         "Anything else that a reader warns of.",
         "as the warning says",
         "look at that place in the file; it is read as the warning says"),
)  # fmt: skip
PLACED = (
    Rule("shifted", "warning",
         "Predictions, or a stretch of them, that fit the grades better some rows further up or "
         "down.",
         "each document has the score of a neighbour",
         "find the line that was added or lost (a header, a first row), and predict again"),
    Rule("row-order", "warning",
         "Predictions that fit the rows clearly better in another order: by qid, by group size, "
         "reversed.",
         "each document has the score of another document",
         SAVE),
    Rule("group-order", "warning",
         "Group sizes that fit the grades clearly better in another order: reversed, by qid, by "
         "size.",
         "rows are counted for the wrong queries",
         "write the sizes in the order of the rows: groupby(sort=False), not value_counts()"),
    Rule("sorted-by-score", "warning",
         "Predictions that fall, or rise, from row to row within every query.",
         "each document has the score of another one, unless the dataset is sorted by it",
         "write predictions in the row order, or accept this rule in a config"),
    Rule("swapped-fold", "warning",
         "Predictions that fit another dataset with as many rows, and not their own.",
         "each document has the score of another document",
         "give the predictions of this fold"),
    Rule("upside-down", "warning",
         "Predictions that fall as the grades rise, or a run that ranks its relevant documents "
         "last.",
         "the worst documents come first",
         "negate ranks, distances and losses"),
    Rule("unrelated", "note",
         "Predictions that fit the grades no better than chance; a warning if others fit.",
         "the order is random, as if rows were shuffled",
         "unless it is a random baseline, predict in the order of the dataset's rows"),
    Rule("swapped-columns", "error",
         "Two columns swapped: grades and predictions, qids and docnos, or ranks and scores.",
         "the values compare the wrong columns",
         "put each column in its place"),
    Rule("rank-as-score", "error",
         "A TREC run whose scores are its ranks; a warning if both fall down the file.",
         "the order is upside down: the last document comes first",
         "write a score that falls with the rank, such as its negative"),
    Rule("same-queries", "warning",
         "Queries of two learning-to-rank datasets with the same features.",
         _TWICE,
         "make the folds from distinct queries"),
)  # fmt: skip
FOUND = (
    Rule("config", "error",
         "Something wrong in the config.",
         "nothing runs",
         "correct it at that place; docs/reference/config.md lists every key"),
    Rule("gaps", "warning",
         "Missing cells in a grid of folds, seeds and models.",
         "means cover different cells for different systems",
         "add the files, leave the cells out with 'where:', or stop with 'complete: true'"),
    Rule("no-line-end", "note",
         "A last line without an end.",
         "none by itself; a cut file often ends so",
         "compare the size of the file with its source's; end the line if nothing is missing"),
)  # fmt: skip
SUBMITTED = (
    Rule("too-deep", "error",
         "A query with more documents than --max-per-query.",
         "the documents after that rank are not evaluated, or the submission is not accepted",
         "write the best documents of each query, as many as are allowed"),
    Rule("not-in-collection", "error",
         "Documents that are not in the list of --docnos.",
         "they can never be judged, and count as not relevant",
         "search the collection of this task, and write its docnos as they are"),
    Rule("tag", "error",
         "A tag that does not match --tag-pattern, or that another submission has too.",
         "the submission cannot be told apart from others",
         "write a tag of your own that follows the rules of the task"),
    Rule("too-many-runs", "error",
         "More runs of a team than --max-runs.",
         "the submission is not accepted",
         "choose which runs to submit"),
)  # fmt: skip
POOLED = Rule(
    "pooled-queries", "error",
    "Folds that 'summary: {pool: ...}' joins share queries.",
    "such queries would count several times in one mean",
    "correct the folds; or write 'average' for 'pool', without 'compare'",
)  # fmt: skip
VALIDATION = Rule(
    "validation-in-test", "error",
    "Queries on which 'select' chooses settings are also test queries.",
    "the values of the chosen settings are too good",
    "choose on other queries; give different queries different qids",
)  # fmt: skip
RUN_RULES = (
    Rule("no-relevant-documents", "error",
         "No query of the dataset has a relevant document.",
         "every metric of relevance is 0, or what the policy puts there",
         "check that the right column was written as the grade; 1 and more means relevant"),
    Rule("empty-queries", "warning",
         "Queries without relevant documents; a warning if at least 10% are affected.",
         "tools disagree: such a query counts 0 here, 1 in LightGBM, and others leave it out",
         "report how they count; 'policy: {empty_queries: skip}' leaves them out",
         in_table=True),
    Rule("grades-above-30", "warning",
         "The highest grade is above 30.",
         "LightGBM's exponential gain ends at 30, and one document decides a query",
         "check that it is a grade and not an identifier, rank or count"),
    Rule("fractional-grades", "note",
         "Grades that are fractions.",
         "gains such as ndcg take them; metrics of relevant documents such as map need rel",
         "write map(rel=0.5), or relevance_level 0.5 for all metrics"),
    Rule("negative-grades", "note",
         "Grades below 0, which mean not judged.",
         "those documents count as not judged",
         "nothing if -1 or -2 marks junk, as in TREC's web track"),
    Rule("other-collection", "error",
         "The qids agree, but no docno of the run is in the qrels.",
         "every metric of relevance is 0, for every system",
         "give the qrels of the collection that was searched, or write docnos alike in both "
         "files"),
    Rule("other-topics", "error",
         "Docnos are judged, but for other queries than they answer.",
         "every metric of relevance is 0, for every system",
         "check that both files number the queries alike, and that they are of one fold"),
    Rule("nothing-judged", "warning",
         "No document that the run retrieved is judged.",
         "every metric of relevance is 0",
         "check that the qrels are of this collection, and that docnos are written alike"),
    Rule("docno-spelling", "error",
         "Docnos that differ from judged ones only in case, zeros, quotes, prefix, ending, "
         "Unicode form or the number of a passage.",
         "they count as not judged, and so as not relevant",
         "write docnos alike in both files"),
    Rule("qid-spelling", "warning",
         "Qids that differ from judged ones only in their spelling.",
         "their answers count for nothing, and the judged queries count 0 or are left out",
         "write qids alike in both files"),
    Rule("missing-queries", "warning",
         "Judged queries that the run does not answer; a note under 'policy: {missing_queries: "
         "skip}'.",
         "each counts 0 if higher is better; with 'skip' the mean is over fewer queries",
         "complete the run, or report how many queries it answers",
         in_table=True),
    Rule("unscored-rows", "error",
         "Learning-to-rank rows without a score; a warning outside 'harness check'.",
         "they are left out of the ranking, and relevant ones count as not found",
         "score every row of the dataset, also after merge, dropna or head",
         stops_run=False),
    Rule("extra-queries", "note",
         "Queries of the run that are not judged.",
         "they count for nothing",
         "nothing if only some queries were judged"),
    Rule("identical-ids", "warning",
         "Documents of a run whose docno equals the qid; a note in fewer than 10% of the queries.",
         "a query that finds itself pushes other documents down; BEIR and MTEB drop such documents",
         "add 'drop_identical_ids: true' under policy; for answers, accept this rule in a config"),
    Rule("cut-last-query", "warning",
         "Every query has the same number of documents, and only the last of the file has fewer.",
         "if the file was cut, that query's values are too low",
         "compare the size of the file with its source's, or copy it again"),
    Rule("unjudged-at-10", "note",
         "At least 10% of the documents up to rank 10 are not judged, or below 0; a warning at "
         "90% if the qrels are dense.",
         "they count as not relevant, so values are lower bounds",
         "report judged@10 next to the numbers"),
    Rule("constant-scores", "warning",
         "Queries whose scores are all equal; a warning if at least 10% are affected.",
         "the policy for ties decides the order there, not the system",
         "check what was saved as the score, or accept this rule in a config"),
    Rule("score-ties", "warning",
         "Documents of one query that share a score; a warning if at least 10% of the pairs do.",
         "the policy for ties decides their order; tools differ in it",
         "choose an order with 'policy: {ties: trec_eval}' or --ties; 'bounds' shows the effect",
         in_table=True),
    Rule("single-precision", "warning",
         "Different scores that are equal in single precision; a warning from 1% of the rows on.",
         "docnos decide their order, as in trec_eval, not the system",
         "remove a large constant from the scores, or compare doubles: 'policy: {ties: "
         "trec_eval10}'"),
    Rule("labels-as-scores", "error",
         "Scores that are the grades, or have one value for each grade.",
         "the values are those of the labels, not of a model",
         "save what the model predicts; for an oracle, accept this rule in a config"),
    Rule("noisy-labels", "warning",
         "Scores that order documents almost exactly as their grades do: rank correlation 0.97 "
         "and more.",
         "models reach 0.2 to 0.8; the values may be those of labels, or of training rows",
         "save what the model predicts for other rows; for an oracle, accept it in a config"),
    Rule("classes-as-scores", "warning",
         "Predictions for rows that are a few whole numbers, such as the likeliest class.",
         "most documents of a query are tied, and the policy for ties decides their order",
         "save the expected grade, or the probability of a class, not the class"),
    Rule("same-file-twice", "warning",
         "Runs or datasets with the same bytes, runs that rank all documents alike, or two run "
         "names for one file.",
         "one system counts under two names, and seeds or folds seem to vary less",
         "check which file should have been another one"),
    Rule("shared-queries", "warning",
         "Folds of one dataset share queries.",
         "such queries count once a fold, and too high if they were in a fold's training data",
         "check which file is which fold's test part"),
    POOLED,
    VALIDATION,
    Rule("group-queries", "warning",
         "A file of query groups with qids that the dataset does not have, or without some of its.",
         "those queries are in no slice, so slices do not add up to the whole",
         "give each query of the dataset a group, with qids written alike"),
    Rule("reversal", "warning",
         "A system that is better overall and worse in every group of queries, or the reverse.",
         "the groups have other weights for each system: it answers other queries, parts count "
         "alike, or queries have no group",
         "report the slices, group every query, and evaluate all systems on the same queries"),
    Rule("guard-failed", "warning",
         "The guard itself failed: a mistake in harness.",
         "none on the values; some findings may be missing",
         "report it, with what 'harness --debug check' prints"),
)  # fmt: skip
RULES: dict[str, Rule] = {
    rule.name: rule for rule in (*RUN_RULES, *PLACED, *REFUSED, *WARNED, *FOUND, *SUBMITTED)
}
"""Every rule by its name."""
ACCEPTABLE = tuple(
    name
    for name, rule in RULES.items()
    if rule not in (*REFUSED, *SUBMITTED, POOLED, VALIDATION) and name != "config"
)
"""Rules that a config can accept; what cannot be read, pooled or chosen on stays an error."""


def finding(
    name: str, place: str, what: str, count: int = 1, examples: Sequence[str] = (),
    severity: Severity | None = None, effect: str = "", fix: str = "", *, at_least: bool = False,
) -> Finding:  # fmt: skip
    """Return a finding, with the rule's own severity, effect and fix unless given."""
    rule = RULES[name]
    return Finding(
        name, severity or rule.severity, Place.of(place), what, count, tuple(examples[:SHOWN]),
        effect or rule.effect, fix or rule.fix, at_least=at_least,
    )  # fmt: skip
