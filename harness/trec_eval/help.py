"""What ``-h`` prints, in our own words."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable

from .. import metrics as _built_in
from ..core.metric import REGISTRY, TREC_CUT
from .arguments import USAGE_LINE, Arguments
from .versions import Measure

del _built_in

_OPTIONS = """
Evaluates a run against judgements and prints what trec_eval {version} prints.

  -m MEASURE[.PARAMETERS]  a measure or a nickname; may be repeated. Parameters follow a
                           point: -m P.5,10  -m iprec_at_recall.0.1,0.5  -m ndcg.1=3,2=9
                           'official' where none is named
  -q                       print each query's values too, queries sorted by qid
  -n                       do not print the values over all queries
  -c                       take means over all judged queries; those that the run does not
                           answer count as 0
  -l LEVEL                 smallest grade that is relevant (1); 0 or more. Below it trec_eval
                           counts unjudged documents too, and its map exceeds 1
  -M DEPTH                 look at the first DEPTH documents of each query only
  -J                       take documents without a judgement out of the ranking first
  -N NUM                   documents in the collection, for 'utility'
  -D LEVEL[.QID]           evaluate this query only. Above LEVEL 0 trec_eval also prints how
                           it computes ndcg, G and other measures with gains: not done here
  --as 9|10                follow trec_eval 9.0.8 (default) or 10.0, which compares scores as
                           doubles, rounds levels of recall, stops at a query that the run
                           does not answer unless -c is given, passes over lines that begin
                           with '#', and has more measures
  -h [-m MEASURE]...       print this, and what each of the measures is
  -v                       say which version is followed

Long names of the options are trec_eval's. -R and -T take qrels and trec_results only; -Z and
other judgements than qrels are left to trec_eval itself, as are gains of documents without a
judgement (-m ndcg.-1=1).

QRELS  one judgement a line: qid iteration docno grade. A grade below 0 means: in the pool, but
       not judged. The program stops, as trec_eval does, where the first query has no other.
RUN    one document a line: qid Q0 docno rank score tag. The order is that of the scores, equal
       ones by docno, the last in the alphabet first; the column rank is not looked at. A score
       NaN equals every other; among different ones it is refused, as it has no place there.
Both may be packed (gz, bz2, xz, zst), and '-' is standard input.

Exit status: 0 done, 1 wrong usage, 2 a file or a parameter cannot be used, 4 a query cannot be
evaluated, 7 no query is in both files. Warnings go to standard error.

measures   {measures}
nicknames  {nicknames}
"""
_OWN = {
    "unj": "Share of unjudged documents among the first k retrieved.",
    "rbp": "Rank-biased precision: gains brought to [0, 1], each by (1 - p) p^(rank - 1). The "
    "smallest and the largest gain that bring them there begin at 0; trec_eval 10.0 leaves open "
    "where they begin, so that any measure before it may change the C program's value.",
    "11pt_avg": "Mean of the interpolated precision at several levels of recall, which must rise: "
    "one that is higher than the next, and all before it, count as the largest precision.",
    "rbp_resid": "How much rbp could rise if all unjudged documents had the largest gain.",
    "ideal_dcg": "Discounted cumulative gain of the judged documents in the ideal order.",
    "relstring": "The grades of the first documents, a character each: a digit, '>' above 9, '.' "
    "in the pool but not judged, '-' not in the pool. For single queries only.",
    "runid": "The tag in the last line of the run.",
    "num_q": "Number of queries that the values are over.",
}
_TAKES = {
    "nothing": "",
    "cutoffs": "cutoffs, such as {name}.{default}",
    "levels": "levels, such as {name}.{default}",
    "numbers": "numbers, such as {name}.{default}",
    "gains": "gains by grade, such as {name}.1=3,2=9; a grade's own gain is the grade",
}


def help_text(arguments: Arguments) -> str:
    """Return the help for the program, or for the measures that are named with it."""
    version = arguments.version
    named = [name for name in version.order if name in arguments.measures]
    if named:
        return "\n".join(_define(version.measure(name)) for name in named)
    return (
        USAGE_LINE
        + "\n"
        + _OPTIONS.format(
            version=version.title,
            measures=_wrapped(version.order),
            nicknames=_wrapped(version.nicknames),
        )
    )


def _wrapped(names: Iterable[str]) -> str:
    text = textwrap.fill(" ".join(names), 80, break_long_words=False, break_on_hyphens=False)
    return text.replace("\n", "\n" + " " * 11)


def _define(measure: Measure) -> str:
    lines = [measure.name, *textwrap.wrap(_about(measure.name), 90)]
    default = ",".join(f"{number:g}" for number in measure.default)
    takes = _TAKES[measure.takes].format(name=measure.name, default=default)
    if measure.name.startswith("rbp"):
        takes = "the persistence p, such as " + measure.name + ".p=0.9"
    if takes:
        lines.append(f"takes {takes}")
    return lines[0] + "\n" + "".join(f"    {text}\n" for text in lines[1:])


def _about(name: str) -> str:
    """Return what a measure is: the first two paragraphs of the metric's own documentation."""
    if name in _OWN:
        return _OWN[name]
    definition = REGISTRY[TREC_CUT.get(name, name)]
    document = inspect.getdoc(definition.function) or ""
    about = " ".join(document.split("\n\nParameters\n")[0].replace("``", "").split())
    if name in TREC_CUT:
        about = f"{definition.name} of the first k documents. " + about
    return about
