"""The search for the settings that give a published value."""

from __future__ import annotations

from .case import PYTHON, Case, Command, Setup, Target

N_QUERIES = 200
VALUE = "0.4"  # of one digit, so that some settings give it, and the command succeeds


def explain(setup: Setup) -> Case:
    """Lists with ties, and queries without relevant documents, so that settings differ."""
    at = setup.data("letor_tied", setup.queries(N_QUERIES))
    files = (str(at / "test.txt"), str(at / "predictions.txt"))
    everywhere, at_10, any_metric = (
        Command(label, (PYTHON, "-m", "harness", "explain", VALUE, *files, *options))
        for label, options in (
            ("harness explain, nDCG at 27 cutoffs", ("-m", "ndcg")),
            ("harness explain, nDCG@10", ("-m", "ndcg", "-k", "10")),
            ("harness explain, 33 metrics, one setting changed", ()),
        )
    )
    return Case(
        "The settings that give a published value, 200 queries x 100 documents",
        "Whole process. Many scores are tied, and a sixth of the queries has nothing relevant.",
        (everywhere, at_10, any_metric),
        (Target(everywhere, 5, by="cpu"), Target(at_10, 5, by="cpu")),
    )
