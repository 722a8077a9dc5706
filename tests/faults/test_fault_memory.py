"""What looks like a shortage of memory, and is damage."""

from __future__ import annotations

import pytest

from harness.readers.npy import NoArrayError, array_of


def test_nested_signs_in_a_header_are_no_shortage() -> None:
    """Python's parser has a stack of its own, whose end is a MemoryError too."""
    header = b"-" * 9000 + b"1\n"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with pytest.raises(MemoryError):
        compile(header, "", "eval")
    with pytest.raises(NoArrayError):
        array_of(data)
