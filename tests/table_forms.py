"""One table in every form that is read: files by their ending, and objects in memory."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

FILES = ("csv", "tsv", "txt", "jsonl", "parquet", "arrow")
OBJECTS = ("pandas", "polars", "table")
SEPARATORS = {"csv": ",", "tsv": "\t", "txt": " "}


def save_table(path: Path, columns: Any) -> Path:
    """Write a frame, or columns by their names, in the format of the path's ending."""
    frame, kind = pd.DataFrame(columns), path.name.split(".")[1]
    if kind in SEPARATORS:
        frame.to_csv(path, index=False, sep=SEPARATORS[kind])
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif kind == "parquet":
        parquet.write_table(_arrow(columns), path)
    else:
        feather.write_feather(_arrow(columns), path, compression="uncompressed")
    return path


def _arrow(columns: Any) -> pa.Table:
    """Arrow table, which keeps NaN next to nothing if columns are lists."""
    if isinstance(columns, dict):
        return pa.table(columns)
    return pa.Table.from_pandas(columns, preserve_index=False)


def table_as(form: str, columns: Any, folder: Path) -> Any:
    """Path of a file ``t.FORM`` with the table, as text, or the table as an object."""
    if form in FILES:
        return str(save_table(folder / f"t.{form}", columns))
    if form == "polars":
        return pl.from_pandas(pd.DataFrame(columns))
    return pd.DataFrame(columns) if form == "pandas" else _arrow(columns)
