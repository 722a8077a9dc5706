"""The quick looks at a block of bytes say what the plain ones say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.readers.blanks import has_twice
from harness.readers.columns import Refused, _without_gaps


@given(st.text("a \t", max_size=9), st.sampled_from(" \t"))
def test_a_character_that_stands_twice_in_a_row(text: str, character: str) -> None:
    assert has_twice(text.encode(), character) == (character * 2 in text)


def test_a_character_that_stands_twice_where_two_pieces_meet() -> None:
    """Pieces hold 2^18 pairs of bytes: the last byte of the first one has number 2^19 - 1."""
    for at in (2**19 - 2, 2**19 - 1, 2**19):
        block = b"a" * at + b"  " + b"a" * 9
        assert has_twice(block, " ")
        assert not has_twice(block.replace(b"  ", b" a"), " ")


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
