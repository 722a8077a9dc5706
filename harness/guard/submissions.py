"""Rules about submissions to a shared task: queries, documents, depth, tag, number of runs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from ..core.arrow import string_column
from ..core.hashing import hash_strings
from ..core.qrels_and_runs import Docnos, Qrels
from ..core.ragged import Array, Bools
from ..core.rules import finding
from ..errors import Finding, InputError, Problem, Severity, counted
from ..readers.columns import parse_csv
from ..readers.groups import teams_of
from ..readers.memory_limit import check_fits
from ..readers.source import Source, no_rows, reading
from ..readers.texts_by_id import read_texts
from .documents import OF_DOCNOS, affixes, spelled_as, spelling_pair
from .findings import ExamplesByRule, RunPart, docnos_at

NAMES = 256
"""Docnos that are compared with those of the collection to find another spelling."""
REJECTED = ("cut-line", "extra-fields")
"""Rules that are errors in a submission: each line has six fields."""
REJECTED_QUERIES = ("extra-queries", "qid-spelling")
"""Rules that are errors too if there is a list of queries, which is complete."""
MISSING = "missing-queries"
"""Rule that is an error too if the terms want an answer to each query."""


def read_topics(source: Source) -> Qrels:
    """Return the queries of a file of `read_texts` as qrels without a judgement."""
    qids = string_column(read_texts(source, "qid"))
    offsets = np.zeros(len(qids) + 1, np.int64)
    return Qrels(qids, offsets, Docnos(string_column(()), offsets), np.zeros(0, np.int64))


class Collection:
    """The docnos of a collection, as sorted hashes of 8 bytes each, and a few of them as text."""

    def __init__(self, path: str) -> None:
        parts, n = list[Array](), 0
        self.sample = tuple[str, ...]()
        with reading(path) as source:
            first_line = source.head.split(b"\n", 1)[0].decode("utf-8", "replace")
            source.check_text()
            if len(first_line.split()) > 1 or first_line[:1] in "{[<":
                fix = "write one docno a line, such as with cut -f1"
                raise source.error(
                    f"expected one docno a line, got '{first_line.strip()[:60]}'", fix
                )
            for block in source.blocks():
                names = parse_csv(block, ["docno"], {"docno": pa.string()}, "\x1f")["docno"]
                n += len(names)
                check_fits(path, 3 * 8 * n)  # they are joined and sorted
                parts += [hash_strings(chunk) for chunk in names.chunks]
                self.sample = self.sample or tuple(names[:NAMES].to_pylist())
        self.hashes = np.sort(np.concatenate(parts)) if n else np.zeros(0, np.uint64)
        if not n:
            raise no_rows(path)

    def has(self, hashes: Array) -> Bools:
        """Tell for each document if the collection has it."""
        positions = np.minimum(np.searchsorted(self.hashes, hashes), self.hashes.size - 1)
        is_known: Bools = self.hashes[positions] == hashes
        return is_known


@dataclass(frozen=True)
class Terms:
    """Terms of a shared task for each submission.

    Parameters
    ----------
    topics : str
        A file with every qid; if empty, the qrels have them.
    docnos : str
        A file with the docno of every document, one a line.
    max_per_query : int, optional
        Number of documents of a query, at most.
    tag_pattern : str
        A regular expression that matches the whole tag.
    max_runs : int, optional
        Number of runs of a team, at most.
    all_topics : bool
        Whether a run without an answer to a query is rejected.
    teams : str
        See `harness.readers.groups.teams_of`; if empty, all runs belong to one team.
    """

    topics: str = ""
    docnos: str = ""
    max_per_query: int | None = None
    tag_pattern: str = ""
    max_runs: int | None = None
    teams: str = ""
    all_topics: bool = False

    def __post_init__(self) -> None:
        try:
            re.compile(self.tag_pattern)
        except re.error as error:
            message = f"expected a regular expression: {error}"
            fix = "escape signs such as ( or [ with a backslash"
            where = f"--tag-pattern {self.tag_pattern}"
            raise InputError(Problem(where, message, fix=fix)) from error

    @cached_property
    def collection(self) -> Collection | None:
        """The documents, read once."""
        return Collection(self.docnos) if self.docnos else None


class Submission:
    """Facts on one run that the terms need, collected part by part."""

    def __init__(self, terms: Terms, examples: ExamplesByRule) -> None:
        self.terms, self.examples = terms, examples
        self.rows = self.deepest = self.deep = self.outside = 0
        self.tags: dict[str, None] = {}
        self.unknown: list[str] = []

    def run(self, part: RunPart) -> None:
        """Look at a part of the run."""
        run = part.run
        self.rows += part.n_source
        self.tags |= dict.fromkeys(run.tags)
        if self.terms.max_per_query is not None:
            deep = np.flatnonzero(part.lengths > self.terms.max_per_query)
            self.deep += deep.size
            self.deepest = max(self.deepest, int(part.lengths.max(initial=0)))
            self.examples.add("too-deep", part.queries(deep))
        if self.terms.collection is not None:
            rows = np.flatnonzero(~self.terms.collection.has(run.docnos.hashes))
            self.outside += rows.size
            self.examples.add("not-in-collection", part.documents(rows))
            self.unknown += docnos_at(run.docnos, rows[: NAMES - len(self.unknown)])

    @property
    def tag(self) -> str:
        """The first tag; ``""`` if there is none."""
        return next(iter(self.tags), "")

    def findings(self) -> Iterator[Finding]:
        """Yield violations of the terms in the run; places have no file."""
        terms = self.terms
        if self.deep:
            message = f"{counted(self.deep, 'query has', 'queries have')} more than "
            message += f"{terms.max_per_query:,} documents, up to {self.deepest:,}"
            yield self.examples.finding("too-deep", message, self.deep)
        if (collection := terms.collection) is not None and self.outside:
            sample = collection.sample
            way, matches = spelled_as(
                self.unknown,
                lambda names: collection.has(hash_strings(string_column(names))),
                {**OF_DOCNOS, **affixes(self.unknown, ("", "")), **affixes(self.unknown, sample)},
            )
            rule = "not-in-collection"
            message = f"{self.outside:,} of {counted(self.rows, 'document')} not in the collection"
            if 2 * len(matches) > len(self.unknown):
                index = min(matches)
                pair = spelling_pair(self.unknown[index], matches[index])
                message += f"; docnos differ in {way}: {pair}"
                self.examples[rule] = self.examples[rule]._replace(names=())
            elif self.outside == self.rows:
                message += f", which has docnos such as {sample[0]}"
            yield self.examples.finding(rule, message, self.outside)
        for tag in self.tags:
            if terms.tag_pattern and not re.fullmatch(terms.tag_pattern, tag):
                yield finding("tag", "", f"the tag '{tag}' does not match {terms.tag_pattern}")


def findings_across_runs(
    terms: Terms, tags: Mapping[str, str], rankings: Mapping[str, str], names: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield runs that repeat another one's tag or rankings, and runs that are too many.

    `tags`, `rankings` and `names` of runs are by file. With teams, a copy has that of the other.
    A file that is named after its tag has a right to the tag.
    """
    team = dict[str, str]()
    if terms.teams:
        of_runs = teams_of([(names[path], tag) for path, tag in tags.items()], terms.teams)
        team = dict(zip(tags, of_runs, strict=True))
    others = {path: tag for path, tag in tags.items() if tag not in (path, names[path])}
    severity: Severity = "warning" if 2 * len(others) <= len(tags) else "note"
    for path, tag in others.items():
        message = f"the tag is '{tag}', but the file is named '{names[path]}'"
        yield finding("tag-file-name", path, message, severity=severity)
    for rule, phrase, values in (
        ("tag", "the tag is also that of", tags),
        ("same-file-twice", "the same rankings as in", rankings),
    ):
        groups = defaultdict(list)
        for path, value in values.items():
            if value:
                groups[value].append(path)
        for paths in groups.values():
            for path in paths if len(paths) > 1 else ():
                if rule == "tag" and names[path] == values[path]:
                    continue
                copies = [
                    copy + (f" of {team[copy]}" if team else "") for copy in paths if copy != path
                ]
                listed = ", ".join(copies[:3]) + (" ..." if len(copies) > 3 else "")
                yield finding(rule, path, f"{phrase} {listed}", len(copies))
    if terms.max_runs is not None:
        counts: Counter[str] = Counter()
        for path in tags:
            name = team.get(path, "")
            counts[name] += 1
            if counts[name] > terms.max_runs:
                message = (
                    f"expected at most {terms.max_runs:,} runs of {name or 'a team'}, got run "
                )
                yield finding("too-many-runs", path, message + f"{counts[name]:,}")


def findings_of_submissions(
    findings: Sequence[Finding], terms: Terms, between: Iterable[Finding]
) -> list[Finding]:
    """Return findings and those between submissions, which name every run that has a copy.

    With a list of queries, those that cannot be accepted in a submission are errors.
    """
    rejected = (*REJECTED, *(REJECTED_QUERIES if terms.topics else ()))
    rejected += (MISSING,) if terms.all_topics else ()
    own = [f for f in findings if f.rule != "same-file-twice"]
    own = [replace(f, severity="error") if f.rule in rejected else f for f in own]
    return [*own, *between]
