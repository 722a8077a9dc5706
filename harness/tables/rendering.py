"""A table in one of the formats, found by its name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Literal, get_args

from ..core.study import Study
from .alike import shown_alike
from .build import build
from .latex_width import too_wide
from .model import PaperTable
from .settings import DEFAULT, Settings

Format = Literal["latex", "markdown", "html", "csv", "text"]
FORMATS: tuple[Format, ...] = get_args(Format)


def render(
    table: PaperTable,
    format: Format,
    settings: Settings = DEFAULT,
    *,
    standalone: bool = False,
) -> str:
    """Return a table in one of the formats.

    Parameters
    ----------
    table : PaperTable
    format : {"latex", "markdown", "html", "csv", "text"}
    settings : Settings
        Those that `table` was built with: LaTeX asks for `siunitx` and `width`.
    standalone : bool
        LaTeX: a whole document.
    """
    module = _module(format)
    if format != "latex":
        text: str = module.render(table)
        return text
    text = module.render(table, siunitx=settings.siunitx, wide=settings.width == "page")
    if standalone:
        text = module.document(text, table, siunitx=settings.siunitx)
    return text


def render_all(
    study: Study,
    tables: Mapping[str, tuple[Settings, Iterable[Format]]],
    warn: Callable[[str], None] = lambda text: None,
) -> dict[str, bytes]:
    """Return every table in its formats, by path: ``tables/main.tex``.

    `warn` is called with what is said of one that LaTeX will not fit into its column or page, or
    in which rows or columns look the same.
    """
    files = {}
    for name, (settings, formats) in tables.items():
        table = build(study, settings, name)
        formats = tuple(dict.fromkeys(formats))
        for said in shown_alike(table, formats):
            warn(said)
        for format in formats:
            content = render(table, format, settings).encode()
            if format == "latex" and (what := too_wide(table, settings)):
                warn(what)
            files[f"tables/{name}{_module(format).suffix}"] = content
    return files


def _module(format: Format) -> ModuleType:
    return importlib.import_module(f"{__package__}.{format}")
