"""JSON from anywhere: UTF-8 alone, whole characters, and of a depth that can be read."""

from __future__ import annotations

import json
import re
from typing import Any

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_TOKEN = re.compile(r'"[^"]*"?|-?(\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?', re.ASCII)
"""A name, though it has no end, or a number; each mark begins or ends a name."""
_MOST_DIGITS = 4300
"""Of an integer that Python reads."""


class TooLong(json.JSONDecodeError):
    """An integer has more digits than are read."""


def parse(text: bytes, hook: Any = None) -> Any:
    r"""Return the value of a JSON text.

    Parameters
    ----------
    text : bytes
        UTF-8; :func:`json.loads` would guess other encodings, and let surrogates through.
    hook : callable, optional
        ``object_pairs_hook`` of :func:`json.loads`.

    Raises
    ------
    ValueError
        ``UnicodeDecodeError`` where it is not UTF-8, ``JSONDecodeError`` where it is not JSON.

    >>> parse(b'{"a": 1}')
    {'a': 1}
    >>> parse(b'"\\ud800"')
    Traceback (most recent call last):
        ...
    ValueError: \ud800 is half of a surrogate pair, which is no character
    """
    found = value_of(text.decode("utf-8-sig"), hook)
    check_halves(text)
    return found


def value_of(text: str, hook: Any = None) -> Any:
    """Return the value of a JSON text; else as :func:`parse`, but for surrogates."""
    try:
        return json.loads(text, object_pairs_hook=hook)
    except RecursionError:
        raise ValueError("too many objects or lists inside each other") from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise (_too_long(text) or error) from None


def check_halves(text: bytes) -> None:
    """Raise ValueError where an escape is half of a surrogate pair."""
    if b"\\u" in text and (half := next(filter(None, map(_half, _ESCAPE.finditer(text))), None)):
        what = f"\\{half.decode()} is half of a surrogate pair, which is no character"
        raise ValueError(what)


def _too_long(text: str) -> TooLong | None:
    """Return the error for the first integer with too many digits."""
    for token in _TOKEN.finditer(text.replace(r"\\", "..").replace(r"\"", "..")):
        if len(token[1] or "") > _MOST_DIGITS and token.end() == token.end(1):
            what = f"an integer of more than {_MOST_DIGITS:,} digits is not a finite number"
            return TooLong(what, text, token.start())
    return None


def _half(match: re.Match[bytes]) -> bytes | None:
    return match["half"]


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys are different; for ``hook``. ValueError where one is not."""
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = ""
        for twice, _ in pairs:
            if twice in seen:
                break
            seen.add(twice)
        raise ValueError(f"the key '{twice:.60}' stands twice")
    return made


def is_finite(value: Any) -> bool:
    """Return whether a number is finite as a float64; JSON's integers have no end.

    >>> is_finite(1), is_finite(10**400), is_finite(float("nan"))
    (True, False, False)
    """
    try:
        return float("-inf") < float(value) < float("inf")
    except OverflowError:
        return False
