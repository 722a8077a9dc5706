"""Parquet and Arrow files to Arrow tables, read by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from ..errors import InputError, Problem, said_by
from ..files import check_room
from .compression import does_not_fit, most_unpacked
from .frame import SAMPLE, Names, check_pairing, check_types, choose, might_pair, warn_unused
from .source import Source

_ROWS = 1 << 16
"""Rows of a Parquet file that are read at once."""


def read_parquet(source: Source, kind: str, columns: Names | None) -> pa.Table:
    """Return the columns that matter of a Parquet file."""
    import pyarrow.parquet as parquet

    with _explained(source):
        file = parquet.ParquetFile(_opened(source), pre_buffer=False)
        schema = file.schema_arrow
        chosen = choose(schema.names, kind, columns, source.name)
        check_types(schema, chosen, source.name)
        names = sorted(set(chosen.values()))
        if others := might_pair(schema.names, chosen, columns):
            some = [chosen["qid"], *others]
            first = next(file.iter_batches(SAMPLE, columns=some, use_threads=False), None)
            if first is not None:
                rows = pa.Table.from_batches([first])
                check_pairing(rows, chosen["qid"], others, source.name)
        warn_unused(source, schema.names, chosen)
        table = _read_columns(file, names, source.name)
        table.validate(full=True)
        return table


def read_arrow(source: Source, kind: str, columns: Names | None) -> pa.Table:
    """Return the columns that matter of an Arrow (Feather) file."""
    import pyarrow.feather as feather

    with _explained(source):
        table = feather.read_table(_opened(source), use_threads=False)
        chosen = choose(table.column_names, kind, columns, source.name)
        check_types(table.schema, chosen, source.name)
        if others := might_pair(table.column_names, chosen, columns):
            first = table.select([chosen["qid"], *others]).slice(0, SAMPLE)
            first.validate(full=True)
            check_pairing(first, chosen["qid"], others, source.name)
        warn_unused(source, table.column_names, chosen)
        table = table.select(sorted(set(chosen.values())))
        table.validate(full=True)
        return table


def _read_columns(file: pa.parquet.ParquetFile, names: Sequence[str], name: str) -> pa.Table:
    """Return some columns of a Parquet file, which is `name` in messages.

    They are counted as they are read: where the footer's sizes of a column are damaged, Arrow ends
    the interpreter when it is asked for them.
    """
    most, size, batches = most_unpacked(), 0, []
    for batch in file.iter_batches(_ROWS, columns=names, use_threads=False):
        if (size := size + batch.nbytes) > most:
            raise does_not_fit(name)
        batches.append(batch)
    wanted = [field for field in file.schema_arrow if field.name in names]
    return pa.Table.from_batches(batches, batches[0].schema if batches else pa.schema(wanted))


@contextmanager
def _explained(source: Source) -> Iterator[None]:
    """Turn what pyarrow raises at a damaged file into an :class:`InputError`."""
    check_room()
    try:
        yield
    except (InputError, MemoryError, pa.ArrowException):  # Arrow's own: the caller's error
        raise
    except (OverflowError, ValueError, TypeError, KeyError, IndexError) as error:
        what = f"cannot be read as a table ({said_by(error, 300)})"
        raise InputError(Problem(source.name, what, fix="get the whole file again")) from None


def _opened(source: Source) -> str | pa.BufferReader:
    """Return what Arrow opens a binary file from; it does not unpack by itself."""
    return pa.BufferReader(source.read()) if source.codec else source.file
