"""How alike two rankings of named things are: leaderboards, lists of systems, any two orders."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from ..core.align import align, as_reference
from ..core.arguments import check_arguments, check_choice, wrong
from ..core.policy import Policy
from ..core.tables import Run
from ..errors import InputError, Problem, first_of
from .correlation import kendall, spearman, tau_ap
from .overlap import Tied
from .pair_agreement import concordance
from .rbo import PERSISTENCE, ao, rbo

Ranking = Mapping[str, float] | Sequence[str | Collection[str]]
"""Scores by name, higher is better; or names, the best first, those of an inner list being tied."""
_POLICY = Policy(ties="stable")


@dataclass(frozen=True)
class RankSimilarity:
    """What :func:`rank_similarity` finds; over the shared names unless stated.

    Parameters
    ----------
    shared : int
        Names on both lists.
    only_first, only_second : tuple of str
        Names on one of them.
    tau_a, tau_b : float
        Kendall's tau (:func:`harness.metrics.correlation.kendall`).
    tau_ap, tau_ap_back : float
        AP correlation, the first list being the truth, and the second one; if scores are
        tied, the mean over the orders of ties (:func:`harness.metrics.correlation.tau_ap`).
    spearman : float
        Spearman's rho.
    rbo, rbo_min, rbo_max, rbo_res : float
        Rank-biased overlap of the whole lists, extrapolated, its bounds and what lies between
        them (:func:`harness.metrics.rbo.rbo`).
    ao : float
        Average overlap of the whole lists, to the end of the shorter one.
    swaps : int
        Pairs in the opposite order; a pair that a list ties is in none.
    swaps_normalised : float
        These as a share of the pairs that the first list does not tie.
    same_top : bool
        Whether the lists have the same names at rank 1, on the whole lists.
    rank_change : dict of str to int
        By how many ranks each shared name is higher on the second list, both lists cut down
        to the shared names, tied ones having the rank of the first of them.
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
    """Return how alike two rankings are, by every measure at once.

    The formulas are those of the metrics ``kendall``, ``tau_ap``, ``spearman``, ``rbo``, ``ao``
    and ``swaps``, which compare rankings query by query.

    Parameters
    ----------
    first, second : mapping of str to float, or sequence
        Scores, higher is better; or names, the best first, tied ones in an inner list.
    p : float
        Persistence of RBO, in (0, 1).
    tied : {"w", "a", "b", "none"}
        How ties count in RBO and AO. ``w``, the default: equal ranks are real, as on a
        leaderboard. ``none`` breaks them by the order in which names are given.

    Returns
    -------
    RankSimilarity
        NaN for what is not defined, as tau for fewer than two shared names.

    Raises
    ------
    InputError
        If a list is empty or names something twice, a score is not finite, or the lists
        share no name.
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
        raise InputError(
            Problem(
                "",
                f"the lists have no name in common: first has {first_of([*scores[0]], 3)}, "
                f"second has {first_of([*scores[1]], 3)}",
                fix="check that both write names alike",
            )
        )
    # The first run is the reference, the second one is evaluated.
    aligned = align(as_reference(runs[0], runs[0].qids, _POLICY), runs[1], _POLICY)
    back = align(as_reference(runs[1], runs[1].qids, _POLICY), runs[0], _POLICY)
    places = [ranks([each[name] for name in shared]) for each in scores]
    changes = [one - other for one, other in zip(*places, strict=True)]
    tops = [_best(each) for each in scores]
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
        same_top=tops[0] == tops[1],
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
                    raise InputError(
                        Problem(
                            where,
                            f"expected each name once, got '{name}' twice",
                            fix="name each once",
                        )
                    )
                scores[name] = -float(place)
    if not scores:
        raise InputError(Problem(where, "an empty list", fix=_FIX))
    return Run.from_dict({"": scores}, name=where)


def ranks(scores: Sequence[float]) -> list[int]:
    """Return ranks by falling score, tied ones having that of the first of them."""
    falling = -np.asarray(scores)
    found: list[int] = (np.searchsorted(np.sort(falling), falling) + 1).tolist()
    return found


def _best(scores: Mapping[str, float]) -> set[str]:
    """Return the names at rank 1."""
    most = max(scores.values())
    return {name for name, score in scores.items() if score == most}
