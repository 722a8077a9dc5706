"""Runs with words after the tag, or with a blank in a docno: read as trec_eval does, and said."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from harness import readers
from harness.errors import HarnessWarning


def said(path: Path) -> HarnessWarning:
    with pytest.warns(HarnessWarning) as caught:
        readers.read_run(path)
    found = [one.message for one in caught if isinstance(one.message, HarnessWarning)]
    (one,) = [one for one in found if one.rule == "extra-fields"]
    return one


def test_a_docno_that_holds_a_blank(tmp_path: Path) -> None:
    # the docno is cut at its blank, and the rank after it, 2, is the score
    path = tmp_path / "a.run"
    path.write_text("# c\nq1 Q0 d1 1 9.5 t\nq1 Q0 my doc 2 9.25 t\nq1 Q0 d3 3 9 t\n")
    warning = said(path)
    assert str(warning) == (
        f"{path}: 1 line has more than 6 fields, first line 3; the first 6 are read, as in "
        "trec_eval, so that a docno with a blank has its rank for a score"
    )
    assert (warning.count, warning.line) == (1, 3)
    assert warning.examples == ("q1 Q0 my doc 2 9.25 t",)


@pytest.mark.parametrize("packed", [False, True])
def test_lines_are_counted_over_blocks(tmp_path: Path, packed: bool) -> None:
    # 200,000 lines of about 35 bytes are two blocks; every line number is drawn from all of them
    drawn = random.Random(1)
    lines = [f"q{at // 100} Q0 doc{at:012d} {at % 100 + 1} {100 - at % 100} tag\n" for at in range(200_000)]  # fmt: skip # noqa: E501
    long = sorted(drawn.sample(range(200_000), 9))
    for at in long:
        lines[at] = lines[at].replace("\n", " more\n")
    text = "".join(lines).encode()
    path = tmp_path / "a.run"
    path.write_bytes(gzip.compress(text, 1) if packed else text)
    with pytest.warns(HarnessWarning) as caught:
        rows = sum(part.n_rows for part in readers.stream_run(path))
    assert rows == 200_000
    (warning,) = [one.message for one in caught if "fields" in str(one.message)]
    assert isinstance(warning, HarnessWarning)
    assert (warning.count, warning.line) == (9, long[0] + 1)
    assert warning.examples == (lines[long[0]].strip(),)


def test_blanks_around_six_fields_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("#a b c d e f g\n  q1\tQ0  d1 1 1.5 t  \nq1 Q0 d2 2 0.5 t \r\n")
    assert readers.read_run(path).n_rows == 2
