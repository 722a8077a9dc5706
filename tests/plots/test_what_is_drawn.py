"""The numbers and labels of each kind of picture, worked by hand; no pixels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pictured import RANKED, drawn, effects_study, figures, study, texts

from harness.core.comparison import Comparison, Comparisons, Plan
from harness.core.names import parse_all
from harness.errors import HarnessWarning, InputError
from harness.reports.plots.differences import sides
from harness.reports.plots.plot import find

NAN = math.nan


def test_differences_are_sorted_and_the_largest_named() -> None:
    # b - a is .4, 0, -.1, .1 on q0 to q3
    found = study({"a": [0.5, 0.5, 0.5, 0.5], "b": [0.9, 0.5, 0.4, 0.6]})
    (picture,) = drawn(found, "differences", baseline="a")
    (panel,) = picture.panels
    assert picture.metric == "map ↑"
    assert (picture.baseline, panel.name.label, panel.name.place) == ("a", "b", 1)
    np.testing.assert_allclose(panel.values, [0.4, 0.1, 0, -0.1], atol=1e-15)
    assert panel.named == ((0, "q0"), (1, "q3"), (3, "q2"))  # q1 does not differ
    assert (panel.won, panel.tied, panel.lost) == (2, 1, 1)
    assert panel.better.tolist() == [True, True, False, False]


def test_five_differences_are_named_whatever_their_sign() -> None:
    values = [0.1, -0.9, 0.2, -0.3, 0.4, -0.5, 0.6, 0.0]
    found = study({"a": [0.0] * 8, "b": values})
    ((panel,),) = (one.panels for one in drawn(found, "differences", baseline="a"))
    # the largest by size: q1 -.9, q6 .6, q5 -.5, q4 .4, q3 -.3; in the order of their bars
    assert panel.named == ((0, "q6"), (1, "q4"), (5, "q3"), (6, "q5"), (7, "q1"))


def test_where_lower_is_better_a_negative_difference_wins() -> None:
    found = study({"a": [3, 3, 3], "b": [2, 4, 1]}, ["arp"])
    (picture,) = drawn(found, "differences", baseline="a")
    (panel,) = picture.panels
    assert picture.metric == "arp ↓"
    assert panel.values.tolist() == [1, -1, -2]
    assert (panel.won, panel.lost) == (2, 1)
    assert panel.better.tolist() == [False, True, True]


def test_queries_are_paired_by_qid_and_those_without_a_value_left_out() -> None:
    found = study(
        {"a": [0.1, 0.2, 0.3], "b": [0.7, 0.9, NAN]},
        qids={"a": ["x", "y", "z"], "b": ["y", "x", "z"]},
    )
    (picture,) = drawn(found, "differences", baseline="a")
    # x: .9 - .1, y: .7 - .2, z has no value in b
    np.testing.assert_allclose(picture.panels[0].values, [0.8, 0.5])
    assert picture.panels[0].named == ((0, "x"), (1, "y"))


def test_more_systems_than_there_is_room_for_are_said() -> None:
    found = study({f"r{place}": [0.1, 0.2] for place in range(15)})
    with pytest.warns(HarnessWarning, match="the first 6 of 14 runs are drawn"):
        (picture,) = drawn(found, "differences", baseline="r3")
    assert [panel.name.label for panel in picture.panels] == ["r0", "r1", "r2", "r4", "r5", "r6"]
    with pytest.warns(HarnessWarning, match="the first 12 of 14 runs are drawn"):
        (picture,) = drawn(found, "differences", baseline="r3", width="page")
    assert len(picture.panels) == 12


def test_of_few_queries_each_name_stands_at_its_bar() -> None:
    def named(n: int) -> list[tuple[float, float, str]]:
        values = [0.1 * (place - 1) for place in range(n)]
        ((panel,),) = (
            one.panels
            for one in drawn(study({"a": [0.0] * n, "b": values}), "differences", baseline="a")
        )
        return [(side.place, pytest.approx(side.tip), side.text) for side in sides(panel)]

    # q0 -.1, q1 0, q2 .1, q3 .2: the largest first, and q1 does not differ
    assert named(4) == [(0, 0.2, "q3"), (1, 0.1, "q2"), (3, -0.1, "q0")]
    # q7 .6, q6 .5, q5 .4, q4 .3, q3 .2: right of the fifth bar, above it
    assert named(8) == [(4.8, 0.2, "q7, q6, q5, q4,\nq3")]


def test_cutoffs_join_metrics_that_differ_in_nothing_else() -> None:
    names = ["ndcg@10", "map", "ndcg@5", "ndcg(gain=exp)@5", "P@5", "P@1"]
    groups = find("cutoffs").groups(parse_all(names))
    assert [[str(one) for one in group] for group in groups] == [
        ["ndcg@5", "ndcg@10"], ["P@1", "P@5"],
    ]  # fmt: skip
    found = study({"a": [[0.2, 0.4], [0.4, 0.8]], "b": [[0, 0.1], [0, 0.3]]}, ["P@5", "P@10"])
    (picture,) = drawn(found, "cutoffs")
    assert (picture.cutoffs, picture.metric) == ((5, 10), "P ↑")
    for line, expected in zip(picture.lines, [[0.3, 0.6], [0, 0.2]], strict=True):
        np.testing.assert_allclose(line.values, expected)
        assert line.shown


def test_of_many_systems_the_best_are_named() -> None:
    runs = {f"r{place:02}": [[0.5, place / 100]] for place in range(30)}
    (picture,) = drawn(study(runs, ["P@5", "P@10"]), "cutoffs")
    assert [line.name.label for line in picture.lines if line.shown] == [
        "r25", "r26", "r27", "r28", "r29",
    ]  # fmt: skip


def test_a_box_holds_half_of_the_values() -> None:
    (picture,) = drawn(study({"a": [3, 0, 10, 1, 2], "b": [NAN] * 5}, ["arp"]), "distribution")
    (box,) = picture.boxes  # b has no value
    assert box.values.tolist() == [0, 1, 2, 3, 10]
    # quartiles 1, 2, 3; whiskers to the outermost within 1.5 x 2 of the box: from -2 to 6
    assert (box.quartiles, box.whiskers, box.mean) == ((1, 2, 3), (0, 3), 3.2)


def test_critical_difference() -> None:
    # ranks of a: 3 3 3 3; b: 1.5 2 1.5 2; c: 1.5 1 1.5 1. Nemenyi: 2.343 sqrt(3 x 4 / (6 x 4))
    (picture,) = drawn(study(RANKED), "critical-difference")
    assert [name.label for name in picture.names] == ["c", "b", "a"]
    assert [name.place for name in picture.names] == [2, 1, 0]
    assert picture.ranks.tolist() == [1.25, 1.75, 3.0]
    assert picture.difference == pytest.approx(2.343 * math.sqrt(0.5), abs=1e-3)
    assert picture.cliques == ((0, 1), (1, 2))  # 1.25 apart is less than 1.66, 1.75 is more
    assert (picture.n, picture.level) == (4, 0.05)


def test_mean_ranks_where_lower_is_better_and_a_value_is_lacking() -> None:
    values = {run: [*row, NAN if run == "a" else 1] for run, row in RANKED.items()}
    (picture,) = drawn(study(values, ["arp"]), "critical-difference")
    assert [name.label for name in picture.names] == ["a", "b", "c"]
    assert (picture.ranks.tolist(), picture.n) == ([1.0, 2.25, 2.75], 4)


def test_effects_are_seen_from_the_baseline() -> None:
    (picture,) = drawn(effects_study(), "effects")
    first, second = picture.rows
    assert (first.name.label, first.difference, first.low, first.high) == ("b", 0.1, 0.05, 0.15)
    assert (first.g, first.significant) == (0.8, True)
    # compared the other way round: a minus c is .2, so c minus a is -.2
    assert (second.name.label, second.difference, second.g) == ("c", -0.2, -0.4)
    assert (second.low, second.high, second.significant) == (-0.5, 0.1, False)
    assert (picture.metric, picture.baseline, picture.level) == ("map ↑", "a", 0.05)
    assert first.tested
    assert second.tested


def test_effects_without_a_test() -> None:
    (metric,) = parse_all(["map"])
    rows = (
        Comparison("trec", metric, "a", "b", 2, 0.1, 0.05, 0.15, p_adjusted=0.01),
        Comparison("trec", metric, "a", "c", 2, 0.1, note="zero variance"),
    )
    found = study({key: [0.1, 0.2] for key in "abc"}, comparisons=Comparisons(Plan(("a",)), rows))
    (picture,) = drawn(found, "effects")
    assert [(row.tested, row.significant) for row in picture.rows] == [(True, True), (False, False)]
    (figure,) = figures(found, "effects")
    assert [line.get_marker() for line in figure.axes[0].lines[1:]] == ["o", "x"]
    assert "95 % interval; ● p ≤ 0.05, ○ p > 0.05, × no test" in "\n".join(texts(figure))


def test_scatter_of_systems() -> None:
    # orders 1 2 3 4 and 1 3 2 4: five pairs agree and one does not, (5 - 1) / 6
    values = {"a": [[0.1, 0.1]], "b": [[0.2, 0.3]], "c": [[0.3, 0.2]], "d": [[0.4, 0.4]]}
    (picture,) = drawn(study(values, ["map", "P@5"]), "scatter")
    assert picture.tau == pytest.approx(4 / 6)
    assert picture.x.tolist() == [0.1, 0.2, 0.3, 0.4]
    assert picture.labels == ("map ↑", "P@5 ↑")
    assert not picture.of_queries


def test_tau_is_of_the_orders_from_the_best() -> None:
    values = {"a": [[0.1, 9]], "b": [[0.2, 5]], "c": [[0.3, 1]]}
    (picture,) = drawn(study(values, ["map", "arp"]), "scatter")
    assert picture.tau == 1  # lower is better in arp: both have c, b, a


def test_scatter_of_the_queries_of_one_system() -> None:
    values = {"a": [[0.1, 0.3], [0.2, 0.2], [0.3, 0.1], [NAN, 0.5]]}
    (picture,) = drawn(study(values, ["map", "P@5"]), "scatter")
    assert picture.of_queries
    assert (picture.x.tolist(), picture.y.tolist()) == ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    assert picture.tau == -1


def test_tau_of_a_constant_is_not_defined() -> None:
    (picture,) = drawn(study({"a": [[1, 2]], "b": [[1, 3]]}, ["map", "P@5"]), "scatter")
    assert math.isnan(picture.tau)


def test_every_pair_of_metrics_is_a_scatter() -> None:
    pairs = find("scatter").groups(parse_all(["map", "P@5", "arp"]))
    assert [tuple(map(str, pair)) for pair in pairs] == [
        ("map", "P@5"), ("map", "arp"), ("P@5", "arp"),
    ]  # fmt: skip


def test_heatmap_from_the_hardest_query() -> None:
    found = study({"a": [0.9, 0.1, NAN, NAN], "b": [0.7, 0.3, NAN, 0.5]})
    (picture,) = drawn(found, "heatmap")
    # means .8, .2, none, .5
    assert picture.qids == ("q1", "q3", "q0", "q2")
    np.testing.assert_array_equal(picture.values, [[0.1, NAN, 0.9, NAN], [0.3, 0.5, 0.7, NAN]])
    (lower,) = drawn(study({"a": [3, 1, 2]}, ["arp"]), "heatmap")
    assert lower.qids == ("q0", "q2", "q1")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("differences", {"a": [0.1, 0.2]}),  # nothing but the baseline
        ("differences", {"a": [0.1], "b": [NAN]}),
        ("distribution", {"a": [NAN, NAN]}),
        ("heatmap", {"a": [NAN, NAN]}),
        ("critical-difference", {"a": [0.1, 0.2]}),
        ("critical-difference", {"a": [1, NAN], "b": [0, 1]}),
        ("critical-difference", {"a": [1, 2], "b": [1, 2]}),
    ],
)
def test_what_cannot_be_drawn_is_refused(kind: str, values: dict[str, list[float]]) -> None:
    with pytest.raises(InputError, match=f"^plots: {kind} of map on trec: "):
        drawn(study(values), kind, baseline="a")


@pytest.mark.parametrize(("difference", "baseline"), [(NAN, "a"), (0.1, "b")])
def test_effects_that_were_not_compared(difference: float, baseline: str) -> None:
    (metric,) = parse_all(["map"])
    rows = (Comparison("trec", metric, "a", "c", 0, difference),)
    found = study({key: [0.1, 0.2] for key in "abc"}, comparisons=Comparisons(Plan(("a",)), rows))
    with pytest.raises(InputError, match=r"^plots: effects of map on trec: "):
        drawn(found, "effects", baseline=baseline)


def test_fewer_than_two_points_are_no_scatter() -> None:
    with pytest.raises(InputError, match="scatter of map, P@5 on trec: fewer than two points"):
        drawn(study({"a": [[0.1, NAN]]}, ["map", "P@5"]), "scatter")


def test_what_things_are_called() -> None:
    found = study({"a": [0.1, 0.2], "b": [0.2, 0.2]})
    (picture,) = drawn(found, "differences", baseline="a", names={"a": "BM25", "map": "MAP"})
    assert (picture.baseline, picture.metric) == ("BM25", "MAP ↑")


def test_a_name_leaves_room_for_the_counts_beside_it() -> None:
    names = ["a", "the-long-name-of-a-system-that-is-compared"]
    (few,) = drawn(study({key: [0.1, 0.2] for key in names}), "differences", baseline="a")
    (many,) = drawn(study(dict.fromkeys(names, [0.1] * 1000)), "differences", baseline="a")
    # "2 won, 2 tied, 2 lost" leaves 21 of 42 characters, "1000 won, 1000 tied, 1000 lost" 12
    assert [one.panels[0].name.label for one in (few, many)] == [
        "the-long-n…s-compared", "the-lo…pared",
    ]  # fmt: skip
