"""Two folders of results, with one value that was changed by hand."""

import json
import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from made_boards import OLD, folder
from refusals import refuses
from scipy import stats

from harness.audit.leaderboard_diff import Changes, changes
from harness.audit.leaderboard_diff_report import render
from harness.errors import UnknownNameError
from harness.stats.comparison import Plan


def cells(found: Changes, metric: str = "recip_rank") -> dict[str, str]:
    return {cell.key.run: cell.status for cell in found.cells if cell.metric == metric}


def test_the_cells_that_moved(old: Path, new: Path) -> None:
    found = changes(old, new)
    assert cells(found) == {"base": "same", "good": "worse", "poor": "better"}
    assert cells(found, "num_ret") == {"base": "same", "good": "same", "poor": "same"}
    good = next(cell for cell in found.cells if cell.status == "worse")
    # good: 1 1 .5 .5 1 1 is 5 of 6; q5 falls from 1 to .5
    assert good.old == pytest.approx(5 / 6)
    assert good.difference == pytest.approx(-0.5 / 6)
    assert good.tolerance == 0
    assert found.has_regression
    assert found.has_change
    assert (found.only_old, found.only_new, found.metrics_only_new) == ((), (), ())


def test_the_queries_that_did_it(old: Path, new: Path) -> None:
    (worse, better) = (changes(old, new).having(status)[0] for status in ("worse", "better"))
    assert (worse.queries.n, worse.queries.moved) == (6, 1)
    (move,) = worse.queries.moves
    assert tuple(move.values()) == ("q5", 1.0, 0.5, -0.5)
    assert [(one["qid"], one["difference"]) for one in better.queries.moves] == [("q1", 0.25)]
    # one query of six moved: t is 1 whatever its size, and Holm doubles the smaller p of two
    p = 2 * stats.t.sf(1, 5)
    for cell in (worse, better):
        assert cell.tested.p == pytest.approx(p, rel=1e-12)
        assert cell.tested.p_adjusted == pytest.approx(2 * p, rel=1e-12)
    low, high = worse.tested.low, worse.tested.high
    assert low < -0.5 / 6 < high


def test_the_tolerance(old: Path, new: Path) -> None:
    # good moved by -.0833, poor by .0417
    assert cells(changes(old, new, tolerance=0.05)) == {
        "base": "same", "good": "worse", "poor": "queries",
    }  # fmt: skip
    text = render(changes(old, new, tolerance=0.05))
    words = " ".join(text.split())
    assert "; 1 with other query values and 4 the same; 2 inputs changed: " in words
    assert not changes(old, new, tolerance=0.084).has_regression
    # 5/6 - .75 as floats is .08333333333333337
    assert changes(old, new, tolerance=0.0833).has_regression


def test_where_they_come_from(old: Path, tmp_path: Path) -> None:
    ranks = {name: dict(row) for name, row in OLD.items()}
    ranks["good"]["q5"] = 2
    other = folder(tmp_path, ranks, "recip_rank, num_ret, P@5", "policy: {empty_queries: skip}\n")
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["versions"]["numpy"] = "0.1"
    (other / "manifest.json").write_text(json.dumps(manifest))
    found = {(one.of, one.what.rpartition("/")[2]): one for one in changes(old, other).origins}
    inputs = [what for kind, what in found if kind == "input"]
    assert inputs == ["good.run"]
    assert found["input", "good.run"].old.startswith("sha256 ")
    assert found["input", "good.run"].old != found["input", "good.run"].new
    assert found["policy", "empty_queries"].old == "zero"
    assert found["policy", "empty_queries"].new == "skip"
    assert found["config", "metrics"].new == "recip_rank, num_ret, P@5"
    assert found["version", "numpy"].new == "0.1"
    assert {kind for kind, _ in found} <= {"input", "config", "policy", "version", "git"}


def test_reproduction(old: Path, new: Path) -> None:
    found = changes(old, new, plan=Plan(("base",)))
    rows = {(one.key.run, one.metric): one for one in found.reproduced}
    good = rows["good", "recip_rank"]
    # one of six differs by .5: sqrt(.25 / 6); originals 1 1 .5 .5 1 1, each .5 or 1 from a bound
    assert good.rmse == pytest.approx(math.sqrt(0.25 / 6))
    assert good.nrmse == pytest.approx(math.sqrt((0.25 / 6) / ((4 + 0.5) / 6)))
    # base: 1 .5 .5 .25 1 .5 is 3.75 of 6; 5 - 3.75 = 1.25 before, .75 now
    assert good.baseline == "base"
    assert good.effect_ratio == pytest.approx(0.75 / 1.25)
    assert good.delta_ri == pytest.approx(1.25 / 3.75 - 0.75 / 3.75)
    base = rows["base", "recip_rank"]
    assert (base.rmse, base.p_paired, base.p_welch, base.baseline) == (0, 1, 1, "")
    assert math.isnan(base.effect_ratio)
    sums = rows["good", "num_ret"]
    assert sums.note == "no effect: it is a sum over the queries, not a mean"
    assert changes(old, new, reproduction=True).reproduced[0].baseline == ""
    assert changes(old, new).reproduced == ()


@pytest.mark.filterwarnings("ignore:.*same-file-twice:harness.errors.HarnessWarning")
def test_difference_and_interval_are_over_the_shared_queries(tmp_path: Path) -> None:
    # 2 and 10 are shared: both fall. The new queries are easier, so the mean over all rises
    queries = {"1": 4, "2": 1, "10": 1, "9": 4, "30": 3}
    old = {"run": queries, "other": queries}
    falls = {"2": 2, "30": 4, "10": 1, "7": 1, "11": 1}
    new = {"run": falls, "other": dict.fromkeys(falls, 2)}
    boards = [folder(tmp_path / side, ranks) for side, ranks in (("a", old), ("b", new))]
    found = changes(*boards)
    tables = [
        pq.read_table(board / "per_query.parquet").to_pandas().pivot_table(
            "value", ["run", "metric"], "qid"
        )
        for board in boards
    ]  # fmt: skip
    for cell in found.cells:
        rows = [table.loc[cell.key.run, cell.metric].dropna() for table in tables]
        both = sorted(set(rows[0].index) & set(rows[1].index))
        assert both == ["10", "2", "30"]
        how = "sum" if cell.metric == "num_ret" else "mean"
        before, after = (float(row[both].agg(how)) for row in rows)
        assert (cell.old, cell.new) == pytest.approx((before, after))
        assert (cell.old_all, cell.new_all) == pytest.approx([row.agg(how) for row in rows])
        if cell.metric == "recip_rank":
            interval = stats.ttest_rel(rows[1][both], rows[0][both]).confidence_interval()
            assert (cell.tested.low, cell.tested.high) == pytest.approx(tuple(interval))
            assert cell.tested.difference == pytest.approx(cell.difference)
    run = next(cell for cell in found.cells if str(cell.key) == "run on dev")
    assert run.difference < 0 < run.new_all - run.old_all
    assert run.status == "worse"
    assert found.has_regression
    text = render(found)
    assert "old (all)  new (all)" in text
    assert "Ranks and the columns old (all) and new (all) are over all queries of each." in text
    lines = [json.loads(line) for line in render(found, "jsonl").splitlines()]
    row = next(one for one in lines if one["kind"] == "cell" and one["run"] == "run")
    assert (row["old_all"], row["new_all"]) == (run.old_all, run.new_all)


def test_settings_of_tables_are_refused_for_leaderboards(old: Path, new: Path) -> None:
    for one in (new, new / "leaderboard.csv"):
        with refuses("", error=UnknownNameError):
            changes(old / "leaderboard.csv", one, keys=["run"])
    with refuses("--lower", error=UnknownNameError, suggests="recip_rank"):
        changes(old / "leaderboard.csv", new, lower=["recip_rnk"])
