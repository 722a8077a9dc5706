"""Fixes of frequent mistakes on the command line, applied as the message says."""

import re
from pathlib import Path

import pytest
import yaml
from command_line import called, refused, succeeds

QRELS = "10 0 b 1\n2 0 a=1 1\n2 0 b 0\n1 0 c 1\n"
RUN = "2 Q0 b 1 3 t\n2 Q0 a=1 2 1 t\n10 Q0 b 1 .5 t\n1 Q0 c 1 2 t\n"
CONFIG = "output: out\ndatasets: {d: q.txt}\nruns: {x=y: a.run}\nmetrics: [map, P@1]\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text(QRELS)
    Path("a.run").write_text(RUN)
    Path("c.yaml").write_text(CONFIG)
    return tmp_path


def advice(text: str) -> str:
    return text.partition("fix:")[2].partition("\n")[0].strip()


@pytest.mark.parametrize("command", ["table", "verify", "page"])
def test_a_config_in_place_of_results_names_both_steps(here: Path, command: str) -> None:
    steps = re.fullmatch(r"run harness (.*), then give (.*)", advice(refused(command, "c.yaml")))
    assert steps is not None
    succeeds(*steps[1].split())
    assert advice(refused(command, "c.yaml")) == f"give {steps[2]}"
    succeeds(command, steps[2])


def test_an_override_is_blamed_under_its_own_option(here: Path) -> None:
    error = refused("run", "c.yaml", "--sort", "mapp")
    assert "--sort" in error
    assert "--set" not in error
    succeeds("run", "c.yaml", "--sort", "P@1")
    assert "--set" in refused("run", "c.yaml", "--set", "sort=mapp")


def test_scores_of_rows_need_the_data_that_was_predicted(here: Path) -> None:
    Path("p.txt").write_text("3\n1\n2\n.5\n.25\n")
    assert "learning-to-rank data" in advice(refused("evaluate", "q.txt", "p.txt", "-m", "map"))
    Path("test.txt").write_text("".join(f"{n % 2} qid:{1 + n // 3} 1:{n}\n" for n in range(5)))
    succeeds("evaluate", "test.txt", "p.txt", "-m", "map")


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [("runs:", " runs:", "'runs' by 1, 'datasets' by 0"),
     ("output:", "  output:", "'datasets' by 0, 'output' by 2"),
     ("runs: {", "runs:\n    z: a.run\n   y: a.run\nignored: {", "'y' by 3, 'z' by 4")],
)  # fmt: skip
def test_wrong_indentation_names_two_keys_to_indent_alike(
    here: Path, old: str, new: str, names: str
) -> None:
    text = CONFIG.replace(old, new)
    Path("c.yaml").write_text(text)
    error = refused("run", "c.yaml")
    found = re.search(r"('.*') is indented by (\d+) spaces?, ('.*') by (\d+)", error)
    assert found is not None, error
    assert "{} by {}, {} by {}".format(*found.groups()) == names
    fix = advice(error)
    spaces = re.search(r"indent both by (\d+) spaces?", fix)
    assert spaces or "both at the start of their lines" in fix
    keys = "|".join(key.strip("'") for key in (found[1], found[3]))
    mended = re.sub(rf"(?m)^ *({keys}):", " " * int(spaces[1] if spaces else 0) + r"\1:", text)
    assert yaml.safe_load(mended)["metrics"] == ["map", "P@1"]


def test_a_placeholder_to_pool_is_written_into_names_and_paths(here: Path) -> None:
    pool = ("--set", "summary.pool=[fold]")
    assert "{fold}" in advice(refused("run", "c.yaml", *pool))
    for fold in (2, 10):
        Path(f"q{fold}.txt").write_text(f"{fold} 0 b 1\n")
    succeeds("run", "c.yaml", *pool, "--set", "datasets={'d{fold}': 'q{fold}.txt'}")


@pytest.mark.parametrize(
    "words",
    ["evaluate", "evaluate q.txt a.run", "evaluate q.txt a.run -m map -f x", "tabel", "table",
     "run c.yaml --jops 2", "run c.yaml --jobs", "run c.yaml c.yaml", "run c.yaml --jobs x",
     "--bogus"],
)  # fmt: skip
def test_wrong_usage_has_the_form_of_all_errors(here: Path, words: str) -> None:
    error = refused(*words.split())
    assert re.fullmatch(r"error: .*[^.\n]\n  fix:   .*\n", error), error
    if help := re.search(r"see harness (.*--help)", error):
        succeeds(*help[1].split())
    if option := re.search("write (--.*)", error):
        succeeds("run", "c.yaml", *f"{option[1]} 1".split()[:2])


def test_a_missing_file_lists_the_folder_if_it_helps(here: Path) -> None:
    for n in range(9):
        Path(f"z{n}").touch()
    near = called("evaluate", "q.txt", "b.run", "-m", "map").err
    assert "a.run" in near
    far = called("evaluate", "q.txt", "nothing-like-it.csv", "-m", "map").err
    assert "nothing-like-it.csv" in far
    assert "folder contains" not in far


@pytest.mark.parametrize("words", [("evaluate", "q.txt", "c.yaml", "-m", "map"),
    ("evaluate", "c.yaml", "a.run", "-m", "map"), ("compare", "a.run", "c.yaml", "-m", "map"),
    ("compare", "a.run", "c.yaml", "--qrels", "q.txt", "-m", "map"), ("pool", "a.run", "c.yaml"),
    ("gate", "a.run", "c.yaml", "--qrels", "q.txt", "-m", "map", "--margin", ".1"),
    ("check", "q.txt", "a.run", "c.yaml")])  # fmt: skip
def test_a_config_in_place_of_a_file_is_run(here: Path, words: tuple[str, ...]) -> None:
    said = called(*words)
    (fix,) = re.findall(r"fix: +harness (run c\.yaml)$", said.out + said.err, re.MULTILINE)
    succeeds(*fix.split())


def test_results_in_place_of_a_config_have_a_page(here: Path) -> None:
    succeeds("run", "c.yaml")
    fix = advice(refused("run", "out")).rpartition("harness ")[2]
    assert fix == "page out"
    succeeds(*fix.split())


def test_without_a_metric_other_mistakes_are_reported_too(here: Path) -> None:
    said = called("evaluate", "q.tx", "a.run").err
    assert ("use q.txt" in said, "such as -m map" in said) == (True, True)
    swapped = called("evaluate", "a.run", "q.txt").err
    assert (swapped.count("the qrels"), swapped.count("error: ")) == (2, 3)
    for words in (("compare", "--qrels", "q.tx"), ("gate", "--margin", ".1", "--qrels", "q.tx")):
        assert "use q.txt" in called(*words, "a.run", "a.run").err


def test_an_option_that_is_a_key_of_the_config(here: Path) -> None:
    said = called("page", "out", "--metadata", "x").err
    assert ("page:" in said, "--date" in said) == (True, False)
    assert "write --title" in called("page", "out", "--titel", "x").err
