"""Names that are no metric's own: trec_eval's for several metrics, and other tools' to suggest."""

from __future__ import annotations

from ..core.metric import TREC_CUT
from ..core.names import ELSEWHERE, NICKNAMES

_OFFICIAL = "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank"
_OFFICIAL += " iprec_at_recall P"
_SET = "runid num_q num_ret num_rel num_rel_ret utility set_P set_relative_P set_recall set_map"
_SET += " set_F"
_ALL = _OFFICIAL + " relstring recall infAP gm_bpref Rprec_mult utility 11pt_avg binG G ndcg"
_ALL += " ndcg_rel Rndcg ndcg_cut map_cut relative_P success set_P set_relative_P set_recall"
_ALL += " set_map set_F num_nonrel_judged_ret"

TREC_CUT |= {"ndcg_cut": "ndcg", "map_cut": "map"}
NICKNAMES |= {
    "official": tuple(_OFFICIAL.split()),
    "set": tuple(_SET.split()),
    "all_trec": tuple(_ALL.split()),
}
ELSEWHERE |= {
    **dict.fromkeys(("hit", "hits", "hitrate", "hit_rate", "hit_ratio", "hr"), "success"),
    **dict.fromkeys(("average_precision", "mean_average_precision", "avg_prec"), "map"),
    "prec": "P",
}
