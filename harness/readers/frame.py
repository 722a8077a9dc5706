"""Arrow tables to qrels and runs: which column is which, and whether every row is sound."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from ..core.arrow import equal, to_numpy
from ..core.hashing import string_views
from ..core.policy import Duplicates
from ..core.ragged import Array, Bools, Ints
from ..core.ragged import where as where_true
from ..core.tables import GRADE_LIMIT, NOTHING, DuplicateRows, Qrels, Run, T
from ..errors import SHOWN, InputError, Problem, did_you_mean, first_of, shorten
from .build import (
    IsDataLine,
    column,
    keep_one,
    repeated,
    row_names,
    warn,
    warn_dropped,
    warn_scattered,
)
from .format import Head
from .number_text import of_number
from .source import Source, no_rows

FIX = "fill them or leave these rows out"


def without_gaps(
    tables: Iterable[pa.Table], names: Mapping[str, str], row: Callable[[int], str]
) -> Iterator[pa.Table]:
    """Yield tables of one file; raise where a name is missing.

    A data frame writes a value that it lacks as nothing at all: rows without a docno would be one
    document.

    Parameters
    ----------
    names : mapping
        Column of each role, ``{"qid": "query_id"}``.
    row : callable
        ``row(position)`` says where a row of the file is; positions from 0.

    Raises
    ------
    InputError

    >>> [*without_gaps([pa.table({"q": ["1", ""]})], {"qid": "q"}, "row {}".format)]
    Traceback (most recent call last):
    ...
    harness.errors.InputError: row 1: a value of qid (column 'q') is missing
      fix:   fill them or leave these rows out
    """
    n = 0
    for table in tables:
        gaps = {role: _first_gap(table[name]) for role, name in names.items()}
        role = min(gaps, key=gaps.__getitem__)
        if gaps[role] < table.num_rows:
            what = f"a value of {role} (column '{names[role]}') is missing"
            raise InputError(Problem(row(n + gaps[role]), what, fix=FIX))
        n += table.num_rows
        yield table


def _first_gap(texts: pa.ChunkedArray) -> int:
    """Return the place of the first empty text; how many there are where none is."""
    n = 0
    for chunk in texts.chunks:
        offsets, _ = string_views(chunk)
        empty = offsets[1:] == offsets[:-1]
        if empty.any():
            return n + int(np.argmax(empty))
        n += len(chunk)
    return n


Names = Mapping[str, str | int | None]
_EXACT = 2.0**63
_IDENTIFIERS = "qid", "docno"

NAMES = {
    "qid": (
        "qid", "query_id", "query", "q", "topic_id", "topic", "topic_no", "topic_number",
        "query_no", "query_number", "query_num", "qno", "qnum", "qry_id", "question_id",
        "question", "search_id", "srch_id", "request_id", "group_id", "group",
    ),
    "docno": (
        "docno", "doc_id", "document", "d", "doc", "did", "document_id", "document_no",
        "document_number", "doc_number", "doc_num", "doc_name", "document_name", "doc_key",
        "document_key", "corpus_id", "cord_uid", "pid", "passage_id", "passage_no", "passage",
        "psg_id", "para_id", "paragraph_id", "chunk_id", "snippet_id", "sentence_id", "page_id",
        "article_id", "article", "paper_id", "pmid", "item_id", "item", "product_id", "product",
        "asin", "sku", "prop_id", "listing_id", "movie_id", "book_id", "news_id", "video_id",
        "image_id", "track_id", "tweet_id", "answer_id", "response_id", "candidate_id",
        "entity_id", "entity", "table_id", "result_id", "hit_id", "url", "uri", "doc_url",
        "document_url",
    ),
    "grade": (
        "grade", "relevance", "rel", "label", "relevancy", "relevance_label", "relevance_grade",
        "rel_label", "relevance_judgment", "relevance_judgement", "judgment", "judgement",
        "rating", "gain", "gold", "ground_truth", "gt", "target", "y", "y_true",
        "relevance_score",
    ),
    "score": (
        "score", "s", "sim", "similarity", "scores", "relevance_score", "rel_score",
        "model_score", "retrieval_score", "ranking_score", "prediction", "predictions", "pred",
        "preds", "predicted", "predicted_score", "pred_score", "y_pred", "y_score", "logit",
        "logits", "prob", "probability",
    ),
    "rank": ("rank",),
}  # fmt: skip
"""Usual names of each column, in the order in which they are looked for; see :func:`fold`."""
_OF_BEIR = "corpusid"
"""The name of docnos in BEIR, whose grades are called score."""
_COUNTERS = {"", "index", "rowindex", "rownumber", "unnamed:0", "levelindex0", "indexlevel0"}
"""Names that tools give the numbers of rows."""
_ENDS = "id", "ids", "key", "url", "uri", "label", "labels", "grade"
"""Ends of names of columns that may hold identifiers or labels."""
SAMPLE = 1 << 13
"""Rows that tell whether a column may hold docnos."""


def fold(name: str) -> str:
    """Return what two spellings of one name have in common.

    >>> {fold(name) for name in ("doc_id", "Doc-ID", "docId", " DOC ID")}
    {'docid'}
    """
    return re.sub(r"[-_\s]", "", name).lower()


_ROLE_NAMES = {role: [*dict.fromkeys(map(fold, usual))] for role, usual in NAMES.items()}


def guess(names: Sequence[str], kind: str) -> dict[str, str]:
    """Return ``{"qid": column, ...}`` by the usual names, however they are spelled.

    >>> guess(["query_id", "query", "docId", "rel"], "qrels")
    {'qid': 'query_id', 'docno': 'docId', 'grade': 'rel'}
    >>> guess(["Query-ID", "corpus-id", "score"], "qrels")
    {'qid': 'Query-ID', 'docno': 'corpus-id', 'grade': 'score'}
    """
    folded = {fold(name): name for name in reversed(names)}
    found = {}
    for role in _roles(kind):
        usual = next((folded[name] for name in _ROLE_NAMES[role] if name in folded), None)
        if usual is not None:
            found[role] = usual
    if kind == "qrels" and "grade" not in found and {_OF_BEIR, "score"} <= folded.keys():
        found["grade"] = folded["score"]
    return found


def _roles(kind: str) -> tuple[str, ...]:
    return ("qid", "docno", "grade") if kind == "qrels" else ("qid", "docno", "score", "rank")


def by_position(names: Sequence[str], columns: Names | None) -> bool:
    """Return whether ``columns: {docno: none}`` asks for rows in the dataset's order."""
    asked = (columns or {}).get("docno", "")
    return asked is None or (asked == "none" and "none" not in names)


def choose(names: Sequence[str], kind: str, columns: Names | None, where: str) -> dict[str, str]:
    """Return which column holds what: as named in `columns`, else by the usual names.

    Raises
    ------
    InputError
        Where a named column is not there, or qid or the number cannot be found, or two columns
        have one usual name.
    """
    roles, positional = _roles(kind), by_position(names, columns)
    given = {
        role: str(name)
        for role, name in (columns or {}).items()
        if not (positional and role == "docno")
    }
    problems = [
        Problem(where, f"unknown entry '{role}' in columns{did_you_mean(role, roles)}")
        for role in given
        if role not in roles
    ] + [
        Problem(
            where, f"no column '{name}'{did_you_mean(name, names)}", f"columns: {first_of(names)}"
        )
        for name in given.values()
        if name not in names
    ]
    guessed = guess([name for name in names if name not in given.values()], kind)
    if positional:
        guessed.pop("docno", None)
    chosen = {**guessed, **given}
    number = "grade" if kind == "qrels" else "score" if "score" in chosen else "rank"
    problems += [
        Problem(
            where,
            f"no column of {'scores or ranks' if role == 'rank' else f'{role}s'} found",
            f"columns: {first_of(names)}",
            f"name it in a config: columns: {{{'score' if role == 'rank' else role}: ...}}; or "
            "rename the column",
        )
        for role in ("qid", number)
        if role not in chosen and not problems
    ]
    if number == "score":
        chosen.pop("rank", None)
    problems += [
        Problem(where, f"the column '{name}' is there {names.count(name)} times", fix="rename one")
        for name in chosen.values()
        if names.count(name) > 1 and not problems
    ]
    problems += [
        Problem(
            where,
            f"expected one column of {role}s, got {first_of(alike)}",
            fix=f"name it in a config: columns: {{{role}: ...}}; or rename the other",
            rule="columns",
        )
        for role, name in chosen.items()
        if role not in given
        and len(alike := [one for one in names if fold(one) == fold(name)]) > 1
        and not problems
    ]
    if problems:
        raise InputError(problems)
    return chosen


def unused(names: Sequence[str], chosen: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that are not read."""
    return tuple(name for name in names if name not in chosen.values())


def warn_unused(where: Source | str, names: Sequence[str], chosen: Mapping[str, str]) -> None:
    """Keep the names of columns that are not read; warn of possible identifiers and labels."""
    others = unused(names, chosen)
    if isinstance(where, Source):
        where.unused_columns = others
    if not isinstance(where, Source):  # one frame often holds grades and scores
        usual = {*_ROLE_NAMES["grade"], *_ROLE_NAMES["score"]}
        others = tuple(name for name in others if fold(name) not in usual)
    told = [name for name in others if _may_identify(name)]
    if told:
        read = ", ".join(f"{role} from '{shorten(name, 60)}'" for role, name in chosen.items())
        warn(
            where,
            f"not read: column{'s' * (len(told) > 1)} {first_of(told)}, which may hold identifiers "
            f"or labels; read are {read}",
            "unused-columns",
            len(told),
        )


def _may_identify(name: str) -> bool:
    folded = fold(name)
    usual = (names for role, names in _ROLE_NAMES.items() if role != "rank")
    return folded.endswith(_ENDS) or any(folded in names for names in usual)


def might_pair(names: Sequence[str], chosen: Mapping[str, str], columns: Names | None) -> list[str]:
    """Return the columns to look at before rows without docnos are told apart by position."""
    if "docno" in chosen or by_position(names, columns):
        return []
    known = {one for role, usual in _ROLE_NAMES.items() if role != "docno" for one in usual}
    left = unused(names, chosen)
    return [name for name in left if fold(name) not in known - {*_ROLE_NAMES["qid"]}]


def check_pairing(sample: pa.Table, qid: str, others: Sequence[str], where: str) -> None:
    """Raise where another column may hold the docnos, by some of its rows.

    A text that differs within a query may; so may whole numbers of which no query has one twice.
    Both may where no query has two rows.

    Parameters
    ----------
    sample : Table
        The first rows, of at most :data:`SAMPLE`.
    others : sequence of str
        As :func:`might_pair` gives them; those that the sample lacks are passed over.
    """
    sample = sample.slice(0, SAMPLE)
    queries = _codes(sample[qid].combine_chunks())
    there = [name for name in others if name in sample.column_names]
    able = [name for name in there if _may_be_docnos(sample[name].combine_chunks(), queries, name)]
    if able:
        first = shorten(able[0], 60)
        what = f"expected a column of docnos, got column{'s' * (len(able) > 1)} {first_of(able)}"
        fix = (
            f"name it in a config: columns: {{docno: {first}}}; or, if rows follow the dataset's "
            "order, columns: {docno: none}"
        )
        raise InputError(Problem(where, f"{what} that may hold them", fix=fix, rule="columns"))


def _may_be_docnos(values: pa.Array, queries: Ints, name: str) -> bool:
    kind = values.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_struct(kind) or pa.types.is_map(kind):
        return True
    is_text = not (pa.types.is_primitive(kind) or pa.types.is_nested(kind) or kind == pa.null())
    if pa.types.is_floating(kind) and not pa.types.is_dictionary(values.type):
        numbers = to_numpy(values.drop_null().cast(pa.float64()))
        if not numbers.size or (numbers != np.trunc(numbers)).any():
            return False
    elif not (is_text or pa.types.is_integer(kind)):
        return False
    if not is_text and fold(name) in _COUNTERS:
        return False
    n_queries, codes = np.unique(queries).size, _codes(values)
    n_values, n_pairs = np.unique(codes).size, np.unique(queries * codes.size + codes).size
    if queries.size == n_queries:
        return bool(n_values > 1 or queries.size == 1)
    return bool(n_pairs > n_queries if is_text else n_pairs == queries.size)


def _codes(values: pa.Array) -> Ints:
    """Return a number for each value, the same for equal ones."""
    if pa.types.is_dictionary(values.type):
        codes = values.indices
    else:
        if values.type == pa.string_view() or values.type == pa.binary_view():
            values = values.cast(pa.large_binary())
        codes = values.dictionary_encode().indices
    found: Ints = np.array(codes.fill_null(-1).cast(pa.int64()), np.int64) + 1
    return found


def check_types(schema: pa.Schema, chosen: Mapping[str, str], where: str) -> None:
    """Raise where a column holds lists, structs or maps, of which no text or number is made."""
    problems = [
        Problem(
            where,
            f"the column '{name}' is of type {schema.field(name).type}",
            fix=f"a {role} is {'text or a whole number' if role in _IDENTIFIERS else 'a number'}",
            rule="columns",
        )
        for role, name in chosen.items()
        if pa.types.is_nested(schema.field(name).type)
    ]
    if problems:
        raise InputError(problems)


def first_line(source: Source) -> bytes:
    """Return the first line of a text that is neither blank nor a comment."""
    source.check_text()
    lines = Head("", source.head).lines
    if not lines:
        raise no_rows(source.name)
    return lines[0]


def table_of(
    table: pa.Table,
    of: type[T],
    columns: Names | None,
    *,
    dataset: Qrels | None,
    duplicates: Duplicates,
    name: str,
    where: str,
    row: Callable[[int], str],
    fractions: bool = False,
) -> T:
    """Return qrels or a run from an Arrow table.

    Parameters
    ----------
    table : pyarrow.Table
        No column holds lists, structs or maps.
    row : callable
        ``row(position)`` says where a row is, for messages; positions from 0.

    Raises
    ------
    DuplicateRows
        The caller knows how its rows are called.
    """
    chosen = choose(table.column_names, of.kind, columns, where)
    _no_nulls(table, chosen, row)
    qids = _strings(table[chosen["qid"]], "qid", where)
    docnos = _strings(table[chosen["docno"]], "docno", where) if "docno" in chosen else None
    number = next(role for role in ("grade", "score", "rank") if role in chosen)
    numbers = _numbers(table[chosen[number]], number, where)
    _all_sound(numbers, number, row, whole=not (fractions or number == "score"))
    if number == "rank":
        numbers = -numbers
    if docnos is None and issubclass(of, Run):
        asked = by_position(table.column_names, columns)
        return _for_rows(dataset, qids, numbers, name, where, row, asked)  # type: ignore[return-value]
    if not issubclass(of, Run):  # of a run they are finite, and need no copy
        numbers = of.check_numbers(numbers, where, fractions=fractions)
    made = of.from_columns(qids, docnos, numbers, name=name, duplicates=duplicates)
    warn_dropped(where, made.dropped or NOTHING, duplicates)
    return made


def read_table(
    source: Source,
    table: pa.Table,
    of: type[T],
    columns: Names | None,
    is_row: IsDataLine | None,
    *,
    dataset: Qrels | None,
    duplicates: Duplicates,
    name: str,
    fractions: bool,
) -> T:
    """Return qrels or a run from the table of a file; `is_row` tells its lines, if it is text."""
    try:
        read = table_of(
            table, of, columns, dataset=dataset, duplicates=duplicates, name=name,
            where=source.name, row=row_names(source, is_row), fractions=fractions,
        )  # fmt: skip
    except DuplicateRows as error:
        if is_row is not None:
            raise repeated(source, of, error, is_row) from None
        raise repeated_rows(source.name, error, keep_one(of)) from None
    warn_scattered(source, read.scattered, is_row)
    return read


def repeated_rows(where: str, error: DuplicateRows, fix: str) -> InputError:
    """Return the error for docnos that a query names twice, with the rows of both, from 1."""
    problems = [
        Problem(
            f"{where}: row {later + 1}",
            f"the docno stands already in row {earlier + 1}, for the same query",
            fix=fix,
            rule="duplicates",
        )
        for later, earlier in zip(error.rows, error.first, strict=True)
    ]
    return InputError(problems, total=error.total)


def _for_rows(
    dataset: Qrels | None,
    qids: pa.Array,
    scores: Array,
    name: str,
    where: str,
    row: Callable[[int], str],
    asked: bool,
) -> Run:
    """Return the run that gives the scores to the dataset's rows, whose qids must agree.

    A dataset that names its documents needs to be `asked` for it.
    """
    if dataset is None:
        fix = (
            "name it in a config: columns: {docno: ...}; or name the dataset whose rows the "
            "scores follow"
        )
        raise InputError(Problem(where, "no column of docnos found", fix=fix))
    if not (asked or dataset.docnos.positional):
        what = "expected a column of docnos, as the dataset has docnos, got none"
        fix = (
            "name it in a config: columns: {docno: ...}; or, if rows follow the dataset's order, "
            "columns: {docno: none}"
        )
        raise InputError(Problem(where, what, fix=fix, rule="columns"))
    expected = dataset.qids.take(pa.array(dataset.row))
    if dataset.order is not None:
        expected = expected.take(pa.array(np.argsort(dataset.order)))
        qids = qids.take(pa.array(np.sort(dataset.order[dataset.order < len(qids)])))
    n = min(len(qids), len(expected))
    differ = ~equal(qids.slice(0, n), expected.slice(0, n))
    if differ.any() or len(qids) != len(expected):
        at = int(differ.argmax()) if differ.any() else n
        has = f"query '{qids[at]}'" if at < len(qids) else "the end"
        wants = f"query '{expected[at]}'" if at < len(expected) else "the end"
        n_rows = f"{len(qids):,} predictions for {len(expected):,} rows"
        what = f"{n_rows}; {has} stands where {wants} belongs"
        fix = "predict the dataset's rows in their order"
        raise InputError(Problem(row(at), what, fix=fix, rule="row-count"))
    return Run.for_rows(dataset, scores, name=name)


def _no_nulls(table: pa.Table, chosen: dict[str, str], row: Callable[[int], str]) -> None:
    for role, name in chosen.items():
        if table[name].null_count:
            at = int(table[name].is_null().to_numpy().argmax())
            n, of = table[name].null_count, f"of {role} (column '{name}')"
            what = f"1 value {of} is missing" if n == 1 else f"{n:,} values {of} are missing"
            raise InputError(Problem(row(at), what, fix=FIX))


def _strings(values: pa.ChunkedArray, role: str, where: str) -> pa.Array:
    """Return identifiers as strings; 7.0, as data frames write whole numbers, is 7."""
    if pa.types.is_dictionary(values.type):
        chunks = [_decoded(chunk) for chunk in values.chunks]
        values = pa.chunked_array(chunks, None if chunks else pa.string())
    if pa.types.is_floating(values.type):
        numbers = values.to_numpy()
        if (numbers == np.trunc(numbers)).all() and (np.abs(numbers) < _EXACT).all():
            values = values.cast(pa.int64())
    if not pa.types.is_string(values.type):
        try:
            values = values.cast(pa.large_string())
        except pa.ArrowException as error:
            raise InputError(Problem(where, f"a {role} is no text ({error})")) from None
        if values.nbytes < 2**31 - 1:
            values = values.cast(pa.string())
    return column(values)


def _decoded(categories: pa.DictionaryArray) -> pa.Array:
    """Return the values of categories; polars' are string views, at which Arrow itself fails."""
    values = categories.dictionary
    if values.type == pa.string_view():
        values = values.cast(pa.large_string())
    return values.take(categories.indices)


def _numbers(values: pa.ChunkedArray, role: str, where: str) -> Array:
    if role == "grade" and values.num_chunks == 1 and pa.types.is_int32(values.type):
        return to_numpy(values)
    try:
        floats = values.cast(pa.float64())
    except pa.ArrowException as error:
        raise InputError(Problem(where, f"a {role} is not a number ({error})")) from None
    return to_numpy(floats) if floats.num_chunks else np.zeros(0)


def _all_sound(numbers: Array, role: str, row: Callable[[int], str], *, whole: bool) -> None:
    """Raise where a number is not finite, or is not whole and should be."""
    bad = where_true(partial(_is_unsound, whole=whole), numbers)
    if bad.any():
        problems = [
            Problem(
                row(at),
                f"{role} '{float(numbers[at])!r}' is not a "
                f"{'whole' if np.isfinite(numbers[at]) else 'finite'} number",
                fix="repair the table",
                rule=of_number(role, bool(np.isfinite(numbers[at]))),
            )
            for at in np.flatnonzero(bad)[:SHOWN].tolist()
        ]
        raise InputError(problems, total=int(bad.sum()))
    beyond: Array = bad[:0]
    if role == "grade":
        beyond = np.flatnonzero(where_true(_is_beyond, numbers))
    if beyond.size:
        bounds = f"between -{GRADE_LIMIT} and {GRADE_LIMIT}"
        fix = "judgements are small integers; scale or round them before"
        problems = [
            Problem(row(at), f"grade '{numbers[at]:.17g}' is not a number {bounds}", fix=fix)
            for at in beyond[:SHOWN].tolist()
        ]
        raise InputError(problems, total=beyond.size)


def _is_beyond(grades: Array) -> Bools:
    inside: Bools = (grades >= -GRADE_LIMIT) & (grades <= GRADE_LIMIT)
    return ~inside


def _is_unsound(numbers: Array, *, whole: bool) -> Bools:
    unsound: Bools = ~np.isfinite(numbers)
    if whole:
        unsound |= numbers != np.trunc(numbers)
    return unsound
