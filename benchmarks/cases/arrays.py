"""Arrays and dicts that are in memory already."""

from __future__ import annotations

from .case import FILE_METRICS, LIST_METRICS, Case, Command, Setup, Target, module

N_QUERIES = 31531


def batch(setup: Setup) -> Case:
    """Padded arrays of 31,531 x 120 in memory."""
    words = (str(setup.queries(N_QUERIES)), *LIST_METRICS)
    ours = Command("harness.evaluate", module("ours.batch", *words), reported=True)
    dicts = Command("dicts in a loop, pytrec_eval", module("peers.pytrec_eval_batch", *words),
                    reported=True, digits=9)  # fmt: skip
    return Case(
        "Batch in memory, 31,531 queries x 120 documents, twelve metrics",
        "From numpy arrays to summaries; imports and data are not counted in the time, but "
        "are in the memory.",
        (ours, dicts),
        (Target(ours, 1 / 15, dicts), Target(ours, 1, dicts, by="memory")),
    )


def compat_long(setup: Setup) -> Case:
    """Dicts of 500 queries with 1,000 documents each."""
    return _compat(setup, 500, 1000)


def compat_short(setup: Setup) -> Case:
    """Dicts of 5,000 queries with 100 documents each."""
    return _compat(setup, 5000, 100)


def _compat(setup: Setup, n_queries: int, depth: int) -> Case:
    words = (str(setup.queries(n_queries)), str(depth), *FILE_METRICS)
    pairs = []
    for label, name in (("in one call", "once"), ("a call for each query", "calls")):
        ours, peer = (
            Command(f"{who}, {label}", module(f"{where}_{name}", *words), reported=True, digits=9)
            for who, where in (
                ("compat.RelevanceEvaluator", "ours.compat"),
                ("pytrec_eval", "peers.pytrec_eval"),
            )
        )
        pairs.append((ours, peer))
    return Case(
        f"Dicts in memory, {n_queries:,} queries x {depth:,} documents, seven measures",
        "From dicts to values of each query; imports, data, making the evaluator and one call "
        "before are not counted in the time. 50 judged documents a query. Ours hands small calls "
        "to pytrec_eval after checks; its row shows what those cost.",
        tuple(command for pair in pairs for command in pair),
        tuple(Target(ours, 1, peer) for ours, peer in pairs),
    )
