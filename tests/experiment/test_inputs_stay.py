"""No command writes one of its inputs, with any option, and each refuses before it works."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import called, refused, succeeds
from refusals import refuses

import harness
from harness.config.load import load
from harness.errors import InputError
from harness.experiment import run as experiment
from harness.input_files import add_inputs, check_outputs, keeping_inputs

QRELS = "10 0 d2 1\n2 0 d1 0\n2 0 d3 2\n1 0 d9 1\n"
RUN = "2 Q0 d3 1 2.5 x\n10 Q0 d1 1 3 x\n10 Q0 d2 2 1 x\n2 Q0 d1 2 .5 x\n1 Q0 d9 1 1 x\n"
CONFIG = """
output: {output}
datasets: {{toy: {{format: trec, path: {qrels}}}}}
runs: {{one: {{format: trec, path: {run}}}, two: {{format: trec, path: b.txt}}}}
metrics: [map, ndcg@10]
{more}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "b.txt").write_text(RUN.replace("2.5", "0.25"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """All files of a folder stay as they are; locks may come."""

    def state() -> dict[Path, bytes]:
        files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
        return {path: path.read_bytes() for path in files}

    before = state()
    yield
    assert state() == before


def never(*_: object) -> None:
    pytest.fail("evaluated")


@pytest.mark.parametrize(
    ("role", "name", "more"),
    [
        ("run", "per_query.parquet", ""),
        ("run", "leaderboard.csv", ""),
        ("run", "page.html", "reports: [page]"),
        ("run", "leaderboard.md", "reports: [markdown]"),
        ("run", "tables/main.csv", "tables: {main: {formats: [csv]}}"),
        ("run", "standings.csv", ""),
        ("qrels", "timing.json", ""),
        ("qrels", "manifest.json", ""),
        ("config", "manifest.json", ""),
        ("config", "leaderboard.csv", ""),
        ("base", "leaderboard.html", "reports: [html]"),
        ("groups", "leaderboard.csv", ""),
        ("documents", "per_query.parquet", "reports: [page]"),
    ],
)
def test_a_run_refuses_to_replace_its_inputs(
    here: Path, monkeypatch: pytest.MonkeyPatch, role: str, name: str, more: str
) -> None:
    files = {"config": "c.yaml", "qrels": "a.qrels", "run": "a.run", role: name}
    put(here, files["qrels"], QRELS)
    put(here, files["run"], RUN)
    text = CONFIG.format(output=".", qrels=files["qrels"], run=files["run"], more=more)
    if role == "groups":
        put(here, name, "qid,length\n1,short\n2,long\n10,long\n")
        text = text.replace("path: a.qrels", f"path: a.qrels, groups: {name}")
    if role == "documents":
        put(here, name, "d1\ta text\n")
        text += f"page: {{rankings: 2, documents: {name}}}\n"
    if role == "base":
        put(here, name, text)
        text = f"extends: {name}\n"
    config = put(here, files["config"], text)
    monkeypatch.setattr(experiment, "evaluate_all", never)
    with unchanged(here):
        err = refused("run", config.name, "--force", "-j", "2")
    assert f"{name}: expected a file to write, got an input" in err
    assert "fix:" in err
    loaded = load(config)
    with unchanged(here), refuses(name, error=InputError):
        harness.run(loaded, force=True)


def test_a_picture_and_a_link_are_kept_too(here: Path) -> None:
    pytest.importorskip("matplotlib")
    put(here, "a.qrels", QRELS)
    target = put(here, "data/real.txt", RUN)
    plots = "plots: [{kind: distribution, metrics: [map]}]"
    put(here, "c.yaml", CONFIG.format(output="out", qrels="a.qrels", run="b.txt", more=plots))
    succeeds("run", "c.yaml")
    picture, *_ = sorted(path.name for path in (here / "out/plots").iterdir())
    put(here, f"out/plots/{picture}", RUN)
    (here / "out/leaderboard.csv").unlink()
    for name in (f"plots/{picture}", "leaderboard.csv"):
        if name == "leaderboard.csv":
            (here / "out" / name).symlink_to(target)
        put(
            here,
            "c.yaml",
            CONFIG.format(output="out", qrels="a.qrels", run=f"out/{name}", more=plots),
        )
        before = (here / "out" / name).read_bytes()
        assert "got an input" in refused("run", "c.yaml", "--force")
        assert (here / "out" / name).read_bytes() == before == RUN.encode()
        assert (here / "out" / name).is_symlink() == (name == "leaderboard.csv")


@pytest.fixture
def results(here: Path) -> Path:
    put(here, "a.qrels", QRELS)
    put(here, "a.run", RUN)
    put(here, "texts.tsv", "d1\ta text\n")
    more = "page: {rankings: 1, documents: texts.tsv}"
    put(here, "c.yaml", CONFIG.format(output="out", qrels="a.qrels", run="a.run", more=more))
    succeeds("run", "c.yaml")
    return here / "out"


@pytest.mark.parametrize(
    "target", ["a.run", "a.qrels", "texts.tsv", "out/manifest.json", "out/per_query.parquet"]
)
def test_commands_refuse_to_replace_what_they_read(here: Path, results: Path, target: str) -> None:
    with unchanged(here):
        for words in (
            ("page", "out", "-o", target, "--force"),
            ("page", "out", "out", "-o", target, "--force"),
            ("page", "out", "--participant", "one", "-o", target, "--force"),
        ):
            assert f"{target}: expected a file to write, got an input" in refused(*words)


@pytest.mark.parametrize("target", ["c.yaml", "out/leaderboard.csv", "b.txt"])
@pytest.mark.parametrize("more", [(), ("--participant", "one")])
def test_a_page_replaces_nothing_but_a_page(
    here: Path, results: Path, target: str, more: tuple[str, ...]
) -> None:
    with unchanged(here):
        assert refused("page", "out", "-o", target, *more, "--force").startswith(
            f"error: {target}: expected a"
        )
    succeeds("page", "out", "-o", "c.html")
    succeeds("page", "out", *more, "-o", "c.html", "--force")


def test_other_writers(here: Path, results: Path) -> None:
    data = put(here, "d.letor", "1 qid:2 1:1\n0 qid:2 1:2\n")
    runs: dict[str, object] = {"one": "a.run", "two": "b.txt"}
    link = here / "link.run"
    link.symlink_to("a.run")
    shutil.copy(data, here / "d.run")
    with unchanged(here):
        for words in (
            ("init", ".", "-o", "a.run", "--force"),
            ("init", ".", "-o", "a.qrels", "--force"),
        ):
            assert "expected a file to write, got an input" in refused(*words)
        for path in ("a.run", "a.qrels"):
            with pytest.raises(InputError, match="an input"):
                harness.page(path, "a.qrels", runs, ["map"])
        with pytest.raises(InputError, match="an input"):
            harness.save_predictions("d.run", [1.0, 2.0], here / "d.run")
    assert link.is_symlink()


def test_an_earlier_output_that_became_an_input_is_not_removed(here: Path) -> None:
    put(here, "a.qrels", QRELS)
    table = "tables: {main: {formats: [csv]}}"
    put(here, "c.yaml", CONFIG.format(output="out", qrels="a.qrels", run="b.txt", more=table))
    succeeds("run", "c.yaml")
    columns = (here / "out/tables/main.csv").read_text().splitlines()[0].split(",")
    more = (
        f"page: {{metadata: {{path: out/tables/main.csv, key: '{columns[0]}'}}}}\nreports: [page]"
    )
    put(here, "c.yaml", CONFIG.format(output="out", qrels="a.qrels", run="b.txt", more=more))
    before = (here / "out/tables/main.csv").read_bytes()
    succeeds("run", "c.yaml")
    assert (here / "out/tables/main.csv").read_bytes() == before


def test_what_is_no_input_is_written_as_before(here: Path, results: Path) -> None:
    for words in (
        ("run", "c.yaml"), ("run", "c.yaml", "--force"), ("page", "out"), ("page", "out"),
        ("page", "out", "-o", "c.html"), ("page", "out", "-o", "c.html", "--force"),
        ("init", ".", "-o", "c.yaml", "--force"), ("init", ".", "-o", "c.yaml", "--force"),
        ("verify", "out"),
    ):  # fmt: skip
        assert called(*words).code == 0, words
    harness.evaluate("a.qrels", "a.run", ["map"])
    harness.save_predictions("a.run", [0.5, 1.0], ["2", "2"])  # the next epoch's
    assert (here / "a.run").read_text().startswith("2 Q0 d1")


def test_inputs_of_one_command_are_not_those_of_the_next(tmp_path: Path) -> None:
    path = put(tmp_path, "a", "")
    add_inputs(path)  # outside of a command
    check_outputs(tmp_path, ["a"])
    with keeping_inputs(path):
        with keeping_inputs(), pytest.raises(InputError):
            check_outputs(tmp_path, ["a"])
        with keeping_inputs(apart=True):
            check_outputs(tmp_path, ["a"])
    check_outputs(tmp_path, ["a"])
