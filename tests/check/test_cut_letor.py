"""A learning-to-rank file that ends within its last line."""

from __future__ import annotations

from typing import Any

import pytest

from harness.guard.check import check_files


@pytest.mark.parametrize(
    ("cut", "rule", "severity"),
    [(40, "cut-line", "warning"), (1, "no-line-end", "note")],  # within the features; the end alone
)
def test_a_dataset_whose_last_line_is_cut(letor: Any, cut: int, rule: str, severity: str) -> None:
    text = "".join(letor.lines("fold1.txt"))
    letor.put("fold1.txt", [text[:-cut]])
    files = str(letor.folder / "fold1.txt"), [str(letor.folder / "gbrt/fold1.txt")]
    checked = check_files(*files, of_qrels={}, of_runs={})
    (one,) = [one for one in checked.findings if one.rule in ("cut-line", "no-line-end")]
    assert (one.rule, one.severity, one.place) == (rule, severity, f"{files[0]}:1208")
    assert one.examples == (text[:-cut].splitlines()[-1],)


def test_a_sparse_file_is_not_said_to_be_cut(tmp_path: Any) -> None:
    # features that are 0 are left out: lines have fields as they come
    rows = [
        f"{at % 2} qid:1 " + " ".join(f"{i}:{at}" for i in range(1, 2 + at % 3)) for at in range(9)
    ]
    (tmp_path / "test").write_text("\n".join([*rows, "1 qid:1 1:4"]))
    (tmp_path / "p").write_text("".join(f"{at}\n" for at in range(10)))
    files = str(tmp_path / "test"), [str(tmp_path / "p")]
    checked = check_files(*files, of_qrels={}, of_runs={})
    assert not [one for one in checked.findings if one.severity != "note"]
    assert [one.place for one in checked.findings if one.rule == "no-line-end"] == [
        f"{files[0]}:10"
    ]


def test_sizes_of_0_are_said_at_their_line(tmp_path: Any) -> None:
    rows = "".join(f"{at % 2} 1:{at}\n" for at in range(20))
    for name, text in (("test", rows), ("sizes", "10\n0\n10\n"), ("p", rows.replace(" 1:", "."))):
        (tmp_path / name).write_text(text)
    of_qrels = {"group": str(tmp_path / "sizes")}
    checked = check_files(
        str(tmp_path / "test"), [str(tmp_path / "p")], of_qrels=of_qrels, of_runs={}
    )
    (one,) = [one for one in checked.findings if one.rule == "empty-groups"]
    assert (one.severity, one.what) == ("warning", f"{tmp_path / 'sizes'}:2: 1 group size is 0")
    assert one.examples == ("size 2",)
