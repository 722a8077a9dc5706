"""One metric under many conventions."""

from __future__ import annotations

from .case import PYTHON, Case, Command, Setup, Target, module

N_QUERIES = 31531
VARIANTS = {
    "ndcg@10": ("ndcg(convention=lightgbm)@10", "ndcg(ties=average)@10"),
    "map@10": ("map(convention=lightgbm)@10", "map(ties=average)@10"),
}


def conventions(setup: Setup) -> Case:
    """20 systems under all conventions, from files."""
    config = setup.data("audit", setup.queries(1000), 100, 20) / "config.yaml"
    argv = (PYTHON, "-m", "harness", "conventions", str(config), "--format", "text")
    ours = Command("harness conventions", argv, repeats=3)
    return Case(
        "Conventions of 20 systems x 1,000 queries x 100 documents, ten metrics, all conventions",
        "The whole process. Each run is computed in some 300 ways: ten metrics under every "
        "convention that has them, and with every single choice changed.",
        (ours,),
        (Target(ours, 20),),
    )


def match(setup: Setup) -> Case:
    """Lists with ties, and queries without relevant documents, so that settings differ."""
    at = setup.data("letor_tied", setup.queries(200))
    config = at / "match.yaml"
    config.write_text(
        "datasets: {d: test.txt}\nruns: {r: predictions.txt}\nmetrics: [ndcg@10]\n",
        encoding="utf-8",
    )
    argv = (PYTHON, "-m", "harness", "conventions", str(config), "--match", "0.4", "-m", "ndcg@10")
    ours = Command("harness conventions --match, nDCG@10", argv)
    return Case(
        "The settings that give a published value, 200 queries x 100 documents",
        "Whole process. Many scores are tied, and a sixth of the queries has nothing relevant.",
        (ours,),
        (Target(ours, 10, by="cpu"),),
    )


def ties(setup: Setup) -> Case:
    """Metrics on a batch of 31,531 x 120, a third of whose documents are tied."""
    n_queries = setup.queries(N_QUERIES)
    commands: list[Command] = []
    targets: list[Target] = []
    for metric, (tool, average) in VARIANTS.items():
        plain, as_tool, expected = (
            Command(name, module("ours.metric", str(n_queries), name), reported=True)
            for name in (metric, tool, average)
        )
        commands += [plain, as_tool, expected]
        targets += [Target(as_tool, 1, plain, by="cpu"), Target(expected, 3, plain, by="cpu")]
    return Case(
        "One metric, 31,531 queries x 120 documents, a third of them tied",
        "The metric alone, on a run that was joined before: what a metric more costs.",
        tuple(commands),
        tuple(targets),
    )
