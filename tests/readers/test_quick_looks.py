"""The quick looks at a block of bytes say what the plain ones say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.readers import blanks
from harness.readers.blanks import has_twice, is_simple
from harness.readers.columns import Refused, _without_gaps, read_block
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
    odd = re.search(r"\A#|\n#|[\v\f]|\r(?!\n)|  |\t\t", text) is not None
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


@given(st.lists(st.text("1\n\n \t\r\v\f", max_size=6), max_size=3))
def test_a_blank_line_is_refused_where_a_row_follows(texts: list[str]) -> None:
    """Blocks end where a line ends; a lone carriage return ends none."""
    blocks = [text.encode() + b"\n" for text in texts]
    lines = b"".join(blocks).rstrip().split(b"\n")  # what is behind the last row is none
    assert refused(blocks) == (len(lines) > 1 and not all(line.strip() for line in lines))


def refused(blocks: list[bytes]) -> bool:
    try:
        return list(_without_gaps(blocks)) != blocks
    except Refused:
        return True
