"""What a search found, as text and as JSON lines."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from ..escaping import for_terminal, in_json, legible
from .search import Explanation, Fit, Found
from .space import BEYOND, Space
from .tied import NO_RULE

WIDTH = 100
EXPLANATIONS = 5
"""How many explanations are shown where not all are asked for."""
ALTERNATIVES = 4
"""How many alternatives of each; more where they are conventions as they stand."""

MOST_NAMED = 4
"""How many metrics are named where the reading of the value is said."""


def who(fit: Fit) -> str:
    """Return which tool computes it so, in words."""
    convention, n_changed = fit.base.convention, len(fit.changes)
    if not n_changed:
        return "the default here" if convention is None else f"as {convention.tool} computes it"
    tool = "the default" if convention is None else convention.tool
    text = f"{tool}, {n_changed} setting{'s' if n_changed > 1 else ''} changed"
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
        fits = f"{n_fits:,} {'setting gives' if n_fits == 1 else 'settings give'} it"
        said = f"{fits}, in {n_found:,} different ways" if n_found > 1 else fits
        shown = found.explanations if everything else found.explanations[:EXPLANATIONS]
        blocks = [_block(place, e, everything) for place, e in enumerate(shown, start=1)]
        if more := n_found - len(shown):
            blocks.append(f"+{more:,} more ways: --all lists them; more digits or --k leave fewer")
    else:
        said = "no settings give it"
        if found.nearest is not None:
            blocks.append(_nearest(found.nearest, found.difference))
        if found.n_tied:
            blocks.append(_tied(found))
    title = "\n".join(
        [
            f"{found.asked.text}{legible(of)}, {found.n_queries:,} queries",
            *_wrapped(_reading(found), ""),
            f"{said}; {found.tried:,} were tried",
        ]
    )
    notes = [line for note in _notes(found) for line in _wrapped(note, "  ")]
    return for_terminal("\n\n".join([title, *blocks, "\n".join(notes)])) + "\n"


def _reading(found: Found) -> str:
    """Return how a number above 1 was read."""
    asked = found.asked
    if asked.percent or asked.number <= 1:
        return ""
    shares = sorted({s.definition.name for s in found.spaces if s.definition.bounds[1] <= 1})
    if not shares:
        return ""
    names, lie = " and ".join(shares), "lies" if len(shares) == 1 else "lie"
    if len(shares) > MOST_NAMED:
        names, lie = f"{len(shares)} of the metrics", "lie"
    said = f"read as {asked.text} %, as {names} {lie} within 0 and 1"
    return f"{said}; {asked.text} itself is tried too, and would come first"


def _tied(found: Found) -> str:
    share = f"{found.n_tied:,} of {found.n_retrieved:,} retrieved documents are tied"
    said = (
        f"{share}: where no rule gives their order ({NO_RULE}), any value between those of the "
        "worst and the best order may be printed; "
    )
    if not found.reaches:
        said += f"{found.asked.text} lies between them for none of the metrics and usual cutoffs"
        return "\n".join(_wrapped(said, ""))
    shown = found.reaches[:ALTERNATIVES]
    said += f"{found.asked.text} lies between them for"
    lines = _wrapped(said, "")
    widest = max(len(str(reach.metric)) for reach in shown)
    lines += [
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
    head = f"{place}. {best.value:.6f}  "
    lines = [f"{head}{best.name}", f"{' ' * len(head)}{who(best)}"]
    if others:
        others = _tools_first(best, others)
        plain = len({fit.base for fit in others if not fit.changes} - {best.base})
        shown = others if everything else others[: max(ALTERNATIVES, plain)]
        names = [fit.name for fit in shown]
        lines.append("   the same on every query:")
        widest = max(map(len, names))
        for name, fit in zip(names, shown, strict=True):
            line = f"     {name:<{widest}}  {who(fit)}"
            lines += [line] if len(line) <= WIDTH else [f"     {name}", f"       {who(fit)}"]
        if more := len(others) - len(shown):
            lines.append(f"     +{more:,} more")
    if explanation.inert:
        said = f"without effect here: {', '.join(explanation.inert)}"
        lines += _wrapped(said, "   ")
    return "\n".join(lines)


def _nearest(fit: Fit, difference: float) -> str:
    head = f"nearest: {fit.value:.6f} ({difference:+.6f})  "
    return f"{head}{fit.name}\n{' ' * len(head)}{who(fit)}"


def _notes(found: Found) -> Iterable[str]:
    names = ", ".join(dict.fromkeys(space.definition.name for space in found.spaces))
    bases = (base.convention for space in found.spaces for base in space.bases)
    n_named = len({convention.name for convention in bases if convention is not None})
    conventions = f"{n_named} convention{'s' if n_named > 1 else ''}"
    changed = {0: "as they stand", 1: "up to 1 setting changed"}.get(
        found.depth, f"up to {found.depth} settings changed"
    )
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
    runs: list[list[float]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [
        [f"{run[0]:g}-{run[-1]:g}"] if len(run) > 2 else [f"{number:g}" for number in run]
        for run in runs
    ]
    return ", ".join(text for some in texts for text in some)


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


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
