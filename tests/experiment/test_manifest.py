"""manifest.json: its schema, and that it has the same bytes wherever it is made."""

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import harness
from harness.audit.verify import verify
from harness.errors import HarnessWarning
from harness.experiment import manifest as manifests


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


CONFIGS = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem == "pictures"))
    for path in sorted((Path(__file__).resolve().parents[2] / "configs").glob("*.yaml"))
]


@pytest.mark.parametrize("config", CONFIGS)
def test_every_example_runs_and_follows_the_schema(
    root: Path, examples: Path, config: Path
) -> None:
    validator = jsonschema.Draft202012Validator(
        json.loads((root / "docs/manifest.schema.json").read_text())
    )
    results = harness.run(examples / "configs" / config.name)
    assert results.leaderboard.entries
    assert all((results.folder / name).stat().st_size for name in results.files)
    found = manifest_of(results.folder)
    assert [error.message for error in validator.iter_errors(found)] == []
    manifests.Manifest.model_validate(found)
    broken = {**found, "inputs": [{"path": "x", "bytes": -1, "sha256": "00"}]}
    assert len(list(validator.iter_errors(broken))) == 2


def test_seeds(place: Path, config: Path) -> None:
    for name in ("one", "two"):
        for model in "mn":
            shutil.copy(place / f"data/{name}.run", place / f"data/{model}-{name}.txt")
    config.write_text(
        config.read_text().replace('"{run}": {path: "../data/{run}.run"}',
                                   '"{m}": {path: "../data/{m}-{seed}.txt"}')
    )  # fmt: skip
    own = ["metrics=[map, 'ndcg(ties=random(5))@10']", "policy={ties: random(7)}"]
    spread, plan = "summary={spread: [seed]}", "compare={seed: 9, draws: 300, level: 0.1}"
    drawn = {"metrics": {"ndcg(ties=random(5))@10": 5}, "ties": "7"}
    summary = {"summary": {"seed": 0, "draws": 2000, "level": 0.05}}
    planned = {"compare": 9, "summary": {"seed": 9, "draws": 300, "level": 0.1}}
    for overrides, expected in (
        (own, drawn), ([*own, spread], drawn | summary),
        ([plan, spread, "metrics=[map]", "policy={ties: stable}"], planned),
    ):  # fmt: skip
        assert manifest_of(harness.run(config, overrides=overrides).folder)["seeds"] == expected
    assert verify(place / "out").is_verified


def test_the_bytes_do_not_depend_on_the_current_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "data/broken.run").write_text("1 Q0 a 1 nan x\n")
    flat = "".join(f"{query} Q0 {docno} 1 1 x\n" for query in "1234" for docno in "ab")
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
    assert failed["error"].startswith("../data/broken.run:1: ")


def test_only_whole_paths_are_named_as_in_the_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    placed = manifests.Paths(["a", "b.run"], tmp_path).placed
    assert placed("a:7: a tag, as in b.run.") == "data/a:7: data/a tag, as in data/b.run."
    assert placed("a.run, data and b.runs") == "a.run, data and b.runs"
