"""First lines of comparisons: each case of who is better, and numbers by brute force."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import succeeds
from scipy.stats import ttest_rel

from harness.core.metric import Metric
from harness.core.names import parse
from harness.reports.answers import MOST, answers
from harness.reports.grid import Answer
from harness.stats.comparison import Comparison, Comparisons, Plan, Standing

AP, SWAPS = parse("map")[0], parse("swaps(normalize=true)")[0]


def compared(run: str, difference: float, p: float = 0.01, **changes: Any) -> Comparison:
    settings: dict[str, Any] = {"dataset": "web", "metric": AP, "baseline": "base=1", "n": 12}
    settings |= {"run": run, "difference": difference, "p": p, "p_adjusted": p}
    return Comparison(**{**settings, **changes})


def first_lines(*rows: Comparison, plan: Plan | None = None, **settings: Any) -> list[Answer]:
    plan = plan or Plan(baselines=("base=1",))
    return answers(Comparisons(plan=plan, rows=rows, **settings))


@pytest.mark.parametrize(
    ("row", "text", "tone"),
    [
        (compared("a", -0.1094, 2e-5),
         "a is significantly worse than base=1 on MAP (-0.109, adjusted p < .0001, 12 queries)",
         "bad"),
        (compared("a", 0.25, 0.0322),
         "a is significantly better than base=1 on MAP (+0.250, adjusted p = .0322, 12 queries)",
         "good"),
        (compared("a", 2e-5, 0.7),
         "a does not differ significantly from base=1 on MAP (+2.0e-05, adjusted p = .7000, 12 "
         "queries)", "mixed"),
        (compared("a", -0.5, metric=SWAPS),
         "a is significantly better than base=1 on swaps (normalised) (-0.500, adjusted p = .0100, "
         "lower is better, 12 queries)", "good"),
        (compared("a", 0.0, 1.0, note="identical"),
         "a has the same MAP on every query as base=1 (12 queries)", "mixed"),
        (compared("a", 0.5, math.nan, n=1, note="n=1"),
         "a was not tested against base=1 on MAP (+0.500, 1 query)", "mixed"),
        (compared("a", 0.5, baseline="median"),
         "a is significantly better than the median of all systems on MAP (+0.500, adjusted p = "
         ".0100, 12 queries)", "good"),
    ],
)  # fmt: skip
def test_two_runs(row: Comparison, text: str, tone: str) -> None:
    assert first_lines(row) == [(text, tone)]


def test_two_runs_by_many_metrics() -> None:
    metrics = [parse(name)[0] for name in ("map", "ndcg@10", "rr", "arp")]
    rows = [compared("a", 0.1, metric=metric, n=9 + k) for k, metric in enumerate(metrics)]
    rows[1] = compared("a", -0.1, 0.5, metric=metrics[1])
    assert [answer.text for answer in first_lines(*rows)] == [
        "a is significantly better than base=1 on MAP (+0.100) and MRR (+0.100) (9 to 11 queries)",
        "a is significantly worse than base=1 on ARP (+0.100, lower is better) (12 queries)",
        "a does not differ significantly from base=1 on nDCG@10 (12 queries)",
    ]


def test_p_is_called_adjusted_if_it_is() -> None:
    plan = Plan(baselines=("base=1",), correction="none")
    (answer,) = first_lines(compared("a", 0.25), plan=plan)
    assert "(+0.250, p = .0100, 12 queries)" in answer.text


def test_many_runs_against_a_baseline() -> None:
    rows = [compared("1", 0.1), compared("10", 0.2), compared("2", -0.1), compared("x", 0.01, 0.5)]
    rows += [compared("y", 0.0, 1.0, note="identical"), compared("z", 0.1, math.nan)]
    assert first_lines(*rows) == [(
        "2 of 6 runs are significantly better than base=1 on MAP: 10 (+0.200) and 1 (+0.100); 2 is "
        "significantly worse; x does not differ significantly; y has the same values; z was not "
        "tested (12 queries)", "good",
    )]  # fmt: skip
    better = [compared(f"{k}", k / 10, n=k) for k in range(1, 6)]
    assert first_lines(*better) == [(
        "All 5 runs are significantly better than base=1 on MAP: 5 (+0.500), 4 (+0.400), 3 "
        "(+0.300) and 2 more", "good",
    )]  # fmt: skip
    worse = [compared("a", 0.2, metric=SWAPS), compared("b", 0.1, metric=SWAPS)]
    assert first_lines(*worse) == [(
        "Both runs are significantly worse than base=1 on swaps (normalised): b (+0.100) "
        "and a (+0.200) (lower is better, 12 queries)", "bad",
    )]  # fmt: skip
    none = [compared("a", 0.2, 0.3), compared("b", 0.1, 0.3)]
    assert first_lines(*none)[0].text.startswith("Neither run differs significantly from base=1")
    mixed = first_lines(*none, compared("c", -0.3))[0]
    assert mixed.text.startswith("None of 3 runs is significantly better than base=1 on MAP; c is")
    assert mixed.tone == "mixed"


def test_datasets_and_slices() -> None:
    rows = [compared("a", 0.1, dataset=f"web [k={k}]", group=f"k={k}") for k in range(MOST + 2)]
    found = first_lines(*rows, compared("a", 0.1))
    assert found[0].text.startswith("web: a is significantly better")
    assert found[1].text.startswith("web [k=0]: a is")
    assert len(found) == MOST + 1
    assert found[-1].text == "3 more results are not shown; see the tables."


def test_all_pairs() -> None:
    def standing(run: str, value: float, rank: int, metric: Metric = AP) -> Standing:
        return Standing("web", run, metric, 12, value, value - 0.1, value + 0.1, rank, rank, rank)

    standings = (standing("a", 0.2, 3), standing("b", 0.5, 1), standing("c", 0.4, 2))
    rows = [
        compared("b", 0.3, baseline="a"), compared("c", 0.2, baseline="a"),
        compared("c", -0.1, 0.2, baseline="b"),
    ]  # fmt: skip
    assert first_lines(*rows, plan=Plan(), standings=standings) == [(
        "b has the highest MAP of 3 systems: 0.500 over 12 queries (95% interval 0.400 to 0.600). "
        "Its lead of 0.100 over c is not significant.",
        "mixed",
    )]  # fmt: skip
    rows[2] = compared("c", -0.1, baseline="b")
    (answer,) = first_lines(*rows, plan=Plan(), standings=standings)
    assert answer.text.endswith("better than every other system; the next, c, is 0.100 behind.")
    assert answer.tone == "good"


def test_the_numbers_are_those_of_the_queries(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    relevant = rng.integers(1, 9, size=(2, 20))  # rank of the only relevant document
    relevant[1, 10:] = relevant[0, 10:] + 8
    qrels = "".join(f"{q} 0 d{q} 1\n" for q in range(20))
    (tmp_path / "q.txt").write_text(qrels, encoding="utf-8")
    for name, ranks in zip(("10", "2"), relevant, strict=True):
        lines = [
            f"{q} Q0 {'d' + str(q) if rank == ranks[q] else f'x{rank}'} {rank} {-rank} t\n"
            for q in range(20)
            for rank in range(1, 20)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    words = ("compare", "10.run", "2.run", "--qrels", "q.txt", "-m", "recip_rank")
    first, second = 1 / relevant
    difference, p = (second - first).mean(), ttest_rel(first, second).pvalue
    verb = "is significantly worse than" if p <= 0.05 else "does not differ significantly from"
    shown = "p < .0001" if p < 0.0001 else f"p = {p:.4f}".replace("= 0", "= ")
    line = f"2 {verb} 10 on MRR ({difference:+.3f}, adjusted {shown}, 20 queries)\n"
    assert succeeds(*words, cwd=tmp_path).startswith(line)
    markdown = succeeds(*words, "-f", "markdown", cwd=tmp_path)
    assert markdown.startswith(line)
    assert succeeds(*words, "-f", "csv", cwd=tmp_path).startswith("dataset,metric,")
