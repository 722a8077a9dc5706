"""Query weights on every path: commands, configs, Python; their files and mistakes in them."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from command_line import called, refused, succeeds
from csv_rows import csv_rows
from ranks import QIDS, write_qrels, write_run
from refusals import refuses
from table_forms import save_table

import harness
from harness.errors import ArgumentError, HarnessError, InputError, UnknownNameError
from harness.experiment.results import read_results

METRICS = ["recip_rank", "P@5", "num_ret", "gm_map", "success@1", "arp", "median_first_rank"]
OPTIONS = [word for metric in METRICS for word in ("-m", metric)]
CLICKS = dict(zip(QIDS, (3, 0, 1, 20, 7, 2, 1, 2, 6, 4, 11, 5), strict=True))
COST = {qid: 0.25 * (n + 1) for n, qid in enumerate(QIDS)}
CONFIG = """
output: out
datasets: {d: {path: qrels.txt, weights: {path: traffic.csv, column: clicks}}}
runs: {"{run}": {path: "{run}.run"}}
metrics: [recip_rank, P@5, num_ret, gm_map, success@1, arp, median_first_rank]
"""
Weights = dict[str, float]


def write_weights(path: Path, rows: dict[str, object], column: str = "clicks") -> None:
    lines = [f"{qid},{COST.get(qid, 1)},{weight},text" for qid, weight in rows.items()]
    path.write_text("\n".join([f"qid,cost,{column},note", *reversed(lines)]) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(4)
    write_qrels(tmp_path / "qrels.txt")
    for name in ("a", "b"):
        write_run(tmp_path / f"{name}.run", {qid: int(rng.integers(1, 5)) for qid in QIDS[:-1]})
    write_weights(tmp_path / "traffic.csv", {**CLICKS, "777": 9, "778": 1})
    (tmp_path / "c.yaml").write_text(CONFIG)
    return tmp_path


def run(folder: Path, more: str = "", config: str = CONFIG) -> Path:
    (folder / "c.yaml").write_text(config + more)
    succeeds("run", "c.yaml", cwd=folder)
    return folder / "out"


def summary(folder: Path, name: str, weights: object = None) -> dict[str, float]:
    return harness.evaluate(
        folder / "qrels.txt", folder / f"{name}.run", METRICS, weights=weights
    ).summary()


def expected(folder: Path, name: str, weights: Weights = CLICKS) -> dict[str, float]:
    """Numpy's weighted means of the values of each query, of those where a metric is defined."""
    evaluation = harness.evaluate(folder / "qrels.txt", folder / f"{name}.run", METRICS)
    found = {}
    for metric in METRICS:
        values = evaluation.column(metric)
        own = np.array([float(weights[qid]) for qid in evaluation.qids.to_pylist()])
        own, values = own[~np.isnan(values)], values[~np.isnan(values)]
        mean = np.average(values, weights=own)
        others = {
            "num_ret": (values * own).sum(),
            "gm_map": math.exp(mean),
            "median_first_rank": np.median(np.repeat(values, own.astype(int))),
        }
        found[metric] = others.get(metric, mean)
    return found


def test_summaries_are_weighted_on_every_path(folder: Path) -> None:
    out = run(folder)
    of_config = {row["run"]: row for row in csv_rows(out / "leaderboard.csv")}
    words = ("evaluate", "qrels.txt", "a.run", "b.run", *OPTIONS, "-f", "csv")
    printed = succeeds(*words, "--weights", "traffic.csv:clicks", cwd=folder)
    of_command = {row["run"]: row for row in csv_rows(printed)}
    board = read_results(out)
    for name in "ab":
        numbers = expected(folder, name)
        assert summary(folder, name, CLICKS) == pytest.approx(numbers, rel=1e-14)
        assert summary(folder, name, f"{folder}/traffic.csv:clicks") == summary(
            folder, name, CLICKS
        )
        for row in (of_config[name], of_command[name]):
            assert {m: float(row[m]) for m in METRICS} == summary(folder, name, CLICKS)
            assert row["weighted_by"] == "clicks"
    for entry in board.leaderboard.entries:
        assert entry.summary == summary(folder, entry.run, CLICKS)
        assert entry.evaluation.weighted_by == "clicks"


def test_a_weight_of_k_is_k_times_the_query(folder: Path) -> None:
    """The qrels and the run with each query as often as its weight, and no weights."""
    for name in ("qrels.txt", "a.run", "b.run"):
        lines = [line.split(" ", 1) for line in (folder / name).read_text().splitlines()]
        copies = [f"{qid}x{n} {rest}" for qid, rest in lines for n in range(CLICKS[qid])]
        (folder / name.replace(".", "-copies.")).write_text("\n".join(copies) + "\n")
    for name in "ab":
        copied = harness.evaluate(
            folder / "qrels-copies.txt", folder / f"{name}-copies.run", METRICS
        ).summary()
        assert summary(folder, name, CLICKS) == pytest.approx(copied, rel=1e-14)


@pytest.mark.parametrize("policy", ["missing_queries: skip", "empty_queries: skip"])
def test_policies_leave_queries_and_their_weights_out(folder: Path, policy: str) -> None:
    (folder / "qrels.txt").write_text((folder / "qrels.txt").read_text() + "12 0 x 0\n2 0 y 0\n")
    text = (folder / "qrels.txt").read_text().replace("10 0 r 1\n", "10 0 r 0\n")
    (folder / "qrels.txt").write_text(text)
    key, value = policy.split(": ")
    rules = {key: value}
    plain = harness.evaluate(folder / "qrels.txt", folder / "a.run", METRICS, policy=rules)
    found = harness.evaluate(
        folder / "qrels.txt", folder / "a.run", METRICS, policy=rules, weights=CLICKS
    )
    qids = plain.qids.to_pylist()
    for metric in ("recip_rank", "P@5", "arp"):
        pairs = [
            (value, CLICKS[qid])
            for qid, value in zip(qids, plain.column(metric), strict=True)
            if not math.isnan(value)
        ]
        mean = sum(value * weight for value, weight in pairs) / sum(weight for _, weight in pairs)
        assert found.summary()[metric] == pytest.approx(mean, rel=1e-14)


def test_weights_of_1_change_no_digit(folder: Path) -> None:
    for name in "ab":
        assert summary(folder, name, dict.fromkeys(QIDS, 1)) == summary(folder, name)
        assert summary(folder, name, CLICKS) != summary(folder, name)


def test_a_metric_with_weights_of_its_own_has_both(folder: Path) -> None:
    (folder / "rows.txt").write_text(
        "".join(f"{g} qid:{q} 1:0\n" for q, g in [("1", 2), ("1", 0), ("1", 1), ("2", 1), ("2", 0)])
    )
    (folder / "p.txt").write_text("0.1\n0.2\n0.3\n0.4\n0.5\n")
    name = "arp(over=grades)"
    plain = harness.evaluate(folder / "rows.txt", folder / "p.txt", [name])
    found = harness.evaluate(
        folder / "rows.txt", folder / "p.txt", [name], weights={"1": 2.5, "2": 4}
    )
    own = plain.weights[0]
    product = own * [2.5, 4]
    assert found.summary()[name] == pytest.approx(np.average(plain.values[:, 0], weights=product))


def test_every_report_says_weighted(folder: Path) -> None:
    more = "compare: {baseline: a, test: bootstrap, draws: 99}\n"
    more += "reports: [csv, html, jsonl, markdown, table, trec, page]\n"
    more += "tables: {main: {formats: [latex, markdown]}}\n"
    out = run(folder, more)
    printed = succeeds("run", "c.yaml", cwd=folder)
    texts = {name: (out / name).read_text() for name in (
        "leaderboard.csv", "leaderboard.html", "leaderboard.jsonl", "leaderboard.md",
        "leaderboard.txt", "significance.csv", "standings.csv", "manifest.json",
        "tables/main.tex", "tables/main.md",
    )}  # fmt: skip
    for name, text in {**texts, "printed": printed}.items():
        assert "weighted" in text, name
        assert "clicks" in text, name
    notes = texts["tables/main.tex"].partition(r"\begin{tablenotes}")[2]
    assert "each query weighted by clicks" in notes
    assert "each query weighted by clicks" in succeeds("table", "out", "--methods", cwd=folder)
    assert "Each query is weighted by clicks." in succeeds(
        "compare", "a", "b", "--results", "out", "-t", "bootstrap", cwd=folder
    )
    assert "each query by its clicks" in succeeds(
        "trace", "out", "--run", "a", "--metric", "recip_rank", cwd=folder
    )
    overview = succeeds("conventions", "c.yaml", "-m", "recip_rank", cwd=folder)
    assert "weighted by clicks" in overview
    board = harness.evaluate(folder / "qrels.txt", folder / "a.run", ["map"], weights=CLICKS)
    assert "weighted by weight" in board.notes


def test_results_know_the_file_and_verify_finds_it_changed(folder: Path) -> None:
    out = run(folder)
    manifest = json.loads((out / "manifest.json").read_text())
    assert "traffic.csv" in [one["path"] for one in manifest["inputs"]]
    assert {cell["weighted_by"] for cell in manifest["cells"]} == {"clicks"}
    assert called("verify", "out", cwd=folder).code == 0
    before = read_results(out).leaderboard.entries[0].summary
    write_weights(folder / "traffic.csv", {**CLICKS, QIDS[3]: 21})
    differing = called("verify", "out", cwd=folder)
    assert differing.code == 1
    assert "traffic.csv" in differing.out
    again = harness.run(folder / "c.yaml")
    assert again.cached == 2  # the values of queries do not follow from their weights
    assert again.leaderboard.entries[0].summary != before


def test_values_of_queries_have_their_weights(folder: Path) -> None:
    rows = pq.read_table(run(folder) / "per_query.parquet").to_pylist()
    assert {(row["qid"], row["weight"]) for row in rows} == {*CLICKS.items()}


def test_slices_and_seeds_are_weighted(folder: Path) -> None:
    rng = np.random.default_rng(9)
    kinds = {qid: ("web", "news", "ads")[n % 3] for n, qid in enumerate(QIDS)}
    lines = [f"{qid},{kind}" for qid, kind in kinds.items()]
    (folder / "kinds.csv").write_text("\n".join(["qid,kind", *lines]) + "\n")
    for seed in (1, 2, 10):
        write_run(folder / f"s-{seed}.run", {qid: int(rng.integers(1, 5)) for qid in QIDS})
    config = CONFIG.replace('"{run}": {path: "{run}.run"}', "s: {path: 's-{seed}.run'}")
    config = config.replace("column: clicks}", "column: clicks}, groups: kinds.csv")
    rows = csv_rows(run(folder, "summary: {spread: [seed]}\n", config) / "leaderboard.csv")
    assert [row["dataset"] for row in rows] == [
        "d",
        "d [kind=ads]",
        "d [kind=news]",
        "d [kind=web]",
    ]
    for row in rows:
        kind = re.search(r"=(\w+)", row["dataset"])
        chosen = [qid for qid in QIDS if kind is None or kinds[qid] == kind[1]]
        means = []
        for seed in (1, 2, 10):
            values = harness.evaluate(
                folder / "qrels.txt", folder / f"s-{seed}.run", ["recip_rank"]
            ).to_dict()
            weights = [CLICKS[qid] for qid in chosen]
            means.append(np.average([values[qid]["recip_rank"] for qid in chosen], weights=weights))
        assert float(row["recip_rank"]) == pytest.approx(np.mean(means), rel=1e-14)
        assert float(row["recip_rank low"]) <= np.mean(means) <= float(row["recip_rank high"])


def test_folds_are_pooled_with_their_weights(folder: Path) -> None:
    for fold, qids in {1: QIDS[:5], 2: QIDS[5:]}.items():
        write_qrels(folder / f"part{fold}.txt", qids)
        write_run(folder / f"r{fold}.run", {qid: 1 + len(qid) for qid in qids})
        write_weights(folder / f"w{fold}.csv", {qid: CLICKS[qid] for qid in qids})
    config = """
output: out
datasets: {"d{fold}": {path: "part{fold}.txt", weights: {path: "w{fold}.csv", column: clicks}}}
runs: {r: {path: "r{fold}.run"}}
metrics: [recip_rank]
"""
    (row,) = csv_rows(run(folder, "summary: {pool: [fold]}\n", config) / "leaderboard.csv")
    weights = [CLICKS[qid] for qid in QIDS]
    mean = np.average([1 / (1 + len(qid)) for qid in QIDS], weights=weights)
    assert float(row["recip_rank"]) == pytest.approx(mean, rel=1e-14)
    averaged = run(folder, "summary: {average: [fold]}\n", config)
    (row,) = csv_rows(averaged / "leaderboard.csv")
    parts = [(QIDS[:5], weights[:5]), (QIDS[5:], weights[5:])]
    means = [np.average([1 / (1 + len(q)) for q in qids], weights=own) for qids, own in parts]
    assert float(row["recip_rank"]) == pytest.approx(np.mean(means), rel=1e-14)


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
def test_a_table_in_each_format_with_its_one_column_of_numbers(folder: Path, form: str) -> None:
    rows = {"qid": QIDS, "name": ["x"] * 12, "n": [*CLICKS.values()]}
    path = save_table(folder / f"w.{form}", rows)
    assert summary(folder, "a", str(path)) == summary(folder, "a", CLICKS)
    config = CONFIG.replace("{path: traffic.csv, column: clicks}", path.name)
    assert csv_rows(run(folder, "", config) / "leaderboard.csv")[0]["weighted_by"] == "n"


def test_a_column_of_qids_by_another_name(folder: Path) -> None:
    lines = [f"{n},{qid}" for qid, n in CLICKS.items()]
    (folder / "w.csv").write_text("\n".join(["clicks,topic", *lines]) + "\n")
    config = CONFIG.replace("traffic.csv, column: clicks", "w.csv, qid: topic, column: clicks")
    row = csv_rows(run(folder, "", config) / "leaderboard.csv")[0]
    assert float(row["recip_rank"]) == summary(folder, row["run"], CLICKS)["recip_rank"]


def test_compare_gate_and_page_take_weights(folder: Path) -> None:
    files = ("a.run", "b.run", "--qrels", "qrels.txt", "-m", "recip_rank")
    found = json.loads(
        succeeds(
            "gate", *files, "--margin", "0.9", "--weights", "traffic.csv:clicks",
            "--format", "json", cwd=folder,
        )
    )["verdicts"][0]  # fmt: skip
    means = [expected(folder, name)["recip_rank"] for name in "ab"]
    assert (found["baseline"], found["candidate"]) == pytest.approx(means, rel=1e-14)
    words = ("compare", *files, "--weights", "traffic.csv:clicks")
    (row,) = csv_rows(succeeds(*words, "-t", "bootstrap", "-f", "csv", cwd=folder))
    assert (float(row["baseline_value"]), float(row["run_value"])) == pytest.approx(means)
    runs = {name: folder / f"{name}.run" for name in "ab"}
    inputs = folder / "qrels.txt", runs, ["recip_rank"]
    (one,) = harness.compare(*inputs, test="bootstrap", weights=CLICKS, dataset="qrels").rows
    assert one.p == float(row["p"])
    (verdict,) = harness.gate(*inputs, baseline="a", margin=0.9, weights=CLICKS)
    assert (verdict.outcome, verdict.baseline) == ("pass", found["baseline"])
    page = harness.page(folder / "p.html", *inputs, weights=CLICKS)
    assert page.exists()


def test_a_test_without_weights_is_refused_by_name_before_work(folder: Path) -> None:
    words = ("compare", "a.run", "none.run", "--qrels", "qrels.txt", "-m", "map")
    text = refused(*words, "--weights", "traffic.csv:clicks", cwd=folder)
    assert "paired-t" in text
    assert "--test bootstrap" in text
    (folder / "c.yaml").write_text(CONFIG + "compare: {baseline: a, test: wilcoxon}\n")
    with refuses("$.compare.test (line 6)"):
        harness.run(folder / "c.yaml")
    (folder / "c.yaml").write_text(CONFIG + "compare: {baseline: a}\n")
    with pytest.raises(HarnessError, match="test: bootstrap"):
        harness.run(folder / "c.yaml")
    out = run(folder, "compare: {baseline: a, test: randomization}\n")
    assert "tukey" in refused("table", out, "--baseline", "a", "--test", "tukey", cwd=folder)
    with refuses("test", error=UnknownNameError):
        harness.compare({}, {"a": {}}, ["map"], weights=CLICKS)


@pytest.mark.parametrize(
    ("qid", "weight"), [("1", "-1"), ("30", "nan"), ("2", "many"), ("44", ""), ("7", "inf")]
)
def test_a_weight_that_is_none(folder: Path, qid: str, weight: str) -> None:
    write_weights(folder / "bad.csv", {**CLICKS, qid: weight})
    lines = (folder / "bad.csv").read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.startswith(f"{qid},"))
    with refuses(f"bad.csv:{line}", "query-weights", InputError):
        summary(folder, "a", f"{folder}/bad.csv:clicks")
    config = CONFIG.replace("traffic.csv", "bad.csv")
    (folder / "c.yaml").write_text(config)
    with refuses(f"bad.csv:{line}", "query-weights", InputError):
        harness.run(folder / "c.yaml")
    assert f"line {line}:" in called("check", "c.yaml", cwd=folder).out
    words = ("evaluate", "qrels.txt", "a.run", "-m", "map", "--weights", "bad.csv:clicks")
    assert refused(*words, cwd=folder).startswith(f"error: bad.csv:{line}")
    number = weight if weight in ("many", "") else float(weight)
    with refuses("weights", "query-weights", ArgumentError):
        summary(folder, "a", {**CLICKS, qid: number})


def test_a_query_without_a_weight(folder: Path) -> None:
    write_weights(
        folder / "bad.csv", {qid: n for qid, n in CLICKS.items() if qid not in ("1", "44")}
    )
    with refuses("bad.csv", "query-weights", InputError) as caught:
        summary(folder, "a", f"{folder}/bad.csv:clicks")
    assert "2 of 12: 1, 44" in str(caught.value) or "2 of 12: 44, 1" in str(caught.value)
    (folder / "c.yaml").write_text(CONFIG.replace("traffic.csv", "bad.csv"))
    with refuses("bad.csv", "query-weights", InputError):
        harness.run(folder / "c.yaml")
    assert called("check", "c.yaml", cwd=folder).code == 2
    with refuses("weights", "query-weights", InputError):
        summary(folder, "a", {})
    with refuses("weights", "query-weights", InputError):
        summary(folder, "a", dict.fromkeys(QIDS, 0))


def test_other_mistakes_in_a_file(folder: Path) -> None:
    for name, text, place, rule in (
        ("two.csv", "qid,a,b\n1,2,3\n", "two.csv:1", "query-weights"),
        ("none.csv", "qid\n1\n", "none.csv:1", "query-weights"),
        ("twice.csv", "qid,a\n1,2\n2,3\n1,2\n", "twice.csv:4", ""),
        ("other.csv", "session,a\n1,2\n", "other.csv:1", ""),
    ):
        (folder / name).write_text(text)
        with refuses(place, rule, InputError):
            summary(folder, "a", folder / name)
    with refuses("traffic.csv:1", "", InputError, suggests="clicks"):
        summary(folder, "a", f"{folder}/traffic.csv:click")
    with refuses("", "missing-file", InputError):
        summary(folder, "a", f"{folder}/nothing.csv:clicks")
    with refuses("weights", "", ArgumentError):
        summary(folder, "a", [1, 2])
    evaluations = {"a": harness.evaluate(folder / "qrels.txt", folder / "a.run", ["map"])}
    with refuses("weights", "", InputError):
        harness.compare(evaluations, weights=CLICKS)


def test_qids_of_the_file_alone_are_a_note(folder: Path) -> None:
    words = ("evaluate", "qrels.txt", "a.run", "-m", "map", "--weights", "traffic.csv:clicks")
    assert "2 qids with a weight are not in the dataset" in called(*words, cwd=folder).err
    manifest = json.loads((run(folder) / "manifest.json").read_text())
    (note,) = [one for one in manifest["findings"] if one["rule"] == "unused-weights"]
    assert (note["severity"], note["count"], note["examples"]) == ("note", 2, ["778", "777"])
    checked = called("check", "c.yaml", "--notes", cwd=folder)
    assert (checked.code, "unused-weights" in checked.out) == (0, True)


def test_weights_are_not_for_results(folder: Path) -> None:
    run(folder)
    words = ("compare", "a", "b", "--results", "out", "--weights", "traffic.csv:clicks")
    assert "--weights" in refused(*words, cwd=folder)
    words = ("gate", "out", "out", "--margin", "0.1", "--weights", "traffic.csv:clicks")
    assert "--weights" in refused(*words, cwd=folder)


def test_results_with_other_weights_are_not_gated_or_tested(folder: Path) -> None:
    run(folder)
    run(folder, "", CONFIG.replace("output: out", "output: new").replace("clicks", "cost"))
    text = refused("gate", "out", "new", "--margin", "0.1", cwd=folder)
    assert "different query weights" in text
    run(folder, "", CONFIG.replace("output: out", "output: plain").replace(
        ", weights: {path: traffic.csv, column: clicks}", ""
    ))  # fmt: skip
    assert "different query weights" in refused(
        "gate", "out", "plain", "--margin", "0.1", cwd=folder
    )
    assert called("diff", "out", "new", cwd=folder).code == 1


def test_batches_are_weighted_by_their_qids() -> None:
    batches = harness.BatchCollector()
    batches.add([[3.0, 2.0], [1.0, 2.0]], [[1, 0], [1, 0]], [2, 2], qids=["10", "2"])
    found = batches.evaluate(["recip_rank", "num_ret"], weights={"2": 3, "10": 1})
    assert found.summary() == {"recip_rank": (1 * 1 + 3 * 0.5) / 4, "num_ret": 8}
    with refuses("weights", "query-weights", InputError):
        batches.evaluate(["recip_rank"], weights={"2": 3})


def test_a_slice_whose_queries_have_no_weight_has_no_mean(folder: Path) -> None:
    kinds = "\n".join(f"{qid},{'rare' if CLICKS[qid] == 0 else 'usual'}" for qid in QIDS)
    (folder / "kinds.csv").write_text(f"qid,kind\n{kinds}\n")
    config = CONFIG.replace("column: clicks}", "column: clicks}, groups: kinds.csv")
    out = run(folder, "compare: {baseline: a, test: bootstrap, draws: 99}\n", config)
    rows = {(row["dataset"], row["run"]): row for row in csv_rows(out / "leaderboard.csv")}
    assert rows["d [kind=rare]", "a"]["recip_rank"] == ""
    whole, usual = rows["d", "a"], rows["d [kind=usual]", "a"]
    assert whole["recip_rank"] == usual["recip_rank"]
    tests = [row for row in csv_rows(out / "significance.csv") if row["metric"] == "recip_rank"]
    ns = {row["dataset"]: row["n"] for row in tests}
    assert ns == {"d": "11", "d [kind=usual]": "11", "d [kind=rare]": "0"}
