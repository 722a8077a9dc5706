"""Which lines of a large file are wrong: found fast, and counted up to a limit."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import readers
from harness.core.tables import Qrels
from harness.errors import HarnessWarning, InputError
from harness.readers.blocks import pieces
from harness.readers.build import MOST_WRONG_LINES as LIMIT
from harness.readers.build import doubtful_lines

Write = Callable[..., str]


def _error(name: str, format: str, dataset: Qrels | None = None) -> InputError:
    def read() -> None:
        if format in ("letor", "table"):
            readers.read_qrels(name, format=format)
        else:
            readers.read_run(name, format=format, dataset=dataset)

    with pytest.raises(InputError) as error:
        read()
    return error.value


@pytest.mark.parametrize(
    ("format", "head", "line"),
    [
        ("trec", "", "q Q0 d 1 x t\n"),
        ("letor", "", "x qid:1 1:2\n"),
        ("table", "qid,docno,grade\n", "q,d,x\n"),
        ("msmarco", "", "q d x\n"),
    ],
)
def test_reading_stops_after_a_thousand_wrong_lines(
    write: Write, format: str, head: str, line: str
) -> None:
    error = _error(write("a", head + line * 5000), format)
    assert (error.total, error.at_least, len(error.problems)) == (LIMIT, True, 10)
    assert str(error).endswith("\n... and at least 990 more; what follows was not looked at")
    error = _error(write("a", head + line * (LIMIT - 1)), format)
    assert (error.total, error.at_least) == (LIMIT - 1, False)
    assert str(error).endswith("\n... and 989 more")


def test_the_limit_is_of_wrong_lines_and_not_of_lines(write: Write) -> None:
    good = "".join(f"q Q0 d{i} 1 2 t\n" for i in range(300))
    text = (good + "q Q0 x 1 x t\n") * 20
    error = _error(write("a", text), "trec")
    assert (error.total, error.at_least) == (20, False)
    assert [int(p.where.partition(":")[2]) for p in error.problems] == [
        301 * n for n in range(1, 11)
    ]


def test_wrong_lines_at_the_end_of_a_large_file_are_found_as_fast_as_it_is_read(
    write: Write,
) -> None:
    """400,000 lines take over 2 s where each is looked at, and 0.3 s to read."""
    text = "".join(f"q{i // 8_000} Q0 d{i} 1 2 t\n" for i in range(400_000))
    sound, name = write("sound", text), write("a", text + "q Q0 d 1 x t\nq Q0 d 1 2")
    begun = time.process_time()
    with pytest.warns(HarnessWarning, match="all scores are equal"):
        readers.read_run(sound, format="trec")
    reading = time.process_time() - begun
    error = _error(name, "trec")
    taken = time.process_time() - begun - reading
    assert [p.where for p in error.problems] == ["a:400001", "a:400002"]
    assert error.problems[1].what.startswith("the file ends in the middle of a line")
    assert taken < 4 * reading


def test_a_blank_line_in_a_large_file_of_predictions(write: Write) -> None:
    """The lines after it are right, and read together."""
    rows = "0.5\n" * 50_000
    dataset = Qrels.from_dict({"q": {f"d{i}": 1 for i in range(100_000)}})
    error = _error(write("a", f"{rows}\n{rows}\n\n"), "scores", dataset)
    assert [p.where for p in error.problems] == ["a:50001"]
    error = _error(write("a", f"score\n{rows}{rows}"), "scores", dataset)
    assert error.problems[0].where == "a:1"
    assert "it looks like a header line" in error.problems[0].what
    assert error.problems[0].fix == "delete the header line"


@given(st.lists(st.sampled_from([b"", b"good", b"bad", b"g" * 9000]), min_size=1), st.booleans())
def test_doubtful_lines_are_all_that_cannot_be_read(lines: list[bytes], is_whole: bool) -> None:
    text = b"\n".join(lines) + b"\n" * is_whole

    class Text:
        def blocks(self) -> list[bytes]:
            return list(pieces(text, 20_000))

    found = dict(doubtful_lines(Text(), lambda piece: b"bad" not in piece))  # type: ignore[arg-type]
    there = dict(enumerate(text.removesuffix(b"\n").split(b"\n") if text else [], 1))
    assert found.items() <= there.items()
    assert {at for at, line in there.items() if line == b"bad"} <= found.keys()


@given(st.binary(), st.integers(1, 9))
def test_pieces_are_whole_lines_and_all_of_them(block: bytes, size: int) -> None:
    found = list(pieces(block, size))
    assert b"".join(found) == block
    assert all(piece.endswith(b"\n") and len(piece) >= size for piece in found[:-1])
    assert all(piece.find(b"\n", size - 1) in (-1, len(piece) - 1) for piece in found)
