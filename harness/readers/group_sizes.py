"""Files of group sizes: the rows of each query, where the data have no qids."""

from __future__ import annotations

import os
from itertools import islice

import numpy as np
import pyarrow as pa

from ..core.arrow import as_bytes, cast, encode, run_ends, to_arrow, to_numpy
from ..core.ragged import Ints, lengths_of
from ..errors import SHOWN, InputError, Problem, shorten
from .build import warn, wrong_lines
from .compression import PACKED
from .source import Source

GROUP = "group: FILE in the config, --group FILE on the command line"
"""How a file of group sizes is named."""
_SUFFIXES = ".query", ".group"
_DIGITS, _MANY = 18, 10**18


def has_qids(source: Source) -> bool:
    """Return whether one of the first lines of a learning-to-rank file has a qid."""
    rows = (line.partition(b"#")[0] for line in source.head.split(b"\n"))
    return any(b"qid:" in row for row in islice(filter(bytes.strip, rows), 20))


def beside(path: str) -> str:
    """Return the file of group sizes that is found beside a file; ``""`` where there is none."""
    stem, suffix = os.path.splitext(path)
    stem = stem if suffix.lower() in PACKED else path
    return next((name for end in _SUFFIXES if os.path.isfile(name := stem + end)), "")


def group_file(source: Source, group: str | os.PathLike[str] | None) -> Source | None:
    """Return the file with the group sizes: the one given, or the one beside.

    What is beside lines with qids is taken for one where it holds whole numbers alone, as it may
    be something else.
    """
    if group is not None:
        return Source(group)
    found = beside(source.name)
    if not found:
        return None
    sizes = Source(found)
    if has_qids(source) and not all(map(bytes.isdigit, sizes.read().split())):
        return None
    return sizes


def qids_from_sizes(source: Source, sizes: Source, n_rows: int) -> pa.RunEndEncodedArray:
    """Return the qid of each row, 1, 2, ..., from a file of group sizes."""
    counts = _sizes(sizes)
    total = sum(counts.tolist())
    if total != n_rows:
        raise InputError(_wrong_sum(source, sizes, counts.size, total, n_rows))
    _warn_empty(sizes, counts)
    qids = cast(to_arrow(np.flatnonzero(counts) + 1), pa.string())
    return run_ends(np.cumsum(counts[counts > 0]), qids)


def check_sizes(source: Source, sizes: Source, qids: pa.RunEndEncodedArray) -> None:
    """Raise where group sizes contradict the qids of the lines; who reads sizes goes by them."""
    counts = _sizes(sizes)
    places = np.flatnonzero(counts)
    _, which = encode(qids.values)
    last = np.flatnonzero(np.append(which[1:] != which[:-1], True))
    lengths = lengths_of(np.append(0, to_numpy(qids.run_ends)[last]))
    here = counts[places]
    if np.array_equal(here, lengths):
        _warn_empty(sizes, counts)
        return
    n = min(here.size, lengths.size)
    wrong = np.flatnonzero(here[:n] != lengths[:n])
    if not wrong.size:
        total, n_rows = sum(counts.tolist()), int(lengths.sum())
        raise InputError(_wrong_sum(source, sizes, counts.size, total, n_rows))
    first = int(wrong[0])
    place, rows, row = int(places[first]), int(lengths[first]), int(lengths[:first].sum()) + 1
    qid = as_bytes(qids.values.slice(int(last[first]), 1))[0].decode("utf-8", "replace")
    what = (
        f"group size {place + 1:,} is {int(here[first]):,}, but {source.name} has {rows:,} "
        f"row{'s' * (rows > 1)} of qid '{shorten(qid, 60)}' there, from row {row:,} on"
    )
    fix = "write the sizes again, or delete them: LightGBM takes queries from them, not from qids"
    raise InputError(
        Problem(f"{sizes.name}:{_line_of(sizes, place)}", what, fix=fix, rule="group-sizes")
    )


def _sizes(sizes: Source) -> Ints:
    text = sizes.read()
    words = text.split()
    if not all(map(bytes.isdigit, words)):
        raise wrong_lines(sizes, enumerate(text.split(b"\n"), 1), _wrong_size).error()
    # a size of more digits than a number of rows has would be taken for another one, or fail
    return np.array([word if len(word) < _DIGITS else _MANY for word in words], dtype=np.int64)


def _wrong_size(line: bytes) -> Problem | None:
    bad = next((word for word in line.split() if not word.isdigit()), None)
    if bad is None:
        return None
    said = shorten(bad.decode("utf-8", "replace"), 60)
    what = f"group size '{said}' is not a whole number"
    return Problem("", what, fix="one size a line", rule="group-sizes")


def _warn_empty(sizes: Source, counts: Ints) -> None:
    """Warn of sizes of 0, which are no queries here."""
    empty = np.flatnonzero(counts == 0)
    if empty.size:
        which = "1 group size is" if empty.size == 1 else f"{empty.size:,} group sizes are"
        line = _line_of(sizes, int(empty[0]))
        examples = tuple(f"size {at + 1:,}" for at in empty[:SHOWN].tolist())
        place = f"{sizes.name}:{line}"  # of this file, and not of the rows'
        warn(place, f"{which} 0", "empty-groups", empty.size, examples=examples)


def _line_of(sizes: Source, at: int) -> int:
    """Return the line of a size, counted from 0; several may stand in one line."""
    lines = np.cumsum([len(line.split()) for line in sizes.read().split(b"\n")])
    return int(np.searchsorted(lines, at, "right")) + 1


def _wrong_sum(source: Source, sizes: Source, n: int, total: int, n_rows: int) -> Problem:
    return Problem(
        sizes.name,
        f"{n:,} group sizes that add up to {total:,} rows, but {source.name} has {n_rows:,}",
        fix=f"name the file of sizes that belongs to it: {GROUP}",
        rule="group-sizes",
    )
