"""Lines of TREC files to nested dicts, as pytrec_eval reads them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ..errors import shorten


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return ``{qid: {docno: score}}`` from the lines of a TREC run.

    Parameters
    ----------
    f_run : iterable of str
        Lines ``qid Q0 docno rank score tag``: an open file, say.

    Raises
    ------
    ValueError
        Where a line has another number of fields or its score is not a number.
    AssertionError
        Where a query names a document twice.

    Examples
    --------
    >>> dict(parse_run(["q1 Q0 d1 1 0.5 bm25"]))
    {'q1': {'d1': 0.5}}
    """
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for number, line in enumerate(f_run, 1):
        fields = line.split()
        if len(fields) != 6:
            raise ValueError(_bad_line(number, line, "the 6 fields qid Q0 docno rank score tag"))
        qid, _, docno, _, score, _ = fields
        documents = run[qid]
        if docno in documents:
            raise AssertionError(f"line {number}: document '{docno}' of query '{qid}' comes twice")
        try:
            documents[docno] = float(score)
        except ValueError:
            raise ValueError(f"line {number}: the score '{score}' is not a number") from None
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return ``{qid: {docno: grade}}`` from the lines of TREC qrels.

    Parameters
    ----------
    f_qrel : iterable of str
        Lines ``qid 0 docno grade``: an open file, say.

    Raises
    ------
    ValueError
        Where a line has another number of fields or its grade is not an integer.
    AssertionError
        Where a query names a document twice.

    Examples
    --------
    >>> dict(parse_qrel(["q1 0 d1 2"]))
    {'q1': {'d1': 2}}
    """
    qrel: dict[str, dict[str, int]] = defaultdict(dict)
    for number, line in enumerate(f_qrel, 1):
        fields = line.split()
        if len(fields) != 4:
            raise ValueError(_bad_line(number, line, "the 4 fields qid 0 docno grade"))
        qid, _, docno, grade = fields
        documents = qrel[qid]
        if docno in documents:
            raise AssertionError(f"line {number}: document '{docno}' of query '{qid}' comes twice")
        try:
            documents[docno] = int(grade)
        except ValueError:
            raise ValueError(f"line {number}: the grade '{grade}' is not an integer") from None
    return qrel


def _bad_line(number: int, line: str, expected: str) -> str:
    return f"line {number}: expected {expected}, found '{shorten(line)}'"
