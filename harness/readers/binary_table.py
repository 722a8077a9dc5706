"""Parquet and Arrow files to Arrow tables, checked before anything trusts what they say."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import call, cast, to_numpy
from ..core.hashing import string_views
from ..core.ragged import Array
from ..errors import InputError, Problem, said_by
from .frame import Columns, check_types, choose
from .grown import Texts
from .source import Source
from .unpacking import check_ratio

_NUMBER = 8
"""Bytes of a number, of an offset, of an index."""
_ROWS = 1 << 14
"""Rows of a batch, at most."""
_BATCH = 4 << 20
"""Bytes of text of a batch, as the longest text of a dictionary tells."""
_BUFFER = 1 << 16
_SCHEMA, _IGNORED = b"ARROW:schema", b"ARROW:unread"
"""Where Arrow keeps its own types, as of categories, and as long a name that it passes by."""


def read_parquet(source: Source, kind: str, columns: Columns | None) -> pa.Table:
    """Return the columns that matter of a Parquet file.

    What the file says it unpacks to is held against its size before it is read, and what comes
    out of it batch by batch.
    """
    given, packed = _unpacked(source), _size(source)
    file = _Parquet(source, given)
    schema, metadata = file.plain.schema_arrow, file.plain.metadata
    chosen = choose(schema.names, kind, columns, source.name)
    check_types(schema, chosen, source.name)
    names = sorted(set(chosen.values()))
    # of a group alone: what a damaged file says of a column ends the interpreter (Arrow 26)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    room = sum(max(group.total_byte_size, 0) for group in groups)
    check_ratio(source.name, packed, room + metadata.num_rows * _NUMBER * len(names), names)
    text = [name for name in names if _is_text(schema.field(name).type)]
    return _gathered(source, packed, schema, names, file.batches(names, text))


class _Parquet:
    """A Parquet file, of which no more is in memory than a batch, and what Arrow holds with it."""

    def __init__(self, source: Source, given: str | pa.BufferReader) -> None:
        self._source, self._given = source, given
        self._footer = _or_refused(source, lambda: _footer(given))
        self.plain = self._open([])

    def _open(self, text: list[str]) -> Any:
        import pyarrow.parquet as parquet

        return _or_refused(
            self._source,
            lambda: parquet.ParquetFile(
                self._given, metadata=self._footer, read_dictionary=text, pre_buffer=False,
                buffer_size=_BUFFER,
            ),
        )  # fmt: skip

    def batches(self, names: list[str], text: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some columns, few at a time where texts are long.

        What a row takes is not known before it is read: a megabyte may stand for a code of two
        bits. Hence dictionaries are looked at before; for all else Arrow is kept from making
        some, which take five times their size.
        """
        coded = self._open(text)
        for group in range(self.plain.metadata.num_row_groups):
            longest = self._longest(coded, text, group) if text else 1
            if self.plain.metadata.row_group(group).total_byte_size > _BATCH:
                pa.default_memory_pool().release_unused()
            yield from self._each(self.plain, min(_ROWS, _BATCH // longest + 1), names, group)

    def _longest(self, coded: Any, text: list[str], group: int) -> int:
        """Return the bytes of the longest text of the dictionaries of a group, at least 1."""
        first = next(self._each(coded, 1, text, group), None)
        columns = first.columns if first is not None else []
        return int(max([1, *(_lengths(of.dictionary).max(initial=1) for of in columns)]))

    def _each(self, file: Any, rows: int, names: list[str], group: int) -> Iterator[Any]:
        batches = _or_refused(
            self._source,
            lambda: file.iter_batches(rows, row_groups=[group], columns=names, use_threads=False),
        )
        while (batch := _or_refused(self._source, lambda: next(batches, None))) is not None:
            yield batch


def _footer(given: str | pa.BufferReader) -> Any:
    """Return what a Parquet file says of itself, but for types that Arrow noted for itself.

    Those make dictionaries of columns that were categories, at five times their room.
    """
    import pyarrow.parquet as parquet

    whole = parquet.read_metadata(given)
    if not (whole.metadata and _SCHEMA in whole.metadata):
        return whole
    with pa.OSFile(given) if isinstance(given, str) else contextlib.nullcontext(given) as file:
        size = file.size()
        length = int.from_bytes(file.read_at(8, size - 8)[:4], "little")
        footer = file.read_at(length + 8, size - length - 8)
    footer = footer.replace(_SCHEMA, _IGNORED)
    return parquet.read_metadata(pa.BufferReader(b"PAR1" + footer))


def _gathered(
    source: Source, packed: int, schema: pa.Schema, names: list[str],
    batches: Iterable[pa.RecordBatch],
) -> pa.Table:  # fmt: skip
    """Return the rows of all batches, with each column of texts in one piece."""
    texts = {name: Texts() for name in names if _is_text(schema.field(name).type)}
    others: dict[str, list[pa.Array]] = {name: [] for name in names if name not in texts}
    size = 0
    for batch in batches:
        batch.validate(full=True)
        for name in names:
            values = batch.column(name)
            if name in others:
                others[name].append(values)
                continue
            size += values.nbytes
            check_ratio(source.name, packed, size)
            texts[name].add_column(values)
    columns = {name: pa.chunked_array(of, schema.field(name).type) for name, of in others.items()}
    return pa.table(columns | {name: of.column() for name, of in texts.items()})


def read_arrow(source: Source, kind: str, columns: Columns | None) -> pa.Table:
    """Return the columns that matter of an Arrow (Feather) file."""
    import pyarrow.feather as feather

    table = _or_refused(source, lambda: feather.read_table(_unpacked(source)))
    chosen = choose(table.column_names, kind, columns, source.name)
    check_types(table.schema, chosen, source.name)
    return _checked(source, _size(source), table.select(sorted(set(chosen.values()))))


def _or_refused(source: Source, read: Any) -> Any:
    """Return what `read` gives; an error where Arrow fails at what the file says."""
    try:
        return read()
    except (MemoryError, OverflowError, ValueError, TypeError, KeyError, IndexError) as error:
        if isinstance(error, pa.ArrowException) and not isinstance(error, MemoryError):
            raise
        what = f"cannot be read as a table ({said_by(error, 300)})"
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
    lengths = _lengths(chunk.dictionary)
    used = to_numpy(cast(call("drop_null", chunk.indices), pa.int64()))
    return int(lengths[used].sum())


def _lengths(texts: pa.Array) -> Array:
    """Return the bytes of each text, 0 of one that is null."""
    return np.diff(string_views(texts)[0]).astype(np.float64)


def _size(source: Source) -> int:
    return os.path.getsize(source.file)


def _unpacked(source: Source) -> str | pa.BufferReader:
    """Return what Arrow opens a binary file from; it does not unpack by itself."""
    return pa.BufferReader(source.read()) if source.codec else source.file
