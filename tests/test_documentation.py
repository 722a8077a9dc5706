"""Every command, output and Python block of the README and the docs is run."""

import doctest
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pydantic
import pytest
import pytrec_eval
from click import Context

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import harness  # noqa: E402
from docs import api_pages, metric_pages, outputs  # noqa: E402
from docs.generate import config_schema, pages  # noqa: E402
from docs.mathml import formula  # noqa: E402
from harness.cli.main import COMMANDS, app  # noqa: E402
from harness.compat import supported_measures  # noqa: E402
from harness.core.metric import REGISTRY  # noqa: E402
from harness.core.names import parse_all  # noqa: E402
from harness.core.rules import RULES  # noqa: E402
from harness.core.settings import CONVENTIONS  # noqa: E402
from harness.experiment.run import plan  # noqa: E402

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:^<!-- needs ([^\n]+) -->\n)?^```(\w+)\n(.*?)^```", re.S | re.M)
"""A block of code, and above it the package and version that the tests skip it without."""


def blocks(page: Path, language: str) -> list[str]:
    """Code of the page's blocks that the installed packages can run."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [body for needs, name, body in found if name == language and is_installed(needs)]


def is_installed(needs: str) -> bool:
    if not needs:
        return True
    try:
        return bool(pytest.importorskip(*needs.split()))
    except pytest.skip.Exception:
        return False


def having(language: str) -> list[Path]:
    return [page for page in PAGES if f"\n```{language}\n" in page.read_text(encoding="utf-8")]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of packages on the pages
@pytest.mark.filterwarnings("ignore:__array__ implementation")  # of Keras with PyTorch
@pytest.mark.parametrize("page", having("python"), ids=lambda p: p.name)
def test_python_blocks_run(page: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    code = "\n".join(blocks(page, "python"))
    if "import torch" in code:
        pytest.importorskip("torch")
    for name in re.findall(r"\"results/(\w+)\"", code):
        harness.run(f"configs/{name}.yaml")
    monkeypatch.setitem(sys.modules, "pytrec_eval", pytrec_eval)  # a page replaces it
    exec(compile(code, page.name, "exec"), {"__name__": "__main__"})


def test_values_for_mlflow_have_names_that_it_accepts() -> None:
    names: dict[str, Any] = {}
    page = ROOT / "docs/how-to/trackers.md"
    exec(compile("\n".join(blocks(page, "python")), page.name, "exec"), names)
    assert len(names["values"]) == 2
    assert [one for one in names["values"] if not re.fullmatch(r"[\w.:/ -]+", one)] == []


PEERS = {
    "choose-on-validation.md": "matplotlib", "figures.md": "matplotlib",
    "gradient-boosting.md": "lightgbm",
    "learning-to-rank.md": "lightgbm", "plot.md": "matplotlib",
}  # fmt: skip
"""What the commands of a page need besides the package."""


@pytest.mark.parametrize("page", outputs.pages(), ids=lambda page: page.name)
def test_outputs_are_those_of_the_commands(page: Path, tmp_path: Path) -> None:
    if page.name in PEERS:
        pytest.importorskip(PEERS[page.name])
    expected = outputs.updated(page, tmp_path)
    shown = page.read_text(encoding="utf-8")
    assert shown == expected, f"run python -m docs.outputs {page.relative_to(ROOT)}"


def test_every_shell_command_in_the_readme_is_known() -> None:
    commands = "\n".join(blocks(ROOT / "README.md", "sh")).splitlines()
    known = ("harness ", "python3 -m venv .venv && ", "source .venv/bin/activate")
    assert [c for c in commands if c and not c.startswith(known)] == []


def test_links_in_the_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_files_named_in_the_pages_exist() -> None:
    for page in PAGES:
        for name in re.findall(
            r"`((?:tests|harness|benchmarks|configs)/[\w./-]+)`", page.read_text("utf-8")
        ):
            if "results" not in name:
                assert (ROOT / name).exists(), f"{page.name} names {name}"


def test_counts_in_the_pages_are_those_of_the_code() -> None:
    tools = len({re.sub(r"(-minus|-exp|9|9\.0\.8|10)$", "", name) for name in CONVENTIONS})
    for name in ("README.md", "docs/reference/conventions.md"):
        text = (ROOT / name).read_text("utf-8")
        assert f"{len(CONVENTIONS)} conventions of {tools} tools" in text, name
    counts = {
        r"(\d+) other tools": tools - 3,
        r"(\d+) rules": len(RULES),
        r"All (\d+) measures": len(supported_measures),
    }
    for page in (ROOT / "README.md", ROOT / "docs/index.md"):
        text = page.read_text("utf-8")
        for pattern, n in counts.items():
            assert set(re.findall(pattern, text)) == {str(n)}, f"{page.name}: {pattern}"


def test_every_rule_of_the_guard_has_an_anchor() -> None:
    page = (ROOT / "docs/reference/rules.md").read_text("utf-8")
    assert sorted(re.findall(r"^### (\S+)$", page, re.M)) == sorted(RULES)


def test_every_option_has_an_anchor_on_the_page_of_its_command() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    for name, command in ((name, app.get_command(Context(app), name)) for name in COMMANDS):
        text = (ROOT / f"docs/reference/commands/{name}.md").read_text("utf-8")
        anchors = re.findall(r'<code id="(--[\w-]+)">', text)
        options = [max(p.opts, key=len) for p in command.params if p.opts[0][0] == "-"]
        assert sorted(anchors) == sorted(options), name
        assert f" reference/commands/{name}.md\n" in navigation


def test_every_metric_is_in_one_family() -> None:
    names = " ".join(family.names for family in metric_pages.FAMILIES.values()).split()
    built_in = [n for n, d in REGISTRY.items() if d.function.__module__.startswith("harness.")]
    assert sorted(names) == sorted(built_in)
    assert set(metric_pages.FORMULAS) <= set(names)
    for name in metric_pages.FAMILIES:
        assert f" reference/metrics/{name}.md\n" in (ROOT / "mkdocs.yml").read_text("utf-8")


def test_every_public_name_and_argument_is_described() -> None:
    names = " ".join(names for _, names in api_pages.TASKS.values()).split()
    assert sorted(names) == sorted({*dir(harness)} - {"__version__"})
    for page in api_pages.TASKS:
        assert f" reference/python/{page}.md\n" in (ROOT / "mkdocs.yml").read_text("utf-8")
        text = (ROOT / f"docs/reference/python/{page}.md").read_text("utf-8")
        assert not re.search(r":\w+:`|`harness\.\w+\.", text), page
    for name in names:
        for called, function in functions_of(name, getattr(harness, name)):
            described = api_pages.arguments(called, function)
            assert [key for key, (_, entry) in described.items() if not entry.meaning] == [], called


def functions_of(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Functions of a module, and classes with their methods; or one function."""
    if isinstance(thing, ModuleType | type):
        for member, function in api_pages.members(thing):
            yield from functions_of(member, function)
    if not isinstance(thing, ModuleType | type) or thing.__name__ in api_pages.CONSTRUCTED:
        yield name, thing


def test_formulas_are_well_formed() -> None:
    for name, (source, _) in metric_pages.FORMULAS.items():
        block = ElementTree.fromstring(formula(source).replace("&nbsp;", " "))
        for part in block.iter():
            arity = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "munderover": 3, "msubsup": 3}
            assert len(part) == arity.get(part.tag, len(part)), name


def test_every_config_key_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/config.md").read_text("utf-8")
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`[^`]*`", page))))
    assert set(keys_of(config_schema())) - named == set()


SESSIONS = [ROOT / "docs/index.md", *sorted((ROOT / "docs/reference/python").glob("*.md"))]


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.stem)
def test_examples_of_the_python_pages_run_as_copied(page: Path) -> None:
    examples = re.findall(r"```pycon\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    for text in examples if page.stem != "training" else ():  # which needs every library
        test = doctest.DocTestParser().get_doctest(text, {"__name__": "x"}, page.stem, str(page), 0)
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0, text


def test_the_examples_of_config_keys_are_one_config(tmp_path: Path) -> None:
    page = (ROOT / "docs/reference/config.md").read_text("utf-8")
    examples = "".join(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    text = re.sub("^select:.*\n", "", examples, flags=re.MULTILINE).replace(
        "../runs", f"{ROOT}/runs"
    )
    (tmp_path / "all.yaml").write_text(text, encoding="utf-8")
    planned = plan(tmp_path / "all.yaml")
    assert "fold1" in planned
    assert "gbrt" in planned
    assert "neural" not in planned


def keys_of(part: Any) -> Iterator[str]:
    """Keys of every mapping that a JSON schema describes."""
    if isinstance(part, dict):
        yield from part.get("properties", ())
        for one in part.values():
            yield from keys_of(one)
    elif isinstance(part, list):
        for one in part:
            yield from keys_of(one)


def test_generated_pages_are_up_to_date() -> None:
    for name, text in pages().items():
        if name.endswith(".json") and pydantic.VERSION < "2.14":
            continue  # older versions describe fewer parts
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, (
            f"docs/{name} is out of date: run python -m docs.generate"
        )


def test_names_of_other_tools_are_read_as_the_last_column() -> None:
    page = (ROOT / "docs/how-to/replace-pytrec-eval.md").read_text("utf-8")
    table, rest = page.partition("| trec_eval |")[2].split("\n\n", 1)
    unread = set(re.findall(r"`([^`]+)`", rest.split("\n\n", 1)[0]))
    rows = [[re.findall(r"`([^`]+)`", cell) for cell in row.split("|")[1:-1]]
            for row in table.splitlines()[2:]]  # fmt: skip
    checked = 0
    for *spellings, here in rows:
        expected = list(map(str, parse_all(here)))
        for names in spellings:
            if names and not unread.intersection(names):
                assert list(map(str, parse_all(names))) == expected
                checked += 1
    assert checked > 40
