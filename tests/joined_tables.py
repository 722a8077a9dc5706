"""Parts of a run put together again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from harness.core.arrow import cast
from harness.core.ragged import offsets_of
from harness.core.tables import Docnos, T


def concat(tables: Iterable[T]) -> T:
    """Return one table from several that hold different queries, in their order."""
    parts = list(tables)
    first = parts[0]
    if len(parts) == 1:
        return first
    strings = pa.concat_arrays(
        [cast(part.docnos.to_strings(), pa.large_string()) for part in parts]
    )
    offsets = offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]))
    qids = pa.concat_arrays([part.qids for part in parts])
    numbers = np.concatenate([part.numbers for part in parts])
    return type(first)(qids, offsets, Docnos(strings, offsets), numbers, first.name)
