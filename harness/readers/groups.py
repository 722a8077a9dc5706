"""Files of group sizes: the rows of each query, where the data have no qids."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, run_ends, to_arrow
from ..errors import InputError, Problem, shorten
from .source import Source

GROUP = "group: FILE in the config, --group FILE on the command line"
"""How a file of group sizes is named."""
_DIGITS, _MANY = 18, 10**18


def has_qids(source: Source) -> bool:
    """Return whether one of the first lines of a learning-to-rank file has a qid."""
    rows = (line.partition(b"#")[0] for line in source.head.split(b"\n"))
    return any(b"qid:" in row for row in islice(filter(bytes.strip, rows), 20))


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
    bad = next((word for word in words if not word.isdigit()), None)
    if bad is not None:
        said = shorten(bad.decode("utf-8", "replace"), 60)
        raise InputError(
            Problem(
                sizes.name,
                f"group size '{said}' is not a whole number",
                fix="one size a line",
                rule="group-sizes",
            )
        )
    # a size of more digits than a number of rows has would be taken for another one, or fail
    counts = np.array([word if len(word) < _DIGITS else _MANY for word in words], dtype=np.int64)
    total = sum(counts.tolist())
    if total != n_rows:
        raise InputError(
            Problem(
                sizes.name,
                f"{counts.size:,} group sizes that add up to {total:,} rows, but {source.name} "
                f"has {n_rows:,}",
                fix=f"name the file of sizes that belongs to it: {GROUP}",
                rule="group-sizes",
            )
        )
    qids = cast(to_arrow(np.flatnonzero(counts) + 1), pa.string())
    return run_ends(np.cumsum(counts[counts > 0]), qids)
