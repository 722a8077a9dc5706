"""64-bit keys: equal strings, equal hashes, wherever they stand in a column."""

from __future__ import annotations

import string
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import hashing
from harness.core.hashing import hash_strings, pair_keys, string_views

words = st.text(max_size=40) | st.text("ab\0é", max_size=40)


@given(st.lists(words, max_size=12))
def test_equal_strings_have_equal_hashes(given_words: list[str]) -> None:
    hashes = hash_strings(pa.array(given_words, pa.string())).tolist()
    for one, hash_of_one in zip(given_words, hashes, strict=True):
        for other, hash_of_other in zip(given_words, hashes, strict=True):
            assert (one == other) == (hash_of_one == hash_of_other)


def test_long_strings_beside_short_ones() -> None:
    ends = ["", "a", "b", "ab"]
    texts = [f"{'x' * n}{end}" for n in (0, 7, 8, 4_094, 4_095, 4_096, 10_000) for end in ends]
    distinct = set(texts)
    hashes = hash_strings(pa.array(texts))
    assert len(set(hashes.tolist())) == len(distinct)
    alone = [hash_strings(pa.array([text]))[0] for text in texts]
    assert hashes.tolist() == alone


def test_a_column_of_many_longer_strings() -> None:
    texts = [f"{at:090}" for at in range(40_000)]  # 90 bytes: 16,384 rows have more than 1 MiB
    hashes = hash_strings(pa.array(texts))
    for at in (0, 11_649, 11_650, 16_383, 16_384, 28_034, 39_999):
        assert hashes[at] == hash_strings(pa.array(texts[at : at + 1]))[0]
    assert np.unique(hashes).size == 40_000


@given(st.lists(words, min_size=1, max_size=12), st.data())
def test_a_hash_does_not_hang_on_its_surroundings(given_words: list[str], data: st.DataObject):
    at = data.draw(st.integers(0, len(given_words) - 1))
    alone = hash_strings(pa.array([given_words[at]], pa.string()))[0]
    column = pa.array(given_words, pa.string())
    assert hash_strings(column)[at] == alone
    assert hash_strings(column.cast(pa.large_string()))[at] == alone
    assert hash_strings(column.slice(at))[0] == alone
    assert hash_strings(column.slice(at, 1))[0] == alone


@pytest.mark.parametrize("length", range(41))
def test_every_byte_counts_at_every_length(length: int) -> None:
    text = (string.ascii_letters * 2)[:length]
    changed = [text[:at] + "#" + text[at + 1 :] for at in range(length)]
    around = [text + "\0", "\0" + text, text + "a", "a" + text]
    column = pa.array([text, text, *changed, *around])
    hashes = hash_strings(column)
    assert hashes.dtype == np.uint64
    assert hashes[0] == hashes[1]
    assert np.unique(hashes).size == len(set(column.to_pylist()))


def test_empty_strings_and_no_strings() -> None:
    assert hash_strings(pa.array([], pa.string())).tolist() == []
    empty = hash_strings(pa.array(["", "", "\0"]))
    assert empty[0] == empty[1] != empty[2]
    assert hash_strings(pa.array(["", ""])).tolist() == empty[:2].tolist()


def test_many_similar_docnos_do_not_collide() -> None:
    docnos = pa.array(range(200_000)).cast(pa.string())  # several pieces
    assert np.unique(hash_strings(docnos)).size == 200_000


def test_pieces_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    column = pa.array([f"doc{i}" * (i % 4) for i in range(50)])
    whole = hash_strings(column)
    monkeypatch.setattr(hashing, "_PIECE", 7)
    assert hash_strings(column).tolist() == whole.tolist()


def test_pair_keys_tell_queries_apart() -> None:
    hashes = np.tile(hash_strings(pa.array(range(300)).cast(pa.string())), 300)
    query = np.repeat(np.arange(300), 300)
    assert np.unique(pair_keys(query, hashes)).size == 90_000
    # the callers' hashes stay as they are
    assert hashes[0] == hash_strings(pa.array(["0"]))[0]


def test_string_views_of_a_slice() -> None:
    offsets, data = string_views(pa.array(["ab", "c", "", "def"]).slice(1, 3))
    assert [bytes(data[a:b]) for a, b in pairwise(offsets)] == [b"c", b"", b"def"]
    assert string_views(pa.array([], pa.large_string()))[0].tolist() in ([0], [])


def test_string_views_of_offsets_with_more_behind_them() -> None:
    offsets = np.array([0, 2, 3], np.int32).tobytes() + b"odd"
    strings = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"abc")]
    )
    strings.validate(full=True)
    assert string_views(strings)[0].tolist() == [0, 2, 3]
