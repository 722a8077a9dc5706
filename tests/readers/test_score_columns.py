"""Tables of scores alone, as pandas and polars write them."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
import yaml
from outcomes import warned
from refusals import refuses
from table_forms import FILES, OBJECTS, table_as

import harness
from harness import readers
from harness.core.qrels_and_runs import Qrels, Run
from harness.errors import InputError

SCORES = [3.5, 1.0, -2.25, 0.5, 1e-9]
QIDS = ["q1", "q1", "q1", "q2", "q2"]
SERIES = pd.Series(SCORES)

GRADES = [2, 0, 1, 0, 1]

TABLES = [  # columns and index, and the column of each role
    (SERIES.to_frame("0"), {"score": "0", "index": ""}),
    (SERIES.to_frame("pred"), {"score": "pred", "index": ""}),
    (pd.DataFrame({"s": SCORES}, [0, 1, 2, 0, 1]), {"score": "s", "index": ""}),
    *(
        ({name: SCORES}, {"score": name})
        for name in ("score", "my_model", "prediction", "y_pred", "yhat", "y_hat")
    ),
    ({"index": range(5), "lm": SCORES}, {"score": "lm", "index": "index"}),
    ({"qid": QIDS, "logits": SCORES}, {"score": "logits", "qid": "qid"}),
    *(
        ({label: GRADES, score: SCORES}, {"score": score, "grade": label})
        for label, score in (
            ("label", "yhat"), ("actual", "predicted"), ("true", "pred"), ("y_test", "prob"),
        )
    ),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
@pytest.mark.parametrize(("table", "columns"), TABLES)
def test_score_tables(tmp_path: Path, dataset: Qrels, table: Any, columns: Any) -> None:
    path, frame = tmp_path / "p.csv", pd.DataFrame(table)
    frame.to_csv(path, index="index" in columns and columns["index"] == "")
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


NAMED = pd.DataFrame({"qid": [2, 10, 10, 2, 1], "docno": ["b", "b", "a", "a", "a"]})
JUDGED = {"1": {"a": 1}, "2": {"a": 1, "b": 0}, "10": {"a": 0, "b": 1}}
FALLING = [0.75, 0.5, 2.25, 0.1, 0.125]  # of the rows above; the best are relevant if negated


def every_form(folder: Path, frame: pd.DataFrame) -> list[Any]:
    """Table as files of every format, and as objects in memory."""
    blanks = frame.rename(columns=lambda name: name.replace(" ", "_"))
    return [table_as(f, blanks if f == "txt" else frame, folder) for f in (*FILES, *OBJECTS)]


def mean_of(run: Any, **options: Any) -> float:
    return harness.evaluate(JUDGED, run, ["recip_rank"], **options).summary()["recip_rank"]


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
@pytest.mark.parametrize(
    ("column", "is_low"),
    [("price", False), ("gbm 7", False), ("0", False), ("_distance", True), ("val-loss", True),
     ("l2Distance", True), ("rank_error", True), ("nll", True), ("edit_dist_2", True)],
)  # fmt: skip
def test_scores_have_a_usual_name_or_are_named(tmp_path: Path, column: str, is_low: bool) -> None:
    frame = NAMED.assign(**{column: FALLING})
    best = frame.assign(**{column: -frame[column] if is_low else frame[column]})
    expected = mean_of(best.rename(columns={column: "score"}))
    assert expected == pytest.approx(1 if is_low else 2 / 3)
    for given in every_form(tmp_path, frame):
        place = Path(given).name if isinstance(given, str) else "data frame"
        with refuses(place, "columns") as error:
            mean_of(given)
        message = str(error.value)
        assert ("columns: {" in message) == isinstance(given, str)
        if isinstance(given, str):
            (fix,) = re.findall(r"\(in a config (columns: .*?)\)", message)
            options = yaml.safe_load(f"{{{fix}}}")
            assert mean_of(readers.read_run(given, **options)) == expected
        else:
            (fix,) = re.findall(r"or give (columns=.*)$", message, re.MULTILINE)
            options = eval(f"dict({fix})")
        assert ("order" in options) == is_low
        assert mean_of(given, **options) == expected


@pytest.mark.parametrize(
    ("kind", "names", "own"),
    [("run", ("pred", "prediction"), "score"), ("run", ("y_hat", "logit"), "score"),
     ("qrels", ("label", "relevance"), "grade"), ("qrels", ("Target", "y_true"), "grade")],
)  # fmt: skip
def test_two_usual_names_of_one_role(
    tmp_path: Path, kind: Any, names: tuple[str, str], own: str
) -> None:
    numbers = FALLING if kind == "run" else [0, 1, 0, 1, 1]
    frame = NAMED.assign(**{names[0]: numbers, names[1]: numbers[::-1]})
    of = Run if kind == "run" else Qrels
    read = readers.read_run if kind == "run" else readers.read_qrels
    expected = readers.from_frame(frame[["qid", "docno", names[1]]], of).to_dict()
    for given in every_form(tmp_path, frame):
        if not isinstance(given, str):
            with refuses("data frame", "columns") as error:
                readers.from_frame(given, of)
            assert "columns: {" not in str(error.value)
            continue
        with refuses(Path(given).name, "columns"):
            read(given)
        named, _ = warned(read, given, columns={own: names[1]})
        assert named.to_dict() == expected
    renamed = frame.rename(columns={names[1]: own})
    assert readers.from_frame(renamed, of).to_dict() == expected


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_a_frame_of_grades_and_scores_serves_as_both() -> None:
    frame = NAMED.assign(label=[0, 1, 0, 1, 1], relevance_score=FALLING, rank=[2, 1, 1, 2, 1])
    assert readers.from_frame(frame, Run).scores.tolist() == [0.75, 0.1, 0.5, 2.25, 0.125]
    assert readers.from_frame(frame, Qrels).grades.tolist() == [0, 1, 1, 0, 1]


@pytest.mark.parametrize("column", ["distance", "L2Dist", "val_loss", "mine"])
@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl", "pandas", "records"])
def test_distances_whose_highest_is_taken_as_best_are_warned_of(
    tmp_path: Path, column: str, form: str
) -> None:
    frame = pd.DataFrame({"qid": ["10", "10", "2"], "docno": ["a", "b", "a"], column: [0.5, 2, 1]})
    run = frame.to_dict("records") if form == "records" else table_as(form, frame, tmp_path)
    qrels, columns = {"10": {"a": 1}, "2": {"a": 1}}, {"score": column}
    _, said = warned(harness.evaluate, qrels, run, ["map"], columns=columns)
    assert ["distance-as-score" in text for text in map(str, said)] == [True] * (column != "mine")
    _, said = warned(harness.evaluate, qrels, run, ["map"], columns=columns, order="ascending")
    assert not said
