"""Docs, help, changelog and messages follow the rules of plain English."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import pytest

from harness.cli.app import COMMANDS, app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    page
    for page in (
        ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    )
    if "<!-- generated" not in page.read_text(encoding="utf-8")
]  # fmt: skip
BANNED = re.compile(
    r"\b(anew|mend(s|ed|ing)?|hangs? on|is had|without a word|as it stands|so many|of which|"
    r"what is there|that it is of|(?-i:none is)|lack(s|ing)?|anyone's|be had|whence|is another|"
    r"beside|where left out|stands? by (it|them)self|"
    r"is (said|told|named|looked for)|are (said|told|looked for))\b",
    re.I,
)
TITLE_OPENINGS = ("what hangs", "can these", "does the", "whatever", "is the", "are the")


def sentences(page: str) -> list[str]:
    """Return the sentences of the prose of a page: no code, tables, lists of links or headings."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^\s*(\||#|!\[|===|:::|!!!).*$", "", text, flags=re.M)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "Code", text)
    blocks = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.|:  )\s+", text)
    parts = [part for block in blocks for part in re.split(r"(?<=[.!?:])\s+(?=[A-Z])", block)]
    return [" ".join(part.split()) for part in parts if len(part.split()) > 2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_plain_english(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = sentences(text)
    lengths = [len(one.split()) for one in found]
    assert [one for one in found if len(one.split()) > 28] == []
    assert sum(lengths) <= 20 * max(len(lengths), 1)
    assert [match[0] for one in found for match in BANNED.finditer(one)] == []
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M)
    riddles = [one for one in titles if one.lower().startswith(TITLE_OPENINGS)]
    assert [one for one in titles if one.endswith("?")] + riddles == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short_and_plain(name: str) -> None:
    command: click.Command = app
    for word in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word) or command
    texts = [getattr(one, "help", None) or "" for one in command.params]
    assert [one for one in texts if len(one) > 60] == []
    assert [m[0] for one in [*texts, command.help or ""] for m in BANNED.finditer(one)] == []


def test_strings_of_the_code_are_plain_english() -> None:
    found = [
        f"{source.relative_to(ROOT)}:{node.lineno}: {match[0]}"
        for source in sorted((ROOT / "harness").rglob("*.py"))
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for match in BANNED.finditer(" ".join(node.value.split()))
    ]
    assert found == []
