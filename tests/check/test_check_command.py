"""harness check: what it prints, and how it ends."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli.app import app
from harness.guard import check_report as report
from harness.guard.check import Checked
from harness.guard.registry import finding


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


@pytest.mark.parametrize(
    "name", ["compare", "folds", "paper", "pictures", "plugin", "quickstart", "sweep", "trec"]
)
def test_the_examples_have_no_error_and_only_true_warnings(root: Path, name: str) -> None:
    # 8 and 9 of the 50 queries of the folds have no relevant document; lsi.run leaves out query 17
    result = call(root / f"configs/{name}.yaml")
    assert result.exit_code == 0
    warned = {
        re.sub(r".*/|:\d+$", "", line.split(": ")[1]) + " " + line.rsplit("[", 1)[1].rstrip("]")
        for line in result.stdout.splitlines()
        if line.startswith("warning: ")
    }
    assert warned <= {"test.txt empty-queries", "lsi.run missing-queries"}


def test_a_choice_that_the_config_states_is_a_note(root: Path) -> None:
    config = root / "configs/sweep.yaml"  # empty_queries: skip
    assert str(call(config, "--strict").exit_code) == "0"
    zero = call(config, "--strict", "--set", "policy.empty_queries=zero")
    assert zero.exit_code == 1
    assert "warning: " in zero.stdout


def test_exit_codes(trec: Any) -> None:
    qrels, run = trec.folder / "qrels", trec.folder / "run"
    assert call(qrels, run, "--strict").exit_code == 0
    trec.put("run", trec.lines("run")[:1234])  # a warning
    assert call(qrels, run).exit_code == 0
    assert call(qrels, run, "--strict").exit_code == 1
    trec.put("run", [*trec.lines("run"), "no row\n"])
    assert call(qrels, run).exit_code == 2
    assert call(qrels, run, "--strict").exit_code == 2


def test_what_is_printed(trec: Any) -> None:
    lines = trec.lines("run")
    trec.put("run", [*lines[:5], lines[2], *lines[5:]])
    result = call(trec.folder / "qrels", trec.folder / "run")
    at = str(trec.folder)
    assert result.stdout.replace(at, "") == (
        "error: /run:6: the docno stands already on line 3, for the same query: "
        "5 Q0 DOC-00058 3 8.46679 bm25 [duplicates]\n"
        "  effect: it counts twice, and measures exceed 1\n"
        "  fix:    keep one: 'duplicates: last' (or first) in the file's own entry of a config, as "
        "in runs: {NAME: {path: ..., duplicates: last}}; --duplicates last on the "
        "command line\n"
        "note: /qrels:183: no relevant document in 2 of 30 queries: 8, 3 [empty-queries]\n"
        "  effect: tools disagree on them: 0 here unless the policy or the convention says "
        "otherwise, 1 for LightGBM, left out by others\n"
        "  fix:    say beside the numbers how they count; 'policy: {empty_queries: skip}' leaves "
        "them out\n"
        "checked 1 dataset and 1 run, 0 rows: 1 error, 1 note\n"
    )


def test_notes_are_left_out_of_the_text_alone(trec: Any) -> None:
    files = trec.folder / "qrels", trec.folder / "run"
    least = call(*files, "--no-notes")
    assert least.stdout == "checked 1 dataset and 1 run, 2,897 rows: 3 notes (not shown)\n"
    assert least.exit_code == 0
    assert "note: " in call(*files).stdout
    as_json = [call(*files, "-f", "json", *more).stdout for more in ([], ["--no-notes"])]
    assert as_json[0] == as_json[1]
    trec.put("run", trec.lines("run")[:1234])  # a warning
    fewer, every = call(*files, "--no-notes").stdout, call(*files).stdout
    assert fewer.startswith("warning: ")
    assert every.startswith(fewer[: fewer.index("checked 1 dataset")])
    assert re.search(r": \d warnings?, \d notes? \(not shown\)$", fewer.strip())


def test_of_many_warnings_alike_the_first_are_printed_and_json_has_all(trec: Any) -> None:
    names = [f"run{number}" for number in range(8)]
    for name in names:
        trec.put(name, trec.lines("run")[: 1234 + len(name) + names.index(name)])
    files = [trec.folder / name for name in names]
    text = call(trec.folder / "qrels", *files).stdout
    assert text.count("[missing-queries]") == 3
    assert f"  ... and 5 more: {', '.join(map(str, files[3:]))}\n" in text
    found = json.loads(call(trec.folder / "qrels", *files, "--format", "json").stdout)
    assert sum(one["rule"] == "missing-queries" for one in found["findings"]) == 8


def test_one_error_in_a_hundred_files_is_a_few_lines() -> None:
    found = [
        finding("duplicates", f"{n}.run:{n}", f"stands already on line {n - 1}", 1, [f"q{n} d"])
        for n in range(1, 101)
    ]
    text = report.text(Checked(tuple(found), ()))
    *heads, more, effect, fix, _ = text.splitlines()
    assert heads == [one.head for one in found[:3]]
    assert more == (
        "  ... and 97 more: 4.run:4, 5.run:5, 6.run:6, 7.run:7, 8.run:8, 9.run:9, 10.run:10, "
        "11.run:11, 12.run:12, 13.run:13 (+87 more)"
    )
    assert (effect, fix) == found[0].advice


def test_errors_that_say_other_things_are_all_printed() -> None:
    found = [finding("unreadable", f"{n}.run", f"{'a' * n} is wrong") for n in range(1, 24)]
    lines = report.text(Checked(tuple(found), ())).splitlines()
    assert lines[:20] == [one.head for one in found[:20]]
    assert lines[20] == "  ... and 3 more: 21.run, 22.run, 23.run"


def test_json(letor: Any) -> None:
    letor.put("gbrt/fold1.txt", letor.lines("gbrt/fold1.txt")[1:])
    result = call(letor.folder / "c.yaml", "-f", "json")
    assert result.exit_code == 2
    found = json.loads(result.stdout)
    assert found["counts"]["error"] == 1
    first = found["findings"][0]
    assert {*first} == {
        "rule", "severity", "place", "what", "count", "examples", "effect", "fix", "file",
        "dataset", "run",
    }  # fmt: skip
    assert (first["dataset"], first["run"]) == ("letor-fold1", "gbrt")
    assert first["file"] == first["place"]
    placed = next(one for one in found["findings"] if one["rule"] == "empty-queries")
    assert placed["place"] == f"{placed['file']}:{placed['line']}"
    assert (placed["dataset"], "run" in placed) == ("letor-fold1", False)
    assert (first["rule"], first["place"]) == ("row-count", f"{letor.folder}/gbrt/fold1.txt")
    assert found["checked"][0] == {
        "dataset": "letor-fold1",
        "run": "gbrt",
        "columns": {"fold": "1"},
        "dataset_path": f"{letor.folder}/fold1.txt",
        "run_path": f"{letor.folder}/gbrt/fold1.txt",
    }


def test_what_is_no_config_nor_judgements_with_runs(root: Path) -> None:
    alone = call(root / "runs/trec/qrels.txt")
    assert alone.exit_code == 2
    assert alone.stdout.endswith(
        "qrels.txt: it is no config, and judgements by themselves are not enough [config]\n"
        "  effect: nothing runs\n"
        "  fix:    harness check CONFIG, or harness check QRELS RUN...\n"
        "checked 0 datasets and 0 runs, 0 rows: 1 error\n"
    )
    for name in ("nosuch", "runs"):  # gone, and a folder
        said = call(root / name)
        assert said.exit_code == 2
        assert "no config, and judgements" not in said.stdout
    missing = call(root / "nosuch.yaml")
    assert missing.exit_code == 2
    assert missing.stdout.startswith(f"error: {root / 'nosuch.yaml'}: no file ")
    both = call(root / "configs/trec.yaml", root / "runs/trec/bm25.run")
    assert both.exit_code == 2
    assert "a config names its runs itself; give it alone" in both.output


def test_json_of_what_is_no_config(root: Path, tmp_path: Path) -> None:
    def said(path: Path) -> tuple[int, list[str]]:
        result = call(path, "--format", "json")
        found = json.loads(result.stdout)
        assert not found["checked"]
        assert {one["rule"] for one in found["findings"]} == {"config"}
        assert {*found} == {"findings", "counts", "rows", "runs_without_dataset", "checked"}
        assert found["findings"][0]["file"] == str(path)
        return result.exit_code, [one["what"] for one in found["findings"]]

    (tmp_path / "c.yaml").write_text("datasets: {a: [}\n")
    code, (what,) = said(tmp_path / "c.yaml")
    assert code == 2
    assert what.startswith("column 16: not valid YAML: expected the node content, but found '}'")
    (one,) = json.loads(call(tmp_path / "c.yaml", "-f", "json").stdout)["findings"]
    assert (one["place"], one["line"]) == (f"{tmp_path}/c.yaml:1", 1)
    assert one["examples"] == ["datasets: {a: [}"]
    head = call(tmp_path / "c.yaml").stdout.splitlines()[0]
    assert head == f"error: {one['place']}: {what}: datasets: {{a: [}} [config]"
    (tmp_path / "on_top.yaml").write_text("extends: c.yaml\n")
    of_base = json.loads(call(tmp_path / "on_top.yaml", "-f", "json").stdout)["findings"]
    assert [(Path(of["file"]).name, of["line"]) for of in of_base] == [("c.yaml", 1)]
    assert said(root / "runs/trec/qrels.txt") == (
        2,
        ["it is no config, and judgements by themselves are not enough"],
    )


def test_a_run_that_is_named_twice_is_checked_once(trec: Any) -> None:
    run = trec.folder / "run"
    assert call(trec.folder / "qrels", run, run).stdout == call(trec.folder / "qrels", run).stdout


def test_a_link_to_itself_stops_no_other_file(trec: Any) -> None:
    loop = trec.folder / "loop"
    loop.symlink_to(loop)
    said = call(trec.folder / "qrels", loop, trec.folder / "run")
    assert "loop: no file can be reached by that name" in said.stdout
    assert "checked 1 dataset and 2 runs" in said.stdout


def test_json_counts_runs_without_their_dataset(trec: Any) -> None:
    trec.put("qrels", trec.lines("run"))
    files = trec.folder / "qrels", trec.folder / "run"
    assert "; 1 run without its dataset: " in call(*files).stdout
    assert json.loads(call(*files, "-f", "json").stdout)["runs_without_dataset"] == 1
    trec.put("other", trec.lines("run"))
    assert "; 2 runs without their dataset: " in call(*files, trec.folder / "other").stdout


def test_standard_input_has_one_name(trec: Any) -> None:
    lines = [line.split() for line in trec.lines("run")]
    for fields in lines:
        fields[3] = str(1000 - int(fields[3]))
    given = "".join(" ".join(fields) + "\n" for fields in lines[500:])
    result = CliRunner().invoke(app, ["check", str(trec.folder / "qrels"), "-"], input=given)
    heads = [line for line in result.stdout.splitlines() if re.match("error|warning|note", line)]
    of_run = [head for head in heads if "/qrels:" not in head]
    assert any("[ranks-against-scores]" in head for head in of_run)
    assert any("[missing-queries]" in head for head in of_run)
    assert all(re.match(r"[a-z]+: <stdin>(:\d+)?: [^<]*$", head) for head in of_run)


@pytest.mark.parametrize("rule", ["row-count", "unrelated"])
def test_standard_input_has_one_name_where_predictions_fit_elsewhere(letor: Any, rule: str) -> None:
    lines = letor.lines("gbrt/fold1.txt")
    lines = [*lines, "0.5\n"] if rule == "row-count" else sorted(lines, key=lambda line: line[-4:])
    given = ["check", str(letor.folder / "fold1.txt"), "-"]
    said = CliRunner().invoke(app, given, input="".join(lines)).stdout
    (head,) = [line for line in said.splitlines() if line.endswith(f"[{rule}]")]
    assert re.match(r"(error|warning): <stdin>:\d+: ", head)


def test_every_problem_of_a_config_is_found_and_its_files_are_read_all_the_same(
    letor: Any,
) -> None:
    letor.put("c.yaml", [*letor.lines("c.yaml"), "metrics_sets: {}\n"])
    letor.put("c.yaml", [line.replace("[map]", "[mapp, ndgc]") for line in letor.lines("c.yaml")])
    letor.put("gbrt/fold1.txt", [*letor.lines("gbrt/fold1.txt"), "x\n"])
    found = json.loads(call(letor.folder / "c.yaml", "-f", "json").stdout)
    errors = [one for one in found["findings"] if one["severity"] == "error"]
    assert [one["rule"] for one in errors] == ["config", "config", "config", "unreadable"]
    assert len(found["checked"]) == 4


def test_a_group_file_that_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "rank.test").write_text("0 1:1\n1 1:2\n2 1:3\n")
    (tmp_path / "sizes").write_text("2\n2\n")
    (tmp_path / "p").write_text("1\n2\n3\n")
    result = call(tmp_path / "rank.test", tmp_path / "p", "--group", tmp_path / "sizes")
    assert result.exit_code == 2
    assert "2 group sizes that add up to 4 rows, but" in result.stdout
    assert "[group-sizes]" in result.stdout


def test_a_config_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.run", "b.run", "z.yml"):
        (tmp_path / name).write_text("")
    result = call("nope.yaml")
    assert result.exit_code == 2
    assert result.stdout == (
        "error: nope.yaml: no file nope.yaml; the folder holds z.yml, a.run, b.run [missing-file]\n"
        "  effect: nothing is checked\n"
        "  fix:    give the name of a config; harness init writes one\n"
        "checked 0 datasets and 0 runs, 0 rows: 1 error\n"
    )
