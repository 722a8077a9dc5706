"""Names that a reader cannot tell apart are warned of, in the formats where it is so."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies import constant, study

from harness.errors import HarnessWarning
from harness.experiment.evaluate import evaluate_files
from harness.reports.paper_table.build import build
from harness.reports.paper_table.rendering import FORMATS, render_all, shown_alike
from harness.reports.paper_table.settings import Settings

NFC, NFD = "caf\u00e9", "cafe\u0301"
FIX = "; give one of them another name under 'names' (--name OLD=NEW)"


def said(*runs: str, dataset: str = "a") -> list[str]:
    made = study(constant({name: {run: [0.5] for run in runs} for name in ("trec", dataset)}))
    return [*shown_alike(build(made, Settings(), "main"), FORMATS)]


@pytest.mark.parametrize(
    ("one", "other", "shown", "where"),
    [
        (NFC, NFD, r"'caf\xe9' and 'cafe\u0301'", "latex, markdown, html, csv, text"),
        # a terminal is shown \t and \n, HTML's source \t; a CSV holds both as they are
        ("a\tb", "a\nb", r"'a\tb' and 'a\nb'", "latex, markdown, csv"),
        ("a b", "a\nb", r"'a b' and 'a\nb'", "latex, markdown, html, csv"),
        ("A", "\u0391", r"'A' and '\u0391'", "latex"),  # a capital alpha
        ("\u00b5", "\u03bc", r"'\xb5' and '\u03bc'", "latex"),  # micro and mu
    ],
)
def test_rows(one: str, other: str, shown: str, where: str) -> None:
    assert said("bm25", one, other) == [f"table 'main': rows {shown} look the same in {where}{FIX}"]


def test_columns() -> None:
    values = constant({NFC: {"x": [0.5, 0.5]}, NFD: {"x": [0.5, 0.5]}})
    made = study(values, ["map", "P@5"])
    settings = Settings(names={"map": "a b", "P@5": "a  b"})
    assert [*shown_alike(build(made, settings, "main"), ["html"])] == [
        rf"table 'main': blocks of columns 'caf\xe9' and 'cafe\u0301' look the same in html{FIX}",
        rf"table 'main': columns 'a b \u2191' and 'a  b \u2191' look the same in html{FIX}",
    ]


def test_names_that_differ_are_not_warned_of() -> None:
    assert said("bm25", "BM25", "bm_25", "bm-25", "caf\u00e9", "cafe", dataset="trec ") == [
        f"table 'main': blocks of columns 'trec' and 'trec ' look the same in "
        f"latex, markdown, html, csv, text{FIX}"
    ]
    assert said("bm25", "BM25", "bm_25", "bm-25", "caf\u00e9", "cafe") == []


def test_another_name_ends_it() -> None:
    made = study(constant({"trec": {NFC: [0.5], NFD: [0.25]}}))
    heard: list[str] = []
    for names, n in (({}, 1), ({NFD: "coffee"}, 1)):
        render_all(made, {"main": (Settings(names=names), ("latex", "csv"))}, heard.append)
        assert len(heard) == n


def test_run_files_of_evaluate(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    for name in (NFC, NFD, "a b", "a  b"):
        (tmp_path / name).write_text("1 Q0 d 1 2.5 t\n")
    files = [str(tmp_path / name) for name in (NFC, NFD, "a b", "a  b")]
    with pytest.warns(HarnessWarning) as caught:
        evaluate_files(str(tmp_path / "qrels"), files, ["map"])
    pairs = (
        r"runs 'caf\xe9' and 'cafe\u0301' look the same",
        "runs 'a b' and 'a  b' look the same",
    )
    for one, pair in zip(caught, pairs, strict=True):
        assert str(one.message).startswith(pair)
