"""Of which rule it is what a reader refuses or warns of, told by its words."""

from __future__ import annotations

import re

from ..errors import Problem

_KINDS = (
    ("missing-file", r"^no file |a folder, not a file|no permission"),
    ("truncated", r"the file ends in the middle of a line|data is cut short"),
    ("damaged", r"data is damaged"),
    ("unpacks-too-far", r"unpack to more than"),
    ("empty-file", r"file is empty|holds no rows"),
    ("not-finite", r"not a finite number|are not finite|is not finite"),
    ("duplicates", r"stands already on line|twice in|stand twice"),
    ("header-line", r"it looks like a header line"),
    ("row-count", r"predictions for \d+ rows|scores for \d+ rows"),
    ("group-sizes", r"group sizes? "),
    ("grade-values", r"grade.* not a whole number|grades are not whole numbers|a judgement of"),
    ("swapped-files", r"it looks like (qrels|a run)"),
    ("columns", r"fields? where|columns? where|no qid|a blank line where|have no qid"),
    ("no-common-query", r"no query in common"),
    ("scattered-queries", r"(?P<n>\d+) quer\w+ comes? back after"),
    ("dropped-rows", r"(?P<n>\d+) rows? of .*dropped; the"),
    ("other-compression", r"named \.\w+, but holds"),
    ("repeated-rows", r"(?P<n>\d+) rows? repeats? a docno of the same"),
    ("cut-line", r"the last line may be cut"),
    ("several-tags", r"(?P<n>\d+) tags in one run"),
    ("ranks-against-scores", r"(?P<n>\d+) ha(?:s|ve) a higher score than the row"),
    ("unusable-judgements", r"(?P<n>\d+) quer\w+ ha(?:s|ve) no usable judgement"),
    ("constant-scores", r"all scores are equal in (?P<n>\d+)"),
    ("labels-as-scores", r"scores equal the grades"),
)


def of_error(problem: Problem) -> str:
    """Return the name of the rule that a reader's error is of."""
    return _kind(problem.what) or "unreadable"


def of_warning(text: str) -> tuple[str, int]:
    """Return the name of the rule that a reader's warning is of, and the count in it.

    >>> of_warning("2 queries come back after another began; the rows were gathered by qid")
    ('scattered-queries', 2)
    """
    name = _kind(text) or "reader"
    match = re.search(dict(_KINDS).get(name, "$"), text)
    n = match.groupdict().get("n") if match else None
    return name, int(n or 1)


def _kind(text: str) -> str:
    return next((name for name, what in _KINDS if re.search(what, text)), "")
