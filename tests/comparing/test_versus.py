"""`harness compare` and `harness.compare`: runs against each other without a config."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import harness
from harness.cli.app import app
from harness.errors import AlignmentError, HarnessError, InputError, UnknownNameError
from harness.stats.paired_t import paired_t
from harness.stats.registry import TESTS, Outcome, load_all

QRELS = {f"q{place}": {"a": 1, "b": 0} for place in range(6)}
GOOD = {qid: {"a": 2.0, "b": 1.0} for qid in QRELS}
POOR = {qid: {"a": float(qid < "q3"), "b": 0.5} for qid in QRELS}
RUNS = {"poor": POOR, "good": GOOD}


# In Python


def test_runs_by_name() -> None:
    found = harness.compare(QRELS, RUNS, ["recip_rank", "map"], baseline="poor", dataset="made")
    assert [(one.dataset, str(one.metric), one.run) for one in found.rows] == [
        ("made", "recip_rank", "good"), ("made", "map", "good"),
    ]  # fmt: skip
    # 1 for all six, against 1, 1, 1, .5, .5, .5
    assert [one.difference for one in found.rows] == [0.25, 0.25]
    assert (found.rows[0].wins, found.rows[0].ties) == (3, 3)
    assert found.family_sizes == (("table", 2),)


@pytest.mark.parametrize("as_list", [True, False])
def test_evaluations(as_list: bool) -> None:
    evaluations = {
        name: harness.evaluate(QRELS, run, ["recip_rank", "num_ret"], name=name)
        for name, run in RUNS.items()
    }
    given = list(evaluations.values()) if as_list else evaluations
    found = harness.compare(given, baseline="poor")
    expected = harness.compare(QRELS, RUNS, ["recip_rank"], baseline="poor")
    assert found.rows == expected.rows


def test_a_metric_that_compares_to_another_run() -> None:
    third = {qid: {"a": 1.0, "b": 3.0} for qid in QRELS}
    found = harness.compare(QRELS, {**RUNS, "third": third}, ["kendall(reference=good)"])
    assert [one.baseline for one in found.rows] == ["poor", "poor", "good"]


def test_what_is_wrong_is_refused() -> None:
    for runs, metrics, keys in (
        (RUNS, ["map"], {"baseline": "god"}),
        (RUNS, ["map", "num_ret"], {}),
        (RUNS, ["map"], {"test": "t-test"}),
        ({"poor": POOR}, ["map"], {}),
    ):
        with pytest.raises(HarnessError):
            harness.compare(QRELS, runs, metrics, **keys)
    with pytest.raises(InputError, match="compare: expected an evaluation, got a dict"):
        harness.compare([POOR, GOOD])
    nameless = harness.evaluate(QRELS, POOR, ["map"])
    with pytest.raises(InputError, match="two evaluations of a run called ''"):
        harness.compare([nameless, nameless])


def test_a_test_as_a_function() -> None:
    before = dict(load_all())

    @harness.paired_test("half", title="a test that always says .5")
    def half(differences: Any, stream: Any) -> Outcome:
        return Outcome(0.5)

    try:
        assert harness.compare(QRELS, RUNS, ["map"], test=half).rows[0].p == 0.5
    finally:
        TESTS.clear()
        TESTS.update(before)
    named = harness.compare(QRELS, RUNS, ["map"], test=paired_t)
    assert named.rows == harness.compare(QRELS, RUNS, ["map"]).rows
    with pytest.raises(UnknownNameError, match=r"^len is no test: put @harness\.paired_test"):
        harness.compare(QRELS, RUNS, ["map"], test=len)


def test_no_baseline_in_other_words() -> None:
    expected = harness.compare(QRELS, RUNS, ["map"]).rows
    nones: tuple[Any, ...] = (None, (), [])
    for none in nones:
        assert harness.compare(QRELS, RUNS, ["map"], baseline=none).rows == expected


def test_runs_that_do_not_answer_every_query() -> None:
    some = {qid: POOR[qid] for qid in ("q0", "q1")}
    assert harness.compare(QRELS, {"some": some, "good": GOOD}, ["map"]).rows[0].n == 6
    with pytest.raises(AlignmentError) as caught:
        harness.compare(
            QRELS, {"some": some, "good": GOOD}, ["map"], policy={"missing_queries": "skip"}
        )
    assert str(caught.value).splitlines()[0] == (
        "good: was evaluated on other queries: q2, q3, q4, q5 not expected"
    )


# On the command line


@pytest.fixture(scope="module")
def trec(root: Path) -> Path:
    """The folder of the example runs."""
    return root / "runs/trec"


def said(*words: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["compare", *map(str, words)])
    if code:
        assert isinstance(done.exception, HarnessError), done.output
        return str(done.exception)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def test_two_files(trec: Path) -> None:
    text = said(trec / "bm25.run", trec / "tfidf.run", "--qrels", trec / "qrels.txt", "-m", "map")
    assert text.startswith(
        "qrels, map ↑, against bm25 (0.4049, n=30)\n"
        "run     n   value  difference       95 % interval        p  adjusted p     d_z  "
        "won/tied/lost  detectable\n"
        "tfidf  30  0.2962     -0.1088  [-0.1511, -0.0664]  <0.0001     <0.0001*  -0.96         "
        "1/2/27      0.0601\n"
        "\n"
        "  Paired two-sided t-test; Holm's correction over all comparisons (1)\n"
        "  * adjusted p at most 0.05\n"
    )
    assert (
        "run    tier  rank  of ranks   n   value     95 % interval\n"
        "bm25      1     1       1-1  30  0.4049  [0.3366, 0.4733]\n"
        "tfidf     2     2       2-2  30  0.2962  [0.2379, 0.3544]\n"
    ) in text
    # tfidf wins one query only; five of those it loses follow
    assert text.endswith(
        "qrels, map ↑: queries with the largest differences of tfidf from bm25\n"
        "qid    bm25   tfidf  difference\n"
        "23   0.3244  0.4491     +0.1246\n"
        "1    0.5303  0.3311     -0.1992\n"
        "21   0.4937  0.2631     -0.2306\n"
        "17   0.7075  0.4707     -0.2368\n"
        "4    0.5769  0.1917     -0.3853\n"
        "18   0.6415  0.2197     -0.4219\n"
    )


def test_what_is_printed_is_what_evaluate_gives(trec: Path) -> None:
    names = ("bm25", "lsi", "tfidf")
    files = [trec / f"{name}.run" for name in names]
    text = said(
        *files, "--qrels", trec / "qrels.txt", "-m", "map", "-m", "P@5", "-f", "csv",
        "--all-pairs", "-t", "bootstrap", "--correction", "bh", "--draws", 500, "--seed", 3,
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["baseline"], row["run"]) for row in rows[:3]] == [
        ("bm25", "lsi"), ("bm25", "tfidf"), ("lsi", "tfidf"),
    ]  # fmt: skip
    evaluations = [
        harness.evaluate(trec / "qrels.txt", path, ["map", "P@5"], name=name, dataset="qrels")
        for name, path in zip(names, files, strict=True)
    ]
    expected = harness.compare(evaluations, test="bootstrap", correction="bh", draws=500, seed=3)
    assert [float(row["p_adjusted"]) for row in rows] == [one.p_adjusted for one in expected.rows]
    assert {(row["draws"], row["seed"], row["family_size"]) for row in rows} == {("500", "3", "6")}


def test_jsonl_and_markdown(trec: Path) -> None:
    words = [trec / "bm25.run", trec / "bm25.run", "--qrels", trec / "qrels.txt", "-m", "map"]
    words[1] = trec / "lsi.run"
    (line,) = said(*words, "-f", "jsonl").splitlines()
    row = json.loads(line)
    assert (row["run"], row["n"], row["draws"]) == ("lsi", 30, None)
    text = said(*words, "-f", "markdown")
    assert "| run | n | value | difference | 95 % interval | p | adjusted p |" in text
    assert "\n- \\* adjusted p at most 0.05\n" in text


def test_a_file_against_itself(trec: Path, tmp_path: Path) -> None:
    shutil.copy(trec / "bm25.run", tmp_path / "copy.run")
    words = [trec / "bm25.run", tmp_path / "copy.run", "--qrels", trec / "qrels.txt", "-m", "map"]
    text = said(*words)
    assert "0/30/0           –  identical\n" in text
    assert "largest differences" not in text
    row = json.loads(said(*words, "-f", "jsonl"))
    assert (row["p"], row["p_adjusted"], row["difference"], row["note"]) == (1, 1, 0, "identical")
    assert row["detectable"] is None


def test_names_of_a_folder(tmp_path: Path, root: Path) -> None:
    for name in ("configs", "runs"):
        shutil.copytree(root / name, tmp_path / name)
    folder = harness.run(tmp_path / "configs/compare.yaml").folder
    text = said("gbrt", "neural", "lambdamart", "--results", folder, "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["dataset"], row["metric"], row["baseline"], row["run"]) for row in rows] == [
        (dataset, metric, "gbrt", run)
        for dataset in ("letor-fold1", "letor-fold2")
        for metric in ("map", "ndcg@10", "swaps(normalize=true)")
        for run in ("neural", "lambdamart")
    ]
    text = said(
        "gbrt", "neural", "--results", folder, "-m", "AP", "--dataset", "letor-fold2", "-b",
        "neural",
    )  # fmt: skip
    assert text.startswith("letor-fold2, map ↑, against neural (0.8394, n=41)\n")
    assert "letor-fold1" not in text
    board = folder / "leaderboard.csv"
    for words, begin in (
        (("gbrt", "neurall", "--results", folder), "no run 'neurall' in these results; did you"),
        (("gbrt", "neural", "--results", folder, "--dataset", "letor"), "no dataset 'letor' in"),
        (("gbrt", "neural", "--results", folder, "-m", "P@5"), "no metric 'P@5' was evaluated"),
        ((folder, folder, folder), f"{folder}: folders of results are compared two at a time"),
        ((board, board, "--results", folder), f"{board}: leaderboards are compared two at a time"),
    ):
        assert said(*words, code=2).startswith(begin)


def test_arguments_that_say_too_little(trec: Path) -> None:
    run, other, qrels = trec / "bm25.run", trec / "lsi.run", trec / "qrels.txt"
    whole = (run, other, "--qrels", qrels, "-m", "map")
    for words, begin in (
        ((run, other, "-m", "map"), "give run files with --qrels QRELS and -m METRIC"),
        (("nodir", "q.csv"), "nodir: is not there; "),
        (("q.tsv", run), f"{run}: is no CSV file; "),
        ((run, other, "--qrels", "q", "--results", "r"), "give run files with --qrels"),
        ((run, other, "--qrels", "q"), "no metric was named: -m map"),
        ((run, "--qrels", "q", "-m", "map"), f"there is one run, {run}; "),
        ((run, other, "--qrels", qrels, "-m", "num_ret"), "runs cannot be compared by num_ret"),
        ((*whole, "--level", 5), "level: expected a number between 0 and 1, got 5.0"),
        ((*whole, "-b", "bm52"), "there is no run 'bm52' for a baseline; did you mean 'bm25'?"),
        ((*whole, "-b", "bm25", "--all-pairs"), "--all-pairs compares every run with every other"),
        ((*whole, "-t", "tukay"), "unknown test 'tukay'; did you mean 'tukey'?"),
    ):
        assert said(*words, code=2).startswith(begin)


def test_a_nickname_leaves_counts_out(trec: Path) -> None:
    files = (trec / "bm25.run", trec / "lsi.run")
    text = said(*files, "--qrels", trec / "qrels.txt", "-m", "official", "-f", "csv")
    metrics = [row["metric"] for row in csv.DictReader(io.StringIO(text))]
    assert "map" in metrics
    assert "num_ret" not in metrics
    assert "gm_map" not in metrics


def test_too_few_draws_for_the_family(trec: Path) -> None:
    # the smallest p of 99 draws is 1/100, and two comparisons by Holm make it .02: fine at .05;
    # at .01 two comparisons take 2 / .01 = 200 draws
    words = ["--qrels", trec / "qrels.txt", "-m", "map", "-m", "P@5", "-t", "bootstrap"]
    words = [trec / "bm25.run", trec / "tfidf.run", *words, "--draws", 99]
    assert "too few draws" not in said(*words)
    assert (
        "  too few draws: with 99 no p is below 0.01, which corrected for 2 comparisons is above "
        "0.01; take 200 or more\n"
    ) in said(*words, "--level", 0.01)
