"""The notebooks of the docs run from their first cell to their last."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
nbclient = pytest.importorskip("nbclient", reason="needs nbclient (extra 'test')")
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    import nbformat

    for name in ("configs", "runs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    folder = tmp_path / "docs" / "notebooks"
    folder.mkdir(parents=True)
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit it without outputs"
    client = nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(folder)}})
    client.execute()
    (tmp_path / "executed.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")
