"""143 systems on 30 queries, as many as took part in the first round of TREC-COVID."""

from __future__ import annotations

from .case import PYTHON, Case, Command, Setup, Target, module, silent

SYSTEMS, QUERIES, DEPTH = 143, 30, 1000
SECONDS, MEMORY = 3, 300
MANY, SHALLOW = 500, 100
PLOTS = {
    "critical-difference": ("ndcg_cut_10",),
    "cutoffs": ("ndcg@*",),
    "differences": ("ndcg_cut_10",),
    "distribution": ("ndcg_cut_10",),
    "effects": ("ndcg_cut_10",),
    "heatmap": ("ndcg_cut_10",),
    "scatter": ("ndcg_cut_10", "map"),
}


def plots(setup: Setup) -> Case:
    """A plot of each kind but sweep, which draws as cutoffs does."""
    at = setup.data("results", QUERIES, DEPTH, SYSTEMS)
    commands = []
    for kind, metrics in PLOTS.items():
        words = [word for name in metrics for word in ("-m", name)]
        words += ["--width", "page", "-o", str(at / "drawn")]
        argv = (PYTHON, "-m", "harness", "plot", str(at / "results"), kind, *words)
        commands.append(Command(kind, argv, repeats=3))
    return Case(
        "Plots of 143 systems x 30 queries",
        "Whole process, from results to a PNG 7 inches wide.",
        tuple(commands),
        tuple(
            Target(one, most, by=by)
            for one in commands
            for by, most in (("wall", SECONDS), ("memory", MEMORY))
        ),
    )


def tukey(setup: Setup) -> Case:
    """Tukey's test of all pairs, and of a second metric."""
    first, second = (
        Command(label, module("ours.tukey", str(SYSTEMS), str(QUERIES), turn), reported=True)
        for label, turn in (("the first metric", "1"), ("a metric more", "2"))
    )
    scipy = Command(
        "scipy.stats.studentized_range.sf: 20 pairs, time x 508",
        module("peers.scipy_studentized", str(SYSTEMS), str(QUERIES), "20"),
        repeats=3, scale=SYSTEMS * (SYSTEMS - 1) / 2 / 20, reported=True,
    )  # fmt: skip
    return Case(
        "Tukey's HSD of 143 systems x 30 queries: 10,153 pairs",
        "From values in memory to p-values and intervals.",
        (first, second, scipy),
        (Target(first, 2), Target(second, 0.2), Target(first, 1 / 10, scipy)),
    )


def pairs(setup: Setup) -> Case:
    """RBO of all pairs of runs."""
    at = setup.data("results", QUERIES, DEPTH, SYSTEMS)
    argv = (PYTHON, "-m", "harness", "similarity", str(at / "results"), "--format", "csv")
    ours = Command("harness similarity", argv, repeats=3)
    return Case(
        "RBO of all pairs of 143 runs, 30 queries x 1,000 documents",
        "Whole process, from run files to 10,153 values.",
        (ours,),
        (Target(ours, 20),),
    )


def comparisons(setup: Setup) -> Case:
    """Tests of all pairs of 500 systems."""
    at = setup.data("results", QUERIES, SHALLOW, MANY)
    runs = (f"run-{number:03}" for number in range(MANY))
    words = ("--results", str(at / "results"), "--all-pairs", "-m", "map", "--format", "csv")
    argv = silent(PYTHON, "-m", "harness", "compare", *runs, *words)
    ours = Command("harness compare --all-pairs", argv, repeats=2)
    return Case(
        "Paired t-tests of all pairs of 500 systems x 30 queries: 124,750 pairs",
        "Whole process, from results to a row of CSV for each pair.",
        (ours,),
        (Target(ours, 30), Target(ours, 1000, by="memory")),
    )
