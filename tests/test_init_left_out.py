"""harness init: several folders, what is left out and why, and what only begins like a run."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import pytest
from command_line import called

from harness.config import load as config
from harness.config.init import propose_config
from harness.config.sweep import resolve
from harness.errors import InputError

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 2\n"
RUN = "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 c 1 2.0 t\n"
LETOR = "1 qid:1 1:0.5\n0 qid:1 1:0.25\n"


def make(base: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)


def test_judgements_that_fit_as_well_are_not_said_to_fit_no_run(tmp_path: Path) -> None:
    make(tmp_path, {"binary.qrels": QRELS, "graded.qrels": QRELS + "2 0 d 3\n", "x.run": RUN})
    text = propose_config(tmp_path, tmp_path)
    assert "  # a guess: could also be graded.qrels\n" in text
    assert "#   graded.qrels: its runs were given to binary.qrels, which fits as well\n" in text
    assert "no run fits it" not in text


def test_data_are_offered_where_no_run_fits(tmp_path: Path) -> None:
    """A file of group sizes reads as scores, and 3 of them follow no 2 rows."""
    make(tmp_path, {"test.txt": LETOR, "group.txt": "7\n8\n9\n"})
    text = propose_config(tmp_path, tmp_path)
    assert f"datasets:\n  {tmp_path.name}: {{format: letor, path: test.txt}}\n" in text
    assert "  model: {path: FILL-IN}\n" in text
    assert "#   group.txt: fits no judgements: 3 scores\n" in text
    make(tmp_path, {"other.txt": LETOR + "2 qid:2 1:1\n1 qid:2 1:2\n"})
    assert (
        f"  model:\n    - {{dataset: other, path: FILL-IN}}\n"
        f"    - {{dataset: {tmp_path.name}, path: FILL-IN}}\n"
    ) in propose_config(tmp_path, tmp_path)


def test_what_only_begins_like_a_run_is_none(tmp_path: Path) -> None:
    """A training log has six columns and a number in the fifth, but not in every line."""
    log = "".join(f"{n} | 39 | 0.49 | 0.55 | OK |\n" for n in range(1, 20))
    make(tmp_path, {"qrels.txt": QRELS, "x.run.gz": RUN})  # not packed, which is warned of later
    make(tmp_path, {"log.txt": log + "20 | 39 | | | ROLLBACK |\n" + log})
    make(tmp_path, {"more.qrels": QRELS + "3 0 a\n"})
    text = propose_config(tmp_path, tmp_path)
    assert "#   log.txt: looks like a run (trec), but its line 20 is none\n" in text
    assert "#   more.qrels: looks like judgements (trec), but its line 4 is none\n" in text
    (cell,) = resolve(config.loads(text, "c.yaml", tmp_path))
    assert cell.run == "x"


def test_every_file_left_out_is_named(tmp_path: Path) -> None:
    """Those that differ in the number of a fold in one line, and of others a hundred."""
    make(tmp_path, {"test.txt": LETOR, "a.pred": "1\n2\n"})
    make(
        tmp_path,
        {f"Fold{n}/{part}": LETOR * n for n in (2, 3) for part in ("test.txt", "vali.txt")},
    )
    make(tmp_path, {f"{'x' * n}.pred": "1\n" * 3 for n in range(1, 51)})
    comments = propose_config(tmp_path, tmp_path).partition("# Not used:\n")[2].splitlines()
    assert len(comments) == 52
    assert "#   Fold{fold}/vali.txt: 2 files: not test data" in comments
    assert "#   Fold{fold}/test.txt: 2 files: no run fits it" in comments
    assert f"#   {'x' * 50}.pred: fits no judgements: 3 scores" in comments
    make(tmp_path, {f"{'y' * n}.pred": "1\n" * 5 for n in range(1, 61)})
    comments = propose_config(tmp_path, tmp_path).partition("# Not used:\n")[2].splitlines()
    assert len(comments) == 101
    assert comments[-1] == "#   ... and 12 more"


def test_packed_files_that_cannot_be_unpacked(tmp_path: Path) -> None:
    draw = random.Random(1)
    long = gzip.compress("".join(f"{draw.random()}\n" for _ in range(30_000)).encode())
    make(tmp_path, {"test.txt": LETOR, "good.txt": "1\n2\n"})
    (tmp_path / "cut.run.gz").write_bytes(gzip.compress(RUN.encode())[:-12])
    (tmp_path / "odd.bz2").write_bytes(b"BZh9" + bytes(40))
    (tmp_path / "fold2.txt.gz").write_bytes(long[: len(long) // 2])  # its first lines can be read
    text = propose_config(tmp_path, tmp_path)
    assert "#   cut.run.gz: the gzip data is cut short\n" in text
    assert "#   odd.bz2: named .bz2 and has no bz2 header, nor is it text\n" in text
    assert "fold2.txt.gz" in text
    assert "good: {format: scores, path: good.txt}" in text


def test_pipes_and_links_to_nothing_are_passed_over(tmp_path: Path) -> None:
    make(tmp_path, {"qrels.txt": QRELS, "x.run": RUN})
    as_it_was = propose_config(tmp_path, tmp_path)
    os.mkfifo(tmp_path / "pipe.run")
    (tmp_path / "dead.run").symlink_to("gone.run")
    (tmp_path / "loop.run").symlink_to("loop.run")
    assert propose_config(tmp_path, tmp_path) == as_it_was


def test_data_and_predictions_in_folders_of_their_own(tmp_path: Path) -> None:
    make(tmp_path, {f"disk/data/fold{n}.txt": LETOR * n for n in (1, 2)})
    make(tmp_path, {f"work/preds/{m}/fold{n}.txt": "1\n2\n" * n for m in "ab" for n in (1, 2)})
    make(tmp_path, {"work/notes/x.run": RUN, "here/.keep": ""})
    done = called("init", "../disk/data", "../work/preds", cwd=tmp_path / "here")
    assert (done.code, done.err) == (0, "")
    assert '{format: letor, path: "../disk/data/fold{fold}.txt"}\n' in done.out
    assert '"{model}": {format: scores, path: "../work/preds/{model}/fold{fold}.txt"}' in done.out
    assert "x.run" not in done.out
    loaded = config.loads(done.out, "c.yaml", tmp_path / "here")
    assert [cell.run for cell in resolve(loaded)] == ["a", "b"] * 2


def test_folders_that_hold_each_other_count_once(tmp_path: Path) -> None:
    make(tmp_path, {"q/qrels.txt": QRELS, "r/x.run": RUN})
    (tmp_path / "r/again").symlink_to(tmp_path / "q")
    one = propose_config(tmp_path, tmp_path)
    assert propose_config([tmp_path / "q", tmp_path / "r", tmp_path], tmp_path) == one
    assert one.count("qrels.txt") == 1


def test_folders_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "q").mkdir()
    with pytest.raises(InputError) as error:
        propose_config([tmp_path / "q", tmp_path / "no", tmp_path / "none"], tmp_path)
    assert [problem.where for problem in error.value.problems] == [
        str(tmp_path / "no"), str(tmp_path / "none"),
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"q, .*q: holds no files"):
        propose_config([tmp_path / "q", tmp_path / "q"], tmp_path)


@pytest.mark.parametrize("folder", ["codec", "www2018_table", "web_table_retrieval"])
def test_real_judgements_that_fit_as_well(shared: Path, tmp_path: Path, folder: str) -> None:
    text = propose_config(shared / "data" / folder, tmp_path)
    assert "a guess: could also be" in text
    assert "which fits as well" in text
    assert "no run fits it" not in text


def test_real_learning_to_rank_files(shared: Path, tmp_path: Path) -> None:
    text = propose_config(shared / "data/ltr/mq2008_fold1", tmp_path)
    assert "no judgements were found" not in text
    assert text.count("format: letor") == 2
    text = propose_config(shared / "data/ltr/mq2007_subset", tmp_path)
    assert (
        "#   results/ranklib_ranknet_model: looks like a run (trec), but its line 7 is none" in text
    )
