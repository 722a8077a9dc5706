"""Rows and columns of a table that look the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..escaping import alike, in_html, in_markdown, legible
from .latex_text import escape
from .model import PaperTable

_SHOWN: Mapping[str, Callable[[str], str]] = {
    "latex": escape, "markdown": in_markdown, "html": in_html, "text": legible, "csv": str,
}  # fmt: skip


def shown_alike(table: PaperTable, formats: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each two titles that a reader of these formats cannot tell apart.

    LaTeX has fewer signs than the others: a Greek capital alpha is printed as an A.
    """
    titles = {
        "rows": [row.title for row in table.rows],
        "blocks of columns": [title for title, _ in table.blocks],
        "columns": [one.title for one in table.columns if one.kind == "metric"],
    }
    for kind, names in titles.items():
        found: dict[tuple[str, ...], list[str]] = {}
        for format in formats:
            for together in alike(names, _SHOWN[format]):
                found.setdefault(tuple(together), []).append(format)
        for some, where in found.items():
            yield (
                f"table '{table.name}': {kind} {' and '.join(map(ascii, some))} look the same in "
                f"{', '.join(where)}; give one of them another name under 'names' (--name OLD=NEW)"
            )
