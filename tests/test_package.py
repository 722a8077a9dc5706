"""The package as a whole: what it exports, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import harness

HEAVY = ("pandas", "torch", "polars", "matplotlib", "scipy", "sklearn", "pydantic", "typer", "yaml")


@pytest.mark.parametrize("name", harness.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(harness, name) is not None
    assert name in dir(harness)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'harness' has no attribute 'ndgc'"):
        _ = harness.ndgc  # type: ignore[attr-defined]


def test_import_loads_nothing_heavy() -> None:
    code = f"import sys, harness; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_evaluating_loads_none_of_the_extras() -> None:
    code = (
        "import sys, harness; harness.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, ['P@1']);"
        # pyarrow itself looks for pandas when it makes an array
        "print([m for m in ('torch', 'polars', 'matplotlib', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
