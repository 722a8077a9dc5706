"""Data frames of pandas, which is an optional package, and objects that can become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..errors import not_installed

if TYPE_CHECKING:
    import pandas

_CALLS = {
    "to_pandas": "dataset.to_pandas()",
    "toPandas": "df.toPandas()",
    "compute": "df.compute()",
}
"""Methods that turn objects of other libraries into a data frame of pandas."""


def data_frame(content: Any, **options: Any) -> pandas.DataFrame:
    """Return a data frame of pandas; HarnessError if pandas is not installed."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise not_installed("to_pandas()", "pandas") from None
    if isinstance(content, pa.Table):
        return content.to_pandas()
    return pandas.DataFrame(content, **options)


def conversion(value: Any) -> str:
    """Return the call that makes a data frame of an object; empty if it has none.

    >>> import pyarrow as pa
    >>> conversion(pa.table({"qid": [1]})), conversion([1])
    ('dataset.to_pandas()', '')
    """
    calls = (text for name, text in _CALLS.items() if callable(getattr(value, name, None)))
    return next(calls, "")
