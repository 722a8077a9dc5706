"""``harness page --participant``: the page of one run, which names no other run."""

from pathlib import Path

import pytest
import yaml
from command_line import refused, succeeds
from packed_page import unpack


def evaluate(folder: Path, qrels: str, orders: dict[str, str], **config: object) -> None:
    """Run a config of runs that rank documents of one letter for queries 1 and 2."""
    (folder / "qrels").write_text(qrels)
    runs = {name: f"{name.replace('/', '-')}.run" for name in orders}
    for name, docnos in orders.items():
        rows = [f"{q} Q0 {d} {r} {9 - r} {name}\n" for q in "12" for r, d in enumerate(docnos)]
        (folder / runs[name]).write_text("".join(rows))
    content = {"datasets": {"set": "qrels"}, "runs": runs, "metrics": ["rr"], "output": "out"}
    (folder / "c.yaml").write_text(yaml.safe_dump(content | config))
    succeeds("run", "c.yaml", cwd=folder)


@pytest.mark.parametrize("compare", [None, {}, {"baseline": ["secret"]}])
def test_a_page_for_one_run(tmp_path: Path, compare: object) -> None:
    (tmp_path / "teams.csv").write_text("run,team\nsecret,Secretteam\nown<1>,Ours\n")
    evaluate(
        tmp_path, "1 0 a 1\n2 0 b 1\n2 0 d 1\n3 0 z 1\n",
        {"secret": "abc", "own<1>": "bac", "covert": "cba", "third": "cba"}, metrics=["rr", "arp"],
        compare=compare, names={"secret": "secret name"},
        page={"title": "Track", "metadata": {"path": "teams.csv"}},
    )  # fmt: skip
    succeeds("page", "out", "--participant", "own<1>", "-o", "sheet.html", cwd=tmp_path)
    text = (tmp_path / "sheet.html").read_text()
    page = unpack(text)
    for word in ("secret", "covert", "third", "Secretteam"):
        assert word not in repr(page)
        assert word not in text
    (own,) = page["participants"]
    names = [system["name"] for system in page["systems"]]
    assert names[own] == "own<1>"
    others = {f"system {place}" for place in range(1, 5)}
    assert {*names} - {"own<1>", "Median of all systems"} <= others
    (board,) = page["boards"]
    values = board["columns"][0]["value"].tolist()
    assert values == sorted(values, reverse=True)  # their order tells nothing else
    row, n = board["systems"].index(own), len(board["qids"])
    queries = board["columns"][0]["queries"][row * n : row * n + n]
    assert dict(zip(board["qids"], queries, strict=True)) == {"1": 0.5, "2": 1, "3": 0}
    assert board["findings"] == [[]] * 4
    assert page["title"] == "Track"
    against = {page["systems"][one]["name"] for one in board["tests"]["baseline"].astype(int)}
    assert len(against) == 1  # the config's baseline under another name, or else the median
    assert ("Median" in against.pop()) == (not compare)


def test_refused_participants(tmp_path: Path) -> None:
    evaluate(tmp_path, "1 0 a 1\n", {"own<1>": "a"})
    err = refused("page", "out", "--participant", "own", cwd=tmp_path)
    assert "use own<1>" in err
    assert "--teams" in err
    assert "--teams" not in refused(
        "page", "out", "--participant", "x", "--teams", "own", cwd=tmp_path
    )
    (tmp_path / "sheet.html").write_text("mine")
    refused("page", "out", "--participant", "own<1>", "-o", "sheet.html", cwd=tmp_path)


def test_pages_of_all_participants(tmp_path: Path) -> None:
    runs = {"x/1": "ab", "north-a": "ba", "north-b": "bc", "south": "cb"}
    evaluate(tmp_path, "1 0 a 1\n2 0 b 1\n", runs, compare={})
    succeeds("page", "out", "--participant", "all", cwd=tmp_path)
    folder = tmp_path / "out/participants"
    assert {path.name for path in folder.iterdir()} == {f"{n.replace('/', '_')}.html" for n in runs}
    succeeds("page", "out", "--participant", "south", "-o", "alone.html", cwd=tmp_path)
    assert (folder / "south.html").read_bytes() == (tmp_path / "alone.html").read_bytes()
    teams = "--teams", "^(north)"
    succeeds("page", "out", "--participant", "all", *teams, "-o", "sheets", cwd=tmp_path)
    assert len([*(tmp_path / "sheets").iterdir()]) == 3
    page = unpack((tmp_path / "sheets/north.html").read_text())
    names = [system["name"] for system in page["systems"]]
    assert sum(name.startswith("north-") for name in names) == 2
    assert "south" not in repr(page)
    assert {names[one] for one in page["participants"]} == {"north-a", "north-b"}
    tests = page["boards"][0]["tests"]
    assert len(tests["p"]) == 2  # both runs of the team against the median
    succeeds("page", "out", "--participant", "north", *teams, cwd=tmp_path)
    (tmp_path / "sheets/north.html").write_text("mine")
    refused("page", "out", "--participant", "all", *teams, "-o", "sheets", "--force", cwd=tmp_path)


def test_a_page_without_tests(tmp_path: Path) -> None:
    evaluate(tmp_path, "1 0 a 1\n2 0 b 1\n", {"median": "ab", "own": "ba"})
    succeeds("page", "out", "--participant", "own", "-o", "own.html", cwd=tmp_path)
    page = unpack((tmp_path / "own.html").read_text())  # a run is called as the median system
    assert not len(page["boards"][0]["tests"]["p"])
    assert [one["name"] for one in page["systems"]].count("own") == 1
