"""Every seeded change of a folder of results, of an input or of a version is found and named."""

from __future__ import annotations

import builtins
import hashlib
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

import harness
from harness.audit.verify import verify as verify_results
from harness.audit.verify_files import compare, compare_plain
from harness.audit.verify_report import as_json, text
from harness.cli.main import main
from harness.errors import InputError
from harness.experiment import manifest as manifests

verify = partial(verify_results, plugins=True)
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
PLUGIN = '''
"""Metrics of this experiment."""
'''


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """Results with every kind of file, and their inputs."""
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
    """The same with the last digit of its last decimal fraction another."""
    *_, last = re.finditer(rb"\d\.\d*(\d)", content)
    other = b"1" if last[1] != b"1" else b"2"
    return content[: last.start(1)] + other + content[last.end(1) :]


FILES = [
    "leaderboard.csv", "leaderboard.md", "leaderboard.html", "leaderboard.jsonl",
    "leaderboard.eval", "significance.csv", "standings.csv", "tables/main.csv", "tables/main.html",
    "tables/main.md", "tables/main.tex",
]  # fmt: skip


def test_nothing_has_changed(results: Path) -> None:
    found = verify(results)
    assert found.is_verified, text(found)
    # 3 runs on 30 queries by 3 metrics; the inputs are those files, the judgements and the plugin
    assert {**found.verified, "files": 0} == {
        "inputs": 5, "cells": 3, "files": 0, "values": 270, "summaries": 9, "comparisons": 6,
        "standings": 9,
    }  # fmt: skip
    assert found.versions == found.differences == found.notes == []
    written = {path.relative_to(results).as_posix() for path in results.rglob("*.*")}
    written = {name for name in written if not name.startswith(("cells", ".", "timing"))}
    assert found.verified["files"] == len(written - {"manifest.json"})
    assert set(FILES) <= written


def test_examples(root: Path, tmp_path: Path) -> None:
    for name in ("configs", "runs"):
        shutil.copytree(root / name, tmp_path / name)
    for name in ("folds", "paper", "plugin", "trec"):  # pooled folds, tables, plugins, references
        found = verify(harness.run(tmp_path / f"configs/{name}.yaml").folder)
        assert found.is_verified, text(found)
        assert found.notes == []


def test_one_digit_of_every_file(results: Path) -> None:
    for name in FILES:
        before = (results / name).read_bytes()
        (results / name).write_bytes(with_another_digit(before))
        assert (results / name).read_bytes() != before
    found = verify(results)
    assert found.total == len(FILES)
    assert {(one.kind, one.file, one.cause) for one in found.differences} == {
        ("value", name, "edited") for name in FILES
    }
    assert all(one.then != one.now for one in found.differences)


def test_a_row_and_a_column_are_named(results: Path) -> None:
    path = results / "leaderboard.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at = lines[0].rstrip().split(",").index("map")
    fields = lines[2].split(",")
    value, fields[at] = fields[at], "0.5"
    path.write_text("".join([*lines[:2], ",".join(fields), *lines[3:]]), encoding="utf-8")
    (one,) = verify(results).differences
    assert (one.where, one.then, one.now) == ("line 3 (toy, lsi), map", "0.5", value)
    assert text(verify(results)).startswith(
        "value: leaderboard.csv: line 3 (toy, lsi), map (not the file that manifest.json was "
        "written with: edited, or a run was stopped; run the config again)\n"
        f"  then: 0.5\n  now:  {value}\n"
    )


def test_one_value_of_a_query(results: Path) -> None:
    path = results / "per_query.parquet"
    table = pq.ParquetFile(path).read()
    values = table["value"].to_pylist()
    assert (table["qid"][4].as_py(), table["metric"][4].as_py()) == ("20", "arp")
    old, values[4] = values[4], 1.25
    columns = {name: table[name] for name in table.column_names} | {"value": pa.array(values)}
    pq.write_table(pa.table(columns), path)
    (one,) = verify(results).differences
    assert one.where == "row 5 (toy, bm25, arp, 20), value"
    assert (one.then, one.now, one.cause) == ("1.25", repr(old), "edited")


def test_a_parquet_file_of_the_same_values_and_other_bytes(results: Path) -> None:
    path = results / "per_query.parquet"
    pq.write_table(pq.ParquetFile(path).read(), path, compression="none")
    (one,) = verify(results).differences
    assert (one.kind, one.where) == ("file", "bytes")
    assert one.then == "other bytes, though every value in it is the same"
    path.write_bytes(path.read_bytes()[:100])
    (one,) = verify(results).differences
    assert one.then.startswith("cannot be read")


def test_pictures(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overrides = ["output=drawn", "plots=[{kind: distribution}]"]
    results = harness.run(place / "configs/toy.yaml", overrides=overrides).folder
    assert verify(results).is_verified
    (path, *_) = sorted((results / "plots").iterdir())
    path.write_bytes(path.read_bytes()[:-20] + b"0" * 20)
    (one,) = verify(results).differences
    assert (one.file, one.cause) == (f"plots/{path.name}", "edited")
    known = manifests._version
    monkeypatch.setattr(
        manifests, "_version", lambda name: "3.0" if name == "matplotlib" else known(name)
    )
    found = verify(results)
    assert found.is_verified
    assert [one.name for one in found.versions] == ["matplotlib"]
    (note,) = found.notes
    assert re.fullmatch(
        r"pictures were not compared: matplotlib was 3\.\d+\.\d+, and is 3\.0 here", note
    )


@pytest.mark.parametrize("name", ["leaderboard.csv", "per_query.parquet", "tables/main.tex"])
def test_a_file_that_is_missing(results: Path, name: str) -> None:
    (results / name).unlink()
    (one,) = verify(results).differences
    assert (one.kind, one.file, one.then) == ("file", name, "missing")


def edited(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "manifest.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    change(found)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda m: m["cells"][0]["counts"].update(tied=9), "$.cells[0].counts.tied"),
        (lambda m: m["cells"][1]["undefined"].update(arp=1), "$.cells[1].undefined.arp"),
        (lambda m: m["cells"][0]["crosscheck"].update(mode="all"), "$.cells[0].crosscheck.mode"),
        (lambda m: m["seeds"].update(compare=5), "$.seeds.compare"),
        (lambda m: m["inputs"][0].update(bytes=5), "$.inputs.own.py.bytes"),
        (lambda m: m["outputs"].pop("standings.csv"), "$.outputs.standings.csv"),
    ],
)
def test_what_the_manifest_says(
    place: Path, change: Callable[[dict[str, Any]], None], where: str
) -> None:
    config = place / "configs/toy.yaml"
    kept = [line for line in CONFIG.splitlines() if not line.startswith("tables")]
    config.write_text("\n".join(kept), encoding="utf-8")
    results = harness.run(config, overrides=["output=plain"]).folder
    assert verify(results).is_verified
    edited(results, change)
    found = verify(results)
    assert found.total == 1
    assert (found.differences[0].file, found.differences[0].where) == ("manifest.json", where)


def test_results_of_an_older_format_are_refused(results: Path) -> None:
    edited(results, lambda m: m.update(manifest=1))
    with pytest.raises(InputError, match="has format 1, and verify needs format"):
        verify(results)


@pytest.mark.parametrize("name", ["qrels.txt", "bm25.run", "lsi.run", "tfidf.run"])
def test_one_byte_of_any_input(place: Path, results: Path, name: str) -> None:
    path = place / "data" / name
    content = path.read_bytes()
    path.write_bytes(content.rstrip() + b"0\n")  # its last grade, or its last tag
    found = verify(results)
    first = found.differences[0]
    assert (first.kind, first.file, first.where) == ("input", f"../data/{name}", "bytes")
    assert first.then.startswith("sha256 ")
    assert first.now.startswith("sha256 ")
    assert {one.cause for one in found.differences} == {"input"}
    assert found.verified["inputs"] == 4


def test_an_input_that_is_gone(place: Path, results: Path) -> None:
    (place / "data/lsi.run").unlink()
    found = verify(results)
    (one,) = found.differences
    assert (one.file, one.now) == ("../data/lsi.run", "gone")
    assert found.notes == [
        "inputs are gone: if they or the results were moved, --inputs FOLDER says where the "
        "config's paths start from now",
        "not derived anew, as files of theirs are gone: lsi on toy",
        "compared in part: leaderboard.csv, per_query.parquet, manifest.json; what else there is "
        "follows from all cells, and was not",
    ]
    # 2 of 3 runs on 30 queries by 3 metrics
    assert found.verified == {"inputs": 4, "cells": 2, "values": 180, "summaries": 6}


def test_what_is_there_is_derived_though_another_input_is_gone(place: Path, results: Path) -> None:
    (place / "data/lsi.run").unlink()
    path = results / "leaderboard.csv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    (at,) = (at for at, row in enumerate(rows) if row.startswith("toy,tfidf,"))
    (gone,) = (at for at, row in enumerate(rows) if row.startswith("toy,lsi,"))
    for edited in (at, gone):
        changed = [*rows]
        changed[edited] = with_another_digit(rows[edited].encode()).decode()
        path.write_text("\n".join([header, *changed]) + "\n", encoding="utf-8")
        _, one = verify(results).differences
        assert (one.file, one.cause) == (path.name, "edited")
        if edited == at:
            assert one.where.startswith(f"line {at + 2} (toy, tfidf), ")
        else:  # its hash tells
            assert one.then == "other bytes, though every value that was derived is the same"
    path.unlink()
    found = verify(results).differences[1:]
    assert [(one.kind, one.file) for one in found] == [("file", "leaderboard.csv")]
    assert found[0].then == "missing"


def test_an_input_that_cannot_be_read_any_more(place: Path, results: Path) -> None:
    path = place / "data/lsi.run"
    path.write_text(path.read_text(encoding="utf-8") + "18 Q0 d 1 nan x\n", encoding="utf-8")
    found = verify(results)
    assert [(one.kind, one.file) for one in found.differences] == [
        ("input", "../data/lsi.run"),
        ("cell", "lsi on toy"),
    ]
    assert "score 'nan' is not a finite number" in found.differences[1].now
    assert found.verified["cells"] == 2
    assert found.notes[0].startswith("compared in part: leaderboard.csv, per_query.parquet")


def test_other_versions_alone_are_told(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = manifests._version
    monkeypatch.setattr(
        manifests, "_version", lambda name: "99.0" if name == "numpy" else known(name)
    )
    monkeypatch.setattr("harness.audit.verify.sources", lambda: "f" * 64)
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["verify", "--plugins", str(results)])
    out = capsys.readouterr().out
    assert re.search(r"^version: numpy was \d+\.\d+\.\d+, is 99\.0$", out, re.M)
    assert re.search(r"^version: code of the harness was [0-9a-f]{12}, is f{12}$", out, re.M)
    assert "every digit is the same by other versions; verified: 5 inputs" in out


def test_runs_that_failed_must_fail_again(place: Path) -> None:
    (place / "data/broken.run").write_text("1 Q0 d 1 nan x\n", encoding="utf-8")
    config = place / "configs/toy.yaml"
    results = harness.run(config, overrides=["output=failed"]).folder
    found = verify(results)
    assert found.is_verified, text(found)
    assert found.verified["cells"] == 4
    edited(results, lambda m: m["failed"][0].update(error="another"))
    assert not verify(results).is_verified


def test_a_failed_run_whose_file_was_mended_since(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, wrong = place / "data/broken.run", "1 Q0 d 1 nan x\n"
    path.write_text(wrong, encoding="utf-8")
    results = harness.run(place / "configs/toy.yaml", overrides=["output=failed"]).folder
    inputs = inputs_of(results)
    then = hashlib.sha256(wrong.encode()).hexdigest()
    assert {"path": "../data/broken.run", "bytes": len(wrong), "sha256": then} in inputs
    shutil.copy(place / "data/lsi.run", path)
    found = verify(results)
    first, second = found.differences
    now = hashlib.sha256(path.read_bytes()).hexdigest()
    assert first == ("input", "../data/broken.run", "bytes", f"sha256 {then}", f"sha256 {now}",
                     "input")  # fmt: skip
    assert (second.kind, second.file, second.now, second.cause) == (
        "cell", "broken on toy", "evaluated", "input",
    )  # fmt: skip
    assert "cell: broken on toy: error (an input changed)\n" in text(found)
    path.unlink()
    with pytest.raises(SystemExit, match="1"):
        main(["verify", "--plugins", str(results)])
    note = "note: inputs are gone: if they or the results were moved, --inputs FOLDER says where"
    assert note in capsys.readouterr().out


def test_a_failed_run_whose_file_could_not_be_hashed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor read: hashing and reading are refused alike."""
    path = place / "data/broken.run"
    shutil.copy(place / "data/lsi.run", path)
    with monkeypatch.context() as patch:
        refuse(patch, path)
        results = harness.run(place / "configs/toy.yaml", overrides=["output=failed"]).folder
    assert "broken.run" not in json.dumps(inputs_of(results))
    (one,) = verify(results).differences
    assert (one.kind, one.file, one.now, one.cause) == (
        "cell", "broken on toy", "evaluated", "unhashed",
    )  # fmt: skip
    assert one.then.endswith("broken.run: no permission to read it\n  fix:   change its mode or "
                             "its owner")  # fmt: skip
    said = "cell: broken on toy: error (an input of it was not hashed then, as it could not be "
    assert f"{said}read or was changing)\n" in text(verify(results))


def refuse(patch: pytest.MonkeyPatch, path: Path) -> None:
    """Let nobody read a file, root neither."""

    def opened(real: Callable[..., Any]) -> Callable[..., Any]:
        def open_it(file: Any, *args: Any, **more: Any) -> Any:
            if isinstance(file, (str, Path)) and Path(file).name == path.name:
                raise PermissionError(13, "Permission denied", str(file))
            return real(file, *args, **more)

        return open_it

    for home in (builtins, io, Path):  # paths of Python 3.10 open files without either
        patch.setattr(home, "open", opened(home.open))


def inputs_of(results: Path) -> list[dict[str, Any]]:
    content = json.loads((results / "manifest.json").read_text(encoding="utf-8"))
    return list(content["inputs"])


def test_a_file_that_no_run_writes_is_said(results: Path) -> None:
    results = shutil.copytree(results, results.with_name("copy"))  # its cells are not its config's
    (results / "notes.txt").write_text("mine", encoding="utf-8")
    found = verify(results)
    assert found.is_verified
    assert found.notes == ["not written by a run of this config, and not verified: notes.txt"]
    for number in range(6):
        (results / f"more{number}.txt").write_text("mine", encoding="utf-8")
    (note,) = verify(results).notes
    assert note.endswith(
        "verified: more0.txt, more1.txt, more2.txt, more3.txt, more4.txt and 2 more"
    )


def test_what_was_kept_from_before_is_no_difference(place: Path) -> None:
    config = place / "configs/toy.yaml"
    fewer = ["metrics=[map]", "output=grown", "tables={}"]
    harness.run(config, overrides=fewer)
    results = harness.run(config, overrides=["output=grown", "tables={}"]).folder
    assert verify(results).is_verified
    results = harness.run(config, overrides=fewer).folder
    found = verify(results)
    assert found.is_verified
    # each ranking by map now, and by ndcg@10 too then
    (note,) = found.notes
    told = re.fullmatch(
        r"the cross-check was of (\d+) rankings and (\d+) values then, and is of (\d+) rankings "
        r"and (\d+) values now, as cells from the cache keep what was checked when they were "
        r"evaluated; it found no difference either time",
        note,
    )
    assert told is not None
    then, values, now, values_now = map(int, told.groups())
    assert (then, values, values_now) == (now, 2 * now, now)


def test_processes_find_the_same(results: Path) -> None:
    (results / "leaderboard.csv").write_bytes(
        with_another_digit((results / "leaderboard.csv").read_bytes())
    )
    assert as_json(verify(results, jobs=2)) == as_json(verify(results))


def test_exit_codes_and_json(
    place: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["verify", "--plugins", str(results), "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["verified"], found["total"], found["counts"]["values"]) == (True, 0, 270)
    (place / "data/lsi.run").unlink()
    with pytest.raises(SystemExit, match=r"^1$"):
        main(["verify", "--plugins", str(results), "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert found["differences"][0]["kind"] == "input"
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["verify", str(place / "data")])
    assert "the folder holds no manifest.json" in capsys.readouterr().err


def parquet(**columns: list[Any]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def test_plain_data() -> None:
    then = {"a": [1, {"b": 2}], "c": 3, "nan": float("nan")}
    now = {"a": [1, {"b": 4}, 5], "d": 3, "nan": float("nan")}
    found = list(compare_plain("m.json", then, now))
    assert [(one.where, one.then, one.now) for one in found] == [
        ("$.a[1].b", "2", "4"),
        ("$.a[2]", "(nothing)", "5"),
        ("$.d", "(nothing)", "3"),
        ("$.c", "3", "(nothing)"),
    ]


def test_values_are_named_before_what_follows_from_them() -> None:
    """A tier of another run stands in an earlier line than the value that changed it."""
    then = b"run,map,map tier,unsettled\na,0.5,3,\nb,0.4,3,map\n"
    now = b"run,map,map tier,unsettled\na,0.5,2,map\nb,0.1,3,\n"
    found = compare("leaderboard.csv", then, now)
    assert found.total == 4
    assert found.first is not None
    assert found.first[2:5] == ("line 3 (b), map", "0.4", "0.1")
    found = compare("leaderboard.csv", then, then.replace(b"0.5,3", b"0.5,1"))
    assert found.first is not None
    assert found.first.where == "line 2 (a), map tier"


def test_results_of_two_runs_of_which_one_was_stopped(results: Path, place: Path) -> None:
    """As a kill leaves them that came when some files had taken their places: no word of fault."""
    other = harness.run(place / "configs/toy.yaml", overrides=["output=other", "policy.ties=best"])
    shutil.copy(other.folder / "per_query.parquet", results / "per_query.parquet")
    found = verify(results)
    cause = "not the file that manifest.json was written with: edited, or a run was stopped"
    assert [one.file for one in found.differences] == ["per_query.parquet"]
    assert f"({cause}; run the config again)\n" in text(found)
    manifest = results / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"queries": 30', '"queries": 31', 1))
    assert "(the file was edited after it was written)" in text(verify(results))


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
        ("x.csv", b"a,b\n1,2\n3,4\n", b"a,b\n1,2\n", 1, "line 3"),
        ("x.csv", b"a\r\n1\n", b"a\n1\n", 1, "line 1"),  # line ends are bytes too
    ],
)
def test_two_versions_of_a_file(name: str, then: Any, now: Any, total: int, where: str) -> None:
    pair = (one if isinstance(one, bytes) else parquet(**one) for one in (then, now))
    found = compare(name, *pair)
    assert (found.total, found.first and found.first.where) == (total, where)


@pytest.mark.parametrize("content", [PLUGIN + "\n", "1 / 0\n", None])
def test_a_plugin_is_an_input(place: Path, results: Path, content: str | None) -> None:
    path = place / "configs/own.py"
    path.unlink()
    if content is not None:
        path.write_text(content, encoding="utf-8")
    found = verify(results)
    assert (found.differences[0].kind, found.differences[0].file) == ("input", "own.py")
    assert any("nothing was derived anew" in note for note in found.notes) == (
        content != PLUGIN + "\n"
    )
