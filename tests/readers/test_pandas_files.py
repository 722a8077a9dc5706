"""Prediction tables as pandas writes them: float qids, semicolons, and the forms of JSON."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refuses

import harness
from harness.errors import AlignmentError, InputError

QIDS = ["1031", "10", "1", "2", "10000001"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Rows of queries; a missing value somewhere made qids floats."""
    random = np.random.default_rng(2)
    at = np.repeat(np.arange(len(QIDS)), [4, 2, 6, 3, 5])
    place = pd.Series(range(at.size)).groupby(at).cumcount()
    return pd.DataFrame(
        {
            "qid": np.array(QIDS, dtype=float)[at],
            "docno": [f"d{n}" for n in place],
            "label": random.integers(0, 3, at.size),
            "score": random.normal(size=at.size).round(3),
        }
    )


@pytest.fixture
def data(tmp_path: Path, frame: pd.DataFrame) -> Path:
    path = tmp_path / "test.txt"
    rows = zip(frame.label, frame.qid, strict=True)
    path.write_text("".join(f"{label} qid:{qid:.0f} 1:{label}\n" for label, qid in rows))
    return path


def values(data: Path, run: Any) -> dict[str, dict[str, float]]:
    return harness.evaluate(data, run, ["ndcg@10", "map"]).to_dict()


LINES: dict[str, Any] = {"orient": "records", "lines": True}


@pytest.mark.parametrize("columns", [["qid", "score"], ["qid", "docno", "score"]])
@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("a.csv", {"index": False}), ("a.csv", {"index": False, "sep": ";"}),
        ("a.tsv", {"index": False, "sep": "\t"}), ("a.parquet", {}), ("a.jsonl", LINES),
        ("a.json", LINES), ("a.json", {"orient": "records"}),
    ],
)  # fmt: skip
def test_what_is_read(
    data: Path, frame: pd.DataFrame, columns: list[str], name: str, how: dict[str, Any]
) -> None:
    expected, path = values(data, frame.score.to_numpy()), data.parent / name
    assert [*expected] == QIDS
    form = {"json": "json", "jsonl": "json", "parquet": "parquet"}.get(name[2:], "csv")
    getattr(frame[columns], f"to_{form}")(path, **how)
    assert values(data, path) == expected
    assert values(data, frame[columns]) == expected


def test_other_decimals_are_names(data: Path, frame: pd.DataFrame) -> None:
    path = data.parent / "a.csv"
    text = frame[["qid", "docno", "score"]].to_csv(index=False)
    path.write_text(text.replace("\n10.0,", "\n10.5,"))
    with refuses("", "no-common-query", AlignmentError):
        values(data, path)


@pytest.mark.parametrize("orient", ["columns", "index", "split", "table"])
@pytest.mark.parametrize("columns", [["qid", "score"], ["qid", "docno", "score"]])
def test_json_that_is_refused(
    data: Path, frame: pd.DataFrame, orient: Any, columns: list[str]
) -> None:
    path = data.parent / "a.json"
    frame[columns].to_json(path, orient=orient)
    with pytest.raises(InputError, match=r"a\.json(.*\n)+.*lines=True"):
        values(data, path)
    for other in (frame.score.to_json(), f'{{"scores": {frame.score.tolist()}}}'):
        path.write_text(other)
        with refuses("a.json:1", "columns"):
            values(data, path)


def test_decimal_commas(data: Path, frame: pd.DataFrame) -> None:
    path = data.parent / "a.csv"
    frame[["qid", "score"]].to_csv(path, index=False, sep=";", decimal=",")
    with refuses("a.csv:2"):
        values(data, path)
