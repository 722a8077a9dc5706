"""Files of group sizes: the rows of each query, for data without qids."""

from __future__ import annotations

import os
from itertools import islice

import numpy as np
import pyarrow as pa

from ..core.arrow import as_bytes, cast, encode, run_ends, to_arrow, to_numpy
from ..core.ragged import Ints, lengths_of
from ..errors import SHOWN, InputError, Problem, shorten
from .build import readable, warn, wrong_lines
from .compression import PACKED
from .source import Source

GROUP = "group: FILE in the config, --group FILE on the command line"
"""How to name a file of group sizes."""
_SUFFIXES = ".query", ".group"
_DIGITS, _MANY = 18, 10**18


def has_qids(source: Source) -> bool:
    """Return whether one of the first lines of a learning-to-rank file has a qid."""
    rows = (line.partition(b"#")[0] for line in source.head.split(b"\n"))
    return any(b"qid:" in row for row in islice(filter(bytes.strip, rows), 20))


def beside(path: str) -> str:
    """Return the file of group sizes next to a file, or ``""``."""
    stem, suffix = os.path.splitext(path)
    stem = stem if suffix.lower() in PACKED else path
    return next((name for end in _SUFFIXES if os.path.isfile(name := stem + end)), "")


def group_file(source: Source, group: str | os.PathLike[str] | None) -> Source | None:
    """Return the file with the group sizes: the named one, or the one next to `source`.

    If lines have qids, a file next to them counts only if it holds nothing but whole numbers.
    """
    if group is not None:
        return Source(group)
    if not (found := beside(source.name)):
        return None
    sizes = Source(found)
    is_other = has_qids(source) and not all(map(bytes.isdigit, sizes.read().split()))
    return None if is_other else sizes


def qids_from_sizes(source: Source, sizes: Source, n_rows: int) -> pa.RunEndEncodedArray:
    """Return the qid of each row, 1, 2, ..., from a file of group sizes."""
    counts = _read(sizes)
    _check_sum(source, sizes, counts, n_rows)
    qids = cast(to_arrow(np.flatnonzero(counts) + 1), pa.string())
    return run_ends(np.cumsum(counts[counts > 0]), qids)


def check_sizes(source: Source, sizes: Source, qids: pa.RunEndEncodedArray) -> None:
    """Raise if group sizes contradict the qids of the lines."""
    counts = _read(sizes)
    places = np.flatnonzero(counts)
    _, which = encode(qids.values)
    last = np.flatnonzero(np.append(which[1:] != which[:-1], True))
    lengths = lengths_of(np.append(0, to_numpy(qids.run_ends)[last]))
    wrong = np.flatnonzero([a != b for a, b in zip(counts[places], lengths, strict=False)])
    if not wrong.size:
        return _check_sum(source, sizes, counts, int(lengths.sum()))
    first = int(wrong[0])
    place, row = int(places[first]), int(lengths[:first].sum()) + 1
    qid = as_bytes(qids.values.slice(int(last[first]), 1))[0].decode("utf-8", "replace")
    what = (
        f"group size {place + 1:,}: expected {lengths[first]:,}, the rows of qid "
        f"'{shorten(qid, 60)}' in {source.name} from row {row:,} on, got {counts[place]:,}"
    )
    fix = "write the sizes again, or delete them: LightGBM takes queries from them, not from qids"
    where = f"{sizes.name}:{_line_of(sizes, place)}"
    raise InputError(Problem(where, what, fix=fix, rule="group-sizes"))


def _read(sizes: Source) -> Ints:
    """Return the sizes; warn of those that are 0."""
    text = sizes.read()
    words = text.split()
    if not all(map(bytes.isdigit, words)):
        raise wrong_lines(sizes, enumerate(text.split(b"\n"), 1), _wrong_size).error()
    counts = np.array([word if len(word) < _DIGITS else _MANY for word in words], dtype=np.int64)
    empty = np.flatnonzero(counts == 0)
    if empty.size:
        examples = tuple(f"size {at + 1:,}" for at in empty[:SHOWN].tolist())
        where, line = sizes.name, _line_of(sizes, int(empty[0]))
        what = f"group sizes of 0: {empty.size:,}"
        warn(f"{where}:{line}", what, "empty-groups", empty.size, examples=examples)
    return counts


def _wrong_size(line: bytes) -> Problem | None:
    bad = next((word for word in line.split() if not word.isdigit()), None)
    if bad is None:
        return None
    what = f"group size: expected a whole number, got '{shorten(readable(bad), 60)}'"
    return Problem("", what, fix="one size a line", rule="group-sizes")


def _line_of(sizes: Source, at: int) -> int:
    """Return the line of a size, counted from 0; one line may hold several."""
    lines = np.cumsum([len(line.split()) for line in sizes.read().split(b"\n")])
    return int(np.searchsorted(lines, at, "right")) + 1


def _check_sum(source: Source, sizes: Source, counts: Ints, n_rows: int) -> None:
    total = sum(counts.tolist())
    if total != n_rows:
        what = f"expected sizes that add up to the {n_rows:,} rows of {source.name}, got {total:,}"
        fix = f"name the file of sizes that belongs to it: {GROUP}"
        raise InputError(Problem(sizes.name, what, fix=fix, rule="group-sizes"))
