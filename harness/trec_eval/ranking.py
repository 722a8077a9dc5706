"""Reading a run as trec_eval does: six fields a line, a score is what ``atof`` makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from .. import readers
from ..core.ragged import Array
from ..core.tables import Run
from ..errors import InputError
from ..readers import Source
from ..readers.source import BLOCK
from .judgements import BOM, Odd, grouped, has_comment, strings
from .numbers import atof
from .stop import FILES, Stop

NEXT = (readers.ScatteredQueries, Odd, InputError)
"""What says that a file has to be read in the next way."""
_FIELDS = "qid Q0 docno rank score tag"
_INDENTED_COMMENT = re.compile(rb"(?:^|\n)[ \t\r]+#")
_TAIL = 1 << 16


class RunFile:
    """A run file, in parts of whole queries or whole.

    Most files are plain: the harness's own reader takes them as trec_eval does, and they
    stream past. Others (odd numbers, a docno that is there twice, too few fields) are read
    whole, line by line.

    Parameters
    ----------
    path : str
    version : int
        9 or 10; they differ in comments.

    Attributes
    ----------
    whole : Run, optional
        The run, where it was read line by line; it may rank a document twice.

    Raises
    ------
    Stop
        Where the file cannot be read; later, where a line is malformed.
    """

    def __init__(self, path: str, version: int) -> None:
        self.path, self.version = path, version
        self._run_id = b""
        self.whole: Run | None = None
        try:
            self._source = _Plain(path, version)
        except InputError as error:
            raise _unreadable(error) from None

    @property
    def run_id(self) -> str:
        """The tag of the last line, a character for each of its bytes; once all is read."""
        return (self._run_id or self._source.last_tag()).decode("latin-1")

    def forms(self) -> Iterator[Callable[[], Iterable[Run]]]:
        """Yield ways to read the file, each for what the one before it cannot read.

        Each but the last may raise what :data:`NEXT` holds.
        """
        yield self._parts
        yield self._gathered
        yield self._line_by_line

    def _parts(self) -> Iterator[Run]:
        yield from readers.stream_run(self._source, format="trec")

    def _gathered(self) -> Iterator[Run]:
        yield readers.read_run(self._source, format="trec")

    def _line_by_line(self) -> Iterator[Run]:
        qids, docnos, scores = [], [], []
        for number, line in enumerate(self._read().split(b"\n"), 1):
            fields = line.split(None, 6)
            if not fields or (self.version == 10 and fields[0].startswith(b"#")):
                continue
            if len(fields) < 6:
                raise Stop(FILES, _malformed(self.path, number, line, len(fields)))
            qids.append(fields[0])
            docnos.append(fields[2])
            scores.append(atof(fields[4].decode("latin-1")))
            self._run_id = fields[5]
        values: Array = np.array(scores, dtype=np.float64)
        self._check_numbers(values, docnos)
        self.whole = grouped(Run, strings(qids), strings(docnos), values, self.path)
        yield self.whole

    def _read(self) -> bytes:
        try:
            return self._source.read()
        except InputError as error:
            raise _unreadable(error) from None

    def _check_numbers(self, scores: Array, docnos: list[bytes]) -> None:
        if np.isnan(scores).any():
            docno = docnos[int(np.flatnonzero(np.isnan(scores))[0])].decode("utf-8", "replace")
            raise Stop(
                FILES,
                f"{self.path}: the score of document '{docno}' is not a number; where trec_eval "
                "ranks it depends on the C library's sort",
            )


class _Plain(Source):
    """A file that says so, by :class:`Odd`, where the reader takes a line as trec_eval does not."""

    def __init__(self, path: str, version: int) -> None:
        super().__init__(path)
        self.version, self.tail = version, b""

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        if self.read(len(BOM)) == BOM:
            raise Odd
        for block in super().blocks(size):
            if b"\v" in block or b"\f" in block or self._odd_comment(block):
                raise Odd
            self.tail = block[-_TAIL:] if block.strip() else self.tail
            yield block

    def last_tag(self) -> bytes:
        """Return the tag of the last line."""
        lines = (line.split(None, 6) for line in reversed(self.tail.split(b"\n")))
        rows = (fields for fields in lines if fields and not fields[0].startswith(b"#"))
        return next((fields[5] for fields in rows if len(fields) > 5), b"")

    def _odd_comment(self, block: bytes) -> bool:
        if self.version == 10:
            return (b" #" in block or b"\t#" in block) and bool(_INDENTED_COMMENT.search(block))
        return has_comment(block)


def _unreadable(error: InputError) -> Stop:
    return Stop(FILES, f"the run cannot be read: {error}")


def _malformed(path: str, number: int, line: bytes, n_fields: int) -> str:
    found = line.decode("utf-8", "replace")
    return (
        f"{path}:{number}: malformed, {n_fields} fields where 6 belong ({_FIELDS})"
        f"\n  found: {found}"
    )
