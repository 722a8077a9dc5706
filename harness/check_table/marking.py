"""Letters and daggers of a table against the comparisons of its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.study import Study
from ..tables.marks import dagger
from ..tables.signs import Signs
from .findings import Finding, Verdict
from .match import Match
from .printed import SYMBOLS
from .values import Entered, finding


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
    is_long = any(len(sign) > 1 for sign in signs.of.values())
    by_commas = is_long and any("," in one.printed.raised for one in cells)
    if is_long and not by_commas and any(len(one.printed.raised) > 1 for one in cells):
        verdict.notes.append(
            "signs of several characters stand without commas: each cell is read as what would "
            "be right, where it can be"
        )
    for one in cells:
        if one.known and one.line.run is not None and not one.line.where:
            findings = list(_marks(one, signs, lowers, by_commas))
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


def _marks(one: Entered, signs: Signs, lowers: bool, by_commas: bool) -> Iterator[Finding]:
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    if one.dataset is not None:
        better, worse = signs.beside(one.dataset, str(one.metric), one.line.run or "")
    shown, found = one.printed, one.printed.marks
    if by_commas:
        found = tuple(filter(None, shown.raised.split(",")))
    elif shown.raised.replace(",", "") == "".join(better):
        found = better
    yield from _differing(one, found, better, worse, signs)
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
            yield finding(one, "marker", f"{one.printed.text} with {mark}", f"without {mark}", why)
        elif mark in right and mark not in found:
            why = f"significantly {how} than {run}"
            yield finding(one, "marker", f"{one.printed.text} without {mark}", f"with {mark}", why)
