"""The notebooks of the docs run from their first cell to their last."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
nbclient = pytest.importorskip("nbclient", reason="needs nbclient (extra 'test')")
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, examples: Path) -> None:
    import nbformat

    folder = examples / "docs" / "notebooks"
    folder.mkdir(parents=True)
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit it without outputs"
    client = nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(folder)}})
    client.execute()
