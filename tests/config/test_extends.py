"""A config on top of another one: what is merged, where paths start, which file a problem is in."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.config import load as config
from harness.config.layers import merge
from harness.config.sweep import resolve
from harness.config.yaml_file import Source
from harness.errors import ConfigError

BASE = """\
name: base
output: out/{name}
datasets:
  trec: {path: qrels.txt}
runs:
  bm25: {path: runs/bm25.run, format: trec}
  "{model}": {path: "runs/{model}.res"}
metrics: [map]
plugins: [mine.py]
policy: {ties: stable, depth: 5}
"""


def test_null_from_the_command_line_takes_a_key_out(base: Path) -> None:
    text = "extends: ../shared/base.yaml\ncompare: {baseline: bm25}\n"
    every = config.loads(text, "mine.yaml", base / "mine")
    assert (every.compare is None, every.policy.depth, len(every.runs)) == (False, 5, 2)
    overrides = ["compare=null", "policy.depth=null", "runs.{model}=null"]
    less = config.loads(text, "mine.yaml", base / "mine", overrides)
    assert (less.compare, less.policy.depth, list(less.runs)) == (None, None, ["bm25"])
    with pytest.raises(ConfigError, match=r"\$\.runs\.bm that could be taken out; did you mean"):
        config.loads(text, "mine.yaml", base / "mine", ["runs.bm=null"])
    with pytest.raises(ConfigError, match="cannot read the value: YAML would read '010' as 8"):
        config.loads(text, "mine.yaml", base / "mine", ["policy.depth=010"])


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base in ``shared`` with its files, and an empty folder ``mine`` beside it."""
    for name in ("shared/qrels.txt", "shared/runs/bm25.run", "shared/runs/a.res", "mine/b.res"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "shared/mine.py").write_text("")
    (tmp_path / "shared/base.yaml").write_text(BASE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> str:
    Path(name).write_text(textwrap.dedent(text))
    return name


def complaint(name: str, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.load(name, overrides)
    return str(caught.value).splitlines()


@pytest.mark.usefixtures("base")
def test_mappings_are_merged_and_the_rest_is_replaced() -> None:
    write("mine/c.yaml", """\
        extends: ../shared/base.yaml
        metrics: [ndcg@10, P@5]
        policy: {depth: 10}
        runs:
          b: {path: b.res}
          bm25: {duplicates: first}
        """)  # fmt: skip
    loaded = config.load("mine/c.yaml", ["policy.judged_only=true"])
    assert loaded.metrics == ("ndcg@10", "P@5")
    assert (loaded.policy.ties, loaded.policy.depth, loaded.policy.judged_only) == (
        "stable",
        10,
        True,
    )
    assert list(loaded.runs) == ["bm25", "{model}", "b"]
    bm25 = loaded.runs["bm25"]
    assert not isinstance(bm25, tuple)
    assert (bm25.path, bm25.format, bm25.duplicates) == ("../shared/runs/bm25.run", "trec", "first")
    assert loaded.extends == "../shared/base.yaml"


def test_paths_start_where_they_stand_and_the_name_is_ones_own(base: Path) -> None:
    write("mine/c.yaml", "extends: ../shared/base.yaml\nruns: {b: {path: b.res}}\n")
    loaded = config.load("mine/c.yaml")
    assert [(cell.run, Path(cell.run_entry.path).resolve()) for cell in resolve(loaded)] == [
        ("bm25", base / "shared/runs/bm25.run"),
        ("a", base / "shared/runs/a.res"),
        ("b", base / "mine/b.res"),
    ]
    assert loaded.plugins == ("../shared/mine.py",)
    assert (loaded.name, loaded.base) == ("c", Path("mine"))
    assert loaded.output_folder.resolve() == base / "shared/out/c"


def test_what_is_resolved_needs_no_base(base: Path) -> None:
    write("mine/c.yaml", "extends: ../shared/base.yaml\nruns: {b: {path: b.res}}\n")
    loaded = config.load("mine/c.yaml")
    text = json.dumps(loaded.resolved())
    assert "extends" not in text
    (base / "shared/base.yaml").unlink()
    again = config.loads(text, "mine/c.yaml", "mine")
    assert again == loaded
    assert resolve(again) == resolve(loaded)


@pytest.mark.usefixtures("base")
def test_null_takes_out() -> None:
    write("mine/c.yaml", """\
        extends: ../shared/base.yaml
        runs: {"{model}": null}
        policy: null
        output:
        """)  # fmt: skip
    loaded = config.load("mine/c.yaml")
    assert list(loaded.runs) == ["bm25"]
    assert loaded.policy.ties == "trec_eval"
    assert loaded.output == "results/c"
    write(
        "mine/d.yaml", "extends: ../shared/base.yaml\nruns: {bm52: null}\npolicy: {depth: null}\n"
    )
    assert complaint("mine/d.yaml") == [
        "mine/d.yaml: 1 problem",
        "  $.runs.bm52 (line 2)  ../shared/base.yaml has no 'bm52' that could be taken out; "
        "did you mean 'bm25'?",
    ]


def test_chains(base: Path) -> None:
    """Each file on top of the one before; every path from its own folder."""
    (base / "deep/er").mkdir(parents=True)
    write("deep/middle.yaml", "extends: ../shared/base.yaml\nmetrics: [P@5]\noutput: here\n")
    write("deep/er/top.yaml", "extends: ../middle.yaml\npolicy: {ties: best}\n")
    loaded = config.load("deep/er/top.yaml")
    assert (loaded.metrics, loaded.policy.ties, loaded.policy.depth) == (("P@5",), "best", 5)
    assert loaded.output_folder.resolve() == base / "deep/here"
    assert Path(resolve(loaded)[0].run_entry.path).resolve() == base / "shared/runs/bm25.run"


@pytest.mark.usefixtures("base")
def test_a_problem_names_the_file_where_it_stands() -> None:
    write("deeper.yaml", "polcy: {}\nplugins: [no.py]\nmetrics: [mpa]\n")
    write(
        "shared/base.yaml",
        BASE.replace("bm25.run", "bm52.run").replace("depth: 5", "depth: 0")
        + "extends: ../deeper.yaml\n",
    )
    write(
        "mine/c.yaml",
        "extends: ../shared/base.yaml\ndatasets: {trec: {format: treck}}\nruns:\n  b: {}\n",
    )
    with pytest.raises(ConfigError) as caught:
        config.load("mine/c.yaml", ["policy.ties=stabel"])
    assert [str(problem).partition(";")[0] for problem in caught.value.problems] == [
        "$.datasets.trec.format (line 2): unknown format 'treck'",
        "$.runs.b (line 4): the key 'path' is missing",
        "$.polcy (../deeper.yaml, line 1): unknown key 'polcy'",
        "$.runs.bm25.path (../shared/base.yaml, line 6): no file shared/runs/bm52.run",
        "$.policy.depth (../shared/base.yaml, line 10): must be at least 1, and is 0",
        "$.policy.ties (--set): unknown ties policy 'stabel'",
    ]


@pytest.mark.usefixtures("base")
def test_a_base_that_cannot_be_read() -> None:
    for name, line in [
        ("../shared/bas.yaml", "$.extends (line 1)  no file shared/bas.yaml; the folder holds "
         "base.yaml, mine.py, qrels.txt, runs/"),
        ("../shared", "$.extends (line 1)  is a folder, not a config"),
        ("7", "$.extends (line 1)             must be text, and is the number 7"),
    ]:  # fmt: skip
        write("mine/c.yaml", BASE.replace("name: base", f"extends: {name}"))
        assert complaint("mine/c.yaml")[1].strip() == line
    write("shared/base.yaml", "runs: [\n")
    write("mine/c.yaml", "extends: ../shared/base.yaml\n")
    assert complaint("mine/c.yaml")[0] == "mine/../shared/base.yaml: 1 problem"
    assert "line 2, column 1  not valid YAML" in complaint("mine/c.yaml")[1]
    write("shared/base.yaml", BASE.replace("depth: 5", "depth: 5, depth: 6"))
    assert complaint("mine/c.yaml")[1] == (
        "  $.policy.depth (../shared/base.yaml, line 10)  the key 'depth' is here twice, "
        "first at line 10"
    )


@pytest.mark.usefixtures("base")
def test_a_cycle_is_an_error_that_names_it() -> None:
    write("mine/a.yaml", "extends: b.yaml\n")
    write("mine/b.yaml", "name: b\nextends: ../mine/c.yaml\n")
    write("mine/c.yaml", "extends: b.yaml\n")
    assert complaint("mine/a.yaml") == [
        "mine/a.yaml: 1 problem",
        "  $.extends (../mine/c.yaml, line 1)  extends itself: "
        "b.yaml -> ../mine/c.yaml -> ../mine/b.yaml",
    ]
    write("mine/a.yaml", "extends: ./a.yaml\n")
    assert (
        complaint("mine/a.yaml")[1].strip()
        == "$.extends (line 1)  extends itself: a.yaml -> a.yaml"
    )
    assert (
        complaint("mine/c.yaml", "extends=x")[1]
        .strip()
        .startswith("$.extends (b.yaml, line 2)  extends itself")
    )


@pytest.mark.usefixtures("base")
def test_what_to_extend_stands_in_the_file() -> None:
    write("mine/c.yaml", "extends: ../shared/base.yaml\n")
    assert complaint("mine/c.yaml", "extends=x.yaml") == [
        "mine/c.yaml: 1 problem",
        "  --set extends=x.yaml  stands in the file only; give the other config itself, or edit "
        "the file",
    ]


trees = st.recursive(
    st.integers(0, 3), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
mappings = st.dictionaries(st.sampled_from("abc"), trees, max_size=3)


def literally(below: object, above: object) -> object:
    """Key by key where both are mappings, else the one above."""
    if isinstance(below, dict) and isinstance(above, dict):
        keys = [*below, *(key for key in above if key not in below)]
        return {
            k: literally(below[k], above[k])
            if k in below and k in above
            else above.get(k, below.get(k))
            for k in keys
        }
    return above


def lines_of(
    data: object, line: int, loc: tuple[str, ...] = ()
) -> dict[tuple[str | int, ...], int]:
    found: dict[tuple[str | int, ...], int] = {}
    for key, value in data.items() if isinstance(data, dict) else ():
        found |= {(*loc, key): line, **lines_of(value, line, (*loc, key))}
    return found


@given(mappings, mappings)
def test_merging_keeps_the_line_of_every_part(
    below: dict[str, object], above: dict[str, object]
) -> None:
    lines = lines_of(below, 1)
    base = Source("b", below, lines, files=dict.fromkeys(lines, "b.yaml"))
    both = merge(base, Source("a", above, lines_of(above, 2)), "b.yaml")
    assert both.data == literally(below, above)
    assert list(both.data) == [*below, *(key for key in above if key not in below)]
    own = lines_of(above, 2)
    assert both.lines == {loc: own.get(loc, 1) for loc in lines_of(both.data, 0)}
    assert both.files == {loc: "b.yaml" for loc, line in both.lines.items() if line == 1}
