"""LETOR / SVMlight files as datasets: grade, qid and docno of each line; features are not read.

``grade qid:Q f:v f:v ... # comment`` in the dialects of MSLR, LETOR 3 and 4 (``#docid = X``),
RankLib's judgement lists (``# docno words``), Yahoo and Istella; and LightGBM's layout, where a
second file holds the number of rows of each query instead of a qid on each line: for ``rank.test``
that is ``rank.test.query`` (or ``rank.test.group``), which is taken by itself where it exists.
Where the lines have qids too, sizes must agree with them.
"""

from __future__ import annotations

import os
import re
from functools import partial

import numpy as np
import pyarrow as pa

from ..core.arrow import as_bytes, run_ends, take, to_numpy
from ..core.policy import Duplicates
from ..core.ragged import Ints
from ..core.table import DuplicateRows
from ..core.tables import Qrels
from ..errors import InputError, Problem
from .ahead import ahead, each
from .blanks import count_fields
from .build import column, dropped, scattered, warn, warn_dropped, warn_scattered
from .format import Format, Head, Kind
from .groups import GROUP, check_sizes, group_file, has_qids, qids_from_sizes
from .hashed import HashedSource
from .letor_lines import NotLetor, Rows, diagnose, is_data, read_block
from .lines import find_lines, last_line
from .source import Source, no_rows

_BLOCK = 4 << 20
_BEFORE = 5
"""Lines before the last one that tell how many fields a line has."""
_SMALL = 2
"""Bytes of the integers that are grades whatever they hold."""


def read_qrels(
    source: Source,
    *,
    duplicates: Duplicates,
    name: str,
    fractions: bool = False,
    group: str | os.PathLike[str] | None = None,
) -> Qrels:
    """Read a learning-to-rank file as a dataset.

    Docnos come from the comments where every row has one, and are d0, d1, ... by position
    otherwise. Real files hold rows twice, and predictions follow all of them: under
    ``duplicates="error"`` such a file is warned about, keeps every row and is named by position.

    Parameters
    ----------
    group : path, optional
        File with the number of rows of each query; ``<path>.query`` or ``<path>.group`` beside
        the file is found by itself. Queries of lines without qids are named 1, 2, ...; qids must
        agree with the sizes.
    """
    sizes = group_file(source, group)
    with_qid = has_qids(source)
    try:
        marked = isinstance(source, HashedSource)
        parse = partial(read_block, with_qid=with_qid, marked=marked)
        blocks = [rows for block in each(parse, ahead(source.blocks(_BLOCK))) for rows in block]
    except NotLetor:
        raise diagnose(source, with_qid, whole=not fractions) from None
    if not blocks:
        raise no_rows(source.name)
    grades = np.concatenate([block.grades for block in blocks])
    if grades.dtype.kind == "f" and not fractions:
        raise diagnose(source, with_qid, whole=True)
    if grades.dtype.itemsize > _SMALL:  # else they are within bounds
        Qrels.check_numbers(grades, source.name, fractions=fractions)
    if with_qid:
        qids = _joined([block.qids for block in blocks])
        if sizes is not None:
            check_sizes(source, sizes, qids)
    elif sizes is None:
        fix = (
            f"write 'grade qid:Q features', or the group sizes to {source.stem}.query beside it, "
            f"or name their file: {GROUP}"
        )
        raise InputError(Problem(source.name, "the lines have no qid", fix=fix, rule="columns"))
    else:
        qids = qids_from_sizes(source, sizes, grades.size)
    docnos = _docnos(source, blocks)
    if isinstance(source, HashedSource):
        source.row_marks = np.concatenate([block.marks for block in blocks])
    del blocks  # as large as all that is made from them
    try:
        qrels = Qrels.from_columns(qids, docnos, grades, name=name, duplicates=duplicates)
    except DuplicateRows as error:
        n, rows = error.rows.size, error.rows[:3]
        named = [
            tuple(name.decode("utf-8", "replace") for name in as_bytes(column))
            for column in (_at(qids, rows), take(docnos, rows))
        ]
        wanted = {int(row): (docno,) for row, docno in zip(rows, named[1], strict=True)}
        lines = find_lines(source, wanted, is_data, whole=True)
        line = lines.get(int(rows[0]), 0)
        names = tuple(
            f"query {qid}, document {docno}" + (f": line {lines[row]}" if row in lines else "")
            for row, qid, docno in zip(wanted, *named, strict=True)
        )
        warn(
            source,
            f"{n:,} row{'s repeat' if n > 1 else ' repeats'} a docno of the same query; all rows "
            "are kept, and named d0, d1, ... by position",
            "repeated-rows",
            n,
            line,
            names,
        )
        qrels = Qrels.from_columns(qids, None, grades, name=name)
    _warn_cut(source)
    warn_scattered(source, scattered(qrels), is_data)
    warn_dropped(source, dropped(qrels), duplicates, is_data)
    return qrels


def _warn_cut(source: Source) -> None:
    """Warn where the last line has no end and fewer fields than each of the lines before it."""
    if not source.unfinished:
        return
    *before, last = source.sample.pieces[-1].splitlines()[-1 - _BEFORE :]
    lengths = {_n_fields(line) for line in before if is_data(0, line)}
    if len(before) == _BEFORE and len(lengths) == 1 and (n := _n_fields(last)) < min(lengths):
        warn(
            source,
            f"the last line may be cut: it has no line end, and {n} fields where each of the "
            f"{_BEFORE} lines before has {min(lengths)}",
            "cut-line",
            line=last_line(source),
            examples=(last.decode("utf-8", "replace"),),
        )


def _n_fields(line: bytes) -> int:
    """Return how many fields stand before the comment; one more where there is a comment."""
    fields, mark, _ = line.partition(b"#")
    return count_fields(fields) + len(mark)


def _at(qids: pa.Array, rows: Ints) -> pa.Array:
    """Return the qids of some rows."""
    if not isinstance(qids, pa.RunEndEncodedArray):
        return take(qids, rows)
    return take(qids.values, np.searchsorted(to_numpy(qids.run_ends), rows, side="right"))


def _joined(columns: list[pa.RunEndEncodedArray]) -> pa.RunEndEncodedArray:
    """Return run-end encoded columns as one."""
    ends = np.concatenate([to_numpy(part.run_ends).astype(np.int64) for part in columns])
    before = np.cumsum([0, *map(len, columns[:-1])])
    ends += np.repeat(before, [len(part.values) for part in columns])
    values = column(pa.chunked_array([part.values for part in columns]))
    return run_ends(ends, values)


def _docnos(source: Source, blocks: list[Rows]) -> pa.Array | None:
    """Return the docnos that the comments give; None where not every row has one."""
    docids = sum(block.docids for block in blocks)
    n_rows = sum(block.grades.size for block in blocks)
    if 0 < docids < n_rows:
        warn(
            source,
            f"{docids:,} of {n_rows:,} rows have a docid; rows are named d0, d1, ... by position",
        )
        return None
    columns = [block.docnos for block in blocks]
    if any(docnos is None or docnos.null_count for docnos in columns):
        return None
    return column(pa.chunked_array(columns))


_QID_LINE = re.compile(rb"\s*\S+\s+qid:\S")
_FEATURE_LINE = re.compile(rb"\s*[-+.\d]+(\s+\d+:\S+)+\s*(#.*)?$")


def looks(head: Head, kind: Kind) -> bool:
    """Whether every line begins with a grade and a qid, or has features alone."""
    lines = head.lines
    return kind == "qrels" and (
        head.mostly(lines, lambda line: bool(_QID_LINE.match(line)))
        or head.mostly(lines, lambda line: bool(_FEATURE_LINE.match(line)))
    )


FORMAT = Format(
    name="letor",
    about="LETOR / SVMlight learning-to-rank file (grade qid:Q f:v ... # comment), as a dataset; "
    "without qids, as LightGBM's, FILE.query or FILE.group beside it is used for the group sizes, "
    "which must agree with qids where there are both",
    suffixes=(".txt", ".test", ".train", ".letor", ".svm", ".libsvm"),
    looks=looks,
    qrels=read_qrels,
    is_data=lambda source: is_data,
)
