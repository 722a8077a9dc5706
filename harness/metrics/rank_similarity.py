"""Similarity of two rankings, and of the rankings of a dataset's runs, query by query."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..core.align import align, as_reference
from ..core.arguments import check_arguments, check_choice, wrong
from ..core.policy import Policy
from ..core.qrels_and_runs import Run
from ..core.ragged import Floats, Ints
from ..errors import InputError, Problem, first_of
from ..progress import track
from .correlation import kendall, spearman, tau_ap
from .overlap import Tied
from .pair_agreement import concordance
from .rbo import PERSISTENCE, ao, rbo, tails_to
from .shared import powers

Ranking = Mapping[str, float] | Sequence[str | Collection[str]]
"""Scores by name, higher is better; or names, best first, with tied names in an inner list."""
_POLICY = Policy(ties="stable")


@dataclass(frozen=True)
class RankSimilarity:
    """Result of `rank_similarity`, over the shared names unless stated.

    Parameters
    ----------
    shared : int
        Names on both lists.
    only_first, only_second : tuple of str
        Names on the first or on the second list only.
    tau_a, tau_b : float
        Kendall's tau (`harness.metrics.correlation.kendall`).
    tau_ap, tau_ap_back : float
        AP correlation with the first list as the truth, and with the second one; for tied scores
        the mean over the orders of ties (`harness.metrics.correlation.tau_ap`).
    spearman : float
        Spearman's rho.
    rbo, rbo_min, rbo_max, rbo_res : float
        Rank-biased overlap of the whole lists: extrapolated, its bounds, and the difference of the
        bounds (`harness.metrics.rbo.rbo`).
    ao : float
        Average overlap of the whole lists, to the end of the shorter one.
    swaps : int
        Number of pairs in the opposite order, without pairs that a list ties.
    swaps_normalised : float
        Share of such pairs among those that the first list does not tie.
    same_top : bool
        Whether the whole lists have the same names at rank 1.
    rank_change : dict of str to int
        Number of ranks that each shared name gains on the second list, among the shared names;
        tied names share the best of their ranks.
    """

    shared: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    tau_a: float
    tau_b: float
    tau_ap: float
    tau_ap_back: float
    spearman: float
    rbo: float
    rbo_min: float
    rbo_max: float
    rbo_res: float
    ao: float
    swaps: int
    swaps_normalised: float
    same_top: bool
    rank_change: Mapping[str, int]


def rank_similarity(
    first: Ranking, second: Ranking, p: float = 0.9, tied: Tied = "w"
) -> RankSimilarity:
    """Compute RBO, Kendall's tau, AP correlation, Spearman's rho and more for two rankings.

    The metrics ``rbo``, ``ao``, ``kendall``, ``tau_ap``, ``spearman`` and ``swaps`` compare
    rankings query by query; their pages have the formulas.

    Parameters
    ----------
    first, second : mapping of str to float, or sequence
        Scores by name, higher is better; or names, best first, with tied names in an inner list.
    p : float
        Persistence of RBO, above 0 and below 1.
    tied : {"w", "a", "b", "none"}
        Ties in RBO and AO. ``w``: names really share a rank, as on a leaderboard. ``a`` and ``b``:
        ties are uncertain. ``none``: the order of the names breaks them.

    Returns
    -------
    RankSimilarity
        The measures; NaN if undefined, such as tau of fewer than two shared names.

    Raises
    ------
    InputError
        If a list is empty or has a name twice, a score is not finite, or the lists share no name.
    ArgumentError, UnknownNameError
        If p or `tied` has another value.

    Notes
    -----
    Webber, Moffat and Zobel, TOIS 28(4), 2010; Corsi and Urbano, SIGIR 2024; Yilmaz, Aslam and
    Robertson, SIGIR 2008.

    Examples
    --------
    >>> found = rank_similarity({"bm25": 0.3, "lsi": 0.2, "rm3": 0.4}, ["bm25", "rm3", "lsi"])
    >>> found.swaps, round(found.tau_b, 3), found.rank_change
    (1, 0.333, {'bm25': 1, 'lsi': 0, 'rm3': -1})
    >>> rank_similarity([["a", "b"], "c"], [["a", "b"], "c"]).rbo
    1.0
    """
    check_arguments(locals(), p=PERSISTENCE)
    check_choice("tied", tied, get_args(Tied))
    runs = [_run(first, "first"), _run(second, "second")]
    scores = [run.to_dict()[""] for run in runs]
    shared = [name for name in scores[0] if name in scores[1]]
    if not shared:
        contents = ", ".join(
            f"{name} has {first_of([*run], 3)}"
            for name, run in zip(("first", "second"), scores, strict=True)
        )
        message = f"the lists have no name in common: {contents}"
        raise InputError(message, fix="check that both lists use the same names")
    # The first run is the reference, the second one is evaluated.
    aligned = align(as_reference(runs[0], runs[0].qids, _POLICY), runs[1], _POLICY)
    back = align(as_reference(runs[1], runs[1].qids, _POLICY), runs[0], _POLICY)
    places = [ranks([run[name] for name in shared]) for run in scores]
    changes = [before - after for before, after in zip(*places, strict=True)]
    counts = concordance(aligned)
    opposite, differing = counts.wrong.item(), (counts.pairs - counts.tied_grades).item()
    return RankSimilarity(
        shared=len(shared),
        only_first=tuple(name for name in scores[0] if name not in scores[1]),
        only_second=tuple(name for name in scores[1] if name not in scores[0]),
        tau_a=kendall(aligned, form="a").item(),
        tau_b=kendall(aligned).item(),
        tau_ap=tau_ap(aligned, tied="a").item(),
        tau_ap_back=tau_ap(back, tied="a").item(),
        spearman=spearman(aligned).item(),
        rbo=rbo(aligned, p=p, tied=tied).item(),
        rbo_min=rbo(aligned, p=p, tied=tied, form="min").item(),
        rbo_max=rbo(aligned, p=p, tied=tied, form="max").item(),
        rbo_res=rbo(aligned, p=p, tied=tied, form="res").item(),
        ao=ao(aligned, tied=tied).item(),
        swaps=opposite,
        swaps_normalised=opposite / differing if differing else math.nan,
        same_top=_top(scores[0]) == _top(scores[1]),
        rank_change=dict(zip(shared, changes, strict=True)),
    )


_FIX = "give {'a': 0.3, 'b': 0.2} or ['a', 'b'], with at least one name"


def _run(ranking: Ranking, where: str) -> Run:
    """Return a list as a run with one query."""
    if isinstance(ranking, Mapping):
        scores = dict(ranking)
    else:
        if not isinstance(ranking, Sequence) or isinstance(ranking, (str, bytes)):
            raise wrong(where, "a mapping of names to scores, or a list of names", ranking, _FIX)
        scores = {}
        for place, group in enumerate(ranking):
            for name in group if isinstance(group, (list, tuple, set)) else [group]:
                if not isinstance(name, str):
                    raise wrong(f"{where}[{place}]", "a name", name, _FIX)
                if name in scores:
                    message = f"expected each name once, got '{name}' twice"
                    raise InputError(Problem(where, message, fix="name each once"))
                scores[name] = -float(place)
    if not scores:
        raise InputError(Problem(where, "an empty list", fix=_FIX))
    return Run.from_dict({"": scores}, name=where)


def ranks(scores: Sequence[float]) -> list[int]:
    """Return ranks by descending score; tied scores share the best of their ranks."""
    falling = -np.asarray(scores)
    positions: list[int] = (np.searchsorted(np.sort(falling), falling) + 1).tolist()
    return positions


def _top(scores: Mapping[str, float]) -> set[str]:
    """Return the names at rank 1."""
    best = max(scores.values())
    return {name for name, score in scores.items() if score == best}


Measure = Literal["rbo", "overlap"]
Rankings = dict[str, Ints]
"""The documents of each query as numbers, the best first."""


@dataclass(frozen=True)
class Similarity:
    """Similarity of the rankings of a dataset's runs.

    `values` are means over the `n_queries` queries that both runs answer, ``(n_runs, n_runs)``;
    NaN without such queries. Similar runs are next to each other. `measure` is such as
    ``RBO (p = 0.9)``.
    """

    dataset: str
    runs: tuple[str, ...]
    values: Floats
    n_queries: Ints
    measure: str

    def pairs(self, at_least: float = 0.0) -> list[tuple[str, str, float, int]]:
        """Return pairs of runs with their value and number of queries, the most similar first."""
        places = np.triu_indices(len(self.runs), 1)
        values, n_queries = self.values[places].tolist(), self.n_queries[places].tolist()
        runs = [(self.runs[i], self.runs[j]) for i, j in zip(*places, strict=True)]
        found = [(*pair, *cell) for pair, *cell in zip(runs, values, n_queries, strict=True)]
        return sorted((pair for pair in found if pair[2] >= at_least), key=lambda pair: -pair[2])


def rank_matrix(rankings: Sequence[Rankings], measure: Measure, p: float) -> tuple[Floats, Ints]:
    """Return the mean similarity of each pair of runs, and over how many queries it is."""
    total = np.zeros((len(rankings), len(rankings)))
    n_queries = np.zeros(total.shape, dtype=np.int64)
    qids = dict.fromkeys(qid for ranking in rankings for qid in ranking)
    for qid in track([*qids], "query"):
        places = np.array([k for k, ranking in enumerate(rankings) if len(ranking.get(qid, ()))])
        lists = [rankings[k][qid] for k in places]
        cells = np.ix_(places, places)
        total[cells] += _one_query(lists, measure, p)
        n_queries[cells] += 1
    with np.errstate(invalid="ignore"):
        return total / n_queries, n_queries


def _one_query(lists: Sequence[Ints], measure: Measure, p: float) -> Floats:
    """Return the similarity of each pair of rankings of one query."""
    lengths = np.array([ranking.size for ranking in lists])
    longest = int(lengths.max())
    documents, place = np.unique(np.concatenate(lists), return_inverse=True)
    parts = np.split(place, np.cumsum(lengths)[:-1])
    rank = np.full((len(lists), documents.size), longest + 1, dtype=np.int32)  # not retrieved
    for row, part in enumerate(parts):
        rank[row, part] = np.arange(1, part.size + 1)
    tails = tails_to(p, 2 * longest + 1)
    depths = np.arange(1, longest + 1)
    scale = (1 - p) / p
    # a document shared from depth m on adds scale * (R(m) - R(end + 1)) + p^end / end
    shared_from = np.concatenate([[0.0], scale * tails[depths], [0.0]])
    to_end = np.concatenate([[0.0], powers(p, depths) / depths - scale * tails[depths + 1]])
    values = np.eye(len(lists))
    for row, part in enumerate(parts[:-1]):
        later = slice(row + 1, None)
        own_rank = np.arange(1, part.size + 1, dtype=np.int32)
        depth = np.maximum(rank[later, part], own_rank)
        n_shared = (depth <= longest).sum(1)
        long = np.maximum(lengths[later], part.size)
        if measure == "overlap":
            value = n_shared / long
        else:
            short = np.minimum(lengths[later], part.size)
            n_short = (depth <= short[:, None]).sum(1)
            ends = n_short * to_end[short] + (n_shared - n_short) * to_end[long]
            value = np.clip(shared_from[depth].sum(1) + ends, 0.0, 1.0)
            # in lists of one length, every document then has the same rank in both
            value[(lengths[later] == part.size) & (depth == own_rank).all(1)] = 1.0
        values[row, later] = values[later, row] = value
    return values


def compare_rankings(
    dataset: str, rankings: Mapping[str, Rankings], measure: Measure, p: float, depth: int
) -> Similarity:
    """Compare the rankings of every pair of runs, and put similar runs next to each other.

    ``rbo`` is extrapolated rank-biased overlap, as the metric ``rbo(reference=...)`` computes it;
    ``overlap`` the number of shared documents over the length of the longer list. No ranking has
    more than `depth` documents.
    """
    label = f"RBO (p = {p:g})" if measure == "rbo" else f"overlap@{depth}"
    values, n_queries = rank_matrix([*rankings.values()], measure, p)
    return arranged(dataset, [*rankings], values, n_queries, label)


def arranged(
    dataset: str, names: Sequence[str], values: Floats, n_queries: Ints, measure: str
) -> Similarity:
    """Return the similarity of runs with similar runs next to each other."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distances = squareform(1 - np.nan_to_num(values), checks=False)
    order = leaves_list(linkage(distances, "average", optimal_ordering=True))
    cells = np.ix_(order, order)
    runs = tuple(names[k] for k in order)
    return Similarity(dataset, runs, values[cells], n_queries[cells], measure)
