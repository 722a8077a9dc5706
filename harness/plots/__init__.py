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
from collections.abc import Callable, Iterable

from ..core.file_names import distinct, part
from ..core.study import Study
from ..errors import HarnessWarning, InputError
from ._checks import problems
from ._kinds import find, names
from ._request import Request, requests
from ._settings import Format, Settings, Width
from ._style import check_installed, said_once, save, styled

__all__ = [
    "Format", "Settings", "Width", "check_installed", "find", "names", "problems", "render_all",
]  # fmt: skip


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
    said: set[str] = set()
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
        with styled(), said_once(said):
            figure = kind.draw(drawn, settings.width)
            files = [(end, save(figure, end, title, study.trace)) for end in settings.formats]
        made.append(("-".join(map(part, parts)), files))
    if refuse and refused and not made:
        raise InputError([problem for one in refused for problem in one.problems])
    for one in refused:
        warnings.warn(f"not drawn: {one}", HarnessWarning, stacklevel=2)
    stems = distinct(stem for stem, _ in made)
    return {
        f"{stem}.{format}": content
        for stem, (_, files) in zip(stems, made, strict=True)
        for format, content in files
    }
