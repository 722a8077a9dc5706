"""Fused runs as cells: of configs, files and objects, against the same runs fused in memory."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from command_line import called, succeeds
from csv_rows import csv_rows
from folds_and_seeds import put
from refusals import refuses

import harness
from harness.errors import ArgumentError, ConfigError, HarnessError, InputError
from harness.experiment.results import Results
from harness.experiment.run import run

QIDS = {"dev": ("10", "2", "1", "9"), "test": ("11", "3", "20")}
CONFIG = """
output: out
datasets: {"{part}": "{part}.qrels"}
runs:
  bm25: "bm25-{dataset}.run"
  dense: "dense-{dataset}-{seed}.run"
  rrf: {fuse: [bm25, dense], method: rrf, k: 60}
metrics: [map, ndcg@10]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two datasets, a run without and a run with seeds, in scattered order and with ties."""
    rng = random.Random(36)
    for part in ("dev", "test"):
        rows = [f"{q} 0 d{d} {rng.choice('0012')}\n" for q in QIDS[part] for d in range(20)]
        (tmp_path / f"{part}.qrels").write_text("".join(rows))
        for name in (f"bm25-{part}", f"dense-{part}-1", f"dense-{part}-2"):
            pairs = [(q, d) for q in QIDS[part] for d in rng.sample(range(25), rng.randint(5, 15))]
            lines = [f"{q} Q0 d{d} 1 {rng.randint(-9, 9) / 4} x\n" for q, d in pairs]
            (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def ran(folder: Path, text: str = CONFIG) -> Results:
    (folder / "x.yaml").write_text(text, encoding="utf-8")
    return run(folder / "x.yaml")


def in_memory(folder: Path, part: str, names: list[str], *settings: object) -> dict[str, float]:
    runs = [harness.read_run(folder / f"{name}.run") for name in names]
    fused = harness.fuse(runs, *settings)  # type: ignore[arg-type]
    qrels = harness.read_qrels(folder / f"{part}.qrels")
    return harness.evaluate(qrels, fused, ["map", "ndcg@10"]).summary()


def test_a_config_fuses_for_each_dataset_and_seed(folder: Path) -> None:
    results = ran(folder)
    rows = {entry.key: entry.summary for entry in results.board.entries if entry.run == "rrf"}
    assert [str(key) for key in rows] == [
        f"rrf on {part}, part={part}, seed={seed}" for part in ("dev", "test") for seed in "12"
    ]
    for key, summary in rows.items():
        seed = dict(key.columns)["seed"]
        names = [f"bm25-{key.dataset}", f"dense-{key.dataset}-{seed}"]
        assert summary == in_memory(folder, key.dataset, names)


def test_a_fused_cell_is_kept_in_the_cache_until_one_of_its_files_changes(folder: Path) -> None:
    assert ran(folder).cached == 0
    assert ran(folder).cached == 10
    assert ran(folder, CONFIG.replace("k: 60", "k: 10")).cached == 6
    file = folder / "bm25-dev.run"
    file.write_text(file.read_text().replace("d1 1 ", "d21 1 ", 1))
    assert ran(folder).cached < 9
    assert run(folder / "x.yaml", jobs=2, overrides=["cache=none"]).files.keys()


def test_results_with_a_fused_run_verify_and_trace_and_check(folder: Path) -> None:
    results = ran(folder, CONFIG + "summary: {spread: [seed]}\nreports: [page]\n")
    names = {file.path for file in results.manifest.inputs}
    assert {"bm25-dev.run", "dense-test-2.run"} <= names
    assert not any(" " in name for name in names)
    succeeds("verify", folder / "out")
    moved = shutil.move(folder, folder.with_name("moved"))
    succeeds("verify", Path(moved) / "out", "--inputs", moved)
    words = ("--run", "rrf", "-m", "map", "--where", "seed=2", "--dataset", "dev")
    assert "same as in the results" in succeeds(
        "trace", Path(moved) / "out", *words, "--query", "10", "--inputs", moved
    )
    traced = succeeds("trace", Path(moved) / "out", *words, "--inputs", moved)
    assert "dense-dev-2.run" in traced
    assert "fused from bm25 and dense by reciprocal rank fusion" in traced
    assert "rrf on dev, part=dev, seed=2" in succeeds("check", "-v", Path(moved) / "x.yaml")
    succeeds("similarity", Path(moved) / "out")
    succeeds("conventions", Path(moved) / "out")


def test_a_trace_of_a_fused_query_has_the_ranks_in_its_runs(folder: Path) -> None:
    ran(folder, CONFIG.replace("k: 60", "k: 60, depth: 9"))
    columns = {"seed": "2"}
    account = harness.trace(folder / "out", "rrf", "map", query="10", dataset="dev", where=columns)
    for step in account.ranking:
        assert step.score == pytest.approx(sum(1 / (60 + rank) for rank in step.ranks.values()))
        assert {*step.ranks} <= {"bm25", "dense"}
        assert max(step.ranks.values()) <= 9
    assert max(len(step.ranks) for step in account.ranking) == 2


@pytest.mark.parametrize("ties", ["trec_eval", "stable"])
def test_depth_cuts_the_written_run_as_the_evaluated_one(folder: Path, ties: str) -> None:
    files = ("dev.qrels", "bm25-dev.run", "dense-dev-1.run", "--fuse", "rrf", "--write", "rrf.run")
    words = ("-m", "map", "-m", "ndcg@10", "-f", "csv", "--ties", ties)
    cut, again = (
        next(
            line
            for line in succeeds("evaluate", *args, *words, cwd=folder).split()
            if "rrf" in line
        )
        for args in ((*files, "-M", "6"), ("dev.qrels", "rrf.run"))
    )
    assert cut.split(",")[-2:] == again.split(",")[-2:]
    sizes = [len(scores) for scores in harness.read_run(folder / "rrf.run").to_dict().values()]
    assert max(sizes) == 6


def test_a_fused_run_without_its_parts_and_of_a_fused_run(folder: Path) -> None:
    text = CONFIG.replace(
        "metrics:", "  all: {fuse: [bm25, rrf], method: combmnz, depth: 5}\nmetrics:"
    )
    rows = {entry.key: entry.summary for entry in ran(folder, text).board.entries}
    alone = ran(folder, text + "where: {run: [all, rrf]}\n").board.entries
    assert len(alone) == 8
    assert all(rows[entry.key] == entry.summary for entry in alone)


def test_runs_that_share_one_pattern_are_fused_by_their_names(folder: Path) -> None:
    text = CONFIG.replace(
        '  bm25: "bm25-{dataset}.run"\n  dense: "dense-{dataset}-{seed}.run"\n', ""
    )
    text = text.replace("runs:", 'runs:\n  "{model}": "{model}-{dataset}-1.run"')
    for part in ("dev", "test"):
        shutil.copy(folder / f"bm25-{part}.run", folder / f"bm25-{part}-1.run")
    text = text.replace("rrf:", '"rrf-{dataset}":')
    entries = ran(folder, text).board.entries
    assert {entry.run for entry in entries} == {"bm25", "dense", "rrf-dev", "rrf-test"}
    for entry in entries:
        if entry.run == f"rrf-{entry.dataset}":
            names = [f"bm25-{entry.dataset}", f"dense-{entry.dataset}-1"]
            assert entry.summary == in_memory(folder, entry.dataset, names)


def test_weights_are_chosen_on_validation_queries(folder: Path) -> None:
    text = CONFIG.replace(
        "{fuse: [bm25, dense], method: rrf, k: 60}",
        """
    fuse: [bm25, dense]
    method: wsum
    norm: z
    weights: [[1, 0], [0.5, 0.5], [0, 1]]""",
    )
    text = text.replace('{"{part}": "{part}.qrels"}', "{dev: dev.qrels, test: test.qrels}")
    text += "select: {on: dev, over: [weights], by: map, within: [seed]}\n"
    ran(folder, text)
    cells = csv_rows(folder / "out/leaderboard_cells.csv")
    for row in csv_rows(folder / "out/leaderboard.csv"):
        if row["run"] == "rrf":
            tried = [c for c in cells if (c["run"], c["seed"]) == ("rrf", row["seed"])]
            best = max((c for c in tried if c["dataset"] == "dev"), key=lambda c: float(c["map"]))
            on_test = [
                c for c in tried if (c["dataset"], c["weights"]) == ("test", best["weights"])
            ]
            assert [row["map"]] == [c["map"] for c in on_test]
            names = ["bm25-test", f"dense-test-{row['seed']}"]
            runs = [harness.read_run(folder / f"{name}.run") for name in names]
            weights = [*map(float, best["weights"].split("/"))]
            fused = harness.fuse(runs, "wsum", norm="z", weights=weights)
            direct = harness.evaluate(folder / "test.qrels", fused, ["map"]).summary()
            assert float(row["map"]) == direct["map"]


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_predictions_of_rows_are_fused_row_by_row(tmp_path: Path) -> None:
    put(tmp_path, "metrics: [map, mse]\n")
    config = tmp_path / "x.yaml"
    text = config.read_text() + "policy: {depth: 2}\n"
    fused = "both: {fuse: [a, b], method: combsum, norm: none}\n"
    config.write_text(text.replace("runs: {", "runs: {" + fused.strip() + ", "))
    rows = {entry.key: entry.summary for entry in run(config).board.entries if entry.run == "both"}
    assert len(rows) == 4
    folds = [(tmp_path / f"{model}-1-2.txt").read_text().split() for model in "ab"]
    scores = [float(a) + float(b) for a, b in zip(*folds, strict=True)]
    direct = harness.evaluate(tmp_path / "fold1.txt", scores, ["map", "mse"], policy={"depth": 2})
    (of_fold,) = (v for k, v in rows.items() if dict(k.columns) == {"fold": "1", "seed": "2"})
    assert of_fold == direct.summary()
    files = [tmp_path / f"{model}-1-2.txt" for model in "ab"]
    run_of_files = harness.fuse(files, "combsum", norm="none", dataset=tmp_path / "fold1.txt")
    assert sorted(run_of_files.scores.tolist()) == sorted(scores)


def test_captions_and_methods_say_how_a_run_was_fused(folder: Path) -> None:
    ran(folder, CONFIG + "names: {bm25: BM25}\ntables: {t: {formats: [markdown]}}\n")
    words = "We fused BM25 and dense into rrf by reciprocal rank fusion"
    assert f"{words} with k = 60." in (folder / "out/tables/t.md").read_text()
    methods = succeeds("table", folder / "out", "--methods", "--format", "latex")
    assert f"{words} with k = 60~\\cite{{cormack2009}}." in methods
    assert "cormack2009" in succeeds("table", folder / "out", "--bibtex")
    assert "fused" not in succeeds("table", folder / "out", "--run", "bm25")


def test_evaluate_adds_a_fused_row_and_writes_it(folder: Path) -> None:
    files = ("dev.qrels", "bm25-dev.run", "dense-dev-1.run")
    words = ("-m", "map", "-m", "ndcg@10", "-f", "csv", "--fuse")
    succeeds("evaluate", *files, *words, "rrf", "--write", "new/both.run", cwd=folder)
    for text, settings in (
        ("rrf", ()),
        ("rrf(k=3)", ("rrf", 3)),
        ("combmax(norm=sum)", ("combmax", None, None, "sum")),
        ("wsum(weights=0.2/0.8,norm=z,depth=4)", ("wsum", None, (0.2, 0.8), "z", 4)),
    ):  # fmt: skip
        (folder / "x.csv").write_text(succeeds("evaluate", *files, *words, text, cwd=folder))
        (row,) = (r for r in csv_rows(folder / "x.csv") if r["run"] == text.partition("(")[0])
        expected = in_memory(folder, "dev", ["bm25-dev", "dense-dev-1"], *settings)
        assert [float(row["map"]), float(row["ndcg@10"])] == [*expected.values()]
    written = harness.read_run(folder / "new/both.run")
    fused = harness.fuse([folder / name for name in files[1:]], write=folder / "again.run")
    assert written.to_dict() == fused.to_dict()
    assert harness.read_run(folder / "again.run").to_dict() == fused.to_dict()


def test_only_some_of_the_fused_runs_need_passages(folder: Path) -> None:
    """A dense run of passages, a run of documents, and a pattern that no docno matches."""
    lines = [line.split() for line in (folder / "dense-dev-2.run").read_text().splitlines()]
    rows = [(q, d, part, float(score)) for q, _, d, _, score, _ in lines for part in (1, 2)]
    text = "".join(f"{q} Q0 {d}#{part} 1 {score / part} x\n" for q, d, part, score in rows)
    (folder / "passages.run").write_text(text)
    runs = folder / "bm25-dev.run", folder / "passages.run"
    pattern, wrong = r"(.+)#\d+", r"(.+)::\d+"
    documents = [harness.read_run(runs[0]), harness.read_run(runs[1], documents=pattern)]
    expected = harness.fuse(documents, "combsum")
    assert harness.fuse(runs, "combsum", documents=pattern).to_dict() == expected.to_dict()
    tables = [harness.read_run(path) for path in runs]
    assert harness.fuse(tables, "combsum", documents=pattern).to_dict() == expected.to_dict()
    for given, place in ((runs, "passages.run"), (tables, "runs[1]")):
        with refuses(place, "columns", InputError):
            harness.fuse(given, "combsum", documents=wrong)

    words = ("dev.qrels", *runs, "-m", "map", "--fuse", "combsum")
    succeeds(
        "evaluate", *words, "--set", f"run.documents={pattern}", "--write", "y.run", cwd=folder
    )
    assert harness.read_run(folder / "y.run").to_dict() == expected.to_dict()
    assert called("evaluate", *words, "--set", f"run.documents={wrong}", cwd=folder).code == 2
    assert (
        called("evaluate", *words[:-2], "--set", f"run.documents={pattern}", cwd=folder).code == 2
    )

    config = {
        "datasets": {"dev": "dev.qrels"},
        "runs": {
            "bm25": "bm25-dev.run",
            "dense": {"path": "passages.run", "documents": pattern},
            "both": {"fuse": ["bm25", "dense"], "method": "combsum"},
        },
        "metrics": ["map"],
        "output": "out",
    }
    summaries = {
        entry.run: entry.summary for entry in ran(folder, json.dumps(config)).board.entries
    }
    qrels = harness.read_qrels(folder / "dev.qrels")
    assert summaries["both"] == harness.evaluate(qrels, expected, ["map"]).summary()


@pytest.mark.parametrize(
    "words",
    [
        ("--fuse", "rff"),
        ("--fuse", "wsum"),
        ("--fuse", "rrf(depth=0)"),
        ("--write", "x.run"),
        ("--fuse", "rrf", "--write", "dev.qrels"),
        ("--fuse", "rrf", "--write", "x.run.gz"),
        ("--fuse", "rrf", "--write", "bm25-dev.run"),
    ],
)
def test_evaluate_refuses_what_it_cannot_fuse_or_write(folder: Path, words: tuple[str]) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    files = ("dev.qrels", "bm25-dev.run", "dense-dev-1.run", "-m", "map")
    assert called("evaluate", *files, *words, cwd=folder).code == 2
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("entry", "place", "suggests"),
    [
        ("{fuse: [bm25, dens]}", "$.runs.rrf.fuse[1]", "dense"),
        ("{fuse: [bm25, dense], metod: rrf}", "$.runs.rrf.metod", "method"),
        ("{fuse: [bm25, dense], method: rff}", "$.runs.rrf.method", "rrf"),
        ("{fuse: [bm25, dense], method: wsum}", "$.runs.rrf", ""),
        ("{fuse: [bm25, dense], norm: z}", "$.runs.rrf", ""),
        ("{fuse: [bm25, dense], weights: [1]}", "$.runs.rrf", ""),
        ("{fuse: [bm25]}", "$.runs.rrf", ""),
        ("{fuse: [bm25, rrf]}", "$.runs.rrf.fuse[1]", ""),
        ("{fuse: [bm25, dense], path: x.run}", "$.runs.rrf.path", ""),
    ],
)
def test_a_config_that_fuses_nothing_is_refused(
    folder: Path, entry: str, place: str, suggests: str
) -> None:
    text = CONFIG.replace("{fuse: [bm25, dense], method: rrf, k: 60}", entry)
    with refuses(f"{place} (line 7)", error=ConfigError, suggests=suggests):
        ran(folder, text)


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_a_run_that_cannot_be_read_is_not_fused(folder: Path) -> None:
    file = folder / "dense-dev-2.run"
    file.write_text(file.read_text() + "1 Q0 dx 1 nan x\n")
    failed = {str(cell.key) for cell in ran(folder).board.failed}
    assert failed == {f"{name} on dev, part=dev, seed=2" for name in ("dense", "rrf")}


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_a_run_that_the_guard_stops_is_not_fused(tmp_path: Path) -> None:
    """Labels that were saved as scores."""
    grades = [(q, d, (q * d) % 3) for q in range(1, 31) for d in range(1, 12)]
    qrels, labels = tmp_path / "fold.txt", tmp_path / "labels.txt"
    qrels.write_text("".join(f"{grade} qid:{q} 1:{d}\n" for q, d, grade in grades))
    labels.write_text("".join(f"{grade}\n" for *_, grade in grades))
    rng = random.Random(1)
    (tmp_path / "m.txt").write_text("".join(f"{grade + rng.gauss(0, 2)}\n" for *_, grade in grades))
    (tmp_path / "x.yaml").write_text(
        "datasets: {d: fold.txt}\nmetrics: [map]\noutput: out\n"
        "runs: {m: m.txt, labels: labels.txt, both: {fuse: [m, labels], method: combsum}}\n"
    )
    results = run(tmp_path / "x.yaml")
    assert [entry.run for entry in results.board.entries] == ["m"]
    assert {cell.run for cell in results.board.failed} == {"labels", "both"}


def test_rounding_of_a_fusion_is_no_finding(folder: Path) -> None:
    for name in ("a", "b"):
        rows = [f"{q} Q0 d{d} 1 {d // 2 + d * 1e-9} x\n" for q in QIDS["test"] for d in range(20)]
        (folder / f"{name}.run").write_text("".join(rows))
    words = "test.qrels", "a.run", "b.run", "--fuse", "wsum(weights=0.8/0.2,norm=z)", "-m", "map"
    printed = called("evaluate", *words, cwd=folder)
    assert printed.code == 0
    (warning,) = (line for line in printed.err.splitlines() if "[single-precision]" in line)
    assert "a.run" in warning
    assert "b.run" in warning
    assert "wsum" not in warning


def test_python_refuses_runs_that_it_cannot_fuse() -> None:
    one = {"1": {"a": 1.0}}
    for runs, error in (([one], ArgumentError), ([one, 3], InputError), (one, ArgumentError)):
        with pytest.raises(error):
            harness.fuse(runs)  # type: ignore[arg-type]
    with pytest.raises(HarnessError):
        harness.fuse([one, one], write="x.parquet")
    for wrong in ({"weights": 3}, {"weights": ["a", "b"]}, {"k": "x"}, {"columns": 3}, {"name": 1}):
        with pytest.raises(ArgumentError):
            harness.fuse([one, one], **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words",
    [
        ("trace", "out", "--run", "NAME", "-m", "map", "--dataset", "dev"),
        ("table", "out", "--run", "NAME"),
        ("table", "out", "--baseline", "NAME"),
        ("compare", "NAME", "BM25", "--results", "out"),
        ("compare", "bm25", "NAME", "--results", "out", "--dataset", "dev"),
    ],
)
def test_commands_take_the_names_that_tables_show(folder: Path, words: tuple[str, ...]) -> None:
    names = "names: {rrf: 'RRF (BM25, dense)', bm25: BM25}\n"
    ran(folder, CONFIG + names + "summary: {spread: [seed]}\n")
    shown, own = (
        succeeds(*(name if word == "NAME" else word for word in words), cwd=folder)
        for name in ("RRF (BM25, dense)", "rrf")
    )
    assert shown == own
    assert called(*(f"{word}?" if word == "NAME" else word for word in words), cwd=folder).code == 2
