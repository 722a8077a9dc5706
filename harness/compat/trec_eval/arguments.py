"""The command line, read as trec_eval's ``getopt_long`` reads it: measures, options, help."""

from __future__ import annotations

import getopt
import inspect
import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ... import metrics as _built_in
from ...core.metric import REGISTRY, TREC_CUT
from ...core.names import NICKNAMES
from ...errors import did_you_mean

del _built_in

Takes = Literal["nothing", "cutoffs", "levels", "numbers", "gains"]
Summary = Literal["mean", "sum", "gm", "median", "queries", "relevant", "runid", "nothing"]
USAGE, FILES, CALCULATION, NOTHING = 1, 2, 4, 7
"""trec_eval's exit statuses: wrong usage; a file or a parameter; a query; no query at all."""


class Stop(Exception):  # noqa: N818 - the end of the program, which may be a good one
    """Ends the program with an exit status; the message goes to standard error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True)
class Measure:
    """Request and output of one of trec_eval's measures."""

    name: str
    takes: Takes = "nothing"
    """What may follow its name and a point. ``cutoffs`` (whole) and ``levels`` are sorted and give
    one line each; ``numbers`` and ``gains`` (``1=3,2=9``) become part of the name."""
    default: tuple[float, ...] = ()
    """The default cutoffs, levels or numbers."""
    summary: Summary = "mean"
    """The value in the line for all queries."""
    per_query: bool = True
    """Whether there are lines for single queries."""
    whole: bool = False
    """Whether it is printed as a whole number."""
    needs_documents: bool = True
    """Whether it uses the ranking, and so stops at a docno that comes twice."""


_OWN = (
    Measure("runid", summary="runid", per_query=False, needs_documents=False),
    Measure("num_q", summary="queries", per_query=False, whole=True, needs_documents=False),
    Measure("num_rel", summary="relevant", whole=True),
    Measure("relstring", "numbers", (10.0,), summary="nothing"),
    Measure("unj", "cutoffs", (5, 10, 20)),
    *(Measure(name, "gains") for name in ("dcg", "ideal_dcg", "rbp", "rbp_resid")),
)
_BY_NAME = {measure.name: measure for measure in _OWN}
"""Measures that differ from the harness's metric of that name, or have none."""


def measure_of(name: str) -> Measure:
    """Return a measure; parameters, defaults and summary are those of the harness's metric."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    definition = REGISTRY[TREC_CUT.get(name, name)]
    summary, cutoff = definition.summary, definition.cutoff
    plain = Measure(name, summary=summary, per_query=summary != "gm", whole=summary == "sum")
    if cutoff is not None and (definition.needs_cutoff or name in TREC_CUT):
        default = definition.cutoffs or REGISTRY["P"].cutoffs
        return replace(plain, takes="cutoffs" if cutoff.type is int else "levels", default=default)
    if "gains" in definition.parameters:
        return replace(plain, takes="gains")
    if definition.trec_parameter is None:
        return plain
    default = definition.parameters[definition.trec_parameter].default
    return replace(plain, takes="numbers", default=tuple(np.ravel(default).astype(float).tolist()))


@dataclass(frozen=True)
class TrecEvalVersion:
    """One version of the program.

    ``title`` is what it prints as its version. ``order`` has its measures as it prints them,
    ``nicknames`` the measures of each nickname;
    ``ties`` is the policy of its ranking.
    """

    number: int
    title: str
    ties: Literal["trec_eval", "trec_eval10"]
    order: tuple[str, ...]
    nicknames: Mapping[str, tuple[str, ...]]


_ALL = NICKNAMES["all_trec"]
_AFTER_G = _ALL.index("G") + 1
_ADDED = ("rbp", "rbp_resid", "unj")
_WITH_DCG = (*_ALL[:_AFTER_G], "dcg", "ideal_dcg", *_ALL[_AFTER_G:], "yaap", *_ADDED)
VERSIONS: Mapping[str, TrecEvalVersion] = {
    "9.0.7": TrecEvalVersion(9, "9.0.7", "trec_eval", (*_ALL, "yaap"), NICKNAMES),
    "9.0.8": TrecEvalVersion(9, "9.0.8", "trec_eval10", (*_ALL, "yaap"), NICKNAMES),
    "10": TrecEvalVersion(
        10, "10.0-rc3", "trec_eval10", _WITH_DCG, {**NICKNAMES, "all_trec": (*_ALL, *_ADDED)}
    ),
}
"""Each version by its number. Tag v9.0.8 of 2020 prints 9.0.7, tag trec_eval-9.0.8 of 2023 prints
9.0.8, and tag v10.0 prints 10.0-rc3."""
_SHORT_FOR = {"9": "9.0.7", "10.0": "10", "10.0-rc3": "10"}
"""Other spellings of a version."""
_ELSEWHERE = re.compile("prefs|avgjg|qrels_jg")
"""Measures and nicknames of all versions that need other judgements than qrels."""
SHARED = ("dcg", "ideal_dcg", "ndcg")
"""Measures that share their gains in version 10: each takes those of the one before it by default,
and all are computed with the last ones."""
_LARGEST = 2**63 - 1
_INTEGER = re.compile(r"[ \t-\r]*([+-]?)0*([0-9]{0,20})")  # 20 digits are beyond the largest
_FLOAT = re.compile(
    r"[ \t-\r]*([+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan))",
    re.IGNORECASE,
)
_HEXADECIMAL = re.compile(
    r"[ \t-\r]*([+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?)", re.IGNORECASE
)


def atol(text: str) -> int:
    """Return the whole number that `text` begins with, else 0.

    >>> atol("23.4"), atol(" -7x"), atol("x"), atol("1e3"), atol("9" * 5000)
    (23, -7, 0, 1, 9223372036854775807)
    """
    sign, digits = next(_INTEGER.finditer(text)).groups()  # it matches at the start, perhaps ""
    return max(-_LARGEST - 1, min(int(f"{sign}{digits or 0}"), _LARGEST))


def atof(text: str) -> float:
    """Return the number that `text` begins with, else 0.0.

    >>> atof("1.5f"), atof(".25,"), atof("0x1p-1"), atof("-inf"), atof("")
    (1.5, 0.25, 0.5, -inf, 0.0)
    """
    if match := _HEXADECIMAL.match(text):
        return float.fromhex(match[1])
    match = _FLOAT.match(text)
    return float(match[1]) if match else 0.0


Pairs = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class MeasureRequest:
    """One measure with its parameters.

    ``numbers`` are the cutoffs, levels or numbers, ``pairs`` the gains as they are written.
    ``names`` are those of its lines.
    """

    measure: Measure
    names: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    pairs: Pairs = ()


def requests(
    version: TrecEvalVersion, measures: Iterable[str], parameters: Mapping[str, str]
) -> list[MeasureRequest]:
    """Return the requested measures in print order; Stop if parameters cannot be used."""
    parsed, inherited = [], None
    for name in (name for name in version.order if name in measures):
        text = parameters.get(name)
        if version.number == 10 and name in SHARED:
            inherited = text = text or inherited
        parsed.append(_request(measure_of(name), text))
    if version.number == 9:
        return parsed
    pairs = next(
        (request.pairs for request in reversed(parsed) if request.measure.name in SHARED), ()
    )
    return [
        replace(request, pairs=pairs) if request.measure.name in SHARED else request
        for request in parsed
    ]


def _request(measure: Measure, text: str | None) -> MeasureRequest:
    name = measure.name
    if measure.takes in ("cutoffs", "levels"):
        cutoffs = measure.default if text is None else _cutoffs(measure, text)
        return MeasureRequest(measure, tuple(_name(name, cutoff) for cutoff in cutoffs), cutoffs)
    if measure.takes == "nothing" or text is None:
        return MeasureRequest(measure, (name,), measure.default)
    names = (f"{name}_{text}",)
    if measure.takes == "gains":
        return MeasureRequest(measure, names, pairs=_pairs(measure, text))
    return MeasureRequest(measure, names, tuple(map(atof, text.split(","))))


def _cutoffs(measure: Measure, text: str) -> tuple[float, ...]:
    read = atol if measure.takes == "cutoffs" else atof
    cutoffs = sorted(read(number) for number in text.split(","))
    if measure.takes == "cutoffs" and cutoffs[0] <= 0:
        raise Stop(FILES, f"measure '{measure.name}.{text}': a cutoff is at least 1")
    if len(set(cutoffs)) != len(cutoffs):
        raise Stop(FILES, f"measure '{measure.name}.{text}': a cutoff comes twice")
    return tuple(cutoffs)


def _name(name: str, cutoff: float) -> str:
    """Return the name of one line; a level has two decimals, and eight characters at most.

    >>> _name("P", 5), _name("Rprec_mult", 0.25), _name("Rprec_mult", 123456.0)
    ('P_5', 'Rprec_mult_0.25', 'Rprec_mult_123456.0')
    """
    text = f"{cutoff:.2f}"[:8] if isinstance(cutoff, float) else str(cutoff)
    return f"{name}_{text}"


def _pairs(measure: Measure, text: str) -> Pairs:
    """Read ``1=3,2=9``, checked as trec_eval does: signs ``=`` and ``,`` alternate."""
    if not re.fullmatch(r"(?:=,)*=", re.sub("[^=,]", "", text)):
        message = f"measure '{measure.name}.{text}': write gains as GRADE=GAIN,GRADE=GAIN..."
        raise Stop(FILES, message)
    items = (item.partition("=") for item in text.split(","))
    return tuple((grade, atof(gain)) for grade, _, gain in items)


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
"""Measures that ``-D 1`` prints step by step; with ``-D 2`` also gm_bpref's."""
USAGE_LINE = (
    "usage: harness trec_eval [-q] [-n] [-c] [-l LEVEL] [-N NUM] [-M DEPTH] [-J]\n"
    "                         [--as 9|9.0.8|10] [-m MEASURE[.PARAMETERS]]... QRELS RUN\n"
    "       harness trec_eval -h [-m MEASURE]..."
)


@dataclass(frozen=True)
class Arguments:
    """Requests of a command line.

    ``measures`` are the names asked for, without parameters; ``parameters`` has the first
    ones of each. ``only`` is the one query to evaluate (``-D 0.QID``), if any.
    """

    version: TrecEvalVersion
    measures: frozenset[str]
    parameters: dict[str, str]
    qrels: str = ""
    run: str = ""
    help: bool = False
    shows_version: bool = False
    per_query: bool = False
    summary: bool = True
    complete: bool = False
    level: int = 1
    documents: int = 0
    depth: int | None = None
    judged_only: bool = False
    only: str | None = None


def parse(words: Sequence[str]) -> Arguments:
    """Parse the arguments of one call; Stop if the usage is wrong or not offered here.

    Options may follow the files, values may be glued on (``-M100``, ``-mmap``), and long options
    may be shortened, as with trec_eval.

    >>> parse(["-mP.5,10", "qrels", "run", "-l2"]).parameters
    {'P': '5,10'}
    """
    try:
        # a character for each byte, so that widths count bytes as in C
        latin = [os.fsencode(word).decode("latin-1") for word in words]
        options, files = getopt.gnu_getopt(latin, _SHORT, list(_LONG))
    except getopt.GetoptError as error:
        raise Stop(USAGE, f"{error}\n{USAGE_LINE}") from None
    options = [(_ONE_LETTER.get(option, option), value) for option, value in options]
    values = dict(options)  # the last one counts
    number = values.get("--as", "9")
    version = VERSIONS.get(_SHORT_FOR.get(number, number))
    if version is None:
        raise Stop(USAGE, f"--as: expected 9 (9.0.7), 9.0.8 or 10 (10.0), got '{number}'")
    if "-v" in values:
        return Arguments(version, *_measures(options, version), shows_version=True)
    measures, parameters = _measures(options, version)
    if "-h" in values:
        return Arguments(version, measures, parameters, help=True)
    if len(files) != 2:
        raise Stop(USAGE, f"expected two files, got {len(files)}\n{USAGE_LINE}")
    measures = measures or frozenset(version.nicknames["official"])
    for stop in _refusals(values, measures, files):
        raise stop
    return Arguments(
        version,
        measures,
        parameters,
        qrels=os.fsdecode(files[0].encode("latin-1")),
        run=os.fsdecode(files[1].encode("latin-1")),
        per_query="-q" in values,
        summary="-n" not in values,
        complete="-c" in values,
        level=atol(values.get("-l", "1")),
        documents=atol(values.get("-N", "0")),
        depth=atol(values["-M"]) if "-M" in values else None,
        judged_only="-J" in values,
        only=values.get("-D", "").partition(".")[2] or None,
    )


def _measures(
    options: Iterable[tuple[str, str]], version: TrecEvalVersion
) -> tuple[frozenset[str], dict[str, str]]:
    names: set[str] = set()
    parameters: dict[str, str] = {}
    for text in (value for option, value in options if option == "-m"):
        name, point, numbers = text.partition(".")
        if point and not numbers:
            raise Stop(USAGE, f"measure '{text}': parameters must follow the point")
        if point:
            parameters.setdefault(name, numbers)
        known = [*version.order, *version.nicknames]
        if name not in known and not _ELSEWHERE.search(name):
            near = did_you_mean(name, known)
            raise Stop(USAGE, f"trec_eval {version.title} has no measure '{name}'{near}")
        names.update(version.nicknames.get(name, (name,)))
    return frozenset(names), parameters


def _refusals(
    values: Mapping[str, str], measures: frozenset[str], files: Sequence[str]
) -> Iterator[Stop]:
    """Yield an error for each trec_eval option that this program does not offer."""
    formats = values.get("-R", "qrels"), values.get("-T", "trec_results")
    level = atol(values.get("-D", "0"))
    traced = (_TRACED if level > 0 else set()) | ({"gm_bpref"} if level > 1 else set())
    if list(files) == ["-", "-"]:
        yield Stop(FILES, "expected one file as '-', standard input, got both")
    if formats != ("qrels", "trec_results") or "-Z" in values:
        message = "-R, -T, -Z: only qrels and trec_results are read here, and z-scores not computed"
        yield Stop(FILES, f"{message}; use trec_eval itself")
    if names := ", ".join(sorted(traced & measures)):
        yield Stop(FILES, f"-D {level}: how {names} is computed is not printed here; give -D 0")
    if any(map(_ELSEWHERE.search, measures)):
        message = "preferences and judgement groups are not read here; use trec_eval itself"
        yield Stop(CALCULATION, message)
    if atol(values.get("-l", "1")) < 0:
        message = "below 0, documents without judgement would count as relevant; give 0 or more"
        yield Stop(USAGE, f"-l: {message}")
    if atol(values.get("-M", "0")) < 0:
        yield Stop(USAGE, "-M: give 0 or more; trec_eval itself crashes below it")


_OPTIONS = """
Evaluates a run against judgements and prints what trec_eval {version} prints.

  -m MEASURE[.PARAMETERS]  a measure or a nickname, 'official' by default; repeatable.
                           Parameters follow a point: 'P.5,10',
                           'iprec_at_recall.0.1,0.5', 'ndcg.1=3,2=9'
  -q                       also print the values of each query, sorted by qid
  -n                       do not print the values over all queries
  -c                       take means over all judged queries; a query that the run does
                           not answer counts as 0
  -l LEVEL                 smallest grade that is relevant (1); 0 or more. Below it,
                           trec_eval counts unjudged documents too, and its map exceeds 1
  -M DEPTH                 use only the first DEPTH documents of each query
  -J                       remove unjudged documents from the ranking, after -M cuts it
  -N NUM                   number of documents in the collection, for 'utility'
  -D LEVEL[.QID]           evaluate only this query. Above LEVEL 0, trec_eval also prints
                           how it computes ndcg, G and other measures with gains; this
                           program does not
  --as 9|9.0.8|10          follow trec_eval 9.0.7 (default: tags v9.0.7 and v9.0.8), 9.0.8
                           (tag 'trec_eval-9.0.8') or 10.0. The last two compare scores as
                           doubles. 10.0 also rounds levels of recall, stops at a query
                           that the run does not answer unless you give -c, skips lines
                           that begin with '#', and has more measures
  -h [-m MEASURE]...       print this help, and what each of the measures is
  -v                       print the version that it follows, as trec_eval does

The long names of options are trec_eval's. -R accepts only qrels, and -T only trec_results.
Use trec_eval itself for -Z, for other kinds of judgements, and for gains of unjudged
documents ('-m ndcg.-1=1').

QRELS  one judgement a line: qid iteration docno grade. A grade below 0 means that the document
       is in the pool, but not judged. The program stops, as trec_eval does, if the first query
       has no other grades.
RUN    one document a line: qid Q0 docno rank score tag. Documents are ordered by score; equal
       scores by docno, the last in the alphabet first. The program ignores the rank, and
       rejects a score NaN.

Both may be compressed (gz, bz2, xz, zst), and '-' is standard input.

Exit status: 0 done, 1 wrong usage, 2 an unusable file or parameter, 4 a query that cannot be
evaluated, 7 no query in both files. Warnings go to standard error.

measures   {measures}
nicknames  {nicknames}
"""
_ABOUT = {
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
    """Return the help for the program, or for some measures."""
    version = arguments.version
    named = [name for name in version.order if name in arguments.measures]
    if named:
        return "\n".join(_define(measure_of(name)) for name in named)
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
    """Describe a measure: the first two paragraphs of the metric's documentation."""
    if name in _ABOUT:
        return _ABOUT[name]
    definition = REGISTRY[TREC_CUT.get(name, name)]
    document = inspect.getdoc(definition.function) or ""
    about = re.split(r"\n\n(?:Parameters\n|Returns\n|>>> )", document, maxsplit=1)[0]
    about = " ".join(about.replace("``", "").split())
    if name in TREC_CUT:
        about = f"{definition.name} of the first k documents. " + about
    return about
