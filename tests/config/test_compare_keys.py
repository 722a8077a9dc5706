"""`compare:` in a config: what is wrong with it is said before any data are read."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.config import load as config
from harness.core.comparison import Plan
from harness.errors import ConfigError
from harness.stats import registry

GOOD = """\
datasets:
  trec: {path: qrels.txt}
runs:
  "{run}": {path: "{run}.run"}
metrics: [map, ndcg@10, num_ret]
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder with judgements and three runs."""
    for name in ("qrels.txt", "bm25.run", "dense.run", "sparse.run"):
        (tmp_path / name).write_text("x")
    return tmp_path


def complaint(base: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.loads(GOOD + text, "c.yaml", base)
    return [problem.where for problem in caught.value.problems]


def test_defaults(base: Path) -> None:
    assert config.loads(GOOD, "c.yaml", base).compare is None
    found = config.loads(GOOD + "compare: {}\n", "c.yaml", base).compare
    assert found is not None
    assert found == Plan()
    assert config.loads(GOOD + "compare: {baseline: bm25}\n", "c.yaml", base).compare is not None


def test_every_key(base: Path) -> None:
    text = textwrap.dedent("""\
    compare:
      baseline: [bm25, dense]
      test: randomization
      correction: bh
      family: metric
      level: .01
      interval: bca
      draws: 999
      seed: 7
      metrics: [AP]
    """)
    found = config.loads(GOOD + text, "c.yaml", base).compare
    assert found is not None
    assert found == Plan(
        ("bm25", "dense"), "randomization", "bh", "metric", 0.01, "bca", 999, 7, ("AP",)
    )


def test_every_problem_at_once(base: Path) -> None:
    text = textwrap.dedent("""\
    compare:
      baseline: [bm25, dens]
      test: paried-t
      correction: hom
      family: 3
      level: 5
      draws: 5
      seeds: 1
      metrics: [mapp, num_ret, map]
    """)
    assert complaint(base, text) == [
        "$.compare.baseline[1] (line 7)", "$.compare.test (line 8)",
        "$.compare.correction (line 9)", "$.compare.family (line 10)", "$.compare.level (line 11)",
        "$.compare.draws (line 12)", "$.compare.seeds (line 13)", "$.compare.metrics[0] (line 14)",
        "$.compare.metrics[1] (line 14)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("compare: bm25", "$.compare"),
        ("compare: {baseline: 3}", "$.compare.baseline"),
        ("compare: {level: a}", "$.compare.level"),
        ("compare: {level: 0}", "$.compare.level"),
        ("compare: {baseline: bm52}", "$.compare.baseline"),
        ("compare: {metrics: ndgc@10}", "$.compare.metrics"),
    ],
)
def test_one_problem(base: Path, text: str, place: str) -> None:
    assert complaint(base, text + "\n") == [f"{place} (line 6)"]


def test_one_run_only(tmp_path: Path) -> None:
    for name in ("qrels.txt", "bm25.run"):
        (tmp_path / name).write_text("x")
    assert complaint(tmp_path, "compare: {}\n") == ["$.compare (line 6)"]


def test_nothing_but_counts(base: Path) -> None:
    text = GOOD.replace("[map, ndcg@10, num_ret]", "[num_ret, runid]") + "compare: {}\n"
    with pytest.raises(ConfigError) as caught:
        config.loads(text, "c.yaml", base)
    assert [problem.where for problem in caught.value.problems] == ["$.compare (line 6)"]


def test_what_is_wrong_elsewhere_is_not_said_twice(base: Path) -> None:
    text = GOOD.replace("map,", "mpa,").replace("[mpa", "[mpaa")
    with pytest.raises(ConfigError) as caught:
        config.loads(text + "compare: {metrics: [ndcg@10, mpa]}\n", "c.yaml", base)
    (problem,) = caught.value.problems
    assert problem.where == "$.metrics[0] (line 5)"


def test_names_without_the_settings_of_all(base: Path) -> None:
    text = GOOD + "convention: lightgbm\ncompare: {metrics: [ndcg@10]}\n"
    text = text.replace("[map, ndcg@10, num_ret]", "[ndcg@10]")
    assert config.loads(text, "c.yaml", base).compare is not None
    text = GOOD + "policy: {ties: bounds}\ncompare: {metrics: [ndcg@10, map_max]}\n"
    assert config.loads(text, "c.yaml", base).compare is not None


@pytest.fixture
def _known_tests() -> Iterator[None]:
    before = dict(registry.load_all())
    yield
    registry.TESTS.clear()
    registry.TESTS.update(before)


@pytest.mark.usefixtures("_known_tests")
def test_a_test_of_a_plugin(base: Path) -> None:
    (base / "mine.py").write_text(
        "from harness.stats.registry import paired_test\n\n\n"
        "@paired_test('half', title='a test that always says .5')\n"
        "def half(differences, stream):\n"
        "    return 0.5\n"
    )
    text = "plugins: [mine.py]\ncompare: {test: half}\n"
    assert config.loads(GOOD + text, "c.yaml", base).compare is not None
    assert complaint(base, text.replace("half", "haf")) == ["$.compare.test (line 7)"]


def test_a_config_that_compares_nothing_does_not_load_scipy(base: Path) -> None:
    (base / "c.yaml").write_text(GOOD)
    code = (
        "import sys; from harness.config import load as config; from harness import experiment\n"
        "config.load(sys.argv[1]); print('scipy' in sys.modules)\n"
        "config.load(sys.argv[1], ['compare.baseline=bm25']); print('scipy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(base / "c.yaml")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["False", "True"]
