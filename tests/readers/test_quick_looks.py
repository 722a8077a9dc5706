"""The quick looks at a block of bytes say what the plain ones say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.readers import columns as blanks
from harness.readers.columns import Refused, has_twice, is_simple, read_block
from harness.readers.trec import RUN


@given(st.text("a \t", max_size=9), st.sampled_from(" \t"))
def test_a_character_that_stands_twice_in_a_row(text: str, character: str) -> None:
    assert has_twice(text.encode(), character) == (character * 2 in text)


def test_a_character_that_stands_twice_where_two_pieces_meet() -> None:
    """Pieces hold 2^18 bytes: the last one of the first has number 2^18 - 1."""
    for at in (2**18 - 2, 2**18 - 1, 2**18):
        block = b"a" * at + b"  " + b"a" * 9
        assert has_twice(block, " ")
        assert not has_twice(block.replace(b"  ", b" a"), " ")


@given(st.text("a \t\r\n\v\f#", max_size=12) | st.text("ab \n", max_size=12), st.integers(1, 4))
def test_a_block_is_simple(text: str, piece: int) -> None:
    odd = re.search(r"[\v\f]|\r(?!\n)|  |\t\t", text) is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blanks, "_PIECE", piece)
        assert is_simple(text.encode()) == (not odd and not (" " in text and "\t" in text))


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80"])
@pytest.mark.parametrize(
    "line", [b"q%s Q0 d 1 0.5 t\n", b"q Q0 d%s 1 0.5 t\n", b"q Q0 d 1 0.5 t%s\n"]
)
def test_bytes_that_are_no_text_are_refused(line: bytes, bad: bytes) -> None:
    """Only blocks of ASCII alone are not looked at again by Arrow."""
    assert read_block(line % b"" + line % "ü".encode(), RUN).num_rows == 2
    with pytest.raises(Refused):
        read_block(line % b"" + line % bad, RUN)
