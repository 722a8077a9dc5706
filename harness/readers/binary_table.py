"""Parquet and Arrow files to Arrow tables, checked before anything trusts what they say."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa

from ..core.arrow import to_numpy
from ..errors import InputError, Problem, shorten
from .frame import Columns, choose
from .source import Source
from .unpacking import check_ratio

_NUMBER = 8
"""Bytes of a number, of an offset, of an index."""


def read_parquet(source: Source, kind: str, columns: Columns | None) -> pa.Table:
    """Return the columns that matter of a Parquet file.

    What the file says it unpacks to is held against its size before it is read. Texts stay a
    dictionary until it is known how much room they take.
    """
    import pyarrow.parquet as parquet

    given, packed = _unpacked(source), _size(source)
    file = _or_refused(source, lambda: parquet.ParquetFile(given))
    chosen = choose(file.schema_arrow.names, kind, columns, source.name)
    names = sorted(set(chosen.values()))
    # of a group alone: what a damaged file says of a column ends the interpreter (Arrow 26)
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    room = sum(max(group.total_byte_size, 0) for group in groups)
    check_ratio(source.name, packed, room + file.metadata.num_rows * _NUMBER * len(names))
    text = [chosen[role] for role in ("qid", "docno") if role in chosen]
    file = _or_refused(source, lambda: parquet.ParquetFile(given, read_dictionary=text))
    table = _or_refused(source, lambda: file.read(columns=names))
    return _checked(source, packed, table)


def read_arrow(source: Source, kind: str, columns: Columns | None) -> pa.Table:
    """Return the columns that matter of an Arrow (Feather) file."""
    import pyarrow.feather as feather

    table = _or_refused(source, lambda: feather.read_table(_unpacked(source)))
    chosen = choose(table.column_names, kind, columns, source.name)
    return _checked(source, _size(source), table.select(sorted(set(chosen.values()))))


def _or_refused(source: Source, read: Any) -> Any:
    """Return what `read` gives; an error where Arrow fails at what the file says."""
    try:
        return read()
    except (MemoryError, OverflowError, ValueError, TypeError, KeyError, IndexError) as error:
        if isinstance(error, pa.ArrowException) and not isinstance(error, MemoryError):
            raise
        what = f"cannot be read as a table ({shorten(str(error), 300)})"
        raise InputError(Problem(source.name, what, fix="get the whole file again")) from None


def _checked(source: Source, packed: int, table: pa.Table) -> pa.Table:
    """Return a table whose offsets, indices and texts are sound and of a size that is fine."""
    table.validate(full=True)
    for name in table.column_names:
        kind = table[name].type
        if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
            check_ratio(source.name, packed, sum(map(_decoded_size, table[name].chunks)))
    return table


def _is_text(kind: pa.DataType) -> bool:
    texts = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
    return any(kind == text for text in texts)


def _decoded_size(chunk: pa.DictionaryArray) -> int:
    import pyarrow.compute as compute

    lengths = to_numpy(compute.binary_length(chunk.dictionary).cast(pa.float64()))
    used = to_numpy(compute.drop_null(chunk.indices).cast(pa.int64()))
    return int(lengths[used].sum())


def _size(source: Source) -> int:
    return os.path.getsize(source.file)


def _unpacked(source: Source) -> str | pa.BufferReader:
    """Return what Arrow opens a binary file from; it does not unpack by itself."""
    return pa.BufferReader(source.read()) if source.codec else source.file
