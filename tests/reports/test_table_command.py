"""From a config to tables: what `harness run` writes, and `harness table` makes again."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from command_line import refused, succeeds
from latex_page import PREAMBLE, compiled, complaints, needs_latex

import harness
from harness.config import load as config
from harness.experiment.results import read_results, with_comparisons
from harness.stats.comparison import Plan


@pytest.fixture(scope="module")
def paper(workplace: Path) -> Path:
    return harness.run(workplace / "configs/paper.yaml").folder


WIDE = "--width", "page", "--set", "table.label=tab:x"


def table(*arguments: str | Path) -> str:
    return succeeds("table", *arguments)


def test_a_run_writes_its_tables_with_the_hash_of_its_manifest(paper: Path) -> None:
    found = sorted(path.name for path in (paper / "tables").iterdir())
    assert found == [
        "main.md", "main.tex", "seeds.csv", "seeds.html", "seeds.md", "seeds.tex", "seeds.txt",
    ]  # fmt: skip
    content = (paper / "manifest.json").read_bytes()
    for name in ("main.md", "main.tex", "seeds.html"):
        first = (paper / "tables" / name).read_text("utf-8").splitlines()[0]
        assert hashlib.sha256(content).hexdigest() in first
        assert "config paper, manifest sha256:" in first
    # a file that carries the manifest's hash cannot have its own in the manifest
    assert not any(name.startswith("tables/") for name in json.loads(content)["outputs"])


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--format", "latex"], "main.tex"), (["main", "--format", "markdown"], "main.md"),
        (["seeds", "--format", "latex"], "seeds.tex"), (["seeds"], "seeds.txt"),
        (["seeds", "-f", "html"], "seeds.html"), (["seeds", "-f", "csv"], "seeds.csv"),
    ],
)  # fmt: skip
def test_the_command_makes_the_same_table(
    paper: Path, arguments: list[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert table(paper, *arguments) == (paper / "tables" / name).read_text("utf-8")


@pytest.mark.parametrize(
    ("sort", "order"),
    [("ndcg(gain=exp)@1", "qa pb"), ("map", "pb qa"), (None, "pb qa"), ("none", "qa pb")],
)
def test_text_is_sorted_as_the_config_says(tmp_path: Path, sort: str | None, order: str) -> None:
    (tmp_path / "q.txt").write_text("10 0 d1 1\n10 0 d2 3\n2 0 d1 1\n")
    (tmp_path / "qa.run").write_text("10 Q0 d2 1 5 t\n2 Q0 d9 1 1 t\n")
    (tmp_path / "pb.run").write_text("10 Q0 d1 1 5 t\n10 Q0 d2 2 4 t\n")
    settings = {"datasets": {"w": "q.txt"}, "runs": {"qa": "qa.run", "pb": "pb.run"},
                "metrics": ["map", "ndcg(gain=exp)@1"], "output": "out",
                "crosscheck": "none"}  # fmt: skip
    (tmp_path / "c.yaml").write_text(json.dumps(settings))
    harness.run(tmp_path / "c.yaml", overrides=[f"sort={sort}"] if sort else [])
    lines = table(tmp_path / "out").splitlines()
    assert [line.split()[0] for line in lines if line[:2] in ("qa", "pb")] == order.split()


def test_a_key_that_is_an_option_is_refused_with_its_option(paper: Path) -> None:
    for key, option in (("columns", "--columns"), ("metrics", "--metric"), ("names", "--name")):
        text = refused("table", paper, "--set", f"table.{key}=2")
        assert f"table.{key} is an option of this command" in text
        assert f"write {option} 2\n" in text


@pytest.mark.parametrize(
    "words", [("--methods",), ("--sweep", "seed"), ("-f", "csv")], ids=lambda words: words[0]
)
def test_a_key_that_does_not_apply_is_refused_like_an_option(
    paper: Path, words: tuple[str, ...]
) -> None:
    text = refused("table", paper, *words, "--set", "table.transpose=true")
    assert "--set table.transpose is not for " in text


def test_every_option(paper: Path) -> None:
    text = table(
        paper, "main", "-m", "map", "--run", "gbrt", "--run", "linear*", "--dataset", "fold2",
        "--name", "gbrt=Grbt", "--sort", "map", "--digits", "4", "--set", "table.leading_zero=true",
        "--spread", "interval", "--marks", "letters", "--set", "table.average=false",
        "--set", "table.extras=[tier]",
        "--set", "table.caption=Only a look", "--test", "wilcoxon", "--correction", "bonferroni",
        "--baseline", "linear-regression",
    )  # fmt: skip
    caption, _, body = text.partition("\n\n")
    assert caption == "Only a look."
    for part in (
        "Means over Fold 2 (41 of 50 queries) and 2 seeds per system.",
        "clustered bootstrap intervals over queries and repetitions", "Wilcoxon signed rank test",
        "Bonferroni's correction over 32 comparisons, 1 shown, p ≤ .05",
        "Systems in the same tier are not",
    ):  # fmt: skip
        assert part in " ".join(body.split())
    lines = body.splitlines()
    assert [re.split(r"  +", line)[0] for line in lines[1:3]] == ["Grbt", "Linear regression"]
    assert re.fullmatch(r"Grbt +0\.8\d{3}\^ +\[0\.\d{4}, 0\.\d{4}\] +2", lines[1])
    assert (
        table(paper, "--set", "table.percent=true", "-m", "map", "--marks", "none").count("×") == 1
    )
    assert table(paper, "-f", "latex", *WIDE).count("table*") == 2
    assert table(paper, "--digits", "map=1", "-m", "map", "--run", "gbrt").count(".9^") == 0


@needs_latex
def test_the_tables_of_every_example_config_compile_as_they_were_written(
    workplace: Path, tmp_path: Path
) -> None:
    written = []
    for path in sorted((workplace / "configs").glob("*.yaml")):
        if config.load(path).tables:
            folder = harness.run(path).folder
            written += [one.read_text(encoding="utf-8") for one in folder.glob("tables/*.tex")]
    assert len(written) >= 3
    body = "\n".join(written).replace("[tb]", "[!h]")
    log = compiled(tmp_path, f"{PREAMBLE}\\begin{{document}}\n{body}\n\\end{{document}}\n")
    assert [line for line in complaints(log) if "multiply" not in line] == []


def test_a_change_against_the_median_of_all_systems(paper: Path) -> None:
    options = (
        "main",
        "-m",
        "map",
        "--set",
        "table.average=false",
        "--baseline",
        "median",
        "--delta",
        "absolute",
    )
    text = table(paper, *options, "--marks", "stars", "--digits", "4")
    assert "change against the median of all systems on each query." in " ".join(text.split())
    compared = with_comparisons(read_results(paper), Plan(baselines=("median",))).comparisons
    row = compared.get("fold1", "map", "median", "gbrt")
    change = f"{row.run_value - row.baseline_value:+.4f}".replace("0.", ".")
    (line,) = (line for line in text.splitlines() if line.startswith("GBRT"))
    assert f"({change})" in line


def test_an_average_over_folds_has_no_standard_error(
    workplace: Path, paper: Path, tmp_path: Path
) -> None:
    overrides = [f"output={tmp_path}", "tables={}", "summary={average: [fold], spread: [seed]}"]
    results = harness.run(workplace / "configs/paper.yaml", overrides=overrides)
    assert "±" not in str(harness.table(results, spread="error"))
    assert "±" in str(harness.table(paper, spread="error"))
