"""Rows that are no runs of the results: systems of others, and differences, p-values, counts."""

from __future__ import annotations

import pytest
from known_means import said, verdict

from harness.core.study import Study


def test_systems_of_others_take_part_in_best(plain: Study) -> None:
    text = """
| | web MAP | web nDCG@10 |
|---|---|---|
| Other [12] | **.500** | .100 |
| bm25 | .400 | .551 |
| ours | .424 | **.573** |
"""
    assert verdict(text, plain, ".md").findings == []
    found = verdict(text.replace("**.500**", ".500").replace(".424", "**.424**"), plain, ".md")
    assert said(found) == [("bold", "ours", "web MAP", ".424 bold", "not bold")]
    assert found.findings[0].why == "the best: Other [12]"
    assert found.notes == []


TABLE = """
| | web MAP | web nDCG@10 |
|---|---|---|
| bm25 | .400 | <ins>.551</ins> |
| ql | <ins>.412</ins> | .550 |
| ours | **.424** | **.573** |
| {} | {} | {} |
"""


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (("Δ", ".5", ".6"), "by its name it is no system"),
        (("Improvement (%)", "5.9", "4.0"), "by its name it is no system"),
        (("p-value", "0.88", "0.99"), "by its name it is no system"),
        (("#queries", "20", "20"), "by its name it is no system"),
        (("Adj. p-value", "0.88", "0.99"), "by its name it is no system"),
        (("n", "20", "20"), "by its name it is no system"),
        (("N-Gram", "1.2", "20"), "1.2 in web MAP is no value of map"),
        (("Ours − BM25", "+.024", "+.022"), "+.024 in web MAP has a sign, as differences have"),
        (("Ours / BM25", "1.06", "1.04"), "1.06 in web MAP is no value of map"),
        (
            ("Ours / BM25", "60%", "40%"),
            "60% in web MAP is in percent, as the other rows are not",
        ),
        (("Oracle", ".9", ".95"), "with it all of them would be wrong"),
    ],
)
def test_rows_that_are_no_systems(row: tuple[str, ...], why: str, plain: Study) -> None:
    found = verdict(TABLE.format(*row), plain, ".md")
    assert found.findings == []
    assert found.notes == [f"row '{row[0]}' takes no part in the best values: {why}"]
    assert found.unknown == [f"row '{row[0]}': no run of the results"]
    assert found.verified == {"numbers": 6, "best values": 2, "second best values": 2}


def test_several_rows_that_are_no_systems(plain: Study) -> None:
    text = TABLE.format("Oracle", ".95", ".96") + "| p-value | .88 | .9 |\n| Human | .9 | .9 |\n"
    found = verdict(text.replace("\n\n", "\n"), plain, ".md")
    assert found.findings == []
    assert [note.split("'")[1] for note in found.notes] == ["Oracle", "p-value", "Human"]


def test_a_row_that_overturns_one_best_value_is_a_system(plain: Study) -> None:
    found = verdict(TABLE.format("Other", ".9", ".1"), plain, ".md")
    assert [(one.kind, one.column) for one in found.findings] == [
        ("underline", "web MAP"), ("bold", "web MAP"), ("underline", "web MAP"),
    ]  # fmt: skip


def test_a_tie_as_printed(plain: Study) -> None:
    # .2304 and .23037 are both .230
    text = """
| | news MAP |
|---|---|
| bm25 | .220 |
| ql | **.230** |
| ours | .230 |
"""
    (one,) = verdict(text, plain, ".md").findings
    assert (one.row, one.found, one.right) == ("ours", ".230 not bold", "bold")
    assert one.why == (
        "as printed equal to ql, which is best (0.230); by the full value ql is best"
    )
