"""``harness page --participant``: own value, best, median and worst of each query."""

import re
from pathlib import Path

import yaml
from command_line import called, refused, succeeds


def test_a_sheet_for_one_run(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 b 1\n2 0 d 1\n3 0 z 1\n")
    orders = {"secret": "abc", "own<1>": "bac", "third": "cba"}
    runs = {}
    for at, (name, docnos) in enumerate(orders.items()):
        rows = [f"{q} Q0 {d} {r} {9 - r} t{at}\n" for q in "12" for r, d in enumerate(docnos)]
        (tmp_path / f"{at}.run").write_text("".join(rows))
        runs[name] = {"path": f"{at}.run"}
    content = {"datasets": {"set": {"path": "qrels"}}, "runs": runs, "metrics": ["rr", "arp"],
               "output": "out"}  # fmt: skip
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(content))
    assert called("run", "c.yaml", cwd=tmp_path).code == 0
    succeeds("page", "out", "--participant", "own<1>", "-o", "sheet.html", cwd=tmp_path)
    page = (tmp_path / "sheet.html").read_text()
    assert "secret" not in page
    assert "own&lt;1&gt;" in page
    cells = [
        re.sub(r"<(?!/?strong)[^>]*>", " ", row).split() for row in re.findall("<tr>.*</tr>", page)
    ]
    # rr of query 1: 1, 1/2, 1/3; of query 2: 1/2, 1, 1/2
    assert ["1", "0.5000", "1.0000", "0.5000", "0.3333"] in cells
    assert ["2", "<strong>1.0000</strong>", "1.0000", "0.5000", "0.5000"] in cells
    assert ["3", *["0.0000"] * 4] in cells
    assert ["all", "queries", "<strong>0.5000</strong>", "0.5000", "0.5000", "0.2778"] in cells
    assert "3 runs; above the median in 1 of 3 queries" in page
    err = refused("page", "out", "--participant", "own", cwd=tmp_path)
    assert "did you mean 'own<1>'?" in err
    (tmp_path / "sheet.html").write_text("mine")
    refused("page", "out", "--participant", "third", "-o", "sheet.html", cwd=tmp_path)
