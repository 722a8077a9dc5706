"""Docs, help, changelog and messages follow the rules of plain English."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import harness
from harness.cli.main import COMMANDS, app

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
OPENINGS = re.compile(r"(Of (a|an|the|each)|Where|What lacks|Whatever)\b")
ROLE = re.compile(r":(?:func|class|meth|mod|attr|data|exc|obj|ref|doc|term|py:\w+):`")
"""A role of Sphinx: the pages, which are Markdown, would show it raw."""
TITLE_OPENINGS = ("what hangs", "can these", "does the", "whatever", "is the", "are the")


def sentences(page: str) -> list[str]:
    """Sentences of the prose of a page: no code, tables, lists of links or headings."""
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
    assert [one for one in found if OPENINGS.match(one) or one.endswith("?")] == []
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M)
    riddles = [one for one in titles if one.lower().startswith(TITLE_OPENINGS)]
    assert [one for one in titles if one.endswith("?")] + riddles == []


def test_example_configs_are_plain_english() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "configs").glob("*.yaml")]
    assert [one[0] for text in texts for one in BANNED.finditer(text)] == []


def test_help_is_short_and_plain() -> None:
    for name in COMMANDS:
        command = app.get_command(click.Context(app), name)
        assert command is not None, name
        texts = [getattr(one, "help", None) or "" for one in command.params]
        assert [one for one in texts if len(one) > 60] == [], name
        found = [m[0] for one in [*texts, command.help or ""] for m in BANNED.finditer(one)]
        assert found == [], name


SOURCES = sorted((ROOT / "harness").rglob("*.py"))
REPORTERS = {
    "Problem", "Finding", "HarnessWarning", "HarnessError", "InputError", "ArgumentError",
    "UnknownNameError", "AlignmentError", "VerificationError", "BadParameter", "UsageError",
}  # fmt: skip
PLACEHOLDER = 6
"""Characters that a message's placeholder is counted as, at least."""


def test_no_page_and_no_docstring_has_a_role() -> None:
    docs = ROOT / "docs"
    pages = [one for end in ("md", "json") for one in docs.rglob(f"*.{end}")]
    files = [*pages, *SOURCES, ROOT / "README.md", ROOT / "CHANGELOG.md"]
    assert [one.name for one in files if ROLE.search(one.read_text(encoding="utf-8"))] == []
    assert [name for name, text in public() if re.search(r":[a-z]+:`", text)] == []


def test_messages_are_plain_and_short_and_errors_have_a_fix() -> None:
    wrong = []
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            parts = [*messages(node)]
            lines = [line for part in parts for line in part.split("\n")]
            wrong += [(source.name, line) for line in lines if len(line) > 120]
            wrong += [(source.name, part) for part in parts if BANNED.search(part)]
            call = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(call, ast.Call) and call.args and next(messages(call), ""):
                segment = ast.get_source_segment(text, call) or ""
                if not re.search(r"fix=|\((all|known|there are): ", segment):
                    wrong.append((source.name, segment))
    assert wrong == []


def messages(node: ast.AST) -> Iterator[str]:
    """Parts of a message that are written here: what, effect and fix."""
    if isinstance(node, ast.Call):
        if getattr(node.func, "id", getattr(node.func, "attr", "")) not in REPORTERS:
            return
        parts = [*node.args, *(one.value for one in node.keywords)]
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        if getattr(node.targets[0], "id", "") not in ("what", "effect", "fix"):
            return
        parts = [node.value]
    else:
        return
    for part in parts:
        for one in [part.body, part.orelse] if isinstance(part, ast.IfExp) else [part]:
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.value
            elif isinstance(one, ast.JoinedStr):
                yield "".join(
                    str(piece.value) if isinstance(piece, ast.Constant) else "_" * PLACEHOLDER
                    for piece in one.values
                )


def public() -> Iterator[tuple[str, str]]:
    """Each public name of the package and of its classes, with its docstring."""
    for name in harness.__all__:
        one = getattr(harness, name)
        if not inspect.isclass(one) and not inspect.isfunction(one):
            continue
        yield name, inspect.getdoc(one) or ""
        for member, value in vars(one).items() if inspect.isclass(one) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                yield f"{name}.{member}", inspect.getdoc(value) or ""


def test_docstrings_of_public_names_are_plain_and_have_short_sentences() -> None:
    wrong = []
    for name, text in public():
        wrong += [(name, match[0]) for match in BANNED.finditer(text)]
        prose = re.sub(
            r"^([\w*][\w ,*]* : .*|[\w*][\w, *]*(?=\n    )|.*\n-{3,})$", "\n", text, flags=re.M
        )
        prose = re.sub(r"^\s*(>>>|\.\.\. ).*(\n(?!\s*\n).*)*", "", prose, flags=re.M)
        prose = re.sub(r"^\s*\.\. math::(\n(?!\s*\n).*|\n\s*\n +.*)*", "", prose, flags=re.M)
        prose = re.sub(r"``[^`]*``", "Code", prose)
        wrong += [(name, one) for one in sentences(prose) if len(one.split()) > 28]
    assert wrong == []
