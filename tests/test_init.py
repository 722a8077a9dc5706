"""harness init: what it writes loads and names the cells that a reader of the folder would name."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.config import load as config
from harness.config.cells import Cell
from harness.config.init import propose_config, save
from harness.config.init_entries import families, numbered, stem_of
from harness.config.sweep import resolve
from harness.errors import HarnessWarning, InputError

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 2\n2 0 d 0\n"
RUN = "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 c 1 2.0 t\n2 Q0 x 2 1.0 t\n"
OTHER_QRELS = "1 0 D7 1\n1 0 D8 0\n"
OTHER_RUN = "1 Q0 D7 1 2.0 t\n1 Q0 D9 2 1.0 t\n"


def letor(rows: int) -> str:
    return "".join(f"{row % 3} qid:{row // 2} 1:0.5 2:{row}\n" for row in range(rows))


def scores(rows: int) -> str:
    return "".join(f"{row / 7:.4f}\n" for row in range(rows))


def make(base: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())


def proposed(base: Path) -> tuple[str, config.Config]:
    text = propose_config(base, base)
    return text, config.loads(text, "config.yaml", base)


def cells(base: Path) -> list[str]:
    """Each cell as a line: dataset, run, columns, and the run's file."""
    return [
        " ".join((cell.dataset, cell.run, *cell.columns.values(), relative(cell, base)))
        for cell in resolve(proposed(base)[1])
    ]


def relative(cell: Cell, base: Path) -> str:
    return Path(cell.run_entry.path).relative_to(base).as_posix()


def test_trec_runs_beside_their_qrels(tmp_path: Path) -> None:
    make(tmp_path, {"qrels.txt": QRELS, "bm25.run": RUN, "lsi.run": RUN, "dense.run.gz": RUN})
    make(
        tmp_path,
        {"README.md": "1\n", "bm25.run.eval": "map all 0.5\n", "notes.txt": "Some words\n"},
    )
    text, loaded = proposed(tmp_path)
    assert loaded.metrics == ("map", "ndcg_cut_10", "P_10", "recip_rank")
    assert [(cell.run, Path(cell.run_entry.path).name) for cell in resolve(loaded)] == [
        ("bm25", "bm25.run"), ("lsi", "lsi.run"), ("dense", "dense.run.gz"),
    ]  # fmt: skip
    assert '  "{model}": {format: trec, path: "{model}.run"}\n' in text
    assert "# compare: {baseline: bm25," in text
    assert "# summary: " not in text


def test_folds_and_seeds(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            f"data/Fold{fold}/{part}.txt": letor(10 * fold)
            for fold in (1, 2)
            for part in ("train", "vali", "test")
        },
    )
    for fold in (1, 2):
        for seed in (1, 2):
            make(
                tmp_path,
                {
                    f"preds/{m}/fold{fold}-seed{seed}.txt": scores(10 * fold)
                    for m in ("svm", "gbrt")
                },
            )
    text, loaded = proposed(tmp_path)
    assert '"preds/{model}/fold{fold}-seed{seed}.txt"' in text
    assert "#   data/Fold{fold}/train.txt: 2 files: not test data\n" in text
    assert (
        "# summary: {pool: [fold], spread: [seed]}   # a row a system, not a row a cell\n" in text
    )
    assert loaded.metrics == ("map", "ndcg@1,5,10", "ndcg(gain=exp)@1,5,10")
    assert [(c.run, c.columns, c.dataset_entry.path[-14:]) for c in resolve(loaded)][:3] == [
        ("gbrt", {"fold": "1", "seed": "1"}, "Fold1/test.txt"),
        ("gbrt", {"fold": "1", "seed": "2"}, "Fold1/test.txt"),
        ("svm", {"fold": "1", "seed": "1"}, "Fold1/test.txt"),
    ]
    assert len(resolve(loaded)) == 8


def test_folds_that_share_queries_are_averaged_and_not_pooled(tmp_path: Path) -> None:
    qrels, runs = [QRELS, OTHER_QRELS], [RUN, OTHER_RUN]  # query 1 is in both
    make(tmp_path, {f"qrels-fold{n}.txt": text for n, text in enumerate(qrels, 1)})
    make(tmp_path, {f"bm25-fold{n}.run": text for n, text in enumerate(runs, 1)})
    text, _ = proposed(tmp_path)
    line = "# summary: {average: [fold]}   # a row a system, not a row a cell\n"
    assert f"{line}#   average, which goes without compare: folds share queries" in text
    (tmp_path / "c.yaml").write_text(text.replace("# summary", "summary"), encoding="utf-8")
    with pytest.warns(HarnessWarning, match="1 of 2 queries is in several of"):
        assert len(harness.run(tmp_path / "c.yaml").leaderboard.entries) == 1  # the mean
    make(tmp_path, {"qrels-fold2.txt": OTHER_QRELS.replace("1 0", "7 0")})
    make(tmp_path, {"bm25-fold2.run": OTHER_RUN.replace("1 Q0", "7 Q0")})
    assert "# summary: {pool: [fold]}   # a row" in proposed(tmp_path)[0]


def test_models_in_names_of_files_with_folds(tmp_path: Path) -> None:
    make(tmp_path, {f"fold{fold}.letor": letor(10) for fold in (1, 2)})
    make(
        tmp_path,
        {f"{m}_fold{fold}.pred": scores(10) for m in ("svm", "my_gbrt") for fold in (1, 2)},
    )
    assert cells(tmp_path) == [
        f"{tmp_path.name}-fold{fold} {model} {fold} {model}_fold{fold}.pred"
        for fold in (1, 2) for model in ("my_gbrt", "svm")
    ]  # fmt: skip


def test_one_fold_is_no_placeholder(tmp_path: Path) -> None:
    make(
        tmp_path,
        {"fold1/test.txt": letor(6), "svm/fold1.txt": scores(6), "gbrt/fold1.txt": scores(6)},
    )
    text, loaded = proposed(tmp_path)
    assert "path: fold1/test.txt" in text
    assert 'path: "{model}/fold1.txt"' in text
    assert [cell.columns for cell in resolve(loaded)] == [{}, {}]


def test_folds_without_runs_are_left_out_by_where(tmp_path: Path) -> None:
    make(tmp_path, {f"fold{fold}.letor": letor(6) for fold in (1, 2, 3)})
    make(tmp_path, {f"svm/fold{fold}.pred": scores(6) for fold in (1, 3)})
    text, loaded = proposed(tmp_path)
    assert loaded.where == {"fold": ("1", "3")}
    assert 'where: {fold: ["1", "3"]}   # there are data for more, but no runs' in text
    assert len(resolve(loaded)) == 2


def test_a_folder_for_each_dataset(tmp_path: Path) -> None:
    for rows, name in ((6, "mq2007"), (8, "mq2008")):
        make(tmp_path, {f"data/{name}/test.txt": letor(rows)})
        make(tmp_path, {f"predictions/{name}/{m}.txt": scores(rows) for m in ("svm", "gbrt")})
    text, _ = proposed(tmp_path)
    assert '"{model}": {format: scores, path: "predictions/{dataset}/{model}.txt"}' in text
    assert cells(tmp_path) == [
        f"{name} {model} predictions/{name}/{model}.txt"
        for name in ("mq2007", "mq2008") for model in ("gbrt", "svm")
    ]  # fmt: skip


def test_rows_and_documents_tell_the_dataset(tmp_path: Path) -> None:
    """No name is shared: 6 scores follow 6 rows, and runs name the documents that are judged."""
    make(
        tmp_path,
        {"x.letor": letor(6), "y.letor": letor(8), "p.qrels": QRELS, "q.qrels": OTHER_QRELS},
    )
    make(
        tmp_path,
        {"one.pred": scores(8), "two.pred": scores(6), "three.run": OTHER_RUN, "four.run": RUN},
    )
    make(tmp_path, {"five.pred": scores(7)})
    assert sorted(cells(tmp_path)) == [
        "p four four.run", "q three three.run", "x two two.pred", "y one one.pred",
    ]  # fmt: skip
    assert "#   five.pred: fits no judgements: 7 scores" in proposed(tmp_path)[0]


def test_numbers_that_stand_alone_are_folds_where_judgements_have_them(tmp_path: Path) -> None:
    make(
        tmp_path, {f"STR/STR_{n}.qrels": QRELS.replace("1 0 a 1", f"1 0 a {n}") for n in (1, 2, 3)}
    )
    make(tmp_path, {f"STR/STR_{n}.result": RUN for n in (1, 2, 3)})
    make(tmp_path, {"bm25_1.qrel": OTHER_QRELS})
    assert cells(tmp_path) == [f"STR-fold{n} STR {n} STR/STR_{n}.result" for n in (1, 2, 3)]
    assert "#   bm25_1.qrel: no run fits it" in proposed(tmp_path)[0]


def test_a_number_that_other_datasets_share_with_their_runs_is_no_fold_of_this(
    tmp_path: Path,
) -> None:
    """``fold1`` of both is a fold by its name; only the runs of the first have it in theirs."""
    make(tmp_path, {"mq_fold1/test.txt": letor(6), "mslr/mslr_fold1_test.txt": letor(8)})
    make(tmp_path, {f"pred/mq_fold1/{model}.pred": scores(6) for model in ("gbrt", "svm")})
    make(tmp_path, {f"pred/mslr/{model}.pred": scores(8) for model in ("gbrt", "svm")})
    assert cells(tmp_path) == [
        f"{name} {model} pred/{name}/{model}.pred"
        for name in ("mq_fold1", "mslr") for model in ("gbrt", "svm")
    ]  # fmt: skip
    assert "Not used" not in proposed(tmp_path)[0]


def test_a_run_that_fits_a_fold_but_does_not_name_it(tmp_path: Path) -> None:
    make(tmp_path, {f"fold{fold}.letor": letor(4 + 2 * fold) for fold in (1, 2)})
    make(tmp_path, {f"svm/fold{fold}.pred": scores(4 + 2 * fold) for fold in (1, 2)})
    make(tmp_path, {"other.pred": scores(8)})
    text, _ = proposed(tmp_path)
    why = "fits fold2.letor, and no number in its own name says which fold it is of"
    assert f"#   other.pred: {why}\n" in text


def test_linked_folders_are_followed_and_none_into_itself(tmp_path: Path) -> None:
    make(tmp_path, {"disk/data/test.txt": letor(6), "disk/preds/svm.pred": scores(6)})
    here = tmp_path / "here"
    here.mkdir()
    (here / "data").symlink_to(tmp_path / "disk/data")
    (here / "preds").symlink_to(tmp_path / "disk/preds")
    (tmp_path / "disk/preds/again").symlink_to(tmp_path / "disk/preds")
    (here / "up").symlink_to(here)
    (here / "further up").symlink_to(tmp_path)
    (tmp_path / "disk/data/other").symlink_to(tmp_path / "disk/preds")  # and back:
    (tmp_path / "disk/preds/other").symlink_to(tmp_path / "disk/data")
    found = [
        str(Path(cell.run_entry.path).relative_to(here)) for cell in resolve(proposed(here)[1])
    ]
    assert found == ["preds/svm.pred"]  # each folder once, by the shortest way


def test_content_tells_the_fold_where_names_share_no_number(tmp_path: Path) -> None:
    for fold in (1, 2):
        make(tmp_path, {f"qrels.{fold}.txt": f"{fold} 0 a{fold} 1\n{fold} 0 b{fold} 0\n"})
        for seed in (1, 2):
            rows = f"{fold} Q0 a{fold} 1 {seed} t\n{fold} Q0 b{fold} 2 0.5 t\n"
            make(tmp_path, {f"a-f{fold}-s{seed}.run": rows})
    make(tmp_path, {"stray.run": "9 Q0 z 1 1.0 t\n"})
    found = [(cell.dataset, relative(cell, tmp_path)) for cell in resolve(proposed(tmp_path)[1])]
    assert found == [
        (f"qrels.{fold}", f"a-f{fold}-s{seed}.run") for fold in (1, 2) for seed in (1, 2)
    ]
    assert (
        "#   stray.run: fits no judgements: other queries or documents\n" in proposed(tmp_path)[0]
    )


def test_runs_of_one_name_are_told_apart_by_their_folder(tmp_path: Path) -> None:
    make(tmp_path, {"qrels.web.txt": QRELS})
    make(
        tmp_path, {f"runs/{m}/results-{v}.txt": RUN for m in ("ql", "rm") for v in ("a", "b", "c")}
    )
    loaded = proposed(tmp_path)[1]
    assert list(loaded.runs) == ["ql-{model}", "rm-{model}"]
    assert [cell.run for cell in resolve(loaded)] == [
        "ql-a",
        "ql-b",
        "ql-c",
        "rm-a",
        "rm-b",
        "rm-c",
    ]


def test_a_pattern_takes_no_other_file(tmp_path: Path) -> None:
    make(
        tmp_path,
        {"qrels.txt": QRELS, "bm25.txt": RUN, "lsi.txt": RUN, "topics.txt": "1 some words\n"},
    )
    assert list(proposed(tmp_path)[1].runs) == ["bm25", "lsi"]


def test_what_is_the_same_is_one_dataset(tmp_path: Path) -> None:
    make(tmp_path, {"a/qrels.txt": QRELS, "b/qrels.txt": QRELS, "a/x.run": RUN, "b/y.run": RUN})
    text, loaded = proposed(tmp_path)
    assert len(loaded.datasets) == 1
    assert "#   b/qrels.txt: the same as a/qrels.txt" in text
    assert [cell.run for cell in resolve(loaded)] == ["x", "y"]


def test_a_guess_is_said(tmp_path: Path) -> None:
    make(
        tmp_path, {"u.letor": letor(6), "v.letor": letor(6) + "# another\n", "one.pred": scores(6)}
    )
    assert (
        "  # a guess: could also be v.letor\n  one: {format: scores, path: one.pred}"
        in proposed(tmp_path)[0]
    )


@pytest.mark.parametrize(
    ("binary", "graded"), [("a_binary", "b_ndcg"), ("z_binary", "b_ndcg"), ("b_ndcg", "a_graded")]
)
def test_graded_judgements_are_taken_before_binary_ones(
    tmp_path: Path, binary: str, graded: str
) -> None:
    """A negative grade is no further one: trec_eval counts it as 0."""
    make(tmp_path, {f"{binary}.qrels": QRELS.replace("2\n", "1\n").replace("b 0", "b -1")})
    make(tmp_path, {f"{graded}.qrels": QRELS, "bm25.run": RUN})
    text, loaded = proposed(tmp_path)
    assert [Path(cell.dataset_entry.path).name for cell in resolve(loaded)] == [f"{graded}.qrels"]
    assert f"# a guess: could also be {binary}.qrels\n" in text
    assert f"#   {binary}.qrels: its runs were given to {graded}.qrels, which fits as well" in text


def test_graded_judgements_of_real_runs(shared: Path, tmp_path: Path) -> None:
    text = propose_config(shared / "data/codec", tmp_path)
    files = {Path(c.dataset_entry.path).name for c in resolve(config.loads(text, "c", tmp_path))}
    assert files == {"document_ndcg.qrels", "entity_ndcg.qrels"}


def test_odd_names(tmp_path: Path) -> None:
    """Braces, dollars, blanks, signs that YAML knows, and numbers."""
    make(tmp_path, {"{q} ${x}/qrels.txt": QRELS})
    make(
        tmp_path,
        {f"{{q}} ${{x}}/{name}.run": RUN for name in ("007", "a: b", "#c", "no", "'d\"", "é")},
    )
    loaded = proposed(tmp_path)[1]
    assert sorted(cell.run for cell in resolve(loaded)) == sorted(
        ["007", "a: b", "#c", "no", "'d\"", "é"]
    )
    make(tmp_path, {"{q} ${x}/topics.run": "no run\n"})
    again = proposed(tmp_path)[1]
    assert sorted(cell.run for cell in resolve(again)) == sorted(
        ["007", "a: b", "#c", "no", "'d\"", "é"]
    )


def test_batches(tmp_path: Path) -> None:
    for seed, model in enumerate(("gbrt", "svm")):
        collector, generator = harness.BatchCollector(), np.random.default_rng(seed)
        grades = np.arange(8 * 5).reshape(8, 5) % 3
        collector.add(generator.normal(size=(8, 5)), grades, np.full(8, 5), np.arange(8))
        collector.save(tmp_path / f"{model}.npz")
    text, loaded = proposed(tmp_path)
    assert {cell.run for cell in resolve(loaded)} == {"gbrt", "svm"}
    assert "format: batch" in text


def test_json_and_tables(tmp_path: Path) -> None:
    make(tmp_path, {"qrels.json": json.dumps({"1": {"a": 1, "b": 0}})})
    make(tmp_path, {"dense.json": json.dumps({"1": {"a": 0.5, "b": 0.1}})})
    make(tmp_path, {"bm25.csv": "qid,docno,score\n1,a,3.5\n1,b,2\n"})
    assert sorted(cells(tmp_path)) == [
        f"{tmp_path.name} bm25 bm25.csv",
        f"{tmp_path.name} dense dense.json",
    ]


@pytest.mark.parametrize("folder", ["runs", "runs/trec", "runs/letor"])
def test_the_shipped_runs(root: Path, tmp_path: Path, folder: str) -> None:
    shutil.copytree(root / "runs", tmp_path / "runs")
    save(tmp_path / folder, tmp_path / "configs/new.yaml")
    found = {
        Path(c.run_entry.path).resolve()
        for c in resolve(config.load(tmp_path / "configs/new.yaml"))
    }
    every = {path for path in (tmp_path / folder).rglob("*") if path.suffix in (".run", ".gz")}
    every |= set((tmp_path / folder).rglob("fold*-seed*.txt"))
    assert found == every


@pytest.mark.parametrize(
    "folder",
    ["trec_web2012_baselines", "dl_hard", "ltr", "web_table_retrieval", "trec_covid_round1"],
)
def test_real_folders(shared: Path, tmp_path: Path, folder: str) -> None:
    text = propose_config(shared / "data" / folder, tmp_path)
    assert resolve(config.loads(text, "c.yaml", tmp_path))


def test_what_is_lacking_is_to_be_filled_in(tmp_path: Path) -> None:
    make(tmp_path, {"bm25.run": RUN})
    text = propose_config(tmp_path, tmp_path)
    assert "  # fill in: no judgements were found (qrels, or a learning-to-rank file)\n" in text
    assert "#   bm25.run: no judgements\n" in text
    (tmp_path / "bm25.run").rename(tmp_path / "x.txt")
    (tmp_path / "x.txt").write_text(QRELS)
    text = propose_config(tmp_path, tmp_path)
    assert "  # fill in: no run was found that fits the judgements" in text
    assert "path: x.txt}" in text


def test_a_folder_with_nothing(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    for name in ("manifest.json", "leaderboard.csv"):
        (tmp_path / "results" / name).write_text("{}")
    for folder, says in [("results", "holds no files"), ("no", "is no folder")]:
        with pytest.raises(InputError, match=says):
            propose_config(tmp_path / folder, tmp_path)
    (tmp_path / "words.txt").write_text("words\n")
    with pytest.raises(InputError, match="none of its 1 files is a run or judgements"):
        propose_config(tmp_path, tmp_path)


def test_the_command(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "runs", tmp_path / "runs")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "harness", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    done = run("init", "runs/trec")
    assert done.returncode == 0, done.stderr
    (tmp_path / "printed.yaml").write_text(done.stdout)
    done = run("run", "printed.yaml", "--dry-run")
    assert "5 cells x 4 metrics" in done.stdout
    done = run("init", "runs/trec", "-o", "sub/new.yaml")
    assert (
        done.stdout
        == "written: sub/new.yaml; see its cells with: harness run sub/new.yaml --dry-run\n"
    )
    done = run("run", "sub/new.yaml", "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 6
    done = run("init", "runs/trec", "-o", "sub/new.yaml")
    assert done.returncode == 2
    assert done.stderr == (
        "error: sub/new.yaml: is there already, and is left as it is\n"
        "  fix:   name another file, or give --force\n"
    )
    assert run("init", "runs/letor", "-o", "sub/new.yaml", "--force").returncode == 0
    assert "20 cells" in run("run", "sub/new.yaml", "--dry-run").stdout


@pytest.mark.parametrize(
    ("paths", "patterns"),
    [
        (["run.bm25", "run.lsi"], ["run.{model}"]),
        (["a/x.run", "b/x.run"], ["{model}/x.run"]),
        (["a/scores.txt", "b/scores.txt"], ["{model}/scores.txt"]),
        (["a/x.run", "a/y.run", "b/x.run"], ["a/{model}.run", "b/x.run"]),
        (["run1.txt", "run2.txt"], ["{model}.txt"]),
        (["svm/seed_1/f.txt", "svm/seed_2/f.txt"], ["svm/seed_{seed}/f.txt"]),
        (["Fold1/fold1.txt", "Fold2/fold2.txt"], ["Fold{fold}/fold{fold}.txt"]),
    ],
)
def test_what_names_have_in_common(paths: list[str], patterns: list[str]) -> None:
    assert [group.pattern for group in families(numbered(paths))] == patterns


def test_stems() -> None:
    names = ("bm25.run.gz", "sab20.1.blind.gz", "run.bm25", "a.tar", ".run")
    assert [stem_of(name) for name in names] == [
        ("bm25", ".run.gz"),
        ("sab20.1.blind", ".gz"),
        ("run.bm25", ""),
        ("a.tar", ""),
        (".run", ""),
    ]
