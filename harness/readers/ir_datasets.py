"""Qrels of ir_datasets, by their id: ``ir_datasets:beir/arguana``."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from ..errors import InputError, Problem, shorten
from ..files import write_all

PREFIX = "ir_datasets:"


def is_id(path: str) -> bool:
    """Whether a path names qrels of ir_datasets."""
    return path.startswith(PREFIX)


def qrels_file(path: str) -> str:
    """Return a TREC file with the qrels of ``ir_datasets:ID``, kept in the cache of ir_datasets.

    When it is not there yet, ir_datasets reads the qrels from its cache, or downloads them.
    """
    name = path.removeprefix(PREFIX)
    try:
        import ir_datasets
    except ImportError:
        what = "expected ir_datasets to be installed, got no module of that name"
        fix = "run: pip install ir_datasets (the extra 'ir_datasets')"
        raise InputError(Problem(path, what, fix=fix)) from None
    file = Path(ir_datasets.util.home_path()) / "ranking-harness" / f"{name}.qrels"
    if file.is_file():
        return os.fspath(file)
    logging.getLogger("ir_datasets").setLevel(logging.CRITICAL)  # the error below says it
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        fix = "copy an id from https://ir-datasets.com"
        problem = Problem(path, f"expected an id of ir_datasets, got '{name}'", fix=fix)
        raise InputError(problem) from None
    if not dataset.has_qrels():
        what = "expected an id with qrels, got one without"
        fix = f"name a part of it that has them, such as {name}/test"
        raise InputError(Problem(path, what, fix=fix))
    try:
        lines = [f"{one.query_id} 0 {one.doc_id} {one.relevance}\n" for one in dataset.qrels_iter()]
    except Exception as error:  # of its download, its archive, or its format
        first = shorten(str(error).partition("\n")[0], 200)
        what = f"expected qrels in its cache, got {type(error).__name__}: {first}"
        fix = f"go online and run: ir_datasets export {name} qrels"
        raise InputError(Problem(path, what, fix=fix)) from error
    write_all(file.parent, {file.name: "".join(lines).encode()})
    return os.fspath(file)
