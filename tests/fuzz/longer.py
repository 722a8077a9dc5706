"""Long inputs: what takes time with the square of a length shows in these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_PIECES = re.compile(rb"\w+|\W")


def longer(seeds: Iterable[bytes], words: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield each seed with one part of it repeated up to `size` bytes, and words put into it.

    The part is all of it, a line, or a piece of a line; a word stands after the seed's first piece
    and at its end.

    >>> list(longer([b"a,\\n"], [b"xy"], 9))
    [b'a,\\na,\\na,\\n', b'aaaaaaa,\\n', b'a,,,,,,,\\n', b'a,\\n\\n\\n\\n\\n\\n\\n', \
b'axyxyxy,\\n', b'a,\\nxyxyxy']
    """
    for seed in seeds:
        yield from dict.fromkeys(_of_one(seed, words, size))


def _of_one(seed: bytes, words: Iterable[bytes], size: int) -> Iterator[bytes]:
    pieces = [(one.start(), one[0]) for one in _PIECES.finditer(seed)]
    lines = [(one.start(), one[0]) for one in re.finditer(rb"[^\n]*\n", seed)]
    for at, part in [(0, seed), *lines, *pieces]:
        times = (size - len(seed)) // max(len(part), 1) + 1
        yield seed[:at] + part * times + seed[at + len(part) :]
    for word in words:
        repeated = word * ((size - len(seed)) // len(word))
        after = len(pieces[0][1]) if pieces else 0
        yield seed[:after] + repeated + seed[after:]
        yield seed + repeated
