"""Names of datasets and runs that look like patterns, slices or settings, through every report."""

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import called, refused, succeeds
from csv_rows import csv_rows

DATASETS = (
    "fold=1", "part=b", "web[1]", "web[1] [x=y]", "!late", "news*", "x: y", "f,g", "[z=2]", "?",
)  # fmt: skip
RUNS = ("lr=.1", "[s]", "!t")
QIDS = (10, 2, 1, 7)
SLICES = ("[kind=long]", "[kind=short]")


def write_inputs(folder: Path) -> None:
    rng = np.random.default_rng(3)
    for place, _ in enumerate(DATASETS):
        rows = [f"{qid} 0 d{n} {rng.integers(0, 3)}\n" for qid in QIDS for n in range(6)]
        (folder / f"{place}.qrels").write_text("".join(rows))
        for run, _ in enumerate(RUNS):
            rows = [
                f"{qid} Q0 d{n} {rank} {9 - rank} t\n"
                for qid in reversed(QIDS)
                for rank, n in enumerate(rng.permutation(6)[:5])
            ]
            (folder / f"{run}-{place}.run").write_text("".join(rows))
    labels = "".join(f"{qid},{'long' if qid % 2 else 'short'}\n" for qid in QIDS)
    (folder / "groups.csv").write_text("qid,kind\n" + labels)


def write_config(folder: Path, more: str = "", groups: bool = False) -> None:
    cut = ", groups: groups.csv" if groups else ""
    lines = ["output: out", "metrics: [map, ndcg@3]", "datasets:"]
    lines += [f"  {json.dumps(name)}: {{path: {n}.qrels{cut}}}" for n, name in enumerate(DATASETS)]
    lines += ["runs:"]
    for run, name in enumerate(RUNS):
        lines += [f"  {json.dumps(name)}:"]
        lines += [
            f"  - {{path: {run}-{n}.run, dataset: {json.dumps(dataset)}}}"
            for n, dataset in enumerate(DATASETS)
        ]
    lines += [f"compare: {{baseline: {json.dumps(RUNS[0])}}}", "reports: [csv, page]", more]
    (folder / "c.yaml").write_text("\n".join(lines))


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "sliced"])
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    write_inputs(folder)
    margin = "gate: {baseline: 'lr=.1', rules: {map: {margin: .5}}}"
    write_config(folder, f"tables: {{main: {{formats: [csv]}}}}\n{margin}", request.param)
    succeeds("run", "c.yaml", cwd=folder)
    return folder


@pytest.mark.parametrize("format", ["text", "latex", "markdown", "csv", "html"])
def test_a_table_has_all_datasets(results: Path, format: str) -> None:
    table = succeeds("table", "out", "-f", format, cwd=results)
    if format == "csv":
        assert table.count("ndcg@3 n") == len(DATASETS)
        assert not [name for name in (*DATASETS, *RUNS) if name not in table]
        assert "kind=" not in table
    else:
        # in LaTeX, as many datasets are below each other
        title = r"\emph{" if format == "latex" else "nDCG@3"
        assert table.count(title) >= len(DATASETS)


def test_results_list_all_datasets_and_each_can_be_chosen(results: Path) -> None:
    for name in DATASETS:
        words = ("table", "out", "-f", "csv", "--dataset", name)
        first = succeeds(*words, cwd=results).splitlines()[0]
        assert name in first
        assert not [other for other in DATASETS if other in first and other not in name]
    wholes = [row["dataset"] for row in csv_rows(results / "out" / "leaderboard.csv")]
    assert set(DATASETS) <= set(wholes)
    sliced = [name for name in dict.fromkeys(wholes) if name not in DATASETS]
    assert sliced in ([], [f"{name} {cut}" for name in DATASETS for cut in SLICES])


@pytest.mark.parametrize("kind", ["differences", "scatter", "critical-difference"])
def test_a_plot_is_drawn_for_each_dataset(results: Path, kind: str) -> None:
    metrics = ("-m", "map", *(("-m", "ndcg@3") if kind == "scatter" else ()))
    words = ("plot", "out", kind, *metrics, "-o", f"drawn-{kind}", "-f", "svg")
    succeeds(*words, cwd=results)
    assert len([*(results / f"drawn-{kind}").iterdir()]) == len(DATASETS)


@pytest.mark.parametrize(
    "words",
    [
        ("diff", "out", "out"), ("gate", "c.yaml"), ("gate", "out", "out", "--margin", ".1"),
        ("verify", "out"), ("conventions", "c.yaml"), ("similarity", "out", "--metrics"),
        ("page", "out", "-o", "p.html"), ("export", "out", "--to", "json"),
    ],
    ids=lambda words: "-".join(words[:2]),
)  # fmt: skip
def test_a_command_reads_the_results(results: Path, words: tuple[str, ...]) -> None:
    done = called(*words, cwd=results)
    assert done.code in (0, 1)
    assert "error" not in done.err


@pytest.mark.parametrize("name", DATASETS)
def test_why_finds_the_dataset(results: Path, name: str) -> None:
    words = ("trace", "out", "--dataset", name, "--run", "[s]", "-m", "map", "--query", "2")
    assert name in succeeds(*words, cwd=results)


@pytest.mark.parametrize("renamed", ['"part=b"=Part B', "part=b=Part B"])
def test_a_name_with_an_equals_sign_is_renamed(results: Path, renamed: str) -> None:
    words = ("table", "out", "-f", "text", "--name", renamed, "--dataset", "part=b")
    assert "Part B" in succeeds(*words, cwd=results)


@pytest.mark.parametrize("words", [("diff", "out", "out"), ("gate", "out", "out", "-m", "map")])
def test_a_name_with_an_equals_sign_is_paired(results: Path, words: tuple[str, ...]) -> None:
    margin = ("--margin", ".1") if words[0] == "gate" else ()
    succeeds(*words, *margin, "--name", "part=b=part=b", cwd=results)


def test_folds_whose_name_has_an_equals_sign_are_pooled(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    folds = "".join(f"{place}.qrels " for place in range(2)).split()
    for place, own in enumerate(folds):
        text = (tmp_path / own).read_text()
        lines = [f"{place}{line}" for line in text.splitlines(keepends=True)]
        (tmp_path / f"f{place}.qrels").write_text("".join(lines))
        text = (tmp_path / f"0-{place}.run").read_text()
        lines = [f"{place}{line}" for line in text.splitlines(keepends=True)]
        (tmp_path / f"a-f{place}.run").write_text("".join(lines))
    (tmp_path / "c.yaml").write_text(
        "output: out\nmetrics: [map]\nsummary: {pool: [fold]}\n"
        "datasets: {'mq,fold={fold}': {path: 'f{fold}.qrels'}}\n"
        "runs: {'a': {path: 'a-f{fold}.run'}}\n"
    )
    succeeds("run", "c.yaml", cwd=tmp_path)
    assert "mq" in succeeds("table", "out", "-f", "csv", cwd=tmp_path).splitlines()[0]


def test_a_dataset_named_as_a_slice_is_refused(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    write_config(tmp_path, groups=True)
    text = (tmp_path / "c.yaml").read_text().replace('"f,g"', '"part=b [kind=long]"')
    (tmp_path / "c.yaml").write_text(text)
    assert "'part=b [kind=long]'" in refused("run", "c.yaml", cwd=tmp_path)


@pytest.mark.parametrize("name", DATASETS)
def test_where_keeps_the_dataset_of_that_name(tmp_path: Path, name: str) -> None:
    write_inputs(tmp_path)
    write_config(tmp_path, f"where: {{dataset: [{json.dumps(name)}]}}")
    text = (tmp_path / "c.yaml").read_text().replace("output: out", "output: kept")
    (tmp_path / "c.yaml").write_text(text)
    cells = succeeds("run", "c.yaml", "--dry-run", cwd=tmp_path).partition("\n")[2]
    others = [other for other in DATASETS if f"\n{other}  " in f"\n{cells}" and other != name]
    assert (f"{name}  " in cells, others) == (True, [])
