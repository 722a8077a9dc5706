"""Learning-to-rank files of the example data, broken in the ways that happen."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from harness.guard.check import Checked, check_config

Found = tuple[str, str, int, str]
GBRT = "gbrt/fold1.txt"
N = 1208  # rows of fold 1; fold 2 has 1151
MOST = 1000  # wrong lines that a reader looks for
SHARED = 60  # every 20th row of fold 2, two of which stand there twice


def check(files: Any) -> Checked:
    return check_config(files.folder / "c.yaml")


def found(files: Any) -> dict[Found, str]:
    """What is warned of, and in which words; paths from the folder."""
    names = {}
    for one in check(files).findings:
        if one.severity != "note":
            place = one.place.removeprefix(f"{files.folder}/")
            names[one.rule, one.severity, one.count, place] = str(one)
    return names


def header(files: Any) -> None:
    files.put(GBRT, ["score\n", *files.lines(GBRT)])


def header_of_pandas(files: Any) -> None:  # the column's name, which is a number: 0
    files.put(GBRT, ["0\n", *files.lines(GBRT)])


def last_gone(files: Any) -> None:
    files.put(GBRT, files.lines(GBRT)[:-1])


def first_gone(files: Any) -> None:
    files.put(GBRT, files.lines(GBRT)[1:])


def half(files: Any) -> None:
    files.put(GBRT, files.lines(GBRT)[:600])


def other_fold(files: Any) -> None:
    files.put(GBRT, files.lines("gbrt/fold2.txt"))


def slipped_down(files: Any) -> None:
    files.put(GBRT, ["0.5\n", *files.lines(GBRT)[:-1]])


def slipped_up(files: Any) -> None:
    files.put(GBRT, [*files.lines(GBRT)[1:], "0.5\n"])


def labels(files: Any) -> None:
    files.put(GBRT, [f"{line.split()[0]}\n" for line in files.lines("fold1.txt")])


def columns(files: Any) -> None:
    scores, rows = files.lines(GBRT), files.lines("fold1.txt")
    files.put(GBRT, [f"{row.split()[0]}\n" for row in rows])
    pairs = zip(scores, rows, strict=True)
    files.put("fold1.txt", [f"{score.strip()} {row.partition(' ')[2]}" for score, row in pairs])


def not_a_number(files: Any) -> None:
    lines = files.lines(GBRT)
    lines[9] = lines[11] = "nan\n"
    files.put(GBRT, lines)


def index(files: Any) -> None:
    files.put(GBRT, [f"{at},{line}" for at, line in enumerate(files.lines(GBRT))])


def scattered(files: Any) -> None:
    pairs = list(zip(*(files.lines(name) for name in ("fold1.txt", GBRT)), strict=True))
    random.Random(1).shuffle(pairs)
    files.put("fold1.txt", [row for row, _ in pairs])
    files.put(GBRT, [score for _, score in pairs])


def query_of_two_folds(files: Any) -> None:
    rows = files.lines("fold2.txt")
    qid = rows[0].split()[1]
    n = sum(row.split()[1] == qid for row in rows)
    renamed = [row.replace(f"{qid} ", "qid:new ") for row in rows[:n]]
    files.put("fold1.txt", files.lines("fold1.txt") + renamed)
    for model in ("gbrt", "neural"):
        scores = files.lines(f"{model}/fold2.txt")[:n]
        files.put(f"{model}/fold1.txt", files.lines(f"{model}/fold1.txt") + scores)


def rows_of_two_folds(files: Any) -> None:  # 60 of its 1151 rows, a few of each query
    rows = files.lines("fold2.txt")[::20]
    files.put("fold1.txt", files.lines("fold1.txt") + [f"0 qid:new {_rest(row)}" for row in rows])
    for model in ("gbrt", "neural"):
        scores = files.lines(f"{model}/fold2.txt")[::20]
        files.put(f"{model}/fold1.txt", files.lines(f"{model}/fold1.txt") + scores)


def _rest(row: str) -> str:
    return row.split(" ", 2)[2]


def negated(files: Any) -> None:
    files.put(GBRT, [f"{-float(line)}\n" for line in files.lines(GBRT)])


def constant(files: Any) -> None:
    files.put(GBRT, ["1\n"] * N)


def empty(files: Any) -> None:
    files.put(GBRT, [])


def gone(files: Any) -> None:
    (files.folder / GBRT).unlink()


def no_metric(files: Any) -> None:
    files.put("c.yaml", [line.replace("map", "mapp") for line in files.lines("c.yaml")])


def wrong_grade(files: Any) -> None:
    rows = files.lines("fold1.txt")
    files.put("fold1.txt", [*rows[:3], f"x{rows[3]}", *rows[4:]])


CASES: list[tuple[Callable[[Any], None], set[Found], str]] = [
    (
        header,
        {("header-line", "error", 1, f"{GBRT}:1")},
        "score 'score' is not a number; it looks like a header line",
    ),
    (
        header_of_pandas,
        {("row-count", "error", 1, f"{GBRT}:1")},
        "1,209 predictions for 1,208 rows of letor-fold1; they fit without one of predictions 1 "
        "to 31, likeliest 1 (correlation with the grades 0.61, against 0.02 as they stand): "
        "prediction 1: 0 [row-count]",
    ),
    (
        last_gone,
        {("row-count", "error", 1, GBRT)},
        "1,207 predictions for 1,208 rows of letor-fold1; they fit if one of rows 1,174 to "
        "1,208, likeliest 1,208, had none (correlation with the grades 0.61): row 1,208, query 34 "
        "(fold1.txt:1208) [row-count]",
    ),
    (
        first_gone,
        {("row-count", "error", 1, GBRT)},
        "they fit if one of rows 1 to 30, likeliest 1, had none (correlation with the grades 0.61, "
        "against 0.05 as they stand): row 1, query 46 (fold1.txt:1) [row-count]",
    ),
    (
        half,
        {("row-count", "error", 608, GBRT)},
        "they fit if 608 rows that follow each other from one of rows 566 to 601 on, likeliest "
        "601, had none (correlation with the grades 0.64): row 601, query 64 (fold1.txt:601); "
        "row 602, query 4 (fold1.txt:602); row 603, query 4 (fold1.txt:603) (+605 more)",
    ),
    (
        other_fold,
        {
            ("row-count", "error", 57, GBRT),
        },
        "1,151 predictions for 1,208 rows of letor-fold1; they are as many as the rows of "
        "letor-fold2 (fold2.txt), whose grades they correlate with (0.64)",
    ),
    (
        slipped_down,
        {("shifted", "warning", 1142, f"{GBRT}:32")},  # all for certain but 30 and 36 at the ends
        "the predictions fit the rows of letor-fold1 better if prediction 32 belongs to row 31 and "
        "so on, rows 31 to 1,172 at least: correlation with the grades within queries 0.61, "
        "against 0.02 as they stand: prediction 32 -> row 31 (query 46, grade 1); prediction 33 -> "
        "row 32 (query 46, grade 0); prediction 34 -> row 33 (query 46, grade 0) (+at least 1,139 "
        "more) [shifted]",
    ),
    (
        slipped_up,
        {("shifted", "warning", 1121, f"{GBRT}:38")},
        "better if prediction 38 belongs to row 39 and so on, rows 39 to 1,159 at least: ",
    ),
    (
        not_a_number,
        {("not-finite", "error", 2, f"{GBRT}:10")},
        "score 'nan' is not a finite number: line 10 'nan', line 12 'nan' [not-finite]",
    ),
    (index, {("columns", "error", MOST, f"{GBRT}:1")}, "without the index"),
    (
        scattered,
        {
            ("scattered-queries", "warning", 49, "fold1.txt:7"),
            ("unrelated", "warning", 42, "neural/fold1.txt:1"),  # whose lines stayed
        },
        "49 queries come back after another began",
    ),
    (
        query_of_two_folds,
        {("same-queries", "warning", 1, "fold2.txt:1")},
        "1 of 50 queries of letor-fold2 hold the same rows as queries of letor-fold1, 1 of them "
        "under another qid: query 98: fold1.txt:1209, query new",
    ),
    (
        rows_of_two_folds,
        {("same-rows", "warning", SHARED, "fold2.txt:1")},
        "rows of letor-fold2 stand in letor-fold1 too",
    ),
    (
        negated,
        {("upside-down", "warning", 42, f"{GBRT}:1")},
        "predictions and grades of letor-fold1 have a correlation of -0.61 within queries, below 0 "
        "in 42 of them",
    ),
    (empty, {("empty-file", "error", 1, GBRT)}, "the file is empty"),
    (
        gone,
        {("gaps", "warning", 1, "c.yaml")},
        "1 of 4 cells of the grids are missing: gbrt on letor-fold1 fold=1",
    ),
    (
        no_metric,
        {("config", "error", 1, "c.yaml: $.metrics[0] (line 5)")},
        "unknown metric 'mapp'; did you mean 'map'?",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_a_break_is_found_and_nothing_else(
    letor: Any, case: tuple[Callable[[Any], None], set[Found], str]
) -> None:
    breaks, expected, said = case
    before = {one for one in found(letor) if one[0] != "empty-queries"}
    assert not before
    breaks(letor)
    after = {one: text for one, text in found(letor).items() if one[0] != "empty-queries"}
    assert {*after} == expected
    assert said in "\n".join(after.values()).replace(f"{letor.folder}/", "")


def test_labels_as_predictions(letor: Any) -> None:
    labels(letor)
    after = {one[0]: one for one in found(letor)}
    assert after["labels-as-scores"][1:] == ("error", N, f"{GBRT}:9")


def test_columns_that_changed_places(letor: Any) -> None:
    columns(letor)
    after = found(letor)
    assert ("grade-values", "error", MOST, "fold1.txt:1") in after
    said = after["swapped-columns", "error", N, GBRT]
    assert (
        "the predictions are whole numbers (0, 1, 2, 3, 4), and the grades of letor-fold1 are "
        "1,174 different fractions: the columns have changed places"
    ) in said


def test_a_constant_score_is_said_once(letor: Any) -> None:
    constant(letor)
    places = [one for one in found(letor) if one[0] == "constant-scores"]
    assert [one[3] for one in places] == [f"{GBRT}:1"]


def test_folds_of_one_size_that_changed_places(letor: Any) -> None:
    for fold in ("1", "2"):
        for name in (f"fold{fold}.txt", f"gbrt/fold{fold}.txt", f"neural/fold{fold}.txt"):
            letor.put(name, letor.lines(name)[:1000])
    first, second = letor.lines(GBRT), letor.lines("gbrt/fold2.txt")
    assert not {one for one in found(letor) if one[0] == "swapped-fold"}
    letor.put(GBRT, second)
    letor.put("gbrt/fold2.txt", first)
    after = found(letor)
    swapped = {one for one in after if one[0] == "swapped-fold"}
    assert swapped == {
        ("swapped-fold", "warning", 34, f"{GBRT}:1"),
        ("swapped-fold", "warning", 28, "gbrt/fold2.txt:1"),
    }
    assert (
        f"the predictions fit the rows of letor-fold2 ({letor.folder}/fold2.txt) (correlation with "
        "the grades within queries 0.64) and not those of letor-fold1 (0.03), as many; so in 34 of "
        "36 queries of the other: query 98 (0.61, and 0.00); query 57 (0.96, and 0.37); query "
        "50 (0.42, and 0.20) (+31 more) [swapped-fold]"
    ) in after["swapped-fold", "warning", 34, f"{GBRT}:1"]


def test_shuffled_predictions_are_warned_of(letor: Any) -> None:
    lines = letor.lines(GBRT)
    random.Random(1).shuffle(lines)
    letor.put(GBRT, lines)
    (one,) = [one for one in check(letor).findings if one.rule == "unrelated"]
    assert (one.severity, one.place) == ("warning", f"{letor.folder / GBRT}:1")
    assert one.what == (
        "predictions and grades of letor-fold1 have a correlation of -0.02 within queries, below "
        "0 in 23 of 42; those of the same model 0.64 on letor-fold2"
    )


def test_a_random_baseline_is_noted_and_no_more(letor: Any, root: Any) -> None:
    for fold in ("1", "2"):
        text = (root / f"runs/letor/random/fold{fold}-seed1.txt").read_text()
        letor.put(f"gbrt/fold{fold}.txt", text.splitlines(True))
    assert {one[0] for one in found(letor)} <= {"empty-queries"}
    notes = {one.severity for one in check(letor).findings if one.rule == "unrelated"}
    assert notes == {"note"}


def test_a_dataset_that_cannot_be_read_stops_nothing(letor: Any) -> None:
    wrong_grade(letor)
    letor.put("gbrt/fold2.txt", letor.lines("gbrt/fold2.txt")[1:])
    checked = check(letor)
    assert {(one.rule, one.count) for one in checked.findings if one.severity == "error"} == {
        ("unreadable", 1),
        ("row-count", 1),
    }
    assert checked.alone == 2


def test_a_last_line_without_an_end_is_noted(letor: Any) -> None:
    letor.put(GBRT, ["".join(letor.lines(GBRT))[:-4]])
    notes = {one.rule: one for one in check(letor).findings if GBRT in one.place}
    assert notes["no-line-end"].examples == ("0.147",)
