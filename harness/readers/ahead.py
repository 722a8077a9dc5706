"""Work on the next item while the caller is busy with this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from ..files import threads_of
from .source import Source

T = TypeVar("T")
S = TypeVar("S")
_END: Any = object()


def of_blocks(parse: Callable[[bytes], T], source: Source, blocks: Iterable[bytes]) -> Iterator[T]:
    """Yield what `parse` makes of each of the blocks of a source, of several side by side."""
    if source.one_block:  # threads have nothing to do side by side
        return map(parse, blocks)
    return each(parse, ahead(blocks))


def ahead(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """Yield `items`, computing up to `depth` of them in advance in one other thread.

    Reading and parsing release the interpreter's lock, so two processors share the work; order
    and exceptions are those of a plain loop.

    >>> list(ahead(x * x for x in range(4)))
    [0, 1, 4, 9]
    """
    iterator = iter(items)
    with threads_of(1) as pool:
        waiting = deque(pool.submit(next, iterator, _END) for _ in range(depth))
        try:
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(pool.submit(next, iterator, _END))
                yield item
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def each(function: Callable[[S], T], items: Iterable[S], threads: int = 2) -> Iterator[T]:
    """Yield the function of each item, in order, computed by some threads ahead of the caller.

    >>> list(each(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    with threads_of(threads) as pool:
        waiting: deque[Future[T]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
