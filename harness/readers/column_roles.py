"""Which column of a table holds what: named in ``columns``, or found by its usual name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..errors import InputError, Problem, did_you_mean, first_of, shorten
from .rows import Rows, warn
from .source import Source

Names = Mapping[str, str | int | None]
SAMPLE = 1 << 13  # Rows that tell whether a column may hold docnos
_USUAL = """
qid: qid qids query_id query q topic_id topic topic_no topic_number query_no query_number query_num
  qno qnum qry_id question_id question search_id srch_id request_id group_id group
docno: docno doc_id document d doc did document_id document_no document_number doc_number doc_num
  doc_name document_name doc_key document_key corpus_id cord_uid pid passage_id passage_no passage
  psg_id para_id paragraph_id chunk_id snippet_id sentence_id page_id article_id article paper_id
  pmid item_id item product_id product asin sku prop_id listing_id movie_id book_id news_id
  video_id image_id track_id tweet_id answer_id response_id candidate_id entity_id entity table_id
  result_id hit_id url uri doc_url document_url
grade: grade grades relevance rel label labels relevancy relevance_label relevance_grade rel_label
  relevance_judgment relevance_judgement judgment judgement rating gain gold ground_truth gt
  target y y_true y_test y_val y_valid true truth actual actuals relevance_score
score: score s sim similarity scores relevance_score rel_score model_score retrieval_score
  ranking_score prediction predictions pred preds predicted predicted_score pred_score y_pred
  y_hat y_score logit logits prob probability
rank: rank
row: row
"""
NAMES: dict[str, list[str]] = {
    role: names.split() for role, names in re.findall(r"^(\w+):([^:]+)$", _USUAL, re.MULTILINE)
}
"""Usual names of each column, the most usual first; see `fold`."""
_ROLES = {"qrels": ("qid", "docno", "grade"), "run": ("qid", "docno", "score", "rank")}
OF_ROWS = ("grade", "row")
"""Columns of a run without docnos that say which row of the dataset each score belongs to."""
_OF_BEIR = "corpusid"  # The name of docnos in BEIR, whose grades are called score
_COUNTERS = {"", "index", "rowindex", "rownumber", "unnamed:0", "levelindex0", "indexlevel0"}
"""Names that tools give the numbers of rows."""
_PANDAS_INDEX = "__index_level_"  # How Arrow names the index of a data frame
_ENDS = "id", "ids", "key", "url", "uri", "label", "labels", "grade"
"""Ends of names of columns that may hold identifiers or labels."""


def fold(name: str) -> str:
    """Return what two spellings of one name have in common.

    >>> {fold(name) for name in ("doc_id", "Doc-ID", "docId", " DOC ID")}
    {'docid'}
    """
    return re.sub(r"[-_\s]", "", name).lower()


_ROLE_NAMES = {role: [*dict.fromkeys(map(fold, usual))] for role, usual in NAMES.items()}


def _find(role: str, names: Sequence[str]) -> str | None:
    """Return the column with the most usual name of a role, however it is spelled."""
    folded = {fold(name): name for name in reversed(names)}
    return next((folded[usual] for usual in _ROLE_NAMES[role] if usual in folded), None)


def guess(names: Sequence[str], kind: str) -> dict[str, str]:
    """Return ``{"qid": column, ...}`` by the usual names."""
    found = {role: name for role in _ROLES[kind] if (name := _find(role, names)) is not None}
    if kind == "qrels" and "grade" not in found:
        scores = [name for name in names if fold(name) == "score"]
        if scores and _OF_BEIR in map(fold, names):
            found["grade"] = scores[0]
    return found


def number_role(chosen: Mapping[str, str]) -> str:
    """Return which role has the numbers: grades of qrels, scores or ranks of a run."""
    return next(role for role in ("score", "rank", "grade") if role in chosen)


def by_position(columns: Names | None, role: str = "docno") -> bool:
    """Return whether ``columns: {docno: none}`` asks for rows in the dataset's order."""
    return (columns or {}).get(role, "") in (None, "none")


def _usual(*roles: str) -> set[str]:
    return {name for role in roles for name in _ROLE_NAMES[role]}


def select_columns(
    names: Sequence[str],
    kind: str,
    columns: Names | None,
    where: Source | str,
    first_rows: Callable[[list[str]], pa.Table],
) -> dict[str, str]:
    """Return which column holds what; warn of others that may be identifiers.

    `columns` names the column of a role, as a config does; `first_rows` returns the first rows of
    some columns. InputError if a column does not exist, the qids or the numbers cannot be found,
    two columns have one usual name, or rows would be paired by position next to a column that may
    hold the docnos.
    """
    chosen = _choose(names, kind, columns, Rows(where).name, first_rows)
    left = tuple(name for name in names if name not in chosen.values())
    if "qid" in chosen and "docno" not in chosen and not by_position(columns):
        usual = _usual("grade", "score", "rank")
        others = [name for name in left if fold(name) not in usual]
        sample = first_rows([chosen["qid"], *others]).slice(0, SAMPLE)
        queries = sample[chosen["qid"]].to_pylist() if sample.num_columns else []
        able = [name for name in others if queries and _may_be_docnos(sample[name], queries, name)]
        if able:
            what, fix = f"expected a column of docnos; it may be {first_of(able)}", able[0]
            raise InputError(Problem(Rows(where).name, what, "", name_docnos(fix), "columns"))
    if isinstance(where, Source):
        where.columns, where.unused_columns = chosen, left
    else:  # one frame often holds grades and scores
        left = tuple(name for name in left if fold(name) not in _usual("grade", "score"))
    usual = _usual("qid", "docno", "grade", "score", "row")
    if doubtful := [name for name in left if fold(name).endswith(_ENDS) or fold(name) in usual]:
        read = ", ".join(f"{role} from '{shorten(name, 60)}'" for role, name in chosen.items())
        what = f"columns not read that may hold identifiers or labels: {first_of(doubtful)}"
        warn(where, f"{what}; {read}", "unused-columns", len(doubtful))
    return chosen


def _choose(
    names: Sequence[str],
    kind: str,
    columns: Names | None,
    where: str,
    first_rows: Callable[[list[str]], pa.Table],
) -> dict[str, str]:
    listed = f"columns: {first_of([one for one in names if not one.startswith(_PANDAS_INDEX)])}"
    positional, of_rows = by_position(columns), OF_ROWS if kind == "run" else ()
    roles = (*_ROLES[kind], *of_rows)
    unread = {role for role in ("docno", *of_rows) if by_position(columns, role)}
    named = {role: str(name) for role, name in (columns or {}).items() if role not in unread}
    for role, name in named.items():
        if role not in roles:
            what = f"unknown entry '{role}' in columns{did_you_mean(role, roles)}"
            raise InputError(Problem(where, what))
        if name not in names:
            what = f"no column '{name}'{did_you_mean(name, names)}"
            raise InputError(Problem(where, what, listed))
    chosen = guess([name for name in names if name not in named.values()], kind) | named
    if positional:
        chosen.pop("docno", None)
    if "score" in chosen:
        chosen.pop("rank", None)
    number = "grade" if kind == "qrels" else "rank" if "rank" in chosen else "score"
    by_row = kind == "run" and chosen.keys().isdisjoint({"qid", "docno"})
    if by_row or (number == "score" and "score" not in chosen):
        left = [name for name in names if name not in chosen.values()]
        is_known = not chosen.keys().isdisjoint({"score", "rank"})
        some, index = _scores(left, first_rows(left), positional, by_row, is_known)
        if "score" in named:
            some = [named["score"]]
        elif by_row and "score" in chosen:
            some = [name for name in names if fold(name) in _ROLE_NAMES["score"]]
        if len(some) > 1:
            what, fix = f"expected one column of scores, got {first_of(some)}", some[0]
            raise InputError(Problem(where, what, "", name_it("score", fix), "columns"))
        if some:
            chosen["score"] = some[0]
        by_row = index is not None and not chosen.keys().isdisjoint({"score", "rank"})
        if by_row and index:
            chosen["index"] = index[0]
    for role in (number,) if by_row else ("qid", number):
        if role not in chosen:
            what = "no column of scores or ranks" if role == "score" else f"no column of {role}s"
            fix = name_it(role)
            if role == "qid" and kind == "run" and "docno" not in chosen:
                what, fix = f"{what} or labels", name_docnos()
            raise InputError(Problem(where, what, listed, fix))
    for role in of_rows if "docno" not in chosen else ():
        found = _find(role, [name for name in names if name not in chosen.values()])
        if role not in {*unread, *named} and found is not None:
            chosen[role] = found
    for role, name in chosen.items():
        spelled = str if role in named else fold
        same = [one for one in names if spelled(one) == spelled(name)]
        if len(same) > 1:
            what = f"expected one column of {role}s, got {first_of(same)}"
            raise InputError(Problem(where, what, fix=name_it(role), rule="columns"))
    return chosen


def name_it(role: str, column: str = "...") -> str:
    """Return how to name the column of a role."""
    return f"name it: columns: {{{role}: {shorten(column, 60)}}}; or rename the column to '{role}'"


def name_docnos(column: str = "...") -> str:
    """Return how to name the column of docnos, or to say that rows follow the dataset's order."""
    order = "if rows follow the dataset's order: columns: {docno: none}, or give the scores alone"
    return f"{name_it('docno', column)}; {order}"


def _scores(
    left: Sequence[str], sample: pa.Table, positional: bool, by_row: bool, is_known: bool
) -> tuple[list[str], list[str] | None]:
    """Return the columns that may be scores, and row numbers; no such list if others may be ids."""
    rest = [name for name in left if fold(name) not in _COUNTERS | _usual(*OF_ROWS)]
    types = dict(zip(sample.column_names, sample.schema.types, strict=True))
    floats = [name for name in rest if pa.types.is_floating(types.get(name, pa.null()))]
    whole = [name for name in rest if pa.types.is_integer(types.get(name, pa.null()))]
    if not by_row:
        return floats, None
    some = [] if is_known else floats or (rest if len(rest) == 1 else whole)
    index = [name for name in left if fold(name) in _COUNTERS]
    are_numbers = all(pa.types.is_primitive(types.get(name, pa.int64())) for name in index)
    may_pair = positional or (are_numbers and {*rest} <= {*floats, *some})
    return some, index if may_pair else None


def _may_be_docnos(column: pa.ChunkedArray, queries: list[Any], name: str) -> bool:
    """Whether a text differs within a query, or no query has a whole number twice.

    If no query has two rows, texts and whole numbers may, unless they are all the same.
    """
    values = column.to_pylist()
    present = [value for value in values if value is not None]
    if not present or isinstance(present[0], dict):
        return bool(present)
    is_text = isinstance(present[0], (str, bytes))
    if not is_text and (
        type(present[0]) not in (int, float)
        or fold(name) in _COUNTERS
        or any(value % 1 for value in present)
    ):
        return False
    n_queries, n_pairs = len({*queries}), len({*zip(queries, values, strict=True)})
    if len(queries) == n_queries:
        return len({*values}) > 1 or len(queries) == 1
    return n_pairs > n_queries if is_text else n_pairs == len(queries)
