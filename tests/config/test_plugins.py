"""Plugins: files and modules, what fails in them, and `--no-plugins`."""

import sys
from pathlib import Path

import pytest
from command_line import Said, called
from made_files import GOOD, complaint

from harness.config import load as config
from harness.config import plugins
from harness.config.load import load
from harness.core.metric import REGISTRY
from harness.experiment.results import read_results
from harness.experiment.run import run

PLUGIN = """\
import numpy as np
from harness.core.metric import metric

@metric("{name}", direction="higher", bounds=(0, 1), source="a test")
def {name}(aligned):
    '''A constant.'''
    return np.full(aligned.n_queries, {value})
"""


class TestPlugins:
    def test_what_fails_in_a_plugin(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.syspath_prepend(str(base))
        (base / "syntax.py").write_text("x = 1\ny = (\n")
        (base / "taken.py").write_text(
            "from harness.core.metric import metric\n"
            "metric('ndcg', direction=None, bounds=(0, 1), source='')(lambda aligned: None)\n"
        )
        (base / "imports.py").write_text("\nimport not_installed_at_all\n")
        (base / "harness_test_imports.py").write_text("\nimport not_installed_at_all\n")
        (base / "harness_test_fails.py").write_text("1 / 0\n")
        names = "syntax.py, taken.py, imports.py, harness_test_imports, harness_test_fails"
        assert complaint(GOOD + f"plugins: [{names}]\n") == [
            "$.plugins[0] (line 6)  syntax.py:2: SyntaxError: '(' was never closed",
            "$.plugins[1] (line 6)  taken.py:2: ValueError: there is a metric 'ndcg' already",
            "$.plugins[2] (line 6)  imports.py:2: ModuleNotFoundError: "
            "No module named 'not_installed_at_all'",
            "$.plugins[3] (line 6)  module 'harness_test_imports' cannot be imported: "
            "ModuleNotFoundError: No module named 'not_installed_at_all'",
            "$.plugins[4] (line 6)  module 'harness_test_fails' cannot be imported: "
            "ZeroDivisionError: division by zero",
        ]
        assert not [name for name in sys.modules if name.startswith("harness_plugin_")]

    def test_a_module_is_loaded_where_it_is_named(
        self, base: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (base / "harness_test_entry.py").write_text(PLUGIN.format(name="my_entry", value=1))
        monkeypatch.syspath_prepend(str(base))
        config.loads(GOOD)
        assert "harness_test_entry" not in sys.modules
        text = GOOD.replace("ndcg@10", "my_entry")
        assert "my_entry" in complaint(text)[0]
        loaded = config.loads(text + "plugins: [harness_test_entry]\n")
        assert str(loaded.parsed_metrics()[1]) == "my_entry"
        del sys.modules["harness_test_entry"]
        assert complaint(GOOD + "plugins: [no_such]\n") == [
            "$.plugins[0] (line 6)  no module 'no_such'",
            "  fix:   for a file write no_such.py",
        ]


CONFIG = """\
output: out
datasets: {web: {format: trec, path: web.qrels}}
runs: {ours: {format: trec, path: ours.run}}
metrics: [map]
plugins: [mine.py]
"""
SAID = "'mine.py' is not loaded because of --no-plugins"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "web.qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "ours.run").write_text("q1 Q0 d1 1 1 t\n")
    (tmp_path / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    (tmp_path / "plain.yaml").write_text(CONFIG.replace("plugins: [mine.py]\n", ""))
    (tmp_path / "c.yaml").write_text(CONFIG)
    return tmp_path


def harness(folder: Path, *words: str) -> Said:
    plugins.allowed = True  # which an earlier command may have changed
    return called(*words, cwd=folder)


def test_a_folder_of_results_runs_no_code(folder: Path) -> None:
    """Commands that read results do without its plugins; the others say what they would run."""
    assert harness(folder, "run", "c.yaml").code == 0
    (folder / "ran").unlink()
    (folder / "paper.md").write_text("| run | map |\n|---|---|\n| ours | 1.000 |\n")
    manifest = Path("out", "manifest.json")
    refused = f"error: {manifest}: expected results without plugins, got plugins "
    refused += "that would be run: mine.py\n  fix:   "
    for words, fix in (
        (["table", "out"], ""),
        (["trace", "out", "--run", "ours", "-m", "map", "--query", "q1"], ""),
        (["diff", "out", "out"], ""),
        (["diff", "out", "paper.md"], ""),
        (["verify", "out"], "give --plugins if you trust this code"),
        (["conventions", "out"], "name the config that wrote them"),
    ):
        done = harness(folder, *words)
        error = f"{refused}{fix}\n" if fix else ""
        assert (done.code, done.err) == (2 if fix else 0, error), words
        assert not (folder / "ran").exists()
    done = harness(folder, "verify", "out", "--plugins", "--no-plugins")
    assert done.code == 2
    assert SAID in done.err
    assert not (folder / "ran").exists()
    assert harness(folder, "verify", "out", "--plugins").code == 0
    assert (folder / "ran").exists()


METRIC = '''\
from harness.core.align import Aligned
from harness.core.metric import metric
from harness.core.ragged import Floats


@metric("fewest", direction="lower", bounds=(0, float("inf")), source="us", unit="documents")
def fewest(aligned: Aligned, *, cutoff: int, share: float = 0.5) -> Floats:
    """How few documents were judged."""
    return aligned.sum((aligned.rank <= cutoff) * share)
'''


def test_metrics_of_plugins_are_read_from_the_manifest(folder: Path) -> None:
    (folder / "mine.py").write_text(METRIC)
    names = "[map, 'fewest(share=0.25,ties=stable)@3', fewest@2]"
    (folder / "c.yaml").write_text(CONFIG.replace("[map]", names) + "policy: {ties: bounds}\n")
    run(folder / "c.yaml")
    metrics = load(folder / "c.yaml").parsed_metrics()
    assert REGISTRY.pop("fewest").function.__module__.startswith("harness_plugin_")
    (folder / "mine.py").unlink()
    (entry,) = read_results(folder / "out").board.entries
    for then, now in zip(metrics, entry.evaluation.metrics, strict=True):
        one, other = then.definition, now.definition
        for fact in ("direction", "bounds", "title", "unit", "summary", "empty", "missing"):
            assert getattr(one, fact) == getattr(other, fact), (then, fact)
        facts = (str(now), now.cutoff, now.params, now.settings, now.definition.is_built_in)
        assert facts == (
            str(then), then.cutoff, then.params, then.settings, then.definition.is_built_in,
        )  # fmt: skip
    assert entry.summary["fewest@2"] == 0.5
    why = harness(folder, "trace", "out", "--run", "ours", "-m", "fewest@2", "--query", "q1")
    assert (why.code, why.err) == (
        2,
        "error: out: expected a metric of the harness with --query, got a plugin's: fewest@2\n"
        "  fix:   leave --query out; harness verify --plugins computes all values again\n",
    )
