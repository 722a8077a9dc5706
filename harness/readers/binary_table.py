"""Parquet and Arrow files to Arrow tables, checked before anything trusts what they say."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import call, cast, to_numpy
from ..core.hashing import string_views
from ..core.ragged import Array
from ..errors import InputError, Problem, said_by
from ..system import check_room
from .frame import Names, check_types, choose
from .grown import Texts
from .parquet_pages import DamagedError, Group, footer_of, groups_of
from .room import give_back, used
from .source import Source
from .unpacking import check_ratio, is_too_far

_ROWS = 1 << 13
"""Rows of a batch, at most."""
_BATCH = 4 << 20
"""Bytes of text of a batch, as the longest text of a dictionary tells."""
_EVERY = 4
"""Batches after which memory is given back."""
_BUFFER = 1 << 16
_ALLOCATION = re.compile(r"alloc of size (\d+) failed")
_SCHEMA, _IGNORED = b"ARROW:schema", b"ARROW:unread"
"""Where Arrow keeps its own types, as of categories, and as long a name that it passes by."""


def read_parquet(source: Source, kind: str, columns: Names | None) -> pa.Table:
    """Return the columns that matter of a Parquet file.

    What its pages say they unpack to is held against its size before one is read, and what comes
    out of it batch by batch.
    """
    given, packed = _unpacked(source), _size(source)
    file = _Parquet(source, given)
    schema = file.arrow.schema_arrow
    chosen = choose(schema.names, kind, columns, source.name)
    check_types(schema, chosen, source.name)
    names = sorted(set(chosen.values()))
    long = [name for name in names if not pa.types.is_primitive(schema.field(name).type)]
    groups = file.groups(names, long, partial(check_ratio, source.name, packed))
    table = _gathered(source, packed, schema, names, file.batches(names, groups))
    give_back()  # what pages took
    return table


class _Parquet:
    """A Parquet file, of which no more is in memory than a batch, and what Arrow holds with it."""

    def __init__(self, source: Source, given: str | pa.BufferReader) -> None:
        import pyarrow.parquet as parquet

        self._source, self._given = source, given
        self._footer, metadata = _or_refused(source, lambda: _footer(given))
        with used():
            self.arrow = _or_refused(
                source,
                lambda: parquet.ParquetFile(
                    given, metadata=metadata, pre_buffer=False, buffer_size=_BUFFER
                ),
            )

    def groups(
        self, names: list[str], long: list[str], check: Callable[[int], None]
    ) -> list[Group]:
        """Return what the row groups unpack to of some columns, by the headers of their pages."""
        schema = self.arrow.schema
        paths = [schema.column(place).path for place in range(len(schema))]
        with _opened(self._given) as file:
            places, of_long = [*map(paths.index, names)], [*map(paths.index, long)]
            try:
                return [*groups_of(file, self._footer, places, of_long, check)]
            except DamagedError as error:
                raise _damaged(self._source, error) from None

    def batches(self, names: list[str], groups: list[Group]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some columns, few at a time where texts are long; small groups at once.

        What a row takes is not known before it is read: a megabyte may stand for a code of two
        bits.
        """
        first = unpacked = 0
        for stop, (group, following) in enumerate(zip_longest(groups, groups[1:]), 1):
            unpacked += group.unpacked
            if following is not None and unpacked + following.unpacked <= _BATCH:
                continue
            longest = max(one.longest for one in groups[first:stop])
            if unpacked > _BATCH:
                give_back()
            rows, at = min(_ROWS, _BATCH // longest + 1), range(first, stop)
            for n, batch in enumerate(self._each(rows, names, at)):
                if unpacked > _BATCH and n % _EVERY == 0:
                    give_back()  # what pages took
                yield batch
            first, unpacked = stop, 0

    def _each(self, rows: int, names: list[str], groups: Iterable[int]) -> Iterator[Any]:
        batches = _or_refused(
            self._source,
            lambda: self.arrow.iter_batches(
                rows, row_groups=[*groups], columns=names, use_threads=False
            ),
        )
        while (batch := _or_refused(self._source, lambda: next(batches, None))) is not None:
            yield batch


def _footer(given: str | pa.BufferReader) -> tuple[bytes, Any]:
    """Return what a Parquet file says of itself, and as Arrow has it, without types of its own.

    Those make dictionaries of columns that were categories, at five times their room.
    """
    import pyarrow.parquet as parquet

    whole = parquet.read_metadata(given)
    with _opened(given) as file:
        footer = footer_of(file)
    if not (whole.metadata and _SCHEMA in whole.metadata):
        return footer, whole
    ours = b"PAR1" + footer.replace(_SCHEMA, _IGNORED)
    return footer, parquet.read_metadata(pa.BufferReader(ours))


def _opened(given: str | pa.BufferReader) -> AbstractContextManager[Any]:
    return pa.OSFile(given) if isinstance(given, str) else contextlib.nullcontext(given)


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
            size += values.nbytes
            check_ratio(source.name, packed, size)
            if name in others:
                others[name].append(values)
            else:
                texts[name].add_column(values)
    columns = {name: pa.chunked_array(of, schema.field(name).type) for name, of in others.items()}
    return pa.table(columns | {name: of.column() for name, of in texts.items()})


def read_arrow(source: Source, kind: str, columns: Names | None) -> pa.Table:
    """Return the columns that matter of an Arrow (Feather) file."""
    import pyarrow.feather as feather

    table = _or_refused(source, lambda: feather.read_table(_unpacked(source), use_threads=False))
    chosen = choose(table.column_names, kind, columns, source.name)
    check_types(table.schema, chosen, source.name)
    return _checked(source, _size(source), table.select(sorted(set(chosen.values()))))


def _or_refused(source: Source, read: Any) -> Any:
    """Return what `read` gives; an error where Arrow fails at what the file says.

    A file that is damaged may ask for more memory than any file of its size needs.
    """
    check_room()
    try:
        return read()
    except MemoryError as error:
        if not is_too_far(_size(source), _asked(error)):
            raise
        raise _damaged(source, error) from None
    except (OverflowError, ValueError, TypeError, KeyError, IndexError) as error:
        if isinstance(error, pa.ArrowException):
            raise
        raise _damaged(source, error) from None


def _asked(error: MemoryError) -> int:
    """Return for how many bytes Arrow asked in vain, 0 where it does not say."""
    found = _ALLOCATION.search(str(error))
    return int(found[1]) if found else 0


def _damaged(source: Source, error: Exception) -> InputError:
    what = f"cannot be read as a table ({said_by(error, 300)})"
    return InputError(Problem(source.name, what, fix="get the whole file again"))


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
