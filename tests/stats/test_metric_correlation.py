"""Correlation of metrics: point values of other implementations, and a bootstrap by loops."""

import numpy as np
import pytest
from scipy import stats

import harness
from harness.experiment.run import run
from harness.stats.metric_correlation import correlations

METRICS = ["map", "ndcg@3", "recip_rank", "arp"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> harness.Results:
    folder = tmp_path_factory.mktemp("correlation")
    rng = np.random.default_rng(3)
    qids = (10, 2, 1, 33, 5, 4, 7)
    (folder / "q").write_text(
        "".join(f"{q} 0 d{d} {rng.integers(0, 4)}\n" for q in qids for d in range(15))
    )
    for name in range(8):
        (folder / f"{name}.run").write_text(
            "".join(f"{q} Q0 d{d} 0 {rng.random():.6f} x\n" for q in qids for d in range(15))
        )
    path = folder / "c.yaml"
    path.write_text(
        'datasets: {q: {path: q}}\nruns: {"s{s}": {path: "{s}.run"}}\n'
        f"metrics: [{', '.join(METRICS)}]\n"
    )
    return run(path)


def signed(results: harness.Results, name: str) -> np.ndarray:
    """Values by system, ``(n_systems, n_queries)``, higher is better."""
    sign = -1 if name == "arp" else 1
    return sign * np.array([one.values(name) for one in results.systems])


def test_points_are_those_of_scipy_and_of_the_metric(results: harness.Results) -> None:
    found = correlations(results.systems, draws=1)
    assert len(found) == 6
    for one in found:
        first, second = (signed(results, name).mean(1) for name in (one.metric, one.other))
        assert one.tau_b == pytest.approx(stats.kendalltau(first, second)[0], abs=1e-12)
        scores = [{str(k): value for k, value in enumerate(some)} for some in (first, second)]
        evaluation = harness.evaluate(
            {"q": dict.fromkeys(scores[0], 1)}, {"q": scores[0]}, ["tau_ap(tied=b,reference=r)"],
            references={"r": harness.Run.from_dict({"q": scores[1]})}, policy={"scores": "float64"},
        )  # fmt: skip
        assert one.tau_ap == pytest.approx(next(iter(evaluation.summary().values())), abs=1e-12)
    assert [one.tau_b for one in found] == sorted(one.tau_b for one in found)


def test_intervals_are_those_of_a_plain_bootstrap(results: harness.Results) -> None:
    draws = 60  # more than one part
    samples = np.random.default_rng(0).multinomial(7, np.full(7, 1 / 7), size=draws)
    found = {(one.metric, one.other): one for one in correlations(results.systems, draws=draws)}
    for (first, second), one in found.items():
        taus = [
            stats.kendalltau(
                np.round(signed(results, first) @ some / 7, 12),
                np.round(signed(results, second) @ some / 7, 12),
            )[0]
            for some in samples
        ]
        margin = 1.959963984540054 * np.std(taus)
        expected = max(one.tau_b - margin, -1), min(one.tau_b + margin, 1)
        assert (one.tau_b_low, one.tau_b_high) == pytest.approx(expected, abs=1e-9)


def test_chosen_metrics(results: harness.Results) -> None:
    (one,) = correlations(results.systems, ["MAP", "recip_rank"], draws=10)
    assert (one.metric, one.other) == ("map", "recip_rank")
    with pytest.raises(harness.HarnessError, match="unknown metric 'err'"):
        correlations(results.systems, ["err"])


def test_what_cannot_be_correlated(results: harness.Results) -> None:
    systems = results.systems
    for some, metrics, datasets in (
        (systems, ["map"], ()), ([systems[0]], [], ()), (systems, [], ["nowhere"]),
    ):  # fmt: skip
        with pytest.raises(harness.HarnessError):
            correlations(some, metrics, datasets)
    one = systems[0].dataset
    assert {pair.dataset for pair in correlations(systems, [], [one], draws=10)} == {one}
