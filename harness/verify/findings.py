"""What a verification found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

Kind = Literal["input", "cell", "value", "file"]
Cause = Literal["input", "edited", "version", "code", "unhashed", "unknown"]


class Difference(NamedTuple):
    """One thing that is not as it was.

    `kind` says of what: an input, a cell that is evaluated now or was then, a value, or a file
    beyond its values. `file` is relative to the folder of results, or that of an input; `where`
    the row and the column. `cause` says what follows from the manifest: the input changed, the
    file was edited after it was written, versions or the code differ, or a file of a cell that
    failed then could not be hashed.
    """

    kind: Kind
    file: str
    where: str
    then: str
    now: str
    cause: Cause = "unknown"


class Version(NamedTuple):
    """What computes now otherwise than then."""

    name: str
    then: str | None
    now: str | None


class Changed(NamedTuple):
    """Inputs of one dataset or run that are gone or changed, and what differs with them.

    `kind` is ``dataset``, ``run``, or nothing for other inputs; `differ` names the metrics of which
    a value on the leaderboard of cells is another, out of `of`; None where that was not looked at.
    """

    kind: str
    name: str
    inputs: tuple[str, ...]
    differ: tuple[str, ...] | None = None
    of: int = 0


@dataclass(frozen=True)
class Verification:
    """What was derived again, and what of it differs.

    Parameters
    ----------
    folder : Path
    differences : tuple of Difference
        The first of each file, inputs first.
    total : int
        How many there are in all.
    by_file : mapping of str to int
        How many there are in each file, in inputs, and in which cells there are.
    changed : tuple of Changed
        The inputs among them by dataset and run.
    versions : tuple of Version
        Those that differ, which by itself is no difference.
    verified : mapping of str to int
        How many inputs, cells, values, ... were compared.
    notes : tuple of str
        What was left out, and what differs without being a value.
    """

    folder: Path
    differences: tuple[Difference, ...] = ()
    total: int = 0
    by_file: Mapping[str, int] = field(default_factory=dict)
    changed: tuple[Changed, ...] = ()
    versions: tuple[Version, ...] = ()
    verified: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether every input and every digit is as it was."""
        return not self.total
