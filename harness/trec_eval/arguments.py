"""The command line, read as trec_eval's ``getopt_long`` reads it."""

from __future__ import annotations

import getopt
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import did_you_mean
from .numbers import atol
from .stop import CALCULATION, FILES, USAGE, Stop
from .versions import PREFERENCES, VERSIONS, Version

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
