"""Qrels and runs from the objects that Python callers pass, and predictions saved to a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arguments import describe
from ..core.arrow import as_bytes
from ..core.pandas_frame import conversion
from ..core.qrels_and_runs import Qrels, QueryRows, Run, T
from ..core.ragged import Array, positions_of
from ..errors import ArgumentError, InputError, Problem, warn_of
from ..input_files import keeping_inputs, name_of
from .adapters import adapted
from .batches import (
    as_array,
    empty_queries,
    from_batch,
    from_queries,
    is_tensor,
    lengths_of,
    numbers_of,
    one_column,
    qids_of,
    with_documents,
)
from .column_roles import Names, guess, warn_of_distances
from .files import parquet, write_all
from .format import FORMATS
from .frame import from_frame, rows_as
from .lists import are_docnos, are_rows, by_qid, rows_by_query, table_of_rows
from .passages import Documents, Passages
from .predictions import follow_queries
from .read import read_qrels, read_run
from .rows import best_first
from .source import PACKED, Source

FIX = (
    "give a path, {qid: {docno: number}}, {qid: [docno, ...]}, rows (qid, docno, number), "
    "a table or data frame with columns qid, docno and grade or score, a tuple of columns, "
    "or padded arrays (B, L); several runs to harness.compare"
)
ROWS = "give n, the rows of each query (LightGBM's group); or (qids, grades) for the rows"


def as_pair(
    qrels: Any, run: Any, *, n: Any = None, mask: Any = None, qids: Any = None,
    of_qrels: Mapping[str, Any] | None = None, of_runs: Mapping[str, Any] | None = None,
    references: Iterable[Any] = (),
) -> tuple[Qrels, Run | str | os.PathLike[str]]:  # fmt: skip
    """Return tables for qrels and a run in any accepted form; the reader opens the path of a run.

    Each of them is a path, a mapping, an Arrow table, a data frame, a list of rows, the columns
    (qids, docnos, numbers), lists of docnos, one for each of `qids`, or a table already. Two arrays
    of shape (B, L) are a padded batch, with `n`, `mask` and `qids`; grades of shape (rows,) with
    `n` go with any run. A run may be an array of one score a row, for any qrels that have rows in
    an order: a learning-to-rank file, or (qids, grades), whose documents are d0, d1, ...
    `of_qrels` and `of_runs` are as `options_of_files` has them. `references` are other runs, whose
    lists may need the qids.
    """
    of_qrels, of_runs = of_qrels or {}, of_runs or {}
    if isinstance(qrels, dict) and isinstance(run, dict) and n is mask is qids is None:
        judgements = as_table(Qrels, qrels, **of_qrels)
        return judgements, as_table(Run, run, dataset=judgements, **of_runs)
    qrels, run = adapted(qrels, "qrels"), adapted(run, "run")
    given = qrels, run
    qrels, run = by_qid(qrels, qids), by_qid(run, qids)
    for kind, value in ((Qrels, qrels), (Run, run)):
        is_table = isinstance(value, _TABLES) or _is_lazy(value) or _is_frame(value)
        if not (is_table or are_rows(value) or _is_array(value)):
            raise _unknown(kind, value)
    for kind, value, options in ((Qrels, qrels, of_qrels), (Run, run, of_runs)):
        if _is_array(value) and "columns" in options:
            raise _no_columns(kind, value)
    if _is_array(qrels) and _is_array(run):
        grades = as_array(qrels, "qrels")
        if grades.ndim == 1 and n is None:
            message = f"expected grades by query, got {grades.size} of one dimension"
            fix = ROWS if qids is None else "give (qids, grades) as qrels, and leave qids out"
            raise InputError(Problem("qrels", message, fix=fix))
        check_index(run, qrels, "run")
        names = "run", "qrels"
        batch = from_batch(run, grades, n, qids, mask=mask, copy=False, arguments=names)
        if not batch.qrels.n_queries:
            message = "expected a query with a document, got none"
            raise InputError(Problem("n", message, fix="give at least one query with documents"))
        return batch.qrels, _in_order(batch.run, of_runs)
    has_sizes = _is_array(qrels) and n is not None
    needs_qids = has_sizes or qrels is not given[0] or run is not given[1]
    needs_qids |= qids is not None and any(by_qid(lists, qids) is not lists for lists in references)
    unused = {"mask": mask, "n": None if has_sizes else n, "qids": None if needs_qids else qids}
    for name, value in unused.items():
        if value is not None:
            message = "expected a batch of arrays with it, got qrels or a run that name queries"
            raise InputError(Problem(name, message, fix=f"leave {name} out"))
    if has_sizes:
        n_rows, n_queries = np.size(as_array(qrels, "qrels")), np.size(as_array(n, "n"))
        names, sizes = qids_of(qids, n_queries, 0), lengths_of(n, n_queries, n_rows)
        if not sizes.all():
            warn_of([empty_queries("n", names.filter(sizes == 0).to_pylist())])
        qrels = np.repeat(names.to_numpy(zero_copy_only=False), sizes), qrels
    judgements = as_table(Qrels, qrels, **of_qrels)
    if isinstance(run, (str, os.PathLike)):
        return judgements, run
    return judgements, as_run(run, dataset=judgements, rows=qrels, **of_runs)


def as_run(
    value: Any, name: str = "", *, dataset: Qrels | None = None, rows: Any = None, **options: Any
) -> Run:
    """Return a run, which may be an array of one score for each row of a dataset.

    `rows` is the dataset in the form that the caller gave; scores have its index.
    """
    if dataset is None or not _is_array(value):
        return as_table(Run, value, name, dataset=dataset, **options)
    place = name or "run"
    check_index(value, dataset if rows is None else rows, place)
    run = Run.for_rows(dataset, _scores(value, place), name=place)
    return _in_order(replace(run, name=""), options)


def _in_order(rows: T, options: Mapping[str, Any], has_ranks: bool = False) -> T:
    """Return a run in which the highest score is best."""
    is_reversed = options.get("order") == "ascending"
    return best_first(rows, rows.kind, has_ranks) if is_reversed else rows


def _no_columns(kind: type[T], value: Any, name: str = "") -> InputError:
    message = f"expected columns of a file, a table or a dict of arrays, got {describe(value)}"
    argument = "columns" if kind is Run else "qrels_columns"
    fix = f"leave '{argument}' out, or give a data frame"
    return InputError(Problem(name or kind.kind, message, fix=fix, rule="columns"))


def _scores(values: Any, place: str = "scores") -> Array:
    """Return one score a row, given in shape (n,) or (n, 1)."""
    return numbers_of(one_column(values, place), place)


def as_table(
    kind: type[T], value: Any, name: str = "", *, dataset: Qrels | None = None, **options: Any
) -> T:
    """Return `value` as Qrels or Run; scores may follow a dataset. See `as_pair`.

    `options` are those of `read_qrels` and `read_run`.
    """
    value = adapted(value, kind.kind)
    if isinstance(value, (str, os.PathLike, Source)):
        if kind is Qrels:
            return rows_as(kind, read_qrels(value, **options))
        return rows_as(kind, read_run(value, dataset=dataset, **options))
    documents = options.pop("documents", None)
    table = _in_memory(kind, value, name, dataset, **options)
    if "columns" in options and options.get("order") != "ascending":
        warn_of_distances(options["columns"].get("score"), name or kind.kind)
    if documents is not None and isinstance(table, Run):
        made = Documents(name or kind.kind, Passages.of(documents))
        table = made.of(table)
        made.report()
    assert isinstance(table, kind)  # which mypy does not know
    return table


def _in_memory(
    kind: type[QueryRows], value: Any, name: str, dataset: Qrels | None, **options: Any
) -> QueryRows:
    """Return an object that is no path as Qrels or Run, of passages as they are."""
    if isinstance(value, kind):
        if "columns" in options:
            raise _no_columns(kind, value, name)
        if options.get("order") == "ascending":
            message = "expected scores to read in ascending order, got a Run"
            fix = "leave order='ascending' out here, and give it to harness.read_run"
            raise InputError(Problem(name or kind.kind, message, fix=fix))
        return value
    columns = options.get("columns")
    if isinstance(value, Mapping):
        is_nested = all(isinstance(rows, Mapping) for rows in value.values())
        if columns is not None and is_nested:
            raise _no_columns(kind, value, name)
        first = None if is_nested else next(iter(value.values()))
        if first is not None and not (_is_array(first) or _is_frame(first)) and conversion(first):
            raise _unknown(kind, value, name)  # as of DatasetDict
        if columns is not None or (not is_nested and _are_columns(value, kind)):
            arrays = {key: as_array(values, key) for key, values in value.items()}
            table = _table_of(arrays, kind.kind)
            return _from_table(table, kind, **{"dataset": dataset, **options})
        has_docnos = not is_nested and are_docnos(value.values())
        if has_docnos:  # arrays of them, too
            value = {
                qid: getattr(row, "tolist", lambda row=row: row)() for qid, row in value.items()
            }
        if has_docnos or is_nested:
            if not all(map(len, value.values())):
                value = with_documents(kind, value, name or kind.kind)
            duplicates = options.get("duplicates", "error")
            table_read = kind.from_dict(value, name=name, duplicates=duplicates)
            return _in_order(table_read, options, has_ranks=has_docnos)
        if rows := rows_by_query(value):
            return _in_memory(kind, rows, name, dataset, **options)
        if all(map(_is_array, value.values())) and (kind is Qrels or dataset is not None):
            parts = {
                str(qid): one_column(values, f"query '{qid}'") for qid, values in value.items()
            }
            if kind is Run and all(part.dtype.kind in "iu" for part in parts.values()):
                message = "expected scores or docnos by query, got whole numbers, which may be both"
                fix = "give docnos as text, str(docno), or scores as fractions, float(score)"
                raise InputError(Problem(name or kind.kind, message, fix=fix))
            table_read = from_queries(kind, parts, name or kind.kind)
            if dataset is not None and isinstance(table_read, Run):
                table_read = follow_queries(kind.kind, dataset, table_read, "", whole=True)
            return _in_order(table_read, options)
        return _in_order(kind.from_dict(value, name=name), options)
    if isinstance(value, tuple) and all(isinstance(part, (str, os.PathLike)) for part in value):
        message = f"expected one {kind.kind}, got {len(value)} paths"
        raise InputError(Problem(kind.kind, message, fix=FIX))
    if are_rows(value):
        rows = table_of_rows(value, kind.kind, name or kind.kind)
        return _from_table(rows, kind, **{"dataset": dataset, "name": name, **options})
    if isinstance(value, tuple) and len(value) == 3:
        return _from_columns(kind, *value, **options)
    if isinstance(value, tuple) and len(value) == 2 and kind is Qrels:
        return _from_columns(kind, value[0], None, value[1], **options)
    if _is_lazy(value):
        value = value.collect()
    if _is_frame(value):
        return from_frame(value, kind, dataset=dataset, **options)
    raise _unknown(kind, value, name)


def _unknown(kind: type[T], value: Any, name: str = "") -> InputError:
    """Return the error of an object that is not a table, with a fix if one is known."""
    fix, call = FIX, conversion(value)
    if isinstance(value, Mapping):
        fix = f"give one split: dataset['{next(iter(value))}'].to_pandas()"
    elif call:
        fix = f"give {call}"
    elif isinstance(value, Sequence) and not isinstance(value, (tuple, bytes, list)):
        fix = f"give list({kind.kind})"
    message = f"expected {'a run' if kind.kind == 'run' else kind.kind}, got {describe(value)}"
    return InputError(Problem(name or kind.kind, message, fix=fix))


def _from_columns(kind: type[T], qids: Any, docnos: Any, numbers: Any, **options: Any) -> T:
    """Return the table of three columns, or of two if the documents have no names."""
    if "columns" in options:
        raise _no_columns(kind, (qids, numbers))
    number = "grade" if kind is Qrels else "score"
    place = f"{kind.kind}: {number}"
    columns = {"qid": as_array(qids, "qids"), number: numbers_of(as_array(numbers, place), place)}
    if docnos is not None:
        columns["docno"] = as_array(docnos, "docnos")
    by_position = {"docno": None} if docnos is None else None
    table = _table_of(columns, kind.kind)
    return _from_table(table, kind, by_position, **options)


def _from_table(
    table: pa.Table, kind: type[T], columns: Names | None = None, *, name: str = "", **options: Any
) -> T:
    """Return the table of an object without a name."""
    return replace(from_frame(table, kind, columns, name=name or kind.kind, **options), name=name)


def _table_of(columns: Mapping[str, Array], place: str) -> pa.Table:
    """Return arrays as the columns of a table."""
    sizes = [len(values) for values in columns.values()]
    if len({*sizes}) > 1:
        message = f"expected {' and '.join(columns)} of one length, got "
        message += " and ".join(map(str, sizes))
        raise InputError(Problem(place, message, fix="give one entry for each row"))
    try:
        arrays = {name: pa.array(values, from_pandas=True) for name, values in columns.items()}
        return pa.table(arrays)
    except pa.ArrowException as error:
        message = f"expected columns of text or numbers, got other arrays ({error})"
        raise InputError(Problem(place, message, fix="give one entry for each row")) from None


def _are_columns(value: Mapping[Any, Any], kind: type[T]) -> bool:
    """Whether a dict of arrays has columns by name, and not scores by query."""
    if not all(isinstance(name, str) for name in value) or not all(map(_is_array, value.values())):
        return False
    # a query may be called q
    roles = {role for role, name in guess([*value], kind.kind).items() if len(name) > 1}
    return "qid" in roles and len(roles) > 1


def check_index(scores: Any, rows: Any = None, place: str = "scores") -> None:
    """Raise if a pandas series has the row numbers of `rows` in another order.

    Rows with an index have their own numbers; those of a file, or of None, have numbers that rise.
    """
    index, expected = _index(scores), _index(rows)
    in_file = rows is None or isinstance(rows, (str, os.PathLike, Qrels))
    if index is not None and in_file and index.dtype.kind in "iu":
        expected = np.sort(index)
    if index is None or expected is None or index.size != expected.size:
        return
    distinct = {*index.tolist()}
    if len(distinct) < index.size or distinct != {*expected.tolist()}:
        return
    if (apart := np.flatnonzero(index != expected)).size:
        row = int(apart[0])
        got, wanted = index[row], expected[row]
        message = f"expected the index in the order of the rows, got {got} for {wanted}"
        fix = "give series.sort_index(), or series.to_numpy() if it is in the order of the rows"
        raise InputError(Problem(place, message, fix=fix, rule="columns"))


def _index(value: Any) -> Array | None:
    """Return the index of a series or a data frame of pandas, or of the first of several."""
    value = value[0] if isinstance(value, tuple) and value else value
    return np.asarray(value.index) if hasattr(value, "sort_index") else None


def _is_lazy(value: Any) -> bool:
    # asking a lazy frame for its columns would warn
    return hasattr(value, "collect") and hasattr(value, "collect_schema")


def _has_columns(value: Any) -> bool:
    return hasattr(value, "column_names") or hasattr(value, "columns")


def _is_frame(value: Any) -> bool:
    """Whether Arrow can read it as a table; pandas before 2.2 has no Arrow stream."""
    is_pandas = any(base.__module__.startswith("pandas.") for base in type(value).__mro__)
    is_read = is_pandas or hasattr(value, "__arrow_c_stream__")
    return is_read and _has_columns(value) and not isinstance(value, type)


_TABLES = (QueryRows, str, os.PathLike, Source, Mapping, tuple)
"""Tables of qrels or a run, their paths, and objects that can become one."""


def _is_array(value: Any) -> bool:
    """Whether it is a list, an array, a tensor or a column of a data frame."""
    if isinstance(value, _TABLES):
        return False
    if isinstance(value, list) or is_tensor(value):
        return not are_rows(value)
    if isinstance(value, type) or _is_lazy(value) or _has_columns(value):
        return False
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def save_predictions(
    path: str | os.PathLike[str], scores: Any, dataset_or_qids: Any, docnos: Any = None
) -> None:
    """Save the predictions of a model with qids and docnos, so row order no longer matters.

    A ``.parquet`` file has the columns qid, docno and score; without docnos it has row, from 0,
    instead. A path such as ``p.run`` or ``p.txt`` becomes a TREC run, sorted by score within each
    query.

    Parameters
    ----------
    path : path
        The file. Its folder is created if needed; endings of other formats are an error.
    scores : array_like, shape (n_rows,) or (n_rows, 1)
        Predictions in the order of the rows: a list, array, tensor or series.
    dataset_or_qids : path, Qrels or array_like, shape (n_rows,)
        The learning-to-rank file, or the qid of each of its rows.
    docnos : array_like, shape (n_rows,), optional
        Docno of each row; by default that of the dataset, or d0, d1, ... in each query.

    Raises
    ------
    InputError
        If the path has the ending of another format, a row has no finite score, a pandas series
        has shuffled rows, or a query has a docno twice.
    HarnessError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "model.run"
    >>> save_predictions(path, [0.2, 0.9, 0.5], ["q1", "q1", "q2"])
    >>> print(path.read_text(), end="")
    q1 Q0 d1 1 0.9 model
    q1 Q0 d0 2 0.2 model
    q2 Q0 d0 1 0.5 model
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(Problem("path", f"expected a path, got a {type(path).__name__}"))
    path = Path(path)
    _check_suffix(path, {".parquet"})
    if docnos is None:
        for values in (scores, dataset_or_qids):
            check_index(values)
    numbers = _scores(scores)
    if isinstance(dataset_or_qids, (str, os.PathLike, Qrels)):
        dataset = as_table(Qrels, dataset_or_qids)
        if docnos is None and dataset.unnamed is not None and path.suffix != ".parquet":
            fix = "give a path that ends in .parquet, which names rows"
            raise InputError(replace(dataset.unnamed, fix=fix))
        if docnos is not None:
            dataset = as_table(Qrels, (_qids(dataset), docnos, np.zeros(dataset.n_rows)))
    else:
        qids = as_array(dataset_or_qids, "qids")
        columns = (qids, *([] if docnos is None else [docnos]), np.zeros(qids.size))
        dataset = as_table(Qrels, columns)
    run = Run.for_rows(dataset, numbers)
    if path.suffix == ".parquet":
        key = {"docno": pa.array(docnos)} if docnos is not None else {}
        key = key or {"row": pa.array(np.arange(numbers.size))}
        table = pa.table({"qid": _qids(dataset), **key, "score": numbers.astype(np.float64)})
        content = parquet([table])
    else:
        content = _trec(run, path)
    inputs = [dataset_or_qids] if isinstance(dataset_or_qids, (str, os.PathLike)) else []
    with keeping_inputs(*inputs):
        write_all(path.parent, {path.name: content})


def write_run(path: str | os.PathLike[str], run: Run) -> None:
    """Write a run in TREC's format, sorted by score within each query; no input is replaced."""
    path = Path(path)
    _check_suffix(path, set())
    with keeping_inputs():
        write_all(path.parent, {path.name: _trec(run, path)})


def _check_suffix(path: Path, also: set[str]) -> None:
    """Raise InputError if a path ends as a format that is not written."""
    suffixes = {suffix for format in FORMATS.values() for suffix in format.suffixes} | {*PACKED}
    if path.suffix in suffixes.difference(FORMATS["trec"].suffixes, also):
        endings = " or ".join([".run", *also])
        message = f"expected a path that ends in {endings}, got '{path.suffix}'"
        raise InputError(Problem(name_of(path), message, fix="give such a path"))


def _qids(dataset: Qrels) -> pa.Array:
    """Return the qid of each row in the order of the file."""
    order = dataset.order
    rows = dataset.row if order is None else dataset.row[np.argsort(order)]
    return dataset.qids.take(pa.array(rows))


def _trec(run: Run, path: Path) -> bytes:
    tag = "".join(path.stem.split()) or "run"
    order = np.lexsort((-run.scores, run.row))
    qids = run.qids.take(pa.array(run.row)).to_pylist()
    docnos = [docno.decode() for docno in as_bytes(run.docnos.take(order))]
    for role, names in (("qid", run.qids.to_pylist()), ("docno", docnos)):
        blank = next((name for name in names if name.split() != [name]), None)
        if blank is not None:
            fix = "write Parquet: give a path that ends in .parquet"
            problem = Problem(role, "expected a name without blanks in a TREC run", blank, fix)
            raise InputError(problem)
    ranks = positions_of(run.offsets, 1).tolist()
    rows = zip(qids, docnos, ranks, run.scores[order].tolist(), strict=True)
    return "".join(f"{q} Q0 {d} {rank} {s!r} {tag}\n" for q, d, rank, s in rows).encode()
