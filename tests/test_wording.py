"""The words of each command's errors, a page for each command.

If you mean the change: ``python -m docs.outputs tests/wording/*.md`` writes the pages again. Other
tests assert errors by type, rule, file and line. They take words from a message only to tell
errors apart that share all of these, such as those of a config's keys.
"""

import ast
import re
from pathlib import Path

import pytest
from test_documentation import outputs

from harness.cli.main import COMMANDS

TESTS = Path(__file__).parent
PAGES = sorted((TESTS / "wording").glob("*.md"))


def test_each_command_has_a_page() -> None:
    pages = {page.stem for page in PAGES}
    for name in {*COMMANDS} - pages:
        pytest.fail(f"write tests/wording/{name}.md, and run python -m docs.outputs for it")
    assert pages == {*COMMANDS}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_words_are_those_of_the_page(page: Path, tmp_path: Path) -> None:
    if page.stem == "plot":
        pytest.importorskip("matplotlib")
    assert page.read_text(encoding="utf-8") == outputs.updated(page, tmp_path)


def test_other_tests_match_data_not_sentences() -> None:
    wrong = []
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "match":
                text = "".join(
                    part.value
                    for part in ast.walk(node.value)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
                if re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", text):
                    wrong.append(f"{path.name}:{node.value.lineno}: {text}")
    assert wrong == []
