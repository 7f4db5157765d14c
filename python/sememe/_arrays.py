"""Conversion of arrays to rows of float32 that the engine can read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _sememe

Rows = NDArray[np.float32]


def as_rows(values: ArrayLike, what: str) -> Rows:
    """A two-dimensional, contiguous array of float32; not copied if it already is one.

    Other numbers (float64, float16, integers) are rounded to float32, as files are when they are read. Of a table with the Arrow
    C stream interface, the only column of vectors is taken.
    """
    if np.ma.is_masked(values):
        raise ValueError(f"{what} has masked values; fill them, with NaN for rows that are missing")
    if is_table(values):
        values = _of_table(values, holes=False)
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} has the dtype {array.dtype}; it must be an array of numbers")
    if array.ndim != 2:
        raise ValueError(f"{what} has the shape {array.shape}; it must have two dimensions, one row a vector")
    with np.errstate(over="ignore"):  # What float32 cannot hold becomes infinite, and is refused as such.
        return np.require(array, np.float32, ["C_CONTIGUOUS", "ALIGNED"])


def is_table(values: Any) -> bool:
    """True for a table whose vectors may be in one column: anything with columns and the Arrow C stream interface, unless all
    columns are numbers, as in a pandas table that is an array."""
    has_columns = any(hasattr(values, name) for name in ("columns", "column_names", "schema"))
    if not has_columns or not hasattr(values, "__arrow_c_stream__"):
        return False
    return not all(getattr(dtype, "kind", "O") in "fiub" for dtype in getattr(values, "dtypes", "O"))


def _of_table(table: Any, holes: bool) -> Any:
    """The only column of vectors as an array, with NaN for nulls if they are holes; or the table, if all columns are numbers."""
    rows = _sememe.arrow_rows(table, holes)
    return table if rows is None else rows


def as_view(values: Any, what: str) -> Rows:
    """Rows of one of several views. A list may have None for a vector that is missing, and a table null: a row of NaN."""
    if isinstance(values, Sequence) and any(vector is None for vector in values):
        known = [len(vector) for vector in values if vector is not None]
        if not known:
            raise ValueError(f"{what} has no vector at all")
        hole = np.full(known[0], np.nan, np.float32)
        values = [hole if vector is None else vector for vector in values]
    if is_table(values):
        values = _of_table(values, holes=True)
    return as_rows(values, what)


@contextmanager
def lending(arrays: list[Rows], names: list[str]) -> Iterator[list[_sememe.Lent]]:
    """Arrays for the duration of a call, without a copy if nothing else can write to them: these cannot be written to or
    resized meanwhile. The list must hold the only references that this package has; it is emptied."""
    lent = _sememe.lend(arrays, names)
    arrays.clear()
    try:
        yield lent
    finally:
        lent.clear()  # A traceback would keep them locked.
