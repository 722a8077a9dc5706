"""Write the reference of metrics: a page for each family, with formulas and parameters."""

from __future__ import annotations

import inspect
import re
from typing import NamedTuple

from docs.command_pages import NOTE, code, example_of
from docs.mathml import formula
from harness.core.arguments import Parameter
from harness.core.metric import REGISTRY, Definition
from harness.core.settings import PARAMETERS
from harness.core.tool_names import TOOL_NAMES
from harness.reports import catalogue

WHICH = """\
| you have | use | because |
|---|---|---|
| graded labels, a fixed list length | `ndcg@10` | rewards high grades at high ranks |
| numbers from LightGBM or XGBoost | `ndcg(convention=lightgbm)@10` or \
`ndcg(convention=xgboost)@10` | repeats the tool's choices |
| binary judgements, full rankings | `map` | counts every relevant document |
| one right answer per query | `recip_rank@10` | depends on the first relevant document only |
| candidates for a reranker | `recall@1000` | the reranker cannot recover what is missing |
| judgements with gaps | `bpref`, `judged@10` | leave out unjudged documents; show their share |
| readers who stop when satisfied | `err@20`, `rbp(p=0.8)` | model how far they read |
| short lists that users read to the end | `arp` | average rank, weighted by grade |
| pairs that must be in order | `opa`, `swaps` | share of pairs in order; exchanges of documents |
| two rankings without judgements | `harness similarity` | compares rankings with RBO |

Report the metric that your task's earlier papers report, and name its gain and cutoff.
`harness conventions` shows whether the choice of tool changes the order of your systems.
"""

VALUES = {
    "convention": "a [convention](conventions.md)",
    "ties": "`trec_eval`, `stable`, `average`, ... ([all](../explanation/ties.md#ties))",
}
"""Values of settings that other pages list."""
TOOL_NAMES_NOTE = """\
You can write a metric as another tool names it, with a number for `k`. Outputs use the name here.
Ties and queries without relevant documents follow your policy; add `convention=lightgbm`, or
another tool, to treat them as that tool does. If a name has two meanings, the error lists them.
`harness metrics accuracy` searches these tables.
"""


TOOLS = ("ir_measures", "pytrec_eval", "trec_eval")
"""Names of tools that look like code."""
NAME = r"'?((?:\*(?=_))?\w[\w-]*(?:\([^()\s]*=[^()\s]*\))?(?:[@=][\w.,=-]*[\w-])?)'?"
"""A word, a setting, or a metric with settings and a cutoff."""


class Family(NamedTuple):
    """Metrics of one page: its title, what they measure, their names, and shared symbols."""

    title: str
    about: str
    names: str
    symbols: str = ""


_RANKS = "*g*~i~ is the grade of the document at rank *i*"
_COUNTS = (
    "*r*~i~ is 1 if the document at rank *i* is relevant and 0 if not; *R* is the number of "
    "relevant documents in the qrels, and *n* the number of retrieved documents"
)
FAMILIES = {
    "gain": Family(
        "Gain by rank", "Graded documents near the top count most.",
        "ndcg dcg ncg mean_ndcg G ndcg_rel Rndcg binG",
        f"{_RANKS}, and gain(*g*) its gain: the grade, or 2^*g*^ − 1 with `gain=exp`",
    ),
    "precision-and-recall": Family(
        "Precision and recall", "Count relevant documents in the first *k*, or in the whole list.",
        "P recall f1 success hits relative_P Rprec Rprec_mult set_P set_recall set_F "
        "set_relative_P set_map utility",
        _COUNTS,
    ),
    "average-precision": Family(
        "Average precision", "Combine the precisions at the ranks of relevant documents.",
        "map gm_map bpref gm_bpref infAP iprec_at_recall 11pt_avg yaap",
        f"{_COUNTS}; P@*i* is the precision of the first *i* documents",
    ),
    "rank-of-relevant": Family(
        "Ranks of relevant documents", "Measure the ranks at which relevant documents are.",
        "recip_rank first_rank median_first_rank arp", _RANKS,
    ),
    "reader-models": Family(
        "Models of a reader", "Weight ranks by the chance that a reader gets there.",
        "err nerr pfound rbp insq inst",
        f"{_RANKS}; the document satisfies the reader with probability "
        "*R*~i~ = (2^*g*^ − 1) / 2^max_grade^, with *g* for *g*~i~",
    ),
    "order": Family(
        "Order and correlation", "Compare the ranking with the order of the grades, or with "
        "another run (`reference=`).",
        "swaps opa auc pairwise_logloss kendall spearman pearson tau_ap rbo ao",
        "*s*~i~ and *g*~i~ are the score and the grade of document *i*, over the judged and "
        "retrieved documents of a query",
    ),
    "diversity": Family(
        "Diversity", "Reward documents about subtopics that the documents above do not cover. "
        "Read the qrels with `--qrels-format diversity`. For the values of ndeval, add "
        "`--ties docno+`.",
        "alpha_ndcg err_ia",
        "*G*~i~ is the sum over the subtopics of document *i* of (1 − α)^*c*^, and *c* counts the "
        "earlier documents about the subtopic",
    ),
    "scores-and-counts": Family(
        "Scores, judgements and counts", "Measure scores as predictions and the share of judged "
        "documents, and count as trec_eval does.",
        "mse judged unjudged num_q num_ret num_rel num_rel_ret num_nonrel_judged_ret relstring "
        "runid",
    ),
}  # fmt: skip

_DCG = r"\sum_{i=1}^k \frac{\text{gain}(g_i)}{\log_2(i+1)}"
FORMULAS = {
    "dcg": (r"\text{DCG@}k = " + _DCG, ""),
    "ndcg": (
        r"\text{nDCG@}k = \frac{\text{DCG@}k}{\text{ideal DCG@}k} \text{ with } \text{DCG@}k = "
        + _DCG,
        "",
    ),
    "ncg": (r"\text{nCG@}k = \frac{\sum_{i=1}^k \text{gain}(g_i)}{\text{ideal CG@}k}", ""),
    "mean_ndcg": (
        r"\text{MeanNDCG} = \frac{1}{n} \sum_{k=1}^n \text{nDCG@}k",
        "*n* documents are retrieved, judged or not.",
    ),
    "G": (
        r"\text{G} = \frac{1}{\text{all gains}} \sum_i "
        r"\frac{\text{gain}(g_i)}{\log_2(2 + c_i - a_i)}",
        "*a*~i~ is the sum of gains up to and including document *i*, and *c*~i~ the largest "
        "possible sum, with at least 1 for each rank.",
    ),
    "binG": (
        r"\text{binG} = \frac{1}{R} \sum_i \frac{r_i}{\log_2(2 + m_i)}",
        "*R* documents are relevant, *r*~i~ is 1 for these, and *m*~i~ documents above rank *i* "
        "are not.",
    ),
    "P": (r"\text{P@}k = \frac{1}{k} \sum_{i=1}^k r_i", ""),
    "recall": (r"\text{recall@}k = \frac{1}{R} \sum_{i=1}^k r_i", ""),
    "f1": (
        r"\text{F1@}k = \frac{2 P \cdot Q}{P + Q} = \frac{2 h}{k + R}",
        "*P* and *Q* are precision and recall at *k*; *h* of the first *k* documents are relevant.",
    ),
    "hits": (r"\text{hits@}k = \sum_{i=1}^k r_i", ""),
    "relative_P": (r"\text{relative P@}k = \frac{1}{\min(k, R)} \sum_{i=1}^k r_i", ""),
    "Rprec": (r"\text{Rprec} = \frac{1}{R} \sum_{i=1}^R r_i", ""),
    "Rprec_mult": (
        r"\text{Rprec mult@}m = \frac{1}{k} \sum_{i=1}^k r_i \text{ with } k = \floor(m R + 0.9)",
        "",
    ),
    "set_P": (r"\text{set P} = \frac{1}{n} \sum_{i=1}^n r_i", ""),
    "set_recall": (r"\text{set recall} = \frac{1}{R} \sum_{i=1}^n r_i", ""),
    "set_relative_P": (r"\text{set relative P} = \frac{1}{\min(n, R)} \sum_{i=1}^n r_i", ""),
    "set_map": (
        r"\text{set MAP} = \frac{h^2}{n R} \text{ with } h = \sum_{i=1}^n r_i",
        "",
    ),
    "set_F": (
        r"\text{F} = \frac{(\beta + 1) P \cdot Q}{\beta P + Q}",
        "*P* and *Q* are precision and recall of the set.",
    ),
    "map": (
        r"\text{AP} = \frac{1}{R} \sum_{i=1}^n r_i \cdot \text{P@}i",
        "",
    ),
    "gm_map": (r"\text{GMAP} = \exp(\text{mean of } \ln \max(\text{AP}, 0.00001))", ""),
    "gm_bpref": (r"\text{GM bpref} = \exp(\text{mean of } \ln \max(\text{bpref}, 0.00001))", ""),
    "bpref": (
        r"\text{bpref} = \frac{1}{R} \sum_i r_i (1 - \frac{\min(n_i, R)}{\min(N, R)})",
        "*N* documents are judged non-relevant; *n*~i~ of these are above rank *i*.",
    ),
    "yaap": (
        r"\text{YAAP} = \ln \frac{1 + s}{1 + R - s} \text{ with } s = \sum_{i=1}^n r_i \cdot "
        r"\text{P@}i",
        "",
    ),
    "recip_rank": (
        r"\text{RR@}k = \frac{1}{\text{rank of the first relevant document}}",
        "It is 0 if none of the first *k* is relevant.",
    ),
    "first_rank": (
        r"\text{first rank} = \text{smallest rank of a relevant document}",
        "",
    ),
    "arp": (r"\text{ARP} = \frac{\sum_i g_i \cdot i}{\sum_i g_i}",
            "The sums are over the retrieved documents."),
    "err": (
        r"\text{ERR@}k = \sum_{i=1}^k \frac{1}{i} R_i \prod_{j<i} (1 - R_j)",
        "",
    ),
    "nerr": (
        r"\text{nERR@}k = \frac{\text{ERR@}k}{\text{ideal ERR@}k}",
        "The ideal ERR is that of all judged documents in descending order of grade.",
    ),
    "pfound": (r"\text{pFound@}k = \sum_{i=1}^k d^{i-1} R_i \prod_{j<i} (1 - R_j)",
               "*d* is `decay`."),
    "rbp": (r"\text{RBP@}k = (1 - p) \sum_{i=1}^k p^{i-1} \text{gain}(g_i)", ""),
    "insq": (
        r"\text{INSQ@}k = \sum_{i=1}^k W_i \text{gain}(g_i) \text{ with } "
        r"W_i = \frac{c}{(i + 2T - 1)^2}",
        "*c* makes the sum of all weights 1.",
    ),
    "inst": (
        r"\text{INST@}k = \sum_{i=1}^k W_i \text{gain}(g_i) \text{ with } "
        r"W_{i+1} = W_i (\frac{i + T + T_i - 1}{i + T + T_i})^2",
        "The sum of all weights is 1.",
    ),
    "opa": (
        r"\text{OPA} = \frac{A + B / 2}{N}",
        "*N* pairs have *g*~i~ > *g*~j~; *A* of these have *s*~i~ > *s*~j~, and *B* have "
        "*s*~i~ = *s*~j~.",
    ),
    "auc": (
        r"\text{AUC} = \frac{A + B / 2}{N}",
        "*N* pairs have a relevant document *i* and a non-relevant document *j*; *A* of these have "
        "*s*~i~ > *s*~j~, and *B* have *s*~i~ = *s*~j~.",
    ),
    "pairwise_logloss": (
        r"\text{loss} = \text{mean over pairs with } g_i > g_j \text{ of } "
        r"\ln(1 + \exp(-\alpha (s_i - s_j)))",
        "",
    ),
    "kendall": (
        r"\tau_b = \frac{C - D}{\sqrt{(N - T_s)(N - T_g)}}",
        "*C* of the *N* pairs are in the right order and *D* in the wrong one; *T*~s~ have tied "
        "scores and *T*~g~ equal grades.",
    ),
    "pearson": (
        r"r = \frac{\sum_i (s_i - \text{mean } s)(g_i - \text{mean } g)}"
        r"{\sqrt{\sum_i (s_i - \text{mean } s)^2 \sum_i (g_i - \text{mean } g)^2}}",
        "",
    ),
    "tau_ap": (
        r"\tau_{AP} = \frac{2}{n - 1} \sum_{i=2}^n \frac{C_i}{i - 1} - 1",
        "*C*~i~ of the *i* − 1 documents above the *i*-th belong above it.",
    ),
    "rbo": (
        r"\text{RBO} = (1 - p) \sum_d p^{d-1} \frac{X_d}{d}",
        "*X*~d~ documents are in the first *d* of both lists.",
    ),
    "ao": (
        r"\text{AO@}k = \frac{1}{k} \sum_{d=1}^k \frac{X_d}{d}",
        "*X*~d~ documents are in the first *d* of both lists.",
    ),
    "alpha_ndcg": (
        r"\alpha\text{-nDCG@}k = \frac{\alpha\text{-DCG@}k}{\text{ideal } \alpha\text{-DCG@}k} "
        r"\text{ with } \alpha\text{-DCG@}k = \sum_{i=1}^k \frac{G_i}{\log_2(i + 1)}",
        "",
    ),
    "err_ia": (
        r"\text{ERR-IA@}k = \frac{1}{\text{largest sum}} \sum_{i=1}^k \frac{G_i}{i}",
        "The largest sum is that of a list of documents about all subtopics.",
    ),
    "mse": (r"\text{MSE} = \frac{1}{n} \sum_i (g_i - s_i)^2",
            "The sum is over the *n* judged and retrieved documents of a query."),
    "judged": (
        r"\text{judged@}k = \frac{\text{judged documents at ranks 1 to } k}{\min(k, n)}",
        "*n* documents are retrieved, so a short list does not count as unjudged.",
    ),
    "unjudged": (r"\text{unjudged@}k = 1 - \text{judged@}k", ""),
}  # fmt: skip
"""Formulas of metrics, and sentences about symbols that the page's first lines do not explain."""
_IN_WORDS = re.compile(r"\w[\w@ ().-]* = .*?(?<!\.)\.(?=\s|$)\s*", re.S)
"""A first sentence that is the formula in words."""


def pages() -> dict[str, str]:
    """Return the index of metrics and the page of each family, by file name."""
    index = [
        NOTE + "# Metrics\n",
        "Give a metric with `-m`: `-m ndcg`, `-m ndcg@10` (the first 10 ranks) or "
        '`-m "ndcg(gain=exp)@10"` (with a parameter). A list of cutoffs (`ndcg@1,3,5`) is several '
        "metrics; `[@k]` means that a cutoff is optional.\n",
        "trec_eval's spellings (`ndcg_cut_10`, `P.5,10`, `official`), ir_measures' (`nDCG@10`, "
        "`AP(rel=2)`) and [other tools'](#names-of-other-tools) work too. Files of results have "
        "the names on this page; tables print nDCG@10 for `ndcg@10`. `harness metrics NAME` prints "
        "a definition.\n",
        "## Which metric should I use\n",
        WHICH,
        "## All metrics\n",
    ]
    written = {}
    for family, (title, about, names, _) in FAMILIES.items():
        index += [f"### [{title}](metrics/{family}.md)\n", f"{about}\n"]
        index += ["| metric | better | what it is |", "|---|---|---|"]
        for name in names.split():
            metric = REGISTRY[name]
            link = f"[`{name}`](metrics/{family}.md#{name.lower()})"
            index.append(f"| {link} | {metric.direction or ''} | {inline(metric.headline)} |")
        index.append("")
        page = f"reference/metrics/{family}.md"
        written[page] = _page(FAMILIES[family], example_of(page))
    index += ["## Settings of every metric\n"]
    index += ["Write these next to a metric's own parameters, as in `ndcg(ties=average)@10`. "
              "Without them, the run's policy applies.\n"]  # fmt: skip
    index += ["| setting | values | meaning |", "|---|---|---|"]
    for name, parameter in PARAMETERS.items():
        values, meaning = VALUES.get(name) or _values(parameter), catalogue.SETTINGS[name]
        meaning = meaning.partition(":")[0] if name == "ties" else meaning
        index.append(f"| {code(name, name)} | {values} | {meaning} |")
    index += ["", "## Names of other tools\n", TOOL_NAMES_NOTE]
    together: dict[str, dict[tuple[str, str], list[str]]] = {}
    for tools, theirs, ours, remark in catalogue.counterparts(TOOL_NAMES):
        for tool in tools.split(", "):
            same = together.setdefault(tool, {}).setdefault((ours, remark), [])
            same.append(f"`{theirs}`")
    for tool in sorted(together, key=lambda tool: (tool == "papers", tool.lower())):
        same = [other for other in together if together[other] == together[tool]]
        if tool != same[0]:
            continue
        index += [f"### {' and '.join(same).replace('papers', 'Papers')}\n"]
        index += ["| its name | here | note |", "|---|---|---|"]
        for (ours, remark), names in together[tool].items():
            shown = " or ".join(f"`{part}`" for part in ours.split(" or "))
            shown = ours if ours == catalogue.UNAVAILABLE else shown
            index.append(f"| {', '.join(names)} | {shown} | {coded(remark)} |")
        index.append("")
    return {"reference/metrics.md": "\n".join([*index, ""]), **written}


def _page(family: Family, example: str) -> str:
    lines = [NOTE + f"# {family.title}\n", f"{family.about}\n"]
    if family.symbols:
        lines.append(f"{_scripts(family.symbols)}.\n")
    lines.append(
        "Each metric also takes the [settings of every metric](../metrics.md"
        "#settings-of-every-metric), such as `ties` and `convention`.\n"
    )
    lines.append(example)
    for name in family.names.split():
        lines += _metric(REGISTRY[name])
    return "\n".join(lines)


def _metric(definition: Definition) -> list[str]:
    parts = _sections(definition)
    headline, _, text = parts[""].partition("\n")
    lines = [f"## {definition.name} {{ #{definition.name.lower()} }}\n", f"{inline(headline)}\n"]
    lines += [f"{code(catalogue.spelling(definition))}\n"]
    text = text.strip()
    if definition.name in FORMULAS:
        source, about = FORMULAS[definition.name]
        text = _IN_WORDS.sub("", text, count=1) if _IN_WORDS.match(text) else text
        text = text[:1].upper() + text[1:] if text.startswith(("the ", "it ", "nDCG w")) else text
        lines += [f"{formula(part)}\n" for part in source.split(r" \text{ with } ")]
        lines += [f"{_scripts(about)}\n"] * bool(about)
    notes = parts.get("Notes", "")
    for paragraph in re.split(r"\n\s*\n", f"{text}\n\n{notes}".strip()):
        lines += [f"{inline(paragraph)}\n"] * bool(paragraph)
    lines += _parameters(definition, catalogue.entries(parts.get("Parameters", "")))
    lines += ["| property | value |", "|---|---|"]
    for name, value in catalogue.facts(definition).items():
        names = name in ("other spellings", "trec_eval", "other tools")
        shown = ", ".join(map(code, value.split(", "))) if names else inline(value)
        lines += [f"| {name} | {shown} |"] * bool(value)
    return [*lines, ""]


def _parameters(definition: Definition, about: dict[str, str]) -> list[str]:
    """Return a table of parameters, with a line for each value that has a meaning of its own."""
    rows = []
    for name, parameter in definition.parameters.items():
        default = catalogue.values_and_default(parameter).rpartition("; ")[2]
        default = default.removeprefix("default ")
        usual = "The run to compare with; by default the ideal order."
        meaning = inline(about.get(name, parameter.about or usual))
        marks = [f"`{text}`: " for text in parameter.choice_texts]
        if not marks or any(mark not in meaning for mark in marks):
            meaning = f"{_values(parameter)}<br>{meaning}"
        for mark in marks:
            meaning = re.sub(rf"(?<=\.) {mark}", f"<br>{mark}", meaning)
        shown = default if default in ("none", "required", "the whole list") else code(default)
        anchor = f"{definition.name.lower()}-{name}"
        rows.append(f"| {code(name, anchor)} | {shown} | {meaning} |")
    head = ["| parameter | default | values and meaning |", "|---|---|---|"]
    return [*head, *rows, ""] if rows else []


def _values(parameter: Parameter) -> str:
    """Return the values of a parameter or setting; those to copy are code."""
    names = parameter.choice_texts or ("true", "false") * (parameter.type is bool)
    return ", ".join(map(code, names)) or catalogue.values(parameter)


def _sections(definition: Definition) -> dict[str, str]:
    """Return the text below each heading of a docstring, with its marks of code."""
    document = inspect.getdoc(definition.function) or ""
    text, *_ = re.split(r"\n+>>> ", document, maxsplit=1)
    lead, *rest = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.M)
    return {"": lead.strip(), **dict(zip(rest[::2], rest[1::2], strict=True))}


def inline(text: str) -> str:
    """Return a docstring's text as one paragraph of Markdown.

    >>> inline("``cut`` as `short`;\\nsee `harness.rbo_weight`, a_i * b_max 2^k | b")
    '`cut` as `short`; see `rbo_weight`, a<sub>i</sub> \\\\* b\\\\_max 2<sup>k</sup> \\\\| b'
    """
    text = re.sub(r"`harness\.[\w.]*?(\w+)`", r"`\1`", " ".join(text.split()))
    parts = re.split(r"(``?[^`]+``?)", text)
    marked = (re.sub(r"([*_|\[])", r"\\\1", part.replace("<", "&lt;")) for part in parts[::2])
    marked = (re.sub(r"\b([A-Za-z])\\_([a-z])\b", r"\1<sub>\2</sub>", part) for part in marked)
    marked = (re.sub(r"\^(\(.*?\)|-?\w+(?:\\_\w+)*)", r"<sup>\1</sup>", part) for part in marked)
    coded = [part.strip("`") for part in parts[1::2]]
    spelled = [code(part) if "|" in part else f"`{part}`" for part in coded]
    return "".join(a + b for a, b in zip(marked, [*spelled, ""], strict=True))


def coded(text: str) -> str:
    """Return text in which settings and names with a mark are code, except those of tools.

    >>> coded("use 'opa(tied=wrong)@5', which trec_eval has (short=nan)")
    'use `opa(tied=wrong)@5`, which trec_eval has (`short=nan`)'
    """

    def mark(match: re.Match[str]) -> str:
        is_code = re.search("[=@_]", match[1]) and not match[1].startswith(TOOLS)
        return f"`{match[1]}`" if is_code else match[0]

    return re.sub(NAME, mark, text)


def _scripts(text: str) -> str:
    """Return text with ``a~i~`` and ``a^i^`` as HTML."""
    return re.sub(r"\^([^^]+)\^", r"<sup>\1</sup>", re.sub(r"~(\w+)~", r"<sub>\1</sub>", text))
