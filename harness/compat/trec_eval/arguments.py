"""The command line, read as trec_eval's ``getopt_long`` reads it."""

from __future__ import annotations

import getopt
import inspect
import os
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ... import metrics as _built_in
from ...core.metric import REGISTRY, TREC_CUT
from ...errors import did_you_mean
from .versions import PREFERENCES, VERSIONS, Measure, Version

_LONGEST_NUMBER = re.compile(r"[ \t-\r]*([+-]?)0*([0-9]{0,20})")  # 20 digits are beyond the largest
_DECIMAL = re.compile(r"[ \t-\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_SPECIAL = re.compile(r"[ \t-\r]*([+-]?(?:inf(?:inity)?|nan))", re.IGNORECASE)
_HEXADECIMAL = re.compile(
    r"[ \t-\r]*([+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?)", re.IGNORECASE
)
_LARGEST_NUMBER = 2**63 - 1


def atol(text: str) -> int:
    """Return the whole number that `text` begins with, 0 where there is none.

    >>> atol("23.4"), atol(" -7x"), atol("x"), atol("1e3"), atol("9" * 5000)
    (23, -7, 0, 1, 9223372036854775807)
    """
    sign, digits = _LONGEST_NUMBER.match(text).groups()  # type: ignore[union-attr]  # it always matches
    return max(-_LARGEST_NUMBER - 1, min(int(f"{sign}{digits or 0}"), _LARGEST_NUMBER))


def atof(text: str) -> float:
    """Return the number that `text` begins with, 0.0 where there is none.

    >>> atof("1.5f"), atof(".25,"), atof("0x1p-1"), atof("-inf"), atof("")
    (1.5, 0.25, 0.5, -inf, 0.0)
    """
    if match := _HEXADECIMAL.match(text):
        return float.fromhex(match[1])
    match = _DECIMAL.match(text) or _SPECIAL.match(text)
    return float(match[1]) if match else 0.0


USAGE, FILES, CALCULATION, NOTHING = 1, 2, 4, 7
"""trec_eval's exit statuses: wrong usage; a file or a parameter; a query; no query at all."""


class Stop(Exception):  # noqa: N818 - the end of the program, which may be a good one
    """Ends the program with an exit status; the message goes to standard error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


MOST = 10_000
"""Arguments: reading them takes time with the square of their number."""
_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
_LONG = {
    "help": "-h",
    "version": "-v",
    "query_eval_wanted": "-q",
    "measure=": "-m",
    "complete_rel_info_wanted": "-c",
    "level_for_rel=": "-l",
    "nosummary": "-n",
    "Debug_level=": "-D",
    "Judged_docs_only": "-J",
    "Number_docs_in_coll=": "-N",
    "Max_retrieved_per_topic=": "-M",
    "Rel_info_format=": "-R",
    "Results_format=": "-T",
    "Output_old_results_format=": "-o",
    "Zscore=": "-Z",
    "as=": "--as",
}
_ONE_LETTER = {f"--{name.removesuffix('=')}": letter for name, letter in _LONG.items()}
_TRACED = frozenset(
    ["binG", "G", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "dcg", "ideal_dcg", "rbp"]
)
"""Measures whose computation ``-D 1`` prints; with ``-D 2`` gm_bpref's too."""
_UNJUDGED = "; the share of unjudged documents is 'unj', of --as 10"
_OTHER_JUDGEMENTS = ("prefs", "qrels_prefs", "qrels_jg")
USAGE_LINE = (
    "usage: harness trec_eval [-q] [-n] [-c] [-l LEVEL] [-N NUM] [-M DEPTH] [-J] [--as 9|10]\n"
    "                         [-m MEASURE[.PARAMETERS]]... QRELS RUN\n"
    "       harness trec_eval -h [-m MEASURE]..."
)


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for.

    ``measures`` are the names asked for, without parameters; ``parameters`` holds the first
    ones given to each. ``only`` is the one query to look at (``-D 0.QID``), if any.
    """

    version: Version
    measures: frozenset[str]
    parameters: dict[str, str]
    qrels: str = ""
    run: str = ""
    help: bool = False
    per_query: bool = False
    summary: bool = True
    complete: bool = False
    level: int = 1
    documents: int = 0
    depth: int | None = None
    judged_only: bool = False
    only: str | None = None


def parse(given: Sequence[str]) -> Arguments:
    """Return what the arguments ask for.

    Options may stand behind the files, values may be glued on (``-M100``, ``-mmap``), and long
    options may be shortened, as with trec_eval.

    Raises
    ------
    Stop
        Where the usage is wrong, or something is asked for that is not offered here.

    >>> parse(["-mP.5,10", "qrels", "run", "-l2"]).parameters
    {'P': '5,10'}
    """
    if len(given) > MOST:
        raise Stop(USAGE, f"{len(given):,} arguments, of which {MOST:,} are the most\n{USAGE_LINE}")
    try:
        options, files = getopt.gnu_getopt([as_latin(word) for word in given], _SHORT, list(_LONG))
    except getopt.GetoptError as error:
        raise Stop(USAGE, f"{error}\n{USAGE_LINE}") from None
    options = [(_ONE_LETTER.get(option, option), value) for option, value in options]
    version = _version(options)
    values = dict(options)  # the last one counts
    if "-v" in values:
        raise Stop(0, f"follows trec_eval {version.title}")
    measures, parameters = _measures(options, version)
    if "-h" in values:
        return Arguments(version, measures, parameters, help=True)
    if len(files) != 2:
        raise Stop(USAGE, f"two files are needed, not {len(files)}\n{USAGE_LINE}")
    measures = measures or frozenset(version.nicknames["official"])
    if files == ["-", "-"]:
        raise Stop(FILES, "both files are '-', and standard input holds one; name the other")
    _refuse(values, measures)
    depth = atol(values["-M"]) if "-M" in values else None
    return Arguments(
        version, measures, parameters,
        qrels=os.fsdecode(files[0].encode("latin-1")),
        run=os.fsdecode(files[1].encode("latin-1")),
        per_query="-q" in values,
        summary="-n" not in values,
        complete="-c" in values,
        level=atol(values.get("-l", "1")),
        documents=atol(values.get("-N", "0")),
        depth=depth,
        judged_only="-J" in values,
        only=values.get("-D", "").partition(".")[2] or None,
    )  # fmt: skip


def as_latin(word: str) -> str:
    """Return a word with a character for each byte, so that widths count bytes as in C."""
    return os.fsencode(word).decode("latin-1")


def _version(options: list[tuple[str, str]]) -> Version:
    wanted = dict(options).get("--as", "9")
    number = wanted.partition(".")[0]
    if number not in VERSIONS:
        raise Stop(USAGE, f"--as takes 9 (9.0.8) or 10 (10.0), not '{wanted}'")
    return VERSIONS[number]


def _measures(
    options: list[tuple[str, str]], version: Version
) -> tuple[frozenset[str], dict[str, str]]:
    names: set[str] = set()
    parameters: dict[str, str] = {}
    for text in (value for option, value in options if option == "-m"):
        name, point, given = text.partition(".")
        if point and not given:
            raise Stop(USAGE, f"measure '{text}': parameters must follow the point")
        if point:
            parameters.setdefault(name, given)
        if name in PREFERENCES:
            names.add(name)
        elif name in version.nicknames or name in version.order:
            names.update(version.nicknames.get(name, (name,)))
        else:
            known = [*version.order, *version.nicknames]
            other = _UNJUDGED if re.search("(un|non_?)judged", name) else did_you_mean(name, known)
            raise Stop(USAGE, f"trec_eval {version.title} has no measure '{name}'{other}")
    return frozenset(names), parameters


def _refuse(values: dict[str, str], measures: frozenset[str]) -> None:
    """Stop at what trec_eval offers and this program does not."""
    judgements, run_format = values.get("-R", "qrels"), values.get("-T", "trec_results")
    if judgements in _OTHER_JUDGEMENTS:
        raise Stop(
            FILES,
            f"-R {judgements}: preferences and judgement groups are not read here, only qrels; "
            "use trec_eval itself for them",
        )
    if judgements != "qrels":
        raise Stop(FILES, f"-R {judgements}: there is no such format of judgements")
    if run_format != "trec_results":
        raise Stop(FILES, f"-T {run_format}: there is no such format of runs")
    if "-Z" in values:
        raise Stop(FILES, "-Z: z-scores are not computed here; use trec_eval itself for them")
    _refuse_traces(atol(values.get("-D", "0")), measures)
    preferences = sorted(measures.intersection(PREFERENCES))
    if preferences:
        raise Stop(
            CALCULATION,
            f"measure '{preferences[0]}' needs preferences or judgement groups, and only qrels "
            "are read here; use trec_eval itself for them",
        )
    if atol(values.get("-l", "1")) < 0:
        raise Stop(
            USAGE,
            "-l: below 0, documents that nobody judged would count as relevant; give 0 or more",
        )
    if atol(values.get("-M", "0")) < 0:
        raise Stop(USAGE, "-M: give 0 or more; trec_eval itself crashes below it")


def _refuse_traces(level: int, measures: frozenset[str]) -> None:
    traced = (_TRACED if level > 0 else frozenset()) | ({"gm_bpref"} if level > 1 else frozenset())
    for name in sorted(measures & traced):
        raise Stop(
            FILES,
            f"-D {level}: of measure '{name}' trec_eval prints how it is computed, which is not "
            "printed here; leave it out, or give -D 0",
        )


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
