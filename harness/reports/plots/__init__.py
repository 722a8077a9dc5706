"""Plots of a study, one file for each kind.

A kind is a module with

* ``needs_baseline`` and ``needs_comparisons``;
* ``groups(metrics)``: which metrics make a picture together, and ``NEEDS``: the message if none do;
* ``file_names(metrics)``: their part of a file's name;
* ``data(request)``: what is drawn, as plain numbers and labels, without matplotlib;
* ``draw(data, width)``: the figure.

Nothing here loads matplotlib before a picture is drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence

from ...core.metric import Metric
from ...core.study import Study
from ...core.text import distinct, part
from ...errors import HarnessWarning, InputError
from ..paper_table.select import select
from .plot import (
    KINDS,
    Format,
    Request,
    Settings,
    Width,
    check_installed,
    chosen,
    find,
    problems,
    requests,
    save,
    styled,
    too_many,
)

__all__ = [
    "KINDS", "Format", "Settings", "Width", "check_installed", "file_names", "find", "problems",
    "render_all", "too_many",
]  # fmt: skip


def file_names(
    plots: Iterable[Settings], datasets: Sequence[str], metrics: Sequence[Metric]
) -> list[str]:
    """Return the files of all pictures that the data may allow, as `render_all` names them."""
    stems, formats = [], []
    for settings in plots:
        kind = find(settings.kind)
        for dataset in select(settings.datasets, datasets, "dataset"):
            for group in kind.groups(chosen(metrics, settings)):
                over = [settings.over] if settings.over else []
                stems.append(_stem([settings.kind, *over, dataset, *kind.file_names(group)]))
                formats.append(settings.formats)
    names = zip(distinct(stems), formats, strict=True)
    return [f"{stem}.{format}" for stem, some in names for format in some]


def _stem(parts: Iterable[str]) -> str:
    """Return a picture's file name, without its ending."""
    return "-".join(map(part, parts))


def render_all(
    study: Study, plots: Iterable[Settings], *, refuse: bool = False,
    follow: Callable[[list[Request]], Iterable[Request]] = iter,
) -> dict[str, bytes]:  # fmt: skip
    """Return the pictures asked for, by file name: ``<kind>-<dataset>-<metric>.<format>``.

    A picture that the data do not allow (a single run to compare, no query that all answered)
    is left out with a warning.

    Parameters
    ----------
    study : Study
    plots : iterable of Settings
    refuse : bool
        Whether to raise if not a single picture can be drawn.
    follow : callable
        Given all pictures, yields each when it is to be drawn: for a progress bar.

    Returns
    -------
    dict of str to bytes
        The same bytes for the same study, with the same version of matplotlib.

    Raises
    ------
    HarnessError
        If matplotlib is not installed.
    UnknownNameError
        If a kind, metric, dataset, run or baseline does not exist.
    """
    check_installed()
    stems: list[str] = []
    files: list[dict[Format, bytes]] = []
    refused: list[InputError] = []
    missing: dict[str, None] = {}
    # every request is checked before the first is drawn
    for request in follow([one for settings in plots for one in requests(study, settings)]):
        kind, settings = find(request.settings.kind), request.settings
        try:
            drawn = kind.data(request)
        except InputError as error:
            refused.append(error)
            continue
        title = " ".join(request.parts)
        with styled():
            figure = kind.draw(drawn, settings.width)
            files.append(
                {one: save(figure, one, title, study.trace, missing) for one in settings.formats}
            )
        stems.append(_stem(request.parts))
    if refuse and refused and not files:
        raise InputError([problem for one in refused for problem in one.problems])
    for one in refused:
        warnings.warn(f"not drawn: {one}", HarnessWarning, stacklevel=2)
    for letter in missing:
        what = f"the font of pictures has no '{letter}'; say under 'names:' what to write"
        warnings.warn(what, HarnessWarning, stacklevel=2)
    named = zip(distinct(stems), files, strict=True)
    return {f"{stem}.{end}": content for stem, some in named for end, content in some.items()}
