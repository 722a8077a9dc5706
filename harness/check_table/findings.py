"""What a check of a table says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["digits", "rounding", "spread", "bold", "underline", "marker", "other"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong in a table.

    Parameters
    ----------
    kind : str
        ``digits`` (another value), ``rounding`` (the last digit), ``spread``, ``bold``,
        ``underline``, ``marker``, or ``other`` (n, rank, tier).
    line : int
        Of the file.
    row, column : str
        As the table calls them.
    found, right : str
        What is printed, and what is right.
    why : str
    """

    kind: Kind
    line: int
    row: str
    column: str
    found: str
    right: str
    why: str = ""


@dataclass
class Verdict:
    """All that was found in one table, and what was looked at.

    Parameters
    ----------
    name : str
        The table's label, or its number in the file.
    line : int
    findings : list of Finding
    verified : Counter of str
        How many numbers, spreads, best values, second best values, marks were derived again.
    unknown : list of str
        Rows and columns that are no run and no metric.
    notes : list of str
        What was assumed, or could not be checked.
    has_caption : bool
        Whether it has one, whose claims are not checked.
    """

    name: str
    line: int
    findings: list[Finding] = field(default_factory=list)
    verified: Counter[str] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    has_caption: bool = False
