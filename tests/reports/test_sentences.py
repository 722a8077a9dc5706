"""Sentences of the report page: each case of who is first, by how much, and how sure that is."""

from typing import Any

import numpy as np
import pytest

from harness.reports.sentences import Queries, Scores, as_text, changed

NAMES = ["ape", "bee", "cat", "dog", "eel"]


def scores(values: list[float], tests: str = "", **changes: Any) -> Scores:
    """Scores whose `tests` are letters of the pairs, as the page stores them."""
    n, array = len(values), np.array(values, float)
    relations = np.full((n, n), ".")
    for letter, first, second in zip(tests.replace(" ", ""), *np.triu_indices(n, 1), strict=False):
        relations[first, second] = letter
        relations[second, first] = {"+": "-", "-": "+"}.get(letter, letter)
    sign = changes.get("sign", 1)
    rank = 1 + (sign * array[None] > sign * array[:, None]).sum(1).astype(float)
    none = np.full(n, np.nan)
    settings: dict[str, Any] = {
        "label": "nDCG@10", "sign": 1, "digits": 4, "confidence": "95%", "over": "",
        "systems": range(n), "values": array, "low": none, "high": none,
        "n": np.full(n, 30.0), "rank": rank, "rank_low": none, "rank_high": none,
        "relations": relations, "baselines": [],
    }  # fmt: skip
    return Scores(**{**settings, **changes})


def lede(*arguments: Any, **changes: Any) -> str:
    return as_text(scores(*arguments, **changes).lede(), NAMES)


def of_system(row: int, *arguments: Any, **changes: Any) -> str:
    return as_text(scores(*arguments, **changes).of_system(row), NAMES)


FIRST = "ape has the highest nDCG@10 of 3 systems: 0.500 over 30 queries. "


@pytest.mark.parametrize(
    ("tests", "rest"),
    [
        ("", "Its lead of 0.100 over bee was not tested."),
        ("~~.", "Its lead of 0.100 over bee is not significant, and no other system is "
                "significantly different from it."),
        ("~+.", "Its lead of 0.100 over bee is not significant."),
        ("++.", "It is significantly better than every other system; the next, bee, is 0.100 "
                "behind."),
        ("+~.", "It is significantly better than bee, by 0.100, but not significantly different "
                "from cat."),
        ("-+.", "bee is significantly better on the queries that both have."),
        (".+.", "Its lead of 0.100 over bee has no test."),
        (".~.", "Its lead of 0.100 over bee has no test, and cat is not significantly different "
                "from it."),
    ],
)  # fmt: skip
def test_the_lead_of_the_first(tests: str, rest: str) -> None:
    assert lede([0.5, 0.4, 0.2], tests) == FIRST + rest


def test_two_systems() -> None:
    start = "bee has the highest nDCG@10 of 2 systems: 0.500 over 30 queries. "
    lead = "Its lead of less than 0.001 over ape is not significant"
    assert lede([0.49999, 0.5], "~") == f"{start}{lead}."
    assert lede([0.25, 0.5], "-") == start + "It is significantly better than ape, by 0.250."


def test_one_system_and_none() -> None:
    only = "ape is the only system with a value: its nDCG@10 is 0.500 over 30 queries."
    assert lede([0.5]) == lede([0.5, np.nan]) == only
    assert of_system(0, [0.5]) == "nDCG@10 0.500 over 30 queries. It is the only system."
    assert lede([np.nan, np.nan]) == "No system has a value of nDCG@10."
    assert of_system(1, [0.5, np.nan]) == "It has no value of nDCG@10."


def test_one_query() -> None:
    said = lede([0.5, 0.25], n=np.ones(2))
    assert said == (
        "ape has the highest nDCG@10 of 2 systems: 0.500 over 1 query. Its lead of 0.250 over bee: "
        "one query is too few to test it."
    )


def test_intervals_and_ranks() -> None:
    ends = {"low": np.array([-0.1, 0.2]), "high": np.array([0.9, 0.3])}
    assert "0.500 over 30 queries (95% interval −0.100 to 0.900)." in lede([0.5, 0.25], **ends)
    ranks = {"rank_low": np.array([1.0, 1]), "rank_high": np.array([1.0, 2])}
    said = of_system(1, [0.5, 0.25], "~", **ranks)
    assert said.startswith("nDCG@10 0.250, rank 2 of 2 (95% interval of the rank 1 to 2). ")
    assert "interval" not in of_system(0, [0.5, 0.25], "~", **ranks)


def test_ties_at_the_top() -> None:
    start = "ape and bee have the highest nDCG@10 of 3 systems: 0.500 over 30 queries. "
    assert lede([0.5, 0.5, 0.2]) == f"{start}Their lead of 0.300 over cat was not tested."
    apart = "ape is significantly better than cat, by 0.300."
    assert lede([0.5, 0.5, 0.2], "=++") == start + apart
    lead = "Their lead of 0.300 over cat is not significant."
    assert lede([0.5, 0.5, 0.2], "=~~") == start + lead
    many = lede([0.5, 0.5, 0.5, 0.5, 0.2])
    assert many.startswith("ape and 3 other systems have the highest nDCG@10 of 5 systems: ")
    assert lede([0.5] * 3, "===") == "All 3 systems have the same nDCG@10: 0.500 over 30 queries."


def test_identical_systems() -> None:
    assert of_system(0, [0.5, 0.5, 0.2], "=+~") == (
        "nDCG@10 0.500, rank 1 of 3. No system is significantly better and 1 is significantly "
        "worse. bee has the same nDCG@10 on every query."
    )
    assert of_system(2, [0.5, 0.5, 0.5, 0.5, 0.5], "==== === == =").endswith(
        "ape and 3 other systems have the same nDCG@10 on every query."
    )


def test_lower_is_better() -> None:
    changes: dict[str, Any] = {"sign": -1, "label": "ARP"}
    assert lede([12.5, 2.25, 3.5], "--+", **changes) == (
        "bee has the lowest ARP of 3 systems (lower is better): 2.250 over 30 queries. It is "
        "significantly better than every other system; the next, cat, is 1.250 behind."
    )


def test_neither_is_better() -> None:
    changes: dict[str, Any] = {"sign": 0, "label": "Judged@10"}
    said = lede([0.75, 0.25, 0.5], **changes)
    assert said == "Judged@10 has no better and no worse. It is 0.250 (bee) to 0.750 (ape)."
    assert of_system(1, [0.75, 0.25], **changes) == "Judged@10 0.250 over 30 queries."


def test_other_queries_and_slices() -> None:
    said = lede([0.5, 0.25], "~", is_fair=False, over="with length: 70 or more")
    assert said == (
        "ape has the highest nDCG@10 of 2 systems: 0.500 over 30 queries with length: 70 or more. "
        "Systems were scored on different queries, so this is no ranking."
    )


def test_counts() -> None:
    said = lede([1200.0, 900.0], digits=0, label="num_rel_ret")
    assert said == (
        "ape has the highest num_rel_ret of 2 systems: 1,200 over 30 queries. Its lead of 300 over "
        "bee was not tested."
    )


BASELINE = "ape has the highest nDCG@10 of 4 systems: 0.500 over 30 queries. "


@pytest.mark.parametrize(
    ("baselines", "tests", "rest"),
    [
        ([3], "..+ .+ ~", "It is significantly better than the baseline dog, by 0.400. Of the 3 "
                          "systems other than the baseline, 2 are significantly better and none is "
                          "significantly worse."),
        ([3], "..~ .- ~", "It does not differ significantly from the baseline dog: they differ by "
                          "0.400. Of the 3 systems other than the baseline, none is "
                          "significantly better and 1 is significantly worse."),
        ([0], "+~~ .. .", "It is the baseline: 1 is significantly worse and 2 are not "
                          "significantly different."),
        ([0, 1], "=+~ +~ .", "It is a baseline: 1 is significantly worse and 1 is not "
                             "significantly different."),
        ([2, 3], ".++ ++ .", "It is significantly better than both baselines."),
        ([2, 3], ".+~ ++ .", "It is significantly better than 1 of the 2 baselines."),
        ([2, 3], ".~~ ++ .", "It is significantly better than none of the 2 baselines."),
    ],
)  # fmt: skip
def test_baselines(baselines: list[int], tests: str, rest: str) -> None:
    assert lede([0.5, 0.4, 0.2, 0.1], tests, baselines=baselines) == BASELINE + rest


def test_a_system_against_others() -> None:
    values = [0.5, 0.4, 0.2, 0.1]
    said = of_system(1, values, "+~~ +~ .")
    assert said == (
        "nDCG@10 0.400, rank 2 of 4. 1 system is significantly better, 1 is significantly worse "
        "and 1 is not significantly different."
    )
    said = of_system(3, values, "+++ ++ +")
    assert said.endswith(
        "rank 4 of 4. 3 systems are significantly better and none is significantly worse."
    )
    assert of_system(1, values).endswith("Differences in nDCG@10 were not tested.")
    against = of_system(1, values, "..~ .- ~", baselines=[3])
    assert against.endswith("It is significantly worse than the baseline dog, by 0.300.")
    assert of_system(1, values, "..~ .= ~", baselines=[3]).endswith(
        "It has the same nDCG@10 on every query as the baseline dog."
    )
    assert "It is a baseline. No system is significantly better" in of_system(
        0, values, "+~~ .. .", baselines=[0]
    )
    several = of_system(1, values, ".++ +- .", baselines=[2, 3])
    assert several.endswith(
        "2 baselines, it is significantly better than 1 and is significantly worse than 1."
    )


def test_queries() -> None:
    matrix = np.array([[1, 0.5, 0.9, 0], [0.5, 0.4, 0.3, 0], [0, 0.1, 0.2, 0], [1, 0.2, 0.8, 0]])
    queries = Queries.of(matrix)
    assert queries.median.tolist() == [0.75, 0.30000000000000004, 0.55, 0.0]
    assert queries.constant.tolist() == [False, False, False, True]
    rest = (matrix.sum(1) - matrix[:, 0]) / 3
    assert queries.discrimination[0] == pytest.approx(np.corrcoef(matrix[:, 0], rest)[0, 1])
    assert np.isnan(queries.discrimination[3])
    best = ["1", "2", "10"][int(np.argmax(queries.discrimination[:3]))]
    values = scores(matrix.mean(1).tolist())
    said = as_text(values.of_queries(["1", "2", "10", "11"], queries), NAMES)
    assert said == (
        "The hardest query is 2: the median system reaches 0.300 in nDCG@10. "
        f"Query {best} tells systems apart best. 1 query has one value for all systems."
    )
    lower = scores(matrix.mean(1).tolist(), sign=-1)
    assert "hardest query is 1:" in as_text(
        lower.of_queries(["1", "2", "10", "11"], queries), NAMES
    )


def test_few_queries() -> None:
    def said(matrix: Any) -> str:
        values = np.array(matrix, float)
        measured = scores(np.nanmean(values, axis=1).tolist())
        qids = ["7", "8"][: values.shape[1]]
        return as_text(measured.of_queries(qids, Queries.of(values)), NAMES)

    assert said([[0.5], [1]]) == "7 is the only query: the median system reaches 0.750 in nDCG@10."
    assert said([[0.5, 0.25]]) == "The hardest query is 8: ape reaches 0.250 in nDCG@10."
    alike = "Each query has one nDCG@10 for all systems, so none tells them apart."
    assert said([[0.5, 0.25], [0.5, 0.25]]) == alike
    assert "hardest query is 7:" in said([[0.25, np.nan], [0.5, 0.75]])


def test_changes() -> None:
    def said(old: list[float], new: list[float]) -> str:
        metric = {"label": "MAP", "digits": 4}
        return as_text(changed(metric, "2024", range(3), np.array(old), np.array(new)), NAMES)

    assert said([0.5, 0.5], [0.5, 0.5]) == "No value of MAP has changed since 2024."
    assert said([0.5, np.nan, 0.3], [0.5, 0.25, 0.1]) == (
        "1 system is new. MAP differs from 2024 for 1 of 2 systems. The largest change is that "
        "of cat: 0.3000 to 0.1000."
    )
