"""Metrics of installed packages: their code is part of what a cell's values follow from."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import harness
from harness.audit.verify import verify
from harness.core.metric import REGISTRY
from harness.experiment import cache as plugged

CONFIG = """
output: out
datasets: {toy: {path: qrels.txt}}
runs: {one: {path: one.run}}
metrics: [toy_constant]
plugins: [toy_metrics]
crosscheck: none
"""
METRIC = """
from harness import metric
from toy_metrics.deep import VALUE

@metric("toy_constant", direction="higher", bounds=(0, 1), source="this test")
def toy_constant(aligned):
    "The same for every query."
    return VALUE + 0 * aligned.n_retrieved
"""
Install = Callable[[str, float], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs one version of a package whose metric gives one value, in place of another."""
    site = tmp_path / "site-packages"
    (site / "toy_metrics").mkdir(parents=True)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    known = plugged._installed()
    monkeypatch.setattr(plugged, "_installed", lambda: (*known, f"{site}/"))

    def put(version: str, value: float) -> None:
        (site / "toy_metrics/__init__.py").write_text(METRIC, encoding="utf-8")
        (site / "toy_metrics/deep.py").write_text(f"VALUE = {value}\n", encoding="utf-8")
        info = site / "toy_metrics-1.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Name: toy-metrics\nVersion: {version}\n")
        (info / "top_level.txt").write_text("toy_metrics\n")
        for name in ("toy_metrics", "toy_metrics.deep"):
            sys.modules.pop(name, None)
        REGISTRY.pop("toy_constant", None)

    yield put
    for name in ("toy_metrics", "toy_metrics.deep"):
        sys.modules.pop(name, None)
    REGISTRY.pop("toy_constant", None)


@pytest.mark.slow
def test_other_code_of_a_package_computes_anew_and_is_recorded(
    tmp_path: Path, install: Install
) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n", encoding="utf-8")
    (tmp_path / "one.run").write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n", encoding="utf-8")
    (tmp_path / "toy.yaml").write_text(CONFIG, encoding="utf-8")
    values, cached, packages = [], [], []
    for version, value in (("1.0", 0.5), ("1.0", 0.5), ("2.0", 0.25), ("3.0", 0.25)):
        install(version, value)
        found = harness.run(tmp_path / "toy.yaml")
        values.append(found.leaderboard.entries[0].summary["toy_constant"])
        cached.append(found.cached)
        manifest = json.loads((found.folder / "manifest.json").read_text(encoding="utf-8"))
        packages.append(manifest["packages"]["toy_metrics"])
    assert values == [0.5, 0.5, 0.25, 0.25]
    assert cached == [0, 1, 0, 0]  # known where neither the code nor the version differs
    assert [one["version"] for one in packages] == ["1.0", "1.0", "2.0", "3.0"]
    assert {one["distribution"] for one in packages} == {"toy-metrics"}
    hashes = [one["sha256"] for one in packages]
    assert hashes[0] == hashes[1] != hashes[2] == hashes[3]

    assert verify(tmp_path / "out", plugins=True).versions == []
    install("4.0", 0.75)
    now = verify(tmp_path / "out", plugins=True)
    (package,) = now.versions
    assert package.name == "package toy_metrics"
    assert package.then == f"3.0 ({hashes[3][:12]})"
    assert package.now.startswith("4.0 (")
    assert (now.differences[0].file, now.differences[0].cause) == ("leaderboard.csv", "version")
