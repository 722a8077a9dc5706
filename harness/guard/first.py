"""The first of what a fact counts: what they are called, and where the first of them stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from ..core.arrow import as_bytes, bytes_at
from ..core.docnos import Docnos
from ..core.ragged import Ints

EXAMPLES = 3
"""Names that are kept of each thing."""


class First(NamedTuple):
    """Some queries, documents or rows, :data:`EXAMPLES` at most.

    Parameters
    ----------
    names : tuple of str
    row : int
        Position of the first one's row in its file, from 0; -1 where it has none.
    words : tuple of str
        What the line of that row holds, if files of its format name it.
    line : int
        The line of that row; 0 where it is not known.
    is_row : bool
        Whether `line` is the number of the row, from 1, as the file has no lines.
    """

    names: tuple[str, ...] = ()
    row: int = -1
    words: tuple[str, ...] = ()
    line: int = 0
    is_row: bool = False

    def at(self, place: str) -> str:
        """Return where it stands in the file at `place`.

        >>> First(("q1",), 0, line=3).at("a.run"), First(("q1",)).at("a.run")
        ('a.run:3', 'a.run')
        >>> First(("q1",), 2, line=3, is_row=True).at("a.npy")
        'a.npy: row 3'
        """
        if not self.line:
            return place
        return f"{place}: row {self.line}" if self.is_row else f"{place}:{self.line}"

    def more(self, later: First) -> First:
        """Return these, and so many later ones as are lacking.

        >>> First(("a",), 7).more(First(("b", "c", "d"), 9))
        First(names=('a', 'b', 'c'), row=7, words=(), line=0, is_row=False)
        """
        if not self.names:
            return later
        return self._replace(names=(*self.names, *later.names)[:EXAMPLES])

    @property
    def full(self) -> bool:
        """Whether no later ones are wanted."""
        return len(self.names) >= EXAMPLES

    @classmethod
    def from_plain(cls, given: Sequence[Any]) -> First:
        """Return what was written to JSON, as a list."""
        names, row, words, line, is_row = given
        return cls(tuple(names), row, tuple(words), line, is_row)


NONE = First()
"""Nothing is known of the first ones."""


def texts(names: pa.Array) -> tuple[str, ...]:
    """Return identifiers as text, whatever bytes they are of."""
    return tuple(name.decode("utf-8", "replace") for name in as_bytes(names))


def texts_at(names: pa.Array, rows: Ints) -> tuple[str, ...]:
    """Return the identifiers of a few rows as text."""
    return tuple(name.decode("utf-8", "replace") for name in bytes_at(names, rows))


def docnos_at(docnos: Docnos, rows: Ints) -> tuple[str, ...]:
    """Return the docnos of a few rows as text."""
    if docnos.strings is None:
        return texts(docnos.take(rows))
    return texts_at(docnos.strings, rows)


def joined(parts: Iterable[Callable[[], First]]) -> First:
    """Return the first of several, as many of which are asked as are needed."""
    found = First()
    for part in parts:
        if not found.full:
            found = found.more(part())
    return found


def of_documents(
    qids: Iterable[str], docnos: Docnos, rows: Ints, said: Iterable[str], places: Ints
) -> First:
    """Return documents, each named by its query.

    Parameters
    ----------
    qids : iterable of str
        Of each row.
    docnos : Docnos
    rows : ndarray of int64, shape (n,)
        Of these docnos.
    said : iterable of str
        What there is to say of each; nothing where it is empty.
    places : ndarray of int64, shape (n,)
        Of the rows in the file.

    >>> import numpy as np
    >>> docnos = Docnos(pa.array(["a", "b"]), np.array([0, 2]))
    >>> of_documents(["q"], docnos, np.array([1]), ["-1"], np.array([7]))
    First(names=('query q, document b: -1',), row=7, words=('q', 'b'), line=0, is_row=False)
    """
    names = list(zip(qids, docnos_at(docnos, rows), strict=True))
    if not names:
        return First()
    shown = (
        f"query {qid}, document {docno}" + (f": {more}" if more else "")
        for (qid, docno), more in zip(names, said, strict=True)
    )
    words = () if docnos.positional else names[0]
    return First(tuple(shown), int(places[0]), words)


def of_queries(qids: pa.Array, which: Ints, places: Ints) -> First:
    """Return some queries of a column; `places` are those of the first row of each, in the file.

    >>> import numpy as np
    >>> of_queries(pa.array(["a", "b"]), np.array([1]), np.array([9]))
    First(names=('b',), row=9, words=('b',), line=0, is_row=False)
    """
    if not which.size:
        return First()
    names = texts_at(qids, which[:EXAMPLES])
    return First(names, int(places[0]), names[:1])
