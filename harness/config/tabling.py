"""What of `tables:` can be checked before any data are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..core.file_names import folded, wrong_with
from ..core.metric import Metric
from ..errors import Problem
from ..tables.checks import problems
from .reporting import Table
from .yamlfile import Source


def check(
    tables: Mapping[str, Table],
    metrics: Sequence[Metric] | None,
    runs: Sequence[str] | None,
    datasets: Sequence[str] | None,
    compared: bool,
    source: Source,
) -> Iterator[Problem]:
    """Yield what is wrong with tables.

    Parameters
    ----------
    tables : mapping of str to Table
    metrics : sequence of Metric, optional
        Those of the config; None where some of them are wrong.
    runs, datasets : sequence of str, optional
        Names of those on disk; None where they are not known.
    compared : bool
        Whether the config has ``compare``.
    source : Source
        Where each part stands.
    """
    taken: dict[str, str] = {}
    for name, table in tables.items():
        if wrong := wrong_with(name):
            yield source.problem(("tables", name), f"must be the name of a file, and {wrong}")
        first = taken.setdefault(folded(name), name)
        if first != name:
            what = f"'{name}' and '{first}' are one file to some systems"
            yield source.problem(("tables", name), what, fix="give one of them another name")
        for loc, what in problems(table.to_core(), runs, datasets, metrics, compared):
            fix = "add 'compare:' to the config" if "no runs are compared" in what else ""
            fix = fix or "give each a name of its own there" * ("are both called" in what)
            yield source.problem(("tables", name, *loc), what, fix=fix)
