"""Arrays and dicts that are in memory already."""

from __future__ import annotations

from .case import FILE_METRICS, LIST_METRICS, Case, Command, Setup, Target, module

N_QUERIES = 31531
FOUR = ("map", "ndcg", "ndcg_cut_5", "ndcg_cut_10")
ELEVEN = tuple(metric for metric in LIST_METRICS if metric != "bpref")


def batch(setup: Setup) -> Case:
    """Padded arrays of 31,531 x 120 in memory."""
    n_queries, part = setup.queries(N_QUERIES), setup.queries(N_QUERIES / 10)
    ours = _arrays("harness.evaluate", "ours.batch", n_queries, LIST_METRICS)
    four = _arrays("harness.evaluate, scikit-learn's four", "ours.batch", n_queries, FOUR)
    dicts = _arrays("dicts in a loop, pytrec_eval", "peers.pytrec_eval_batch", n_queries,
                    LIST_METRICS, digits=9)  # fmt: skip
    ranx = _arrays("ranx", "peers.ranx_batch", n_queries, LIST_METRICS, digits=7)
    sklearn = _arrays("scikit-learn: map, ndcg, ndcg@5, ndcg@10", "peers.sklearn_batch",
                      n_queries, FOUR)  # fmt: skip
    torch = _arrays("torchmetrics, all but bpref: a tenth of the queries, time x 10",
                    "peers.torchmetrics_batch", part, ELEVEN,
                    repeats=3, scale=n_queries / part)  # fmt: skip
    return Case(
        "Batch in memory, 31,531 queries x 120 documents, twelve metrics",
        "From numpy arrays to summaries; imports, data and what numba compiles are not counted in "
        "the time, but are in the memory. torchmetrics takes the queries one by one. "
        "Five pairs of neighbours with unlike grades are tied in single precision, which "
        "trec_eval compares in, and not in ranx's double.",
        (ours, dicts, ranx, torch, four, sklearn),
        (
            Target(ours, 1 / 15, dicts),
            Target(ours, 1, dicts, by="memory"),
            Target(ours, 1 / 5, ranx),
            Target(ours, 1 / 5, torch),
            Target(four, 1 / 5, sklearn),
        ),
    )


def compat_long(setup: Setup) -> Case:
    """Dicts of 500 queries with 1,000 documents each."""
    return _compat(setup, 500, 1000)


def compat_short(setup: Setup) -> Case:
    """Dicts of 5,000 queries with 100 documents each."""
    return _compat(setup, 5000, 100)


def compat_renewed(setup: Setup) -> Case:
    """Dicts of 5,000 queries with 10 documents each, and as many evaluators."""
    return _compat(setup, 5000, 10)


def similarity(setup: Setup) -> Case:
    """Two runs of 1,000 queries x 1,000 documents, most of them tied."""
    n_queries, few = setup.queries(1000), 10
    each = {
        name: _arrays(name, "ours.similarity", n_queries, ("1000", name))
        for name in ("rbo(p=0.9,tied=w)", "rbo(p=0.9,tied=a)", "rbo(p=0.9,tied=b)", "swaps")
    }
    ours = _arrays("all four", "ours.similarity", n_queries, ("1000", *each))
    literal = _arrays("all four as written down, 10 queries, time scaled",
                      "peers.similarity_literal", few, ("1000",),
                      repeats=3, scale=n_queries / few)  # fmt: skip
    return Case(
        "Rank similarity of two runs, 1,000 queries x 1,000 documents on 300 score levels",
        "From aligned runs to values of each query; alignment, imports and data are not counted in "
        "the time. The literal loops go depth by depth, and pair by pair for swaps.",
        (ours, *each.values(), literal),
        tuple(Target(one, 0.1) for one in each.values()),
    )


def _compat(setup: Setup, n_queries: int, depth: int) -> Case:
    words = (str(setup.queries(n_queries)), str(depth), *FILE_METRICS)
    pairs = []
    ways = {"once": "in one call", "calls": "a call for each query"}
    if depth <= 10:
        ways = {"renewed": "a new evaluator for each query"}
    for name, label in ways.items():
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
        "From dicts to values of each query; imports, data, an evaluator of all queries and one "
        "call before are not counted in the time. At most 50 judged documents a query. Ours hands "
        "small calls to pytrec_eval after checks; its row shows what those cost.",
        tuple(command for pair in pairs for command in pair),
        tuple(Target(ours, 1.5 if "renewed" in ways else 1, peer) for ours, peer in pairs),
    )


def _arrays(
    label: str, name: str, n_queries: int, metrics: tuple[str, ...], *,
    digits: int = 0, repeats: int = 5, scale: float = 1.0,
) -> Command:  # fmt: skip
    """Return a module that takes the number of queries and metrics, and reports its seconds."""
    return Command(label, module(name, str(n_queries), *metrics), repeats, scale,
                   reported=True, digits=digits)  # fmt: skip
