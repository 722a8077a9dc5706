"""The data of the report page: title, metrics, verdicts of pairs, files, grades, groups."""

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from command_line import called, refused, succeeds
from csv_rows import csv_rows
from packed_page import unpack

from harness.reports.sentences import as_text, group_label

RUNS = {"a=1": 0.9, "b": 0.5, "c c": 0.5, "d": 0.1}
QIDS = ["10", "2", "1", *map(str, range(20, 40))]


def experiment(folder: Path, **changes: Any) -> None:
    """Write qrels, runs of falling quality (b and c c are the same), groups and metadata."""
    rng = random.Random(1)
    qrels = [f"{q} 0 d{d} {rng.choice([0, 0, 1, 3])}\n" for q in QIDS for d in range(12)]
    qrels += [f"99 0 d{d} 0\n" for d in range(3)]
    (folder / "judged.qrels").write_text("".join(qrels))
    grade = {tuple(line.split()[::2]): int(line.split()[3]) for line in qrels}
    for name, quality in RUNS.items():
        own = random.Random(f"{quality}")
        rows = [
            f"{q} Q0 d{d} 1 {grade.get((q, f'd{d}'), 0) * quality + own.random():.4f} t\n"
            for q in [*QIDS, "99"]
            for d in range(12)
        ]
        (folder / f"{name}.run").write_text("".join(rows))
    (folder / "groups.csv").write_text(
        "qid,a=b\n" + "".join(f"{q},{'70 or more' if int(q) > 24 else 'fewer'}\n" for q in QIDS)
    )
    (folder / "runs.csv").write_text(
        "run,team,latency,year\na=1,Lakes,12.5,2020\nb,Hills,3,2021\nc c,Hills,,2021\n"
    )
    config = {
        "datasets": {"set": "judged.qrels"},
        "runs": {name: f"{name}.run" for name in RUNS},
        "metrics": ["map", "ndcg@5", "judged@5"],
        "output": "out",
        "reports": ["page"],
        "compare": {"metrics": ["map"]},
        **changes,
    }
    (folder / "c.yaml").write_text(yaml.safe_dump(config, sort_keys=False))


def page_of(folder: Path, **changes: Any) -> dict[str, Any]:
    experiment(folder, **changes)
    succeeds("run", "c.yaml", cwd=folder)
    return unpack((folder / "out/page.html").read_text())


def test_metrics_have_names_and_sentences_for_readers(tmp_path: Path) -> None:
    page = page_of(tmp_path, names={"map": "AP"}, metrics=["map", "ndcg@5", "arp", "num_rel_ret"])
    keys = ("label", "direction", "digits", "low")
    assert [tuple(metric[key] for key in keys) for metric in page["metrics"]] == [
        ("AP", 1, 4, 0), ("nDCG@5", 1, 4, 0), ("ARP", -1, 4, 1), ("Relevant retrieved", 1, 0, 0),
    ]  # fmt: skip
    assert [metric["high"] for metric in page["metrics"]] == [1, 1, None, None]
    assert all(metric["explanation"].endswith(".") for metric in page["metrics"])
    judged = page_of(tmp_path, metrics=["P@5"], compare=None)["metrics"][0]
    assert judged["explanation"] == "Share of the first 5 documents that are relevant."


@pytest.mark.parametrize(
    "plan",
    [{}, {"baseline": ["b"]}, {"baseline": ["c c", "median"]},
     {"correction": "none", "level": 0.5}],
)  # fmt: skip
def test_pairs_say_what_the_tests_say(tmp_path: Path, plan: dict[str, Any]) -> None:
    page = page_of(tmp_path, compare={"metrics": ["map"], **plan})
    (board,) = page["boards"]
    rows = [page["systems"][number] for number in board["systems"] + board["references"]]
    assert [row["name"] for row in rows if "reference" in row] == (
        ["Median of all systems"] if "median" in plan.get("baseline", []) else []
    )
    names = ["median" if "reference" in row else row["name"] for row in rows]
    tests = {
        frozenset([row["run"], row["baseline"]]): row
        for row in csv_rows(tmp_path / "out/significance.csv")
    }
    column, untested = board["columns"][0], board["columns"][1]
    pairs = list(itertools.combinations(range(len(names)), 2))
    assert len(column["pairs"]) == len(pairs)
    assert (untested["pairs"], untested["family"], untested["baselines"]) == ("", 0, [])
    assert column["family"] == len(tests)
    assert [names[row] for row in column["baselines"]] == plan.get("baseline", [])
    matrix = column["queries"].reshape(len(names), -1)
    medians = np.median(matrix[: len(RUNS)], axis=0)
    for row in column["baselines"][1:]:
        assert (matrix[row] == medians).all()
        assert column["references"] == pytest.approx([medians.mean()], rel=1e-15)
    assert len(column["value"]) == len(column["systemLedes"]) == len(RUNS)
    letters = set()
    for (first, second), letter in zip(pairs, column["pairs"], strict=True):
        row = tests.pop(frozenset([names[first], names[second]]), None)
        letters.add(letter)
        if letter == ".":
            assert row is None
        elif letter == "=":
            assert row is not None
            assert row["note"].startswith("identical")
        else:
            assert row is not None
            assert (row["significant"] == "true") == (letter in "+-")
            is_better = (float(row["difference"]) > 0) == (row["run"] == names[first])
            assert letter == "~" or (letter == "+") == is_better
    assert not tests
    assert {"=", "+"} <= letters
    assert "paired t-test" in board["testing"].pop("test")
    assert ("all other pairs" in board["testing"].pop("tiers")) == ("baseline" in plan)
    assert board["testing"] == {
        "correction": "no correction" if plan.get("correction") else "Holm's correction",
        "family": board["testing"]["family"],
        "alpha": plan.get("level", 0.05),
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [("median", "the median of all systems on each query"),
     ("best", "the best value of any system on each query")],
)  # fmt: skip
def test_sentences_on_a_reference(tmp_path: Path, name: str, words: str) -> None:
    page = page_of(tmp_path, compare={"metrics": ["map"], "baseline": name})
    column = page["boards"][0]["columns"][0]
    titles = [system["name"] for system in page["systems"]]
    assert f" {words}" in as_text(column["lede"], titles)
    assert "Of the 4 systems, " in as_text(column["lede"], titles)
    for sentence in column["systemLedes"]:
        assert f" {words}" in as_text(sentence, titles)


def test_files_findings_and_grades(tmp_path: Path) -> None:
    experiment(tmp_path)
    path = tmp_path / "d.run"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-12]))  # one query less
    succeeds("run", "c.yaml", cwd=tmp_path)
    page = unpack((tmp_path / "out/page.html").read_text())
    (board,) = page["boards"]
    provenance = page["provenance"]
    names = [page["systems"][system]["name"] for system in board["systems"]]
    paths = {
        name: [provenance["inputs"][i][0] for i in files]
        for name, files in zip(names, board["files"], strict=True)
    }
    assert paths == {name: [f"{name}.run"] for name in RUNS}
    found = {
        name: {provenance["findings"][i]["rule"] for i in findings}
        for name, findings in zip(names, board["findings"], strict=True)
    }
    assert "missing-queries" in found["d"]
    assert "same-file-twice" in found["b"] | found["c c"]
    assert "missing-queries" not in found["c c"]
    for finding in provenance["findings"]:
        assert finding["sentence"].endswith(".")
        assert ".run:" not in finding["sentence"]
    grades = [int(line.split()[3]) for line in (tmp_path / "judged.qrels").read_text().splitlines()]
    counted = board["judged"].reshape(len(board["grades"]), len(board["qids"]))
    assert board["grades"] == [0, 1, 3]
    assert counted.sum(1).tolist() == [grades.count(grade) for grade in (0, 1, 3)]
    assert counted[:, board["qids"].index("99")].tolist() == [3, 0, 0]
    assert board["notes"][0] == "d leaves 1 of 24 queries unanswered; it counts 0."


def test_results_alone_have_no_grades(tmp_path: Path) -> None:
    page_of(tmp_path)
    (tmp_path / "judged.qrels").unlink()
    succeeds("page", "out", "-o", "alone.html", cwd=tmp_path)
    (board,) = unpack((tmp_path / "alone.html").read_text())["boards"]
    assert "judged" not in board
    assert board["files"] == [[]] * 4


def test_groups_and_queries(tmp_path: Path) -> None:
    datasets = {"set": {"path": "judged.qrels", "groups": "groups.csv"}}
    page = page_of(tmp_path, datasets=datasets)
    labels = [board["groupLabel"] for board in page["boards"]]
    assert labels == ["all queries", "a=b: 70 or more", "a=b: fewer"]
    names = [system["name"] for system in page["systems"]]
    lede = as_text(page["boards"][1]["columns"][0]["lede"], names)
    assert "over 15 queries with a=b: 70 or more" in lede
    assert page["boards"][1]["files"] == page["boards"][0]["files"]
    column = page["boards"][0]["columns"][0]
    queries = column["queries"].reshape(4, -1)
    assert column["median"].tolist() == np.median(queries, axis=0).tolist()
    constant = queries.min(0) == queries.max(0)
    assert column["constant"].tolist() == constant.astype(float).tolist()
    assert constant[page["boards"][0]["qids"].index("99")]
    assert group_label("x", []) == "x"


def test_title_block(tmp_path: Path) -> None:
    title = {"title": "Web <track>", "description": "Four systems.", "organiser": "NIST",
             "date": "28 May", "link": "https://example.org", "metric": "ndcg_cut_5"}  # fmt: skip
    page = page_of(tmp_path, page=title)
    assert {key: page[key] for key in title if key != "metric"} == {
        key: value for key, value in title.items() if key != "metric"
    }
    assert page["metrics"][page["deciding"]]["name"] == "ndcg@5"
    text = (tmp_path / "out/page.html").read_text()
    assert "<title>Web &lt;track&gt;</title>" in text
    given = ("--title", "Other", "--metric", "map", "--date", "today")
    succeeds("page", "out", *given, "-o", "other.html", cwd=tmp_path)
    other = unpack((tmp_path / "other.html").read_text())
    assert (other["title"], other["date"], other["deciding"]) == ("Other", "today", 0)
    assert other["organiser"] == "NIST"


def test_the_config_names_the_page_as_a_last_resort(tmp_path: Path) -> None:
    page = page_of(tmp_path, name="my-config")
    assert (page["title"], page["description"], page["deciding"]) == ("my-config", "", 0)
    told = succeeds("page", "out", "-o", "p.html", cwd=tmp_path)
    assert "--title" in told
    given = ("--title", "T", "--description", "D.")
    told = succeeds("page", "out", "-o", "q.html", *given, cwd=tmp_path)
    assert "--title" not in told


def test_refused_titles(tmp_path: Path) -> None:
    experiment(tmp_path, page={"link": "javascript:alert(1)"})
    assert "page.link" in refused("run", "c.yaml", cwd=tmp_path)
    experiment(tmp_path, page={"metric": "mpa"})
    assert "use map" in refused("run", "c.yaml", cwd=tmp_path)
    page_of(tmp_path)
    assert "--link" in refused("page", "out", "--link", "example.org", "-o", "p", cwd=tmp_path)
    assert "unknown metric" in refused("page", "out", "--metric", "P@9", "-o", "p", cwd=tmp_path)


def test_axes_are_columns_of_numbers(tmp_path: Path) -> None:
    metadata: dict[str, Any] = {"path": "runs.csv"}
    page = page_of(tmp_path, page={"metadata": metadata})
    assert [one["name"] for one in page["columns"] if one["isCost"]] == ["latency", "year"]
    (numbers,) = (one["numbers"] for one in page["columns"] if one["name"] == "latency")
    values = dict(zip((s["name"] for s in page["systems"]), numbers, strict=True))
    assert (values["a=1"], values["b"]) == (12.5, 3)
    assert np.isnan(values["c c"])
    page = page_of(tmp_path, page={"metadata": {**metadata, "costs": ["latency"]}})
    assert [one["name"] for one in page["columns"] if one["isCost"]] == ["latency"]


def test_metadata_under_other_names(tmp_path: Path) -> None:
    experiment(tmp_path, page={"metadata": {"path": "runs.csv"}})
    rows = (tmp_path / "runs.csv").read_text()
    (tmp_path / "runs.csv").write_text(rows.replace("a=1,", "a_1,"))
    _, _, errors = called("run", "c.yaml", cwd=tmp_path)
    assert "page.metadata: no row for a=1, d; rows of no run: a_1" in " ".join(errors.split())
    assert errors.count("page.metadata") == 1
    (tmp_path / "runs.csv").rename(tmp_path / "run.csv")
    assert "no file" in refused("run", "c.yaml", cwd=tmp_path)


def test_no_path_of_this_machine_is_on_the_page(tmp_path: Path) -> None:
    runs = {name: str(tmp_path / f"{name}.run") for name in RUNS}
    page = page_of(tmp_path, runs=runs, output=str(tmp_path / "out"))
    assert str(tmp_path) not in repr(page)
    assert page["provenance"]["results"] == "out"
    sizes = {file["name"]: file["bytes"] for file in page["provenance"]["downloads"]}
    for name in ("leaderboard.csv", "significance.csv", "per_query.parquet"):
        assert sizes[name] == (tmp_path / "out" / name).stat().st_size


def test_conventions_say_which_metrics_they_have(tmp_path: Path) -> None:
    page = page_of(tmp_path, page={"conventions": ["lightgbm"]}, names={"ndcg@5": "N"})
    (convention,) = page["conventions"]
    assert convention["tool"].startswith("LightGBM")
    assert convention["labels"] == ["", "N", ""]
    values = [column[0] for column in convention["values"][0]]
    assert [np.isnan(value) for value in values] == [True, False, True]


def test_earlier_results(tmp_path: Path) -> None:
    page_of(tmp_path, page={"title": "Round 1"})
    (tmp_path / "out").rename(tmp_path / "old")
    page_of(tmp_path, policy={"empty_queries": "skip"}, metrics=["map"], compare=None)
    succeeds("page", "old", "out", "-o", "both.html", cwd=tmp_path)
    old = unpack((tmp_path / "both.html").read_text())["old"]
    assert old["title"] == "Round 1"
    (sentence,) = old["boards"][0]["ledes"]
    assert "MAP differs from Round 1 for" in as_text(sentence, [*RUNS])


def test_the_command_writes_what_the_run_wrote(tmp_path: Path) -> None:
    experiment(tmp_path, names={"a=1": "A"}, compare={})
    path = tmp_path / "d.run"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-12]))
    succeeds("run", "c.yaml", cwd=tmp_path)
    succeeds("page", "out", "-o", "again.html", cwd=tmp_path)
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "out/page.html").read_bytes()


def test_averages_over_parts_say_so(tmp_path: Path) -> None:
    experiment(tmp_path)
    for part in "12":
        (tmp_path / f"{part}.qrels").write_bytes((tmp_path / "judged.qrels").read_bytes())
    page = page_of(
        tmp_path,
        datasets={"set{part}": "{part}.qrels"},
        summary={"average": ["part"]},
        compare=None,
    )
    (board,) = page["boards"]
    assert board["notes"][0] == "Values are means over queries, with equal weight for each part."
    assert set(board["columns"][0]["pairs"]) == set()
