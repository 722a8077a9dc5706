"""The views of one system, of two systems and of queries: numbers, addresses, keys and phones."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from command_line import succeeds
from csv_rows import csv_rows as rows

Open = Callable[..., Any]

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """
output: results
datasets:
  trec: {{path: {runs}/trec/qrels.txt, groups: groups.csv}}
  letor: {{format: letor, path: {runs}/letor/fold1/test.txt}}
runs:
  "{{system}}": {{dataset: trec, path: "{runs}/trec/{{system}}.run"}}
  copy=1: {{dataset: trec, path: "{runs}/trec/bm25.run"}}
  "{{model}}":
    {{format: scores, dataset: letor, path: "{runs}/letor/{{model}}/fold1-seed1.txt"}}
guard: {{accept: [same-file-twice]}}
metrics: [ndcg@10, map, "swaps(normalize=true)", num_rel_ret, "ndcg(gain=exp)@5"]
compare: {{metrics: [ndcg@10, map]}}
page: {{rankings: 5, queries: titles.tsv, metadata: {{path: teams.csv}}}}
reports: [csv, page]
"""


def packed(text: str) -> str:
    """An address's part as browsers write it."""
    return text.replace("%", "%25").replace("=", "%3D").replace("@", "%40")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("views")
    groups = [f"{qid},{'70 or more' if qid % 3 else 'fewer'}" for qid in range(1, 31)]
    (folder / "groups.csv").write_text("\n".join(["qid,length", *groups]) + "\n")
    titles = [f"{qid}\t{'rain & <b>fog</b>' if qid == 10 else f'title {qid}'}" for qid in range(40)]
    (folder / "titles.tsv").write_text("\n".join(titles) + "\n")
    (folder / "teams.csv").write_text("run,team,link\nbm25,Lakes,https://example.org\n")
    (folder / "config.yaml").write_text(CONFIG.format(runs=ROOT / "runs"), encoding="utf-8")
    succeeds("run", "config.yaml", cwd=folder)
    return folder / "results"


@pytest.fixture(scope="module")
def per_query(results: Path) -> dict[tuple[str, str, str], dict[str, float]]:
    """Values by dataset, run and metric, and then by qid."""
    values: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in pq.read_table(results / "per_query.parquet").to_pylist():
        value = math.nan if row["value"] is None else row["value"]
        values.setdefault((row["dataset"], row["run"], row["metric"]), {})[row["qid"]] = value
    return values


def pair_tests(results: Path, dataset: str, a: str, b: str) -> dict[str, dict[str, float]]:
    """The tests of a against b by metric, whichever of them the file calls the baseline."""
    found = {}
    for row in rows(results / "significance.csv"):
        if row["dataset"] != dataset or {row["run"], row["baseline"]} != {a, b}:
            continue
        sign = 1 if row["run"] == a else -1
        low, high = sorted(sign * float(row[end]) for end in ("low", "high"))
        found[row["metric"]] = {
            "difference": sign * float(row["difference"]), "low": low, "high": high,
            "p": float(row["p"]), "adjusted": float(row["p_adjusted"]),
            "significant": row["significant"] == "true",
        }  # fmt: skip
    return found


def section(tab: Any, title: str) -> Any:
    return tab.locator("section", has=tab.locator("h2", has_text=title))


def cells(tab: Any, title: str, at: int = 0) -> list[list[str]]:
    """Texts of a table's cells, row by row."""
    table = section(tab, title).locator("table").nth(at)
    found: list[list[str]] = table.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )
    return found


def digits(tab: Any, title: str) -> list[list[float]]:
    """Every number of a section's tables with all of its digits, row by row."""
    found: list[list[str]] = (
        section(tab, title)
        .locator("tbody tr")
        .evaluate_all(
            "rows => rows.map(row => [...row.querySelectorAll('.v')].map(one => one.title))"
        )
    )
    return [[math.nan if text == "no value" else float(text) for text in row] for row in found]


def fixed(value: float, places: int, sign: bool = False) -> str:
    text = f"{value:{'+' if sign else ''}.{places}f}"
    return (text.lstrip("+-") if float(text) == 0 else text).replace("-", "−")


def labels(tab: Any, title: str) -> list[str]:
    found: list[str] = (
        section(tab, title)
        .locator("svg[role=img]")
        .evaluate_all("pictures => pictures.map(one => one.getAttribute('aria-label'))")
    )
    return found


def system_names(tab: Any) -> list[str]:
    board = "harnessReport.boards[0]"
    found: list[str] = tab.evaluate(f"{board}.systems.map(i => harnessReport.systems[i].name)")
    return found


def test_a_system_among_all_systems(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=system&d=trec&m=map&a=tfidf")
    assert tab.inner_text("h1") == "tfidf"
    board = {r["run"]: r for r in rows(results / "leaderboard.csv") if r["dataset"] == "trec"}
    metrics = tab.evaluate("harnessReport.metrics.map(one => one.name)")
    directions = tab.evaluate("harnessReport.metrics.map(one => one.direction)")
    assert [row[0] for row in digits(tab, "Every metric")] == [
        float(board["tfidf"][metric]) for metric in metrics
    ]
    standings = {
        row["metric"]: row for row in rows(results / "standings.csv")
        if (row["dataset"], row["run"]) == ("trec", "tfidf")
    }  # fmt: skip
    shown = cells(tab, "Every metric")
    for metric, direction, row in zip(metrics, directions, shown, strict=True):
        values = [float(other[metric]) * direction for other in board.values()]
        own = float(board["tfidf"][metric]) * direction
        assert row[3] == ("–" if not direction else str(1 + sum(one > own for one in values)))
        if metric in standings:
            ends = (fixed(float(standings[metric][end]), 3) for end in ("low", "high"))
            assert row[2] == " to ".join(ends)
    middle = np.median([float(row["map"]) for row in board.values()])
    assert f"median {middle:.4f}" in labels(tab, "Every metric")[metrics.index("map")]
    tab.click("section >> text=nDCG@10")
    assert "m=ndcg%4010" in tab.evaluate("location.hash")


def test_neighbours_in_rank_and_their_tests(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=system&d=trec&m=map&a=tfidf")
    board = {
        row["run"]: float(row["map"]) for row in rows(results / "leaderboard.csv")
        if row["dataset"] == "trec"
    }  # fmt: skip
    shown = cells(tab, "Neighbours")
    assert [row[1] for row in shown] == sorted(board, key=lambda run: (-board[run], run))
    pictures = labels(tab, "Neighbours")
    for row in shown:
        if row[1] == "tfidf":
            assert row[4] == "this system"
            continue
        test = pair_tests(results, "trec", row[1], "tfidf")["map"]
        numbers = [fixed(test[key], 4, True) for key in ("difference", "low", "high")]
        assert "difference {}, interval {} to {}".format(*numbers) == pictures.pop(0)
        words = "better" if test["difference"] > 0 else "worse"
        assert row[4] == (f"significantly {words}" if test["significant"] else "not significant")
    tab.click("section >> text=lsi")
    assert tab.inner_text("h1") == "lsi"
    tab.click("section tbody tr:has-text('tfidf') .verdict a")
    assert "v=pair" in tab.evaluate("location.hash")
    assert "a=lsi&b=tfidf" in tab.evaluate("location.hash")


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("metric", ["map", "swaps(normalize=true)"])
def test_strongest_and_weakest_queries(
    results: Path, per_query: Any, open_page: Open, metric: str
) -> None:
    """Lower is better for swaps."""
    tab = open_page(results / "page.html", f"#v=system&d=trec&m={packed(metric)}&a=tfidf")
    values = {
        run: own for (dataset, run, m), own in per_query.items() if (dataset, m) == ("trec", metric)
    }
    qids = [*values["tfidf"]]
    table = np.array([[values[run][qid] for qid in qids] for run in system_names(tab)])
    constant = ~(np.nanmax(table, axis=0) > np.nanmin(table, axis=0))
    differences = np.array([values["tfidf"][qid] for qid in qids]) - np.nanmedian(table, axis=0)
    sign = -1 if metric.startswith("swaps") else 1
    told = ~constant & ~np.isnan(differences)
    expected = sorted(differences[told] * sign)
    shown = digits(tab, "Strongest")
    above = [one for one in reversed(expected) if one > 0][:6]
    below = [one for one in expected if one < 0][:6]
    assert [sign * row[1] for row in shown] == pytest.approx([*above, *below])
    assert len(below) == 6 > len(above) > 0
    by_qid = dict(zip(qids, differences, strict=True))
    for row, (value, difference) in zip(
        cells(tab, "Strongest") + cells(tab, "Strongest", 1), shown, strict=True
    ):
        assert value == values["tfidf"][row[0]]
        assert difference == by_qid[row[0]]


def test_groups_files_and_commands_of_a_system(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=system&d=trec&m=map&a=bm25")
    board = {
        r["dataset"]: float(r["map"])
        for r in rows(results / "leaderboard.csv")
        if r["run"] == "bm25"
    }
    assert [row[0] for row in digits(tab, "by group")] == [
        board[f"trec{group}"] for group in ("", " [length=70 or more]", " [length=fewer]")
    ] or sorted(row[0] for row in digits(tab, "by group")) == sorted(board.values())
    text = section(tab, "Files and commands").inner_text()
    run = ROOT / "runs/trec/bm25.run"
    assert f"{run.stat().st_size:,} bytes" in text
    command = tab.inner_text(".command code")
    assert command.startswith("harness trace results --run bm25 --metric map")
    assert "0." in succeeds(*command.split()[1:], cwd=results.parent)
    assert tab.get_attribute("text=Report", "href") == "https://example.org"
    assert "team: Lakes" in tab.inner_text(".heading")


def test_addresses_of_systems_and_queries_that_do_not_exist(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=system&a=nobody")
    assert "no system called “nobody”" in tab.inner_text("main")
    tab.click("text=All systems")
    tab.wait_for_selector("table.board")
    tab = open_page(results / "page.html", "#v=queries&d=trec&q=nothing")
    assert "has no query nothing" in tab.inner_text("main")
    tab = open_page(results / "page.html", "#v=pair&d=trec&a=nobody&b=bm25")
    assert "no system called “nobody”" in tab.inner_text("main")
    assert tab.locator(".pair select").nth(1).input_value() == "bm25"


@pytest.mark.parametrize(("a", "b"), [("tfidf", "bm25"), ("bm25", "lsi")])
def test_two_systems(results: Path, per_query: Any, open_page: Open, a: str, b: str) -> None:
    tab = open_page(results / "page.html", f"#v=pair&d=trec&m=map&a={a}&b={b}")
    board = {r["run"]: r for r in rows(results / "leaderboard.csv") if r["dataset"] == "trec"}
    metrics = tab.evaluate("harnessReport.metrics.map(one => one.name)")
    directions = tab.evaluate("harnessReport.metrics.map(one => one.direction)")
    tested = pair_tests(results, "trec", a, b)
    numbers = digits(tab, "Every metric")
    for at, (metric, direction) in enumerate(zip(metrics, directions, strict=True)):
        row = cells(tab, "Every metric")[at]
        one, two = (per_query["trec", run, metric] for run in (a, b))
        both = [one[qid] - two[qid] for qid in one if not math.isnan(one[qid] - two[qid])]
        differences = (direction or 1) * np.array(both)
        won, lost = int((differences > 0).sum()), int((differences < 0).sum())
        assert row[8] == f"{won} / {len(differences) - won - lost} / {lost}"
        first, second = float(board[a][metric]), float(board[b][metric])
        assert numbers[at][:2] == [first, second]
        own = section(tab, "Every metric").locator("tbody tr").nth(at)
        if direction:  # better for the first system is on the right
            dot = own.locator(".dot").locator("[cx], [x]").last
            place = float((dot.get_attribute("cx") or dot.get_attribute("x") or "").rstrip("%"))
            assert np.sign(round(place - 50, 2)) == np.sign(direction * numbers[at][2])
        if test := tested.get(metric):
            assert numbers[at][2] == test["difference"]
            assert row[5] == f"{fixed(test['low'], 3, True)} to {fixed(test['high'], 3, True)}"
            title = own.locator("[title^=corrected]").get_attribute("title")
            found = [float(text.split()[1]) for text in title.split(", ")]
            assert found == [test["adjusted"], test["p"]]
            assert row[7] == ("yes" if test["significant"] else "no")
        else:
            assert numbers[at][2] == first - second
            assert row[5:7] == ["–", "–"]
            assert row[7] == ("not tested" if direction else "–")
    sentence = tab.inner_text(".lede")
    test = tested["map"]
    assert fixed(abs(test["difference"]), 3) in sentence
    assert ("not significant" in sentence) != test["significant"]


def test_every_query_of_two_systems(results: Path, per_query: Any, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=pair&d=trec&m=map&a=tfidf&b=bm25")
    one, two = (per_query["trec", run, "map"] for run in ("tfidf", "bm25"))
    differences = {qid: one[qid] - two[qid] for qid in one}
    left, right = (cells(tab, "Every query", at) for at in (0, 1))
    shown = digits(tab, "Every query")
    assert [differences[row[0]] for row in left + right] == [row[0] for row in shown]
    ordered = [row[0] for row in shown]
    gains, losses = ordered[: len(left)], ordered[len(left) :]
    largest_first = sorted(differences.values())
    assert gains == [value for value in reversed(largest_first) if value > 0]
    assert losses == [value for value in largest_first if value < 0][: len(losses)]
    assert len(losses) == 15  # the rest follow a click
    ties = sum(not value for value in differences.values())
    assert f"{ties} queries with equal values are not listed" in tab.inner_text("main")
    picture = tab.locator(".bars svg")
    picture.focus()
    picture.press("End")
    tip = tab.inner_text(".tip")
    least = min(differences, key=lambda qid: differences[qid])
    assert f"difference {fixed(differences[least], 4, True)}" in tip
    assert f"tfidf {one[least]:.4f}" in tip
    picture.press("Enter")
    tab.wait_for_selector(".rankings")
    assert f"q={least}" in tab.evaluate("location.hash")
    assert tab.locator(".rankings select").evaluate_all("all => all.map(one => one.value)") == [
        "tfidf", "bm25",
    ]  # fmt: skip


def test_a_system_that_wins_no_query(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=pair&d=trec&m=map&a=random&b=bm25")
    assert all(value < 0 for value, *_ in digits(tab, "Every query"))
    assert "random is better on no query" in tab.inner_text("main")


def test_identical_systems_and_groups_of_two(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=pair&d=trec&m=map&a=bm25&b=copy%3D1")
    assert tab.inner_text(".lede") == "bm25 and copy=1 have the same MAP on all 30 queries."
    assert tab.locator(".bars svg").count() == 0
    tab = open_page(results / "page.html", "#v=pair&d=trec&m=map&a=bm25&b=lsi")
    for row, values in zip(cells(tab, "by group"), digits(tab, "by group"), strict=True):
        label = row[0].rpartition(" (")[0].removeprefix("length: ")
        dataset = "trec" if label == "all queries" else f"trec [length={label}]"
        assert values[2] == pair_tests(results, dataset, "bm25", "lsi")["map"]["difference"]
    tab.click("button[title*=Swap]")
    assert "a=lsi&b=bm25" in tab.evaluate("location.hash")


def orders(
    results: Path, per_query: Any, names: list[str], metric: str, sign: int
) -> dict[str, list[str]]:
    """Qids by median and by qid; constant queries last."""
    values = {run: per_query["trec", run, metric] for run in names}
    qids = [*values[names[0]]]
    table = np.array([[values[run][qid] for qid in qids] for run in names])
    constant = ~(np.nanmax(table, axis=0) > np.nanmin(table, axis=0))
    median = np.nan_to_num(np.nanmedian(table, axis=0), nan=math.inf)
    plain = sorted(range(len(qids)), key=lambda at: int(qids[at]))
    by = {
        "hardest": lambda at: (constant[at], sign * median[at]),
        "easiest": lambda at: (constant[at], -sign * median[at]),
        "qid": lambda at: (constant[at], 0),
    }
    return {name: [qids[at] for at in sorted(plain, key=key)] for name, key in by.items()}


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize(("metric", "sign"), [("map", 1), ("swaps(normalize=true)", -1)])
def test_the_order_of_queries(
    results: Path, per_query: Any, open_page: Open, metric: str, sign: int
) -> None:
    tab = open_page(results / "page.html", f"#v=queries&d=trec&m={packed(metric)}")
    names = system_names(tab)
    for by, expected in orders(results, per_query, names, metric, sign).items():
        tab.locator("label", has_text="Order").locator("select").select_option(by)
        assert [row[0] for row in cells(tab, "30 queries")] == expected, by
    table = np.array([[per_query["trec", run, metric][qid] for qid in expected] for run in names])
    assert [row[0] for row in digits(tab, "30 queries")] == pytest.approx(
        [*np.nanmedian(table, axis=0)], nan_ok=True
    )
    constant = int((np.nanmax(table, axis=0) == np.nanmin(table, axis=0)).sum())
    note = section(tab, "30 queries").locator(".notes").inner_text()
    assert ("one value for all systems" in note) == (constant > 0)
    if constant > 1:
        assert f"{constant} queries have one value for all systems" in note
    judged = [line.split() for line in (ROOT / "runs/trec/qrels.txt").read_text().splitlines()]
    relevant = [sum(line[0] == qid and int(line[3]) > 0 for line in judged) for qid in expected]
    assert [int(row[2]) for row in cells(tab, "30 queries")] == relevant


def test_finding_queries(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=queries&d=trec&m=map")
    tab.keyboard.press("/")
    tab.keyboard.type("FOG rain")
    assert [row[:2] for row in cells(tab, "1 query")] == [["10", "rain & <b>fog</b>"]]
    tab.fill("input[type=search]", "zzz")
    assert "No query matches “zzz”" in tab.inner_text("main")
    tab.click("text=Show all 30 queries")
    assert len(cells(tab, "30 queries")) == 30


def test_the_heat_map(results: Path, per_query: Any, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=queries&d=trec&m=map")
    names = system_names(tab)
    means = {run: np.mean([*per_query["trec", run, "map"].values()]) for run in names}
    best = sorted(names, key=lambda run: -means[run])
    qids = orders(results, per_query, names, "map", 1)["hardest"]
    assert tab.locator(".heat .qid").all_inner_texts() == qids
    assert tab.locator(".heat a").all_inner_texts() == best
    heat = tab.locator("canvas")
    heat.focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowRight"):
        heat.press(key)
    value = per_query["trec", best[2], "map"][qids[1]]
    here = [per_query["trec", run, "map"][qids[1]] for run in names]
    tip = tab.inner_text(".tip")
    assert tip.startswith(f"{best[2]}\n{qids[1]} · ")
    assert f"MAP {value:.4f}, rank {1 + sum(one > value for one in here)} of {len(names)}" in tip
    assert f"median {np.median(here):.4f}" in tip
    box = heat.bounding_box()
    tab.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] - 3)
    assert tab.inner_text(".tip").startswith(f"{best[-1]}\n{qids[-1]} · ")
    pixels = heat.evaluate(
        """one => { const area = one.getContext("2d"), [width, height] = [one.width, one.height];
        return [width, height, [...area.getImageData(0, 0, width, height).data]]; }"""
    )
    assert pixels[:2] == [30, len(names)]
    data = np.array(pixels[2]).reshape(len(names), 30, 4)
    shade = data[:, :, :3].sum(axis=2)
    values = np.array([[per_query["trec", run, "map"][qid] for qid in qids] for run in best])
    assert (np.diff(shade.ravel()[np.argsort(values, axis=None)]) <= 0).all()
    heat.click(position={"x": 3, "y": 3})
    assert f"q={qids[0]}" in tab.evaluate("location.hash")
    assert tab.locator(".rankings select").first.input_value() == best[0]


def test_one_query(results: Path, per_query: Any, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=queries&d=trec&m=map&q=10&a=lsi&b=bm25")
    assert tab.inner_text("h1") == "rain & <b>fog</b>"
    assert tab.inner_text(".crumb") == "All queries · ← 9 · 11 →"
    here = {
        run: own["10"] for (data, run, m), own in per_query.items() if (data, m) == ("trec", "map")
    }
    tab.click("summary")
    values = tab.locator(".fold .v").evaluate_all("all => all.map(one => Number(one.title))")
    assert values == sorted(here.values(), reverse=True)
    names = tab.locator(".fold tbody th").all_inner_texts()
    assert [here[name] for name in names] == values
    sentence = tab.inner_text(".lede")
    assert sentence.startswith(f"lsi reaches {here['lsi']:.3f} in MAP and bm25 {here['bm25']:.3f}")
    assert f"the median system reaches {np.median([*here.values()]):.3f}" in sentence
    judged = [line.split() for line in (ROOT / "runs/trec/qrels.txt").read_text().splitlines()]
    grades = sorted((int(line[3]) for line in judged if line[0] == "10"), reverse=True)
    text = tab.inner_text(".heading")
    for grade in {*grades}:
        assert f"{grades.count(grade)} of grade {grade}" in text
    ideal = tab.locator(".rankings .ideal tbody td:nth-child(3)").all_inner_texts()
    assert [*map(int, ideal)] == grades[:5]
    grade_of = {line[2]: line[3] for line in judged if line[0] == "10"}
    for at, run in enumerate(("lsi", "bm25")):
        scores = [line.split() for line in (ROOT / f"runs/trec/{run}.run").read_text().splitlines()]
        own = [(line[2], float(line[4])) for line in scores if line[0] == "10"]
        table = tab.locator(".rankings table").nth(at)
        docnos = table.locator("tbody code").all_inner_texts()
        shown = table.locator("tbody td:nth-child(4) span").evaluate_all(
            "all => all.map(one => Number(one.title))"
        )
        assert shown == sorted((score for _, score in own), reverse=True)[:5]
        assert {*zip(docnos, shown, strict=True)} <= {*own}
        assert table.locator(".grade").all_inner_texts() == [grade_of.get(d, "?") for d in docnos]
    first, second = (
        {*tab.locator(".rankings table").nth(at).locator("code").all_inner_texts()} for at in (0, 1)
    )
    assert tab.locator("svg.links path").count() == len(first & second)
    link = tab.evaluate("location.hash")
    again = open_page(results / "page.html", link)
    again.click("summary")
    assert again.inner_text("main") == tab.inner_text("main")
    tab.click("text=11 →")
    assert tab.inner_text("h1") == "title 11"
    tab.click("text=All queries")
    tab.wait_for_selector("canvas")


def test_dots_choose_a_ranking(results: Path, per_query: Any, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=queries&d=trec&m=map&q=10&a=lsi&b=bm25")
    here = {
        run: own["10"] for (data, run, m), own in per_query.items() if (data, m) == ("trec", "map")
    }
    dots = tab.locator("svg.dots")
    assert dots.locator("circle, rect").count() == len(here)
    dots.focus()
    dots.press("End")
    assert f"MAP {max(here.values()):.4f}, rank 1 of {len(here)} here" in tab.inner_text(".tip")
    name = tab.inner_text(".tip b")
    dots.press("Enter")
    assert tab.locator(".rankings select").first.input_value() == name


def test_gains_add_up_to_the_value(results: Path, per_query: Any, open_page: Open) -> None:
    metric = "ndcg(gain=exp)@5"
    tab = open_page(results / "page.html", f"#v=queries&d=letor&m={packed(metric)}&a=gbrt&q=46")
    totals = []
    for at in (0, 2):
        table = tab.locator(".rankings table").nth(at)
        texts = table.locator("tbody td:last-child").all_inner_texts()
        total = float(table.locator("tfoot .v").get_attribute("title"))
        assert sum(float(text) for text in texts if text != "–") == pytest.approx(total, abs=3e-3)
        totals.append(total)
    assert totals[0] / totals[1] == pytest.approx(per_query["letor", "gbrt", metric]["46"])


@pytest.mark.parametrize("view", ["system&a=bm25", "pair", "queries", "queries&q=10"])
def test_views_fit_a_phone(results: Path, open_page: Open, view: str) -> None:
    phone = {"width": 390, "height": 844}
    tab = open_page(results / "page.html", f"#v={view}&d=trec", viewport=phone, has_touch=True)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    for part in tab.locator("main section, main .controls").all():
        box = part.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    inside = tab.locator("main td:visible, main th:visible").evaluate_all(
        """cells => cells.filter(one => one.scrollWidth > one.clientWidth + 1
        && getComputedStyle(one).overflow === 'visible').map(one => one.outerHTML)"""
    )
    assert inside == []


def test_a_system_prints_on_one_page(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=system&d=trec&m=map&a=bm25")
    paper = tab.pdf(prefer_css_page_size=True)
    assert paper.count(b"/Type /Page\n") == 1


def test_systems_are_compared_with_the_median(tmp_path: Path, open_page: Open) -> None:
    letor = ROOT / "runs/letor"
    (tmp_path / "c.yaml").write_text(f"""
output: results
datasets: {{letor: {{format: letor, path: {letor}/fold1/test.txt}}}}
runs: {{"{{model}}": {{format: scores, path: "{letor}/{{model}}/fold1-seed1.txt"}}}}
metrics: [ndcg@10, map]
compare: {{baseline: median}}
reports: [csv, page]
""")
    succeeds("run", "c.yaml", cwd=tmp_path)
    tests = {
        (row["run"], row["metric"]): row for row in rows(tmp_path / "results/significance.csv")
    }
    test = tests["gbrt", "map"]
    tab = open_page(tmp_path / "results/page.html", "#v=system&m=map&a=gbrt")
    assert "the median of all systems on each query" in tab.inner_text(".lede")
    tab.get_by_label("Compare with").select_option("Median of all systems")
    tab.wait_for_selector(".compare")
    at = tab.evaluate("harnessReport.metrics.findIndex(one => one.name === 'map')")
    row, numbers = cells(tab, "Every metric")[at], digits(tab, "Every metric")[at]
    assert numbers == [float(test[k]) for k in ("run_value", "baseline_value", "difference")]
    assert row[8] == f"{test['wins']} / {test['ties']} / {test['losses']}"
    assert row[7] == ("yes" if test["significant"] == "true" else "no")
    assert len(cells(tab, "Every query")) > 10
    tab.get_by_title("Swap the two systems").click()
    assert digits(tab, "Every metric")[at][2] == -float(test["difference"])
    assert tab.inner_text(".lede").startswith("gbrt is ahead by")
    tab = open_page(tmp_path / "results/page.html", "#m=map")
    assert "not significantly different from Median of all systems" in tab.inner_text(".keys")
