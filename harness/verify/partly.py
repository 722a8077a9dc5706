"""What is compared where not every cell can be derived anew: the values of the others."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from .. import origin, store
from ..cells.flow import Evaluated
from ..cells.naming import Naming
from ..config import Config
from ..config.cells import Cell
from ..core.leaderboard import Entry, Leaderboard
from ..core.pooling import whole_name
from ..core.summary import Summary
from ..core.systems import run_name
from ..derived import derive
from ..escaping import csv_text, in_json
from ..origin import MANIFEST
from ..reports.csv import render as as_csv
from ..results import CELLS, LEADERBOARD, PER_QUERY, systems
from .files import read_table

SHOWN = 10
"""How many cells a note lists."""
_OF_ALL = ("unsettled",)
"""Columns of a row that follow from other rows too."""
Splice = Callable[[bytes], bytes]
"""Gives a file with what was derived anew in its place, and the rest as it was."""


def with_inputs(config: Config, cells: Sequence[Cell]) -> tuple[list[Cell], list[str]]:
    """Return the cells whose files are all there, and a note that names the others."""
    naming = Naming(config, cells)
    there, lacking = [], []
    for cell in cells:
        paths = (*naming.files(cell), *naming.others(cell))
        if all(Path(path).is_file() for path in paths):
            there.append(cell)
        else:
            lacking.append(origin.name_of(cell))
    if not lacking:
        return there, []
    more = f" and {len(lacking) - SHOWN} more" * (len(lacking) > SHOWN)
    listed = "; ".join(lacking[:SHOWN])
    return there, [f"not derived anew, as files of theirs are gone: {listed}{more}"]


def splices(
    config: Config, evaluated: Evaluated, manifest: Mapping[str, Any]
) -> Iterator[tuple[str, Splice]]:
    """Yield the files that hold values of single cells, each with what puts derived ones into it.

    Whatever follows from all cells together is left out. Of a leaderboard of systems those rows
    are derived all of whose cells are.

    Parameters
    ----------
    config : Config
    evaluated : Evaluated
        Some of its cells.
    manifest : mapping
        The one that is there.
    """
    derived = derive(config.model_copy(update={"compare": None, "reports": ("csv",)}), evaluated)
    then = {_identity(one): one for one in manifest["cells"]}
    entries = {
        identity: entry
        for entry in derived.board.entries
        if (identity := _identity_of(entry)) in then
    }
    summary = config.summary.to_core()
    board = Leaderboard(tuple(entries.values()), (), summary)
    now = {_identity(one): one for one in json.loads(derived.manifest)["cells"]}
    yield MANIFEST, partial(_manifest, now=now)
    yield CELLS if summary else LEADERBOARD, partial(_rows, now=as_csv(board))
    if summary:
        lacking = {_row_of(one, summary) for key, one in then.items() if key not in entries}
        whole = [e for key, e in entries.items() if _row_of(then[key], summary) not in lacking]
        if whole:
            rows = as_csv(systems(Leaderboard(tuple(whole), (), summary), config))
            yield LEADERBOARD, partial(_rows, now=rows)
    n_metrics = len(config.parsed_metrics())  # an entry such as ndcg@1,5,10 is several
    sizes = [one["counts"]["queries"] * n_metrics for one in then.values()]
    parts = [Leaderboard((entries[key],)).per_query() if key in entries else None for key in then]
    yield PER_QUERY, partial(_values, sizes=sizes, parts=parts)


def _identity(one: Mapping[str, Any]) -> tuple[Any, ...]:
    return one["dataset"], one["run"], *sorted(one.get("columns", {}).items())


def _identity_of(entry: Entry) -> tuple[Any, ...]:
    return entry.dataset, entry.run, *sorted(entry.columns.items())


def _row_of(one: Mapping[str, Any], summary: Summary) -> tuple[str, str]:
    """Return the row of a leaderboard of systems that a cell of a manifest is a part of."""
    columns, pattern = one.get("columns", {}), one.get("pattern", "")
    dataset = one["dataset"]
    if summary.parts:
        dataset = whole_name(pattern or dataset, columns, summary.parts)
    return dataset, run_name(one["run"], columns, pattern, summary)


def _manifest(then: bytes, now: Mapping[tuple[Any, ...], Any]) -> bytes:
    content = json.loads(then)
    for one in content["cells"]:
        if (found := now.get(_identity(one))) is not None:
            # which queries pytrec_eval is given hangs on how many cells there are
            one |= {**found, "crosscheck": one["crosscheck"]}
    return (in_json(content, indent=1) + "\n").encode()


def _rows(then: bytes, now: str) -> bytes:
    header, *rows = csv.reader(io.StringIO(then.decode("utf-8"), newline=""))
    names = header[: header.index("queries")]
    places = {tuple(row[: len(names)]): at for at, row in enumerate(rows)}
    for row in csv.DictReader(io.StringIO(now, newline="")):
        key = tuple(row.get(name, "") for name in names)
        if key in places:
            old = rows[places[key]]
            rows[places[key]] = [
                row.get(name, value) if name not in _OF_ALL else value
                for name, value in zip(header, old, strict=True)
            ]
        else:
            rows.append([row.get(name, "") for name in header])
    return csv_text([header, *rows]).encode()


def _values(then: bytes, sizes: Sequence[int], parts: Sequence[pa.Table | None]) -> bytes:
    old = read_table(then)
    schema = pa.schema([(field.name, _plain(field.type)) for field in old.schema])
    old, tables, at = old.cast(schema), [], 0
    for size, part in zip(sizes, parts, strict=True):
        tables.append(old.slice(at, size) if part is None else _as(part, schema))
        at += size
    return store.parquet([pa.concat_tables([*tables, old.slice(at)])])


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _as(part: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with these columns; nothing in those that it lacks."""
    columns = [
        part[field.name].cast(field.type)
        if field.name in part.column_names
        else pa.nulls(len(part), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
