"""Names that become files: none leaves the output folder, and no two become one file."""

import contextlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.names import distinct, folded
from harness.errors import HarnessError
from harness.readers import files as store
from harness.readers.files import part, wrong_with

ANY = st.text(st.characters(exclude_categories=()), max_size=12)
ODD = ANY | st.text("./\\ab\0é\u0301:C", max_size=8) | st.sampled_from(["..", "nul", "x" * 5000])


@given(st.lists(ODD, max_size=8))
def test_made_names_are_distinct_files_of_the_folder(names: list[str]) -> None:
    made = distinct("-".join(["kind", *map(part, (name, name))]) for name in names)
    assert len({folded(name) for name in made}) == len(names)
    assert not [name for name in made if wrong_with(name)]


@given(ODD)
def test_nothing_is_written_outside(name: str) -> None:
    with tempfile.TemporaryDirectory() as around:
        folder = Path(around) / "a" / "out"
        folder.mkdir(parents=True)
        with contextlib.suppress(HarnessError, ValueError):
            store.write_all(folder, {name: b"x"})
        outside = [p for p in Path(around).rglob("*") if p.is_file() and folder not in p.parents]
        assert outside == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "is empty"), (" ", "is empty"), ("a/b", "contains '/'"), ("a\\b", "contains '\\'"),
        ("a\0b", "contains '\\x00'"), ("a:b", "contains ':'"), ("a\u202eb", "contains '\\u202e'"),
        ("a\udcffb", "contains '\\udcff'"), ("..", "begins with a dot"),
        (".a", "begins with a dot"),
        ("a.", "ends with a dot or a blank"), ("a ", "ends with a dot or a blank"),
        ("LPT1", "is reserved on Windows"), ("con.b", "is reserved on Windows"), ("console", ""),
    ],
)  # fmt: skip
def test_what_is_no_name_of_a_file(name: str, why: str) -> None:
    assert wrong_with(name) == why


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "plots").symlink_to(elsewhere)
    with pytest.raises(HarnessError) as caught:
        store.write_all(folder, {"a.csv": b"x", "plots/a.svg": b"x"})
    assert str(caught.value) == (
        f"{folder}: 'plots/a.svg' would be written outside of this folder of results\n"
        "  fix:   move the link that leads out of it away, or name another folder"
    )
    assert (os.listdir(elsewhere), os.listdir(folder)) == ([], ["plots"])
