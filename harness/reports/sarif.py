"""Findings as SARIF 2.1.0, which code hosts show next to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .. import __version__
from ..errors import Finding, in_json
from ..guard.registry import RULES
from .findings import places_of

if TYPE_CHECKING:
    from ..guard.check import Checked

DOCS = "https://ranking-harness.github.io/ranking-harness/reference/rules/"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_sarif(checked: Checked) -> str:
    """Return what ``harness check`` found as one SARIF log."""
    names = list(dict.fromkeys(one.rule for one in checked.findings))
    rules = [
        {
            "id": name,
            "shortDescription": {"text": RULES[name].about},
            "help": {"text": f"Effect: {RULES[name].effect}. Fix: {RULES[name].fix}."},
            "helpUri": f"{DOCS}#{name}",
            "defaultConfiguration": {"level": RULES[name].severity},
        }
        for name in names
    ]
    driver = {"name": "harness", "version": __version__, "informationUri": DOCS, "rules": rules}
    results = [
        {
            "ruleId": one.rule,
            "ruleIndex": names.index(one.rule),
            "level": one.severity,
            "message": {"text": "\n".join([f"{one.what}{one.shown}", *one.advice])},
            "locations": _locations(one, at),
        }
        for one, at in places_of(checked)
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return in_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _locations(one: Finding, at: dict[str, Any]) -> list[dict[str, Any]]:
    """Return where a finding is, seen from the working directory; nothing without a file."""
    if not at["file"]:
        return []
    path = Path(at["file"])
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if "line" in at:
        place["region"] = {"startLine": max(1, at["line"])}
    return [{"physicalLocation": place}]
