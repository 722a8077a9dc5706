"""The guard of ``harness evaluate``: run files on one file of judgements, without a config."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..config.cells import Cell, cell_of_files
from ..core.policy import Policy
from ..core.tables import Qrels
from ..errors import Finding, HarnessError, HarnessWarning
from ..readers.source import Source
from .examples import add_lines
from .facts import JudgementFacts, Watch, facts_of, observing
from .registry import collecting
from .sweep import Seen, guard


class FileGuard:
    """Looks at files while they are read, as ``harness run`` does, and warns at the end.

    An error of the guard is a warning here, as no config could accept it. Findings of rules in
    `accept` are notes.
    """

    def __init__(self, policy: Policy, accept: Sequence[str] = ()) -> None:
        self.policy, self.accept = policy, accept
        self.cells: dict[int, Cell] = {}
        self.seen: dict[int, Seen] = {}
        self.findings: list[Finding] = []

    @contextlib.contextmanager
    def reading(self, *files: str) -> Iterator[None]:
        """Keep the readers' warnings about files; if reading fails, warn of what is known."""
        try:
            with collecting(self.findings, *files):
                yield
        except HarnessError:
            self.warn()
            for one in self.findings:
                warnings.warn(one.message, HarnessWarning, stacklevel=4)
            raise

    def dataset(self, qrels: Qrels, source: Source, name: str, **options: Any) -> None:
        """Look at the judgements that were read from `source` with the reader's options."""
        self.qrels, self.qrels_name, self.qrels_file = qrels, name, source.name
        self.of_qrels: Mapping[str, Any] = options
        self.judgements: JudgementFacts | None = None
        with observing(self.findings, source.name):
            facts = JudgementFacts.of(qrels)
            add_lines(facts.first, source, "qrels", options.get("format"))
            self.judgements = facts

    def watch(self, source: Source) -> Watch:
        """Return what looks at a run while it is read from `source`."""
        return Watch(self.qrels, self.policy, source.name)

    def run(self, watch: Watch, source: Source, name: str, **options: Any) -> None:
        """Keep what was seen of a run that was read from `source` with the reader's options."""
        place, names = len(self.cells), (self.qrels_name, name)
        facts = facts_of(self.judgements, watch, source, options.get("format"))
        found = [*self.findings, *watch.failures]
        self.findings.clear()
        self.seen[place] = Seen(facts, found, self.qrels.qids)
        self.cells[place] = cell_of_files(
            self.qrels_file, source.name, self.of_qrels, options, names
        )

    def warn(self) -> list[tuple[str, ...]]:
        """Warn of what is found, and return the rules by which each run is marked."""
        found = guard(self.cells, self.seen, {}, {}, accept=self.accept, only_warns=True)
        for text in found.printed:
            warnings.warn(text, HarnessWarning, stacklevel=4)
        return [found.marks.get(cell.run_entry.path, ()) for cell in self.cells.values()]
