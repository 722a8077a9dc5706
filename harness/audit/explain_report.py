"""What a search found, as text and as JSON lines."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from ..errors import for_terminal, in_json, legible
from ..reports.phrases import counted
from ..reports.text import wrapped
from .explain import NO_RULE, Explanation, Fit, Found
from .explain_space import BEYOND, Space

WIDTH = 100
EXPLANATIONS = 5
"""How many explanations are shown where not all are asked for."""
ALTERNATIVES = 4
"""How many alternatives of each; more where they are conventions as they stand."""

MOST_NAMED = 4
"""How many metrics are named where the reading of the value is said."""


def _tool(fit: Fit) -> str:
    """Return which tool computes it so, in words."""
    convention, n_changed = fit.base.convention, len(fit.changes)
    if not n_changed:
        return "the default here" if convention is None else f"as {convention.tool} computes it"
    text = "the default" if convention is None else convention.tool
    text += f", {counted(n_changed, 'setting')} changed"
    if fit.missing_queries != "zero":
        text += f"; with the policy missing_queries: {fit.missing_queries}"
    return text


def render(found: Found, subject: str = "", everything: bool = False) -> str:
    """Return what was found, the simplest explanation first, at most 100 columns wide.

    Parameters
    ----------
    found : Found
    subject : str
        What the value is of: ``bm25.run on qrels.txt``.
    everything : bool
        Whether all explanations are shown with all their alternatives.
    """
    of = f" of {subject}" if subject else ""
    blocks = []
    if found.explanations:
        n_fits, n_found = sum(len(e.fits) for e in found.explanations), len(found.explanations)
        verdict = "1 setting gives it" if n_fits == 1 else f"{n_fits:,} settings give it"
        verdict += f", in {n_found:,} different ways" if n_found > 1 else ""
        shown = found.explanations if everything else found.explanations[:EXPLANATIONS]
        blocks = [_block(place, e, everything) for place, e in enumerate(shown, start=1)]
        if more := n_found - len(shown):
            blocks.append(f"+{more:,} more ways: --all lists them; more digits or --k leave fewer")
    else:
        verdict = "no settings give it"
        if found.nearest is not None:
            head = f"nearest: {found.nearest.value:.6f} ({found.difference:+.6f})  "
            blocks.append(_named(head, found.nearest))
        if found.n_tied:
            blocks.append(_tied(found))
    title = "\n".join(
        [
            f"{found.asked.text}{legible(of)}, {found.n_queries:,} queries",
            *wrapped(_reading(found)),
            f"{verdict}; {found.tried:,} were tried",
        ]
    )
    notes = [line for note in _notes(found) for line in wrapped(note, indent=2)]
    return for_terminal("\n\n".join([title, *blocks, "\n".join(notes)])) + "\n"


def _named(head: str, fit: Fit) -> str:
    """Return a fit's name behind a head, and the tool below it."""
    return f"{head}{fit.name}\n{' ' * len(head)}{_tool(fit)}"


def _reading(found: Found) -> str:
    """Return how a number above 1 was read."""
    asked = found.asked
    shares = sorted({s.definition.name for s in found.spaces if s.definition.bounds[1] <= 1})
    if asked.percent or asked.number <= 1 or not shares:
        return ""
    names = f"{len(shares)} of the metrics" if len(shares) > MOST_NAMED else " and ".join(shares)
    reading = f"read as {asked.text} %, as {names} {'lies' if len(shares) == 1 else 'lie'}"
    return f"{reading} within 0 and 1; {asked.text} itself is tried too, and would come first"


def _tied(found: Found) -> str:
    text = (
        f"{found.n_tied:,} of {found.n_retrieved:,} retrieved documents are tied: where no rule "
        f"gives their order ({NO_RULE}), any value between those of the worst and the best order "
        f"may be printed; {found.asked.text} lies between them for"
    )
    if not found.reaches:
        return "\n".join(wrapped(f"{text} none of the metrics and usual cutoffs"))
    shown = found.reaches[:ALTERNATIVES]
    widest = max(len(str(reach.metric)) for reach in shown)
    lines = wrapped(text) + [
        f"  {reach.metric!s:<{widest}}  {reach.low:.6f} to {reach.high:.6f}" for reach in shown
    ]
    if more := len(found.reaches) - len(shown):
        lines.append(f"  +{more:,} more")
    return "\n".join(lines)


def _tools_first(best: Fit, others: Sequence[Fit]) -> list[Fit]:
    """Return one alternative of each other tool, then a second of each, and so on."""
    met = Counter([best.base])
    turns = []
    for fit in others:
        turns.append(met[fit.base])
        met[fit.base] += 1
    return [fit for _, fit in sorted(zip(turns, others, strict=True), key=lambda pair: pair[0])]


def _block(place: int, explanation: Explanation, everything: bool) -> str:
    best, *others = explanation.fits
    lines = [_named(f"{place}. {best.value:.6f}  ", best)]
    if others:
        others = _tools_first(best, others)
        plain = len({fit.base for fit in others if not fit.changes} - {best.base})
        shown = others if everything else others[: max(ALTERNATIVES, plain)]
        lines.append("   the same on every query:")
        widest = max(len(fit.name) for fit in shown)
        for fit in shown:
            line = f"     {fit.name:<{widest}}  {_tool(fit)}"
            lines += [line] if len(line) <= WIDTH else [f"     {fit.name}", f"       {_tool(fit)}"]
        if more := len(others) - len(shown):
            lines.append(f"     +{more:,} more")
    if explanation.inert:
        lines += wrapped(f"without effect here: {', '.join(explanation.inert)}", indent=3)
    return "\n".join(lines)


def _notes(found: Found) -> Iterable[str]:
    names = ", ".join(dict.fromkeys(space.definition.name for space in found.spaces))
    bases = (base.convention for space in found.spaces for base in space.bases)
    n_named = len({convention.name for convention in bases if convention is not None})
    conventions = counted(n_named, "convention")
    changed = f"up to {counted(found.depth, 'setting')} changed" if found.depth else "as they stand"
    yield f"tried: {names}; the default and {conventions}, {changed}; {_cutoffs(found.spaces)}"
    together: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for name, why in found.refused.items():
        together[name in found.clipped, why].append(name)
    for (clipped, why), refusing in together.items():
        how = "left out as they stand, tried with labels=clip" if clipped else "left out"
        yield f"{how}: {', '.join(refusing)}: {why}"
    if found.unknown:
        yield (
            f"left out: {found.unknown:,} settings whose mean over the orders of tied documents "
            "has no closed form"
        )


def _cutoffs(spaces: Sequence[Space]) -> str:
    every: set[float | None] = set()
    for space in spaces:
        if space.definition.cutoff is None or space.definition.cutoff.type is int:
            every |= {None if cutoff == BEYOND else cutoff for cutoff in space.cutoffs}
    numbers = sorted({k for k in every if k is not None})
    if not numbers:
        return "the whole list"
    whole = " and the whole list" if None in every else ""
    return f"cutoff{'s' if len(numbers) > 1 or whole else ''} {_ranges(numbers)}{whole}"


def _ranges(numbers: Sequence[float]) -> str:
    """Return numbers as text, three and more that follow each other as a range.

    >>> _ranges([1, 2, 3, 4, 10, 20, 21])
    '1-4, 10, 20, 21'
    """
    texts: list[str] = []
    for _, some in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [f"{number:g}" for _, number in some]
        texts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else run
    return ", ".join(texts)


def jsonl(found: Found) -> str:
    """Return a line an explanation, the simplest first; the nearest miss where there is none."""
    rows = []
    for place, explanation in enumerate(found.explanations, start=1):
        same = [_fields(fit) for fit in explanation.fits[1:]]
        rows.append(
            {
                "published": found.asked.text, "fits": True, "place": place,
                **_fields(explanation.best), "value": explanation.best.value, "same": same,
                "without_effect": list(explanation.inert), "tried": found.tried,
            }
        )  # fmt: skip
    if found.nearest is not None:
        rows.append(
            {
                "published": found.asked.text, "fits": False, **_fields(found.nearest),
                "value": found.nearest.value, "difference": found.difference,
                "tried": found.tried, "tied": found.n_tied,
                "between": [
                    {"metric": str(each.metric), "low": each.low, "high": each.high}
                    for each in found.reaches
                ],
            }
        )  # fmt: skip
    return "".join(in_json(row) + "\n" for row in rows)


def _fields(fit: Fit) -> dict[str, Any]:
    convention = fit.base.convention
    return {
        "metric": fit.name,
        "missing_queries": fit.missing_queries,
        "tool": None if convention is None else convention.tool,
        "changed": len(fit.changes),
    }
