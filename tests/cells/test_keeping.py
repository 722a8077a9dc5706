"""harness cache: what a cache holds, what can go, whether it is sound."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import harness
from harness.cli.main import main
from harness.errors import InputError
from harness.experiment import cache_upkeep as keeping
from harness.experiment import cache_upkeep as text
from harness.experiment.cache import MARKER
from harness.experiment.cell_record import Record
from harness.files import sha256

CONFIG = """
output: OUT
datasets: {toy: {path: ../data/qrels.txt}}
runs: {"{run}": {path: "../data/{run}.run"}}
metrics: [map, "ndcg@10"]
"""
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("configs", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n", encoding="utf-8")
    for name, scores in (("one", "31"), ("two", "13"), ("three", "52")):
        rows = [f"{q} Q0 {d} 1 {s} x\n" for q in "12" for d, s in zip("ab", scores, strict=True)]
        (tmp_path / f"data/{name}.run").write_text("".join(rows), encoding="utf-8")
    config(tmp_path, "x", "../out")
    harness.run(tmp_path / "configs/x.yaml")
    return tmp_path


def config(place: Path, name: str, output: str, more: str = "") -> Path:
    path = place / f"configs/{name}.yaml"
    path.write_text(CONFIG.replace("OUT", output) + more, encoding="utf-8")
    return path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def command(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main(["cache", *map(str, arguments)])
        out, err = capsys.readouterr()
        return int(stopped.value.code or 0), out, err

    return command


def test_the_list_says_what_each_record_is_of(place: Path, said: Said) -> None:
    code, out, _ = said("list", place / "out")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert [line[1:7] for line in lines[1:4]] == [
        ["toy", "one", "qrels.txt", "one.run", "2", "2"],
        ["toy", "three", "qrels.txt", "three.run", "2", "2"],
        ["toy", "two", "qrels.txt", "two.run", "2", "2"],
    ]
    assert re.fullmatch(r"3 records, \d+\.\d kB", out.splitlines()[-1])


def test_a_cache_is_found_by_config_results_and_itself(place: Path, said: Said) -> None:
    shown = [said("list", place / name)[1] for name in ("out", "configs/x.yaml", "out/cells")]
    assert shown[0] == shown[1] == shown[2] != ""
    shared = config(place, "y", "../other", "cache: ../shared\n")
    harness.run(shared)
    for name in ("other", "configs/y.yaml", "shared"):
        assert keeping.folder_of(place / name).resolve() == (place / "shared").resolve()


def test_json_has_everything(place: Path, said: Said) -> None:
    rows = json.loads(said("list", place / "out", "--format", "json")[1])
    assert [row["run"] for row in rows] == ["one", "three", "two"]
    assert rows[0]["metrics"] == ["map", "ndcg@10"]
    assert rows[0]["current"] is True
    assert len(rows[0]["inputs"]["file 0"]) == 64
    assert rows[0]["choices"]["policy"]["ties"] == "trec_eval"


def test_places_that_are_no_cache_are_said(place: Path, said: Said) -> None:
    code, _, err = said("list", place / "data")
    assert code == 2
    assert "is neither a config, nor a folder of results, nor a cache" in err
    code, _, err = said("list", config(place, "n", "../n", "cache: none\n"))
    assert code == 2
    assert "keeps no evaluated cells: cache is none" in err
    harness.run(place / "configs/n.yaml")
    assert "cache is none" in said("list", place / "n")[2]


def test_options_belong_to_one_action(place: Path, said: Said) -> None:
    for action, option, owner in (
        ("list", ["--delete"], "prune"),
        ("prune", ["-f", "json"], "list"),
        ("list", ["--recompute", "2"], "verify"),
    ):
        code, _, err = said(action, place / "out", *option)
        assert code == 2
        assert f"is an option of cache {owner}, not of {action}" in err


def test_what_is_needed_stays(place: Path, said: Said) -> None:
    path = place / "data/one.run"
    path.write_text(path.read_text(encoding="utf-8").replace("3", "4"), encoding="utf-8")
    harness.run(place / "configs/x.yaml")
    records = len(list((place / "out/cells").glob("??/*.parquet")))
    assert records == 4  # the one of the file as it was before, too
    code, out, _ = said("prune", place / "out")
    assert code == 0
    assert "1 of 4 records can go; --delete deletes them" in out
    assert len(list((place / "out/cells").glob("??/*.parquet"))) == 4
    assert "1 of 4 records deleted" in said("prune", place / "out", "--delete")[1]
    assert harness.run(place / "configs/x.yaml").cached == 3
    assert "0 of 3 records can go" in said("prune", place / "configs/x.yaml")[1]


def test_inputs_that_changed_since(place: Path, said: Said) -> None:
    """The record of the file as it was is what the results were made of, so it stays with them."""
    path = place / "data/one.run"
    path.write_text(path.read_text(encoding="utf-8").replace("3", "4"), encoding="utf-8")
    out = said("verify", place / "out", "--recompute", "1")[1]
    assert out.endswith("; 2 evaluated anew, 8 values; 1 not: inputs changed since\n")
    assert "0 of 3 records can go" in said("prune", place / "out")[1]
    out = said("prune", place / "configs/x.yaml")[1]
    assert "1 of 3 records can go" in out
    assert out.splitlines()[1].endswith("inputs changed since")
    config(place, "x", "../out", "policy: {ties: best}\n")
    out = said("prune", place / "configs/x.yaml")[1]
    assert out.count("no cell of these") == 3


def test_the_list_is_in_the_order_of_numbers(tmp_path: Path, said: Said) -> None:
    for fold in (2, 10):
        (tmp_path / f"fold{fold}.txt").write_text(f"{fold} 0 a 1\n", encoding="utf-8")
        for seed in (1, 9, 11):
            rows = f"{fold} Q0 a 1 {seed} x\n"
            (tmp_path / f"m-{fold}-{seed}.run").write_text(rows, encoding="utf-8")
    (tmp_path / "x.yaml").write_text(
        'output: out\ndatasets: {"f{fold}": {path: "fold{fold}.txt"}}\n'
        'runs: {m: {path: "m-{fold}-{seed}.run"}}\nmetrics: [map]\n', encoding="utf-8",
    )  # fmt: skip
    harness.run(tmp_path / "x.yaml")
    lines = [line.split() for line in said("list", tmp_path / "out")[1].splitlines()[1:-1]]
    assert [line[4] for line in lines] == [f"m-{f}-{s}.run" for f in (2, 10) for s in (1, 9, 11)]


def test_what_others_need_stays(place: Path, said: Said) -> None:
    for name, ties in (("y", "stable"), ("z", "best")):
        more = f"cache: ../shared\npolicy: {{ties: {ties}}}\n"
        harness.run(config(place, name, f"../{name}", more))
    shared = place / "shared"
    code, _, err = said("prune", shared)
    assert code == 2
    assert "nothing says which of its records are needed" in err
    assert "3 of 6 records can go" in said("prune", shared, "--keep", place / "y")[1]
    both = ["--keep", place / "configs/y.yaml", "--keep", place / "z"]
    assert "0 of 6 records can go" in said("prune", shared, *both)[1]
    code, _, err = said("prune", place / "y", "--delete")  # y's manifest names the cache, not we
    assert code == 2
    assert "expected a cache in the folder of results" in err
    assert said("prune", place / "configs/y.yaml", "--delete")[0] == 2
    deleted = said("prune", shared, "--delete", "--keep", place / "y")[1]
    assert "3 of 6 records deleted" in deleted
    assert harness.run(place / "configs/y.yaml").cached == 3
    assert harness.run(place / "configs/z.yaml").cached == 0


def test_what_is_young_stays(place: Path, said: Said) -> None:
    first, *_ = sorted((place / "out/cells").glob("??/*.parquet"))
    long_ago = time.time() - 40 * 86_400
    os.utime(first, (long_ago, long_ago))
    assert "1 of 3 records can go" in said("prune", place / "out/cells", "--days", "30")[1]
    assert "0 of 3 records can go" in said("prune", place / "out/cells", "--days", "50")[1]
    assert "0 of 3 records can go" in said("prune", place / "out", "--days", "30")[1]  # needed


def test_sound_records_are_evaluated_anew(place: Path, said: Said) -> None:
    code, out, _ = said("verify", place / "out", "--recompute", "1")
    assert (code, out.partition(": ")[2]) == (0, "all sound; 3 evaluated anew, 12 values\n")
    out = said("verify", place / "out", "--recompute", "2")[1]
    assert out.endswith("; 2 evaluated anew, 8 values; 1 not: not asked for\n")
    code, out, _ = said("verify", place / "out/cells")
    assert (code, out.partition(": ")[2]) == (0, "all sound\n")


def test_a_damaged_digit_is_not_read(place: Path, said: Said) -> None:
    path = sorted((place / "out/cells").glob("??/*.parquet"))[0]
    record = Record.from_parquet(path.read_bytes())
    values = {name: found.copy() for name, found in record.values.items()}
    values["map"][0] += 2**-40
    changed = replace(record, values=values)
    true, false = record.to_parquet(), changed.to_parquet()
    digests = [re.findall(rb'"sha256": "([0-9a-f]{64})"}', one)[0] for one in (true, false)]
    path.write_bytes(false.replace(digests[1], digests[0]))
    assert path.read_bytes() != true
    with pytest.raises(ValueError, match="other values than were written"):
        Record.from_parquet(path.read_bytes())
    code, out, _ = said("verify", place / "out")
    assert code == 1
    assert out.splitlines()[0] == f"{path}: cannot be read: other values than were written"
    assert out.endswith("1 wrong\n")
    assert harness.run(place / "configs/x.yaml").cached == 2


def test_a_record_under_another_name_is_found(place: Path, said: Said) -> None:
    one, two, _ = sorted((place / "out/cells").glob("??/*.parquet"))
    one.write_bytes(two.read_bytes())
    code, out, _ = said("verify", place / "out")
    assert code == 1
    assert out.splitlines()[0] == f"{one}: is not what its name says"


def test_values_that_do_not_come_out_again(place: Path, said: Said) -> None:
    found = {one.about["run"]: one for one in keeping.kept(place / "out/cells")}
    one = found["two"]
    assert one.record is not None
    values = {**one.record.values, "ndcg@10": one.record.values["ndcg@10"] + 2**-40}
    one.path.write_bytes(replace(one.record, values=values).to_parquet())  # with its own hash
    assert said("verify", place / "out")[0] == 0
    code, out, _ = said("verify", place / "out", "--recompute", "1")
    assert code == 1
    was, now = repr(float(values["ndcg@10"][0])), repr(float(one.record.values["ndcg@10"][0]))
    assert f"two on toy: ndcg@10 of query 1 is {was}, and {now} when derived anew" in out


def test_records_of_other_code_are_marked(
    place: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.experiment.cache_key.code", lambda: "f" * 64)
    monkeypatch.setattr("harness.experiment.cache_upkeep.code", lambda: "f" * 64)
    assert said("list", place / "out")[1].count("other code") == 3
    out = said("verify", place / "out", "--recompute", "1")[1]
    assert out.endswith("; none evaluated anew; 3 not: other code\n")
    assert "3 of 3 records can go" in said("prune", place / "out")[1]


def test_an_empty_cache(tmp_path: Path, said: Said) -> None:
    (tmp_path / "x/cells").mkdir(parents=True)
    assert said("list", tmp_path / "x")[:2] == (0, "0 records, 0 B\n")
    assert text.table([]) == "0 records, 0 B\n"


def test_recomputing_needs_a_config(place: Path) -> None:
    found = list(keeping.kept(place / "out/cells"))
    with pytest.raises(InputError, match=r"holds no manifest\.json"):
        list(keeping.recomputed(place / "out/cells", found, 1))


def _strangers(folder: Path, name: str) -> list[Path]:
    """Put files into a folder that look like records, and return them."""
    key = "0123456789abcdef" * 4
    paths = [
        folder / one
        for one in (
            "en/train.parquet", "ab/train.parquet", f"ab/{key}.parquet", f"01/{key}.csv",
            f"01/x{key}.parquet", f"{key}.parquet", f"01/{key[:-1]}.parquet", name,
        )
    ]  # fmt: skip
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"mine")
    return paths


def test_only_files_named_as_records_are_deleted(place: Path, said: Said) -> None:
    mine = _strangers(place / "out/cells", f"0A/{'0A' * 32}.parquet")
    code, out, _ = said("prune", place / "out/cells", "--days", "0", "--delete")
    assert code == 0
    assert "3 of 3 records deleted" in out
    assert all(path.read_bytes() == b"mine" for path in mine)


def test_nothing_is_deleted_in_a_folder_without_the_marker(place: Path, said: Said) -> None:
    cells = place / "out/cells"
    before = sorted(cells.glob("??/*.parquet"))
    for content in (None, b"", b"Signature: 8a477f597d28d172789f06886806bc55\n# of another\n"):
        (cells / MARKER).unlink(missing_ok=True)
        if content is not None:
            (cells / MARKER).write_bytes(content)
        code, _, err = said("prune", cells, "--days", "0", "--delete")
        assert code == 2
        assert f"expected a cache with the file {MARKER}" in err
        assert sorted(cells.glob("??/*.parquet")) == before
    (cells / MARKER).unlink()
    harness.run(place / "configs/x.yaml")  # marks it again
    assert "3 of 3 records deleted" in said("prune", cells, "--days", "0", "--delete")[1]


@pytest.mark.parametrize("key", ["cache", "base"])
def test_a_manifest_cannot_point_a_prune_elsewhere(place: Path, said: Said, key: str) -> None:
    harness.run(config(place, "y", "../y", "cache: ../elsewhere/cells\n"))
    manifest = json.loads((place / "out/manifest.json").read_text(encoding="utf-8"))
    if key == "cache":
        manifest["config"]["cache"] = str(place / "elsewhere/cells")
    else:
        manifest["base"], manifest["config"]["cache"] = "../elsewhere", "cells"
    (place / "out/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    keep = ["--keep", place / "configs/x.yaml"]
    code, _, err = said("prune", place / "out", "--days", "0", "--delete", *keep)
    assert code == 2
    assert "harness cache prune" in err
    assert len(list((place / "elsewhere/cells").glob("??/*.parquet"))) == 3


def test_links_are_not_followed_out_of_a_cache(place: Path, said: Said) -> None:
    cells, other = place / "out/cells", place / "other"
    cells.rename(other)
    cells.symlink_to(other)
    code, _, err = said("prune", place / "out", "--days", "0", "--delete")
    assert code == 2
    assert "expected a cache in the folder of results" in err
    cells.unlink()
    other.rename(cells)
    first, second, _ = sorted(cells.glob("??/*.parquet"))
    first.parent.rename(place / "shard")  # a folder of records
    first.parent.symlink_to(place / "shard")
    second.rename(place / "file")  # a record
    second.symlink_to(place / "file")
    code, out, _ = said("prune", cells, "--days", "0", "--delete")
    assert code == 0
    assert "1 of 1 records deleted" in out
    assert (place / "shard" / first.name).is_file()
    assert (place / "file").is_file()


def test_the_index_holds_when_the_project_is_moved(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (place / "data").iterdir():
        os.utime(path, (1_000_000_000, 1_000_000_000))
    monkeypatch.setattr("harness.experiment.cache._RECENT", -(2**62))  # whenever a file was changed
    (place / "out/cells/inputs.json").unlink()
    harness.run(place / "configs/x.yaml")
    text = (place / "out/cells/inputs.json").read_text(encoding="utf-8")
    assert {*json.loads(text)["files"]} == {
        f"../../data/{name}" for name in ("one.run", "qrels.txt", "three.run", "two.run")
    }
    assert str(place) not in text
    moved = place.parent / "moved"
    place.rename(moved)
    monkeypatch.chdir(moved / "data")
    read: list[str] = []
    monkeypatch.setattr(
        "harness.experiment.cache.sha256", lambda path: read.append(str(path)) or sha256(path)
    )
    assert harness.run("../configs/x.yaml").cached == 3
    assert read == []


def test_results_name_no_folder_of_this_machine(place: Path) -> None:
    harness.run(place / "configs/x.yaml")
    own = os.fsencode(place)
    holding = [path for path in (place / "out").rglob("*") if path.is_file()]
    assert [path for path in holding if own in path.read_bytes()] == []
