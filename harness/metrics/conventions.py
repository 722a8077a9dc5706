"""Each tool's settings, as data: what reproduces its numbers."""

from __future__ import annotations

from ..core.convention import CONVENTIONS, Convention

_TREC = (
    "map gm_map bpref gm_bpref Rprec recip_rank P recall ndcg success set_P set_recall set_F "
    "set_map"
)
CONVENTIONS |= {
    each.name: each
    for each in (
        Convention(
            "trec_eval9",
            "trec_eval 9.0.8",
            "form_res_rels.c, m_ndcg_cut.c",
            {"ties": "trec_eval", "scores": "float32"},
            {name: {} for name in _TREC.split()},
        ),
    )
}
