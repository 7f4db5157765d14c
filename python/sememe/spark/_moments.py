"""Moments of a DataFrame: a row for each partition, merged twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from .. import batches as steps
from .._views import Steps
from ..moments import Moments
from ._columns import check_vectors
from ._workers import Batches, task_function

#: The rows of partitions are merged by so many tasks, and these on the driver: moments of 600 dimensions take 3 MB.
MERGERS = 8
SCHEMA = "columns array<string>, rows bigint, moments binary, error string, is_merge boolean"
ARROW = pa.schema(
    [
        ("columns", pa.list_(pa.string())),
        ("rows", pa.int64()),
        ("moments", pa.binary()),
        ("error", pa.string()),
        ("is_merge", pa.bool_()),
    ]
)


def moments(df: Any, inputCols: Sequence[str], *, idCol: str | None = None, normalize: Steps = None) -> Moments:
    """The moments of all rows of a DataFrame, each of whose columns ``inputCols`` is a view: arrays of numbers or VectorUDT.

    A null is a missing view. Errors name rows by ``idCol``, if it is given. ``normalize`` is None or ``"unit"``. Every estimator of
    :mod:`sememe` can be fitted to the result; it is what :meth:`sememe.Moments.update` sums up from arrays, to rounding.
    """
    columns = [*inputCols]
    ids = [] if idCol is None else [idCol]
    check_vectors(df, columns, ids)
    selected = df.select(*dict.fromkeys([*columns, *ids]))
    rows, error = _collected(selected, columns, idCol, normalize, None)
    if error is not None and error[1]:
        # Partitions have vectors of different lengths: which rows have another length than the first?
        dims = [_dim(selected, name) for name in columns]
        error = _collected(selected, columns, idCol, normalize, dims)[1] or error
    if error is not None:
        raise ValueError(error[0])
    if not rows.num_rows:
        raise ValueError("the DataFrame has no row with a vector")
    merged = steps.moments([rows])
    unknown = [name for name in columns if name not in merged.views]
    if unknown:
        raise ValueError(f"the column {unknown[0]!r} is null in every row")
    return merged


def _collected(
    df: Any, columns: list[str], id: str | None, normalize: Steps, dims: list[int | None] | None
) -> tuple[pa.Table, tuple[str, bool] | None]:
    """The merged rows, or the first error and whether it came up when parts were merged."""

    def partial(batches: Batches) -> Batches:
        try:
            sums = pa.record_batch(steps.partial_moments(batches, columns, id=id, normalize=normalize, dims=dims))
        except ValueError as error:
            # As a row it reaches the driver as it is, and the task is not run again.
            for _ in batches:
                pass
            yield _failure(error, False)
        else:
            yield _row(sums)

    def merge(batches: Batches) -> Batches:
        given = [batch for batch in batches if batch.num_rows]
        failed = [batch for batch in given if batch["error"].null_count < batch.num_rows]
        if failed:
            yield from failed
        elif given:
            try:
                yield _row(pa.record_batch(steps.merge(given)))
            except ValueError as error:
                yield _failure(error, True)

    parts = df.mapInArrow(task_function(partial), SCHEMA)
    rows = parts.repartition(MERGERS).mapInArrow(task_function(merge), SCHEMA).toArrow()
    errors = [(row["error"], row["is_merge"]) for row in rows.select(["error", "is_merge"]).to_pylist() if row["error"]]
    if not errors and rows.num_rows:
        try:
            steps.merge([rows])
        except ValueError as error:
            errors = [(str(error), True)]
    return rows, min(errors, key=lambda error: (error[1], error[0]), default=None)


def _row(sums: pa.RecordBatch) -> pa.RecordBatch:
    nothing = [pa.nulls(sums.num_rows, pa.string()), pa.nulls(sums.num_rows, pa.bool_())]
    return pa.RecordBatch.from_arrays([*sums.columns, *nothing], schema=ARROW)


def _failure(error: ValueError, is_merge: bool) -> pa.RecordBatch:
    cells = {"columns": None, "rows": None, "moments": None, "error": str(error), "is_merge": is_merge}
    return pa.RecordBatch.from_pylist([cells], schema=ARROW)


def _dim(df: Any, name: str) -> int | None:
    """The length of the first vector of a column."""
    first = df.select(name).where(df[name].isNotNull()).limit(1).toArrow()[name].to_pylist()
    vector = first[0] if first else None
    if isinstance(vector, dict):  # Spark's own vectors, as they are stored.
        return len(vector["values"]) if vector["type"] == 1 else int(vector["size"])
    return None if vector is None else len(vector)
