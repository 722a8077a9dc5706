"""The result of a search as text and as JSON lines."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from ..errors import for_terminal, in_json, legible
from ..reports.phrases import counted, listed
from ..reports.text import wrapped
from .explain import Explanation, Fit, Search
from .explain_space import BEYOND

WIDTH = 100
EXPLANATIONS, ALTERNATIVES = 5, 4
"""How many explanations are shown, and how many alternatives of each, unless all are wanted."""


def _tool(fit: Fit) -> str:
    """Return which tool computes it like this."""
    convention = fit.base.convention
    if not fit.changes:
        return "the default here" if convention is None else f"as {convention.tool} computes it"
    text = "the default" if convention is None else convention.tool
    text += f", {counted(len(fit.changes), 'setting')} changed"
    if fit.missing_queries != "zero":
        text += f"; with the policy missing_queries: {fit.missing_queries}"
    return text


def render(found: Search, subject: str = "", everything: bool = False) -> str:
    """Return the simplest explanations first, at most 100 columns wide.

    Parameters
    ----------
    found : Search
    subject : str
        What the value is of: ``bm25.run on qrels.txt``.
    everything : bool
        Whether to show all explanations with all their alternatives.
    """
    blocks, n_ways = [], len(found.explanations)
    if found.explanations:
        n_fits = sum(len(one.fits) for one in found.explanations)
        verdict = f"{n_fits:,} of {found.tried:,} settings fit"
        verdict += f", in {n_ways:,} different ways" if n_ways > 1 else ""
        shown = found.explanations if everything else found.explanations[:EXPLANATIONS]
        blocks = ["\n".join(_block(at, one, everything)) for at, one in enumerate(shown, start=1)]
        if more := n_ways - len(shown):
            blocks.append(f"+{more:,} more ways: --all lists them; more digits or --k leave fewer")
    else:
        verdict = f"none of {found.tried:,} settings fits"
        if found.nearest is not None:
            head = f"nearest: {found.nearest.value:.6f} ({found.difference:+.6f})  "
            blocks.append("\n".join(_named(head, found.nearest)))
        if found.n_tied:
            text = (
                f"{found.n_tied:,} of {found.n_retrieved:,} retrieved documents are tied. Tools "
                "that order ties by no rule may print other values: 'harness evaluate --ties "
                "bounds' prints the smallest and the largest"
            )
            blocks.append("\n".join(wrapped(text)))
    title = [
        f"{found.asked.text}{legible(f' of {subject}' if subject else '')}, "
        f"{found.n_queries:,} queries",
        *wrapped(_reading(found)),
        verdict,
    ]
    notes = [line for note in _notes(found) for line in wrapped(note, indent=2)]
    return for_terminal("\n\n".join(["\n".join(title), *blocks, "\n".join(notes)])) + "\n"


def _named(head: str, fit: Fit) -> list[str]:
    return [f"{head}{fit.name}", f"{' ' * len(head)}{_tool(fit)}"]


def _reading(found: Search) -> str:
    """Return how a number above 1 was read."""
    asked = found.asked
    shares = sorted({s.definition.name for s in found.spaces if s.definition.bounds[1] <= 1})
    if asked.percent or asked.number <= 1 or not shares:
        return ""
    names = listed(shares) if len(shares) <= ALTERNATIVES else f"{len(shares)} metrics"
    return f"read as {asked.text} % for metrics within 0 and 1 ({names}), and as {asked.text}"


def _block(place: int, explanation: Explanation, everything: bool) -> Iterator[str]:
    best, *others = explanation.fits
    yield from _named(f"{place}. {best.value:.6f}  ", best)
    if others:
        met, turns = Counter([best.base]), []
        for fit in others:  # one of each tool before a second of any
            turns.append(met[fit.base])
            met[fit.base] += 1
        others = [others[at] for at in sorted(range(len(others)), key=turns.__getitem__)]
        unchanged = len({fit.base for fit in others if not fit.changes} - {best.base})
        shown = others if everything else others[: max(ALTERNATIVES, unchanged)]
        yield "   the same on every query:"
        widest = max(len(fit.name) for fit in shown)
        for fit in shown:
            line = f"     {fit.name:<{widest}}  {_tool(fit)}"
            yield from [line] if len(line) <= WIDTH else _named("     ", fit)
        if more := len(others) - len(shown):
            yield f"     +{more:,} more"
    if explanation.inert:
        yield from wrapped(f"without effect here: {', '.join(explanation.inert)}", indent=3)


def _notes(found: Search) -> Iterator[str]:
    names = ", ".join(dict.fromkeys(space.definition.name for space in found.spaces))
    bases = [base for space in found.spaces for base in space.bases]
    n_tools = len({base.convention.name for base in bases if base.convention is not None})
    changed = f"up to {counted(found.depth, 'setting')} changed" if found.depth else "unchanged"
    yield (
        f"tried: {names}; the default and {counted(n_tools, 'convention')}, {changed}; "
        f"cutoffs: {_cutoffs(found)}"
    )
    together: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, why in found.refused.items():
        how = " unless labels=clip" if name in found.clipped else ""
        together[how, why].append(name)
    for (how, why), refusing in together.items():
        yield f"left out{how}: {', '.join(refusing)}: {why}"
    if found.unknown:
        yield (
            f"left out: {found.unknown:,} settings whose mean over the orders of tied documents "
            "has no closed form"
        )


def _cutoffs(found: Search) -> str:
    """Return the cutoffs that were tried, three and more in a row as a range."""
    every = {
        cutoff
        for space in found.spaces
        if space.definition.cutoff is None or space.definition.cutoff.type is int
        for cutoff in space.cutoffs
    } or {None}
    texts: list[str] = []
    numbers = sorted(k for k in every if k is not None and k != BEYOND)
    for _, some in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [f"{number:g}" for _, number in some]
        texts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else run
    return ", ".join([*texts, *(["whole list"] if {None, BEYOND} & every else [])])


def jsonl(found: Search) -> str:
    """Return a line for each explanation, the simplest first, or the nearest miss."""
    return "".join(in_json(row) + "\n" for row in records(found))


def records(found: Search) -> list[dict[str, Any]]:
    """Return a record for each explanation, the simplest first, or one for the nearest miss."""
    rows = []
    for place, explanation in enumerate(found.explanations, start=1):
        best, *others = explanation.fits
        rows.append(
            {
                "published": found.asked.text, "fits": True, "place": place, **_fields(best),
                "value": best.value, "same": [_fields(fit) for fit in others],
                "without_effect": list(explanation.inert), "tried": found.tried,
            }
        )  # fmt: skip
    if found.nearest is not None and not found.explanations:
        rows.append(
            {
                "published": found.asked.text, "fits": False, **_fields(found.nearest),
                "value": found.nearest.value, "difference": found.difference,
                "tried": found.tried, "tied": found.n_tied,
            }
        )  # fmt: skip
    return rows


def _fields(fit: Fit) -> dict[str, Any]:
    convention = fit.base.convention
    return {
        "metric": fit.name,
        "missing_queries": fit.missing_queries,
        "tool": None if convention is None else convention.tool,
        "changed": len(fit.changes),
    }
