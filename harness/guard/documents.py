"""Rules about the queries and documents of a run: missing, not judged, or spelled otherwise."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from unicodedata import normalize

import numpy as np
import pyarrow as pa

from ..config.cells import Cell
from ..core.aligned import Aligned
from ..core.arrow import as_bytes, cast, index_in, select, string_column, take, unique
from ..core.hashing import hash_strings
from ..core.qrels_and_runs import Docnos, Qrels
from ..core.ragged import Bools, Ints
from ..core.rules import RULES, SHOWN, finding
from ..errors import Finding, HarnessError, Severity, counted
from ..readers import trec as trec
from ..readers.column_roles import naming
from ..readers.columns import Refused, read_block
from ..readers.passages import USUAL
from ..readers.rows import unscored_rows
from .findings import (
    Examples,
    ExamplesByRule,
    RunPart,
    by_share,
    docnos_at,
    examples_of_queries,
    percent,
    short_place,
    source_of,
    texts_at,
)

Respelled = dict[int, str]
"""Known names that differ in spelling only, by the position of the unknown name."""
Known = Callable[[Sequence[str]], Iterable[bool]]
"""Whether each of some names is known."""
Way = Callable[[str], Iterable[str]]
"""Other spellings of a name."""

TENTH, HALF = 0.1, 0.5
"""Share of the names, or of the known ones, that must agree; and for a common prefix or ending."""
SPREAD = 10_000
"""Known names that show a common prefix or ending, at most."""
_LONGEST = 12
"""Digits of a number with leading zeros, at most."""


def _with_zeros(name: str) -> Iterable[str]:
    if not name.isdecimal() or len(name) > _LONGEST:
        return ()
    return name.lstrip("0") or "0", *(name.zfill(n) for n in range(len(name) + 1, _LONGEST + 1))


def _file_name(name: str) -> Iterable[str]:
    base = name.rpartition("/")[2]
    return base, os.path.splitext(base)[0], os.path.splitext(name)[0]


OF_QIDS: Mapping[str, Way] = {
    "Unicode form (NFC, NFD)": lambda name: (normalize("NFC", name), normalize("NFD", name)),
    "upper and lower case": lambda s: (s.lower(), s.upper(), s.title(), s.capitalize()),
    "quotes": lambda name: (name.strip("\"'"), f'"{name}"'),
    "leading zeros": _with_zeros,
}  # fmt: skip
"""Differences between two spellings of a name, and functions that give the other spellings."""
OF_PASSAGES = {f"the number of a passage, as {example}": p for p, example in USUAL.items()}
"""The pattern of each spelling of passages, by its name."""


def _cut_by(pattern: str) -> Way:
    return lambda name: re.findall(pattern, name)[:1]


OF_DOCNOS: Mapping[str, Way] = {
    **OF_QIDS,
    **{way: _cut_by(pattern) for way, pattern in OF_PASSAGES.items()},
    "a folder or an ending": _file_name,
}


def spelled_as(
    names: Sequence[str], knows: Known, ways: Mapping[str, Way]
) -> tuple[str, Respelled]:
    """Return the way in which most unknown names differ from known ones, and the known ones.

    >>> known = lambda names: [name in ("51", "52") for name in names]
    >>> spelled_as(["051", "052", "Q7"], known, OF_QIDS)
    ('leading zeros', {0: '51', 1: '52'})
    """
    tried = [
        (way, index, spelling)
        for way, respell in ways.items()
        for index, name in enumerate(names)
        for spelling in respell(name)
        if spelling and spelling != name
    ]
    matches: dict[str, Respelled] = {}
    if tried:
        are_known = knows([spelling for *_, spelling in tried])
        for (way, index, spelling), is_known in zip(tried, are_known, strict=True):
            if is_known:
                matches.setdefault(way, {}).setdefault(index, spelling)
    way = max(matches, key=lambda candidate: len(matches[candidate]), default="")
    return way, matches.get(way, {})


def spelling_of_qids(
    names: Sequence[str], knows: Known, n_known: int, known_names: Sequence[str]
) -> tuple[str, Respelled] | None:
    """Return the way in which most unknown qids differ from known ones, and the known ones.

    None if fewer than a tenth of either do (a half for a common prefix or ending), or one of
    several: ``1`` and ``001`` may be queries of two collections. `known_names` are some of the
    `n_known` qids.

    >>> def of(names, known):
    ...     knows = lambda qids: [qid in known for qid in qids]
    ...     return spelling_of_qids(names, knows, len(known), known)
    >>> of(["051", "052", "x"], ["51", "52", "53"])
    ('leading zeros', {0: '51', 1: '52'})
    >>> of(["12.1", "12.2"], ["12", "13"]) is of(["1", "2", "3"], ["001"]) is None
    True
    """
    affix_ways = affixes(names, known_names)
    way, matches = spelled_as(names, knows, {**OF_QIDS, **affix_ways})
    share, n = HALF if way in affix_ways else TENTH, len({*matches.values()})
    if not n or n < min(2, len(names)) or n < share * min(len(names), n_known):
        return None
    return way, matches


def spread_positions(n: int) -> Ints:
    """Return the positions of all of `n` names, or of `SPREAD` from first to last."""
    return np.linspace(0, n - 1, min(n, SPREAD)).astype(np.int64)


def affixes(names: Sequence[str], known_names: Sequence[str]) -> dict[str, Way]:
    """Return the prefix and the ending that all of one sample have, and not all of the other.

    >>> [*affixes(["x/a1.txt", "x/b2.txt"], ["a1", "b9", "c3"])]
    ["the prefix 'x/'", "the ending '.txt'"]
    >>> ways = affixes(["7", "12"], ["D7", "D31"])
    >>> [[*way("7")] for way in ways.values()]
    [['7', 'D7']]
    """
    if min(len(names), len(known_names)) < 2:
        return {}
    backwards = [[name[::-1] for name in sample] for sample in (names, known_names)]
    prefix = _longer_ending(
        *(_common_prefix(sample).rstrip("0123456789")[::-1] for sample in (names, known_names))
    )[::-1]
    starts = [_common_prefix(sample)[::-1].lstrip("0123456789") for sample in backwards]
    ending = _longer_ending(*starts)
    ways: dict[str, Way] = {}
    if prefix:
        ways[f"the prefix {prefix!r}"] = lambda name: (name.removeprefix(prefix), prefix + name)
    if ending:
        ways[f"the ending {ending!r}"] = lambda name: (name.removesuffix(ending), name + ending)
    return ways


def _longer_ending(left: str, right: str) -> str:
    """Return by how much one of two endings is longer; nothing if they differ otherwise."""
    short, long = sorted((left, right), key=len)
    return long[len(short) :] if long.startswith(short) else ""


def _common_prefix(names: Sequence[str]) -> str:
    return os.path.commonprefix([*names])  # noqa: RUF071 - of names, not of folders


def spelling_pair(name: str, spelling: str) -> str:
    r"""Return both names, with escapes outside ASCII.

    >>> print(spelling_pair("e\u0301", "\xe9"))
    'e\u0301' for '\xe9'
    """
    return f"{name!a} for {spelling!a}"


TOP = 10
"""Ranks that are checked for unjudged documents: most papers report these."""
MANY = 0.1
"""Share of unjudged documents at rank 10 or before from which on that is reported."""
SAMPLE = 1024
"""Rows of a part that are matched with the docnos of the qrels."""
NEARLY_ALL, DENSE = 0.9, 20
"""The same share in a run of another round, and the judgements a query that it takes."""
ENOUGH_ROWS, ENOUGH_QUERIES = 100, 5
"""Docnos and queries below which it may be chance that all are unjudged, or that depths agree."""
SOME_KNOWN = 0.01
"""Share of docnos judged for other queries from which on queries may be numbered otherwise."""
RESPELLED, OWN, NAMES = 3, 0.25, 64
"""Smallest number of docnos known in another spelling; smallest share of these judged for their
query, as '7' and 'D7' of two collections agree by chance; largest number of checked docnos."""
UNLIKE_CHANCE = 3
"""Times that docnos must equal qids more often than those of other queries, as whole numbers do."""
MOST = 1000
"""Largest number of unjudged queries to compare with unanswered ones by qid."""
NO_ROW: Ints = np.full(1, -1)


class Queries:
    """Sums up the queries of a run, part by part."""

    def __init__(self, qrels: Qrels, examples: ExamplesByRule) -> None:
        self.qrels, self.examples = qrels, examples
        self.qids: list[pa.Array] = []
        self.depths: list[Ints] = []
        self.starts: list[Ints] = []
        self.rows = self.rows_in_file = self.n = self.answered = self.extra = 0
        self.follows = False

    def run(self, part: RunPart) -> None:
        """Look at a part as it was read."""
        self.follows = part.follows
        self.qids.append(part.run.qids)
        self.depths.append(part.lengths)
        self.starts.append(part.places(np.minimum(part.run.offsets[:-1], part.run.n_rows - 1)))
        self.rows += part.run.n_rows
        self.n += int((part.lengths > 0).sum())
        self.rows_in_file += part.n_source

    def aligned(self, part: Aligned) -> None:
        """Look at a part that was aligned."""
        self.answered += int(part.answered.sum())
        self.extra += part.n_extra

    def start_of(self, names: Sequence[str]) -> Examples:
        """Return some queries, and the first row of one of them."""
        first_qid = string_column(names[:1])
        for qids, starts in zip(self.qids, self.starts, strict=True):
            index = int(index_in(first_qid, qids)[0]) if names else -1
            if index >= 0:
                words = () if self.follows else tuple(names[:1])
                return Examples(tuple(names), int(starts[index]), words)
        return Examples(tuple(names))

    def findings(self) -> Iterator[Finding]:
        """Yield queries that are missing, extra, cut short or spelled otherwise."""
        n, missing = self.qrels.n_queries, self.qrels.n_queries - self.answered
        if not missing and not self.extra:
            if self.n >= ENOUGH_QUERIES:
                yield from self._cut()
            return
        run_qids = pa.concat_arrays([cast(qids, pa.large_string()) for qids in self.qids])
        judged = cast(self.qrels.qids, pa.large_string())
        unanswered = np.flatnonzero(index_in(judged, run_qids) < 0) if missing else NO_ROW[:0]
        unjudged = np.flatnonzero(self.qrels.place(run_qids) < 0) if self.extra else NO_ROW[:0]
        respelled = 0
        if spelling := self._respelled(run_qids, unjudged[:MOST], unanswered):
            way, respelled = spelling
            extra = "unjudged qid" if self.qrels.n_rows else "unknown qid"
            message = f"{respelled:,} of {counted(self.extra, extra)} "
            message += f"differ from unanswered queries only in {way}"
            yield self.examples.finding("qid-spelling", message, respelled)
        if missing > respelled:
            examples = examples_of_queries(self.qrels.qids, unanswered, NO_ROW)
            self.examples.add("missing-queries", examples)
            kind = "judged " if self.qrels.n_rows else ""
            message = f"no answer to {missing:,} of {counted(n, f'{kind}query', f'{kind}queries')}"
            yield self.examples.finding("missing-queries", message, missing)
        if self.extra > respelled:
            starts = np.concatenate(self.starts)
            examples = examples_of_queries(run_qids, unjudged, starts[unjudged])
            self.examples.add("extra-queries", examples)
            message = f"{self.extra:,} of {counted(self.n, 'query', 'queries')}"
            has_rows = self.qrels.n_rows > 0
            message = f"no judgement of {message}" if has_rows else f"{message} not in the list"
            yield self.examples.finding("extra-queries", message, self.extra)
        yield from self._cut()

    def _cut(self) -> Iterator[Finding]:
        """Yield a finding if only the last query of the file has fewer documents."""
        depths = np.concatenate(self.depths)
        depths = depths[depths > 0]
        n, deepest, last_depth = depths.size, int(depths.max()), int(depths[-1])
        if n >= ENOUGH_QUERIES and last_depth < deepest and (depths == deepest).sum() == n - 1:
            qid = as_bytes(self.qids[-1][-1:])[0].decode("utf-8", "replace")
            cut = Examples((f"query {qid}",), self.rows_in_file - 1, (qid,))
            self.examples.add("cut-last-query", cut)
            depths_text = f"{counted(last_depth, 'document')}, every other one {deepest:,}"
            yield self.examples.finding("cut-last-query", f"the last query has {depths_text}", 1)

    def _respelled(
        self, run_qids: pa.Array, unjudged: Ints, unanswered: Ints
    ) -> tuple[str, int] | None:
        """Return the difference in spelling from unanswered qids, and the number of such qids."""
        if not unjudged.size or not unanswered.size:
            return None
        names = texts_at(run_qids, unjudged)

        def known(names: Sequence[str]) -> Bools:
            return np.isin(self.qrels.place(string_column(names)), unanswered)

        unanswered_names = texts_at(self.qrels.qids, unanswered[spread_positions(unanswered.size)])
        spelling = spelling_of_qids(names, known, unanswered.size, unanswered_names)
        if spelling is None:
            return None
        way, known_as = spelling
        indexes = sorted(known_as)[:SHOWN]
        examples = self.start_of([names[index] for index in indexes])
        pairs = tuple(spelling_pair(names[index], known_as[index]) for index in indexes)
        self.examples.add("qid-spelling", examples._replace(names=pairs))
        return way, len(known_as)


OF_NAMES = ("nothing-judged", "other-collection", "other-topics", "unscored-rows")
UNNAMED = (
    "the dataset names no documents: leave docnos out of the run, or add --columns docno=none "
    "(in a config columns: {docno: none})"
)
"""Fix of a run that names documents of a dataset without names."""


class Documents:
    """Sums up which documents of a run that names them are judged, part by part."""

    def __init__(self, qrels: Qrels, examples: ExamplesByRule) -> None:
        self.qrels, self.examples = qrels, examples
        self.judged = 0
        """Retrieved documents that are judged."""
        self.n_top = self.n_judged_top = 0
        """Documents at rank 10 or before, and those of them that are judged."""
        self.n_sampled = self.n_known = 0
        """Rows with a docno to look up, and rows with a docno that is judged for any query."""
        self.identical = self.identical_by_chance = 0
        """Documents with the qid as docno, if the policy keeps them."""
        self.unscored: Finding | None = None
        """Finding about learning-to-rank rows without a score."""

    def run(self, part: RunPart) -> None:
        """Look at a part as it was read."""
        rows, n = np.arange(part.run.n_rows), part.run.n_rows
        if n > SAMPLE:  # at random, as even steps could meet one rank only
            rows = np.random.default_rng(0).integers(0, n, SAMPLE)
        is_known = self.qrels.knows(part.run.docnos.hashes[rows])
        identical = part.run.identical_ids()
        if identical.size:
            self.identical += identical.size
            if half := part.run.n_queries // 2:
                self.identical_by_chance += part.run.identical_ids(half).size
            self.examples.add("identical-ids", part.documents(identical[:SHOWN]))
        self.n_sampled += is_known.size
        self.n_known += int(is_known.sum())

    def aligned(self, aligned: Aligned) -> None:
        """Look at a part that was aligned."""
        judged = aligned.grade >= 0
        self.judged += int(judged.sum())
        self.n_judged_top += int((judged & (aligned.rank <= TOP)).sum())
        self.n_top += int(np.minimum(aligned.n_retrieved, TOP).sum())
        if aligned.policy.drop_identical_ids:
            self.identical = 0
        if aligned.n_unscored is not None:
            self.unscored = unscored_rows(aligned, aligned.n_unscored, self.qrels)

    def findings(self, begin: RunPart, queries: Queries) -> Iterator[Finding]:
        """Yield documents that are not judged; `begin` has the first queries and examples."""
        for found in self._findings(begin, queries):
            is_unnamed = self.qrels.docnos.positional and found.rule in OF_NAMES
            yield replace(found, fix=UNNAMED) if is_unnamed else found

    def _findings(self, begin: RunPart, queries: Queries) -> Iterator[Finding]:
        spelled, is_judged = None, np.zeros(0, bool)
        if self.qrels.n_rows:
            rows = begin.head(TOP)
            is_judged = begin.are_judged(rows)
            if not is_judged.all():
                is_known = self.qrels.knows(begin.run.docnos.hashes[rows])
                unjudged_documents = begin.documents(rows[~is_judged])
                for rule in ("unjudged-at-10", "other-collection", "nothing-judged"):
                    self.examples.add(rule, unjudged_documents)
                self.examples.add("other-topics", begin.documents(rows[is_known & ~is_judged]))
                if not is_known.all():
                    n_known = int(is_known.sum())
                    spelled = self._respelled(begin, rows[~is_known][:NAMES], n_known)
                    if spelled is None and not n_known:  # few judged documents may rank low
                        deeper = np.arange(begin.run.n_rows)[:SAMPLE]
                        spelled = self._respelled(begin, deeper, n_known)
            if spelled is not None:
                yield spelled
        answered, judgements = queries.n - queries.extra, self.qrels.n_rows
        # documents may be judged below the policy's depth
        if not self.judged and judgements and spelled is None and not is_judged.any():
            message = f"none of the {counted(queries.rows, 'document')} is judged"
            enough = answered >= ENOUGH_QUERIES
            enough = enough and min(self.n_sampled, judgements) >= ENOUGH_ROWS
            if enough and not self.n_known:
                message += f", and none of {self.n_sampled:,} docnos is in the qrels"
                yield self.examples.finding("other-collection", message, queries.rows)
            elif enough and self.n_known >= SOME_KNOWN * self.n_sampled:
                message += f" for its query; {self.n_known:,} of {self.n_sampled:,} docnos are for "
                yield self.examples.finding("other-topics", f"{message}others", queries.rows)
            else:
                yield self.examples.finding("nothing-judged", message, queries.rows)
        if self.unscored is not None and self.judged:
            yield self.unscored
        if (n := self.identical) and n >= UNLIKE_CHANCE * self.identical_by_chance:
            queries_text = counted(queries.n, "query", "queries")
            message = f"the docno equals the qid in {n:,} of {queries_text}"
            yield self.examples.finding("identical-ids", message, n, by_share(n, queries.n))
        unjudged = self.n_top - self.n_judged_top
        if self.judged and unjudged >= MANY * self.n_top:
            below = " or have a grade below 0" if (self.qrels.numbers < 0).any() else ""
            share = percent(unjudged, self.n_top)
            message = f"{share} of the top 10 documents are not judged{below}"
            is_dense = answered >= ENOUGH_QUERIES and judgements >= DENSE * self.qrels.n_queries
            if is_dense and unjudged >= NEARLY_ALL * self.n_top:
                effect = "they count as not relevant; the qrels may belong to another round"
                yield self.examples.finding("unjudged-at-10", message, unjudged, "warning", effect)
            else:
                yield self.examples.finding("unjudged-at-10", message, unjudged)

    def _respelled(self, begin: RunPart, rows: Ints, n_known: int) -> Finding | None:
        """Return another spelling in which the docnos of some rows are judged."""
        if not rows.size or begin.run.docnos.strings is None or self.qrels.docnos.positional:
            return None
        names, n = docnos_at(begin.run.docnos, rows), self.qrels.n_rows
        theirs = docnos_at(self.qrels.docnos, np.arange(0, n, max(n // rows.size, 1))[: rows.size])
        ways = {**OF_DOCNOS, **affixes(names, theirs)}
        way, matches = spelled_as(
            names, lambda texts: self.qrels.knows(hash_strings(string_column(texts))), ways
        )
        if len(matches) < max(RESPELLED, MANY * (n_known + len(matches))):
            return None
        docnos = string_column(matches.values())
        query = begin.query(rows[np.fromiter(matches, np.int64, len(matches))])
        codes = self.qrels.place(take(begin.run.qids, query))
        n_judged = self.qrels.find(codes, Docnos(docnos, np.array([0, len(docnos)])))[0].size
        if n_judged < max(2, OWN * len(matches)):
            return None
        indexes = sorted(matches)[:SHOWN]
        notes = [spelling_pair(names[index], matches[index]) for index in indexes]
        self.examples.add("docno-spelling", begin.documents(rows[indexes], notes))
        message = f"{len(matches):,} of {counted(rows.size, 'unjudged docno')} "
        message += f"differ from judged ones only in {way}"
        severity: Severity | None = "warning" if self.judged else None
        spelled = self.examples.finding("docno-spelling", message, len(matches), severity)
        if (pattern := OF_PASSAGES.get(way)) is not None:
            fix = f"write documents: '{pattern}' (--set run.documents='{pattern}')"
            return replace(spelled, fix=fix)
        return spelled


def explain_no_common_query(
    cell: Cell, qrels: Qrels | None, datasets: Mapping[str, pa.Array]
) -> Finding | None:
    """Explain why a TREC run and its qrels share no query, using a sample of the file.

    Its qids and docnos are swapped, its qids are spelled otherwise, or it answers another one of
    the `datasets` (their qids by file).
    """
    place, name = cell.run_entry.path, cell.dataset
    try:
        source = source_of(cell.run_entry)
        if source.format != "trec":
            return None
        for _ in source.blocks():
            pass
        rows, _ = read_block(source.report.sample, trec.RUN)
    except (HarnessError, Refused):
        return None
    qids, docnos = (unique(rows[name].combine_chunks()) for name in ("qid", "docno"))
    summary = f"no query is in {short_place(name)}"
    if qrels is not None and not (qrels.place(qids) >= 0).any():
        as_qids = select(docnos, qrels.place(docnos) >= 0)
        as_docnos = select(qids, qrels.knows(hash_strings(cast(qids, pa.string()))))
        half = 2 * len(as_qids) >= len(docnos) or 2 * len(as_docnos) >= len(qids)
        if len(as_qids) and len(as_docnos) and half:
            message = (
                f"{len(as_qids):,} of {len(docnos):,} docnos are qids in {short_place(name)}, and "
                f"{len(as_docnos):,} of {len(qids):,} qids are docnos there"
            )
            effect, qid_texts = RULES["no-common-query"].effect, as_qids[:SHOWN].to_pylist()
            fix = naming("run", {"qid": 3, "docno": 1, "score": 5})
            return finding(
                "swapped-columns", place, message, len(as_qids), qid_texts, effect=effect, fix=fix
            )
        names = texts_at(qids, np.arange(len(qids)))
        n, known = qrels.n_queries, texts_at(qrels.qids, spread_positions(qrels.n_queries))
        spelling = spelling_of_qids(
            names, lambda texts: qrels.place(string_column(texts)) >= 0, n, known
        )
        if spelling is not None:
            way, known_as = spelling
            pairs = [*known_as.items()][:SHOWN]
            examples = [spelling_pair(names[index], qid) for index, qid in pairs]
            message = f"{summary}; {len(known_as):,} of {len(qids):,} differ only in {way}"
            fix = RULES["qid-spelling"].fix
            return finding("no-common-query", place, message, len(known_as), examples, fix=fix)
    wide = cast(qids, pa.large_string())
    for path, theirs in datasets.items():
        n = int((index_in(wide, cast(theirs, pa.large_string())) >= 0).sum())
        if path != cell.dataset_entry.path and 2 * n >= len(qids):
            message = f"{summary}; {n:,} of {len(qids):,} are in {short_place(path)}"
            return finding("no-common-query", place, message, n, fix=f"give the run of {name}")
    return None
