"""Reads one file, and makes findings of what its reader refuses or warns of."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from .. import readers
from ..config import DatasetEntry
from ..core.tables import Qrels
from ..errors import HarnessError, HarnessWarning
from ..guard.finding import Finding
from ..guard.refused import OF_JUDGEMENTS, refused
from ..guard.registry import finding, of_reader
from ..guard.said import Said
from ..readers.hashed import HashedSource
from ..readers.lines import last_line
from ..readers.on_disk import NAMELESS, STDIN

_LINE = re.compile(r"(:|: row )\d+$")
_NO_EFFECTS: Mapping[str, str] = {}


def shown(place: str) -> str:
    """Return a file, or a place in it, for messages: standard input as its reader calls it.

    >>> shown("-"), shown("-:7"), shown("-: row 2"), shown("a-:7")
    ('<stdin>', '<stdin>:7', '<stdin>: row 2', 'a-:7')
    """
    return NAMELESS + place[len(STDIN) :] if _LINE.sub("", place) == STDIN else place


class Reading:
    """Collects what is found while files are read, and goes on.

    Attributes
    ----------
    findings : list of Finding
    refused, warned : set of str
        Rules by which the file that was read last was refused, or warned of.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._known: set[tuple[str, str]] = set()
        self.refused: set[str] = set()
        self.warned: set[str] = set()

    @contextlib.contextmanager
    def of(self, place: str, effects: Mapping[str, str] = _NO_EFFECTS) -> Iterator[None]:
        """Read the file at `place`: its errors and warnings become findings.

        `effects` are those of rules that say something else of such a file.
        """
        self.refused, self.warned = set(), set()
        place = shown(place)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HarnessWarning)
            try:
                yield
            except HarnessError as error:
                self.refuse(place, error, effects)
        for one in caught:
            if issubclass(one.category, HarnessWarning):
                self._warn(place, one.message, judged=effects is OF_JUDGEMENTS)
            else:
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)

    def _warn(self, place: str, warning: Warning | str, *, judged: bool) -> None:
        """Add what a reader warns of, unless a rule has said the same."""
        said = Said.of(warning)
        self.warned.add(said.rule)
        if (said.rule, place) not in self._known:
            self.add(of_reader(said, place, judged=judged))

    def replace(self, rule: str, better: Finding) -> None:
        """Put a finding where that of a rule on the same file is."""
        better = replace(better, place=shown(better.place))
        file = _LINE.sub("", better.place)
        self.findings = [
            better if (one.rule, _LINE.sub("", one.place)) == (rule, file) else one
            for one in self.findings
        ]

    def refuse(
        self, place: str, error: HarnessError, effects: Mapping[str, str] = _NO_EFFECTS
    ) -> None:
        """Add what an error says."""
        found = list(refused(place, error, effects))
        self.add(*found)
        self.refused |= {one.rule for one in found}

    def end(self, source: HashedSource) -> None:
        """Say where the file that was read last has no checksum, or no end of its last line."""
        if not source.has_checksum:
            self.add(finding("no-checksum", source.name, "zst data without a checksum"))
        if source.unfinished and not self.refused and "cut-line" not in self.warned:
            last = source.unfinished.decode("utf-8", "replace")
            place = f"{source.name}:{last_line(source)}"
            self.add(finding("no-line-end", place, "the last line has no end", 1, [last]))

    def add(self, *found: Finding) -> None:
        """Add findings."""
        found = tuple(replace(one, place=shown(one.place)) for one in found)
        self.findings += found
        self._known |= {(one.rule, _LINE.sub("", one.place)) for one in found}


def dataset(
    entry: DatasetEntry,
    name: str,
    fractions: bool,
    into: Reading,
    follow: Callable[[HashedSource], HashedSource],
) -> tuple[Qrels | None, HashedSource | None]:
    """Return the judgements of a file, and the file; None where they cannot be read.

    Where fractions are no grades to the metrics, that is said, and they are read all the same.
    `follow` is given the file before it is read, and returns it.
    """
    qrels, source = None, None
    options = entry.options()
    with into.of(entry.path, OF_JUDGEMENTS):
        source = follow(HashedSource(entry.path))
        source.again = True
        qrels = readers.read_qrels(source, name=name, fractions=fractions, **options)
    if "grade-values" in into.refused and not fractions:
        with warnings.catch_warnings(), contextlib.suppress(HarnessError):
            warnings.simplefilter("ignore", HarnessWarning)
            qrels = readers.read_qrels(entry.path, name=name, fractions=True, **options)
    return qrels, source
