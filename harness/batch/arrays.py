"""What callers hand over for a batch -- lists, numpy, tensors -> checked numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, string_column, to_arrow
from ..core.ragged import Array, Ints
from ..errors import InputError, Problem

SHAPES = "give scores and relevance of shape (B, L) or (B, L, 1), and n of shape (B,)"


def as_array(given: Any, name: str) -> Array:
    """Return anything array-like as a numpy array.

    Tensors are known by their method ``detach``, so torch is never imported here.

    Parameters
    ----------
    given : array_like
        Lists, numpy, tensors on any device, or anything with ``__array__`` or DLPack.
    name : str
        What the caller calls it, for the message.

    Raises
    ------
    InputError
        Where it is no array, as rows of different lengths are none.
    """
    try:
        if hasattr(given, "detach"):
            given = given.detach().cpu()
            # numpy has no bfloat16; float64 holds every narrower float as it is.
            return np.asarray((given.double() if given.is_floating_point() else given).numpy())
        if isinstance(given, (list, tuple)):
            parts = [as_array(part, name) if hasattr(part, "detach") else part for part in given]
            return np.asarray(parts)
        if hasattr(given, "__array__") or not hasattr(given, "__dlpack__"):
            return np.asarray(given)
        return np.from_dlpack(given)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        reason = "its rows differ in length" if "inhomogeneous" in str(error) else str(error)
        raise InputError(
            Problem(
                name,
                f"a {type(given).__name__} that is no array: {reason}",
                fix="give numbers in a list, a numpy array or a tensor, all rows padded to one "
                "length",
            )
        ) from error


def padded(given: Any, name: str) -> Array:
    """Return a padded batch of shape (B, L) or (B, L, 1) as an array ``(B, L)``.

    Raises
    ------
    InputError
        Where it has another shape.
    """
    array = as_array(given, name)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim != 2:
        raise InputError(
            Problem(name, "not a padded batch of two dimensions", f"shape {array.shape}", SHAPES)
        )
    return array


def numbers_of(values: Array, name: str) -> Array:
    """Return `values` as an array of numbers.

    Call it when the padding is gone: then it does not matter what that was (None, say).

    Raises
    ------
    InputError
        Where they are no numbers.
    """
    if values.dtype.kind == "O":
        values = np.array(values.tolist())
    if values.size == 0:
        return np.zeros(0)
    if values.dtype.kind == "V" and "float" in values.dtype.name:  # bfloat16 outside torch
        return values.astype(np.float64)
    if values.dtype.kind not in "iufb":
        raise InputError(
            Problem(name, "not an array of numbers", f"dtype {values.dtype}", "convert it before")
        )
    return values


def lengths_of(n: Any, n_queries: int, width: int) -> Ints:
    """Return the documents of each query, ``(B,)`` int64.

    Raises
    ------
    InputError
        Where the shape is another, or a length is not whole or lies outside 0..`width`.
    """
    lengths = as_array(n, "n")
    if lengths.shape != (n_queries,):
        raise InputError(
            Problem(
                "n",
                f"not one length for each of the {n_queries} queries",
                f"shape {lengths.shape}",
                SHAPES,
            )
        )
    numbers = numbers_of(lengths, "n")
    whole = numbers == np.trunc(numbers)
    bad = np.flatnonzero(~(whole & (numbers >= 0) & (numbers <= width)))
    if bad.size:
        raise InputError(
            Problem(
                f"n[{bad[0]}]",
                f"{numbers[bad[0]]} is no number of documents from 0 to {width}, the list size",
                fix="n counts the documents of each query, without padding",
            )
        )
    return numbers.astype(np.int64)


def qids_of(qids: Any, n_queries: int, first: int) -> pa.Array:
    """Return the qids as an Arrow string column; `first`, `first` + 1, ... where not given.

    Raises
    ------
    InputError
        Where there are not `n_queries` of them, one comes twice, or is neither a string nor a
        whole number.
    """
    if qids is None:
        return cast(to_arrow(np.arange(first, first + n_queries)), pa.string())
    # numpy would make strings of all where a list mixes numbers and strings; take them as they are
    items = qids if isinstance(qids, (list, tuple)) else as_array(qids, "qids")
    if isinstance(items, np.ndarray) and items.ndim != 1:
        raise InputError(_bad_qids(f"shape {items.shape}", n_queries))
    if len(items) != n_queries:
        raise InputError(_bad_qids(f"{len(items)} qids", n_queries))
    names = [_qid(item, row) for row, item in enumerate(_plain(items))]
    distinct = dict.fromkeys(names)
    if len(distinct) != n_queries:
        seen: dict[str, int] = {}
        row, again = next((r, q) for r, q in enumerate(names) if seen.setdefault(q, r) != r)
        raise InputError(
            Problem(
                "qids",
                f"query '{again}' twice in the batch, in rows {seen[again]} and {row}",
                fix="give each query a qid of its own",
            )
        )
    return string_column(names)


def _bad_qids(found: str, n_queries: int) -> Problem:
    fix = "give qids of shape (B,), or none"
    return Problem("qids", f"not one qid for each of the {n_queries} queries", found, fix)


def _plain(items: Any) -> list[Any]:
    """Return plain Python items; tensors and numpy scalars inside a list included."""
    if isinstance(items, np.ndarray):
        plain: list[Any] = items.tolist()
        return plain
    return [item.item() if hasattr(item, "item") else item for item in items]


def _qid(item: Any, row: int) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, bytes):
        return item.decode()
    if isinstance(item, int) and not isinstance(item, bool):
        return str(item)
    if isinstance(item, float) and item.is_integer():
        return str(int(item))
    raise InputError(
        Problem(
            f"qids[{row}]",
            f"{item!r} is neither a whole number nor a string",
            fix="give qids as integers or strings",
        )
    )
