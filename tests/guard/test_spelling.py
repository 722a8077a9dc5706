"""Docnos and qids that would be judged in the spelling of the judgements."""

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import Finding
from harness.experiment.check import check_files

N = 24
"""Documents that the run has for each query; every third of them is not judged."""
Write = Callable[[str], str]


def nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def nfd(name: str) -> str:
    return unicodedata.normalize("NFD", name)


def same(name: str) -> str:
    return name


def plain(name: str) -> str:
    return name.replace("\u00e9", "e")


def check(
    folder: Path, judged: Write, retrieved: Write, qrels_qid: Write = same, run_qid: Write = same
) -> dict[str, Finding]:
    """What is found of 6 queries, 16 judged documents each, and 24 retrieved, with these names."""
    qrels, run = [], []
    for query in range(51, 57):
        for at in range(N):
            name = f"Caf\u00e9-{query}-{at:02d}"
            if at % 3:
                qrels.append(f"{qrels_qid(str(query))} 0 {judged(name)} {int(at % 4 == 1)}\n")
            run.append(f"{run_qid(str(query))} Q0 {retrieved(name)} {at + 1} {99.5 - at} t\n")
    (folder / "qrels").write_text("".join(qrels), encoding="utf-8")
    (folder / "run").write_text("".join(run), encoding="utf-8")
    return found_in(folder)


def found_in(folder: Path) -> dict[str, Finding]:
    found = check_files(str(folder / "qrels"), [str(folder / "run")], of_qrels={}, of_runs={})
    return {one.rule: one for one in found.findings}


@pytest.mark.parametrize(
    ("judged", "retrieved", "way"),
    [
        (nfc, nfd, "Unicode form"),
        (nfd, nfc, "Unicode form"),
        (plain, lambda name: plain(name).lower(), "upper and lower case"),
        (lambda name: plain(name).upper(), plain, "upper and lower case"),
        (plain, lambda name: f'"{plain(name)}"', "quotes"),
        (lambda name: name[5:7] + name[8:], lambda name: f"0{name[5:7]}{name[8:]}", "leading zero"),
        (plain, lambda name: f"a/{plain(name)}.txt", "a folder or an ending"),
        (lambda name: f"{plain(name)}.txt", plain, "the ending '.txt'"),
        (plain, lambda name: f"x_{plain(name)}", "the prefix 'x_'"),
    ],
)
def test_every_docno_in_another_spelling(
    judged: Write, retrieved: Write, way: str, tmp_path: Path
) -> None:
    found = check(tmp_path, judged, retrieved)
    one = found["docno-spelling"]
    assert (one.severity, one.count, one.place) == ("error", 36, f"{tmp_path}/run:2")
    assert f"differ from judged ones only in {way}" in one.what
    assert not {"other-collection", "nothing-judged"} & {*found}


@pytest.mark.parametrize(
    ("judged", "answered", "way", "shown"),
    [
        (same, lambda qid: f"0{qid}", "leading zeros", "'051' for '51'"),
        (same, lambda qid: f"Q{qid}", "the prefix 'Q'", "'Q51' for '51'"),
        (lambda qid: f"\u00e9{qid}", lambda qid: f"e\u0301{qid}",
         "Unicode form (NFC, NFD)", r"'e\u030151' for '\xe951'"),
    ],
)  # fmt: skip
def test_qids(judged: Write, answered: Write, way: str, shown: str, tmp_path: Path) -> None:
    """All of them, which share no query then; and half of them."""
    (one,) = check(tmp_path, plain, plain, judged, answered).values()
    assert (one.rule, one.examples[0]) == ("no-common-query", shown)
    assert f"only in {way}" in one.what
    found = check(
        tmp_path, plain, plain, judged, lambda qid: answered(qid) if qid < "54" else judged(qid)
    )
    one = found["qid-spelling"]
    assert (one.count, one.place, one.examples[0]) == (3, f"{tmp_path}/run:1", shown)
    assert not {"missing-queries", "extra-queries"} & {*found}
