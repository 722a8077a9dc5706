"""Lines of a file for the first of what facts count, which know its row alone."""

from __future__ import annotations

import contextlib
from collections.abc import Container

from .. import readers
from ..config import DatasetEntry, RunEntry
from ..errors import HarnessError
from ..guard.first import First
from ..readers import Source
from ..readers.format import Kind
from ..readers.lines import find_lines


def add_lines(
    first: dict[str, First],
    source: Source,
    entry: DatasetEntry | RunEntry,
    among: Container[str] | None = None,
) -> None:
    """Put the line of each row where it is known.

    Parameters
    ----------
    first : dict of str to First
        Of facts, by rule; changed in place.
    source : Source
        Their file, after it was read.
    entry : DatasetEntry or RunEntry
        How it was read.
    among : collection of str, optional
        Rules for which the file is read again, up to the line. Without it, lines are those in
        the file's beginning, which is at hand, or in all of a small file.
    """
    rows = {
        rule: one
        for rule, one in first.items()
        if one.row >= 0 and (among is None or rule in among)
    }
    if not rows:
        return
    kind: Kind = "qrels" if isinstance(entry, DatasetEntry) else "run"
    with contextlib.suppress(HarnessError):
        form = readers.FORMATS[entry.format or readers.guess_format(source, kind)]
        is_data = form.is_data(source) if form.is_data is not None else None
        if is_data is not None:
            wanted = {one.row: one.words for one in rows.values()}
            found = find_lines(source, wanted, is_data, whole=among is not None)
            for rule, one in rows.items():
                first[rule] = one._replace(line=found.get(one.row, 0))
