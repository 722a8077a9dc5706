"""Pictures of a study: one file a kind, found by being here. Pure, but for matplotlib.

A kind is a module with

* ``needs_baseline`` and ``needs_comparisons``;
* ``groups(metrics)``: which metrics make a picture together, and ``lacking``: what to say where
  none do;
* ``file_names(metrics)``: what a file's name says of them;
* ``data(request)``: what is drawn, as plain numbers and labels, without matplotlib;
* ``draw(data, width)``: the figure.

The rest of the drawing is in the files whose names begin with an underscore. Nothing here loads
matplotlib before a picture is drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence

from ...core.metric import Metric
from ...core.study import Study
from ...core.text import distinct, part
from ...errors import HarnessWarning, InputError
from ..paper_table.select import select
from ._request import Request, chosen, find, names, problems, requests, too_many
from ._settings import Format, Settings, Width
from ._style import check_installed, save, styled

__all__ = [
    "Format", "Settings", "Width", "check_installed", "file_names", "find", "names", "problems",
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
                stems.append(_stem([settings.kind, dataset, *kind.file_names(group)]))
                formats.append(settings.formats)
    return [
        f"{stem}.{format}"
        for stem, some in zip(distinct(stems), formats, strict=True)
        for format in some
    ]


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
        Whether to raise where not a single picture can be drawn.
    follow : callable
        Given all pictures, yields each when it is to be drawn: where a bar shows how far it is.

    Returns
    -------
    dict of str to bytes
        The same bytes for the same study, with the same version of matplotlib.

    Raises
    ------
    HarnessError
        Where matplotlib is not installed.
    UnknownNameError
        Where a kind, metric, dataset, run or baseline does not exist.
    """
    check_installed()
    made: list[tuple[str, list[tuple[Format, bytes]]]] = []
    refused: list[InputError] = []
    missing: dict[str, None] = {}
    # all of them before the first is drawn: a name that is wrong in the last is told at once
    wanted = [one for settings in plots for one in requests(study, settings, find(settings.kind))]
    for request in follow(wanted):
        settings = request.settings
        kind = find(settings.kind)
        parts = [settings.kind, request.dataset, *kind.file_names(request.metrics)]
        title = " ".join(parts)
        try:
            drawn = kind.data(request)
        except InputError as error:
            refused.append(error)
            continue
        with styled():
            figure = kind.draw(drawn, settings.width)
            files = [
                (end, save(figure, end, title, study.trace, missing)) for end in settings.formats
            ]
        made.append((_stem(parts), files))
    if refuse and refused and not made:
        raise InputError([problem for one in refused for problem in one.problems])
    for one in refused:
        warnings.warn(f"not drawn: {one}", HarnessWarning, stacklevel=2)
    for letter in missing:
        what = f"the font of pictures has no '{letter}'; say under 'names:' what to write"
        warnings.warn(what, HarnessWarning, stacklevel=2)
    stems = distinct(stem for stem, _ in made)
    return {
        f"{stem}.{format}": content
        for stem, (_, files) in zip(stems, made, strict=True)
        for format, content in files
    }
