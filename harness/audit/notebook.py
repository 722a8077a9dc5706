"""The commands check, explain and why as Python functions whose results show themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from .. import readers
from ..core.arguments import MAPPING, TEXT, Kind, check_arguments, check_choice, whole_from
from ..core.policy import Duplicates
from ..core.tables import Run
from ..errors import ConfigError, InputError
from ..experiment.outcome import Results
from ..experiment.table_and_plots import PATH, PathLike, folder_of, names_in
from ..guard import check as guard
from ..readers import in_memory
from . import explain as explaining
from . import why as tracing
from .explain_space import levels_of, read, spaces_of

_PATHS = (str, os.PathLike)
_FILES = Kind(
    "a path or a list of paths (harness.save_predictions writes arrays to one)",
    lambda given: (
        isinstance(given, _PATHS)
        or (isinstance(given, (list, tuple)) and all(isinstance(one, _PATHS) for one in given))
    ),
)
_CUTOFFS = Kind(
    "a whole number from 1, or a list of them",
    lambda given: all(
        map(whole_from(1).fits, given if isinstance(given, (list, tuple)) else [given])
    ),
)


def check(
    first: PathLike,
    runs: PathLike | Sequence[PathLike] = (),
    *,
    overrides: Sequence[str] = (),
    qrels_format: str | None = None,
    run_format: str | None = None,
    group: str | None = None,
    duplicates: Duplicates = "error",
) -> guard.Checked:
    """Find what would make numbers wrong, as ``harness check`` does.

    Parameters
    ----------
    first : path
        A config; or qrels or a LETOR file, with `runs`.
    runs : path or sequence of paths
        Run files, or predictions.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the config's.
    qrels_format, run_format, group, duplicates
        How files are read, as the command's options.

    Returns
    -------
    Checked
        Its ``findings`` have ``severity``, ``rule``, ``place``, ``what``, ``effect`` and ``fix``;
        ``count("error")`` and ``to_pandas()`` sum them up.
    """
    check_arguments(locals(), first=PATH, runs=_FILES, group=PATH.or_none())
    for place, format in (("qrels_format", qrels_format), ("run_format", run_format)):
        if format is not None:
            check_choice(place, format, readers.FORMATS)
    check_choice("duplicates", duplicates, get_args(Duplicates))
    paths = [os.fspath(one) for one in ([runs] if isinstance(runs, _PATHS) else runs)]
    if paths:
        of_qrels = {"format": qrels_format, "group": group, "duplicates": duplicates}
        of_runs = {"format": run_format, "duplicates": duplicates}
        return guard.check_files(os.fspath(first), paths, of_qrels=of_qrels, of_runs=of_runs)
    try:
        return guard.check_config(Path(first), names_in(overrides, "overrides"))
    except (ConfigError, InputError) as error:
        return guard.refused_config(os.fspath(first), error)


def explain(
    value: str | float,
    qrels: Any = None,
    run: Any = None,
    metrics: str | Sequence[str] = (),
    *,
    k: int | Sequence[int] = (),
    depth: int | None = None,
    results: PathLike | Results | None = None,
    dataset: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> explaining.Search:
    """Find the tool's settings that give a published value, as ``harness explain`` does.

    Parameters
    ----------
    value : str or float
        As it was printed: ``"0.4730"``, ``".473"``, ``"47.3%"``. A text keeps its last zeros.
    qrels, run : see :func:`harness.evaluate`
        With `results`, `run` is the name of a run.
    metrics : str or sequence of str
        What the value may be, such as ``"ndcg"``; all metrics of a convention if left out.
    k : int or sequence of int
        The cutoff, if you know it.
    depth : int, optional
        How many settings of a convention are changed at most: 2; 1 without `metrics`.
    results : path or Results, optional
        Results with a cell to explain.
    dataset, where
        The cell's dataset, and its columns: ``{"seed": 1}``.

    Returns
    -------
    Search
        ``explanations``, ``rows`` and ``to_pandas()`` have what fits, the simplest first.
    """
    asked = read(value if isinstance(value, str) else repr(value))
    check_arguments(locals(), k=_CUTOFFS, depth=whole_from(0).or_none())
    some, cutoffs = names_in(metrics, "metrics"), [k] if isinstance(k, int) else list(k)
    spaces_of(some, cutoffs or None)  # reports wrong names before any file is read
    if results is not None:
        check_arguments(locals(), run=TEXT)
        judged, scores, subject = explaining.from_results(
            folder_of(results), run, dataset, _columns(where)
        )
    else:
        judged, given = in_memory.as_pair(qrels, run, fractions=True)
        if isinstance(given, Run):
            scores, subject = given, given.name
        else:
            scores, subject = readers.read_run(given, dataset=judged), Path(given).name
    spaces = spaces_of(some, cutoffs or None, levels_of(judged))
    most = depth if depth is not None else explaining.DEPTH if some else 1
    found = explaining.explain(asked, judged, scores, spaces, most)
    found.subject = subject
    return found


def why(
    results: PathLike | Results,
    run: str,
    metric: str,
    *,
    query: str | None = None,
    dataset: str | None = None,
    where: Mapping[str, Any] | None = None,
    inputs: PathLike | None = None,
) -> tracing.Account:
    """Show where one number of a leaderboard comes from, as ``harness why`` does.

    Parameters
    ----------
    results : path or Results
        A folder that ``harness run`` wrote, or what :func:`harness.run` returned.
    run, metric : str
        As in the leaderboard; the metric in any spelling.
    query : str, optional
        A qid, whose ranking is shown.
    dataset, where
        The dataset if there are several, and columns: ``{"seed": 1}``.
    inputs : path, optional
        Where the config's paths start from, if that or the results were moved.

    Returns
    -------
    Account
        ``value``, ``inputs``, and ``is_confirmed``: whether the files still give the value.
    """
    check_arguments(locals(), run=TEXT, metric=TEXT, query=TEXT.or_none(), dataset=TEXT.or_none())
    check_arguments(locals(), inputs=PATH.or_none())
    base = None if inputs is None else Path(inputs)
    return tracing.why(
        folder_of(results), run, metric, dataset=dataset, where=_columns(where), query=query,
        inputs=base,
    )  # fmt: skip


def _columns(where: Mapping[str, Any] | None) -> dict[str, str]:
    """Return ``{"seed": 1}`` with its values as they are captured from names of files."""
    check_arguments(locals(), where=MAPPING.or_none())
    return {name: str(value) for name, value in (where or {}).items()}
