"""Rules of findings, with severity, effect on the numbers, and fix.

docs/reference/rules.md lists them; ``guard: {accept: [...]}`` in a config accepts them.
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
    """Whether a leaderboard shows it below its rows; ``harness run`` then does not print it."""
    stops_run: bool = True
    """Whether its error ends the run of a cell; otherwise it is a warning there."""


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
         "queries after the cut are missing or incomplete, so they count less or 0",
         _AGAIN),
    Rule("damaged", "error",
         "Compressed data that cannot be unpacked.",
         _NONE,
         _AGAIN),
    Rule("unpacks-too-far", "error",
         "A file that needs more memory than is free.",
         _NONE,
         "free memory, or split the file"),
    Rule("empty-file", "error",
         "A file without rows.",
         _NONE,
         "check how it was written or downloaded"),
    Rule("not-finite", "error",
         "A score or grade that is NaN or infinite.",
         "it has no rank; trec_eval gives it one without a warning",
         "correct the system's output"),
    Rule("duplicates", "error",
         "A docno that occurs twice in one query.",
         "it would count twice, and metrics could exceed 1",
         "keep one: run.duplicates=best, dataset.duplicates=last (with --set or in a config)"),
    Rule("header-line", "error",
         "A header line in a format without headers.",
         "read as a row, it would belong to no query, or shift all predictions",
         "delete the header line"),
    Rule("row-count", "error",
         "The number of predictions differs from the number of rows in the dataset.",
         "each prediction may belong to another row",
         "predict every row of that file, in its order, and nothing else"),
    Rule("other-rows", "error",
         "A table of predictions with rows, qids or labels that contradict the dataset's rows.",
         "each prediction may belong to another row",
         "write the scores in the dataset's row order, as harness.save_predictions does"),
    Rule("group-sizes", "error",
         "Group sizes that do not add up to the rows, or contradict qids.",
         "rows are counted for the wrong queries",
         "give the group sizes that belong to this file"),
    Rule("query-weights", "error",
         "A query without a weight, or a weight that is below 0 or not a number.",
         "weighted means cannot be computed",
         "give every query of the dataset a weight of 0 or more"),
    Rule("grade-values", "error",
         "A grade that a metric does not accept, such as a fraction.",
         "the metric has no value",
         "scale or round the grades, or choose a convention that accepts them"),
    Rule("swapped-files", "error",
         "Qrels given as a run, or a run given as qrels.",
         _NONE,
         "give the qrels first, and leave them out of the runs"),
    Rule("columns", "error",
         "A line with missing, additional or wrong columns.",
         _NONE,
         "write the columns of the format"),
    Rule("no-common-query", "error",
         "A run and qrels without a common query.",
         "nothing is evaluated, or every query counts 0",
         "give the qrels for the queries of this run"),
    Rule("refused-missing-queries", "error",
         "Judged queries that the run does not answer, under 'policy: {missing_queries: error}'.",
         "the run is not evaluated",
         "complete the run, or set missing_queries to zero or skip"),
    Rule("refused-empty-queries", "error",
         "Queries without relevant documents, under 'policy: {empty_queries: error}'.",
         "the run is not evaluated",
         "remove them from the dataset, or set empty_queries to zero, one or skip"),
    Rule("unnamed-rows", "error",
         "A run that names documents, for learning-to-rank rows without distinct docnos.",
         "names of documents cannot be matched with rows",
         "write one score for each row, in the order of the file"),
    Rule("unreadable", "error",
         "Any other error of a reader.",
         _NONE,
         "correct the file"),
)  # fmt: skip
WARNED = (
    Rule("scattered-queries", "warning",
         "Learning-to-rank rows of one query that are not next to each other.",
         "the harness gathers them by qid; LightGBM and XGBoost see several queries",
         "sort the file by qid"),
    Rule("gathered-queries", "note",
         "Rows of one query that are not next to each other, in a run or qrels.",
         "values do not change: rows are gathered by qid",
         "sort the file by qid if other tools need it"),
    Rule("dropped-rows", "warning",
         "Rows dropped under 'duplicates: first', 'last' or 'best'.",
         "the values depend on which score or grade is kept",
         "remove the duplicates when you write the file"),
    Rule("passages", "note",
         "Passages that 'documents' turned into documents.",
         "the values are of documents; each has one score from its passages",
         "report it next to the numbers; the table's caption and the methods text do"),
    Rule("sum-of-negatives", "warning",
         "Sums of passage scores that are mostly below 0, as for distances.",
         "documents with few passages rank first",
         "write take: max for the best passage, or mean (--set run.documents=max:PATTERN)"),
    Rule("other-compression", "warning",
         "A file name with an ending that does not match how the content is compressed.",
         "values do not change; other tools may fail",
         "rename the file"),
    Rule("empty-groups", "warning",
         "Queries without documents: group sizes of 0, or masks with only False.",
         "they are left out; LightGBM counts each as 1 in its mean NDCG",
         "remove them, or add the missing rows"),
    Rule("repeated-rows", "warning",
         "Learning-to-rank rows that name a document twice.",
         "all rows count, with the docnos d0, d1, ... by position",
         "remove the repeated rows"),
    Rule("cut-line", "warning",
         "A last line without a line end that is shorter than the lines before.",
         "rows after it may be missing, and the last query incomplete",
         _AGAIN),
    Rule("extra-fields", "warning",
         "Lines of a TREC run with more than six fields.",
         "only the first six count, as in trec_eval; a blank in a docno turns ranks into scores",
         "write docnos without blanks, and nothing after the tag"),
    Rule("unused-columns", "note",
         "Columns of a table that are not read, but may contain identifiers or labels.",
         "if one of them contains the docnos or the grades, the values use the wrong columns",
         "rename the right columns, or name them in the config: columns: {docno: ...}"),
    Rule("several-tags", "warning",
         "A TREC run with several tags in its last column.",
         "it may contain the output of several systems",
         "split the file, or write one tag"),
    Rule("ranks-against-scores", "warning",
         "Rows of a TREC run with a higher score than the row at the rank before.",
         "scores decide the order, as in trec_eval; tools that use ranks compute other values",
         "write ranks and scores that agree"),
    Rule("unusable-judgements", "warning",
         "Queries with grades below 0 only.",
         "trec_eval drops them or counts them 0, without a warning",
         "remove them from the qrels"),
    Rule("reader", "warning",
         "Any other warning of a reader.",
         "see the warning",
         "look at that place in the file; the warning says how it is read"),
)  # fmt: skip
PLACED = (
    Rule("shifted", "warning",
         "Predictions, or some of them, that fit the grades better a few rows further up or "
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
         "Predictions that fall from row to row in every query, or rise in every query.",
         "each document has the score of another one, unless the dataset is sorted by it",
         "write predictions in the row order; if intended, guard: {accept: [sorted-by-score]} in a "
         "config"),
    Rule("swapped-fold", "warning",
         "Predictions that fit another dataset of the same length instead of this one.",
         "each document has the score of another document",
         "give the predictions of this fold"),
    Rule("upside-down", "warning",
         "Predictions that fall as the grades rise, or a run that ranks its relevant documents "
         "last.",
         "the worst documents come first",
         "if the lowest score is best, add --lower-is-better (in a config order: ascending), or "
         "negate the scores"),
    Rule("distance-as-score", "warning",
         "Scores in a column with the name of a distance or a loss, without order: ascending.",
         "the document with the largest distance comes first",
         "add --lower-is-better (in a config order: ascending), or rename the column"),
    Rule("unrelated", "note",
         "Predictions that do not fit the grades; a warning if other predictions fit.",
         "the order is random, as if rows were shuffled",
         "predict in the order of the dataset's rows, unless the run is a random baseline"),
    Rule("swapped-columns", "error",
         "Two columns swapped: grades and predictions, qids and docnos, or ranks and scores.",
         "the values compare the wrong columns",
         "put each column in its place"),
    Rule("rank-as-score", "error",
         "A TREC run with its ranks as scores; a warning if both fall from line to line.",
         "the order is upside down: the last document comes first",
         "write a score that falls with the rank, such as the negative rank"),
    Rule("same-queries", "warning",
         "Queries of two learning-to-rank datasets with the same features.",
         _TWICE,
         "make folds without common queries"),
)  # fmt: skip
FOUND = (
    Rule("config", "error",
         "A mistake in the config.",
         "nothing runs",
         "correct it at that place"),
    Rule("gaps", "warning",
         "Missing cells in a grid of folds, seeds and models.",
         "means cover different cells for different systems",
         "add the files, leave the cells out with 'where:', or stop with 'complete: true'"),
    Rule("no-line-end", "note",
         "A last line without an end.",
         "values do not change, but a cut file often ends like this",
         "compare the size of the file with its source's; end the line if nothing is missing"),
)  # fmt: skip
SUBMITTED = (
    Rule("too-deep", "error",
         "A query with more documents than --max-per-query.",
         "the documents after that rank are not evaluated, or the submission is not accepted",
         "write only the best documents of each query, at most the limit"),
    Rule("not-in-collection", "error",
         "Documents that are not in the list of --docnos.",
         "they cannot be judged, and count as not relevant",
         "search the collection of this task, and write its docnos unchanged"),
    Rule("tag", "error",
         "A tag that does not match --tag-pattern, or that another submission also has.",
         "the submission cannot be distinguished from others",
         "write a unique tag that follows the rules of the task"),
    Rule("tag-file-name", "note",
         "A submission with a tag that differs from its file's name; a warning if most agree.",
         "tables and pages show the name of the file, not the tag",
         "name the file after the tag"),
    Rule("too-many-runs", "error",
         "More runs of a team than --max-runs.",
         "the submission is not accepted",
         "choose which runs to submit"),
)  # fmt: skip
POOLED = Rule(
    "pooled-queries", "error",
    "Folds that share queries and that 'summary: {pool: ...}' joins, or that are averaged and "
    "compared.",
    "these queries would count several times in one mean or test",
    "write distinct qids in each fold, 'spread' for assessors or seeds, or 'average' without "
    "'compare'",
)  # fmt: skip
VALIDATION = Rule(
    "validation-in-test", "error",
    "Queries on which 'select' chooses settings are also test queries.",
    "the test values of the chosen settings are too high",
    "choose on other queries; give different queries different qids",
)  # fmt: skip
RUN_RULES = (
    Rule("no-relevant-documents", "error",
         "No query of the dataset has a relevant document.",
         "every metric of relevance is 0, or the value that the policy sets",
         "check that the right column was written as the grade; relevant means 1 or more"),
    Rule("empty-queries", "warning",
         "Some queries have no relevant document; a note if these are fewer than 10%.",
         "tools disagree: such a query counts 0 here, 1 in LightGBM, and others leave it out",
         "report how you count them; 'policy: {empty_queries: skip}' leaves them out",
         in_table=True),
    Rule("grades-above-30", "warning",
         "Grades above 30.",
         "one document decides the exponential gain of a query; LightGBM's ends at 30",
         "check that these are grades, not identifiers, ranks or counts"),
    Rule("fractional-grades", "note",
         "Grades that are fractions.",
         "metrics of gains (ndcg) accept them; metrics of relevant documents (map) need 'rel'",
         "write map(rel=0.5), or 'relevance_level: 0.5' for all metrics"),
    Rule("negative-grades", "note",
         "Grades below 0.",
         "those documents count as not judged",
         "ignore it if -1 or -2 marks junk, as in TREC's web track"),
    Rule("other-collection", "error",
         "A run with the qids of the qrels, but with none of their docnos.",
         "every metric of relevance is 0, for every system",
         "give the qrels of the collection that was searched, or write the same docnos in both "
         "files"),
    Rule("other-topics", "error",
         "The documents are judged, but for other queries.",
         "every metric of relevance is 0, for every system",
         "check that both files use the same qids and belong to the same fold"),
    Rule("nothing-judged", "error",
         "A run without any judged document.",
         "every metric of relevance is 0",
         "check that both files are of the same collection and use the same docnos"),
    Rule("docno-spelling", "error",
         "Docnos that differ from judged ones only in case, zeros, quotes, prefix, ending, "
         "Unicode form or the number of a passage.",
         "these documents count as not judged, and therefore as not relevant",
         "write the same docnos in both files"),
    Rule("qid-spelling", "warning",
         "Qids that differ from judged ones only in their spelling.",
         "their documents are ignored, and the judged queries count 0 or are left out",
         "write the same qids in both files"),
    Rule("missing-queries", "warning",
         "Judged queries that the run does not answer; a note under 'policy: {missing_queries: "
         "skip}'.",
         "each counts 0 if higher is better; with 'skip' means are over fewer queries",
         "complete the run, or report the number of queries it answers",
         in_table=True),
    Rule("unscored-rows", "error",
         "Learning-to-rank rows without a score; a warning outside 'harness check'.",
         "the ranking leaves them out, and relevant ones count as not retrieved",
         "score every row of the dataset, also after merge, dropna or head",
         stops_run=False),
    Rule("extra-queries", "note",
         "Queries of the run that are not judged.",
         "they are ignored",
         "nothing if only some queries were judged"),
    Rule("identical-ids", "warning",
         "Documents of a run with the qid as docno; a note in fewer than 10% of the queries.",
         "queries retrieve themselves and push documents down; BEIR and MTEB drop such documents",
         "add 'drop_identical_ids: true' under policy; for answers, guard: {accept: "
         "[identical-ids]} in a config"),
    Rule("cut-last-query", "warning",
         "All queries have the same number of documents, except the last of the file.",
         "if the file was cut, that query's values are too low",
         "compare the file size with the source's, or copy the file again"),
    Rule("unjudged-at-10", "note",
         "Unjudged documents, at least 10% of those up to rank 10; a warning at 90% if the qrels "
         "are dense.",
         "they count as not relevant, so values are lower bounds",
         "report judged@10 next to the numbers"),
    Rule("constant-scores", "warning",
         "Queries with only one score; a note if fewer than 10% are affected.",
         "the policy for ties decides the order, not the system",
         "check the saved scores; if intended, guard: {accept: [constant-scores]} in a config"),
    Rule("score-ties", "warning",
         "Documents of one query that share a score; a note if fewer than 10% of the pairs do.",
         "the policy for ties decides their order, and tools use different orders",
         "save scores with more digits; 'policy: {ties: bounds}' or '--ties bounds' shows the "
         "effect",
         in_table=True),
    Rule("single-precision", "warning",
         "Different scores that are equal in single precision; a note if below 1% of the rows.",
         "docnos decide their order instead of the system, as in trec_eval",
         "subtract a large constant from the scores, or compare doubles: 'policy: {ties: "
         "trec_eval10}'"),
    Rule("labels-as-scores", "error",
         "Scores that equal the grades, or have one value for each grade.",
         "the values are those of the labels, not of a model",
         "save the predictions of the model; for an oracle, guard: {accept: [labels-as-scores]} in "
         "a config"),
    Rule("noisy-labels", "warning",
         "Scores that order documents almost exactly as the grades do: the rank correlation "
         "is 0.97 or more.",
         "real models reach 0.2 to 0.8; the values may be those of labels, or of training rows",
         "save what the model predicts for other rows; for an oracle, guard: {accept: "
         "[noisy-labels]} in a config"),
    Rule("classes-as-scores", "warning",
         "Predictions that are a few whole numbers, such as the most probable class.",
         "most documents of a query are tied, and the policy for ties decides their order",
         "save the expected grade or the probability of a class, not the class"),
    Rule("same-file-twice", "warning",
         "Runs or datasets with the same bytes, runs with the same rankings, or two run names for "
         "one file.",
         "one system has two names, or seeds and folds seem to vary less",
         "check which of the files is wrong"),
    Rule("shared-queries", "warning",
         "Folds of one dataset share queries.",
         "such queries count once per fold, too high if they were in a fold's training data",
         "check that each file is the test part of its fold"),
    POOLED,
    VALIDATION,
    Rule("leaked-rows", "error",
         "Rows of test data with the features of rows in the training data; a warning below "
         "10%.",
         "the model was trained on these rows, so the values are too high",
         "put each query, with all of its rows, into only one of the files"),
    Rule("group-queries", "warning",
         "A file of query groups with unknown qids, or without some qids of the dataset.",
         "those queries are in no slice, so slices do not add up to the whole",
         "give each query of the dataset a group, with the same qids"),
    Rule("unused-weights", "note",
         "A file of query weights with qids that are not in the dataset.",
         "values do not change: only the weights of the dataset's queries are used",
         "write the same qids in both files, unless these queries are not judged"),
    Rule("reversal", "warning",
         "A system that is better overall and worse in every group of queries, or the reverse.",
         "groups weigh differently for each system: it answers other queries, folds have equal "
         "weight, or queries have no group",
         "report the slices, group every query, and evaluate all systems on the same queries"),
    Rule("guard-failed", "warning",
         "The guard itself failed, because of a mistake in the harness.",
         "values do not change; some findings may be missing",
         "report it with the output of 'harness --debug check'"),
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
"""Rules that a config can accept, without errors of reading, pooling and selecting."""


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
