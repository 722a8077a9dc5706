"""The facts of a run by name, whichever family of rules they are of."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from harness.guard.facts import RunFacts

FAMILIES = ("queries", "scores", "ties", "labels", "documents", "order")


def flat(facts: RunFacts) -> dict[str, Any]:
    """Every fact of every family."""
    found: dict[str, Any] = {}
    for family in FAMILIES:
        found |= vars(getattr(facts, family))
    return found


def changed(facts: RunFacts, **changes: Any) -> RunFacts:
    """Facts with some of them changed."""
    for family in FAMILIES:
        own = getattr(facts, family)
        some = {one.name: changes.pop(one.name) for one in fields(own) if one.name in changes}
        facts = replace(facts, **{family: replace(own, **some)})
    return replace(facts, **changes)
