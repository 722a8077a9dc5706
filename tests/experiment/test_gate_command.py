"""``harness gate``: verdicts, formats, exit codes and wrong usage."""

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import called, refused
from ranks import QIDS, write_qrels, write_run

import harness
from harness.config.load import load
from harness.errors import ConfigError

TWO = ("base.run", "worse.run", "--qrels", "qrels.txt")
ALL_FIRST = dict.fromkeys(QIDS, 1)
ALL_BUT_THE_LAST = dict.fromkeys(QIDS[:-1], 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_qrels(tmp_path / "qrels.txt")
    write_run(tmp_path / "base.run", ALL_FIRST)
    write_run(tmp_path / "same.run", ALL_FIRST)
    write_run(tmp_path / "worse.run", {**ALL_FIRST, **dict.fromkeys(QIDS[:8], 2)})
    write_run(tmp_path / "unclear.run", {**ALL_FIRST, QIDS[0]: 2})
    (tmp_path / "gate.yaml").write_text(
        "datasets: {d: {path: qrels.txt}}\n"
        "runs: {'{run}': {path: '{run}.run'}}\nmetrics: [recip_rank, P@1, num_ret]\n"
        "gate: {baseline: base, rules: {recip_rank: {margin: 0.05}, 'P@1': {max_drop: 10%}}}\n"
    )
    return tmp_path


def gate(folder: Path, *words: str) -> tuple[int, dict[tuple[str, str], str]]:
    done = called("gate", *words, "--format", "json", cwd=folder)
    found = json.loads(done.out)["verdicts"]
    return done.code, {(one["run"], one["metric"]): one["outcome"] for one in found}


@pytest.mark.parametrize(
    ("words", "code", "start"),
    [
        ("base unclear", 1, "undecided (fails): MRR of unclear fell by 0.0"),
        ("base unclear --on-undecided pass", 0, "undecided (passes): MRR of unclear fell by 0.0"),
        ("unclear base", 1, "undecided (fails): MRR of base rose by 0.0"),
        ("worse base", 0, "passed: MRR of base rose by 0."),
        ("base worse", 1, "failed: MRR of worse fell by 0."),
        ("base same", 0, "passed: MRR of same did not change (margin 0.01, "),
        ("unclear unclear", 0, "passed: MRR of the same run did not change (margin 0.01, "),
    ],
)
def test_run_files(folder: Path, words: str, code: int, start: str) -> None:
    baseline, candidate, *more = words.split()
    rest = ("--qrels", "qrels.txt", "-m", "recip_rank", "--margin", "0.01", *more)
    done = called("gate", f"{baseline}.run", f"{candidate}.run", *rest, cwd=folder)
    assert (done.code, done.out[: len(start)]) == (code, start)


@pytest.mark.parametrize("margin", ["0", "0%", "recip_rank=0", "-0.0"])
def test_a_margin_is_above_zero(folder: Path, margin: str) -> None:
    words = ("base.run", "same.run", "--qrels", "qrels.txt", "-m", "recip_rank")
    assert "margin: expected" in refused("gate", *words, "--margin", margin, cwd=folder)
    text = (folder / "gate.yaml").read_text()
    for old, new, code in (("margin: 0.05", f"margin: {margin[-2:]}", 2), ("10%", "0%", 1)):
        (folder / "other.yaml").write_text(text.replace(old, new))
        assert called("gate", "other.yaml", cwd=folder).code == code  # no drop at all is allowed


def test_a_config(folder: Path) -> None:
    code, found = gate(folder, "gate.yaml")
    assert code == 1
    assert found == {
        ("same", "P@1"): "pass", ("same", "recip_rank"): "pass",
        ("worse", "P@1"): "fail", ("worse", "recip_rank"): "fail",
        ("unclear", "P@1"): "pass", ("unclear", "recip_rank"): "undecided",
    }  # fmt: skip


def test_two_folders_of_results(folder: Path) -> None:
    config = "datasets: {d: {path: qrels.txt}}\nruns: {s: {path: RUN}}\nmetrics: [recip_rank]\n"
    for name in ("base", "worse"):
        text = config.replace("RUN", f"{name}.run") + f"output: results/{name}\n"
        (folder / f"{name}.yaml").write_text(text)
        assert called("run", f"{name}.yaml", cwd=folder).code == 0
    assert gate(folder, "results/base", "results/worse", "--margin", "0.05") == (
        1, {("s", "recip_rank"): "fail"},
    )  # fmt: skip
    with open(folder / "qrels.txt", "a") as qrels:
        qrels.write(f"{QIDS[0]} 0 new-document 0\n")
    (folder / "later.yaml").write_text(
        config.replace("RUN", "base.run") + "output: results/later\n"
    )
    assert called("run", "later.yaml", cwd=folder).code == 0
    done = called("gate", "results/base", "results/later", "--margin", "0.05", cwd=folder)
    assert re.search(r"the qrels of d changed \(\d+ and \d+ judgements\)", done.err)
    shutil.copytree(folder / "results/base", folder / "results/copy")
    assert gate(folder, "results/base", "results/copy", "--margin", "1e-9")[0] == 0


def test_formats(folder: Path) -> None:
    words = ("gate", *TWO, "unclear.run", "-m", "recip_rank")
    shown = {
        name: called(*words, "--margin", "5%", "--format", name, cwd=folder).out
        for name in ("text", "markdown", "junit", "github")
    }
    answer = " ".join(shown["text"].partition("\n\n")[0].split())
    assert re.match(r"failed: MRR of \w+ fell by 0\.\d{3} \(margin 0\.\d+, \d+ queries\); ", answer)
    assert shown["github"].endswith(f"::{answer}\n".replace("%", "%25"))
    assert len(shown["markdown"].splitlines()) <= 60
    assert shown["markdown"].index("| fail |") < shown["markdown"].index("| undecided |")
    assert "#### queries that lost most\n\n- " in shown["markdown"]
    suite = ElementTree.fromstring(shown["junit"])
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    lines = shown["github"].splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::notice"]
    assert "queries would be needed" in lines[1]


def test_the_worst_is_first_if_lower_is_better(folder: Path) -> None:
    words = ("base.run", "unclear.run", "worse.run", "--qrels", "qrels.txt", "-m", "arp")
    found = gate(folder, *words, "--margin", "0.01")[1]
    assert [run for run, _ in found] == ["worse", "unclear"]


@pytest.mark.parametrize("first", ["base", "few"])
def test_unanswered_queries_are_shown(folder: Path, first: str) -> None:
    write_run(folder / "few.run", ALL_BUT_THE_LAST)
    runs = (f"{first}.run", "base.run" if first == "few" else "few.run")
    words = ("gate", *runs, "--qrels", "qrels.txt", "-m", "map", "--margin", "0.1")
    by = "few" if first == "base" else "The baseline of base"
    assert f"{by} leaves 1 query of qrels unanswered.\n" in called(*words, cwd=folder).out
    (one,) = json.loads(called(*words, "--format", "json", cwd=folder).out)["verdicts"]
    names = ("baseline", "candidate")
    assert one["unanswered"] == dict(zip(names, [0, 1] if first == "base" else [1, 0], strict=True))
    if first == "base":
        found = called(*words, "--format", "github", cwd=folder).out
        assert "unanswered queries: 0 by the baseline, 1 by the run" in found


JSON_FORMS = {
    "run files": (*TWO, "-m", "recip_rank", "--margin", "0.05"),
    "a config": ("gate.yaml",),
    "results": ("old", "new", "--margin", "1%", "--level", "0.1", "--correction", "by"),
    "a wrong metric": (*TWO, "-m", "mapp", "--margin", "0.05"),
    "no such file": ("base.run", "none.run", "--qrels", "qrels.txt", "-m", "map", "--margin", "1%"),
}


@pytest.mark.parametrize("form", JSON_FORMS)
def test_json_has_outcome_settings_versions_and_hashes(root: Path, folder: Path, form: str) -> None:
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    if form == "results":
        for name in ("old", "new"):
            called("run", "gate.yaml", "--set", f"output={name}", cwd=folder)
    done = called("gate", *JSON_FORMS[form], "--format", "json", cwd=folder)
    content = json.loads(done.out)
    validator(json.loads((root / "docs/gate.schema.json").read_text())).validate(content)
    assert content["exit_code"] == done.code
    assert content["versions"]["harness"] == harness.__version__
    if form in ("a wrong metric", "no such file"):
        assert (content["outcome"], content["exit_code"]) == ("error", 2)
        assert content["errors"][0]["message"].split("\n")[0] in done.err
        return
    outcomes = [verdict["outcome"] for verdict in content["verdicts"]]
    assert content["counts"] == {name: outcomes.count(name) for name in content["counts"]}
    assert content["outcome"] == ("fail" if "fail" in outcomes else "pass")
    chosen = (0.1, "by") if form == "results" else (0.05, "holm")
    assert (content["level"], content["correction"]) == chosen
    for record in content["inputs"]:
        content_of_file = (folder / record["path"]).read_bytes()
        assert record["sha256"] == sha256(content_of_file).hexdigest()


def test_json_of_undecided(folder: Path) -> None:
    words = ("gate", "base.run", "unclear.run", "--qrels", "qrels.txt", "-m", "recip_rank")
    words = (*words, "--margin", "0.05", "--format", "json")
    for choice, outcome in (("fail", "undecided"), ("pass", "pass")):
        content = json.loads(called(*words, "--on-undecided", choice, cwd=folder).out)
        assert (content["outcome"], content["exit_code"]) == (outcome, int(choice == "fail"))


SEVERAL = """
datasets: {one: one.txt, two: two.txt}
runs: {base: {path: 'base-{dataset}.run'}, new: {path: 'new-{dataset}.run'}}
metrics: [map]
output: OUT
gate: {baseline: base, rules: {map: {margin: 0.1}}}
"""


def test_a_candidate_without_values_on_a_dataset_does_not_pass(folder: Path) -> None:
    for name in ("one", "two"):
        shutil.copy(folder / "qrels.txt", folder / f"{name}.txt")
        shutil.copy(folder / "base.run", folder / f"base-{name}.run")
        shutil.copy(folder / "base.run", folder / f"new-{name}.run")
    (folder / "several.yaml").write_text(SEVERAL.replace("OUT", "old"))
    assert gate(folder, "several.yaml")[0] == 0
    (folder / "new-two.run").unlink()
    (folder / "several.yaml").write_text(SEVERAL.replace("OUT", "new"))
    for words in (("several.yaml",), ("old", "new", "--margin", "0.1")):
        err = refused("gate", *words, cwd=folder)
        assert ("error: gate: " in err, "new on two" in err) == (True, True)
    (folder / "new-two.run").write_text("1 Q0\n")
    assert called("run", "several.yaml", cwd=folder).code == 2
    for words in (("several.yaml",), ("old", "new", "--margin", "0.1")):
        err = refused("gate", *words, cwd=folder)
        assert ("error: new: " in err, "1 error: new on two" in err) == (True, True)
        assert "new-two.run:1" in err


def test_a_run_that_only_the_baseline_has_is_a_warning(folder: Path) -> None:
    config = "datasets: {d: {path: qrels.txt}}\nruns: {a: base.run, NAME: same.run}\n"
    config += "guard: {accept: [same-file-twice]}\n"
    for out, name in (("old", "b"), ("new", "c")):
        text = f"{config}metrics: [map, recip_rank]\noutput: {out}\n".replace("NAME", name)
        (folder / f"{out}.yaml").write_text(text)
        assert called("run", f"{out}.yaml", cwd=folder).code == 0
    words = ("gate", "old", "new", "--margin", "0.1", "-m", "map")
    done = called(*words, cwd=folder)
    assert "not gated, because only the baseline has it: b\n" in done.err
    assert done.out.startswith("passed: MAP of a did not change (margin 0.1, ")
    done = called(*words, "--name", "b=c", cwd=folder)
    assert (done.err, done.out.splitlines()[0]) == (
        "",
        "passed: none of 2 values got worse by more than its margin",
    )
    assert "--name x: " in refused(*words, "--name", "x=c", cwd=folder)


def test_a_config_is_checked_when_it_is_loaded(folder: Path) -> None:
    rules = '{recip_rnk: {margin: 1}, "P@1,9": {margin: 1}, num_ret: {margin: 1}, "*": {margin: 1}}'
    text = (folder / "gate.yaml").read_text().partition("gate:")[0]
    (folder / "gate.yaml").write_text(f"{text}gate:\n  baseline: bas\n  rules: {rules}\n")
    with pytest.raises(ConfigError) as caught:
        load(folder / "gate.yaml")
    baseline, *of_rules = caught.value.problems
    assert (baseline.where, baseline.fix.partition(";")[0]) == (
        "$.gate.baseline (line 5)",
        "use base",
    )
    for problem, what in zip(of_rules, ["use recip_rank", "'P@9'", "num_ret: "], strict=True):
        assert "$.gate.rules" in problem.where
        assert what in problem.what + problem.fix


def test_results_folders_take_no_qrels(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    words = ("gate", "old", "old", "--margin", "1%")
    done = refused(*words, "--qrels", "q", cwd=tmp_path)
    assert done.rstrip().endswith("fix:   leave --qrels out")
