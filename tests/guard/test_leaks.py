"""Rows of test data that stand in the training data, by features, on every path."""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import called
from refusals import refuses
from table_forms import save_table

import harness
from harness.errors import InputError
from harness.guard.check_report import Checked

N_FEATURES = 6
Rows = list[tuple[int, str, list[float]]]
"""Grade, qid and features of each row."""


def rows(seed: int, qids: Sequence[str], depth: int = 12) -> Rows:
    rng = random.Random(seed)
    return [
        (rng.choice([0, 0, 1, 2]), qid, [round(rng.gauss(0, 3), 4) for _ in range(N_FEATURES)])
        for qid in qids
        for _ in range(depth)
    ]


def renamed(given: Rows, prefix: str) -> Rows:
    return [(grade, prefix + qid, features) for grade, qid, features in given]


def constant(value: float, qid: str, n: int = 5) -> Rows:
    return [(k % 2, qid, [value] * N_FEATURES) for k in range(n)]


TRAIN = rows(1, ["10", "2", "1", "33", "4=x"])
TEST = rows(2, ["7", "100", "8", "51", "9"])


def put(folder: Path, name: str, given: Rows) -> str:
    """Write a learning-to-rank file, or a table by the ending of its name."""
    path = folder / name
    if path.suffix == ".txt":
        lines = (
            " ".join([f"{grade} qid:{qid}", *(f"{k + 1}:{x}" for k, x in enumerate(features))])
            + "\n"
            for grade, qid, features in given
        )
        path.write_text("".join(lines))
        return str(path)
    names = ["query_id", "label", *(f"f{k}" for k in range(N_FEATURES))]
    table = [(qid, grade, *features) for grade, qid, features in given]
    return str(save_table(path, pd.DataFrame(table, columns=names)))


def leaks(checked: Checked) -> list[tuple[str, int, str, int]]:
    return [
        (one.severity, one.count, one.place.file.rpartition("/")[2], one.place.line)
        for one in checked.findings
        if one.rule == "leaked-rows"
    ]


CASES: dict[str, tuple[Rows, Rows, tuple[str, int, int] | None]] = {
    "none": (TRAIN, TEST, None),
    "the same file": (TRAIN, renamed(TRAIN, ""), ("error", 60, 1)),
    "other qids": (TRAIN, renamed(TRAIN[:36], "9"), ("error", 36, 1)),
    "other grades": (TRAIN, [(3, "5", row[2]) for row in TRAIN[20:30]] + TEST, ("error", 10, 1)),
    "a few rows": (TRAIN, TEST + renamed(TRAIN[3:7], "77"), ("warning", 4, 61)),
    "one row": (TRAIN, TEST + renamed(TRAIN[3:4], "77"), None),
    "rows of zeros": (TRAIN + constant(0, "a"), TEST + constant(0, "b"), None),
    "constant rows": (
        TRAIN + [row for n in range(8) for row in constant(n, f"{n}0", 1)],
        TEST + [row for n in range(8) for row in constant(n, f"{n}1", 1)],
        None,
    ),
    "coarse features": (
        [(g, q, [float(f > 0) for f in fs]) for g, q, fs in rows(3, [str(n) for n in range(30)])],
        [(g, q, [float(f > 0) for f in fs]) for g, q, fs in rows(4, [f"t{n}" for n in range(8)])],
        None,
    ),
    "features that a tenth of the rows share by chance": (
        [(g, q, fs[:1] + [0.0] * 5 if n % 10 else [float(n % 7)] * 2 + [1.0] * 4)
         for n, (g, q, fs) in enumerate(rows(5, [str(n) for n in range(30)]))],
        [(g, q, fs[:1] + [0.0] * 5 if n % 10 else [float(n % 7)] * 2 + [1.0] * 4)
         for n, (g, q, fs) in enumerate(rows(6, [f"t{n}" for n in range(8)]))],
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("ending", [".txt", ".csv", ".parquet"])
@pytest.mark.parametrize("case", [*CASES])
def test_training_and_test_data(tmp_path: Path, case: str, ending: str) -> None:
    train, test, expected = CASES[case]
    paths = put(tmp_path, f"a=1{ending}", train), put(tmp_path, f"t{ending}", test)
    found = [(*one[:3], 0) for one in leaks(harness.check(*paths))]
    assert found == ([(*expected[:2], f"t{ending}", 0)] if expected else [])
    if expected and ending == ".txt":
        assert leaks(harness.check(*paths))[0][3] == expected[2]


SPELLINGS = {
    "more digits": lambda k, x: f"{k}:{x:.9f}",
    "single precision": lambda k, x: f"{k}:{float(np.float32(x))!r}",
    "exponents and signs": lambda k, x: f"{k}:{x:+.6e}",
}


@pytest.mark.parametrize("spelling", [*SPELLINGS, "other order", "without zeros", "two blanks"])
def test_features_are_compared_by_value(tmp_path: Path, spelling: str) -> None:
    train = [(g, q, [0.0, *fs[1:5], -0.0]) for g, q, fs in TRAIN]
    path = tmp_path / "t.txt"
    with path.open("w") as file:
        for grade, qid, features in TEST + renamed(train[7:20], "5"):
            fields = [(k + 1, x) for k, x in enumerate(features)]
            if spelling == "without zeros":
                fields = [(k, x) for k, x in fields if x]
            write = SPELLINGS.get(spelling, "{}:{}".format)
            texts = [write(k, x) for k, x in fields]
            if spelling == "other order":
                texts = texts[2:] + texts[:2]
            between = "  " if spelling == "two blanks" else " "
            file.write(f"{grade} qid:{qid} {between.join(texts)} # d\r\n")
    assert leaks(harness.check(put(tmp_path, "a.txt", train), str(path))) == [
        ("error", 13, "t.txt", 61)
    ]


def test_rows_of_the_same_value_in_other_features_differ(tmp_path: Path) -> None:
    def sparse(seed: int) -> str:
        rng = random.Random(seed)
        columns = (sorted(rng.sample(range(1, 400), 6)) for _ in range(90))
        return "".join(
            f"{k % 2} qid:{k // 9} {' '.join(f'{column}:1' for column in chosen)}\n"
            for k, chosen in enumerate(columns)
        )

    (tmp_path / "a.txt").write_text(sparse(1))
    (tmp_path / "b.txt").write_text(sparse(2))
    (tmp_path / "c.txt").write_text(sparse(2) + "".join(sparse(1).splitlines(True)[:9]))
    assert not leaks(harness.check(str(tmp_path / "a.txt"), str(tmp_path / "b.txt")))
    found = leaks(harness.check(str(tmp_path / "a.txt"), str(tmp_path / "c.txt")))
    assert [one[:2] for one in found] == [("warning", 9)]


def test_three_files_and_the_command(tmp_path: Path) -> None:
    train, vali = put(tmp_path, "train.txt", TRAIN), put(tmp_path, "vali.txt", TEST)
    test = put(tmp_path, "test.txt", rows(8, ["61", "62"]) + renamed(TEST[:3], "5"))
    assert leaks(harness.check(train, [vali, test])) == [("error", 3, "test.txt", 25)]
    said = called("check", train, vali, test, cwd=tmp_path)
    assert said.code == 2
    assert "1 of 3 files has errors (3 datasets, 147 rows)" in said.out
    assert called("check", train, vali, cwd=tmp_path).code == 0
    said = called("check", train, "--notes", "--format", "markdown", cwd=tmp_path)
    assert said.code == 2  # --notes is not for Markdown
    assert called("check", train, "--format", "json", cwd=tmp_path).code == 0


def test_data_alone(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 a=1 0\nq1 0 b 0\n10 0 a=1 0\n")
    (checked,) = harness.check(str(tmp_path / "qrels")).findings
    assert (checked.severity, checked.rule) == ("error", "no-relevant-documents")
    data = put(tmp_path, "data.csv", TRAIN)
    assert not [one for one in harness.check(data).findings if one.severity == "error"]


def test_options_of_runs_are_refused(tmp_path: Path) -> None:
    train, test = put(tmp_path, "train.txt", TRAIN), put(tmp_path, "test.txt", TEST)
    for words in (
        ["--lower-is-better"],
        ["--columns", "score=2"],
        ["--set", "dataset.group=sizes"],
    ):
        assert called("check", train, test, *words, cwd=tmp_path).code == 2
    with refuses("", "", harness.errors.UnknownNameError):
        harness.check(train, order="ascending")


def predicted(folder: Path, name: str, given: Rows) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    rng = random.Random(9)
    lines = (f"{grade + rng.gauss(0, 1)}\n" for grade, *_ in given)
    (folder / name).write_text("".join(lines))


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_config(tmp_path: Path) -> None:
    tests = {"1": TEST, "2": TEST[:30] + renamed(TRAIN[:3], "8"), "10": renamed(TRAIN, "7")}
    put(tmp_path, "train-1.txt", TRAIN)
    put(tmp_path, "train-2.txt", TRAIN)
    put(tmp_path, "train-10.txt", TRAIN)
    for fold, given in tests.items():
        put(tmp_path, f"test{fold}.txt", given)
        predicted(tmp_path, f"m/{fold}.pred", given)
    config = (
        'datasets: {"f{n}": {path: "test{n}.txt", leaks: {train: "train-{n}.txt"}}}\n'
        'runs: {m: "m/{n}.pred"}\nmetrics: [map]\n'
    )
    (tmp_path / "c.yaml").write_text(config)
    expected = [("error", 60, "test10.txt", 1), ("warning", 3, "test2.txt", 31)]
    assert leaks(harness.check(tmp_path / "c.yaml")) == expected
    for _ in range(2):  # the second time from the cache
        with refuses("test10.txt:1", "leaked-rows", InputError):
            harness.run(tmp_path / "c.yaml")
    (tmp_path / "c.yaml").write_text(f"{config}guard: {{accept: [leaked-rows]}}\n")
    results = harness.run(tmp_path / "c.yaml")
    assert {one.severity for one in results.findings if one.rule == "leaked-rows"} == {"note"}
    (tmp_path / "c.yaml").write_text(config.replace("train-{n}", "other-{n}"))
    assert called("run", "c.yaml", cwd=tmp_path).code == 2


def test_qrels_have_no_features_to_compare(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("7 0 d0 1\n7 0 d1 0\n")
    (tmp_path / "run").write_text("7 Q0 d0 1 2 t\n")
    put(tmp_path, "train.txt", TRAIN)
    put(tmp_path, "t.csv", TEST)
    (tmp_path / "c.yaml").write_text(
        "datasets: {t: {path: qrels, leaks: {train: train.txt}}}\nruns: {r: run}\nmetrics: [map]\n"
    )
    with refuses("qrels", "columns", InputError):
        harness.run(tmp_path / "c.yaml")
    (found,) = [
        one for one in harness.check(tmp_path / "c.yaml").findings if one.severity == "error"
    ]
    assert (found.rule, found.place.file.rpartition("/")[2]) == ("columns", "qrels")
    (found,) = [
        one
        for one in harness.check(tmp_path / "train.txt", tmp_path / "t.csv").findings
        if one.severity == "error"
    ]
    assert (found.rule, found.place.file.rpartition("/")[2]) == ("columns", "t.csv")


def test_validation_rows_in_test_data(tmp_path: Path) -> None:
    vali, test = rows(11, ["1", "20", "3"]), TEST + renamed(rows(11, ["1", "20", "3"])[:4], "6")
    put(tmp_path, "vali.txt", vali)
    put(tmp_path, "test.txt", test)
    for setting in ("0.1", "0.2"):
        predicted(tmp_path, f"lr{setting}/v", vali)
        predicted(tmp_path, f"lr{setting}/t", test)
    (tmp_path / "c.yaml").write_text(
        "datasets: {vali: vali.txt, test: test.txt}\nmetrics: [map]\n"
        'runs: {m: [{path: "lr{lr}/t", dataset: test}, {path: "lr{lr}/v", dataset: vali}]}\n'
        "select: {on: vali, by: map, over: [lr]}\n"
    )
    assert leaks(harness.check(tmp_path / "c.yaml")) == [("warning", 4, "test.txt", 61)]


REAL: list[tuple[str, str, bool]] = [
    ("mslr_web10k_sample/mslr_fold1_test_sample.txt",
     "mslr_web10k_sample/mslr_fold1_valid_sample.txt", False),
    ("lightgbm_lambdarank/rank.train", "lightgbm_lambdarank/rank.test", False),
    ("mq2008_fold1/jiangnanboy_val.txt", "mq2008_fold1/test.txt", False),
    ("mq2008_fold1/test.txt", "mq2008_fold1/jiangnanboy_test.txt", True),
    ("tfranking_sample/train.txt", "tfranking_sample/test.txt", False),
    ("tfranking_sample/vali.txt", "tfranking_sample/test.txt", True),
    ("ultra_toy/example_toy_data/train/train.txt", "ultra_toy/example_toy_data/test/test.txt",
     False),
    ("fastrank_trec_news_2018/examples/trec_news_2018.train",
     "fastrank_trec_news_2018/examples/trec_news_2018.test", False),
]  # fmt: skip
"""Training and test data, and whether rows are in both: one set was cut from the other."""


@pytest.mark.parametrize("pair", REAL, ids=[test for _, test, _ in REAL])
def test_real_data(shared: Path, pair: tuple[str, str, bool]) -> None:
    train, test, leaky = pair
    folder = shared / "data/ltr"
    assert bool(leaks(harness.check(folder / train, folder / test))) == leaky
