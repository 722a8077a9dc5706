"""What of `tables:` can be checked before any data are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..core.metric import Metric
from ..errors import Problem
from ..tables.checks import problems
from .reporting import Table
from .yamlfile import Source


def is_file_name(text: str) -> bool:
    """Whether text can be the name of a file or folder, and is no path.

    >>> is_file_name("main"), is_file_name("a/b"), is_file_name("..")
    (True, False, False)
    """
    return not re.search(r"[/\\\0]|^\.*$", text)


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
    for name, table in tables.items():
        if not is_file_name(name):
            what = f"must be the name of a file, without '/', and is {name!r}"
            yield source.problem(("tables", name), what)
        for loc, what in problems(table.to_core(), runs, datasets, metrics, compared):
            fix = "add 'compare:' to the config" if "no runs are compared" in what else ""
            yield source.problem(("tables", name, *loc), what, fix=fix)
