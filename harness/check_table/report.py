"""What a check of a table found, as text and as JSON lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from ..escaping import in_json, lines_of
from .findings import Finding, Verdict

_KINDS = {
    "digits": "another number", "rounding": "rounding", "spread": "spread", "bold": "bold",
    "underline": "underline", "marker": "mark", "other": "column",
}  # fmt: skip


def text(path: str, verdicts: Sequence[Verdict], skipped: Sequence[str]) -> str:
    """Return the findings of each table, what was checked, and what could not be."""
    lines = [line for one in verdicts for line in _verdict(path, one)]
    lines += [f"not checked: {what}" for what in skipped]
    total = sum((one.verified for one in verdicts), Counter[str]())
    n = sum(len(one.findings) for one in verdicts)
    checked = ", ".join(
        f"{count:,} {_singular(name, count)}" for name, count in total.items() if count
    )
    said = f"{n:,} {'finding' if n == 1 else 'findings'}" if n else "no findings"
    captions = "; what captions claim is not" * any(one.has_caption for one in verdicts)
    lines.append(f"{path}: {said}; checked: {checked or 'nothing'}{captions}")
    return lines_of(lines)


def jsonl(path: str, verdicts: Sequence[Verdict], skipped: Sequence[str]) -> str:
    """Return a line for each finding, then one for each table, then one for what was skipped."""
    rows: list[dict[str, object]] = []
    for one in verdicts:
        rows += [{"file": path, "table": one.name, **asdict(finding)} for finding in one.findings]
        rows.append(
            {
                "file": path,
                "table": one.name,
                "line": one.line,
                "kind": "checked",
                "findings": len(one.findings),
                "verified": dict(one.verified),
                "unknown": one.unknown,
                "notes": one.notes,
            }
        )
    rows += [{"file": path, "kind": "skipped", "what": what} for what in skipped]
    return "".join(in_json(row) + "\n" for row in rows)


def _verdict(path: str, one: Verdict) -> Iterator[str]:
    for finding in one.findings:
        yield from _finding(path, finding)
    for what in (*one.notes, *(f"not checked: {what}" for what in one.unknown)):
        yield f"{path}:{one.line}: table {one.name}: {what}"


def _finding(path: str, one: Finding) -> Iterator[str]:
    yield f"{path}:{one.line}: {_KINDS[one.kind]}: {one.row}, {one.column}"
    yield f"  found: {one.found}"
    yield f"  right: {one.right}" + (f"  ({one.why})" if one.why else "")


def _singular(name: str, n: int) -> str:
    return name.removesuffix("s") if n == 1 else name
