"""Work on the next item while the caller is busy with this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from threading import Event
from typing import Any, TypeVar

from ..system import threads_of
from .room import give_back
from .source import Source

T = TypeVar("T")
S = TypeVar("S")
_END: Any = object()
_LATER: Any = object()
"""In place of an item that is not computed yet."""
_LONG = 1 << 18
"""Bytes of a line from which on its block is the only one in memory."""

_OWN = 1 << 22
"""Bytes of such a block from which on the caller parses it."""


def of_blocks(parse: Callable[[bytes], T], source: Source, blocks: Iterable[bytes]) -> Iterator[T]:
    """Yield what `parse` makes of each of the blocks of a source, of several side by side.

    A block with a long line, as it is larger than others, is the only one in memory.
    """
    if source.one_block:  # threads have nothing to do side by side, and cost 1 ms
        return map(parse, blocks)
    most = source.block + _LONG

    def parsed(block: bytes) -> T:
        if _is_long(block, most):
            give_back()  # what the last one took
        return parse(block)

    return each(parsed, ahead(blocks, most=most), most=most)


def ahead(items: Iterable[T], depth: int = 2, most: int | None = None) -> Iterator[T]:
    """Yield `items`, computing up to `depth` of them in advance in one other thread.

    Reading and parsing release the interpreter's lock, so two processors share the work; order
    and exceptions are those of a plain loop. None is computed while the caller has one that is
    longer than `most`.

    >>> list(ahead(x * x for x in range(4)))
    [0, 1, 4, 9]
    """
    iterator, is_held = iter(items), Event()

    def following() -> Any:
        if is_held.is_set():  # to wait here could be for ever, and Python does not end meanwhile
            return _LATER
        item: Any = next(iterator, _END)
        if _is_long(item, most):
            is_held.set()
        return item

    with threads_of(1) as pool:
        waiting = deque(pool.submit(following) for _ in range(depth))
        try:
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(pool.submit(following))
                if item is _LATER:
                    continue
                is_long = _is_long(item, most)
                yield item
                del item  # before the next one is read
                if is_long:
                    is_held.clear()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def each(
    function: Callable[[S], T], items: Iterable[S], threads: int = 2, most: int | None = None
) -> Iterator[T]:
    """Yield the function of each item, in order, computed by some threads ahead of the caller.

    That of an item longer than `most` is computed while no other is, a very long one in the
    caller's thread: of what others took, the C library keeps a few such items.

    >>> list(each(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    with threads_of(threads) as pool:
        waiting: deque[Future[T]] = deque()
        for item in items:
            alone = _is_long(item, most)
            while alone and waiting:
                yield waiting.popleft().result()
            if _is_long(item, most and max(most, _OWN)):
                found = [function(item)]
                del item
                yield found.pop()
                continue
            waiting.append(pool.submit(function, item))
            del item
            while len(waiting) > (0 if alone else threads):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _is_long(item: Any, most: int | None) -> bool:
    return most is not None and item is not _END and len(item) > most
