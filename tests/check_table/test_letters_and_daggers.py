"""Letters and daggers as papers have them: which system each stands for."""

from __future__ import annotations

import re

from known_means import ALL, DAGGERS, said, study, verdict

from harness.core.study import Study
from harness.reports.paper_table.build import build
from harness.reports.paper_table.marks import letter, place_of
from harness.reports.paper_table.rendering import render
from harness.reports.paper_table.settings import Settings


def test_letters_that_rows_are_called_by(all_pairs: Study) -> None:
    # on web, by MAP: ours > ql > bm25; by nDCG ours > both, which do not differ
    text = """
| System   | Web MAP ↑           | Web nDCG@10          |
|:---------|--------------------:|---------------------:|
| (a) bm25 | 0.400               | 0.551                |
| (b) ql   | 0.412<sup>a</sup>   | 0.550<sup>a</sup>    |
| (c) ours | **0.424**<sup>b</sup> | **0.573**<sup>ab</sup> |
"""
    found = verdict(text, all_pairs, ".md")
    assert said(found) == [
        ("marker", "ql", "Web nDCG@10", "0.550 with a", "without a"),
        ("marker", "ours", "Web MAP ↑", "0.424 without a", "with a"),
    ]


def test_marks_cannot_be_checked_where_nothing_is_compared(plain: Study) -> None:
    found = verdict(DAGGERS, plain)
    assert found.findings == []
    assert found.notes == [
        "7 marks of significance not checked: the config of the results compares nothing (compare:)"
    ]


def test_marks_that_may_stand_for_any_level(against_bm25: Study) -> None:
    found = verdict(DAGGERS.replace(r"\dagger", "{**}"), against_bm25)
    assert found.findings == []
    assert found.notes == [
        "marks ** not checked: the rows do not say which systems they stand for, and there are "
        "1 baselines"
    ]


def spelled_out(text: str) -> str:
    """Return LaTeX with every letter of a range."""
    return re.sub(
        r"\^\{a\{-\}(\w+)\}",
        lambda found: f"^{{{','.join(map(letter, range(place_of(found[1]) + 1)))}}}",
        text,
    )


def test_more_systems_than_letters() -> None:
    # s0 < s1 < ... in steps of .01, each found by the test; the last one's letters are a to aa
    means = {"web": {f"s{at}": (0.1 + at / 100, 0.2 + at / 100) for at in range(28)}}
    found = study(ALL, means=means)
    table = build(found, Settings(marks="letters"))
    text = render(table, "latex")
    assert r"s27$^{ab}$ & \textbf{.370}$^{a{-}aa}$" in text
    readings = ("latex", ".tex"), ("markdown", ".md"), ("html", ".html"), ("csv", ".csv")
    for format, suffix in readings:
        checked = verdict(render(table, format), found, suffix)
        assert (checked.findings, checked.notes) == ([], [])
    assert verdict(spelled_out(text), found).findings == []
    assert verdict(text.replace("{-}", "--"), found).findings == []
    (missing,) = verdict("^{aa}".join(text.rsplit("^{a}", 1)), found).findings[:1]
    assert (missing.row, missing.found, missing.right) == ("s1", ".210 with aa", "without aa")
    wrong = verdict("^{a{-}z,ab}".join(text.rsplit("^{a{-}aa}", 1)), found)
    assert said(wrong) == [
        ("marker", "s27", "ndcg@10 ↑", ".470 with ab", "without ab"),
        ("marker", "s27", "ndcg@10 ↑", ".470 without aa", "with aa"),
    ]


def test_more_systems_than_letters_without_commas() -> None:
    means = {"web": {f"s{at}": (0.1 + at / 100, 0.2 + at / 100) for at in range(28)}}
    found = study(ALL, means=means)
    text = spelled_out(render(build(found, Settings(marks="letters")), "latex")).replace(",", "")
    right = "^{abcdefghijklmnopqrstuvwxyzaa}"
    assert right in text
    checked = verdict(text, found)
    assert checked.findings == []
    assert checked.notes == [
        "signs of several characters stand without commas: each cell is read as what would be "
        "right, where it can be"
    ]
    wrong = verdict("^{abcdefghijklmnopqrstuvwxyzab}".join(text.rsplit(right, 1)), found)
    assert said(wrong) == [("marker", "s27", "ndcg@10 ↑", ".470 without aa", "with aa")]


def test_rows_called_by_numbers_and_remarks_in_brackets(all_pairs: Study) -> None:
    text = """
| System  | Web MAP                        | Web nDCG@10        |
|---------|--------------------------------|--------------------|
| 1. bm25 | 0.400                          | 0.551              |
| 2. ql   | 0.412<sup>1</sup> (+3.0%)      | 0.550              |
| 3. ours | **0.424**<sup>1</sup> (+5.9%)  | **0.573**<sup>12</sup> |
"""
    found = verdict(text, all_pairs, ".md")
    assert said(found) == [("marker", "ours", "Web MAP", "0.424 without 2", "with 2")]
    assert found.notes == ["2 in brackets not checked: (+3.0%) beside 0.412 of ql, Web MAP..."]
