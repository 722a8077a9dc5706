r"""Docnos and qids that would be found, were they written as the judgements write them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import Finding
from harness.guard import spelling
from harness.guard.check import check_files

N = 24
"""Queries, each with as many judged documents; every third of the run's is not judged."""
Write = Callable[[str], str]


def nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def nfd(name: str) -> str:
    return unicodedata.normalize("NFD", name)


def same(name: str) -> str:
    return name


def check(
    folder: Path, judged: Write, retrieved: Write, qrels_qid: Write = same, run_qid: Write = same
) -> list[Finding]:
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
    found = check_files(str(folder / "qrels"), [str(folder / "run")], of_qrels={}, of_runs={})
    return [*found.findings]


def plain(name: str) -> str:
    return name.replace("\u00e9", "e")


def of(found: list[Finding], rule: str) -> list[Finding]:
    return [one for one in found if one.rule == rule]


def test_one_document_in_another_normalisation(tmp_path: Path) -> None:
    """Of 144, that of the second row; the line says which, the escapes in what it differs."""
    found = check(tmp_path, nfc, lambda name: nfd(name) if name.endswith("51-01") else nfc(name))
    (one,) = of(found, "docno-spelling")
    assert str(one).splitlines() == [
        f"warning: {tmp_path}/run:2: 1 of 144 docnos looked at is that of a judged document but "
        "for their Unicode normalisation (NFC, NFD): query 51, document Cafe\u0301-51-01: "
        "'Cafe\\u0301-51-01' for 'Caf\\xe9-51-01' [docno-spelling]",
        "  effect: they count as documents that nobody judged, which is not relevant",
        "  fix:    write docnos alike in both files",
    ]


@pytest.mark.parametrize(("judged", "retrieved"), [(nfc, nfd), (nfd, nfc)])
def test_every_document_in_another_normalisation(
    judged: Write, retrieved: Write, tmp_path: Path
) -> None:
    found = check(tmp_path, judged, retrieved)
    (one,) = of(found, "docno-spelling")
    assert (one.severity, one.count, one.place) == ("error", 96, f"{tmp_path}/run:2")
    assert not of(found, "other-collection")  # what follows is not said beside it


def test_the_same_names_are_told_nothing_of(tmp_path: Path) -> None:
    for write in (nfc, nfd, plain):
        found = check(tmp_path, write, write)
        assert {one.rule for one in found} == {"unknown-docnos", "unjudged-at-10"}


@pytest.mark.parametrize(
    ("judged", "retrieved", "way"),
    [
        (plain, lambda name: plain(name).lower(), "upper and lower case"),
        (lambda name: plain(name).upper(), plain, "upper and lower case"),
        (plain, lambda name: f'"{plain(name)}"', "quotes around them"),
        (lambda name: f"'{plain(name)}'", lambda name: f"x{name}", ""),
        (plain, lambda name: f"\ufeff{plain(name)}", "blanks or signs at their ends that are not"),
        (lambda name: name[-2:], lambda name: f"000{name[-2:]}", ""),  # of other queries, too
        (lambda name: name[5:7] + name[8:], lambda name: f"0{name[5:7]}{name[8:]}", "leading zero"),
        (plain, lambda name: f"a/{plain(name)}.txt", "the folder or the ending of a file"),
        (lambda name: f"{plain(name)}.txt", plain, "'.txt' after them"),
        (plain, lambda name: f"x_{plain(name)}", "'x_' before them"),
        (lambda name: f"a:{plain(name)}", lambda name: f"a%3A{plain(name)}", "escapes such as %20"),
        (plain, lambda name: f"x{name[::-1]}", ""),
    ],
)  # fmt: skip
def test_every_document_written_otherwise(
    judged: Write, retrieved: Write, way: str, tmp_path: Path
) -> None:
    said = of(check(tmp_path, judged, retrieved), "docno-spelling")
    assert [one.count for one in said if way] == [96] * bool(way)
    assert all(f"judged documents but for {way}" in one.what for one in said)


@pytest.mark.parametrize(("others", "told"), [(6, 0), (5, 0), (4, 1), (0, 1)])
def test_names_that_agree_by_chance_are_seldom_judged_for_the_query(
    others: int, told: int, tmp_path: Path
) -> None:
    """Numbers of two collections: those of some queries are judged for the next one alone.

    By chance it is a sixth of them, as there are six queries; a third must be of the query.
    """

    def number(name: str) -> str:
        return name[5:7] + name[8:]

    def retrieved(name: str) -> str:
        query = int(name[5:7])
        asked = 51 + (query - 50) % 6 if query - 51 < others else query
        return f"D{asked}{name[8:]}"

    found = check(tmp_path, number, retrieved)
    assert [one.count for one in of(found, "docno-spelling")] == [96] * told
    assert len(of(found, "nothing-judged")) == 1 - told


def test_one_qid_alone_may_be_a_topic_of_another_collection(tmp_path: Path) -> None:
    """None of six is judged, and one of these would be but for its zero; of one it is told."""
    for name, qids, what in [("six", range(51, 57), "qrels and run"), ("one", [51], "no query")]:
        (tmp_path / name).write_text("".join(f"{qid} Q0 d1 1 2.5 t\n" for qid in qids))
        (tmp_path / "qrels").write_text("051 0 d1 1\n")
        options: dict[str, dict[str, str]] = {"of_qrels": {}, "of_runs": {}}
        found = check_files(str(tmp_path / "qrels"), [str(tmp_path / name)], **options)
        assert [one.what.startswith(what) for one in of([*found.findings], "no-common-query")] == [
            True
        ]


def test_fewer_than_a_tenth_may_be_other_documents(tmp_path: Path) -> None:
    """Of each query's 16 judged documents that are retrieved one or two have another case."""

    def retrieved(*ends: str) -> Write:
        return lambda name: plain(name).upper() if name.endswith(ends) else plain(name)

    assert not of(check(tmp_path, plain, retrieved("-01")), "docno-spelling")
    (one,) = of(check(tmp_path, plain, retrieved("-01", "-02", "-00", "-22")), "docno-spelling")
    assert (one.severity, one.count) == ("warning", 18)


QIDS = [
    (same, lambda qid: f"0{qid}", "leading zeros", "'051' for '51'"),
    (same, lambda qid: f"Q{qid}", "'Q' before them", "'Q51' for '51'"),
    (lambda qid: f"\u00e9{qid}", lambda qid: f"e\u0301{qid}",
     "their Unicode normalisation (NFC, NFD)", r"'e\u030151' for '\xe951'"),
]  # fmt: skip


@pytest.mark.parametrize(("judged", "answered", "way", "shown"), QIDS)
def test_qids(judged: Write, answered: Write, way: str, shown: str, tmp_path: Path) -> None:
    """All of them, which share no query then; and half of them."""
    (one,) = check(tmp_path, plain, plain, judged, answered)
    assert one.rule == "no-common-query"
    assert one.head.startswith(
        f"error: {tmp_path}/run: no query of it is one of {tmp_path}/qrels; of 6 looked at 6 are "
        f"but for {way}: {shown}, "
    )
    assert one.fix == "write qids alike in both files"

    def half(qid: str) -> str:
        return answered(qid) if qid < "54" else judged(qid)

    found = check(tmp_path, plain, plain, judged, half)
    (one,) = of(found, "qid-spelling")
    assert one.head.startswith(
        f"warning: {tmp_path}/run:1: 3 of 3 qids without judgements are those of queries that are "
        f"not answered but for {way}: {shown}, "
    )
    assert not of(found, "missing-queries") + of(found, "extra-queries")


def test_other_queries_are_missing(tmp_path: Path) -> None:
    found = check(tmp_path, plain, plain, same, lambda qid: qid if qid > "51" else "77")
    assert {"missing-queries", "extra-queries"} <= {one.rule for one in found}
    assert not of(found, "qid-spelling")


@pytest.mark.parametrize("n", [spelling.SPREAD - 1, 3 * spelling.SPREAD])
def test_many_qids(n: int, tmp_path: Path) -> None:
    """Of more than are looked at for what they begin with; none is answered, and one is."""
    judged, run = tmp_path / "qrels", tmp_path / "run"
    judged.write_text("".join(f"{i} 0 d{i} 1\n" for i in range(n)))
    options: dict[str, dict[str, str]] = {"of_qrels": {}, "of_runs": {}}
    rows = [f"Q{i} Q0 d{i} 1 2.5 t\n" for i in (7, 70, n - 1)]
    run.write_text("".join(rows))
    (one,) = of([*check_files(str(judged), [str(run)], **options).findings], "no-common-query")
    assert "of 3 looked at 3 are but for 'Q' before them: 'Q7' for '7', " in one.what + one.shown
    run.write_text("".join(rows) + "70 Q0 d70 1 2.5 t\n")
    (one,) = of([*check_files(str(judged), [str(run)], **options).findings], "qid-spelling")
    assert one.count == 2  # 70 is answered, and Q70 stands for no query that lacks an answer
