"""Files of group sizes: the rows of each query, where the data have no qids."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, run_ends, to_arrow
from ..errors import InputError, Problem
from .format import Head
from .source import Source

GROUP = "group: FILE in the config, --group FILE on the command line"
"""How a file of group sizes is named."""


def has_qids(source: Source) -> bool:
    """Return whether one of the first lines of a learning-to-rank file has a qid."""
    return any(b"qid:" in line for line in Head("", source.head).lines)


def group_file(source: Source, group: str | os.PathLike[str] | None) -> Source | None:
    """Return the file with the group sizes, where the lines have no qids."""
    if group is not None:
        return Source(group)
    if has_qids(source):
        return None
    beside = (Path(source.stem + suffix) for suffix in (".query", ".group"))
    found = next((path for path in beside if path.is_file()), None)
    return Source(found) if found else None


def qids_from_sizes(source: Source, sizes: Source, n_rows: int) -> pa.RunEndEncodedArray:
    """Return the qid of each row, 1, 2, ..., from a file of group sizes."""
    words = sizes.read().split()
    try:
        counts = np.array(words, dtype=np.int64)
        if (counts < 0).any():
            raise ValueError
    except (ValueError, OverflowError):
        bad = next(word.decode("utf-8", "replace") for word in words if not word.isdigit())
        raise InputError(
            Problem(sizes.name, f"group size '{bad}' is not a whole number", fix="one size a line")
        ) from None
    if counts.sum() != n_rows:
        raise InputError(
            Problem(
                sizes.name,
                f"{counts.size} group sizes that add up to {counts.sum()} rows, but {source.name} "
                f"has {n_rows}",
                fix=f"name the file of sizes that belongs to it: {GROUP}",
            )
        )
    qids = cast(to_arrow(np.flatnonzero(counts) + 1), pa.string())
    return run_ends(np.cumsum(counts[counts > 0]), qids)
