"""manifest.json: its schema, older ones, and that it says the same wherever it is made."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import harness
from harness.audit.changes import changes
from harness.audit.verify import verify
from harness.audit.why import why
from harness.errors import HarnessWarning, InputError
from harness.experiment import manifest as manifest_format
from harness.experiment import manifest as provenance
from harness.experiment import origin
from harness.experiment.manifest import names_of, placed
from harness.experiment.results import read

CONFIG = """
name: toy
datasets: {toy: {path: ../data/qrels.txt}}
runs: {"{run}": {path: "../data/{run}.run"}}
metrics: [map, arp]
policy: {ties: random(7)}
compare: {seed: 3}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("configs", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 0\n3 0 c 1\n")
    for name, scores in (("one", "31"), ("two", "13"), ("three", "52")):
        rows = [f"{q} Q0 {d} 1 {s} x\n" for q in "123" for d, s in zip("ab", scores, strict=True)]
        (tmp_path / f"data/{name}.run").write_text("".join(rows))
    (tmp_path / "configs/toy.yaml").write_text(CONFIG)
    return tmp_path


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return found


def rewrite(folder: Path, **changes: Any) -> None:
    found = {**manifest_of(folder), **changes}
    found = {key: value for key, value in found.items() if value is not None or key == "git"}
    (folder / "manifest.json").write_text(json.dumps(found), encoding="utf-8")


def test_every_example_is_as_its_schema_says(root: Path, tmp_path: Path) -> None:
    for name in ("configs", "runs"):
        shutil.copytree(root / name, tmp_path / name)
    schema = json.loads((root / "docs/manifest.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    configs = sorted((tmp_path / "configs").glob("*.yaml"))
    assert configs
    for config in configs:
        found = manifest_of(harness.run(config).folder)
        assert [error.message for error in validator.iter_errors(found)] == []
        provenance.Manifest.model_validate(found)
    broken = {**found, "inputs": [{"path": "x", "bytes": -1, "sha256": "00"}]}
    assert len(list(validator.iter_errors(broken))) == 2


def test_every_key_is_described() -> None:
    for name, model in vars(provenance).items():
        if name == "Manifest":
            lacking = [key for key, field in model.model_fields.items() if not field.description]
            assert lacking == ["git", "cells", "failed"]  # whose models say it


def test_seeds_versions_code_and_what_is_undefined(place: Path) -> None:
    found = manifest_of(harness.run(place / "configs/toy.yaml").folder)
    assert found["manifest"] == manifest_format.FORMAT == 3
    assert found["seeds"] == {"compare": 3, "ties": "7"}
    assert {"numpy", "pyarrow", "scipy", "pydantic", "libc", "python"} <= found["versions"].keys()
    assert "matplotlib" not in found["versions"]
    assert len(found["code"]) == 64
    # arp is defined for query 1 alone: a is relevant and retrieved there
    assert found["cells"][0]["undefined"] == {"arp": 2}


def test_seeds_of_summaries_and_of_metrics(place: Path) -> None:
    for name in ("one", "two"):
        (place / f"data/{name}.run").rename(place / f"data/m-{name}.run")
    (place / "data/three.run").unlink()
    runs = 'runs={"m": {path: "../data/m-{seed}.run"}}'
    overrides = [runs, "metrics=[map, 'ndcg(ties=random(5))@10']", "policy={ties: stable}"]
    config, spread = place / "configs/toy.yaml", "summary={spread: [seed]}"
    named = {"metrics": {"ndcg(ties=random(5))@10": 5}}
    found = manifest_of(harness.run(config, overrides=[*overrides, "compare=null"]).folder)
    assert found["seeds"] == named
    found = manifest_of(harness.run(config, overrides=[*overrides, "compare=null", spread]).folder)
    assert found["seeds"] == named | {"summary": {"seed": 0, "draws": 2000, "level": 0.05}}
    plan = "compare={seed: 9, draws: 300, level: 0.1}"
    (place / "configs/more.yaml").write_text(
        CONFIG.replace(
            '"{run}": {path: "../data/{run}.run"}', '"{m}": {path: "../data/{m}-{seed}.run"}'
        )
    )
    for seed in ("one", "two"):
        shutil.copy(place / f"data/m-{seed}.run", place / f"data/n-{seed}.run")
    overrides = [plan, spread, "metrics=[map]", "policy={ties: stable}"]
    found = manifest_of(harness.run(place / "configs/more.yaml", overrides=overrides).folder)
    assert found["seeds"] == {
        "compare": 9, "summary": {"seed": 9, "draws": 300, "level": 0.1},
    }  # fmt: skip
    assert verify(place / "configs/results/toy").is_verified


def test_the_bytes_do_not_hang_on_the_folder_a_command_is_given_in(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "data/broken.run").write_text("1 Q0 a 1 nan x\n")
    flat = "".join(f"{query} Q0 {docno} 1 1 x\n" for query in "123" for docno in "ab")
    (place / "data/flat.run").write_text(flat)  # which is warned of
    contents = []
    for folder, config in ((place, "configs/toy.yaml"), (place / "configs", "toy.yaml")):
        monkeypatch.chdir(folder)
        with pytest.warns(HarnessWarning, match="scores"):
            results = harness.run(config)
        files = [path for path in results.folder.iterdir() if path.suffix in (".csv", ".json")]
        contents.append({p.name: p.read_bytes() for p in files if p.name != "timing.json"})
    assert contents[0] == contents[1]
    (failed,) = manifest_of(results.folder)["failed"]
    assert failed["error"].startswith("../data/broken.run:1: score 'nan'")


def test_a_project_whose_folder_is_renamed_is_the_same(place: Path) -> None:
    project = place / "one"
    (project / "data").mkdir(parents=True)
    for name in ("qrels.txt", "one.run", "two.run", "three.run"):
        shutil.copy(place / "data" / name, project / "data" / name)
    (project / "exp.yaml").write_text(CONFIG.replace("../data", "data"), encoding="utf-8")
    results = harness.run(project / "exp.yaml").folder
    written = (results / "manifest.json").read_bytes()
    assert [one["path"] for one in manifest_of(results)["inputs"]] == [
        "data/one.run", "data/qrels.txt", "data/three.run", "data/two.run",
    ]  # fmt: skip
    moved = project.rename(place / "two")
    assert verify(moved / "results/toy").is_verified
    account = why(moved / "results/toy", run="one", metric="map")
    assert {one["state"] for one in account.inputs} == {"unchanged"}
    assert (harness.run(moved / "exp.yaml").folder / "manifest.json").read_bytes() == written


def test_paths_in_texts_are_those_of_inputs(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    paths = [f"{tmp_path}/a.run", f"{tmp_path}/a.run.gz"]
    texts = [f"{paths[1]}:3: wrong, {paths[0]} too", "nothing"]
    names = names_of(paths, tmp_path / "configs")
    assert placed(texts, names) == ["../a.run.gz:3: wrong, ../a.run too", "nothing"]
    assert placed(texts, {}) == texts


def test_the_longest_of_several_paths_is_meant_wherever_they_begin() -> None:
    names = {"a": "1", "ab": "2", "bc": "3", "/x/b": "4"}  # which begin alike in nothing
    texts = ["abc aab", "/x/bc/x/bc", "", "a", "bcbcb"]
    # ab c, a ab | /x/b c /x/b c | bc bc b
    assert placed(texts, names) == ["2c 12", "4c4c", "", "1", "33b"]


def test_a_file_is_named_by_where_its_links_lead(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.run").touch()
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "b.run").symlink_to("folder/a.run")
    paths = [f"{tmp_path}/{name}" for name in ("folder/a.run", "b.run", "folder/../real/a.run")]
    names = names_of(paths, tmp_path / "folder")
    assert [*names.values()] == ["a.run"] * 3


def test_one_of_the_first_format_is_read(place: Path) -> None:
    folder = harness.run(place / "configs/toy.yaml").folder
    rewrite(folder, manifest=1, outputs=None, code=None, seeds=None)
    assert "outputs" not in manifest_of(folder)
    assert [entry.run for entry in read(folder).study.board.entries] == ["one", "three", "two"]


def test_a_file_that_was_edited_is_refused_though_it_is_not_read(place: Path) -> None:
    reports = ["reports=[csv, markdown]"]
    folder = harness.run(place / "configs/toy.yaml", overrides=reports).folder
    read(folder)
    other = ["leaderboard.md", "significance.csv", "standings.csv"]
    for name in other:
        path = folder / name
        path.write_text(path.read_text("utf-8").replace("0", "9", 1), "utf-8")
    with pytest.raises(InputError) as caught:
        read(folder)
    what = "is not the file that manifest.json was written with: edited, or a run was stopped"
    assert [(one.where, one.what) for one in caught.value.problems] == [
        (str(folder / name), what) for name in other
    ]
    with pytest.raises(InputError, match=r"leaderboard\.md: is not the file"):
        changes(folder, folder)
    for name in other:  # nothing is taken from them
        (folder / name).unlink()
    assert read(folder).study.board.entries


def test_a_leaderboard_of_systems_is_held_against_its_hash(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    (tmp_path / "q").write_text("1 0 d 1\n")
    for seed in (1, 2):
        (tmp_path / f"a{seed}.run").write_text(f"1 Q0 d 1 {seed} t\n")
    config.write_text(
        "datasets: {d: {path: q, format: trec}}\nruns: {a: {path: 'a{seed}.run'}}\n"
        "metrics: [map]\nsummary: {spread: [seed]}\n"
    )
    folder = harness.run(config).folder
    path = folder / "leaderboard.csv"
    path.write_text(path.read_text("utf-8").replace("1.0", "0.5"), "utf-8")
    with pytest.raises(InputError, match=r"leaderboard\.csv: is not the file that manifest"):
        read(folder)


def test_one_of_this_format_without_hashes_is_refused(place: Path) -> None:
    folder = harness.run(place / "configs/toy.yaml").folder
    rewrite(folder, outputs=None)
    what = r"is not the file that manifest\.json was written with: edited, or a run was stopped\n"
    with pytest.raises(InputError, match=what):
        read(folder)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"manifest": 4}, "has format 4, and this harness knows those to 3"),
        ({"warnings": 1}, r"manifest\.json: \$\.warnings: input should be a valid tuple"),
        ({"inputs": [{}]}, r"manifest\.json: \$\.inputs\.0\.path: field required"),
        ({"spoken": "x"}, r"manifest\.json: \$\.spoken: extra inputs are not permitted"),
    ],
)
def test_what_is_no_manifest_is_said(place: Path, changes: dict[str, Any], said: str) -> None:
    folder = harness.run(place / "configs/toy.yaml").folder
    rewrite(folder, **changes)
    with pytest.raises(InputError, match=said):
        origin.read_manifest(folder)
