"""Bold, underlined, letters and daggers of a table against those that its values give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..core.study import Study
from ..tables.marks import FEWEST_FOR_SECOND, best_and_second, dagger
from ..tables.numbers import fixed
from ..tables.signs import Signs
from .findings import Finding, Verdict
from .match import Match
from .printed import SYMBOLS
from .values import Entered

_SHOWN_DIGITS = 6
"""More decimals than that are no rounding: marks were set at fewer, which are not known."""


def check_best(columns: Sequence[Sequence[Entered]], verdict: Verdict) -> None:
    """Check bold and underlined, over all rows or by group: whichever the table is nearer to."""
    cells = [one for column in columns for one in column]
    for what, is_set in (("bold", _is_bold), ("underline", _is_underlined)):
        if not any(map(is_set, cells)):
            continue
        whole = [list(_best(column, what)) for column in columns]
        parts = [
            [finding for part in _by_group(column) for finding in _best(part, what)]
            for column in columns
        ]
        in_all, in_parts = (sum(map(len, found)) for found in (whole, parts))
        verdict.findings += [
            one for found in (parts if in_parts < in_all else whole) for one in found
        ]
        if in_parts < in_all:
            verdict.notes.append(f"{what}: checked within each group of rows")
        name = "best values" if what == "bold" else "second best values"
        verdict.verified[name] += sum(map(is_set, (one for one in cells if one.known)))


def _is_bold(one: Entered) -> bool:
    return one.printed.bold


def _is_underlined(one: Entered) -> bool:
    return one.printed.underlined


def _by_group(cells: Sequence[Entered]) -> Iterable[list[Entered]]:
    found: dict[int, list[Entered]] = {}
    for one in cells:
        found.setdefault(one.line.group, []).append(one)
    return found.values()


def _best(cells: Sequence[Entered], what: str) -> Iterator[Finding]:
    """Yield what is wrong in one column; each dataset in it has a best of its own."""
    datasets: dict[str | None, list[Entered]] = {}
    for one in cells:
        column = one.heading.column
        own = None if column is None else column.dataset
        datasets.setdefault(one.dataset or own or one.line.dataset, []).append(one)
    for some in datasets.values():
        found = [list(_at(some, what, digits)) for digits in _digits(some)]
        yield from min(found, key=len)


def _digits(cells: Sequence[Entered]) -> list[int]:
    """Return the precision that marks were set at, or those that they may have been set at."""
    shown = Counter(one.printed.digits for one in cells).most_common(1)[0][0]
    return [shown, *range(1, _SHOWN_DIGITS + 1)] if shown > _SHOWN_DIGITS else [shown]


def _at(cells: Sequence[Entered], what: str, digits: int) -> Iterator[Finding]:
    metric = cells[0].metric
    if metric is None:
        return
    texts = [_text(one, digits) for one in cells]
    direction = metric.definition.direction
    best, second = best_and_second(texts, direction)
    chosen = best if what == "bold" else second
    marked = {
        at for at, one in enumerate(cells) if (_is_bold if what == "bold" else _is_underlined)(one)
    }
    if what == "underline" and len(cells) < FEWEST_FOR_SECOND and not marked & best:
        return
    names = {True: "best", False: "second best"}
    name = names[what == "bold"]
    for at, one in enumerate(cells):
        if not one.known or (at in chosen) == (at in marked):
            continue
        if what == "underline" and at in chosen and len(best) > 1:
            continue  # with two that share the best value, many mark no second best
        say = what if what == "bold" else "underlined"
        if at in marked:
            others = ", ".join(cells[other].line.text for other in sorted(chosen))
            why = f"the {name}: {others}" if others else f"nothing is {name} here"
            yield _finding(one, what, say, f"not {say}", why)
        else:
            yield _finding(one, what, f"not {say}", say, f"it is {name} ({texts[at]})")


def _finding(one: Entered, what: str, found: str, right: str, why: str) -> Finding:
    kind = "bold" if what == "bold" else "underline" if what == "underline" else "marker"
    return Finding(
        kind,  # type: ignore[arg-type]
        one.line.cells[one.place].line, one.line.text, one.heading.text,
        f"{one.printed.text} {found}" if what != "marker" else found, right, why,
    )  # fmt: skip


def _text(one: Entered, digits: int) -> str:
    if one.known:
        return fixed(one.value, digits, percent=one.percent, leading_zero=True)
    return str(one.printed.number)


def check_marks(
    match: Match, columns: Sequence[Sequence[Entered]], study: Study, verdict: Verdict
) -> None:
    """Check letters and daggers against the comparisons of the study."""
    cells = [one for column in columns for one in column]
    used = [mark for one in cells for mark in (*one.printed.marks, *one.printed.lowered)]
    if not used:
        return
    if study.comparisons is None:
        verdict.notes.append(
            f"{len(used)} marks of significance not checked: the config of the results compares "
            "nothing (compare:)"
        )
        return
    signs = _signs(match, used, study, verdict)
    if signs is None:
        return
    lowers = any(one.printed.lowered for one in cells)
    for one in cells:
        if one.known and one.line.run is not None and not one.line.where:
            findings = list(_marks(one, signs, lowers))
            verdict.findings += findings
            verdict.verified["marks"] += len(one.printed.marks) + len(one.printed.lowered)


def _signs(match: Match, used: Sequence[str], study: Study, verdict: Verdict) -> Signs | None:
    """Return which system each mark stands for: as the rows say, or else baselines or rows."""
    known = study.comparisons
    if known is None:
        return None
    of = {one.run: one.sign for one in match.lines if one.run is not None and one.sign}
    symbols = sorted({mark for mark in used if mark[0] in SYMBOLS}, key=_order)
    letters = sorted({mark for mark in used if mark[0] not in SYMBOLS})
    if not set(symbols) <= set(of.values()):
        baselines = [run for run in known.plan.baselines if run not in of]
        if len(symbols) > max(len(baselines), 0) or any(
            len(set(one)) == 1 < len(one) for one in symbols
        ):
            verdict.notes.append(
                f"marks {' '.join(symbols)} not checked: the rows do not say which systems they "
                f"stand for, and there are {len(baselines)} baselines"
            )
            return None
        taken = dict(zip(baselines, symbols, strict=False))
        of |= taken
        said = ", ".join(f"{sign} = {run}" for run, sign in taken.items())
        verdict.notes.append(f"marks taken as: {said}")
    elif letters and not set("".join(letters)) <= set("".join(of.values())):
        verdict.notes.append(
            f"marks {' '.join(letters)} not checked: the rows do not say which systems they "
            "stand for"
        )
        return None
    kind = "daggers" if symbols else "letters"
    return Signs(kind, of, known)  # type: ignore[arg-type]


def _order(sign: str) -> tuple[int, str]:
    known = [dagger(place) for place in range(5)]
    return (known.index(sign) if sign in known else len(known), sign)


def _marks(one: Entered, signs: Signs, lowers: bool) -> Iterator[Finding]:
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    if one.dataset is not None:
        better, worse = signs.beside(one.dataset, str(one.metric), one.line.run or "")
    shown = one.printed
    if shown.raised != "".join(better):
        yield from _differing(one, shown.marks, better, worse, signs)
    if lowers:
        yield from _differing(one, shown.lowered, worse, better, signs, "worse")


def _differing(
    one: Entered, found: Sequence[str], right: Sequence[str], other: Sequence[str], signs: Signs,
    how: str = "better",
) -> Iterator[Finding]:  # fmt: skip
    of = {sign: run for run, sign in signs.of.items()}
    for mark in dict.fromkeys((*found, *right)):
        run = of.get(mark, mark)
        if mark in found and mark not in right:
            why = f"not significantly {how} than {run}"
            if mark in other:
                why = f"significantly {'worse' if how == 'better' else 'better'} than {run}"
            yield _finding(one, "marker", f"{one.printed.text} with {mark}", f"without {mark}", why)
        elif mark in right and mark not in found:
            why = f"significantly {how} than {run}"
            yield _finding(one, "marker", f"{one.printed.text} without {mark}", f"with {mark}", why)
