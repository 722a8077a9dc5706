"""Names and lists without an end in messages: what is wrong stays readable."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness.config.load import load
from harness.core.tables import Qrels
from harness.errors import (
    LONGEST_WORD,
    SHOWN_OF_CONFIG,
    ConfigError,
    HarnessWarning,
    InputError,
    Problem,
)
from harness.readers import read_run


def test_a_long_word_keeps_its_beginning_and_its_end() -> None:
    longest = "a" * LONGEST_WORD
    assert str(Problem("a.run", longest)) == f"a.run: {longest}"
    shown = f"{'a' * 150}…{'b' * 150}"
    assert str(Problem("", longest + "b" * 150, fix=f"as {longest}{'b' * 150}")) == (
        f"{shown}\n  fix:   as {shown}"
    )
    assert str(HarnessWarning(longest + "b" * 10_000_000)) == shown


def test_a_config_of_more_than_a_hundred_problems() -> None:
    for n in (SHOWN_OF_CONFIG, SHOWN_OF_CONFIG + 9):
        text = str(ConfigError([Problem(f"$.a (line {i})", "no") for i in range(n)]))
        first, *lines = text.splitlines()
        assert first == f"config: {n} problems"
        assert lines[99] == "  $.a (line 99)  no"
        assert lines[100:] == (["  ... and 9 more"] if n > SHOWN_OF_CONFIG else [])


@pytest.mark.parametrize(
    ("format", "text", "begins"),
    [
        (
            "ranklib",
            "9" * 70_000 + "\t0\t0.5\n1\t1\t2\n",
            "expected 3 predictions, got 2; query '999",
        ),
        ("table", "qid," + "," * 70_000 + "\n1,A\n", ""),
    ],
)
def test_readers(format: str, text: str, begins: str, tmp_path: Path) -> None:
    """A long qid; 70,000 columns without a name."""
    path = tmp_path / "a.csv"
    path.write_text(text)
    dataset = Qrels.from_dict({"1": {"A": 2, "B": 0}, "2": {"C": 1}})
    with pytest.raises(InputError) as caught:
        read_run(path, format=format, dataset=dataset)
    said = str(caught.value)
    assert begins in said
    assert len(said) < 10_000


def test_columns_of_which_there_are_thousands_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    more = ",".join(f"column{i}" for i in range(9000))
    path.write_text(f"qid,docno,score,{more}\n" + "1,2,3\n" * 50)
    with pytest.raises(InputError) as caught:
        read_run(path, format="table")
    said = str(caught.value).splitlines()
    assert said[0] == (
        f"{path}:2: expected 9003 fields (qid, docno, score, column0, column1, column2, "
        "column3, column4 (+8,995 more)), got 3"
    )
    assert len(str(caught.value)) < 4000
    with pytest.raises(InputError) as caught:
        read_run(path, format="table", columns={"qid": "topic"})
    assert caught.value.problems[0].found == (
        "columns: qid, docno, score, column0, column1, column2, column3, column4 (+8,995 more)"
    )


def test_a_config_of_ten_thousand_wrong_parts_is_refused_in_time(tmp_path: Path) -> None:
    """Each was compared with all others; 90,000 took over six minutes."""
    path, n = tmp_path / "a.yaml", 10_000
    for line in ("k{0}: !t{0} a\n", "k{0}: a\n"):
        path.write_text("".join(map(line.format, range(n))))
        start = time.process_time()
        with pytest.raises(ConfigError) as caught:
            load(path)
        assert time.process_time() - start < 30
        assert len(str(caught.value)) < 50_000
