"""Groups of queries in evaluations, and what they reveal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..core.leaderboard import Entry
from ..core.systems import System, why_not
from ..errors import Finding
from ..guard.query_groups import Grouping, match
from ..guard.registry import finding


def attach(
    entries: Sequence[Entry], groups: Mapping[str, Grouping]
) -> tuple[list[Entry], list[Finding]]:
    """Return entries with the groups of their queries, and what the guard reports of these.

    Parameters
    ----------
    entries : sequence of Entry
    groups : mapping
        What groups the queries of each dataset.
    """
    qids: dict[str, dict[str, None]] = {}
    for entry in entries if groups else ():
        own = entry.evaluation.qids.to_pylist()
        qids.setdefault(entry.dataset, {}).update(dict.fromkeys(own))
    labels, findings = match(groups, {name: [*some] for name, some in qids.items()})
    found = []
    for entry in entries:
        own = entry.evaluation.qids.to_pylist() if entry.dataset in labels else []
        columns = {
            name: pa.array([each.get(qid) for qid in own], pa.string())
            for name, each in labels.get(entry.dataset, {}).items()
        }
        evaluation = replace(entry.evaluation, groups=columns)
        found.append(replace(entry, evaluation=evaluation) if columns else entry)
    return found, findings


def reversals(systems: Sequence[System], places: Mapping[str, str]) -> list[Finding]:
    """Return pairs of systems where one is better overall and worse in every group.

    `places` are the files of datasets, by name.
    """
    wholes: dict[str, list[System]] = {}
    parts: dict[tuple[str, str], dict[str, dict[str, System]]] = {}
    for one in systems:
        if one.group:
            column = one.group.partition("=")[0]
            groups = parts.setdefault((one.whole, column), {})
            groups.setdefault(one.group, {})[one.run] = one
        else:
            wholes.setdefault(one.dataset, []).append(one)
    found = []
    for (dataset, column), groups in parts.items():
        some = wholes.get(dataset, [])
        if len(groups) < 2 or len(some) < 2:
            continue
        for metric in some[0].metrics:
            if why_not(metric):
                continue
            sign = -1.0 if metric.definition.direction == "lower" else 1.0
            overall = sign * np.array([one.value(metric) for one in some])
            inside = sign * np.array([
                [own[one.run].value(metric) if one.run in own else np.nan for one in some]
                for own in groups.values()
            ])  # fmt: skip
            better = overall[:, None] > overall
            worse = (inside[:, :, None] < inside[:, None, :]).all(axis=0)
            pairs = [(some[a].run, some[b].run) for a, b in np.argwhere(better & worse)]
            if pairs:
                a, b = pairs[0]
                what = f"on {dataset}, {a} is better than {b} by {metric}, "
                what += f"and worse in every group of {column}"
                examples = [f"{one} and {two}" for one, two in pairs] if len(pairs) > 1 else []
                found.append(
                    finding("reversal", places.get(dataset, dataset), what, len(pairs), examples)
                )
    return found
