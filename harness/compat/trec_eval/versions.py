"""The two versions of trec_eval: their measures in the order they are printed, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ...core.names import NICKNAMES

Takes = Literal["nothing", "cutoffs", "levels", "numbers", "gains"]
Summary = Literal["mean", "sum", "gm", "queries", "relevant", "runid", "nothing"]

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RECALL = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True)
class Measure:
    """How one of trec_eval's measures is asked for and printed.

    Parameters
    ----------
    name : str
    takes : str
        What may follow its name and a point. ``cutoffs`` (whole) and ``levels`` are sorted and
        give one line each; ``numbers`` and ``gains`` (``1=3,2=9``) become part of the name.
    default : tuple of float
        The cutoffs, levels or numbers where none are given.
    summary : str
        What stands in the line for all queries.
    per_query : bool
        Whether there are lines for single queries.
    whole : bool
        Whether it is printed as a whole number.
    needs_documents : bool
        Whether it looks at the ranking, and so stops at a docno that is there twice.
    """

    name: str
    takes: Takes = "nothing"
    default: tuple[float, ...] = ()
    summary: Summary = "mean"
    per_query: bool = True
    whole: bool = False
    needs_documents: bool = True


_SPECIAL = (
    Measure("runid", summary="runid", per_query=False, needs_documents=False),
    Measure("num_q", summary="queries", per_query=False, whole=True, needs_documents=False),
    Measure("num_ret", summary="sum", whole=True),
    Measure("num_rel", summary="relevant", whole=True),
    Measure("num_rel_ret", summary="sum", whole=True),
    Measure("num_nonrel_judged_ret", summary="sum", whole=True),
    Measure("gm_map", summary="gm", per_query=False),
    Measure("gm_bpref", summary="gm", per_query=False),
    *(
        Measure(name, "cutoffs", _CUTOFFS)
        for name in ("P", "recall", "ndcg_cut", "map_cut", "relative_P")
    ),
    Measure("success", "cutoffs", (1, 5, 10)),
    Measure("unj", "cutoffs", (5, 10, 20)),
    Measure("iprec_at_recall", "levels", _RECALL),
    Measure("Rprec_mult", "levels", _MULTIPLES),
    Measure("relstring", "numbers", (10.0,), summary="nothing"),
    Measure("utility", "numbers", (1.0, -1.0, 0.0, 0.0)),
    Measure("11pt_avg", "numbers", _RECALL),
    Measure("set_F", "numbers", (1.0,)),
    *(
        Measure(name, "gains")
        for name in ("ndcg", "ndcg_rel", "Rndcg", "G", "dcg", "ideal_dcg", "rbp", "rbp_resid")
    ),
)
_BY_NAME = {measure.name: measure for measure in _SPECIAL}


@dataclass(frozen=True)
class Version:
    """One version of the program.

    ``order`` are its measures as it prints them, ``nicknames`` the measures of each nickname;
    ``ties`` is the policy of its ranking.
    """

    number: int
    title: str
    ties: Literal["trec_eval", "trec_eval10"]
    order: tuple[str, ...]
    nicknames: Mapping[str, tuple[str, ...]]

    def measure(self, name: str) -> Measure:
        """Return the measure of this name, which is one of ``order``."""
        return _BY_NAME.get(name, Measure(name))


_ALL = NICKNAMES["all_trec"]
_AFTER_G = _ALL.index("G") + 1
_ADDED = ("rbp", "rbp_resid", "unj")
PREFERENCES = [
    "prefs_num_prefs_poss",
    "prefs_num_prefs_ful",
    "prefs_num_prefs_ful_ret",
    "prefs_simp",
    "prefs_pair",
    "prefs_avgjg",
    "prefs_avgjg_Rnonrel",
    "prefs_simp_ret",
    "prefs_pair_ret",
    "prefs_avgjg_ret",
    "prefs_avgjg_Rnonrel_ret",
    "prefs_simp_imp",
    "prefs_pair_imp",
    "prefs_avgjg_imp",
    "map_avgjg",
    "P_avgjg",
    "Rprec_mult_avgjg",
    "all_prefs",
    "prefs",
    "qrels_jg",
]
"""Measures and nicknames of both versions that need other judgements than qrels."""
VERSIONS: Mapping[str, Version] = {
    "9": Version(9, "9.0.8", "trec_eval", (*_ALL, "yaap"), NICKNAMES),
    "10": Version(
        10,
        "10.0",
        "trec_eval10",
        (*_ALL[:_AFTER_G], "dcg", "ideal_dcg", *_ALL[_AFTER_G:], "yaap", *_ADDED),
        {**NICKNAMES, "all_trec": (*_ALL, *_ADDED)},
    ),
}
