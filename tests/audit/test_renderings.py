"""What an audit looks like."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from harness.audit.conventions import audit
from harness.audit.conventions_report import as_csv, as_html, as_text

HEAD = """\
dataset  metric    largest single choice  largest range  other order  other best
toy      ndcg@2 ↑  gain=exp: -0.2152 """


def test_text(toy: Path) -> None:
    found = audit(toy, conventions=["lightgbm", "catboost", "sklearn"])
    text = as_text(found)
    assert text.startswith(HEAD)
    assert (
        "Not audited, as no convention compared has it or it is a mere count: rbo(p=0.9)." in text
    )
    assert (
        """
toy: ndcg@2 ↑
=============
The order of systems is another under 1 of 3 conventions (lightgbm).
The best is broad, but sharp under lightgbm.

convention  order         tau   broad    sharp
base                     1.00  0.7654*  0.7039
lightgbm    other best  -1.00  0.5502   0.7872*
catboost                 1.00  0.7654*  0.7039
sklearn                  1.00  0.7654*  0.7039

Range of each system
system  lowest"""
        in text
    )
    assert re.search(r"^gain +linear +exp +-0\.2152 +broad +-1\.00 +exp +exp", text, re.M)
    assert "  without effect here: " in text


def test_refusals_are_marked_and_explained(toy: Path) -> None:
    text = as_text(audit(toy, metrics=["map"], conventions=["xgboost", "ranx"]))
    assert re.search(r"^xgboost +refused +– +x +x$", text, re.M)
    assert "  x refused by xgboost: query 'q': a judgement of " in text


@pytest.mark.parametrize("width", [60, 100])
def test_text_keeps_to_the_width(root: Path, width: int) -> None:
    found = audit(root / "configs/sweep.yaml", metrics=["ndcg@10"])
    lines = as_text(found, width=width).splitlines()
    matrices = [line for line in lines if re.match(r"(convention|base|lightgbm) ", line)]
    assert max(map(len, matrices)) <= width
    assert len({line for line in matrices if line.startswith("convention")}) > 1  # went on below


def test_a_refused_base_is_said_and_nothing_is_compared_with_it(toy: Path) -> None:
    found = audit(toy, metrics=["map(convention=xgboost)@2"], conventions=["ranx", "lightgbm"])
    text = as_text(found)
    # grades of 0 to 3, where XGBoost's map takes 0 and 1
    assert re.search(
        r"The base is refused: query 'q': a judgement of 3, .*where whole grades 0 to 1 are"
        r"\s+accepted; nothing to compare with\.",
        text,
    )
    assert re.search(r" no base to start from +[\d.]+ +– +–$", text, re.M)
    assert "order of systems" not in text
    assert "one choice" not in text
    assert "without effect" not in text
    # documents above 0: a, b, c; broad has two of them in the first two, sharp a alone
    assert re.search(r"^base +refused +– +x +x$", text, re.M)
    assert re.search(r"^ranx +– +0.6667 +0.3333$", text, re.M)
    assert re.search(r"^broad +0.6667 +ranx +1.0000 +lightgbm +0.3333$", text, re.M)
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert {row["order_changed"] for row in rows} == {""}
    assert {row["value"] for row in rows if row["convention"] == "ranx"} != {""}
    page = as_html(found)
    assert "<p>The base is refused: query " in page
    assert "ithout effect" not in page


def test_bounds_are_said_not_to_be_audited(toy: Path) -> None:
    found = audit(toy, metrics=["ndcg@2"], overrides=["policy.ties=bounds"])
    said = "ties: bounds is not audited: the base is the metric itself"
    assert said in as_text(found)
    assert said in as_html(found)
    assert "bounds" not in as_text(audit(toy))


def test_csv_is_long_and_reads_back(toy: Path) -> None:
    found = audit(toy, metrics=["ndcg@2", "map"], conventions=["lightgbm", "xgboost"])
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert ",".join(rows[0]) == (
        "dataset,metric,system,convention,value,base,difference,order_changed,refused"
    )
    assert len(rows) == 2 * 3 * 2  # metrics x (base and two conventions) x systems
    keys = [(row["metric"], row["system"], row["convention"]) for row in rows]
    assert len(set(keys)) == len(rows)
    by_key = dict(zip(keys, rows, strict=True))
    one = by_key["ndcg@2", "sharp", "lightgbm"]
    value, base = found.matrices[0].rows[0].values[1], found.matrices[0].base.values[1]
    assert (float(one["value"]), float(one["base"])) == (value, base)
    assert float(one["difference"]) == value - base
    assert (one["order_changed"], one["refused"]) == ("true", "")
    other = by_key["map", "sharp", "xgboost"]
    assert (other["value"], other["difference"]) == ("", "")
    assert other["refused"].startswith("query 'q': a judgement of")
    assert float(other["base"]) > 0


def test_html_is_one_page_that_escapes_names(toy: Path) -> None:
    data = toy.parent.parent / "data"
    (data / "broad.run").rename(data / "<b>&amp.run")
    text = as_html(audit(toy, metrics=["ndcg@2", "map"]))
    assert text.startswith("<!DOCTYPE html>")
    assert "&lt;b&gt;&amp;amp" in text
    assert "<b>" not in text
    assert "<script" not in text
    assert not re.search(r"(src|href)=\"(?!#)", text)  # nothing from elsewhere
    assert 'title="query &#x27;q&#x27;: a judgement of ' in text


def test_html_colours_by_the_difference_to_the_base(toy: Path) -> None:
    text = as_html(audit(toy, metrics=["ndcg@2"], conventions=["lightgbm"]))
    # broad falls by 0.215, the largest difference: the full orange; sharp rises by 0.083, 39 %
    # of that: white less 39 % of (148, 81, 41)
    assert 'background: #fdae61">0.5502</td>' in text
    assert 'background: #c6e0ef"><strong>0.7872</strong></td>' in text
    assert 'background: #ffffff"><strong>0.7654</strong></td>' in text  # the base
