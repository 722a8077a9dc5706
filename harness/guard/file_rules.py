"""The rules that ``harness check`` has beyond those of every run: what takes another look at files.

What readers refuse and warn of, in one rule for each kind; what is wrong with a config; and what
is told by comparing the files of a sweep with each other.
"""

from __future__ import annotations

from .rule import Rule

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
        "unpacks-too-far", "error", "Compressed data that unpack to 200 times their size.", _NONE,
        "unpack it yourself, if it is what it should be, and name the unpacked file",
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
        "A line with too few columns, too many, or other ones; or a TREC run whose docnos hold "
        "blanks, as many in each.",
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
    Rule(
        "no-checksum", "note", "A .zst file without a checksum.",
        "none by itself; a bit that changed in it may give other values, and is not seen",
        "pack it with the zstd program, or as gz, bz2 or xz, all of which write one",
    ),
)  # fmt: skip
FILE_RULES = (*REFUSED, *WARNED, *FOUND)
