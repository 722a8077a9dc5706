"""Roles of the columns of a table: named in ``columns``, or found by usual names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..errors import InputError, Problem, did_you_mean, first_of, shorten
from .rows import Rows, warn
from .source import Source

Names = Mapping[str, str | int | None]
Where = Source | str
FirstRows = Callable[[list[str]], pa.Table]
"""Returns the first rows of some columns."""
SAMPLE = 1 << 13  # Rows that tell whether a column may hold docnos
_USUAL = """
qid: qid qids query_id query q topic_id topic topic_no topic_number query_no query_number query_num
  q_id qno qnum qry_id question_id question search_id srch_id request_id group_id group
  user_id user session_id
docno: docno doc_id document d doc did document_id document_no document_number doc_number doc_num
  doc_name document_name doc_key document_key corpus_id cord_uid pid passage_id passage_no passage
  psg_id para_id paragraph_id chunk_id snippet_id sentence_id page_id article_id article paper_id
  pmid item_id item product_id product asin sku prop_id listing_id movie_id book_id news_id
  video_id image_id track_id tweet_id answer_id response_id candidate_id entity_id entity table_id
  result_id hit_id url uri doc_url document_url
  docnos doc_ids document_ids docs documents pids passage_ids item_ids items
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
"""Columns of a run without docnos that identify the dataset's row of each score."""
_OF_BEIR = "corpusid"  # The name of docnos in BEIR, whose grades are called score
_COUNTERS = {"", "index", "rowindex", "rownumber", "unnamed:0", "levelindex0", "indexlevel0"}
"""Names that tools give the numbers of rows."""
_PANDAS_INDEX = "__index_level_"  # How Arrow names the index of a data frame
_LOWER_IS_BETTER = re.compile(
    r"distances?|dists?|dissimilarity|loss(es)?|costs?|err(ors?)?|nll|perplexity|ppl|penalty|"
    r"divergence|kld|r?mse|mae"
)
"""Words in names of numbers for which lower is better."""
_LOWER_ENDS = "distance", "dist", "loss", "cost", "nll"
"""Ends of such names that are written in one word."""
_ENDS = "id", "ids", "key", "url", "uri", "label", "labels", "grade"
"""Ends of names of columns that may contain identifiers or labels."""


def fold(name: str) -> str:
    """Return a name without case, blanks, hyphens and underscores.

    >>> {fold(name) for name in ("doc_id", "Doc-ID", "docId", " DOC ID")}
    {'docid'}
    """
    return re.sub(r"[-_\s]", "", name).lower()


_ROLE_NAMES = {role: [*dict.fromkeys(map(fold, usual))] for role, usual in NAMES.items()}


def guess(names: Sequence[str], kind: str) -> dict[str, str]:
    """Return ``{"qid": column, ...}`` by the usual names, the most usual first."""
    folded = {fold(name): name for name in reversed(names)}
    columns = {}
    for role in _ROLES[kind]:
        if usual := next(filter(folded.__contains__, _ROLE_NAMES[role]), ""):
            columns[role] = folded[usual]
    if kind == "qrels" and {"score", _OF_BEIR} <= folded.keys():
        columns.setdefault("grade", folded["score"])
    return columns


def _rivals(role: str, names: Sequence[str]) -> list[str]:
    """Return the columns with usual names of a role of numbers; the role's own name wins alone.

    A name that is usual for another role of numbers, too, counts if there is no other.
    """
    usual = [name for name in names if fold(name) in _ROLE_NAMES[role]]
    usual_elsewhere = _usual(*{"grade", "score"} - {role})
    distinct = [name for name in usual if fold(name) not in usual_elsewhere]
    return [name for name in usual if fold(name) == role] or distinct or usual


def lower_is_better(name: str) -> bool:
    """Whether a name means that lower numbers are better.

    >>> [lower_is_better(name) for name in ("_distance", "valLoss", "l2dist", "relevance_score")]
    [True, True, True, False]
    """
    words = re.findall(r"[a-z]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower())
    folded = re.sub(r"\d+$", "", fold(name))
    return any(map(_LOWER_IS_BETTER.fullmatch, words)) or folded.endswith(_LOWER_ENDS)


def warn_of_distances(score: Any, where: Where) -> None:
    """Warn if higher is better for a column of scores with the name of a distance."""
    if isinstance(score, str) and lower_is_better(score):
        message = f"scores of column '{shorten(score, 60)}' are read as higher is better"
        warn(where, message, "distance-as-score")


def number_role(chosen: Mapping[str, str]) -> str:
    """Role of the column of numbers: grades of qrels, scores or ranks of a run, or ``""``."""
    return next((role for role in ("score", "rank", "grade") if role in chosen), "")


def by_position(columns: Names | None, role: str = "docno") -> bool:
    """Whether ``columns: {docno: none}`` declares rows in the dataset's order."""
    return (columns or {}).get(role, "") in (None, "none")


def number_names(n: int) -> list[str]:
    """Names of columns that have none: their numbers from 1."""
    return [str(number) for number in range(1, n + 1)]


def by_name(
    columns: Names | None, names: Sequence[str], place: str, *, have_numbers: bool = True
) -> dict[str, str | None]:
    """Return the wanted column of each role by name; numbers count the columns from 1.

    If columns `have_numbers` as names, numbers are names.
    """
    is_named = have_numbers and any(name.isdigit() for name in names)
    asked: dict[str, str | None] = {}
    for role, column in (columns or {}).items():
        if isinstance(column, str) or column is None or is_named:
            asked[role] = None if column is None else str(column)
        elif 1 <= column <= len(names):
            asked[role] = names[column - 1]
        else:
            message = f"{role}: expected a column from 1 to {len(names)}, got {column}"
            listed = f"the columns {first_of(names)}"
            raise InputError(Problem(place, message, listed, "count from 1", "columns"))
    return asked


def naming(kind: str, columns: Mapping[str, str | int], order: str = "") -> str:
    """Fix that names columns, on the command line and in a config.

    >>> naming("run", {"qid": 1, "score": "a b"})
    "add --columns 'qid=1,score=a b' (in a config columns: {qid: 1, score: 'a b'})"
    """
    words, keys = [], []
    for role, column in columns.items():
        name = column if isinstance(column, int) else shorten(column, 60)
        is_plain = isinstance(name, int) or re.fullmatch(r"(?!\d+$)[^=,'\"]+", name)
        words.append(f"{role}={name}" if is_plain else f'{role}="{name}"')
        as_is = isinstance(name, int) or name == "none"
        keys.append(f"{role}: {name if as_is else in_yaml(str(name))}")
    of_config = f"{{{', '.join(keys)}}}"
    asked = f"--columns {shlex.quote(','.join(words))}"
    if kind == "qrels":
        asked = f"--set {shlex.quote(f'dataset.columns={of_config}')}"
    in_config = f"columns: {of_config}"
    if order == "ascending":
        asked, in_config = f"{asked} --lower-is-better", f"{in_config}, order: ascending"
    return f"add {asked} (in a config {in_config})"


def _usual(*roles: str) -> set[str]:
    return {name for role in roles for name in _ROLE_NAMES[role]}


def select_columns(
    names: Sequence[str], kind: str, columns: Names | None, where: Where, first_rows: FirstRows
) -> dict[str, str]:
    """Return the column of each role; warn of unread columns that may contain identifiers.

    `columns` names the column of a role, as a config does; `first_rows` returns the first rows of
    some columns. InputError if a column does not exist, the qids or the numbers cannot be found,
    two columns have one usual name, or rows would be paired by position next to a column that may
    hold the docnos.
    """
    chosen = _choose(names, kind, columns, where, first_rows)
    left = tuple(name for name in names if name not in chosen.values())
    if "qid" in chosen and "docno" not in chosen and not by_position(columns):
        usual = _usual("grade", "score", "rank")
        unusual = [name for name in left if fold(name) not in usual]
        sample = first_rows([chosen["qid"], *unusual]).slice(0, SAMPLE)
        queries = sample[chosen["qid"]].to_pylist() if sample.num_columns else []
        able = [name for name in unusual if queries and _may_be_docnos(sample[name], queries, name)]
        if able:
            message = f"expected a column of docnos; it may be {first_of(able)}"
            fix = name_docnos(able[0], is_file=isinstance(where, Source), kind=kind)
            raise InputError(Problem(Rows(where).name, message, "", fix, "columns"))
    if isinstance(where, Source):
        where.columns, where.unused_columns = chosen, left
        where.has_features = kind == "qrels" and hold_features(left, first_rows)
        if kind == "run" and not where.ascending:
            warn_of_distances(chosen.get("score"), where)
    else:  # one frame often holds grades and scores
        left = tuple(name for name in left if fold(name) not in _usual("grade", "score"))
    usual = _usual("qid", "docno", "grade", "score", "row")
    if doubtful := [name for name in left if fold(name).endswith(_ENDS) or fold(name) in usual]:
        read = ", ".join(f"{role} from '{shorten(name, 60)}'" for role, name in chosen.items())
        message = f"columns not read that may contain identifiers or labels: {first_of(doubtful)}"
        fix = "" if isinstance(where, Source) else "rename the right column, as to 'docno'"
        warn(where, f"{message}; {read}", "unused-columns", len(doubtful), fix=fix)
    return chosen


def hold_features(names: Sequence[str], first_rows: FirstRows) -> bool:
    """Whether columns are features of learning-to-rank rows: ``f1``, ``f2``, with fractions.

    Only numbered columns are certain. Qrels may also have a column such as confidence.
    """
    numbered: dict[str, list[str]] = {}
    for name in names:
        if match := re.fullmatch(r"(.*?)[-_\s]?\d+", name):
            numbered.setdefault(fold(match[1]), []).append(name)
    usual = _usual("qid", "docno", "grade", "score", "rank")
    for stem, columns in numbered.items():
        if len(columns) > 1 and stem not in usual:
            sample = first_rows(columns)  # which may have more columns
            types = [
                sample.schema.field(name).type for name in columns if name in sample.schema.names
            ]
            if all(map(pa.types.is_primitive, types)) and any(map(pa.types.is_floating, types)):
                return True
    return False


def _choose(
    names: Sequence[str], kind: str, columns: Names | None, where: Where, first_rows: FirstRows
) -> dict[str, str]:
    place, is_file = Rows(where).name, isinstance(where, Source)
    readable = [name for name in names if not name.startswith(_PANDAS_INDEX)]
    listed = f"the columns {first_of(readable)}"
    positional, of_rows = by_position(columns), OF_ROWS if kind == "run" else ()
    roles = (*_ROLES[kind], *of_rows)
    unread = {role for role in ("docno", *of_rows) if by_position(columns, role)}
    asked = by_name(columns, readable, place)
    named = {role: str(name) for role, name in asked.items() if role not in unread}
    for role, name in named.items():
        if role not in roles:
            message = f"unknown entry '{role}' in columns{did_you_mean(role, roles)}"
            raise InputError(Problem(place, message))
        if name not in names:
            message = f"no column '{name}'{did_you_mean(name, names)}"
            fix = "correct the name"
            if is_file:
                fix += "; if only some runs have this column, write a config: each run has its own"
            raise InputError(Problem(place, message, listed, fix))
    unnamed = [name for name in names if name not in named.values()]
    chosen = guess(unnamed, kind) | named
    if positional:
        chosen.pop("docno", None)
    if "score" in chosen:
        chosen.pop("rank", None)
    number = "grade" if kind == "qrels" else "rank" if "rank" in chosen else "score"
    if number in chosen.keys() - named:
        chosen[number] = _only(number, unnamed, where) or chosen[number]
    by_row = kind == "run" and chosen.keys().isdisjoint({"qid", "docno"})
    is_known = number in chosen
    needed: tuple[str, ...] = ("qid", number)
    if not is_known and _needs_no_numbers(names, kind, chosen, first_rows):
        needed, is_known = ("qid",), True
    left = [name for name in names if name not in chosen.values()]
    able = list[str]()
    if by_row or not is_known:
        sample = first_rows(left)
        types = dict(zip(sample.column_names, sample.schema.types, strict=True))
        able = _may_be_scores(left, types)
        uncounted = [name for name in left if fold(name) not in _COUNTERS]
        scores = [] if is_known else uncounted if len(uncounted) == 1 else able
        index = _row_numbers(left, types, positional, scores)
        if by_row and not is_known and len(uncounted) == 1 and _may_be_alone(uncounted[0]):
            chosen["score"], is_known = uncounted[0], True
        if by_row and index is not None and not is_known and able:
            raise InputError(_no_scores(place, listed, able, is_file))
        by_row = by_row and index is not None and is_known
        if by_row and index:
            chosen["index"] = index[0]
    for role in (number,) if by_row else needed:
        if role not in chosen and role == "score":
            raise InputError(_no_scores(place, listed, able, is_file))
        if role not in chosen:
            message, fix = f"no column of {role}s", name_it(role, is_file=is_file, kind=kind)
            if role == "qid" and kind == "run" and "docno" not in chosen:
                message, fix = f"{message} or labels", name_docnos(is_file=is_file)
            raise InputError(Problem(place, message, listed, fix))
    for role in of_rows if "docno" not in chosen else ():
        unnamed = [name for name in names if name not in chosen.values()]
        if role not in {*unread, *named} and (column := _only(role, unnamed, where)):
            chosen[role] = column
    for role, name in chosen.items():
        spelled = str if role in named else fold
        equal_names = [column for column in names if spelled(column) == spelled(name)]
        if len(equal_names) > 1:
            message = f"expected one column of {role}s, got {first_of(equal_names)}"
            raise InputError(Problem(place, message, fix="rename one of them", rule="columns"))
    return chosen


def is_list_type(kind: pa.DataType) -> bool:
    """Whether the values of a column are lists."""
    types = pa.types
    tests = types.is_list, types.is_large_list, types.is_fixed_size_list
    return any(test(kind) for test in tests)


def _needs_no_numbers(
    names: Sequence[str],
    kind: str,
    chosen: Mapping[str, str],
    first_rows: Callable[[list[str]], pa.Table],
) -> bool:
    """Whether docnos are lists without lists of numbers, or qrels have qid and docno alone."""
    if not {"qid", "docno"} <= chosen.keys():
        return False
    left = [name for name in names if name not in chosen.values() and fold(name) not in _COUNTERS]
    if kind == "qrels" and not left:
        return True
    fields = first_rows([chosen["docno"], *left]).schema
    lists = {field.name: field.type.value_type for field in fields if is_list_type(field.type)}
    return chosen["docno"] in lists and not any(
        pa.types.is_floating(lists[name]) or pa.types.is_integer(lists[name])
        for name in lists.keys() - {chosen["docno"]}
    )


def _only(role: str, names: Sequence[str], where: Source | str) -> str:
    """Return the column with a usual name of a role, or ``""``; raise if there are several."""
    usual = [*dict.fromkeys(_rivals(role, names))]
    if len(usual) < 2:
        return "".join(usual)
    message = f"expected one column of {role}s, got {first_of(usual)}"
    fix = f"drop all but one, or rename one to '{role}'"
    if isinstance(where, Source):
        fix = name_it(role, usual[0], kind="qrels" if role == "grade" else "run")
    raise InputError(Problem(Rows(where).name, message, "", fix, "columns"))


def _no_scores(place: str, listed: str, able: Sequence[str], is_file: bool) -> Problem:
    """Error of a run with an unknown name of its scores; `able` are possible columns."""
    high = [name for name in able if not lower_is_better(name)]
    if not able:
        message, fix = "no column of scores or ranks", name_it("score", is_file=is_file)
        return Problem(place, message, listed, fix)
    usable = high or able
    stems = {re.sub(r"\d+$", "", name) for name in usable}
    column = usable[-1 if len(stems) == 1 else 0]  # the last of proba_0, proba_1
    name = shorten(column, 60)
    fix = name_it("score", column, is_file=is_file)
    if len(able) > 1:
        message = f"expected one column of scores, got {first_of(able)}"
    elif high:
        message = f"expected a column of scores by its usual name, got '{name}'"
    else:
        message = f"expected scores where higher is better, got '{name}'"
        fix = f"negate the column '{name}', and rename it to 'score'; or give "
        fix += f"columns={{'score': {column!r}}}, order='ascending'"
        if is_file:
            fix = naming("run", {"score": column}, "ascending")
            fix += "; or negate it and rename it to 'score'"
    return Problem(place, message, listed, fix, "columns")


def in_yaml(name: str) -> str:
    """Return a name of a column as a config has it: in quotes if YAML takes it for another value.

    >>> in_yaml("my_score"), in_yaml("0"), in_yaml("p: q")
    ('my_score', "'0'", "'p: q'")
    """
    name = shorten(name, 60)
    is_plain = re.fullmatch(r"[A-Za-z_][\w.-]*", name, re.ASCII)
    is_word = name.lower() in ("yes", "no", "on", "off", "true", "false", "null", "none")
    return name if is_plain and not is_word else "'" + name.replace("'", "''") + "'"


def name_it(role: str, column: str = "", *, is_file: bool = True, kind: str = "run") -> str:
    """Fix that names the column of a role, for a reader and in a table."""
    message = f"'{shorten(column, 60)}'" if column else "that holds them"
    rename = f"rename the column {message}"
    if not is_file:
        names = f"{{'{column}': '{role}'}}" if column else f"{{'...': '{role}'}}"
        is_plain = re.fullmatch(r"([^\W\d][\w .-]{,59})?", column)  # pandas may have it as a number
        rename += f" to '{role}'" + (f": df.rename(columns={names})" if is_plain else "")
        argument = "qrels_columns" if kind == "qrels" else "columns"
        return f"{rename}; or give {argument}={{'{role}': {column or '...'!r}}}"
    return f"{naming(kind, {role: column or 'NAME'})}; or {rename} to '{role}'"


def name_docnos(column: str = "", *, is_file: bool = True, kind: str = "run") -> str:
    """Fix that names the column of docnos, or says that rows follow the dataset's order."""
    scores = "the scores alone" if kind == "run" else "(qids, grades)"
    by_order = f"give {scores}" if not is_file else naming(kind, {"docno": "none"})
    if is_file and kind == "run":
        by_order += f", or give {scores}"
    fix = name_it("docno", column, is_file=is_file, kind=kind)
    return f"{fix}; if rows follow the dataset's order: {by_order}"


def _may_be_alone(name: str) -> bool:
    """Whether the only column of a table is one of scores, whatever its name."""
    return not lower_is_better(name) and fold(name) not in _usual(*OF_ROWS)


def _may_be_scores(left: Sequence[str], types: Mapping[str, pa.DataType]) -> list[str]:
    """Return the columns of fractions, or those of whole numbers if there are none."""
    able = [name for name in left if fold(name) not in _COUNTERS | _usual("qid", "docno", *OF_ROWS)]
    floats = [name for name in able if pa.types.is_floating(types.get(name, pa.null()))]
    return floats or [name for name in able if pa.types.is_integer(types.get(name, pa.null()))]


def _row_numbers(
    left: Sequence[str], types: Mapping[str, pa.DataType], positional: bool, scores: Sequence[str]
) -> list[str] | None:
    """Return the columns of row numbers; None if others than `scores` may hold identifiers."""
    rest = {name for name in left if fold(name) not in _COUNTERS | _usual(*OF_ROWS)}
    floats = {name for name in rest if pa.types.is_floating(types.get(name, pa.null()))}
    index = [name for name in left if fold(name) in _COUNTERS]
    are_numbers = all(pa.types.is_primitive(types.get(name, pa.int64())) for name in index)
    return index if positional or (are_numbers and rest <= floats.union(scores)) else None


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
