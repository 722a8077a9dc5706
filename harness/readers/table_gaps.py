"""Rows of a CSV or TSV whose query or document has no name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from ..core.hashing import string_views
from ..errors import InputError, Problem

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
        del table  # before the next one is made


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
