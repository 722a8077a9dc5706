"""Slices: groups of a dataset's queries in every output, and what is wrong with a file of them."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import called, refused, succeeds
from csv_rows import csv_rows
from ranks import QIDS, write_qrels, write_run

LENGTHS = dict(zip(QIDS, (1, 9, 3, 4, 5, 6, 10, 2, 4.5, 12, 1, 8), strict=True))
TYPES = dict(zip(QIDS, ("web", "news", "") * 4, strict=True))
CONFIG = """
datasets: {d: {path: qrels.txt, groups: {path: queries.csv, bins: {length: [4, 10]}}}}
runs: {"{run}": {path: "{run}.run"}}
metrics: [recip_rank, num_ret]
"""
BINS = ("below 4", "4 to 10", "10 or more")


def write_groups(path: Path, qids: list[str] = QIDS, **columns: dict[str, object]) -> None:
    columns = columns or {"length": LENGTHS, "type": TYPES}
    rows = [",".join(["qid", *columns])]
    rows += [",".join([qid, *(str(own.get(qid, "x")) for own in columns.values())]) for qid in qids]
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    write_qrels(tmp_path / "qrels.txt")
    for name in ("a", "b", "c"):
        write_run(tmp_path / f"{name}.run", {qid: int(rng.integers(1, 5)) for qid in QIDS})
    write_groups(tmp_path / "queries.csv")
    (tmp_path / "c.yaml").write_text(CONFIG)
    return tmp_path


def run(folder: Path, more: str = "", config: str = CONFIG) -> Path:
    (folder / "c.yaml").write_text(f"output: out\n{config}{more}")
    succeeds("run", "c.yaml", cwd=folder)
    return folder / "out"


def bin_of(length: float) -> str:
    return BINS[0] if length < 4 else BINS[1] if length < 10 else BINS[2]


def test_every_slice_is_a_dataset(folder: Path) -> None:
    out = run(folder, "compare: {baseline: a}\n")
    table = pq.read_table(out / "per_query.parquet").to_pylist()
    own = {(row["qid"], row["length"], row["type"]) for row in table}
    assert own == {(qid, bin_of(LENGTHS[qid]), TYPES[qid] or None) for qid in QIDS}
    found = {(row["dataset"], row["run"]): row for row in csv_rows(out / "leaderboard.csv")}
    groups = [("length", one) for one in BINS] + [("type", "news"), ("type", "web")]
    names = ["d", *(f"d [{column}={label}]" for column, label in groups)]
    assert list(dict.fromkeys(name for name, _ in found)) == names
    for column, label in groups:
        for name in "abc":
            some = [
                row["value"] for row in table
                if (row["run"], row["metric"], row[column]) == (name, "recip_rank", label)
            ]  # fmt: skip
            row = found[f"d [{column}={label}]", name]
            assert (int(row["queries"]), row["judged"]) == (len(some), "")
            assert float(row["recip_rank"]) == pytest.approx(np.mean(some), abs=1e-15)
            assert int(row["num_ret"]) == 5 * len(some)
    tested = csv_rows(out / "significance.csv")
    assert {row["dataset"] for row in tested} == {*names}
    for name in names:  # Holm's correction of each slice by itself
        of_slice = [row for row in tested if row["dataset"] == name]
        p = np.array([float(row["p"]) for row in of_slice])
        adjusted = np.array([float(row["p_adjusted"]) for row in of_slice])
        order = np.argsort(p)
        holm = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)))
        assert adjusted[order] == pytest.approx(holm)
    assert called("verify", "out", cwd=folder).code == 0


def test_restricted(folder: Path) -> None:
    run(folder, "compare: {baseline: a}\ntables: {main: {}}\n")
    words = ("compare", "a", "b", "--results", "out", "--format", "csv", "--dataset")
    for dataset, n in (("d", "12"), ("d [type=web]", "4")):
        done = called(*words, dataset, cwd=folder)
        (row,) = csv_rows(done.out)
        assert (row["dataset"], row["n"]) == (dataset, n)
    assert "type=web" not in (folder / "out/tables/main.md").read_text()
    shown = called("table", "out", "--dataset", "d [type*", cwd=folder).out
    assert "d [type=news] and d [type=web] (4 queries each)" in shown


def test_gate(folder: Path) -> None:
    gate = "gate: {baseline: a, rules: {recip_rank: {margin: 0.1}}}\n"
    (folder / "g.yaml").write_text(CONFIG + gate)
    done = called("gate", "g.yaml", "--format", "json", cwd=folder)
    found = json.loads(done.out)["verdicts"]
    assert {(one["dataset"], one["group"], one["n"]) for one in found} == {
        ("d", "", 12), ("d", "length=below 4", 4), ("d", "length=4 to 10", 6),
        ("d", "length=10 or more", 2), ("d", "type=web", 4), ("d", "type=news", 4),
    }  # fmt: skip
    cases = called("gate", "g.yaml", "--format", "junit", cwd=folder).out
    assert 'name="type=web / recip_rank"' in cases
    words = ("a.run", "b.run", "--qrels", "qrels.txt", "-m", "recip_rank")
    groups = (
        "--groups",
        "queries.csv",
        "--set",
        "groups.bins={length: [4, 10]}",
        "--format",
        "json",
    )
    done = called("gate", *words, "--margin", "0.1", *groups, cwd=folder)
    of_files = {one["group"]: one["outcome"] for one in json.loads(done.out)["verdicts"]}
    assert of_files == {one["group"]: one["outcome"] for one in found if one["run"] == "b"}


def test_folds_and_seeds(folder: Path) -> None:
    """Slices of pooled and averaged folds, whose files and groups are apart."""
    for fold, some in enumerate((QIDS[:5], QIDS[5:]), 1):
        write_qrels(folder / f"qrels{fold}.txt", some)
        write_groups(folder / f"queries{fold}.csv", some, type=TYPES)
        for seed in (1, 2):
            ranks = {qid: 1 + (int(qid) * seed) % 4 for qid in some}
            write_run(folder / f"s-{fold}-{seed}.run", ranks)
    config = """
datasets: {"d{fold}": {path: "qrels{fold}.txt", groups: "queries{fold}.csv"}}
runs: {s: {path: "s-{fold}-{seed}.run"}}
metrics: [recip_rank]
"""
    for how in ("pool", "average"):
        out = run(folder, f"summary: {{{how}: [fold], spread: [seed]}}\n", config)
        found = {row["dataset"]: row for row in csv_rows(out / "leaderboard.csv")}
        web = [[q for q in some if TYPES[q] == "web"] for some in (QIDS[:5], QIDS[5:])]
        values = [[np.mean([1 / (1 + (int(q) * s) % 4) for s in (1, 2)]) for q in w] for w in web]
        expected = np.mean([np.mean(one) for one in values])
        if how == "pool":
            expected = np.mean([one for some in values for one in some])
        assert float(found["d [type=web]"]["recip_rank"]) == pytest.approx(expected)
        assert found["d [type=web]"]["queries"] == "4"
        assert called("verify", "out", cwd=folder).code == 0


def test_parquet_and_a_function(folder: Path) -> None:
    some = run(folder)
    expected = (some / "leaderboard.csv").read_bytes()
    columns = {
        "topic": [*map(int, QIDS)],
        "length": list(LENGTHS.values()),
        "type": list(TYPES.values()),
    }
    pq.write_table(pa.table(columns), folder / "queries.parquet")
    text = CONFIG.replace("queries.csv", "queries.parquet, qid: topic")
    assert (run(folder, "", text) / "leaderboard.csv").read_bytes() == expected


def test_missing_queries_of_a_slice(folder: Path) -> None:
    write_run(folder / "c.run", dict.fromkeys([qid for qid in QIDS if TYPES[qid] != "web"], 1))
    out = run(folder, "reports: [page]\n")
    found = {row["dataset"]: row for row in csv_rows(out / "leaderboard.csv") if row["run"] == "c"}
    assert [found[name]["missing"] for name in ("d", "d [type=web]", "d [type=news]")] == [
        "4", "4", "0",
    ]  # fmt: skip
    page = (out / "page.html").read_bytes()
    assert called("page", "out", "-o", "page.html", cwd=folder).code == 0
    assert called("verify", "out", cwd=folder).code == 0
    assert page


def test_a_reversal_is_found(folder: Path) -> None:
    """Runs that answer other queries have other weights: a is better overall, b in each group."""
    easy, hard = QIDS[:6], QIDS[6:]
    kinds = {qid: "easy" if qid in easy else "hard" for qid in QIDS}
    write_groups(folder / "queries.csv", kind=kinds)
    write_run(folder / "a.run", {**dict.fromkeys(easy, 2), hard[0]: 4})
    write_run(folder / "b.run", {easy[0]: 1, **dict.fromkeys(hard, 3)})
    (folder / "c.run").unlink()
    config = CONFIG.replace(", bins: {length: [4, 10]}", "")
    config += "policy: {missing_queries: skip}\noutput: out\n"
    (folder / "c.yaml").write_text(config)
    done = called("run", "c.yaml", cwd=folder)
    what = "on d, a is better than b by recip_rank, and worse in every group of kind [reversal]"
    assert f"qrels.txt: {what}" in done.err
    findings = json.loads((folder / "out/manifest.json").read_text())["findings"]
    assert [one["severity"] for one in findings if one["rule"] == "reversal"] == ["warning"]
    (folder / "c.yaml").write_text(f"{config}guard: {{accept: [reversal]}}\n")
    assert "better than b" not in called("run", "c.yaml", cwd=folder).err


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ("qid,t\n1,a\n2,b\n1,c\n", "queries.csv:4"),
        ("session,t\n1,a\n", "queries.csv:1"),
        ("qid,t\nq1,a\nq2,b\n", "queries.csv"),
        ("qid,t\n1,a,b\n", "queries.csv:2"),
        ("qid,run\n1,a\n", "queries.csv"),
        ("", "queries.csv:1"),
        ("qid,t\n" + "".join(f"{n},{n}\n" for n in range(30)), "queries.csv: column 't'"),
    ],
)
def test_wrong_files(folder: Path, rows: str, place: str) -> None:
    (folder / "queries.csv").write_text(rows)
    (folder / "c.yaml").write_text(CONFIG.replace("bins: {length: [4, 10]}", "bins: {}"))
    words = ("evaluate", "qrels.txt", "a.run", "-m", "map", "--groups", "queries.csv")
    for command in (("run", "c.yaml"), words):
        assert f"error: {place}: " in refused(*command, cwd=folder)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("{path: quries.csv}", "$.datasets.d.groups.path (line 2)"),
        ("{path: queries.csv, bins: {length: [10, 4]}}", "$.datasets.d.groups (line 2)"),
        ("{path: queries.csv, bins: {lenght: [4]}}", "use length"),
        ("{path: queries.csv, bins: {type: [4]}}", "queries.csv: column 'type': "),
        ("{path: queries.csv, columns: [type], bins: {length: [4]}}", "groups.bins (line 2)"),
        ("{columns: [type]}", "$.datasets.d.groups (line 2)"),
        ("{}", "$.datasets.d.groups (line 2)"),
    ],
)
def test_wrong_settings(folder: Path, groups: str, message: str) -> None:
    text = CONFIG.replace("{path: queries.csv, bins: {length: [4, 10]}}", groups)
    (folder / "c.yaml").write_text(text)
    assert message in refused("run", "c.yaml", cwd=folder)


def test_unknown_and_absent_qids_are_a_finding(folder: Path) -> None:
    write_groups(folder / "queries.csv", [*QIDS[1:], "99"], length={**LENGTHS, "99": 3})
    done = called("run", "c.yaml", cwd=folder)
    assert done.code == 0
    assert "queries.csv: 1 qid with a group is not in the dataset: 99 [group-queries]" in done.err
    assert "queries.csv: 1 query of the dataset has no group: 10 [group-queries]" in done.err
    done = called("check", "c.yaml", cwd=folder)
    assert "warning: 1 query of the dataset has no group: 10 [group-queries]" in done.out
    write_groups(folder / "queries.csv", [*QIDS, QIDS[0]])
    done = called("check", "c.yaml", cwd=folder)
    assert done.code == 2
    assert "error: line 14: " in done.out


@pytest.mark.parametrize("name", ["query_id", "topic", "QID"])
def test_a_usual_name_of_qids_is_known(name: str, folder: Path) -> None:
    lines = (folder / "queries.csv").read_text(encoding="utf-8").split("\n", 1)
    out = run(folder)
    expected = (out / "leaderboard.csv").read_bytes()
    text = "\n".join([lines[0].replace("qid", name), lines[1]])
    (folder / "queries.csv").write_text(text, encoding="utf-8")
    out = run(folder)
    assert (out / "leaderboard.csv").read_bytes() == expected
