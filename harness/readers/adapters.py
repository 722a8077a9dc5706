"""Convert objects of other packages, and nested JSON of other tools, for the readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arguments import is_whole
from ..errors import InputError, Problem, first_of


def adapted(value: Any, kind: str) -> Any:
    """Return a mapping, a table or rows of an object of another package; others as they are.

    They are Hugging Face's `Dataset`, the `Qrels` and `Run` of ranx, datasets of `ir_datasets`,
    iterators of rows, structured arrays, streams of Arrow and connections of DuckDB, as well as
    mappings with numbers as identifiers and the JSON of Elasticsearch and MTEB.
    """
    if isinstance(value, dict):
        first = next(iter(value), None)
        rows = value.get(first)
        docno = next(iter(rows), None) if isinstance(rows, (Mapping, set)) else None
        has_texts = isinstance(first, str) and (docno is None or isinstance(docno, str))
        return unnested(value if has_texts else _with_texts(value, first, docno), kind)
    package = type(value).__module__.partition(".")[0]
    if package == "ranx":
        return dict(value.to_dict())
    if package == "datasets" and hasattr(value, "with_format") and not isinstance(value, Mapping):
        # a dataset that was filtered or shuffled has its rows in the order of indices
        return value.with_format("arrow")[:] if hasattr(value, "num_rows") else list(value)
    if hasattr(value, "to_arrow_table") and not isinstance(value, type):  # of DuckDB
        return value.to_arrow_table()
    if isinstance(value, np.ndarray) and value.dtype.names:
        return pa.table({name: value[name] for name in value.dtype.names})
    if isinstance(value, pa.RecordBatchReader):
        return value.read_all()
    rows = getattr(value, "qrels_iter" if kind == "qrels" else "scoreddocs_iter", None)
    if package == "ir_datasets" and rows is not None:
        return list(rows())
    return list(value) if isinstance(value, Iterator) else value


def _with_texts(value: dict[Any, Any], qid: Any, docno: Any) -> Mapping[str, Any]:
    """Return a mapping with identifiers as text if the first qid or docno is a whole number.

    Whole numbers in a list may be grades, and stay.
    """
    if not (is_whole(qid) or is_whole(docno)):
        return value
    return {
        str(qid): {str(docno): number for docno, number in rows.items()}
        if isinstance(rows, Mapping)
        else {*map(str, rows)}
        if isinstance(rows, set)
        else rows
        for qid, rows in value.items()
    }


def unnested(value: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return ``{qid: {docno: number}}`` of the JSON of other tools; other mappings as they are.

    Known are requests and answers of Elasticsearch's ``_rank_eval``, its search results by qid, and
    the predictions that MTEB writes.
    """
    if "mteb_model_meta" in value:
        return _of_mteb(value, kind)
    if isinstance(value.get("requests"), list):
        return {
            str(request["id"]): {row["_id"]: row["rating"] for row in request["ratings"]}
            for request in value["requests"]
        }
    if "metric_score" in value and isinstance(value.get("details"), Mapping):
        details = value["details"].items()
        return {qid: _hits([hit["hit"] for hit in answer["hits"]]) for qid, answer in details}
    first = next(iter(value.values()), None)
    hits = first.get("hits") if isinstance(first, Mapping) else None
    if isinstance(hits, Mapping) and isinstance(hits.get("hits"), list):
        return {qid: _hits(answer["hits"]["hits"]) for qid, answer in value.items()}
    return value


def _hits(hits: list[Mapping[str, Any]]) -> Mapping[str, float] | list[str]:
    """Return the scores of hits by docno; their docnos alone if they were sorted by a field."""
    if any(hit.get("_score") is None for hit in hits):
        return [hit["_id"] for hit in hits]
    return {hit["_id"]: hit["_score"] for hit in hits}


def _of_mteb(value: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return the only part of predictions by subset and split."""
    parts: dict[tuple[str, str], Mapping[str, Any]] = {
        (subset, split): rows
        for subset, splits in value.items()
        if subset != "mteb_model_meta"
        for split, rows in splits.items()
    }
    if len(parts) != 1:
        names = [f"{subset} {split}" for subset, split in parts]
        message = f"expected predictions for one subset and split, got {first_of(names) or 'none'}"
        subset, split = next(iter(parts), ("default", "test"))
        fix = f"give one of them: predictions['{subset}']['{split}']"
        raise InputError(Problem(kind, message, fix=fix))
    (rows,) = parts.values()
    return rows
