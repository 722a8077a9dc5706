"""The metrics and the conventions as text: the lists, and what one of them is."""

from __future__ import annotations

import re

from .. import metrics as _built_in
from ..core.convention import CONVENTIONS, find
from ..core.metric import REGISTRY
from ..core.names import NICKNAMES, known_names, parse
from ..errors import UnknownNameError, did_you_mean
from ..reports.table import columns
from .definition import define, settings, spelling
from .docstring import plain
from .resolved import resolved
from .tools import conventions, table

__all__ = ["conventions", "define", "listing", "resolved", "settings", "show", "spelling", "table"]
del _built_in


def listing() -> str:
    """Return all metrics, one a line, with direction and first sentence."""
    rows = [["metric", "better", "what it is"]]
    for name in sorted(REGISTRY, key=str.lower):
        definition = REGISTRY[name]
        rows.append([spelling(definition), definition.direction or "", plain(definition.title)])
    text = columns(rows, left=3)
    names = "\n".join(f"  {name}: {' '.join(members)}" for name, members in NICKNAMES.items())
    return (
        f"{text}\n\nSeveral at once (trec_eval's nicknames):\n{names}\n\n"
        "Other spellings are read too: ndcg_cut_10, P.5,10 (trec_eval); nDCG@10, AP(rel=2) "
        "(ir_measures).\n'harness metrics NAME' defines one.\n"
    )


def show(name: str | None = None, tools: bool = False) -> str:
    """Return what ``harness metrics`` prints.

    Parameters
    ----------
    name : str, optional
        A metric, with parameters or without, or a convention; all of them where left out.
    tools : bool
        Whether the settings of the tools are asked for: of all metrics, or of the one named.

    Raises
    ------
    UnknownNameError
        Where there is neither a metric nor a convention of that name.
    """
    if name is None:
        return conventions() if tools else listing()
    name = name.strip()
    if name.lower() in map(str.lower, CONVENTIONS):
        return conventions(find(name))
    if name in NICKNAMES:
        return f"{name} stands for: {', '.join(NICKNAMES[name])}\n"
    try:
        metrics = parse(name)
    except UnknownNameError as error:
        if re.fullmatch(r"[\w+-]+", name) and str(error).startswith("unknown metric"):
            near = did_you_mean(name, [*known_names(), *CONVENTIONS])
            raise UnknownNameError(
                f"unknown metric or convention '{name}'{near}"
                "  (all: harness metrics, harness metrics --conventions)"
            ) from None
        raise
    definition = metrics[0].definition
    if tools:
        return table(definition)
    if re.search("[(@]", name) or list(map(str, metrics)) != _plain(definition.name):
        return f"{resolved(metrics)}\n'harness metrics {definition.name}' says what they mean.\n"
    blocks = [define(definition), settings()]
    if any(definition.name in each.metrics for each in CONVENTIONS.values()):
        blocks.append(
            f"What each tool sets: 'harness metrics {definition.name} --conventions'. What one "
            f"of them means:\n'harness metrics \"{definition.name}(convention=TOOL)\"'.\n"
        )
    return "\n".join(blocks)


def _plain(name: str) -> list[str]:
    return [str(metric) for metric in parse(name)]
