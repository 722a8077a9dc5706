"""What the facts of a run on a dataset say: the rules of all families, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import Finding
from . import documents as documents
from . import labels as labels
from . import queries as queries
from . import row_order as row_order
from . import scores as scores
from . import ties as ties
from .facts import Facts
from .parts import First
from .registry import caused_by


def of_run(facts: Facts, place: str, name: str = "the dataset") -> Iterator[Finding]:
    """Yield what a run says, and how it fits the judgements.

    Parameters
    ----------
    facts : Facts
    place : str
        Its file.
    name : str
        The dataset's.
    """
    run = facts.run
    yield from labels.findings(run, place)
    yield from scores.findings(run, place)
    yield from ties.findings(run, place)
    yield from row_order.of_facts(run, place, name)
    order = [*_of_order(facts, place)]
    yield from order
    if not run.follows:
        found = [*documents.findings(facts, place, in_order=not order)]
        yield from found
        rules = {one.rule for one in found if one.severity != "note"}
        renumbered = bool(rules & {"other-topics", "other-collection"})
        yield from queries.findings(facts, place, renumbered)


def _of_order(facts: Facts, place: str) -> Iterator[Finding]:
    """Yield that the order is upside down, or the scores are ranks."""
    run = facts.run
    if run.ranks is not None:
        yield from run.ranks.findings(place, run.first.get(run.ranks.rule, First()))
    elif not (run.follows or labels.are_labels(run) or run.labels.grade_scores):
        yield from run.ahead.findings(place, run.first.get("upside-down", First()))


def beyond(warnings: Iterable[Finding], findings: Iterable[Finding]) -> list[Finding]:
    """Return the readers' warnings of one cell that say what none of its findings says."""
    known = {rule for one in findings for rule in (one.rule, *caused_by(one.rule))}
    return [one for one in warnings if one.rule not in known]
