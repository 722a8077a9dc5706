"""harness init: what it writes loads, and has the cells that a reader of the folder expects."""

import gzip
import itertools
import json
import random
import re
import shutil
import warnings
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
import yaml
from command_line import called

import harness
from harness.config import load as config
from harness.config.cells import Cell, resolve
from harness.config.init import propose_config, save_config
from harness.errors import HarnessWarning

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 2\n2 0 d 0\n"
RUN = "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 c 1 2.0 t\n2 Q0 x 2 1.0 t\n"
OTHER_QRELS = "1 0 D7 1\n1 0 D8 0\n"
OTHER_RUN = "1 Q0 D7 1 2.0 t\n1 Q0 D9 2 1.0 t\n"


def letor(rows: int, first: int = 0) -> str:
    return "".join(
        f"{row % 3} qid:{first + row // 2} 1:0.5 2:{first + row}\n" for row in range(rows)
    )


def scores(rows: int) -> str:
    return "".join(f"{row / 7:.4f}\n" for row in range(rows))


def make(base: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())


def proposed(base: Path) -> tuple[str, config.Config]:
    text, _ = propose_config(base, base)
    return text, config.loads(text, "config.yaml", base)


def cells(base: Path) -> list[str]:
    """Each cell as a line: dataset, run, columns, and the run's file."""
    return [
        " ".join((cell.dataset, cell.run, *cell.columns.values(), relative(cell, base)))
        for cell in resolve(proposed(base)[1])
    ]


def relative(cell: Cell, base: Path) -> str:
    return Path(cell.run_entry.path).relative_to(base).as_posix()


def test_trec_runs_next_to_their_qrels(tmp_path: Path) -> None:
    make(tmp_path, {"qrels.txt": QRELS, "bm25.run": RUN, "lsi.run": RUN, "dense.run.gz": RUN})
    make(
        tmp_path,
        {"README.md": "1\n", "bm25.run.eval": "map all 0.5\n", "notes.txt": "Some words\n"},
    )
    text, loaded = proposed(tmp_path)
    assert loaded.metrics == ("map", "ndcg@10", "P@10", "recip_rank")
    assert [(cell.run, Path(cell.run_entry.path).name) for cell in resolve(loaded)] == [
        ("bm25", "bm25.run"), ("lsi", "lsi.run"), ("dense", "dense.run.gz"),
    ]  # fmt: skip
    assert '  "{model}": {format: trec, path: "{model}.run"}\n' in text
    assert "\ncompare: {baseline: bm25, metrics: [map, ndcg@10]," in text
    assert "\ntables:\n  main: {metrics: [map, ndcg@10], sort: map}\n" in text
    assert "summary: " not in text


def test_folds_and_seeds(tmp_path: Path) -> None:
    for fold in (1, 2):
        data = [f"data/Fold{fold}/{part}.txt" for part in ("train", "vali", "test")]
        make(tmp_path, dict.fromkeys(data, letor(10 * fold, 100 * fold)))
        names = [f"preds/{m}/fold{fold}-seed{n}.txt" for m in ("svm", "gbrt") for n in (1, 2)]
        make(tmp_path, dict.fromkeys(names, scores(10 * fold)))
    text, loaded = proposed(tmp_path)
    assert '"preds/{model}/fold{fold}-seed{seed}.txt"' in text
    assert "#   data/Fold{fold}/train.txt: 2 files: training data\n" in text
    assert "# select:" not in text
    assert "\nsummary: {pool: [fold], spread: [seed]}   # one row per system\n" in text
    assert loaded.metrics == ("map", "ndcg@1,5,10", "ndcg(gain=exp)@1,5,10")
    assert [(c.run, c.columns, c.dataset_entry.path[-14:]) for c in resolve(loaded)][:3] == [
        ("gbrt", {"fold": "1", "seed": "1"}, "Fold1/test.txt"),
        ("gbrt", {"fold": "1", "seed": "2"}, "Fold1/test.txt"),
        ("svm", {"fold": "1", "seed": "1"}, "Fold1/test.txt"),
    ]
    assert len(resolve(loaded)) == 8


def chosen(base: Path) -> tuple[str, set[str]]:
    """The config, and the choices of one whose lines for select are not comments."""
    text, _ = proposed(base)
    (base / "c.yaml").write_text(text)
    with warnings.catch_warnings():  # ties
        warnings.simplefilter("ignore", HarnessWarning)
        harness.run(base / "c.yaml")
        (base / "c.yaml").write_text(re.sub(r"(?m)^( *)# (.*   # for select)$", r"\1\2", text))
        results = harness.run(base / "c.yaml")
    return text, {f"{one.name}: {', '.join(dict(one.setting))}, {len(one.ranked)}"
                  for one in results.board.selection.choices}  # fmt: skip


def make_parts(base: Path, folds: Sequence[int] = (1,)) -> None:
    """Write training, validation and test data of 10 rows for each fold."""
    for n, (fold, part) in enumerate(itertools.product(folds, ("train", "vali", "test"))):
        make(base, {f"data/Fold{fold}/{part}.txt": letor(10, 100 * n)})


@pytest.mark.parametrize(
    "path", ["p/{model}-f{fold}-s{seed}.txt", "p/{model}/Fold{fold}.s{seed}.txt"]
)
def test_short_words_for_fold_and_seed(tmp_path: Path, path: str) -> None:
    make_parts(tmp_path, (1, 2))
    keys = itertools.product(("a-1", "svm"), (1, 2), (0, 10))
    names = [path.format(model=model, fold=fold, seed=seed) for model, fold, seed in keys]
    make(tmp_path, dict.fromkeys(names, scores(10)))
    text, _ = proposed(tmp_path)
    assert f'\n  "{{model}}": {{format: scores, path: "{path}"}}\n' in text
    assert "\nsummary: {pool: [fold], spread: [seed]}" in text


@pytest.mark.parametrize(
    "path",
    [
        "p/model={model}/fold={fold}/seed={seed}.txt",
        "p/{model}-fold={fold}-seed={seed}.txt",
        "p/Fold{fold}/model={model}_loss={loss}_seed={seed}.txt",
        "p/fold={fold},loss={loss},model={model},seed={seed}/scores.txt",
    ],
)
def test_names_and_values_in_paths(tmp_path: Path, path: str) -> None:
    make_parts(tmp_path, (1, 2))
    keys = itertools.product(("gbrt", "svm"), (1, 2), (0, 10), ("listnet", "lambda-rank"))
    names = [path.format(model=m, fold=f, seed=s, loss=loss) for m, f, s, loss in keys]
    make(tmp_path, dict.fromkeys(names, scores(10)))
    text, loaded = proposed(tmp_path)
    assert f'\n  "{{model}}": {{format: scores, path: "{path}"}}\n' in text
    assert "\nsummary: {pool: [fold], spread: [seed]}" in text
    losses = {cell.columns.get("loss", "") for cell in resolve(loaded)}
    assert losses == ({"listnet", "lambda-rank"} if "{loss}" in path else {""})


def test_values_in_paths_are_names_of_runs_without_folds(tmp_path: Path) -> None:
    runs = {f"runs/bm25-k1={k1}-b={b}.run": RUN for k1 in ("0.9", "1.2") for b in ("0.4", "0.75")}
    make(tmp_path, {"qrels.txt": QRELS, **runs, "runs/k1=2.run": RUN})
    text, loaded = proposed(tmp_path)
    assert '\n  "bm25 k1={k1} b={b}": ' in text
    assert {cell.run for cell in resolve(loaded)} == {
        "k1=2", *(f"bm25 k1={k1} b={b}" for k1 in ("0.9", "1.2") for b in ("0.4", "0.75"))
    }  # fmt: skip
    assert '\ncompare: {baseline: "bm25 k1=0.9 b=0.4"' in text


def test_git_repositories_in_a_folder_are_skipped(tmp_path: Path) -> None:
    make(tmp_path, {"qrels.txt": QRELS, "a.run": RUN, "clone/b.run": RUN, "clone/.git/HEAD": ""})
    text, loaded = proposed(tmp_path)
    assert [cell.run for cell in resolve(loaded)] == ["a"]
    assert "\n# Not used:\n#   clone/: " in text
    _, proposal = propose_config([tmp_path, tmp_path / "clone"], tmp_path)
    assert {path for run in proposal.runs for path in run.group.values} == {"a.run", "clone/b.run"}


def test_a_short_word_for_a_fold_that_the_data_do_not_have(tmp_path: Path) -> None:
    make_parts(tmp_path, (1, 2))
    names = [f"p/net-f{fold}-s{seed}.txt" for fold in (1, 2) for seed in (0, 1)]
    make(tmp_path, dict.fromkeys([*names, "p/rnn-f0.txt"], scores(10)))
    text, _ = propose_config(tmp_path, tmp_path)
    assert ": no number in its path gives its fold\n" in text
    assert "{seed}" not in text


def test_a_file_of_distances_is_left_out_with_the_keys_to_add(tmp_path: Path) -> None:
    make(tmp_path, {"a.qrels": "2 0 d=1 1\n", "a.run": "2 Q0 d=1 1 5 t\n"})
    make(tmp_path, {"near.jsonl": '{"qid": 2, "docno": "d=1", "distance": 0.5}\n'})
    text, _ = proposed(tmp_path)
    assert text.endswith("'distance'; add columns: {score: distance}, order: ascending\n"), text


def test_a_run_named_as_distances_gets_their_order(tmp_path: Path) -> None:
    near = RUN.replace("2.0", ".25")
    make(tmp_path, {"qrels.txt": QRELS, "l2=a.dist": near, "losses/b.run": RUN})
    _, loaded = proposed(tmp_path)
    orders = {cell.run_entry.path: cell.run_entry.order for cell in resolve(loaded)}
    assert {Path(path).name: order for path, order in orders.items()} == {
        "l2=a.dist": "ascending", "b.run": "descending",
    }  # fmt: skip


def test_predictions_for_validation_data_are_for_a_choice(tmp_path: Path) -> None:
    make_parts(tmp_path)
    files = [f"preds/{part}-gbrt2-lr{lr}.txt" for part in ("vali", "test") for lr in "12"]
    make(tmp_path, dict.fromkeys([*files, "linear.txt"], scores(10)))
    text, choices = chosen(tmp_path)
    assert choices == {"gbrt2: lr, 2"}
    assert "\n  # vali: {format: letor, path: data/Fold1/vali.txt}   # for select\n" in text
    run = '{dataset: vali, format: scores, path: "preds/vali-gbrt2-lr{lr}.txt"}'
    assert f"\n    # - {run}   # for select\n" in text
    assert "vali-gbrt2-lr{lr}.txt: 2 files: predictions for validation data\n" in text


def test_folders_of_settings_and_of_validation_predictions(tmp_path: Path) -> None:
    make_parts(tmp_path)
    models = itertools.product(("vali", "test"), "12", ("gbrt", "svm"))
    files = [f"p/lr0.{lr}/{part}/{m}_seed1.txt" for part, lr, m in models]
    make(tmp_path, dict.fromkeys(files, scores(10)))
    text, choices = chosen(tmp_path)
    assert choices == {"gbrt: lr, 2", "svm: lr, 2"}
    assert 'path: "p/lr{lr}/test/{model}_seed1.txt"}\n' in text
    assert "\n# select: {on: vali, by: ndcg@10, over: [lr]}   # for select\n" in text
    assert "vali/svm_seed{seed}.txt: 2 files: predictions for validation data\n" in text
    assert "\ncompare: {baseline: gbrt, " in text
    assert "# name your baseline\n" in text
    assert "\ntables:\n" in text


def test_folders_of_several_settings(tmp_path: Path) -> None:
    make_parts(tmp_path, (1, 2))
    some = itertools.product(("net", "svm"), ("0.1", "1e-3"), "37", "12", ("vali", "test"))
    files = [f"out/{m}/lr{lr}_leaves{n}/fold{fold}_{part}.txt" for m, lr, n, fold, part in some]
    make(tmp_path, dict.fromkeys(files, scores(10)))
    text, choices = chosen(tmp_path)
    assert choices == {f"{m} fold={fold}: lr, leaves, 4" for m in ("net", "svm") for fold in "12"}
    assert 'path: "out/{model}/lr{lr}_leaves{leaves}/fold{fold}_test.txt"}\n' in text
    assert "\n# compare: {baseline: net, " in text  # a row each setting
    assert (tmp_path / "results/c/significance.csv").exists()


def test_summary_comparisons_and_a_table_are_ready_to_use(tmp_path: Path) -> None:
    make(tmp_path, {f"data/Fold{n}.txt": letor(10 * n, 100 * n) for n in (1, 2)})
    for model in ("linear", "gbrt", "svm"):
        names = [f"{model}/fold{fold}-seed{seed}.txt" for fold in (1, 2) for seed in (1, 2)]
        draw = random.Random(model)
        for name in names:
            rows = range(10 * int(name[-11]))
            make(tmp_path, {name: "".join(f"{draw.random():.4f}\n" for _ in rows)})
    dense = "1 Q0 b 1 2.0 t\n1 Q0 a 2 1.0 t\n2 Q0 d 1 2.0 t\n2 Q0 c 2 1.0 t\n"
    make(tmp_path, {"a/qrels.txt": QRELS, "a/bm25.run": RUN, "a/dense.run": dense})
    text, _ = proposed(tmp_path)
    assert "\ncompare: {baseline: [bm25, linear], metrics: [map, ndcg@10], " in text
    save_config(tmp_path, tmp_path / "harness.yaml")
    results = harness.run(tmp_path / "harness.yaml")
    assert len(results.leaderboard.entries) == 5
    assert (results.folder / "tables/main.tex").exists()
    (tmp_path / "svm/fold2-seed2.txt").unlink()
    text = proposed(tmp_path)[0]
    assert "# no predictions of svm seed 2 for fold 2\n# summary: {pool: [fold]," in text
    assert "\ncompare: " in text


def test_the_baseline_is_a_run_that_every_dataset_has(tmp_path: Path) -> None:
    make(tmp_path, {f"d{n}/test.txt": letor(10 * n, 100 * n) for n in (1, 2)})
    make(tmp_path, {"d1/gbrt.pred": scores(10), "d2/neural.pred": scores(20)})
    assert "\n# compare: {baseline: RUN, " in proposed(tmp_path)[0]
    make(tmp_path, {f"d{n}/svm.pred": scores(10 * n) for n in (1, 2)})
    assert "\ncompare: {baseline: svm, " in proposed(tmp_path)[0]


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


def test_rows_and_words_of_the_path_tell_the_dataset(tmp_path: Path) -> None:
    """6 scores follow 6 rows; runs with docnos go to qrels whose path has most of their words."""
    make(
        tmp_path,
        {"x.letor": letor(6), "y.letor": letor(8), "web-p.qrels": QRELS, "q/qrels": OTHER_QRELS},
    )
    make(
        tmp_path,
        {"one.pred": scores(8), "two.pred": scores(6), "q/three.run": OTHER_RUN},
    )
    make(tmp_path, {"four_web.run": RUN, "five.pred": scores(7)})
    assert sorted(cells(tmp_path)) == [
        "q three q/three.run", "web-p four_web four_web.run", "x two two.pred", "y one one.pred",
    ]  # fmt: skip
    assert "#   five.pred: fits no qrels: expected " in proposed(tmp_path)[0]


def test_qrels_as_near_are_named(tmp_path: Path) -> None:
    make(tmp_path, {"p.qrels": QRELS, "q.qrels": OTHER_QRELS, "bm25.run": RUN})
    assert cells(tmp_path) == ["p bm25 bm25.run"]
    assert "\n  # a guess: could also be q.qrels\n" in proposed(tmp_path)[0]


def test_predictions_of_another_fold_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, {f"fold{n}/test.txt": letor(2 * n) for n in (3, 4, 7)})
    make(tmp_path, {"a/fold3.pred": scores(14), "a/fold4.pred": scores(8), "b/fold7.pred": "1\n"})
    text, _ = proposed(tmp_path)
    assert "#   a/fold3.pred: fits no qrels: expected 6 predictions, one for each" in text
    assert "#   b/fold7.pred: fits no qrels: expected 14 predictions, one for each" in text


def test_qrels_of_beir(tmp_path: Path) -> None:
    head = "query-id\tcorpus-id\tscore\n"
    for n, split in enumerate(("train", "test", "dev")):
        make(tmp_path, {f"qrels/{split}.tsv": f"{head}{n}\ta\t1\n"})
    make(tmp_path, {"qrels/test.jsonl": '{"query-id": "9", "corpus-id": "a", "score": 1}\n'})
    assert "\n  train: {format: beir, " in propose_config(tmp_path, tmp_path)[0]
    make(tmp_path, {"bm25.trec": RUN[:18], "dense.csv": "qid,docno,score\n1,a,0.2\n1,b,0.1\n"})
    text, loaded = proposed(tmp_path)
    assert [cell.run for cell in resolve(loaded)] == ["bm25", "dense"]
    assert "{format: beir, path: qrels/test.tsv}" in text
    for name in ("train.tsv", "dev.tsv", "test.jsonl"):
        assert f"#   qrels/{name}: no run belongs to it\n" in text
    make(tmp_path, {"e5.dev.trec": RUN[:18].replace("1 Q0", "2 Q0")})  # as on MS MARCO
    assert "dev e5.dev e5.dev.trec" in cells(tmp_path)


def test_what_to_fill_in(tmp_path: Path) -> None:
    make(tmp_path, {f"fold{n}/test.txt": letor(2 * n) for n in (3, 7)})
    text, _ = propose_config(tmp_path, tmp_path)
    assert '  # such as "predictions/{model}.fold{fold}.txt"\n' in text


def test_every_file_is_used_or_named_with_the_reason(tmp_path: Path) -> None:
    make(tmp_path, {f"data/fold{n}/test.txt": letor(6) for n in (1, 2, 3)})
    make(tmp_path, {f"gbrt/fold{n}.txt": scores(6) for n in (1, 2)})
    rows = [line.split() for line in letor(6).splitlines()]
    table = "".join(f"{qid[4:]},{grade},{n / 7:.3f}\n" for n, (grade, qid, *_) in enumerate(rows))
    make(tmp_path, {f"frame/fold{n}.csv": f"qid,label,score\n{table}" for n in (1, 2)})
    make(tmp_path, {"short/fold1.csv": f"qid,label,score\n{table[:40]}"[:-1]})
    make(tmp_path, {"late/fold4.txt": scores(6), "words.txt": "Some words here\n", "no.txt": ""})
    (tmp_path / "gone.run").symlink_to("nowhere")
    with zipfile.ZipFile(tmp_path / "scores.pt", "w") as saved:
        saved.writestr("archive/version", b"3")
    text, loaded = proposed(tmp_path)
    assert {cell.run for cell in resolve(loaded)} == {"gbrt", "frame"}
    assert "#   late/fold4.txt: no qrels of fold 4\n" in text
    assert "#   data/fold3/test.txt: no run belongs to it\n" in text
    assert "#   gone.run: " in text
    assert "#   short/fold1.csv: fits no qrels: expected 6 predictions" in text
    for name in ("words.txt", "no.txt", "scores.pt"):
        assert f"#   {name}: " in text


@pytest.mark.parametrize(
    "folder",
    ["trec_web2012_baselines", "dl_hard", pytest.param("ltr", marks=pytest.mark.slow)],
)
def test_real_folders(shared: Path, tmp_path: Path, folder: str) -> None:
    text, _ = propose_config(shared / "data" / folder, tmp_path)
    assert resolve(config.loads(text, "c.yaml", tmp_path))


def test_gaps_are_to_be_filled_in(tmp_path: Path) -> None:
    make(tmp_path, {"bm25.run": RUN})
    text, _ = propose_config(tmp_path, tmp_path)
    assert "  # fill in: no qrels were found, and no learning-to-rank file\n" in text
    assert "#   bm25.run: no qrels\n" in text
    (tmp_path / "bm25.run").rename(tmp_path / "x.txt")
    (tmp_path / "x.txt").write_text(QRELS)
    text, _ = propose_config(tmp_path, tmp_path)
    assert "  # fill in: no run was found that fits the qrels" in text
    assert "path: x.txt}" in text


def test_the_command(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "runs", tmp_path / "runs")
    run = partial(called, cwd=tmp_path)
    printed = run("init", "runs/trec", "--print").out
    assert not (tmp_path / "harness.yaml").exists()
    assert run("init", "runs/trec").out.startswith("written: harness.yaml; see its cells with: ")
    assert (tmp_path / "harness.yaml").read_text() == printed
    schema = json.loads((root / "docs" / "config.schema.json").read_text())
    assert printed.startswith(f"# yaml-language-server: $schema={schema['$id']}\n")
    assert "5 cells x 4 metrics" in run("run", "harness.yaml", "--dry-run").out
    assert run("init", "runs/trec", "--print", "-o", "a/b.yaml").code == 2
    assert run("init", "runs/trec", "-o", "sub/new.yaml").code == 0
    assert len(run("run", "sub/new.yaml", "--format", "csv").out.splitlines()) == 6
    done = run("init", "runs/trec", "-o", "sub/new.yaml")
    assert (done.code, done.err.splitlines()[0]) == (
        2, "error: sub/new.yaml: the file exists",
    )  # fmt: skip
    assert run("init", "runs/letor", "-o", "sub/new.yaml", "--force").code == 0
    assert "20 cells" in run("run", "sub/new.yaml", "--dry-run").out


def test_runs_of_two_datasets_and_settings_of_one(tmp_path: Path) -> None:
    for name, n in (("A", 10), ("B", 12)):
        make(tmp_path, {f"data/{name}/test.txt": letor(n, 10), f"runs/{name}/lin.txt": scores(n)})
    make(tmp_path, {"data/B/vali.txt": letor(8, 500)})
    sizes = {"test": 12, "vali": 8}
    tuned = {f"tuned/gbrt-lr{lr}.{part}.txt": n for lr in (1, 2) for part, n in sizes.items()}
    make(tmp_path, {path: scores(n) for path, n in tuned.items()})
    assert sum(one.split()[1] == "lin" for one in cells(tmp_path)) == 2


def test_a_fraction_after_s_is_a_setting(tmp_path: Path) -> None:
    make(tmp_path, {f"Fold{fold}/test.txt": letor(10 * fold, 100 * fold) for fold in (1, 2)})
    runs = {f"lgbm-f{fold}-s0.{s}.txt": 10 * fold for fold in (1, 2) for s in (5, 7)}
    make(tmp_path, {path: scores(n) for path, n in runs.items()})
    assert "{seed}" not in proposed(tmp_path)[0]


def test_columns_that_cannot_be_named_get_a_hint(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("1 0 D-1 1\n10 0 D-2 0\n2 0 D-1 2\n")
    rows = "1,D-1,0.5,3\n10,D-2,2.5,1\n2,D-1,1.5,2\n"
    hint = {"with.csv": "foo,bar,baz,qux\n", "without.csv": ""}
    for name, header in hint.items():
        (tmp_path / name).write_text(header + rows)
    text = propose_config([tmp_path], tmp_path, "x.yaml")[0]
    for name in hint:
        (line,) = (line for line in text.splitlines() if f"  {name}:" in line)
        columns = yaml.safe_load(line.partition("; add ")[2])["columns"]
        run = harness.read_run(tmp_path / name, columns=columns)
        assert run.to_dict().keys() == {"1", "10", "2"}
