"""Findings of readers' errors; which follow from others, are accepted, or are shown as one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from ..core.entries import grouped_by
from ..core.rules import RULES, finding
from ..errors import Finding, HarnessError, Place, Problem, Severity, counted, shorten

ORDER: tuple[Severity, ...] = ("error", "warning", "note")
APART = ("reader", "unreadable", "config")
"""Rules whose findings are about anything, and are not grouped."""
MANY = 0.1
"""Share from which on a finding is a warning: a smaller one seldom changes the order of systems."""
FOLLOWS: Mapping[str, Collection[str]] = {
    "labels-as-scores": {
        "score-ties", "constant-scores", "ranks-against-scores", "upside-down", "unrelated",
        "sorted-by-score",
    },
    "rank-as-score": {"ranks-against-scores", "upside-down", "other-topics", "unjudged-at-10"},
    "upside-down": {"ranks-against-scores", "other-topics", "unjudged-at-10"},
    "other-topics": {"missing-queries", "extra-queries"},
    "docno-spelling": {
        "unjudged-at-10", "nothing-judged", "other-collection", "other-topics",
    },
    "swapped-columns": {"no-common-query", "ranks-against-scores", "upside-down"},
}  # fmt: skip
"""Rules that add nothing about a file, by the rule that is their cause."""


def rule_of(problem: Problem) -> str:
    """Return the rule of a problem of a reader's error."""
    return problem.rule or "unreadable"


def rules_of(error: HarnessError) -> list[str]:
    """Return the rule of each problem of a reader's error."""
    return [rule_of(problem) for problem in error.problems]


_LINE_SHOWN, _QUOTED = 120, 40
"""Characters of a line that are shown by itself; that are quoted next to its number."""


def refused(place: str, error: HarnessError) -> Iterator[Finding]:
    """Yield one finding for each rule of an error; `place` is for problems without one."""
    more = error.total - len(error.problems)
    for rule, some in grouped_by(error.problems, rule_of).items():
        first = some[0]
        examples = [shorten(first.found, _LINE_SHOWN)] if first.found else []
        if len(some) > 1:
            examples = [_numbered(one) for one in some]
        yield finding(
            rule, first.where or place, first.what, len(some) + more, examples, fix=first.fix,
            at_least=error.at_least,
        )  # fmt: skip
        more = 0


def _numbered(one: Problem) -> str:
    """Return the wrong line with its number."""
    where = Place.of(one.where)
    number = where.line or where.row
    return f"line {number} {shorten(one.found, _QUOTED)!r}" if number else one.found or one.what


def accepted(findings: Iterable[Finding], names: Collection[str]) -> list[Finding]:
    """Return findings; those of these rules become notes."""
    return [replace(one, severity="note") if one.rule in names else one for one in findings]


def warned(found: Iterable[tuple[str, str]]) -> str:
    """Return the number of warnings and their rules, from ``(rule, severity)`` of each finding.

    >>> warned([("upside-down", "warning"), ("swapped-fold", "warning"), ("depth", "note")])
    '2 warnings (swapped-fold, upside-down)'
    >>> warned([("score-ties", "warning")])  # which every leaderboard shows
    ''
    """
    rules = [
        rule
        for rule, severity in found
        if severity == "warning" and not (rule in RULES and RULES[rule].in_table)
    ]
    return f"{counted(len(rules), 'warning')} ({', '.join(sorted({*rules}))})" if rules else ""


def without_effects(findings: Iterable[Finding], accept: Collection[str] = ()) -> list[Finding]:
    """Return findings without those that follow from another one of the same file.

    An error that follows from an accepted finding stays, as that one becomes a note.
    """
    every = [*findings]
    causes: dict[str, set[str]] = {}
    for one in every:
        causes.setdefault(one.place.file, set()).add(one.rule)

    def follows(one: Finding) -> bool:
        some = causes[one.place.file]
        some = some.difference(accept) if one.severity == "error" else some
        return any(one.rule in FOLLOWS.get(cause, ()) for cause in some)

    return [one for one in every if not follows(one)]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings once each, errors first."""
    return sorted(dict.fromkeys(findings), key=lambda one: ORDER.index(one.severity))


def by_share(part: int, whole: int, many: float = MANY) -> Severity:
    """Return "warning" if a part is at least the share `many`, "note" otherwise."""
    return "warning" if part >= many * whole else "note"


def percent(part: int, whole: int) -> str:
    """Return a share in per cent.

    >>> percent(1, 3), percent(1, 2000)
    ('33%', '0.05%')
    """
    share = 100 * part / whole
    return f"{share:.0f}%" if share >= 10 else f"{share:.2g}%"
