"""Tables of scores alone, as pandas and polars write them."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from outcomes import warned

import harness
from harness import readers
from harness.core.qrels_and_runs import Qrels, Run
from harness.errors import InputError

SCORES = [3.5, 1.0, -2.25, 0.5, 1e-9]
QIDS = ["q1", "q1", "q1", "q2", "q2"]
SERIES = pd.Series(SCORES)

TABLES = [
    (SERIES.to_frame("score"), {"index": False}, {"score": "score"}),
    (SERIES.to_frame("my_model"), {"index": False}, {"score": "my_model"}),
    (SERIES.to_frame("0"), {}, {"score": "0", "index": ""}),
    (SERIES.to_frame("pred"), {}, {"score": "pred", "index": ""}),
    (SERIES.to_frame("lm").reset_index(), {"index": False}, {"score": "lm", "index": "index"}),
    *(
        (SERIES.to_frame(name), {"index": False}, {"score": name})
        for name in ("prediction", "y_pred", "yhat", "y_hat")
    ),
    (
        pd.DataFrame({"label": [2, 0, 1, 0, 1], "yhat": SCORES}),
        {"index": False},
        {"score": "yhat", "grade": "label"},
    ),
    *(
        (
            pd.DataFrame({label: [2, 0, 1, 0, 1], score: SCORES}),
            {"index": False},
            {"score": score, "grade": label},
        )
        for label, score in (("actual", "predicted"), ("true", "pred"), ("y_test", "gbm"))
    ),
    (
        pd.DataFrame({"qid": QIDS, "gbm": SCORES}),
        {"index": False},
        {"score": "gbm", "qid": "qid"},
    ),
    (
        pd.concat([SERIES[:3], SERIES[:2]]).to_frame("s").assign(s=SCORES),
        {},
        {"score": "s", "index": ""},
    ),
]


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
@pytest.mark.parametrize(("frame", "how", "columns"), TABLES)
def test_score_tables(
    tmp_path: Path, dataset: Qrels, frame: pd.DataFrame, how: dict[str, Any], columns: Any
) -> None:
    path = tmp_path / "p.csv"
    frame.to_csv(path, **how)
    source = readers.Source(path)
    assert readers.guess_format(source, "run") == "table"
    run = readers.read_run(source, dataset=dataset)
    assert (run.scores.tolist(), source.columns) == (SCORES, columns)
    for given in (frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy().collect()):
        assert readers.from_frame(given, Run, dataset=dataset).scores.tolist() == SCORES
    frame.to_parquet(tmp_path / "p.parquet")
    read = readers.read_run(tmp_path / "p.parquet", dataset=dataset)
    assert read.scores.tolist() == SCORES


WRONG = [  # frame, rule
    (pd.DataFrame({"gbm": SCORES, "net": SCORES}), "columns"),
    (pd.DataFrame({"pred": SCORES, "y_pred": SCORES}), "columns"),
    (pd.DataFrame({"qid": QIDS, "gbm": SCORES, "net": SCORES}), "columns"),
    (pd.DataFrame({"topicX": [1, 1, 1, 2, 2], "pred": SCORES}), ""),
    (pd.DataFrame({"mine": [2, 0, 1, 0, 1], "pred": SCORES}, [1, 2, 4, 7, 8]), ""),
    (pd.DataFrame({"key": QIDS, "pred": SCORES}), ""),
    (SERIES.to_frame("pred").sort_values("pred").reset_index(), "columns"),
    (SERIES[:4].to_frame("pred"), "row-count"),
    (SERIES.to_frame("pred").assign(index=list("edcba")), ""),
]


@pytest.mark.parametrize(("frame", "rule"), WRONG)
def test_wrong_score_tables(tmp_path: Path, dataset: Qrels, frame: pd.DataFrame, rule: str) -> None:
    path = tmp_path / "p.csv"
    frame.to_csv(path, index=False)
    for given in (str(path), frame, pl.from_pandas(frame)):
        with pytest.raises(InputError) as error:
            harness.evaluate(dataset, given, ["map"])
        assert error.value.problems[0].rule == rule
        is_path = isinstance(given, str)
        assert is_path or "config" not in str(error.value)
        assert "__index_level_0__" not in str(error.value)
    if {"topicX", "mine"} & {*frame.columns}:
        run = readers.read_run(path, dataset=dataset, columns={"docno": "none"})
        assert run.scores.tolist() == SCORES
    if len({"gbm", "net", "y_pred"} & {*frame.columns}) == 2:
        named, _ = warned(
            readers.read_run, path, dataset=dataset, columns={"score": frame.columns[-1]}
        )
        assert named.scores.tolist() == SCORES
