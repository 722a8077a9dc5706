"""The progress bar of long work, on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TypeVar

from .errors import legible

T = TypeVar("T")
Begin = Callable[[str], None]
"""Tells the bar the name of the part of the work that begins."""
LABEL = 40
"""Characters of a name that the bar shows."""


def is_shown() -> bool:
    """Whether a person can see the bar: standard error is a terminal, and CI is not set."""
    return sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("CI")


@contextmanager
def progress(total: int, unit: str, done: int = 0) -> Iterator[Begin]:
    """Show a bar while work goes on; call the result with the name of each part as it begins.

    `total` is the number of parts, and `done` of these need no work.
    """
    if not is_shown():
        yield lambda name: None
        return
    from tqdm import tqdm

    begun = count()
    # the delay keeps the bar back until the first part has its name
    with tqdm(
        total=total, initial=done, unit=unit, leave=False, dynamic_ncols=True, delay=1e-9
    ) as bar:

        def begin(name: str) -> None:
            text, is_first = legible(name), next(begun) == 0
            shown = text if len(text) <= LABEL else f"…{text[1 - LABEL :]}"
            bar.set_postfix_str(shown, refresh=is_first)
            bar.update(0 if is_first else 1)

        yield begin


def track(parts: Sequence[T], unit: str, name: Callable[[T], str] = str) -> Iterator[T]:
    """Yield the parts of long work while a bar shows the name of the present part."""
    with progress(len(parts), unit) as begin:
        for part in parts:
            begin(name(part))
            yield part
