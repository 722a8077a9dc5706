"""What the guard can find: a rule."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import Severity


@dataclass(frozen=True)
class Rule:
    """What the guard looks for.

    Parameters
    ----------
    name : str
    severity : {"error", "warning", "note"}
        Of its findings; a milder one where little is touched.
    about : str
        One line for the list of rules.
    effect : str
        What it does to the numbers.
    fix : str
        How to mend it.
    in_table : bool
        Whether a leaderboard says it below its rows, so that ``harness run`` need not say it again.
    fix_of_note : str
        How to mend it where it is a note already; as `fix` where empty.
    """

    name: str
    severity: Severity
    about: str
    effect: str
    fix: str
    in_table: bool = False
    fix_of_note: str = ""
