"""harness cache: what a cache holds, what can go, whether it is sound."""

import json
import os
import re
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from command_line import called
from refusals import refuses

import harness
from harness.experiment import cache_upkeep
from harness.experiment.cache import Record

cache = partial(called, "cache")


@pytest.fixture(autouse=True)
def results(config: Path) -> Path:
    return harness.run(config).folder


@pytest.fixture
def change(place: Path) -> None:
    """Another byte in one run."""
    path = place / "data/one.run"
    path.write_text(path.read_text().replace(" 3 ", " 4 "))


def other_config(place: Path, name: str, more: str = "") -> Path:
    path = place / f"configs/{name}.yaml"
    path.write_text((place / "configs/toy.yaml").read_text().replace("../out", f"../{name}") + more)
    return path


def records(folder: Path) -> list[Path]:
    return sorted((folder / "cells").glob("??/*.parquet"))


def test_list(place: Path, config: Path) -> None:
    code, out, _ = cache("list", place / "out")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert [line[1:7] for line in lines[1:4]] == [
        ["toy", run, "qrels.txt", f"{run}.run", "4", "3"] for run in ("one", "ten", "two")
    ]
    assert re.fullmatch(r"3 records, \d+\.\d kB", out.splitlines()[-1])
    for way in (config, place / "out/cells"):
        assert cache("list", way)[1] == out
    rows = json.loads(cache("list", place / "out", "--format", "json")[1])
    assert [row["run"] for row in rows] == ["one", "ten", "two"]
    assert rows[0]["metrics"] == ["map", "ndcg@10", "arp"]
    assert rows[0]["current"] is True
    assert rows[0]["choices"]["policy"]["ties"] == "trec_eval"


def test_no_records(place: Path) -> None:
    (place / "x/cells").mkdir(parents=True)
    assert cache("list", place / "x")[:2] == (0, "0 records, 0.0 kB\n")
    with refuses("cells"):
        list(cache_upkeep.recomputed(place / "out/cells", [], 1))


@pytest.mark.usefixtures("change")
def test_prune_keeps_what_is_needed(place: Path, config: Path) -> None:
    harness.run(config)
    assert len(records(place / "out")) == 4
    assert "1 of 4 records can go; --delete deletes them" in cache("prune", place / "out")[1]
    assert len(records(place / "out")) == 4
    assert "1 of 4 records deleted" in cache("prune", place / "out", "--delete")[1]
    assert harness.run(config).cached == 3
    assert "0 of 3 records can go" in cache("prune", config)[1]


def test_prune_by_age(place: Path) -> None:
    long_ago = time.time() - 40 * 86_400
    os.utime(records(place / "out")[0], (long_ago, long_ago))
    assert "1 of 3 records can go" in cache("prune", place / "out/cells", "--days", "30")[1]
    assert "0 of 3 records can go" in cache("prune", place / "out/cells", "--days", "50")[1]
    assert "0 of 3 records can go" in cache("prune", place / "out", "--days", "30")[1]  # needed


def test_verify(place: Path) -> None:
    code, out, _ = cache("verify", place / "out", "--recompute", "1")
    assert (code, out.partition(": ")[2]) == (0, "all sound; 3 of 3 evaluated again, 36 values\n")
    out = cache("verify", place / "out", "--recompute", "2")[1]
    assert out.endswith("; 2 of 3 evaluated again, 24 values\n")
    code, out, _ = cache("verify", place / "out/cells")
    assert (code, out.partition(": ")[2]) == (0, "all sound\n")


def changed(record: Record) -> Record:
    columns = {name: found.copy() for name, found in record.columns.items()}
    columns["values:map"][0] += 2**-40
    return replace(record, columns=columns)


def test_verify_finds_damage(place: Path, config: Path) -> None:
    first, second, third = records(place / "out")
    true = first.read_bytes()
    values = Record.from_parquet(true).columns["values:map"].tobytes()
    first.write_bytes(
        true.replace(values, changed(Record.from_parquet(true)).columns["values:map"].tobytes())
    )
    second.write_bytes(third.read_bytes())
    record = Record.from_parquet(third.read_bytes())
    third.write_bytes(changed(record).to_parquet())  # with its own hash
    code, out, _ = cache("verify", place / "out", "--recompute", "1")
    assert code == 1
    assert out.splitlines()[:2] == [
        f"{first}: cannot be read: could not verify page integrity, CRC checksum verification "
        "failed for page_ordinal 0",
        f"{second}: is not what its name says",
    ]
    was, now = (repr(float(one.columns["values:map"][0])) for one in (changed(record), record))
    assert f"on toy: map of query 1 was {was}, got {now}" in out
    assert harness.run(config).cached == 2  # the damaged one is computed again


def test_only_records_are_deleted(place: Path) -> None:
    key, cells = "0123456789abcdef" * 4, place / "out/cells"
    first, second, _ = records(place / "out")
    names = ("en/train.parquet", f"ab/{key}.parquet", f"01/{key}.csv", f"01/x{key}.parquet",
             f"{key}.parquet", f"01/{key[:-1]}.parquet", f"0A/{'0A' * 32}.parquet")  # fmt: skip
    for name in names:
        (cells / name).parent.mkdir(parents=True, exist_ok=True)
        (cells / name).write_bytes(b"mine")
    first.parent.rename(place / "shard")  # a folder of records
    first.parent.symlink_to(place / "shard")
    second.rename(place / "file")  # a record
    second.symlink_to(place / "file")
    code, out, _ = cache("prune", cells, "--days", "0", "--delete")
    assert code == 0
    assert "1 of 1 records deleted" in out
    assert all((cells / name).read_bytes() == b"mine" for name in names)
    assert (place / "shard" / first.name).is_file()
    assert (place / "file").is_file()
