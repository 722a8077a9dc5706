"""Which findings follow from others of the same file: one cause is said once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from .finding import Finding

FOLLOWS: Mapping[str, Collection[str]] = {
    "labels-as-scores": {
        "score-ties", "constant-scores", "nearly-constant-scores", "ranks-against-scores",
        "upside-down", "unrelated",
    },
    "overflow": {"score-range", "single-precision"},
    "rank-as-score": {"ranks-against-scores", "upside-down"},
    "upside-down": {"ranks-against-scores"},
    "other-collection": {"nothing-judged"},
    "other-topics": {"nothing-judged", "unjudged-at-10", "unjudged-unlike-others"},
    "unjudged-unlike-others": {"unjudged-at-10"},
    "docno-spelling": {"unjudged-unlike-others", "nothing-judged", "other-collection"},
    "swapped-columns": {"no-common-query", "ranks-against-scores", "upside-down"},
    "columns": {
        "docno-spelling", "duplicates", "extra-fields", "nothing-judged", "other-collection",
        "other-topics", "rank-as-score", "ranks-against-scores", "several-tags", "unjudged-at-10",
        "unjudged-unlike-others", "unknown-docnos", "upside-down",
    },
}  # fmt: skip
"""By the rule of a cause, those that find nothing new beside it."""
_LINE = re.compile(r"(:|: row )\d+$")


def said_by(rule: str) -> set[str]:
    """Return a rule and those whose findings follow from its own.

    >>> sorted(said_by("upside-down"))
    ['ranks-against-scores', 'upside-down']
    """
    return {rule, *FOLLOWS.get(rule, ())}


def without_effects(findings: Iterable[Finding], accept: Collection[str] = ()) -> list[Finding]:
    """Return findings without those that follow from another one of the same file.

    An error that follows from what is accepted stays, as what is accepted becomes a note.
    """
    every = [*findings]
    causes: dict[str, set[str]] = {}
    for one in every:
        if one.rule in FOLLOWS:
            causes.setdefault(file_of(one), set()).add(one.rule)

    def follows(one: Finding) -> bool:
        known = causes.get(file_of(one), set())
        if one.severity == "error":
            known = known.difference(accept)
        return any(one.rule in FOLLOWS[cause] for cause in known)

    return [one for one in every if not follows(one)]


def file_of(one: Finding) -> str:
    """Return the file that a finding is of, without the line."""
    return _LINE.sub("", one.place)
