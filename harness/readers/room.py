"""The memory that blocks are parsed in, and how it is given back when they have been read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pyarrow as pa

from .source import BLOCK

POOL = pa.system_memory_pool()
"""The C library's, which gives back what threads took that have ended. Arrow's own pool keeps that:
20 to 40 MB, more than a file of 20 MB is in memory."""
_MORE = 1 << 16
"""Bytes by which a block is larger than others, at most, where its lines are of usual length."""


def pool_for(size: int) -> pa.MemoryPool:
    """Return where a block of so many bytes is parsed.

    Those of files beyond 96 MB, :data:`~.source.BLOCK` or more, are parsed in Arrow's own pool:
    it saves 2 % of the time, and what it keeps is little beside such a file; unless a long line
    makes one much larger.
    """
    return pa.default_memory_pool() if BLOCK <= size <= BLOCK + _MORE else POOL


def has_long_line(block: bytes) -> bool:
    """Whether a block is larger than any whose lines are of usual length."""
    return len(block) > BLOCK + _MORE


@contextlib.contextmanager
def used() -> Iterator[None]:
    """Have Arrow take memory of :data:`POOL` for what is opened meanwhile."""
    default = pa.default_memory_pool()
    pa.set_memory_pool(POOL)
    try:
        yield
    finally:
        pa.set_memory_pool(default)


def give_back() -> None:
    """Give what is free in Arrow's own pool and in :data:`POOL` back to the system.

    Values and the pools themselves stay as they are; it takes a millisecond.
    """
    pa.default_memory_pool().release_unused()
    with used():  # pyarrow (26) releases of the pool that is set, whichever is asked
        POOL.release_unused()
