"""Documents from passages: the docno of a document is a part of its passages' docnos."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from ..core.arguments import check_choice, wrong
from ..core.qrels_and_runs import Docnos, Run
from ..core.ragged import offsets_of
from ..core.rules import finding
from ..errors import ArgumentError, InputError, Place, Problem, check_known
from .rows import report
from .source import Source

Take = Literal["max", "first", "sum", "mean"]
TAKEN: Mapping[Take, str] = {
    "max": "best score of its passages",
    "first": "score of its first passage",
    "sum": "sum of the scores of its passages",
    "mean": "mean score of its passages",
}
"""Score of a document: the maximum, first, sum or mean of its passages' scores."""
_SIGNS = {sign.replace(".", r"\."): sign for sign in ("#", "_", "-", ".", "/", "::")}
USUAL = {f"(.+){sign}\\d+$": f"D1{text}0" for sign, text in _SIGNS.items()}
USUAL |= {rf"(.+){sign}p\d+$": f"D1{text}p0" for sign, text in _SIGNS.items()}
"""Patterns of usual spellings of passages, each with an example of the document D1."""
_AT_END = r"^.*?(\d*)$"


@dataclass(frozen=True)
class Passages:
    """Conversion of passages to documents: a pattern with the docno as only group, and a score."""

    pattern: str
    take: Take = "max"
    n_runs: int = 1
    """Runs that are fused under the setting; not all of them need passages."""
    without: set[str] = field(default_factory=set)
    """The runs that turned out to have no passages."""

    @classmethod
    def of(cls, given: Passages | Mapping[str, Any] | str, n_runs: int = 1) -> Passages:
        """Return the setting as a config or a caller writes it: ``{"from": ..., "take": ...}``."""
        if isinstance(given, Passages):
            return given
        settings = settings_of(given) if isinstance(given, str) else given
        if not isinstance(settings, Mapping) or not isinstance(settings.get("from"), str):
            raise wrong("documents", "a pattern, or {'from': PATTERN, 'take': 'max'}", given)
        for key in settings:
            check_known("key", str(key), ("from", "take"), "documents")
        pattern: str = settings["from"]
        take: Any = settings.get("take") or "max"
        check_choice("documents.take", take, get_args(Take))
        import pyarrow.compute as pc  # which a run without passages does not need

        try:
            n_groups = re.compile(pattern).groups
            pc.match_substring_regex(pa.array([""]), pattern)
        except (re.error, pa.ArrowInvalid) as error:
            text = str(error).partition("\n")[0]
            raise ArgumentError(Problem("documents.from", f"not a pattern: {text}")) from None
        if n_groups != 1:
            message = f"expected a pattern with one group, the docno, got {n_groups}"
            fix = r"write '(.+)#\d+$' for passages such as D1#0"
            raise ArgumentError(Problem("documents.from", message, fix=fix))
        return cls(pattern, take, n_runs)


def settings_of(text: str) -> dict[str, str]:
    """Return the settings of ``PATTERN`` or ``TAKE:PATTERN``.

    >>> settings_of("sum:(.+)#[0-9]+"), settings_of("(.+)::[0-9]+")
    ({'from': '(.+)#[0-9]+', 'take': 'sum'}, {'from': '(.+)::[0-9]+'})
    """
    take, _, pattern = text.partition(":")
    return {"from": pattern, "take": take} if take in TAKEN else {"from": text}


class Documents:
    """Makes documents of the passages of a run, part by part, and counts both."""

    def __init__(self, where: Source | str, passages: Passages) -> None:
        self.where, self.passages = where, passages
        self.place = where.name if isinstance(where, Source) else where
        self.n_rows = self.n_passages = self.n_documents = self.n_negative = 0
        self.example = ""

    def of(self, run: Run) -> Run:
        """Return a run of documents. A docno that does not match is a document already."""
        import pyarrow.compute as pc

        if run.docnos.positional:
            message, fix = "expected docnos, which passages need, got none", "leave 'documents' out"
            raise InputError(Problem(Place(self.place), message, fix=fix, rule="columns"))
        docnos = run.docnos.to_strings()
        pattern, take = self.passages.pattern, self.passages.take
        names = pc.replace_substring_regex(docnos, f"^(?:{pattern})$", r"\1")
        is_passage = pc.not_equal(names, docnos)
        self.n_rows += run.n_rows
        self.n_negative += int((run.numbers < 0).sum())
        self.n_passages += pc.sum(is_passage).as_py() or 0
        self.example = self.example or (docnos[0].as_py() if run.n_rows else "")
        columns = {"query": pa.array(run.row), "docno": names, "score": pa.array(run.numbers)}
        columns["row"] = pa.array(np.arange(run.n_rows))
        if take == "first":
            numbers = pc.replace_substring_regex(docnos, _AT_END, r"\1")
            order = pa.array(np.argsort(_numbers(numbers), kind="stable"))
            columns = {name: column.take(order) for name, column in columns.items()}
        grouped = pa.table(columns).group_by(["query", "docno"], use_threads=False)
        # groups come in any order
        table = grouped.aggregate([("score", take), ("row", "min")]).sort_by("row_min")
        n_documents = np.bincount(table["query"].to_numpy(), minlength=run.n_queries)
        self.n_documents += table.num_rows
        offsets = offsets_of(n_documents)
        return replace(
            run,
            offsets=offsets,
            docnos=Docnos(table["docno"].combine_chunks(), offsets),
            numbers=table[f"score_{take}"].to_numpy(),
            order=None,
            rows_of_documents=None,
        )

    def report(self) -> None:
        """Report the conversion; raise InputError if no docno of the runs is a passage's."""
        pattern, take = self.passages.pattern, self.passages.take
        if self.n_rows and not self.n_passages:
            self.passages.without.add(self.place)
            if len(self.passages.without) < self.passages.n_runs:
                message = "no row is a passage; documents stay as they are"
                report(self.where, finding("passages", Place(self.place), message, self.n_rows))
                return
            message = f"expected passages such as {pattern}, got docnos such as {self.example}"
            fix = "write a pattern of the whole docno whose group is a part of it, as (.+)#[0-9]+; "
            fix += "in a config each run has its own"
            raise InputError(Problem(Place(self.place), message, fix=fix, rule="columns"))
        message = f"{self.n_passages:,} of {self.n_rows:,} rows are passages; they make "
        message += f"{self.n_documents:,} documents, each with the {TAKEN[take]}"
        report(self.where, finding("passages", Place(self.place), message, self.n_passages))
        if take == "sum" and 2 * self.n_negative > self.n_rows:
            message = "sum of scores below 0: the more passages a document has, the lower it ranks"
            report(self.where, finding("sum-of-negatives", Place(self.place), message))


def _numbers(texts: pa.Array) -> Any:
    """Return the numbers at the end of docnos, 0 without one."""
    import pyarrow.compute as pc

    filled = pc.if_else(pc.equal(texts, ""), "0", texts)
    return pc.cast(filled, pa.float64()).to_numpy()
