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
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from ..core.arrow import as_bytes, take, to_numpy
from ..core.docnos import Docnos
from ..core.grouped import Columns, in_order
from ..core.policy import Duplicates
from ..core.ragged import Array
from ..core.same_docnos import many_repeats
from ..core.tables import Qrels
from ..errors import InputError, Problem
from .ahead import of_blocks
from .blanks import count_fields
from .build import dropped, scattered, warn, warn_dropped, warn_scattered
from .cut_line import last_lines, warn_cut_line
from .format import Format, Head, Kind
from .groups import GROUP, check_sizes, group_file, has_qids, qids_from_sizes
from .hashed import HashedSource
from .letor_columns import Growing, LetorColumns
from .letor_lines import NotLetor, diagnose, is_data, read_block
from .lines import find_lines
from .room import give_back
from .source import Source, no_rows

_LEAST = 2 << 20
"""Bytes of a block, at least: of most only the beginnings of lines are looked at."""
_BEFORE = 5
"""Lines before the last one that tell how many fields a line has."""
_NAMED = 3
"""Rows that are named of those that repeat a docno."""
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
    columns = _columns(source, with_qid, whole=not fractions)
    grades, qids = columns.grades, columns.qids
    if grades.dtype.itemsize > _SMALL:  # else they are within bounds
        Qrels.check_numbers(grades, source.name, fractions=fractions)
    if with_qid:
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
    docnos = _docnos(source, columns)
    if isinstance(source, HashedSource):
        source.row_marks = columns.marks
    del columns
    # where docnos that stand twice are no error, rows have to be there without their docnos, too
    ask = docnos is not None and duplicates == "error"
    held = Columns(qids, docnos, grades, give_back)
    if ask and _warn_many_repeated(source, held):
        ask, docnos = False, None
    if ask or docnos is None:
        held.docnos = None
    del qids, grades
    qrels = Qrels.from_held(held, name=name, duplicates=duplicates)
    if ask:
        named = _named(qrels, docnos)
        del docnos
        if not _warn_some_repeated(source, named):
            qrels = named
    _warn_cut(source)
    warn_scattered(source, scattered(qrels), is_data)
    warn_dropped(source, dropped(qrels), duplicates, is_data)
    return qrels


def _columns(source: Source, with_qid: bool, *, whole: bool) -> LetorColumns:
    """Return what the rows hold."""
    parse = partial(read_block, with_qid=with_qid, marked=isinstance(source, HashedSource))
    growing, is_letor = Growing(), True
    blocks = of_blocks(parse, source, source.blocks(_block(source)))
    try:
        for block in blocks:
            for rows in block:
                growing.add(rows)
                is_letor = is_letor and not (whole and rows.grades.dtype.kind == "f")
            if not is_letor:
                break
    except NotLetor:
        is_letor = False
    del blocks
    columns = growing.columns() if is_letor else None
    if not is_letor:
        del growing
        raise diagnose(source, with_qid, whole=whole)
    if columns is None:
        raise no_rows(source.name)
    give_back()  # what blocks took
    return columns


def _block(source: Source) -> int:
    return max(source.block, _LEAST)


def _warn_cut(source: Source) -> None:
    """Warn where the last line has no end and fewer fields than each of the lines before it."""
    lines = last_lines(source, _BEFORE)
    lengths = {_n_fields(line) for line in lines[:-1] if is_data(0, line)}
    if len(lengths) == 1 and (n := _n_fields(lines[-1])) < min(lengths):
        why = f"{n} fields where each of the {_BEFORE} lines before has {min(lengths)}"
        warn_cut_line(source, why)


def _n_fields(line: bytes) -> int:
    """Return how many fields stand before the comment; one more where there is a comment."""
    fields, mark, _ = line.partition(b"#")
    return count_fields(fields) + len(mark)


def _named(qrels: Qrels, docnos: pa.Array) -> Qrels:
    """Return judgements with names for their rows, as they stand in the file."""
    if qrels.order is not None:
        docnos = in_order(docnos, qrels.order, give_back)
    return replace(qrels, docnos=Docnos(docnos, qrels.offsets))


def _warn_many_repeated(source: Source, columns: Columns) -> bool:
    """Warn of rows that repeat a docno where they are many, and return whether they are."""
    many = many_repeats(columns)
    if many is None:
        return False
    rows, n = many[0][:_NAMED].copy(), many[0].size
    del many
    query = np.searchsorted(to_numpy(columns.qids.run_ends), rows, "right")
    names = take(columns.qids.values, query), take(columns.docnos, rows)
    columns.let_go()  # before the file is read again
    _warn_repeated(source, rows, names, n, at_least=True)
    return True


def _warn_some_repeated(source: Source, qrels: Qrels) -> bool:
    """Warn of rows that repeat a docno, and return whether there are any."""
    rows, _ = qrels.duplicate_rows()
    if not rows.size:
        return False
    order = qrels.order
    first = rows if order is None else rows[np.argsort(order[rows])]  # of the file
    first = first[:_NAMED]
    query = np.searchsorted(qrels.offsets, first, "right") - 1
    names = take(qrels.qids, query), qrels.docnos.take(first)
    _warn_repeated(source, first if order is None else order[first], names, rows.size)
    return True


def _warn_repeated(
    source: Source, rows: Array, names: tuple[pa.Array, pa.Array], n: int, at_least: bool = False
) -> None:
    """Warn of `n` rows that repeat a docno of their query: the first, their qids and docnos."""
    texts = [
        tuple(name.decode("utf-8", "replace") for name in as_bytes(column)) for column in names
    ]
    wanted = {int(row): (docno,) for row, docno in zip(rows, texts[1], strict=True)}
    lines = find_lines(source, wanted, is_data, whole=True)
    examples = tuple(
        f"query {qid}, document {docno}" + (f": line {lines[row]}" if row in lines else "")
        for row, qid, docno in zip(wanted, *texts, strict=True)
    )
    warn(
        source,
        f"{'at least ' if at_least else ''}{n:,} row{'s repeat' if n > 1 else ' repeats'} a docno "
        "of the same query; all rows are kept, and named d0, d1, ... by position",
        "repeated-rows",
        n,
        lines.get(int(rows[0]), 0),
        examples,
        at_least,
    )


def _docnos(source: Source, columns: LetorColumns) -> pa.Array | None:
    """Return the docnos that the comments give; None where not every row has one."""
    docids, n_rows = columns.docids, columns.grades.size
    if 0 < docids < n_rows:
        warn(
            source,
            f"{docids:,} of {n_rows:,} rows have a docid; rows are named d0, d1, ... by position",
        )
        return None
    return columns.docnos


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
