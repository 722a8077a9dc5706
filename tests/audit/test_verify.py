"""``harness verify``: every change of a folder of results, an input or a version is named."""

import io
import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import called, refused

import harness
from harness.audit import verify as module
from harness.audit.verify import as_json, compare, grids
from harness.experiment import manifest as manifests
from harness.reports.text import render

verify = partial(module.verify, plugins=True)
CONFIG = """
name: toy
datasets: {toy: {path: ../data/qrels.txt}}
runs: {"{run}": {path: "../data/{run}.run"}}
metrics: [map, arp, "ndcg@10"]
reports: [csv, markdown, html, jsonl, trec]
compare: {baseline: bm25, draws: 200}
tables: {main: {formats: [latex, markdown, csv, html]}}
plugins: [own.py]
"""
PLUGIN = '"""Metrics of this experiment."""\n'
FILES = [
    "leaderboard.csv", "leaderboard.md", "leaderboard.html", "leaderboard.jsonl",
    "leaderboard.eval", "significance.csv", "standings.csv", "tables/main.csv", "tables/main.html",
    "tables/main.md", "tables/main.tex",
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    place = tmp_path_factory.mktemp("verify")
    for name in ("configs", "data"):
        (place / name).mkdir()
    for name in ("qrels.txt", "bm25.run", "tfidf.run", "lsi.run"):
        shutil.copy(root / "runs/trec" / name, place / "data" / name)
    (place / "configs/toy.yaml").write_text(CONFIG, encoding="utf-8")
    (place / "configs/own.py").write_text(PLUGIN, encoding="utf-8")
    harness.run(place / "configs/toy.yaml")
    return place


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "x")
    return tmp_path / "x"


@pytest.fixture
def results(place: Path) -> Path:
    return place / "configs/results/toy"


def with_another_digit(content: bytes) -> bytes:
    """The same text with the last digit of its last decimal fraction changed."""
    *_, last = re.finditer(rb"\d\.\d*(\d)", content)
    other = b"1" if last[1] != b"1" else b"2"
    return content[: last.start(1)] + other + content[last.end(1) :]


def test_nothing_has_changed(results: Path) -> None:
    found = verify(results)
    assert found.is_verified, found.differences
    # 3 runs on 30 queries by 3 metrics; the inputs are those files, the qrels and the plugin
    assert {**found.verified, "files": 0} == {
        "inputs": 5, "cells": 3, "files": 0, "values": 270, "summaries": 9, "comparisons": 6,
        "standings": 9,
    }  # fmt: skip
    assert found.versions == found.differences == found.notes == []
    written = {path.relative_to(results).as_posix() for path in results.rglob("*.*")}
    written = {name for name in written if not name.startswith(("cells", ".", "timing"))}
    assert found.verified["files"] == len(written - {"manifest.json"})
    assert set(FILES) <= written


def test_examples(examples: Path) -> None:
    for name in ("folds", "paper", "plugin", "trec"):  # pooled folds, tables, plugins, references
        found = verify(harness.run(examples / f"configs/{name}.yaml").folder)
        assert found.is_verified, found.differences
        assert found.notes == []


@pytest.mark.parametrize(
    ("metric", "named"),
    [("P(ties=best)@5", []), ("P(ties=average)@5", ["average"]), ("P(ties=random(3))@5",
     ["random(3)"])],
)  # fmt: skip
def test_ties_that_pytrec_eval_cannot_check_are_noted(
    place: Path, metric: str, named: list[str]
) -> None:
    (place / "ties.yaml").write_text(
        f"datasets: {{toy: {{path: data/qrels.txt}}}}\nruns: {{bm25: {{path: data/bm25.run}}}}\n"
        f"metrics: [map, '{metric}']\npolicy: {{ties: worst, depth: 3}}\noutput: ties\n"
    )
    found = module.verify(harness.run(place / "ties.yaml").folder)
    assert found.is_verified, found.differences
    assert [re.findall(r"average|random\(3\)", note) for note in found.notes] == [named] * len(
        named
    )


def test_one_digit_of_every_file(results: Path) -> None:
    for name in FILES:
        path = results / name
        path.write_bytes(with_another_digit(path.read_bytes()))
    found = verify(results)
    assert found.total == len(FILES)
    assert {(one.kind, one.file, one.cause) for one in found.differences} == {
        ("value", name, "edited") for name in FILES
    }
    assert all(one.then != one.now for one in found.differences)
    assert as_json(verify(results, jobs=2)) == as_json(found)
    (results / "tables/main.tex").unlink()
    found = verify(results)
    assert "missing" in [one.then for one in found.differences if one.file == "tables/main.tex"]


def test_a_row_and_a_column_are_named(results: Path) -> None:
    path = results / "leaderboard.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at = lines[0].rstrip().split(",").index("map")
    fields = lines[2].split(",")
    value, fields[at] = fields[at], "0.5"
    path.write_text("".join([*lines[:2], ",".join(fields), *lines[3:]]), encoding="utf-8")
    assert (
        render(grids(verify(results)))
        .partition("\n\n")[2]
        .startswith(
            "value: leaderboard.csv: line 3 (toy, lsi), map (the file differs from its hash in "
            "manifest.json: edited, or a run was stopped)\n"
            f"  then: 0.5\n  now:  {value}\n"
        )
    )


def test_values_of_queries(results: Path) -> None:
    path = results / "per_query.parquet"
    table = pq.ParquetFile(path).read()
    values = table["value"].to_pylist()
    old, values[4] = values[4], 1.25
    place = table.column_names.index("value")
    pq.write_table(table.set_column(place, "value", pa.array(values)), path)
    (one,) = verify(results).differences
    assert one.where == "row 5 (toy, bm25, arp, 20), value"
    assert (one.then, one.now, one.cause) == ("1.25", repr(old), "edited")
    pq.write_table(table, path, compression="none")
    (one,) = verify(results).differences
    assert (one.kind, one.where) == ("file", "bytes")
    path.write_bytes(path.read_bytes()[:100])
    (one,) = verify(results).differences
    assert one.then.startswith("cannot be read")


def edit_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda m: m["cells"][0]["counts"].update(tied=9), "cells.0.counts.tied"),
        (lambda m: m["seeds"].update(compare=5), "seeds.compare"),
        (lambda m: m["inputs"][0].update(bytes=5), "inputs.own.py.bytes"),
        (lambda m: m["outputs"].pop("standings.csv"), "outputs.standings.csv"),
    ],
)
def test_an_edited_manifest(
    place: Path, change: Callable[[dict[str, Any]], None], where: str
) -> None:
    config = place / "configs/toy.yaml"
    lines = [line for line in CONFIG.splitlines() if not line.startswith("tables")]
    config.write_text("\n".join(lines), encoding="utf-8")
    results = harness.run(config, overrides=["output=plain"]).folder
    edit_manifest(results, change)
    (one,) = verify(results).differences
    assert (one.file, one.where) == ("manifest.json", where)


@pytest.mark.parametrize("name", ["qrels.txt", "bm25.run"])
def test_one_byte_of_any_input(place: Path, results: Path, name: str) -> None:
    path = place / "data" / name
    path.write_bytes(path.read_bytes().rstrip() + b"0\n")  # its last grade, or its last tag
    found = verify(results)
    first = found.differences[0]
    assert (first.kind, first.file, first.where) == ("input", f"../data/{name}", "bytes")
    assert {first.then[:7], first.now[:7]} == {"sha256 "}
    assert {one.cause for one in found.differences} == {"input"}
    assert found.verified["inputs"] == 4


def test_other_versions_alone_are_no_difference(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = manifests.version_of
    monkeypatch.setattr(
        manifests, "version_of", lambda name: "99.0" if name == "numpy" else version(name)
    )
    monkeypatch.setattr("harness.audit.verify.sources", lambda: "f" * 64)
    code, out, _ = called("verify", "--plugins", str(results), cwd=results)
    assert code == 0
    assert re.search(r"^numpy +\d+\.\d+\.\d+ +99\.0$", out, re.M)
    assert re.search(r"^code of the harness +[0-9a-f]{12} +f{12}$", out, re.M)
    assert "is verified: every digit is the same (5 inputs, " in " ".join(out.split())


def test_exit_codes_and_json(place: Path, results: Path) -> None:
    words = "verify", "--plugins", str(results), "--format", "json"
    code, out, _ = called(*words, cwd=place)
    found = json.loads(out)
    assert (code, found["verified"], found["counts"]["values"]) == (0, True, 270)
    (place / "data/lsi.run").unlink()
    code, out, _ = called(*words, cwd=place)
    assert (code, json.loads(out)["differences"][0]["kind"]) == (1, "input")
    assert refused("verify", "data", cwd=place).startswith("error: data: ")


def parquet(**columns: list[Any]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


TIERS = b"run,map,map tier,unsettled\na,0.5,3,\nb,0.4,3,map\n"


@pytest.mark.parametrize(
    ("name", "then", "now", "total", "where"),
    [
        ("x.parquet", {"value": [1.0, float("nan")]}, {"value": [1.0, float("nan")]}, 0, None),
        ("x.parquet", {"value": [1.0, 0.1 + 0.2]}, {"value": [1.0, 0.3]}, 1, "row 2 (), value"),
        ("x.parquet", {"value": [0.0, 1.0]}, {"value": [-0.0, 1.0]}, 1, "row 1 (), value"),
        ("x.parquet", {"value": [None]}, {"value": [float("nan")]}, 1, "row 1 (), value"),
        ("x.parquet", {"qid": ["a"]}, {"qid": ["a"], "value": [1.0]}, 1, "columns"),
        ("x.parquet", {"qid": ["a", "b"]}, {"qid": ["a"]}, 1, "number of rows"),
        ("x.csv", b"a,b\n1,2\n", b"a,c\n1,2\n", 1, "columns"),
        ("x.csv", b"a,b\n1,2\n3,4\n", b"a,b\n1,2\n", 1, "number of rows"),
        ("x.csv", b"a\r\n1\n", b"a\n1\n", 1, "line 1"),  # line ends are bytes too
        ("x.csv", TIERS, b"run,map,map tier,unsettled\na,0.5,2,map\nb,0.1,3,\n", 4,
         "line 2 (a), map tier"),
        ("x.csv", TIERS, TIERS.replace(b"0.5,3", b"0.5,1"), 1, "line 2 (a), map tier"),
        ("x.md", b"a\nb\n", b"a\nc\nd\n", 3, "line 2"),
        ("x.png", b"a\0", b"b\0", 1, "bytes"),
    ],
)  # fmt: skip
def test_two_versions_of_a_file(name: str, then: Any, now: Any, total: int, where: str) -> None:
    first, n = compare(name, *(x if isinstance(x, bytes) else parquet(**x) for x in (then, now)))
    assert (n, first and first.where) == (total, where)


@pytest.mark.parametrize(
    ("key", "files", "settings", "new"),
    [
        # a run without a dataset, a dataset without a run
        ("{d}", {"q=1.txt": "qrels.txt", "own.q=1.run": "bm25.run"}, "", {"own.x.run": "lsi.run"}),
        ("{d}", {"q=1.txt": "qrels.txt", "own.q=1.run": "bm25.run"}, "", {"x.txt": "qrels.txt"}),
        # a new dataset without its table of groups
        (
            "{d}",
            {"q=1.txt": "qrels.txt", "own.q=1.run": "bm25.run", "q=1.csv": ""},
            "groups: {path: '{d}.csv'}",
            {"x.txt": "qrels.txt"},
        ),
    ],
)
def test_files_that_came_since_make_no_difference(
    tmp_path: Path, root: Path, key: str, files: dict[str, str], settings: str, new: dict[str, str]
) -> None:
    def add(names: dict[str, str]) -> None:
        for name, source in names.items():
            if source:
                shutil.copy(root / "runs/trec" / source, tmp_path / name)
            else:
                qids = {line.split()[0] for line in (tmp_path / "q=1.txt").read_text().splitlines()}
                (tmp_path / name).write_text("qid,kind\n" + "".join(f"{q},a\n" for q in qids))

    add(files)
    config = tmp_path / "c.yaml"
    config.write_text(
        f"datasets: {{'{key}': {{path: '{key}.txt', {settings}}}}}\n"
        f"runs: {{'{{run}}': {{path: '{{run}}.{key}.run'}}}}\nmetrics: [map]\ncomplete: true\n"
        "where: {run: 'o*'}\n"
    )
    folder = harness.run(config).folder
    add(new)
    report = module.verify(folder, jobs=2)
    assert report.is_verified, report.differences
    assert harness.conventions(folder).matrices
    assert harness.trace(folder, "own", "map").value > 0
    refused("conventions", folder, "--set", "where.run=nothing")
