"""Reading a run as trec_eval does, in parts of whole queries that stream past."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..core.arrow import as_bytes
from ..core.policy import Policy
from ..core.table import DuplicateRows
from ..core.tables import Run
from ..errors import InputError
from ..readers.build import Odd, column, warn_scattered
from ..readers.checks import Checks
from ..readers.columns import numbers_of
from ..readers.gathered import gathered
from ..readers.trec import in_parts, tags_of, warn_cut, warn_ranks
from .duplicates import Twice, twice_ranked
from .judgements import grouped
from .rows import RunSource, read_rows
from .stop import FILES, Stop


class RunFile:
    """A run file, in parts of whole queries, or whole where its queries are scattered.

    Parameters
    ----------
    path : str
    version : int
        9 or 10; they differ in comments.
    policy : Policy
        The order of the documents, and how many of them count.
    wanted : set of bytes
        The qids that may be evaluated; of others nothing is checked.

    Attributes
    ----------
    run_id : str
        The tag of the last line, a character for each of its bytes; once all is read.
    twice : dict
        The queries read that rank a document twice, as :func:`.twice_ranked` gives them.

    Raises
    ------
    Stop
        Where the file cannot be read; later, where a line is malformed.
    """

    def __init__(self, path: str, version: int, policy: Policy, wanted: Set[bytes]) -> None:
        self.path, self.version, self.policy, self.wanted = path, version, policy, wanted
        self.run_id = ""
        self.twice: Twice = {}
        try:
            self._source = RunSource(path)
        except InputError as error:
            raise Stop(FILES, f"the run cannot be read: {error}") from None

    def forms(self) -> Iterator[Callable[[], Iterator[Run]]]:
        """Yield the two ways to read the file.

        The first raises :class:`~harness.readers.ScatteredQueries` where it takes the second.
        """
        yield self._parts
        yield self._whole

    def _parts(self) -> Iterator[Run]:
        yield from self._checked(in_parts(self._source, self._rows(), self._part))

    def _whole(self) -> Iterator[Run]:
        self.twice.clear()
        table = gathered(self._rows())
        warn_cut(self._source, table)
        yield from self._checked([self._part(table)])

    def _rows(self) -> Iterator[pa.Table]:
        for table in read_rows(self._source, self.version):
            self.run_id = as_bytes(table["tag"].chunk(0)[-1:])[0].decode("latin-1")
            yield table

    def _checked(self, parts: Iterable[Run]) -> Iterator[Run]:
        """Yield the parts; warn at the end of what makes their values mean little."""
        checks, scattered = Checks(self._source), 0
        for part in parts:
            scattered += part.scattered.queries
            yield checks.add(part)
        if not self.run_id:
            yield Run.from_dict({})
            return
        warn_scattered(self._source, Odd(scattered, scattered))
        warn_ranks(self._source)
        checks.warn()

    def _part(self, table: pa.Table) -> Run:
        qids, docnos = column(table["qid"]), column(table["docno"])
        scores = numbers_of(table, "score")
        try:
            run = Run.from_columns(qids, docnos, scores, name=self.path)
        except DuplicateRows:
            run = grouped(Run, qids, docnos, scores, self.path)
            self.twice |= twice_ranked(run, self.policy, self.policy.depth)
        return replace(self._without_nan(run), tags=tags_of(table))

    def _without_nan(self, run: Run) -> Run:
        """Return the run with a number in place of each NaN, which ranks its document alike.

        To trec_eval NaN is neither above nor below any score, so that docnos decide. That is an
        order where all other scores of the query are equal, and no order otherwise.
        """
        missing = np.isnan(run.scores)
        if not missing.any():
            return run
        scores, qids = run.scores.copy(), as_bytes(run.qids)
        for query in np.unique(run.row[missing]).tolist():
            rows = slice(*run.offsets[query : query + 2].tolist())
            others = np.unique(scores[rows][~missing[rows]])
            if others.size > 1 and qids[query] in self.wanted:
                raise self._unordered(run, qids[query], int(missing[rows].argmax()) + rows.start)
            scores[rows] = others[0] if others.size else 0.0
        return replace(run, numbers=scores)

    def _unordered(self, run: Run, qid: bytes, row: int) -> Stop:
        docno = as_bytes(run.docnos.take(np.array([row])))[0].decode("utf-8", "replace")
        return Stop(
            FILES,
            f"{self.path}: the score of document '{docno}' in query "
            f"{qid.decode('utf-8', 'replace')} is not a number; where trec_eval ranks it among "
            "different scores depends on the C library's sort",
        )
