"""Names and lists without an end in messages: what is wrong stays readable."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness.check import check_config
from harness.config import load
from harness.core.tables import Qrels
from harness.errors import (
    LONGEST,
    SHOWN_OF_CONFIG,
    ConfigError,
    HarnessWarning,
    InputError,
    Problem,
)
from harness.readers import read_run


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    as_it_stands = "a" * (LONGEST - len("a.run: "))
    assert str(Problem("a.run", as_it_stands)) == f"a.run: {as_it_stands}"
    said = str(Problem("a.run", as_it_stands + "bc", fix="x" * 5001 + "y" * 1000))
    assert said == (
        f"a.run: {'a' * 2993} [... 2 characters ...] {'a' * 998}bc\n"
        f"  fix:   {'x' * 3000} [... 2,001 characters ...] {'y' * 1000}"
    )


def test_warnings_too() -> None:
    assert len(str(HarnessWarning("a" * 10_000_000))) < LONGEST + 50


def test_a_config_of_a_hundred_problems() -> None:
    said = str(ConfigError([Problem(f"$.a (line {i})", "no") for i in range(SHOWN_OF_CONFIG)]))
    first, *lines = said.splitlines()
    assert first == "config: 100 problems"
    assert lines[-1] == "  $.a (line 99)  no"
    assert len(lines) == SHOWN_OF_CONFIG


def test_of_more_few_that_say_the_same() -> None:
    """Ten of each kind; a hundred of many kinds."""
    alike = [Problem(f"$.a (line {i})", f"no metric 'x{i}'") for i in range(SHOWN_OF_CONFIG)]
    others = [Problem("$.b (line 7)", "is empty"), Problem("", "9 more were not looked at")]
    first, *lines = str(ConfigError(alike + others)).splitlines()
    assert first == "config: more than 101 problems"
    assert lines[:2] == [f"  $.a (line {i})  no metric 'x{i}'" for i in (0, 1)]
    assert lines[9:] == [
        "  $.a (line 9)  no metric 'x9'",
        "  $.b (line 7)  is empty",
        "  ... and 90 more",
        "  9 more were not looked at",
    ]
    kinds = [Problem("$", f"{'x' * i}") for i in range(1, 204)]
    first, *lines, last = str(ConfigError(kinds)).splitlines()
    assert (first, len(lines), last) == ("config: 203 problems", 100, "  ... and 103 more")


@pytest.mark.parametrize(
    ("format", "text", "begins"),
    [
        ("ranklib", "9" * 70_000 + "\t0\t0.5\n1\t1\t2\n", "2 predictions for 3 rows; query '999"),
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
        f"{path}:2: 3 fields where 9003 belong (qid, docno, score, column0, column1, column2, "
        "column3, column4 (+8,995 more))"
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
        assert len(str(caught.value)) < 5_000


@pytest.mark.parametrize(
    ("key", "more"),
    [("metrics", "2 more metrics"), ("metrics: [map]\nmetric_sets:\n  m", "2 more metrics of 'm'")],
)
def test_a_thousand_unknown_metrics_are_told_like_names(
    key: str, more: str, tmp_path: Path
) -> None:
    """90,000 took 34 s, and as long again in ``harness check``."""
    path = tmp_path / "a.yaml"
    path.write_text(f"{key}: [{', '.join(f'ndgc@{n}' for n in range(1, 1003))}]\n")
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(caught.value).endswith(f"\n  {more} were not looked at")
    assert "unknown metric 'ndgc@9'; did you mean 'ndcg@9'?" in str(caught.value)
    checked = check_config(path)
    assert checked.findings[-1].what == f"{more} were not looked at"
    assert sum("ndgc" in one.what for one in checked.findings) == 1000
