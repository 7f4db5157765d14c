"""Checks of columns before anything runs."""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType


def check_vectors(df: Any, columns: list[str], ids: list[str]) -> None:
    """Refuses columns that are missing, or of another type than vectors; ids may be of any type."""
    for name in [*columns, *ids]:
        if name not in df.columns:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(df.columns)}")
    for name in columns:
        kind = df.schema[name].dataType
        if not is_vector(kind):
            wanted = "array<float>, array<double> or VectorUDT"
            raise TypeError(f"the column {name!r} is of type {kind.simpleString()}; vectors are {wanted}")


def is_vector(kind: DataType) -> bool:
    """True for arrays of floating-point numbers and for Spark's own vectors."""
    return isinstance(kind, ArrayType) and isinstance(kind.elementType, (FloatType, DoubleType)) or is_udt(kind)


def is_udt(kind: DataType) -> bool:
    """True for Spark's own vectors. Their class is not imported, as that takes seconds."""
    return type(kind).__name__ == "VectorUDT"
