"""Pictures of a study: one file a kind, found by being here. Pure, but for matplotlib.

A kind is a module with

* ``needs_baseline`` and ``needs_comparisons``;
* ``groups(metrics)``: which metrics make a picture together;
* ``data(request)``: what is drawn, as plain numbers and labels, without matplotlib;
* ``draw(data, width)``: the figure.

The rest of the drawing is in the files whose names begin with an underscore.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Iterable
from types import ModuleType

from ..core.study import Study
from ..errors import ConfigError, HarnessWarning, InputError, UnknownNameError, did_you_mean
from ._labels import paths, safe
from ._request import requests
from ._settings import Format, Settings
from ._style import check_installed, save, styled

__all__ = ["Settings", "check_installed", "find", "names", "render_all"]


def names() -> list[str]:
    """Return the names of all kinds."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return [name.replace("_", "-") for name in found if not name.startswith("_")]


def find(name: str) -> ModuleType:
    """Return the kind of that name.

    Raises
    ------
    UnknownNameError
        Where there is none.
    """
    known = names()
    if name not in known:
        near = did_you_mean(name, known)
        raise UnknownNameError(f"unknown picture '{name}'{near}  (all: {', '.join(known)})")
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")


def render_all(
    study: Study, plots: Iterable[Settings], *, refuse: bool = False
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
    for settings in plots:
        kind = find(settings.kind)
        if kind.needs_comparisons and study.comparisons is None:
            raise ConfigError(_not_compared(settings), where="plots")
        for request in requests(study, settings, kind):
            parts = [settings.kind, request.dataset, *kind.file_names(request.metrics)]
            title = " ".join(parts)
            try:
                drawn = kind.data(request)
            except InputError as error:
                refused.append(error)
                continue
            with styled():
                figure = kind.draw(drawn, settings.width)
                files = [(end, save(figure, end, title, study.trace)) for end in settings.formats]
            made.append(("-".join(map(safe, parts)), files))
    if refuse and refused and not made:
        raise InputError([problem for one in refused for problem in one.problems])
    for one in refused:
        warnings.warn(f"not drawn: {one}", HarnessWarning, stacklevel=2)
    stems = paths(stem for stem, _ in made)
    return {
        f"{stem}.{format}": content
        for stem, (_, files) in zip(stems, made, strict=True)
        for format, content in files
    }


def _not_compared(settings: Settings) -> str:
    return (
        f"{settings.kind} draws comparisons, and the config asks for none; add such as "
        "'compare: {baseline: bm25}'"
    )
