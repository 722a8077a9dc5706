"""The report page: every view, every number, and what a reader does with it."""

import base64
import json
import math
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from command_line import called, succeeds
from csv_rows import csv_rows as rows
from packed_page import unpack

from harness.experiment.results import read_results
from harness.reports.page import DATA, EMBEDDED, pack

Open = Callable[..., Any]

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """
name: example
output: results
datasets:
  trec: {{path: {runs}/trec/qrels.txt}}
  letor: {{format: letor, path: {runs}/letor/fold1/test.txt}}
runs:
  "{{system}}": {{dataset: trec, path: "{runs}/trec/{{system}}.run"}}
  "{{model}}":
    {{format: scores, dataset: letor, path: "{runs}/letor/{{model}}/fold1-seed1.txt"}}
metrics: [ndcg@10, map, "swaps(normalize=true)", num_rel_ret, "ndcg(gain=exp)@5"]
compare: {{metrics: [ndcg@10, map]}}
page: {{rankings: 5}}
reports: [page]
"""


def made(folder: Path, config: str) -> Path:
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    assert "page.html" in succeeds("run", "config.yaml", cwd=folder)
    return folder / "results"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("page"), CONFIG.format(runs=ROOT / "runs"))


def board(tab: Any) -> list[tuple[str, list[str]]]:
    """Leaderboard shown: names, and values with every digit, the chosen metric first."""
    script = """rows => rows.map(row => [row.querySelector('th a').textContent,
      [...row.querySelectorAll('td.value')].map(one => one.title.split('\\n')[0])])"""
    rows = "table.board tbody tr:not([hidden])"
    found: list[tuple[str, list[str]]] = tab.eval_on_selector_all(rows, script)
    return found


def test_the_quickstart_shows_all_six_views(tmp_path: Path, open_page: Open) -> None:
    config, output = ROOT / "configs/quickstart.yaml", tmp_path / "results"
    done = called("run", str(config), "--set", f"output={output}", cwd=tmp_path)
    assert "results/page.html" in done.out
    tab = open_page(output / "page.html", "#d=trec")
    views = {
        "Leaderboard": "table.board td.value", "Compare": "h2:text('Every metric')",
        "Queries": "canvas", "About": ".command code",
    }  # fmt: skip
    for view, what in views.items():
        tab.click(f"nav >> text={view}")
        tab.wait_for_selector(what)
    for view in [*views][:3]:
        tab.click(f"nav >> text={view}")
        slices = tab.locator("label", has_text="Queries").locator("select")
        slices.select_option(label="length: short (16)")
        tab.wait_for_selector(views[view])
        slices.select_option(label="all queries (30)")
    tab.click("nav >> text=Leaderboard")
    tab.locator("label", has_text="Queries").locator("select").select_option("trec [length=long]")
    assert {name: float(values[0]) for name, values in board(tab)} == {
        row["run"]: float(row["map"]) for row in rows(output / "leaderboard.csv")
        if row["dataset"] == "trec [length=long]"
    }  # fmt: skip


def test_the_commands_run_and_findings_link_to_their_rule(tmp_path: Path) -> None:
    qrels, run = (f"{{path: {ROOT}/runs/trec/{name}}}" for name in ("qrels.txt", "lsi.run"))
    runs = ", ".join(run.replace("{", f"{{dataset: {name}, ") for name in "ab")
    text = f"output: results\ndatasets: {{a: {qrels}, b: {qrels}}}\nruns: {{lsi: [{runs}]}}\n"
    results = made(tmp_path, text + "metrics: [map]\nreports: [page]\n")
    provenance = unpack((results / "page.html").read_text())["provenance"]
    assert {one["link"].rpartition("/")[2] for one in provenance["findings"]} == {
        "#missing-queries"
    }
    for _, command in provenance["commands"]:
        assert called(*shlex.split(command)[1:], cwd=tmp_path).code == 0, command


def assert_same(shown: float, text: str) -> None:
    """A CSV file has nothing where a number is undefined."""
    assert shown == float(text) if text else math.isnan(shown)


def assert_every_number_is_in_the_files(tab: Any, results: Path) -> None:
    """Read every value and test out of the browser, and compare them with the files."""
    report = tab.evaluate("""async () => {
      const plain = node => node instanceof Float64Array ? [...node]
        : Array.isArray(node) ? node.map(plain)
        : node && typeof node === 'object'
        ? Object.fromEntries(Object.entries(node).map(([key, value]) => [key, plain(value)]))
        : node;
      const boards = harnessReport.boards.map(async one =>
        ({...one, tests: await (harnessParts[one.tests] ?? one.tests)}));
      return plain({...harnessReport, boards: await Promise.all(boards)});
    }""")
    names = [metric["name"] for metric in report["metrics"]]
    systems = [system["name"] for system in report["systems"]]
    board = {(row["dataset"], row["run"]): row for row in rows(results / "leaderboard.csv")}
    table = pq.read_table(results / "per_query.parquet").to_pylist()
    values = {(r["dataset"], r["run"], r["metric"], r["qid"]): r["value"] for r in table}
    standings = {(r["dataset"], r["run"], r["metric"]): r for r in rows(results / "standings.csv")}
    tests = {
        (r["dataset"], r["metric"], r["run"], r["baseline"]): r
        for r in rows(results / "significance.csv")
    }
    shown: dict[tuple[str, str, str, str], float] = {}
    for one in report["boards"]:
        dataset, n = one["dataset"], len(one["qids"])
        for metric, column in zip(names, one["columns"], strict=True):
            for row, system in enumerate(one["systems"]):
                run = systems[system]
                assert column["value"][row] == float(board[dataset, run][metric])
                if standing := standings.get((dataset, run, metric)):
                    for key in ("low", "high", "rank", "rank_low", "rank_high"):
                        own = {"rank_low": "rankLow", "rank_high": "rankHigh"}.get(key, key)
                        assert_same(column[own][row], standing[key])
                own = column["queries"][row * n : row * n + n]
                shown |= {
                    (dataset, run, metric, q): v for q, v in zip(one["qids"], own, strict=True)
                }
        columns = one["tests"]
        for at in range(len(columns["run"])):
            metric, run, baseline = (int(columns[key][at]) for key in ("metric", "run", "baseline"))
            expected = tests.pop((dataset, names[metric], systems[run], systems[baseline]))
            for key in ("difference", "low", "high", "p", "adjusted"):
                true = expected["p_adjusted" if key == "adjusted" else key]
                assert_same(columns[key][at], true)
            assert columns["significant"][at] == (expected["significant"] == "true")
    assert not tests
    assert shown.keys() == values.keys()
    assert [k for k, v in shown.items() if v != values[k] and not math.isnan(v)] == []
    assert {k for k, v in shown.items() if math.isnan(v)} == {
        k for k, v in values.items() if v is None or math.isnan(v)
    }


def test_every_number_is_in_the_files(results: Path, open_page: Open) -> None:
    assert_every_number_is_in_the_files(open_page(results / "page.html"), results)


def test_sort_filter_and_back(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html")
    first = board(tab)
    values = [float(found[0]) for _, found in first]
    assert values == sorted(values, reverse=True)
    tab.click("thead >> text=MAP")
    by_map = [float(found[0]) for _, found in board(tab)]
    assert by_map == sorted(by_map, reverse=True)
    assert tab.get_attribute("thead th:has-text('MAP')", "aria-sort") == "descending"
    tab.click("thead >> text=MAP")
    assert [float(found[0]) for _, found in board(tab)] == sorted(by_map)
    tab.click("thead >> text=System")
    assert [name for name, _ in board(tab)] == sorted(name for name, _ in first)
    tab.fill("input[type=search]", "BM")
    assert [name for name, _ in board(tab)] == ["bm25"]
    tab.fill("input[type=search]", "zzz")
    assert "No system matches “zzz”." in tab.inner_text("main")
    tab.click("text=Show all 4 systems")
    assert len(board(tab)) == 4
    for _ in range(3):
        tab.go_back()
    tab.wait_for_selector("thead th[aria-sort]:has-text('MAP')")
    assert len(board(tab)) == len(first)


def test_rows_with_warnings_are_marked(tmp_path: Path, open_page: Open) -> None:
    run = ROOT / "runs/trec/bm25.run"
    shutil.copy(run, tmp_path / "copy.run")
    config = f"""
output: results
datasets: {{trec: {{path: {ROOT}/runs/trec/qrels.txt}}}}
runs: {{bm25: {{path: {run}}}, copy: {{path: copy.run}}, lsi: {{path: {ROOT}/runs/trec/lsi.run}}}}
metrics: [map]
reports: [page]
"""
    tab = open_page(made(tmp_path, config) / "page.html")
    marks = tab.locator("tbody tr:has(abbr)")
    assert {"bm25", "copy"} <= {*marks.locator("th a").all_inner_texts()}
    title = str(marks.first.locator("abbr").get_attribute("title"))
    tab.click("nav >> text=About")
    rows = tab.locator("tr.finding", has_text="same-file-twice").all_inner_texts()
    assert [name in rows[0] for name in ("bm25", "copy")] == [True, True]
    assert any(title in row for row in rows)


def test_about(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#v=about")
    text = tab.inner_text("main")
    assert "harness verify" in text
    assert "Methods" in text
    tab.click("summary:has-text('Input files')")
    assert "qrels.txt" in tab.inner_text("main")
    tab.click("summary:has-text('Metrics')")
    names = tab.locator("details:has-text('In the config') td code").all_inner_texts()
    assert names[:2] == ["ndcg@10", "map"]
    assert re.search(r"(?m)^/", tab.inner_text("main")) is None
    with tab.expect_download() as download:
        tab.click("a[download='leaderboard.csv']")
    assert Path(download.value.path()).read_bytes() == (results / "leaderboard.csv").read_bytes()


def test_ranks_do_not_depend_on_the_order(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", "#d=trec&s=system")
    shown = tab.eval_on_selector_all(
        "table.board tbody tr",
        """rows => rows.map(row => [row.querySelector('th bdi').title,
          Number(row.querySelector('.rank').innerText), row.querySelector('.range').innerText])""",
    )
    standings = rows(results / "standings.csv")
    expected = [
        (one["run"], int(one["rank"]), "–".join(dict.fromkeys([one["rank_low"], one["rank_high"]])))
        for one in standings if (one["dataset"], one["metric"]) == ("trec", "ndcg@10")
    ]  # fmt: skip
    assert [tuple(one) for one in shown] == sorted(expected)


def test_print_has_every_dataset(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", color_scheme="dark")
    tab.evaluate("""() => addEventListener('beforeprint', () => {
        window.printed = [...document.querySelectorAll('main h2')].map(one => one.innerText) })""")
    assert tab.pdf().startswith(b"%PDF")
    assert tab.evaluate("window.printed") == ["trec", "letor", "Methods"]
    assert tab.locator("main h2").count() == 0
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


OTHER = """
output: results
names: {{letor: MQ2007, gbrt: Gradient boosting}}
datasets: {{letor: {{format: letor, path: {runs}/letor/fold1/test.txt}}}}
runs: {{"{{model}}": {{format: scores, path: "{runs}/letor/{{model}}/fold1-seed1.txt"}}}}
metrics: [map]
page: {{rankings: 5, metadata: {{path: teams.csv, key: run}}}}
tables: {{main: {{}}}}
reports: [page]
"""


def test_names_metadata_and_files_next_to_the_page(
    tmp_path: Path, open_page: Open, chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EMBEDDED, "rankings", 0)
    (tmp_path / "teams.csv").write_text(
        "run,team,link\ngbrt,Lakes,https://example.org\nneural,Hills,javascript:alert(1)\n"
    )
    results = made(tmp_path, OTHER.format(runs=ROOT / "runs"))
    tab = open_page(results / "page.html")
    assert tab.text_content("caption") == "Leaderboard of MQ2007 by MAP"
    tab.locator("label", has_text="team").locator("select").select_option("Lakes")
    assert [name for name, _ in board(tab)] == ["Gradient boosting"]
    tab.go_back()
    tab.wait_for_selector("tbody tr >> nth=4")
    tab = open_page(results / "page.html", "#v=queries&q=46&a=Gradient+boosting")
    tab.wait_for_selector(".rankings")
    assert (results / "page_data" / "rankings-0.js").is_file()
    assert tab.locator(".rankings table").first.locator("tbody tr").count() == 5
    tab = open_page(results / "page.html", "#v=about")
    with tab.expect_download() as download:
        tab.click("text=tables/main.tex")
    tex = Path(download.value.path()).read_text()
    assert tex.split("\n", 1)[1] == (results / "tables" / "main.tex").read_text().split("\n", 1)[1]
    assert (results / str(tab.get_attribute("text=per_query.parquet", "href"))).is_file()
    (results / "page_data" / "rankings-0.js").unlink()
    tab = chromium.new_page()
    tab.goto(f"{(results / 'page.html').as_uri()}#v=queries&q=46")
    tab.wait_for_selector("p:has-text('need the file page_data/rankings-0.js')")
    tab.close()


def test_rankings_of_a_large_page_go_next_to_it(
    results: Path, tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = (results / "page.html").stat().st_size
    monkeypatch.setattr("harness.reports.page.LARGEST", size - 1)
    succeeds("page", str(results), "-o", str(tmp_path / "small.html"), cwd=tmp_path)
    assert (tmp_path / "small.html").stat().st_size < size
    names = sorted(path.name for path in (tmp_path / "small_data").iterdir())
    assert names == ["rankings-0.js", "rankings-1.js"]
    tab = open_page(tmp_path / "small.html", "#v=queries&d=trec&q=10")
    tab.wait_for_selector(".rankings tbody tr")


@pytest.mark.parametrize("where", ["value", "queries", "text", "style"])
def test_verify_checks_the_page(results: Path, tmp_path: Path, where: str) -> None:
    copy = shutil.copytree(results, tmp_path / "copy")
    page = (copy / "page.html").read_text()
    report = unpack(page)
    board = report["boards"][1]
    n, row, query = len(board["qids"]), 3, 5
    at = query + n * row if where == "queries" else row
    assert (board["dataset"], report["metrics"][1]["name"]) == ("letor", "map")
    if where == "style":
        page = page.replace("<style>", "<style>/**/")
    else:
        start = page.index(DATA) + len(DATA)
        if where == "text":
            report["title"] = "Hochberg"
        else:
            board["columns"][1][where][at] = 0.125
        end = page.index("<", start)
        page = page[:start] + base64.b64encode(pack(report)).decode() + page[end:]
    (copy / "page.html").write_text(page)
    done = called("verify", str(copy), cwd=tmp_path)
    assert done.code == 1
    (line,) = (one for one in done.out.splitlines() if "page.html" in one and "line " in one)
    assert len(line) < 300


def test_without_scripts(results: Path, open_page: Open) -> None:
    tab = open_page(results / "page.html", java_script_enabled=False)
    names = {row["run"] for row in rows(results / "leaderboard.csv") if row["dataset"] == "trec"}
    text = tab.inner_text("main")
    assert all(name in text for name in names)
    assert tab.locator("table").count() == 1


def test_the_page_stays_within_its_width(results: Path, open_page: Open) -> None:
    for width in (1440, 1024, 390):
        for view in VIEWS:
            tab = open_page(
                results / "page.html", f"#v={view}", viewport={"width": width, "height": 900}
            )
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, (width, view)


VIEWS = ("leaderboard", "system&a=bm25", "pair", "queries", "queries&q=10", "about")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(results: Path, open_page: Open, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for view in VIEWS:
        tab = open_page(results / "page.html", f"#v={view}", color_scheme=scheme, bypass_csp=True)
        response = axe.run(tab).response
        found = [
            (one["id"], node["html"]) for one in response["violations"] for node in one["nodes"]
        ]
        found += [
            (one["id"], node["html"])
            for one in response["incomplete"]
            for node in one["nodes"]
            if one["id"] == "color-contrast"
        ]
        assert [(view, rule, html[:200]) for rule, html in found] == []


CONTRASTS = """() => {
  const numbers = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const over = (back, [r, g, b, alpha = 1], opacity) =>
    back.map((old, i) => old + ([r, g, b][i] - old) * alpha * opacity);
  const opacity = one => {
    let all = 1;
    for (let node = one; node; node = node.parentElement) all *= getComputedStyle(node).opacity;
    return all;
  };
  const light = rgb => rgb.map(one => one / 255)
    .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, i) => sum + [0.2126, 0.7152, 0.0722][i] * one, 0);
  const ratio = (one, two) => {
    const [dark, bright] = [light(one), light(two)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const behind = (text, x, y) => document.elementsFromPoint(x, y)
    .filter(one => one !== text && one.localName !== 'text').reverse()
    .reduce((back, one) => {
      const style = getComputedStyle(one);
      const opaque = opacity(one);
      if (!(one instanceof SVGGeometryElement))
        return over(back, numbers(style.backgroundColor), opaque);
      const point = new DOMPoint(x, y).matrixTransform(one.getScreenCTM().inverse());
      return over(back, numbers(one.isPointInFill(point) ? style.fill : style.stroke), opaque);
    }, [255, 255, 255]);
  const shown = [...document.querySelectorAll('svg text')].filter(one => one.checkVisibility());
  return shown.map(text => {
    text.scrollIntoView({block: 'center'});
    const box = text.getBoundingClientRect();
    const style = getComputedStyle(text);
    const size = parseFloat(style.fontSize);
    const places = [0.02, 0.25, 0.5, 0.75, 0.98]
      .map(part => [box.left + part * box.width, box.top + box.height / 2])
      .filter(([x, y]) => x >= 0 && x < innerWidth && y >= 0 && y < innerHeight);
    const least = Math.min(...places.map(([x, y]) => {
      const back = behind(text, x, y);
      return ratio(over(back, numbers(style.fill), opacity(text) * style.fillOpacity), back);
    }));
    const isLarge = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    return {text: text.textContent, contrast: least, enough: isLarge ? 3 : 4.5};
  });
}"""


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_in_pictures_have_contrast(
    many: Path, open_page: Open, scheme: str, width: int
) -> None:
    views = ("", "x=milliseconds", "a=s3", "f=s1", "v=system&a=s3", "v=pair", "v=queries",
             "v=queries&q=3", "v=about")  # fmt: skip
    words = []
    for view in views:
        size = {"width": width, "height": 900}
        tab = open_page(
            many / "page.html", f"#{view}", color_scheme=scheme, viewport=size, bypass_csp=True
        )
        here = tab.evaluate(CONTRASTS)
        assert [one for one in here if not one["contrast"] >= one["enough"]] == [], view
        words += [one["text"] for one in here]
    assert {"rank 1", "milliseconds →"} <= {*words}
    tab.add_style_tag(content="svg text { fill: var(--edge) !important }")
    tab.evaluate("location.hash = ''")
    tab.wait_for_selector("svg.everyone")
    assert [one for one in tab.evaluate(CONTRASTS) if one["contrast"] >= 4.5] == []


def test_the_same_bytes(results: Path, tmp_path: Path) -> None:
    succeeds("page", str(results), "-o", str(tmp_path / "again.html"), cwd=tmp_path)
    assert (tmp_path / "again.html").read_bytes() == (results / "page.html").read_bytes()


HOSTILE = ['<script>document.title="x"</script>', "\"quoted' & more", "‮right to left", "n" * 200]


def test_names_are_text(tmp_path: Path, open_page: Open) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nr 0 b 1\n")
    names = []
    for i, name in enumerate(HOSTILE):
        (tmp_path / f"{i}.run").write_text(f"q Q0 a 1 {i + 1}.0 t\nr Q0 c 1 2.0 t\n")
        names.append(f"  {json.dumps(name)}: {{path: {i}.run}}")
    config = "output: results\ndatasets: {d: {path: qrels.txt}}\nruns:\n" + "\n".join(names)
    results = made(tmp_path, config + "\nmetrics: [map]\ncompare: {}\nreports: [page]\n")
    tab = open_page(results / "page.html")
    assert tab.title() == "config"
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1440
    assert {name for name, _ in board(tab)} == set(HOSTILE)


def test_names_of_the_config_are_shown_and_commands_keep_their_own(
    tmp_path: Path, open_page: Open
) -> None:
    names = "names: {bm25: Okapi BM25, trec: TREC 8}\n"
    results = made(tmp_path, CONFIG.format(runs=ROOT / "runs") + names)
    tab = open_page(results / "page.html")
    assert "Okapi BM25" in {name for name, _ in board(tab)}
    report = tab.evaluate("() => harnessReport")
    assert {one["name"]: one.get("run") for one in report["systems"]}["Okapi BM25"] == "bm25"
    assert (report["boards"][0]["dataset"], report["boards"][0]["key"]) == ("TREC 8", "trec")
    tab = open_page(results / "page.html", "#v=system&a=Okapi+BM25")
    command = shlex.split(tab.inner_text(".command code"))
    assert [command[command.index(f"--{name}") + 1] for name in ("run", "dataset")] == [
        "bm25", "trec",
    ]  # fmt: skip


FOLDS = """
output: results
datasets: {{"fold{{fold}}": {{format: letor, path: "{runs}/letor/fold{{fold}}/test.txt"}}}}
runs: {{"{{model}}": {{format: scores, path: "{runs}/letor/{{model}}/fold{{fold}}-seed1.txt"}}}}
metrics: [ndcg@3, map]
page: {{rankings: 3, conventions: [letor, lightgbm, xgboost]}}
reports: [page]
"""


def test_scores_of_rankings_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("2 0 a 1\n2 0 b 0\n")
    (tmp_path / "d.run").write_text("2 Q0 a 2 0.25 t\n2 Q0 b 3 1.5 t\n2 Q0 c 1 0 t\n")
    text = "datasets: {web: q.txt}\nruns: {d: {path: d.run, order: ascending}}\nmetrics: [map]\n"
    results = made(tmp_path, f"{text}output: results\nreports: [page]\npage: {{rankings: 3}}\n")
    (board,) = unpack((results / "page.html").read_text())["boards"]
    assert [document["score"] for document in board["rankings"]["0/2"]] == [0, 0.25, 1.5]


def test_folds_and_conventions(tmp_path: Path, open_page: Open) -> None:
    text = FOLDS.format(runs=ROOT / "runs")
    alone = unpack((made(tmp_path, text) / "page.html").read_text())
    assert alone["columns"] == []  # a run is in every fold
    (tmp_path / "pooled").mkdir()
    results = made(tmp_path / "pooled", text + "summary: {pool: [fold]}\n")
    page = unpack((results / "page.html").read_text())
    (one,) = page["boards"]
    assert len(one["rankings"]) == (len(one["systems"]) + 1) * len(one["qids"])
    other = page["conventions"][0]["values"][0][0]
    places = [(-values).argsort().argsort() for values in (one["columns"][0]["value"], other)]
    moved = sorted(-abs(places[0] - places[1]))
    tab = open_page(results / "page.html", "#c=letor")
    arrows = tab.locator(".rank small").all_inner_texts()
    assert sorted(-int(arrow.strip()[1:]) for arrow in arrows) == [n for n in moved if n] != []
    assert not np.isnan(page["conventions"][2]["values"][0][0]).any()  # whose MAP refuses grade 2
    tab = open_page(results / "page.html", "#c=lightgbm")  # its MAP has several cutoffs
    assert tab.locator("thead .number").count() == 2  # rank, nDCG@3
    for convention in page["conventions"]:
        for at, metric in enumerate(page["metrics"]):
            tab = open_page(results / "page.html", f"#m={metric['name']}&c={convention['name']}")
            values = convention["values"][0][at]
            there = not np.isnan(values).all()
            assert (tab.locator(".notice").count() == 0) == there
            heading = tab.locator("thead th[aria-sort] button").inner_text()
            name = convention["labels"][at]
            assert (heading == f"{name} ({convention['tool']})") == there == bool(name)

    ndcg, ap = (metric["label"] for metric in page["metrics"])
    tab = open_page(results / "page.html", "#m=map&c=lightgbm")
    assert f" has no {ap}. The page shows {ndcg}." in tab.inner_text(".notice")
    for address, words in {
        "#c=nonsense": "no values as nonsense computes them. The page shows the values of this",
        "#m=nonsense": f"This page has no metric nonsense. The page shows {ndcg}.",
    }.items():
        tab = open_page(results / "page.html", address)
        assert words in tab.inner_text(".notice")
    for view in ("pair", "queries"):
        tabs = [open_page(results / "page.html", f"#v={view}&m=map{c}") for c in ("", "&c=letor")]
        assert tabs[0].inner_text("main") == tabs[1].inner_text("main")
    assert called("page", "results", "--rankings", "9", cwd=results.parent).code == 0
    verified = called("verify", "results", cwd=results.parent)
    assert (verified.code, "page.html was not compared" in verified.out) == (0, True), verified


def test_slices(tmp_path: Path, open_page: Open) -> None:
    groups = [f"{qid},{'long' if qid % 3 else 'short'}" for qid in range(1, 31)]
    (tmp_path / "queries.csv").write_text("\n".join(["qid,length", *groups]) + "\n")
    text = CONFIG.format(runs=ROOT / "runs")
    text = text.replace("qrels.txt}", "qrels.txt, groups: queries.csv}")
    results = made(tmp_path, text + "names: {trec: TREC 8}\n")
    page = unpack((results / "page.html").read_text())
    assert [one["dataset"] for one in page["boards"]] == [
        "TREC 8", "TREC 8 [length=long]", "TREC 8 [length=short]", "letor",
    ]  # fmt: skip
    tab = open_page(results / "page.html", "#d=TREC+8")
    assert tab.locator("label", has_text="Dataset").locator("option").all_text_contents() == [
        "TREC 8", "letor",
    ]  # fmt: skip
    queries = tab.locator("label", has_text="Queries").locator("select")
    assert queries.locator("option").all_text_contents() == [
        "all queries (30)", "length: long (20)", "length: short (10)",
    ]  # fmt: skip
    queries.select_option(label="length: short (10)")
    expected = {
        row["run"]: float(row["map"]) for row in rows(results / "leaderboard.csv")
        if row["dataset"] == "trec [length=short]"
    }  # fmt: skip
    shown = board(tab)
    assert {name: float(values[1]) for name, values in shown} == pytest.approx(expected)
    tested = next(
        row for row in rows(results / "significance.csv") if row["dataset"] == "trec [length=short]"
    )
    pair = f"#v=pair&d=TREC+8+%5Blength%3Dshort%5D&a={tested['run']}&b={tested['baseline']}"
    tab = open_page(results / "page.html", pair)
    assert f"{float(tested['difference']):+.4f}".replace("-", "−") in (
        tab.locator("table").first.inner_text()
    )
    tab = open_page(results / "page.html", "#v=queries&d=TREC+8+%5Blength%3Dshort%5D&q=3")
    assert "DOC-" in tab.locator("main").inner_text()


def test_many_queries_open_quickly(tmp_path: Path, open_page: Open) -> None:
    import time

    from harness.reports.page import html_files
    from harness.reports.sentences import Queries

    rng, (systems, queries, metrics) = np.random.default_rng(0), (50, 6980, 10)
    none = np.full(systems, math.nan)
    grid = np.round(rng.random((systems, queries)), 3)
    column = {
        "value": grid.mean(1), "low": none, "high": none, "rank": none, "rankLow": none,
        "rankHigh": none, "tier": [""] * systems, "n": none, "queries": grid, "note": "",
        "family": 0, "baselines": [], "pairs": "", **Queries.of(grid)._asdict(),
        "lede": [], "systemLedes": [[]] * systems, "queryLede": [],
    }  # fmt: skip
    report = {
        "title": "large", "description": "", "organiser": "", "date": "", "link": "",
        "deciding": 0, "level": 95, "columns": [],
        "rankingDepth": 0, "conventions": [],
        "metrics": [
            {"name": f"m{i}", "label": f"m{i}", "direction": 1, "digits": 4, "explanation": "",
             "low": 0, "high": 1} for i in range(metrics)
        ],
        "systems": [{"name": f"s{i}"} for i in range(systems)],
        "boards": [{
            "dataset": "d", "group": "", "groupLabel": "all queries", "whole": "d",
            "files": [[]] * systems, "findings": [[]] * systems,
            "qids": [str(i) for i in range(queries)],
            "systems": list(range(systems)),
            "columns": [column] * metrics, "notes": [],
            "tests": {"run": np.array([])}, "rankings": {},
        }],
        "provenance": {
            "facts": [], "inputs": [], "findings": [], "methods": "", "config": "",
            "commands": [], "downloads": [], "results": "",
        },
    }  # fmt: skip
    (tmp_path / "page.html").write_bytes(html_files(report, "page.html")["page.html"])
    began = time.monotonic()
    tab = open_page(tmp_path / "page.html", "#v=queries")
    tab.wait_for_selector("canvas")
    assert time.monotonic() - began < 20  # 2 s on an idle machine


def test_a_notebook_shows_the_page_in_a_frame(results: Path, tmp_path: Path, chromium: Any) -> None:
    frame = read_results(results)._repr_html_()
    assert "color" not in frame[: frame.index("srcdoc")]
    (tmp_path / "cell.html").write_text(f"<!doctype html><meta charset=utf-8>{frame}", "utf-8")
    tab = chromium.new_page()
    messages: list[str] = []
    tab.on("pageerror", lambda error: messages.append(str(error)))
    tab.goto((tmp_path / "cell.html").as_uri())
    inside = tab.frame_locator("iframe")
    inside.locator("table.board tbody tr").first.wait_for()
    assert inside.locator("table.board tbody tr").count() == 4
    assert inside.locator("html[data-theme=light]").count() == 1
    tab.evaluate("document.body.style.background = '#111'")
    inside.locator("html[data-theme=dark]").wait_for()
    inside.get_by_role("link", name="Compare").click()
    inside.get_by_role("button", name="Swap").wait_for()
    tab.close()
    assert messages == []


def seconds_to_open_and_filter(chromium: Any, page: Path) -> tuple[float, float]:
    """CPU time that a tab takes to draw a page, and to show all systems again."""
    tab = chromium.new_page(viewport={"width": 1440, "height": 900})
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds() -> float:
        tab.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))

    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-ready]")
    opened = seconds()
    tab.fill("input[type=search]", "uog")
    filtered = seconds()
    tab.fill("input[type=search]", "")
    cleared = seconds()
    tab.close()
    return opened, cleared - filtered


@pytest.mark.parametrize("compared", ["[ndcg@10, map]", "[]"], ids=["two metrics", "all metrics"])
def test_the_page_of_143_real_runs(
    tmp_path: Path, open_page: Open, chromium: Any, shared: Path, compared: str
) -> None:
    data = shared / "data/trec_covid_round1"
    config = f"""
output: results
datasets: {{covid: {data}/qrels-rnd1.txt}}
runs: {{"{{run}}": "{data}/runs/{{run}}.gz"}}
metrics: [ndcg@10, map, P@5, bpref, recall@1000, recip_rank, ndcg, "rbp(p=0.5)", P@10, Rprec]
compare: {{metrics: {compared}}}
reports: [page]
"""
    results = made(tmp_path, config)
    assert (results / "page.html").stat().st_size < 2.5e6
    times = [seconds_to_open_and_filter(chromium, results / "page.html") for _ in range(3)]
    opened, cleared = map(min, zip(*times, strict=True))
    assert opened < 1
    assert cleared < 0.2  # 0.08 s next to other work
    tab = open_page(results / "page.html")
    metrics = tab.evaluate("harnessReport.metrics.map(one => one.name)")
    tab.evaluate("names => location.hash = 'ms=' + encodeURIComponent(names.join('|'))", metrics)
    tab.wait_for_function(
        "document.querySelector('tbody tr').querySelectorAll('.value').length === 10"
    )
    shown = board(tab)
    expected = {
        row["run"]: [float(row[metric]) for metric in metrics]
        for row in rows(results / "leaderboard.csv")
    }
    assert {name: [*map(float, values)] for name, values in shown} == expected
    assert len(shown) == 143
    tab.click("nav >> text=Compare")
    tab.wait_for_selector("th:text-is('Corrected p')")
    parts = len([*(results / "page_data").glob("tests-*.js")])
    tab.wait_for_function("n => Object.keys(harnessParts).length >= n", arg=parts)
    assert_every_number_is_in_the_files(tab, results)


MANY = """
output: results
datasets: {{web: qrels.txt}}
runs: {{"{{run}}": "runs/{{run}}.run"}}
metrics: [P@1, mrr]
compare: {{metrics: [P@1]}}
page: {{title: Web search, description: Thirty systems., link: "https://example.org/",
  metadata: {{path: costs.csv}}}}
reports: [page]
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty systems, the first of which put the relevant document on top more often."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "runs").mkdir()
    qids = [str(3 * i) for i in range(1, 41)]
    (folder / "qrels.txt").write_text("".join(f"{qid} 0 a{qid} 1\n" for qid in qids))
    costs = ["run,team,milliseconds,parameters"]
    for i in range(30):
        lines = [
            f"{qid} Q0 a{qid} 1 {2 if at * 31 % 40 >= i + 5 else 0} t\n{qid} Q0 b 1 1 t\n"
            for at, qid in enumerate(qids)
        ]
        (folder / f"runs/s{i}.run").write_text("".join(lines))
        costs.append(f"s{i},{'Lakes' if i % 2 else 'Hills'},{1000 - 30 * (i % 5)},{9 + i}M")
    (folder / "costs.csv").write_text("\n".join(costs) + "\n")
    return made(folder, MANY.format())


def test_the_picture_of_all_systems_and_of_cost(many: Path, open_page: Open) -> None:
    tab = open_page(many / "page.html")
    assert tab.inner_text("h1") == "Web search"
    assert tab.inner_text(".facts a") == "example.org"
    picture = tab.locator("svg.everyone")
    picture.focus()
    picture.press("ArrowRight")
    assert tab.inner_text(".tip").startswith("s0\nP@1 0.8750, rank 1\n")
    picture.press("End")
    assert tab.inner_text(".tip b >> nth=0") == "s29"
    picture.press("Enter")
    assert "v=system" in tab.evaluate("location.hash")
    assert "a=s29" in tab.evaluate("location.hash")
    tab.go_back()
    pictures = tab.locator("label", has_text="Picture").locator("select")
    assert pictures.locator("option").all_text_contents() == [
        "all systems", "against milliseconds", "against parameters",
    ]  # fmt: skip
    pictures.select_option("milliseconds")
    tab.wait_for_selector("svg.against")
    shown = dict(board(tab))
    cost = {row["run"]: float(row["milliseconds"]) for row in rows(many.parent / "costs.csv")}
    values = {name: float(value[0]) for name, value in shown.items()}
    frontier = [
        a for a in values
        if not any(cost[b] <= cost[a] and values[b] >= values[a] and a != b for b in values)
    ]  # fmt: skip
    assert f"than the {len(frontier)} on the line" in tab.inner_text(".overview header")
    assert tab.locator("svg.against circle").count() == 30


def test_edges_refer_to_the_leader_or_the_picked_row(many: Path, open_page: Open) -> None:
    tests = {
        frozenset((row["run"], row["baseline"])): row["significant"] == "true"
        for row in rows(many / "significance.csv")
    }
    values = {row["run"]: float(row["P@1"]) for row in rows(many / "leaderboard.csv")}
    tab = open_page(many / "page.html")

    def expected(of: str) -> dict[str, str]:
        return {
            name: "same" if name == of or not tests[frozenset((name, of))]
            else "over" if values[name] > values[of] else "under"
            for name in values
        }  # fmt: skip

    script = """rows => rows.map(row => [row.querySelector('th a').textContent,
      row.className.split(' ')[0]])"""
    edges = dict(tab.eval_on_selector_all("table.board tbody tr", script))
    assert edges == expected("s0")
    assert {*edges.values()} == {"same", "under"}
    tab.check("tr:has(bdi[title=s20]) input")
    edges = dict(tab.eval_on_selector_all("table.board tbody tr", script))
    assert edges == expected("s20")
    assert {*edges.values()} == {"same", "over"}
    over = sum(kind == "over" for kind in edges.values())
    assert f"{over} significantly better" in tab.inner_text(".overview .end")


def test_columns_sort_as_numbers_and_filters_keep_ranks(many: Path, open_page: Open) -> None:
    tab = open_page(many / "page.html")
    tab.click("thead >> text=parameters")
    shown = tab.locator("table.board tbody tr td:last-child").all_inner_texts()
    assert shown == [f"{9 + i}M" for i in range(30)]
    tab.locator("label", has_text="team").locator("select").select_option("Lakes")
    assert "15 of 30 systems" in tab.inner_text(".controls .end")
    assert [name for name, _ in board(tab)] == [f"s{i}" for i in range(1, 30, 2)]
    ranks = tab.locator("table.board tbody .rank:visible").all_inner_texts()
    standings = {
        row["run"]: row["rank"] for row in rows(many / "standings.csv") if row["metric"] == "P@1"
    }
    assert ranks == [standings[f"s{i}"] for i in range(1, 30, 2)]


def test_keys(many: Path, open_page: Open) -> None:
    tab = open_page(many / "page.html")
    keys = tab.keyboard
    keys.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the results"
    for key in "jjkjx":
        keys.press(key)
    assert tab.locator("tr.picked th").all_inner_texts() == ["s1"]
    for key in "jx":
        keys.press(key)
    assert tab.inner_text(".tray") == "s1\ns2\nCompare\nClear"
    keys.press("c")
    tab.wait_for_selector("nav a[aria-current]:has-text('Compare')")
    assert "a=s1&b=s2" in tab.evaluate("location.hash")
    keys.press("m")
    assert "m=recip_rank" in tab.evaluate("location.hash")
    keys.press("1")
    tab.wait_for_selector("table.board")
    keys.press("Escape")
    assert tab.locator(".tray").count() == 0
    keys.press("/")
    keys.type("s27")
    assert [name for name, _ in board(tab)] == ["s27"]
    keys.press("Escape")
    keys.press("j")
    keys.press("Enter")
    tab.wait_for_selector("h1:has-text('s27')")
    for at, view in enumerate(["Leaderboard", "Compare", "Queries", "About"], 1):
        keys.press(str(at))
        tab.wait_for_selector(f"nav a[aria-current]:has-text('{view}')")
    keys.press("?")
    assert tab.locator("dialog[open] kbd").count() > 9


def test_the_theme_button_keeps_the_choice(many: Path, open_page: Open) -> None:
    tab = open_page(many / "page.html", color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = tab.evaluate(background)
    tab.click("button[aria-label='Light or dark']")
    assert tab.evaluate(background) != dark
    tab.reload()
    tab.wait_for_selector("html[data-theme=light]")


def test_a_phone_shows_one_metric_and_one_line_of_controls(many: Path, open_page: Open) -> None:
    tab = open_page(many / "page.html", viewport={"width": 390, "height": 844}, has_touch=True)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    heads = tab.locator("table.board thead th:visible").all_inner_texts()
    assert [text.split(" ")[0] for text in heads[1:4]] == ["Rank", "System", "P@1"]
    assert len(heads) == 5
    boxes = [one.bounding_box() for one in tab.locator(".controls > :visible").all()]
    assert len({box["y"] for box in boxes}) == 1
    assert all(box["height"] >= 36 for box in boxes)


def test_a_desktop_shows_27_rows(many: Path, open_page: Open) -> None:
    tab = open_page(many / "page.html")
    tab.evaluate("document.querySelector('table.board').scrollIntoView()")
    tab.evaluate("scrollBy(0, -40)")
    heights = tab.eval_on_selector_all(
        "table.board tbody tr", "rows => rows.map(row => row.getBoundingClientRect().height)"
    )
    assert {*heights} == {30}


def test_sorting_and_filtering_are_quick(many: Path, open_page: Open) -> None:
    tab = open_page(many / "page.html")
    script = """async what => { const start = performance.now(); what === 'sort'
      ? document.querySelectorAll('thead button')[0].click()
      : (box => { box.value = 's1'; box.dispatchEvent(new Event('input', {bubbles: true})); })(
          document.querySelector('input[type=search]'));
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
      return performance.now() - start }"""
    assert tab.evaluate(script, "sort") < 1000
    assert tab.evaluate(script, "filter") < 1000


def test_one_system_and_a_page_over_time(many: Path, tmp_path: Path, open_page: Open) -> None:
    config = f"""
output: results
datasets: {{web: {many.parent}/qrels.txt}}
runs: {{s3: {{path: {many.parent}/runs/s3.run}}}}
metrics: [P@1]
reports: [page]
"""
    alone = made(tmp_path, config)
    tab = open_page(alone / "page.html")
    assert tab.locator("nav a").all_inner_texts() == ["Leaderboard", "Queries", "About"]
    tab.press(".bars svg", "End")
    assert re.fullmatch(r"query \d+\nP@1 0\.0000", tab.inner_text(".tip"))
    tab.press(".bars svg", "Home")
    assert tab.inner_text(".tip").endswith("P@1 1.0000")
    assert tab.locator("input").count() == 0
    done = called("page", str(alone), str(many), "-o", "both.html", cwd=tmp_path)
    assert done.code == 0, done.err
    tab = open_page(tmp_path / "both.html", "#v=changes")
    shown = tab.locator("tbody tr:has(bdi:text-is('s3')) .v").all_inner_texts()
    assert shown == ["0.8000", "0.8000", "0.0000"]
    assert tab.locator("tbody tr:has(bdi:text-is('s4')) .v").first.inner_text() == "–"


def test_a_participant_sees_its_system(many: Path, tmp_path: Path, open_page: Open) -> None:
    output = str(tmp_path / "sheet.html")
    succeeds("page", str(many), "--participant", "s7", "-o", output, cwd=tmp_path)
    tab = open_page(tmp_path / "sheet.html")
    assert tab.inner_text("h1") == "s7"
    names = {one["name"] for one in unpack((tmp_path / "sheet.html").read_text())["systems"]}
    assert {name for name in names if not name.startswith("system ")} == {
        *("s7", "Median of all systems")
    }


def test_a_team_sees_its_runs_and_what_was_tested(
    many: Path, tmp_path: Path, open_page: Open
) -> None:
    words = "--participant", "team", "--teams", "teams.csv", "-o", "team.html"
    (tmp_path / "teams.csv").write_text("run,team\ns7,team\ns3,team\n")
    assert called("page", str(many), *words, cwd=tmp_path).code == 0
    tab = open_page(tmp_path / "team.html")
    runs = tab.locator("section", has_text="Runs of your team")
    assert {*runs.locator("tbody th").all_inner_texts()} == {"s3", "s7"}
    runs.locator("tbody a", has_text="s3").click()
    assert tab.inner_text("h1") == "s3"
    tests = tab.locator("section:has(h2:text-is('Tests')) tbody th")
    assert tests.count() == 2  # the run and the median system
    assert "not tested" not in tab.inner_text("main")


def test_long_names_addresses_and_warnings_of_a_kind(
    many: Path, tmp_path: Path, open_page: Open
) -> None:
    runs = [f"system-{i}" for i in range(4)]
    (tmp_path / "runs.csv").write_text(
        "run,team,paper\n"
        + "".join(f"{run},T{i % 2},https://example.org/{i}\n" for i, run in enumerate(runs))
    )
    for run in runs:
        text = (many.parent / "runs/s3.run").read_text()
        (tmp_path / f"{run}.run").write_text(text)
    config = f"""
output: results
datasets: {{web: {many.parent}/qrels.txt}}
runs: {{"{{run}}": "{{run}}.run"}}
metrics: ["ndcg(gain=exp)@1000", P@1]
page: {{metadata: {{path: runs.csv}}}}
reports: [page]
"""
    page = made(tmp_path, config) / "page.html"
    tab = open_page(page)
    labels = tab.locator(".controls .field > span").all_inner_texts()
    assert labels == ["Metric", "team"]
    tab.click("tbody th a:has(bdi:text-is('system-2'))")
    paper = tab.locator(".heading a")
    assert (paper.inner_text(), paper.get_attribute("href")) == ("paper", "https://example.org/2")
    tab.click("nav >> text=About")
    findings = tab.locator("tr.finding", has_text="same-file-twice")
    assert findings.count() == 1
    assert findings.locator("td:last-child a").all_inner_texts() == runs
    tab = open_page(page, viewport={"width": 390, "height": 844}, has_touch=True)
    name = tab.locator("table.board tbody th a").first
    tab.click("summary:text-is('More')")
    label = tab.locator(".menu .field > span", has_text="team").bounding_box()
    assert label["height"] > 10
    cut = name.evaluate("link => link.closest('th').scrollWidth > link.closest('th').clientWidth")
    assert not cut
