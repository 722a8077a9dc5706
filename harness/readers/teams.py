"""Which team each run of a shared task is from: a CSV file, or a pattern on the tag."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence

from ..errors import InputError, Problem
from .source import Source


def teams_of(runs: Sequence[str], teams: str) -> dict[str, str]:
    r"""Return the team of each run; a run without one is a team of its own.

    `teams` is a CSV file with the columns run and team, or a regular expression whose first group,
    or whole match, is the team.

    >>> teams_of(["uni-a_1", "uni-a_2", "x"], r"(.+)_\d")
    {'uni-a_1': 'uni-a', 'uni-a_2': 'uni-a', 'x': 'x'}
    """
    if not os.path.exists(teams):
        try:
            pattern = re.compile(teams)
        except re.error as error:
            what = f"expected a CSV file or a regular expression, got neither ({error})"
            raise InputError(Problem(f"--teams {teams}", what)) from error
        if teams.endswith(".csv"):
            raise InputError(Problem(f"--teams {teams}", "there is no such file"))
        found = {run: pattern.search(run) for run in runs}
        return {run: (at[at.re.groups and 1] or run) if at else run for run, at in found.items()}
    rows = csv.DictReader(Source(teams).read().decode("utf-8-sig", "replace").splitlines())
    if not {"run", "team"} <= {*(rows.fieldnames or ())}:
        what = f"expected the columns run and team, got {', '.join(rows.fieldnames or ())}"
        raise InputError(Problem(f"{teams}:1", what, fix="write a first line: run,team"))
    named = {row["run"]: row["team"] for row in rows}
    return {run: named.get(run) or run for run in runs}
