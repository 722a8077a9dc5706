"""The methods paragraph names the metrics that were not tested."""

from pathlib import Path

from command_line import succeeds


def test_an_untested_metric_is_told_from_a_tested_one_of_that_title(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("".join(f"{q} 0 a 1\n{q} 0 b 0\n" for q in (1, 2, 10)))
    for name, first in (("x", "a"), ("y", "b")):
        rows = (f"{q} Q0 {d} 1 {1.0 + (d == first)} t\n" for q in (1, 2, 10) for d in "ab")
        (tmp_path / name).write_text("".join(rows))
    (tmp_path / "c.yaml").write_text(
        "datasets: {d: {path: q}}\nruns: {x: {path: x}, y: {path: y}}\n"
        'metrics: [map, ndcg@5, "ndcg(convention=lightgbm)@5"]\n'
        "compare: {baseline: x, metrics: [map, ndcg@5]}\n"
    )
    succeeds("run", "c.yaml", cwd=tmp_path)
    text = " ".join(succeeds("table", "results/c", "--methods", cwd=tmp_path).split())
    assert "on all metrics but nDCG@5 with exponential gain" in text
    assert "as computed by LightGBM" in text
