"""Which cell of a table is which run's value of which metric on which dataset."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.metric import Metric
from ..core.study import Study
from ..errors import did_you_mean
from ..tables.model import Column, Kind
from .blocks import side_by_side
from .grid import Grid, Row
from .spellings import joined, metrics_called, named, plain, sharing, ways

AVERAGES = ("mean over datasets", "average", "avg", "mean", "overall", "all", "all datasets")
_KINDS: Mapping[str, Kind] = {
    "n": "n", "queries": "n", "#queries": "n", "tier": "tier", "rank": "rank",
    "coverage": "coverage", "answered": "coverage",
    "queries answered": "coverage",
}  # fmt: skip
_LETTERED = re.compile(
    r"\(?(?P<before>[a-z]{1,2}|\d{1,2})[).:]?\s+(?P<rest>\S.*)"
    r"|(?P<name>.+?)\s+\(?(?P<after>[a-z]{1,2}|\d{1,2})\)?"
)


@dataclass(frozen=True)
class Known:
    """The names of a study, and what tables may call them."""

    study: Study
    runs: Mapping[str, str]
    datasets: Mapping[str, str]
    metrics: Mapping[str, str]

    @classmethod
    def of(cls, study: Study, given: Collection[tuple[str, str]]) -> Known:
        """Return what is known of a study; `given` are own names and what they are shown as."""
        metrics = ways([str(metric) for metric in study.board.metrics], given)
        return cls(study, ways(study.runs, given), ways(study.datasets, given), metrics)


@dataclass(frozen=True, eq=False)
class Heading:
    """What a column is.

    Parameters
    ----------
    column : Column or None
        None where it is no value of the results.
    text : str
        Its headings.
    has_dataset : bool
        Whether they name a dataset, or the mean over several.
    why : str
        Why it is none, where it could be thought one.
    others : tuple of str
        Metrics that it could be as well, but for case and hyphens.
    """

    column: Column | None
    text: str
    has_dataset: bool = False
    why: str = ""
    others: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Line:
    """One row of values: which run it is of, None where that is not known.

    Parameters
    ----------
    run, dataset : str or None
    text, sign : str
        Its name in the table, and the letter or dagger that stands for it.
    cells : tuple of Cell
    group : int
        Number of the group of rows that it stands in.
    where : tuple of (str, str)
        Captured columns, such as a seed.
    """

    run: str | None
    dataset: str | None
    text: str
    sign: str
    cells: Row
    group: int
    where: tuple[tuple[str, str], ...] = ()

    @property
    def line(self) -> int:
        """Line of the file."""
        return max((cell.line for cell in self.cells), default=0)


@dataclass(frozen=True, eq=False)
class Match:
    """A table with its rows and columns recognised."""

    grid: Grid
    headings: tuple[Heading, ...]
    lines: tuple[Line, ...]
    unknown: tuple[str, ...] = field(default=())
    notes: tuple[str, ...] = field(default=())

    @property
    def is_any(self) -> bool:
        """Whether any row and any column was recognised."""
        return any(one.run for one in self.lines) and any(one.column for one in self.headings)


def match(grid: Grid, known: Known) -> Match:
    """Return what the rows and columns of a table are, if need be with the two exchanged."""
    found = _match(grid, known)
    if found.is_any or len(grid.rows) < 2 or len(grid.rows[0]) < 2:
        return found
    other = _match(grid.transposed(), known)
    return other if other.is_any else found


def _match(grid: Grid, known: Known) -> Match:
    headings = list(_headings(grid, known))
    if not any(one.column for one in headings):
        grid = side_by_side(
            grid, _title, lambda text: _heading([text], known, None).column is not None
        )
        headings = list(_headings(grid, known))
    lines = tuple(_lines(grid, known, headings))
    blocks = any(one.has_dataset for one in headings)
    unknown = []
    for place, one in enumerate(headings):
        if one.column is None:
            if one.why:
                unknown.append(f"column '{one.text}': {one.why}")
            elif place and _holds_numbers(grid, place) and not _is_captured(one.text, known):
                near = did_you_mean(one.text, known.metrics)
                unknown.append(f"column '{one.text}': no metric of the results{near}")
        elif blocks and not one.has_dataset and (text := _block(grid, place)):
            headings[place] = Heading(None, one.text)
            near = did_you_mean(text, known.datasets)
            unknown.append(f"column '{one.text}': no dataset of the results{near}")
    unknown += [
        f"row '{line.text}': no run of the results{did_you_mean(line.text, known.runs)}"
        for line in lines
        if line.run is None and line.text
    ]
    notes = [
        f"column '{one.text}': taken as {one.column.metric}; {', '.join(one.others)} is called "
        "the same but for upper and lower case"
        for one in headings
        if one.column is not None and one.others
    ]
    return Match(grid, tuple(headings), lines, tuple(unknown), tuple(notes))


def _headings(grid: Grid, known: Known) -> Iterator[Heading]:
    last: Metric | None = None
    for place in range(len(grid.rows[0])):
        texts = grid.headings(place)
        found = _heading(texts, known, last) if texts else Heading(None, "")
        if found.column is not None and found.column.kind == "metric":
            last = found.column.metric
        yield found


def _heading(texts: Sequence[str], known: Known, last: Metric | None) -> Heading:
    shown = " ".join(texts)
    for dataset, rest in _with_dataset(texts, known):
        has = dataset is not None
        own = dataset or None
        for text in sorted(joined(rest), key=len, reverse=True):
            found = metrics_called(text, known.study.board.metrics, known.metrics)
            if len(found) > 1:
                names = ", ".join(map(str, found))
                return Heading(None, shown, has, f"can be {names}; write which")
            if found:
                column = Column(shown, "metric", "", own, found[0])
                others = sharing(text, found[0], known.study.board.metrics, known.metrics)
                return Heading(column, shown, has, others=tuple(others))
        for text in rest:
            words, metric = text, last
            *before, end = text.split(" ")
            if before and plain(end) in _KINDS:
                found = metrics_called(" ".join(before), known.study.board.metrics, known.metrics)
                words, metric = (end, found[0]) if len(found) == 1 else (text, last)
            if (kind := _KINDS.get(words.casefold())) is not None:
                of = metric if kind in ("tier", "rank") or words != text else None
                return Heading(Column(shown, kind, "", own, of), shown, has)
    return Heading(None, shown)


def _with_dataset(texts: Sequence[str], known: Known) -> Iterator[tuple[str | None, list[str]]]:
    """Yield the dataset that headings name ("" for the mean over several), and the others."""
    averages = dict.fromkeys(AVERAGES, "") if len(known.study.datasets) > 1 else {}
    names = {**averages, **known.datasets}
    for place, text in enumerate(texts):
        others = [*texts[:place], *texts[place + 1 :]]
        if others and (found := named(text, names)) is not None:
            yield found, others
        words = text.split(" ")
        for cut in range(len(words) - 1, 0, -1):
            for one, rest in ((words[:cut], words[cut:]), (words[cut:], words[:cut])):
                if (found := named(" ".join(one).strip("():,"), names)) is not None:
                    yield found, [*others, " ".join(rest)]
    yield None, list(texts)


def _lines(grid: Grid, known: Known, headings: Sequence[Heading]) -> Iterator[Line]:
    values = [place for place, one in enumerate(headings) if one.column is not None]
    first = min(values, default=1)
    stub = [place for place in range(len(headings)) if place not in values]
    captured = {
        place: name
        for place in stub
        for name in known.study.board.columns
        if plain(headings[place].text) == plain(name)
    }
    corner = [
        named(text, known.datasets) for at in stub if at < first for text in grid.headings(at)
    ]
    said = next(filter(None, corner), None) or _captioned(grid.caption, known)
    group, dataset = 0, said
    for row in grid.body:
        title = _title(row)
        if title is not None and not (values and row[first].whole and row[first] is not row[0]):
            group += 1
            dataset = named(title.strip("*"), known.datasets)
            continue
        names = [place for place in stub if place not in captured and place < max(first, 1)]
        names = names or stub[:1]
        run, text, sign = _run(row, names, known)
        own = [named(row[place].whole, known.datasets) for place in stub]
        of = next((one for one in own if one is not None and one != run), dataset)
        where = tuple((name, row[place].text) for place, name in captured.items())
        yield Line(run, of, text, sign, row, group, where)


def _captioned(caption: str, known: Known) -> str | None:
    """Return the dataset that a caption names, where it names one alone."""
    found = {
        own
        for shown, own in known.datasets.items()
        if re.search(rf"(?<!\w){re.escape(shown)}(?!\w)", caption, re.IGNORECASE)
    }
    return found.pop() if len(found) == 1 else None


def _title(row: Row) -> str | None:
    """Return what a row says that has no values: the title of the rows below it."""
    texts = {cell.whole for cell in row if cell.whole}
    return texts.pop() if len(texts) == 1 and (row[0].whole or row[0].columns > 1) else None


def _run(row: Row, places: Sequence[int], known: Known) -> tuple[str | None, str, str]:
    for place in reversed(places):
        cell = row[place]
        sign = "".join(cell.raised.split())
        found = [(named(cell.text, known.runs), cell.text, sign), *_lettered(cell.text, known)]
        if re.search(r"\(([a-z]{1,2}|\d{1,2})\)", cell.text):  # no remark in brackets, but a letter
            found.reverse()
        for run, text, sign in found:
            if run is not None:
                return run, text, sign
        if (run := named(cell.whole, known.runs)) is not None:  # k², which is no mark
            return run, cell.whole, ""
        end = cell.text.rstrip("†‡§¶‖*")
        if end != cell.text and (run := named(end, known.runs)) is not None:
            return run, end.strip(), cell.text[len(end) :]
    texts = [row[place].text for place in places if row[place].text]
    return None, texts[-1] if texts else "", ""


def _lettered(text: str, known: Known) -> list[tuple[str | None, str, str]]:
    """Return a name with its letter, ``(a) bm25`` or ``bm25 a``; nothing where there is none."""
    match = _LETTERED.fullmatch(text)
    if match is None:
        return []
    rest = match["rest"] or match["name"]
    return [(named(rest, known.runs), rest, match["before"] or match["after"])]


def _block(grid: Grid, place: int) -> str:
    """Return the heading of the block of columns that one stands in, if there is one."""
    for row in grid.rows[: grid.header]:
        if row[place].columns > 1 and row[place].whole:
            return row[place].whole
    return ""


def _holds_numbers(grid: Grid, place: int) -> bool:
    return any(re.search(r"\d", row[place].text) for row in grid.body)


def _is_captured(text: str, known: Known) -> bool:
    return plain(text) in {plain(name) for name in known.study.board.columns}
