"""xz files as ``xz`` reads them: several streams, and padding of zero bytes behind each."""

from __future__ import annotations

import io
import lzma
from typing import IO, Any

_PIECE = 1 << 16
_PADDING = 4
"""Bytes that padding is a multiple of."""


def opened(path: str) -> IO[bytes]:
    """Return the unpacked bytes of a file; ``lzma.open`` takes padding for a stream cut short.

    Raises
    ------
    EOFError
        While it is read, where it is cut short.
    lzma.LZMAError
        Where it is damaged, or holds something else behind a stream.
    """
    return io.BufferedReader(_Streams(path), _PIECE)


class _Streams(io.RawIOBase):
    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - closed with the stream
        self._rest = b""
        self._stream: lzma.LZMADecompressor | None = lzma.LZMADecompressor(lzma.FORMAT_XZ)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Put the next bytes into a buffer; return how many, 0 at the end."""
        view = memoryview(buffer).cast("B")
        while (stream := self._stream or self._next()) is not None:
            packed = b""
            if stream.needs_input:
                packed, self._rest = self._rest or self._file.read(_PIECE), b""
                if not packed:
                    raise EOFError("the file ends within a stream")
            piece = stream.decompress(packed, len(view))
            if stream.eof:
                self._rest, self._stream = stream.unused_data, None
            if piece:
                view[: len(piece)] = piece
                return len(piece)
        return 0

    def _next(self) -> lzma.LZMADecompressor | None:
        """Return what unpacks the next stream, past padding; None where there is none."""
        n_padding = 0
        while self._rest or (more := self._file.read(_PIECE)):
            packed = self._rest or more
            self._rest = packed.lstrip(b"\0")
            n_padding += len(packed) - len(self._rest)
            if self._rest:
                break
        if n_padding % _PADDING:
            raise lzma.LZMAError(f"{n_padding} zero bytes behind a stream, no multiple of 4")
        if self._rest:
            self._stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        return self._stream

    def close(self) -> None:
        self._file.close()
        super().close()
