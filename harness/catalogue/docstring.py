"""A metric's docstring, read for those who do not write Python."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)


def sections(function: Callable[..., Any]) -> dict[str, str]:
    """Return the text under each heading of a function's docstring; what comes first under ``""``.

    Roles and backticks are taken out.

    >>> def function(x):
    ...     '''Twice `x`.
    ...
    ...     Returns
    ...     -------
    ...     int
    ...     '''
    >>> sections(function)
    {'': 'Twice x.', 'Returns': 'int'}
    """
    first, *others = _HEADING.split(plain(inspect.getdoc(function) or ""))
    pairs = zip(others[::2], others[1::2], strict=True)
    return {"": first.strip(), **{name: text.strip() for name, text in pairs}}


def entries(section: str) -> dict[str, str]:
    """Return what a section says of each name, as one paragraph.

    >>> entries("rel, top : int\\n    Grades\\n    of it.\\nk : int\\n    Depth.")
    {'rel': 'Grades of it.', 'top': 'Grades of it.', 'k': 'Depth.'}
    """
    found = {}
    for match in re.finditer(r"^(\S.*)((?:\n(?:[ ]+.*)?)*)", section, re.M):
        for name in match[1].split(" : ")[0].split(", "):
            found[name] = " ".join(match[2].split())
    return found


def plain(text: str) -> str:
    """Return text without the marks of a docstring.

    >>> plain("``cut`` as `short`; see :func:`~harness.rbo_weight`")
    'cut as short; see rbo_weight'
    """
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", text)
    return re.sub(r"``?([^`]+)``?", r"\1", text)
